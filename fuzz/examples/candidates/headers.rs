//! Headers of NumPy files, right and wrong, and texts of dtypes.

use crate::{Out, data, dtype};
use blosc_frame::Error;
use blosc_frame::b2nd::Spec;
use blosc_frame::npy::NpyHeader;

/// NumPy files whose headers are right, cut or wrong, and dtypes as text.
pub fn headers(out: &Out) -> Result<(), Error> {
    for (name, text, shape, fortran) in [
        ("i4", "<i4", &[3u64, 4][..], false),
        ("fortran", ">f8", &[2, 2], true),
        ("one", "|b1", &[], false),
        ("record", "[('a', '<i4'), ('b', '<f8', (2,))]", &[3], false),
    ] {
        let dtype = dtype(text);
        let shape = *Spec::new(shape, dtype.clone())?.geometry().shape();
        let header = NpyHeader { dtype, fortran, shape };
        let bytes = header.to_bytes()?;
        out.keep("dtype", &format!("npy-{name}"), &bytes);
        let body = data(header.nbytes().unwrap_or(0) as usize);
        out.tree(None, &format!("npy-{name}"), &vec![("a.npy".into(), [&bytes[..], &body].concat())]);
    }
    for (name, head, text) in [
        (
            "v2",
            &b"\x93NUMPY\x02\x00\x40\x00\x00\x00"[..],
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }        \n",
        ),
        (
            "v3",
            b"\x93NUMPY\x03\x00\x40\x00\x00\x00",
            "{'descr': [('\u{e9}', '<i4')], 'fortran_order': False, 'shape': (), }\n",
        ),
        ("v9", b"\x93NUMPY\x09\x00\x40\x00\x00\x00", ""),
        ("long", b"\x93NUMPY\x02\x00\xff\xff\xff\x7f", ""),
        ("cut", b"\x93NUMPY\x01", ""),
        ("short", b"\x93NUMPY\x01\x00\x40", ""),
        ("latin", b"\x93NUMPY\x03\x00\x02\x00\x00\x00\xff\xff", ""),
        ("order", b"\x93NUMPY\x01\x00\x30\x00", "{'descr': '<i4', 'fortran_order': 1, 'shape': ()}"),
        ("shape", b"\x93NUMPY\x01\x00\x30\x00", "{'descr':'<i4','fortran_order':False,'shape':1} "),
        ("side", b"\x93NUMPY\x01\x00\x33\x00", "{'descr':'<i4','fortran_order':False,'shape':(-1,)} "),
        (
            "huge",
            b"\x93NUMPY\x01\x00\x58\x00",
            "{'descr':'<i4','fortran_order':False,'shape':(9000000000000000000,9000000000000000000)}  ",
        ),
        (
            "axes",
            b"\x93NUMPY\x01\x00\x5e\x00",
            "{'descr':'<i4','fortran_order':False,'shape':(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)} ",
        ),
    ] {
        let bytes = [head, text.as_bytes()].concat();
        out.keep("dtype", &format!("npy-{name}"), &bytes);
        out.tree(None, &format!("npy-{name}"), &vec![("a.npy".into(), bytes)]);
    }
    for text in [
        "('<i4', (2, 3))",
        "[('a', ('<i4', (2,))), ('b', '<c16')]",
        "{'names': ['a'], 'formats': ['<i4'], 'titles': ['t'], 'aligned': True}",
        "{'names': ['a', 'b'], 'formats': ['<U2', '<c8'], 'titles': ['t', None], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
        "{'a': ('<i4', 0), 'b': ('<U3', 4, 'title')}",
        "{'a': ('<i4', 0, None)}",
        "{'a': ('<i4', 0, 7)}",
        "{1: ('<i4', 0)}",
        "[(1, '<i4')]",
        "{'names': ['a'], 'formats': ['<i4'], 'aligned': 3}",
        "{'names': [1], 'formats': ['<i4']}",
        "g",
        "O",
        "<i3",
        "<q9",
        "{'names': ['a', 'b', 'c'], 'formats': ['<U1', ('<i2', (3,)), {'names': ['x'], 'formats': ['<c16'], 'aligned': True}], 'aligned': True}",
        "[('a', '<i4'), ('a', '<i4')]",
        "{'names': ['a', 'b'], 'formats': ['u1', [('x', 'u1'), ('y', '<i4')]], 'offsets': [0, 4], 'itemsize': 12, 'aligned': True}",
        "{'names': ['a', 'b'], 'formats': ['u1', ([('x', 'u1'), ('y', '<i4')], (2,))], 'aligned': True}",
        "[('a', 'u1'), ('b', {'names': ['x', 'y'], 'formats': ['u1', '<i4'], 'offsets': [0, 4], 'itemsize': 8, 'aligned': True})]",
        "{'names': ['a'], 'formats': [{'x': ('<i4', 1)}], 'aligned': True}",
        "{'names': ['a'], 'formats': ['<i4'], 'itemsize': 5, 'aligned': True}",
        "{'names': ['b', 'a'], 'formats': ['<i4', '<i4'], 'offsets': [4, 0]}",
        "[[('a', '<i4')]]",
    ] {
        out.keep(
            "dtype",
            &format!("text-{:08x}", text.bytes().fold(7u32, |h, b| h.wrapping_mul(31) ^ u32::from(b))),
            text.as_bytes(),
        );
    }
    let deep = format!("{}'<i4'{}", "[('a', ".repeat(40), ")]".repeat(40));
    out.keep("dtype", "deep", deep.as_bytes());
    out.keep("dtype", "long", " ".repeat(70_000).as_bytes());
    Ok(())
}
