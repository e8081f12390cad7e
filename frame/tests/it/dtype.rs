//! Texts of NumPy's types: what NumPy writes is read, printed the same, and refused where it means nothing elsewhere.

use blosc_frame::dtype::{Dtype, DtypeError, Field};

/// What NumPy 2.4 prints as `dtype.str`, or `str(dtype)` of structured types, and its itemsize.
const SAME: [(&str, u32); 33] = [
    ("<i4", 4),
    (">i4", 4),
    ("|u1", 1),
    ("|i1", 1),
    ("|b1", 1),
    ("<f2", 2),
    ("<f16", 16),
    ("<c16", 16),
    (">c8", 8),
    ("|S5", 5),
    ("|S0", 0),
    ("<U3", 12),
    (">U3", 12),
    ("<M8[ns]", 8),
    ("<M8", 8),
    ("<M8[25s]", 8),
    (">m8[D]", 8),
    ("|V7", 7),
    ("[('a', '<i4'), ('b', '<f8', (2,))]", 20),
    (
        "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
        16,
    ),
    ("{'names': ['a', 'b'], 'formats': ['<i4', 'S3'], 'offsets': [4, 0], 'itemsize': 8}", 8),
    ("[('x', '<u2'), ('n', [('p', 'u1'), ('q', '<i8')])]", 11),
    ("[(('title', 'a'), '<i4')]", 4),
    ("('<i4', (2, 3))", 24),
    ("[('a', [('b', '<i4'), ('c', 'S1')], (2, 3))]", 30),
    (
        "{'names': ['a', 'b'], 'formats': ['<i4', 'S3'], 'offsets': [0, 8], 'titles': ['t', None], 'itemsize': 11}",
        11,
    ),
    ("[(\"it's\", '<i4'), ('q\"\\'', '<i4'), ('é\\n', '<i4'), ('\\\\', 'u1')]", 13),
    (
        "[('a', '?'), ('b', '>M8[ns]'), ('c', '<M8'), ('d', '<f2'), ('e', '<U4'), ('f', 'V3'), ('g', '>u2')]",
        40,
    ),
    ("[('a', ('<i4', (2,)), (3,))]", 24),
    ("[('x', 'S'), ('y', '<U'), ('z', '<i4', (0,))]", 0),
    ("{'names': ['a'], 'formats': [('<i4', (2,))], 'offsets': [1], 'itemsize': 9}", 9),
    (
        "[('a', {'names': ['p', 'q'], 'formats': ['<i2', '<f4'], 'offsets': [0, 4], 'itemsize': 12}, (2,))]",
        24,
    ),
    ("[('€', 'u1'), ('\\x00', 'u1'), ('\\x7f\\xa0\\u200b😀', 'u1')]", 3),
];

#[test]
fn numpy_text_comes_back() {
    for (text, size) in SAME {
        let d = Dtype::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(d.itemsize(), size, "{text}");
        assert_eq!(d.to_string(), text);
    }
}

fn fields(dtype: &Dtype) -> &[Field] {
    match dtype {
        Dtype::Struct(s) => &s.fields,
        Dtype::Array { item, .. } => fields(item),
        Dtype::Scalar(_) => &[],
    }
}

/// As NumPy 2.4 reads and prints them: `'aligned': True` is about the records within as well, lists included.
#[test]
fn records_within_an_aligned_one_are_aligned() {
    let aligned = |inner: &str, size: u32| {
        format!(
            "{{'names': ['a', 'b'], 'formats': ['u1', {inner}], 'offsets': [0, 4], 'itemsize': {size}, 'aligned': True}}"
        )
    };
    for (inner, size) in [
        ("[('x', 'u1'), ('y', '<i4')]", 12),
        ("([('x', 'u1'), ('y', '<i4')], (2,))", 20),
        ("{'names': ['x', 'y'], 'formats': ['u1', '<i4'], 'offsets': [0, 4], 'itemsize': 16}", 20),
        ("[('p', [('x', 'u1'), ('y', '<i4')]), ('q', 'u1')]", 16),
    ] {
        let text = aligned(inner, size);
        let d = Dtype::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!((d.itemsize(), d.to_string()), (size, text.clone()));
        assert_eq!(Dtype::parse(&d.to_string()), Ok(d.clone()));
        let [_, b] = fields(&d) else { panic!("{text}") };
        let last = fields(&b.dtype).last().unwrap();
        assert_eq!(last.offset, if last.name == "y" { 4 } else { 8 }, "{text}");
    }
    for other in [
        "{'names': ['x', 'y'], 'formats': ['u1', '<i4']}",
        "{'names': ['x', 'y'], 'formats': ['u1', '<i4'], 'aligned': False}",
        "{'x': ('u1', 0), 'y': ('<i4', 4)}",
    ] {
        let d =
            Dtype::parse(&format!("{{'names': ['a', 'b'], 'formats': ['u1', {other}], 'aligned': True}}"));
        assert_eq!(d.unwrap().to_string(), aligned("[('x', 'u1'), ('y', '<i4')]", 12), "{other}");
    }
}

