//! Bloscpack files: every layout, and metadata of arrays, right and wrong.

use crate::{Out, data, dtype};
use blosc_core::Pool;
use blosc_frame::Error;
use blosc_frame::bloscpack::{Checksum, Layout, Numpy, Options, Order};
use blosc_frame::value::Value;

/// Files of every layout, and files whose metadata describes an array well, badly or not at all.
pub fn packs(out: &Out) -> Result<(), Error> {
    let mut pool = Pool::new(1);
    let numpy = |text: &str, shape: &[u64], order| Numpy { dtype: dtype(text), shape: shape.to_vec(), order };
    let base = Options { chunk_size: 64, reserve: 20, ..Options::default() };
    let with = |metadata: Value| Options { metadata: Some(metadata), ..base.clone() };
    let text = |text: &str| Value::text(text);
    let about = |dtype: Value, shape: Value, order: &str| {
        Value::object([
            ("dtype", dtype),
            ("shape", shape),
            ("order", text(order)),
            ("container", text("numpy")),
        ])
    };
    let list = |items: Vec<Value>| Value::List(items);
    let field = |name: Value, kind: Value| list(vec![name, kind]);
    let shape = || list(vec![Value::int(3), Value::int(4)]);
    for (name, options) in [
        ("plain", base.clone()),
        ("v1", Options { layout: Layout::V1, offsets: false, checksum: Checksum::None, ..base.clone() }),
        ("v2", Options { layout: Layout::V2, checksum: Checksum::Sha512, ..base.clone() }),
        ("mono", Options { layout: Layout::Mono, ..base.clone() }),
        ("c", base.clone().numpy(&numpy("<i4", &[10, 4], Order::C))?),
        ("fortran", base.clone().numpy(&numpy("<i4", &[10, 4], Order::F))?),
        ("item", base.clone().numpy(&numpy("<i4", &[], Order::C))?),
        ("other", with(Value::object([("attributes", Value::object([("a", Value::int(1))]))]))),
        (
            "both",
            with(Value::object([
                ("dtype", text("'<i4'")),
                ("shape", shape()),
                ("order", text("C")),
                ("container", text("numpy")),
                ("attributes", text("x")),
            ])),
        ),
        (
            "lists",
            with(about(
                list(vec![field(text("a"), text("<i4")), field(text("b'"), text("<f8"))]),
                shape(),
                "C",
            )),
        ),
        (
            "title",
            with(about(list(vec![field(list(vec![text("t"), text("n")]), text("<i4"))]), shape(), "C")),
        ),
        (
            "nested",
            with(about(
                list(vec![field(text("a"), list(vec![field(text("x"), text(">c8"))]))]),
                shape(),
                "C",
            )),
        ),
        (
            "sub",
            with(about(
                list(vec![list(vec![text("a"), text("<i4"), list(vec![Value::int(2)])])]),
                shape(),
                "C",
            )),
        ),
        ("no-field", with(about(list(vec![Value::int(1)]), shape(), "C"))),
        ("no-dtype", with(about(Value::int(1), shape(), "C"))),
        ("order", with(about(text("'<i4'"), shape(), "Z"))),
        ("shape", with(about(text("'<i4'"), text("x"), "C"))),
        ("object", with(about(text("'O'"), shape(), "C"))),
        ("machine", with(about(text("'g'"), shape(), "C"))),
        ("size", with(about(text("'<i3'"), shape(), "C"))),
        (
            "deep",
            with(about(text(&format!("{}'<i4'{}", "[('a', ".repeat(40), ")]".repeat(40))), shape(), "C")),
        ),
        ("long", with(about(text(&" ".repeat(66_000)), shape(), "C"))),
        ("layout", with(about(text("{'names': ['a'], 'formats': ['<i8'], 'itemsize': 4}"), shape(), "C"))),
        ("unknown", with(about(text("'<q9'"), shape(), "C"))),
        ("missing", with(Value::object([("container", text("numpy"))]))),
    ] {
        let file = options.write(&mut pool, &data(if name == "item" { 4 } else { 160 }), Vec::new())?;
        out.keep("bloscpack_open", &format!("pack-{name}"), &file);
        if file.len() < 3000 {
            out.tree(None, &format!("pack-{name}"), &vec![("a.blp".into(), file)]);
        }
    }
    Ok(())
}
