//! Frames: contiguous and sparse ones, carriers of other objects, and large ones in few bytes.

use crate::{Out, data, dtype, files};
use blosc_core::{Codec, Params, Special};
use blosc_frame::b2nd::{NdArray, Spec};
use blosc_frame::io::MemDir;
use blosc_frame::{Error, SuperChunk};

/// Frames of every kind, and arrays of several shapes in them.
pub fn frames(out: &Out) -> Result<(), Error> {
    let params = Params::new(4).shuffle();
    let mut plain = SuperChunk::memory(&params)?;
    plain.set_chunksize(400)?;
    plain.append(&data(1000))?;
    plain.set_vlmetalayer("note", b"\xa5hello")?;
    plain.set_vlmetalayer("raw", b"\xc1")?;
    plain.set_metalayer("mine", b"\x07")?;
    let bytes = plain.into_bytes()?;
    out.tree(None, "frame", &vec![("a.b2frame".into(), bytes.clone())]);
    out.tree(None, "frame-behind", &vec![("a.b2frame".into(), [b"abc", &bytes[..]].concat())]);
    let mut empty = SuperChunk::memory(&params)?;
    out.tree(None, "frame-empty", &vec![("a.b2frame".into(), empty.to_bytes()?)]);
    let mut variable = SuperChunk::memory(&params)?;
    variable.append_data(&data(40))?;
    variable.append_data(&data(400))?;
    variable.append_data(&data(80))?;
    out.tree(None, "frame-variable", &vec![("a.b2frame".into(), variable.into_bytes()?)]);
    let dir = MemDir::new();
    let mut sparse = SuperChunk::create_dir(dir.clone(), &params)?;
    sparse.set_chunksize(400)?;
    sparse.append(&data(1000))?;
    sparse.commit()?;
    drop(sparse);
    out.tree(Some("sframe_open"), "sparse", &files(&dir));
    for name in [
        "b2o",
        "b2embed",
        "b2dict",
        "b2tree",
        "b2remote_store",
        "LazyArray",
        "proxy-source",
        "listarray",
        "ctable_varlen_scalar",
        "vlarray",
        "batcharray",
        "__pack_tensor__",
    ] {
        let contents: &[&[u8]] = if name == "b2o" {
            &[b"lazyexpr", b"lazyudf", b"c2array", b"remote_array", b"?"]
        } else {
            &[b"?"]
        };
        for content in contents {
            let mut carrier = SuperChunk::memory(&params)?;
            carrier.append_data(&data(40))?;
            match name {
                "__pack_tensor__" => carrier.set_vlmetalayer(name, content)?,
                _ => carrier.set_metalayer(name, content)?,
            }
            out.keep("frame_open", &format!("carrier-{name}-{}", content.len()), &carrier.into_bytes()?);
        }
    }
    // So large that two threads share it, and stored in few bytes.
    let zstd = Params::new(4).codec(Codec::Zstd);
    let mut large = SuperChunk::memory(&zstd)?;
    large.set_chunksize(300_000)?;
    large.append(&vec![7; 1_400_000])?;
    out.keep("frame_open", "large", &large.into_bytes()?);
    let mut zeros = SuperChunk::memory(&zstd)?;
    zeros.set_chunksize(300_000)?;
    zeros.fill_special(Special::Zeros, 1_400_000)?;
    out.keep("frame_open", "zeros", &zeros.into_bytes()?);
    for (name, shape, chunks, blocks, text) in [
        ("plane", &[6u64, 7][..], &[4u32, 3][..], &[2u32, 3][..], "<i4"),
        ("line", &[40], &[16], &[8], "|u1"),
        ("cube", &[3, 4, 5], &[2, 2, 5], &[1, 2, 3], ">f8"),
        ("nothing", &[0, 4], &[1, 4], &[1, 4], "<i4"),
        ("point", &[], &[], &[], "<i4"),
    ] {
        let spec = Spec::new(shape, dtype(text))?.chunks(chunks)?.blocks(blocks)?;
        let n = spec.geometry().nbytes() as usize;
        let array = NdArray::from_slice(SuperChunk::memory(&spec.params())?, &spec, &data(n))?;
        let bytes = array.into_frame().into_bytes()?;
        out.keep("b2nd_open", &format!("array-{name}"), &bytes);
        out.tree(None, &format!("array-{name}"), &vec![("a.b2nd".into(), bytes)]);
    }
    for (name, shape, chunks, blocks) in [
        ("rows", &[1200u64, 1200][..], &[400u32, 1200][..], &[40u32, 1200][..]),
        ("tiles", &[1200, 1200], &[1200, 1200], &[300, 300]),
        ("apart", &[1200, 1200], &[300, 600], &[100, 200]),
    ] {
        let spec = Spec::new(shape, dtype("|u1"))?.params_from(&zstd).chunks(chunks)?.blocks(blocks)?;
        let all: Vec<u8> = (0..1_440_000).map(|k| (k % 600 == 0) as u8).collect();
        let array = NdArray::from_slice(SuperChunk::memory(&spec.params())?, &spec, &all)?;
        out.keep("b2nd_open", &format!("large-{name}"), &array.into_frame().into_bytes()?);
    }
    Ok(())
}