/// NumPy prints these as `[('a', 'u1'), ('b', [('x', 'u1'), ('y', '<i4')])]`, which is 6 bytes and not 9.
#[test]
fn an_aligned_record_within_another_says_so() {
    let text = "[('a', 'u1'), ('b', {'names': ['x', 'y'], 'formats': ['u1', '<i4'], 'offsets': [0, 4], 'itemsize': 8, 'aligned': True})]";
    let d = Dtype::parse(text).unwrap();
    assert_eq!((d.itemsize(), d.to_string()), (9, text.into()));
    assert_eq!(Dtype::parse(&d.to_string()), Ok(d));
}

/// No text says that a record is aligned and one within it is not: then all fields keep their places.
#[test]
fn a_mixture_keeps_its_layout() {
    let Ok(Dtype::Struct(mut s)) = Dtype::parse("[('x', 'u1'), ('y', [('p', 'u1'), ('q', '<i4')])]") else {
        panic!("a record")
    };
    s.aligned = true;
    let again = Dtype::parse(&Dtype::Struct(s.clone()).to_string()).unwrap();
    s.aligned = false;
    assert_eq!(again, Dtype::Struct(s));
}

#[test]
fn other_spellings_are_normalised() {
    for (text, want) in [
        ("i4", "<i4"),
        ("=i4", "<i4"),
        ("|i4", "<i4"),
        ("<u1", "|u1"),
        (">S5", "|S5"),
        ("a5", "|S5"),
        ("?", "|b1"),
        ("bool", "|b1"),
        ("float32", "<f4"),
        ("datetime64[us]", "<M8[us]"),
        ("M8[1s]", "<M8[s]"),
        ("m8[generic]", "<m8"),
        ("M8[\u{3bc}s]", "<M8[us]"),
        ("d", "<f8"),
        ("U", "<U0"),
        ("V", "|V0"),
        (" '<i4' ", "<i4"),
        ("('<i4', 3)", "('<i4', (3,))"),
        ("('<i4', ())", "<i4"),
        ("[('a', 'f4', 2), ('', 'i4')]", "[('a', '<f4', (2,)), ('f1', '<i4')]"),
        (
            "{'a': ('<i4', 0), 'b': ('<f8', 8)}",
            "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 16}",
        ),
        (
            "{'names': ['a', 'b'], 'formats': ['u1', '<i4'], 'aligned': True}",
            "{'names': ['a', 'b'], 'formats': ['u1', '<i4'], 'offsets': [0, 4], 'itemsize': 8, 'aligned': True}",
        ),
        ("{'names': ['a'], 'formats': ['<i4']}", "[('a', '<i4')]"),
        ("{'names': [], 'formats': []}", "[]"),
    ] {
        assert_eq!(Dtype::parse(text).map(|d| d.to_string()), Ok(want.to_string()), "{text}");
    }
}

#[test]
fn pointers_are_refused_wherever_they_stand() {
    for text in ["O", "|O", "|O8", "object", "T", "StringDType()", "[('a', 'O')]", "('O', (2,))"] {
        let e = Dtype::parse(text).unwrap_err();
        assert!(matches!(e, DtypeError::Pointer { .. }), "{text}: {e:?}");
        assert!(e.to_string().contains("pointers"));
    }
}

#[test]
fn nonsense_is_refused() {
    for text in [
        "",
        "<",
        "<i3",
        "<f1",
        "<c4",
        "b2",
        "M4",
        "<x",
        "x4",
        "i4x",
        "<M8[ns",
        "<M8[0s]",
        "<M8[xs]",
        "<M8[s/4]",
        "<i4[ns]",
        "S99999999999",
        "V2147483648",
        "U536870912",
        "l",
        "g",
        "int",
        "[('a',)]",
        "[('a', '<i4', (-1,))]",
        "[1]",
        "3",
        "[('a', '<i4', (2,), 4)]",
        "[('a', 'V2147483647'), ('b', 'u1')]",
        "('<i4', (65536, 65536))",
        "('V0', (65536, 65536))",
        "('<i4', (0, 4294967295, 4294967295))",
        "[('a', 'u1'), ('a', 'u1')]",
        "{'names': ['a'], 'formats': []}",
        "{'names': ['a']}",
        "{}",
        "{'names': ['a'], 'formats': ['<i4'], 'offsets': [-1]}",
        "{'names': ['a'], 'formats': ['<i4'], 'itemsize': 3}",
        "{'names': ['a'], 'formats': ['<i4'], 'itemsize': 9223372036854775807}",
        "{'names': ['a'], 'formats': ['<i4'], 'aligned': 1}",
        "{'names': ['a'], 'formats': ['<i4'], 'offsets': [1], 'aligned': True}",
        "{'names': ['a'], 'formats': ['<i4'], 'itemsize': 5, 'aligned': True}",
        "{'names': ['a'], 'formats': [{'x': ('<i4', 1)}], 'aligned': True}",
        "True",
        "lambda: 0",
        "__import__('os').system('true')",
        "\u{1f600}",
        "<\u{1f600}",
    ] {
        assert!(Dtype::parse(text).is_err(), "{text}");
    }
}

#[test]
fn hostile_texts_are_refused_at_once() {
    assert!(matches!(Dtype::parse(&"x".repeat(1_000_000)), Err(DtypeError::TooLong { .. })));
    let nested = format!("{}'<i4'{}", "(".repeat(10_000), ", (1,))".repeat(3000));
    assert!(matches!(Dtype::parse(&nested), Err(DtypeError::TooDeep { .. })));
    let lists = format!("{}{}", "[('a', ".repeat(5000), "'u1')]".repeat(5000));
    assert!(matches!(Dtype::parse(&lists), Err(DtypeError::TooDeep { .. } | DtypeError::TooLong { .. })));
    let many: String = (0..6000).map(|i| format!("('{i}','u1'),")).collect();
    assert!(matches!(Dtype::parse(&format!("[{many}]")), Err(DtypeError::TooLong { .. })));
    let many: String = (0..4000).map(|i| format!("('{i}','u1'),")).collect();
    assert_eq!(Dtype::parse(&format!("[{many}]")).unwrap().itemsize(), 4000);
}

#[test]
fn npy_descr_says_the_gaps() {
    for (text, want) in [
        ("<i4", "'<i4'"),
        ("[('a', 'u1'), ('b', '?', (2,))]", "[('a', '|u1'), ('b', '|b1', (2,))]"),
        (
            "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 20}",
            "[('a', '<i4'), ('', '|V4'), ('b', '<f8'), ('', '|V4')]",
        ),
        ("[(('t', 'a'), [('x', 'S')])]", "[(('t', 'a'), [('x', '|S0')])]"),
    ] {
        let d = Dtype::parse(text).unwrap();
        let descr = d.to_descr().unwrap();
        assert_eq!(descr, want);
        let back = Dtype::parse_descr(&descr).unwrap();
        assert_eq!(back, d, "{text}");
    }
    let overlapping = "{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [0, 2], 'itemsize': 6}";
    assert!(matches!(Dtype::parse(overlapping).unwrap().to_descr(), Err(DtypeError::Layout { .. })));
}

#[test]
fn empty_names_survive() {
    let text = "{'names': ['', 'f0'], 'formats': ['|V4', '<i4']}";
    let dtype = Dtype::parse(text).unwrap();
    assert_eq!(Dtype::parse(&dtype.to_string()), Ok(dtype.clone()));
    assert!(matches!(dtype.to_descr(), Err(DtypeError::Layout { .. })));
}
