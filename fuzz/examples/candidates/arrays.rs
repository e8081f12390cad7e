//! Arrays.

use crate::{Out, data, dtype};
use blosc_core::{Codec, Params, Special};
use blosc_frame::b2nd::{NdArray, Spec};
use blosc_frame::{Error, SuperChunk};

/// Puts an array's chunks into a frame as `remake` makes them anew of their bytes and their number.
fn remade(
    array: NdArray<'_>,
    remake: impl Fn(&mut SuperChunk<'static>, u64, &[u8]) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let mut from = array.into_frame();
    let mut to = SuperChunk::memory(&from.params())?;
    to.set_chunksize(from.chunk_nbytes(0)?)?;
    to.set_metalayer("b2nd", from.metalayer("b2nd").expect("the metalayer of an array"))?;
    for k in 0..from.nchunks() {
        remake(&mut to, k, &from.read_chunk(k)?)?;
    }
    to.into_bytes()
}

/// Arrays that two threads read, with chunks of another codec, with other blocks, and of one value; and
/// metalayers that say odd things.
pub fn arrays(out: &Out) -> Result<(), Error> {
    let bytes = |n: usize| (0..n).map(|k| (k / 65_536 % 5 + 1) as u8).collect::<Vec<u8>>();
    let array = |codec, text: &str, shape: &[u64], chunks: &[u32], blocks: &[u32]| {
        let params = Params::new(1).codec(codec);
        let spec = Spec::new(shape, dtype(text))?.params_from(&params).chunks(chunks)?.blocks(blocks)?;
        let data = bytes(spec.geometry().nbytes() as usize);
        NdArray::from_slice(SuperChunk::memory(&spec.params())?, &spec, &data)
    };
    let square =
        |codec, chunks: [u32; 2], blocks: [u32; 2]| array(codec, "|u1", &[1024, 1024], &chunks, &blocks);
    let zlib = |blocksize: u32| {
        move |to: &mut SuperChunk<'static>, _: u64, data: &[u8]| {
            let params = Params::new(1).codec(Codec::Zlib).blocksize(Some(blocksize));
            to.append_chunk(&blosc_core::compress(&params, data).expect("a small chunk"))
        }
    };
    for (name, codec, chunks, blocks) in [
        ("zlib-rows", Codec::Zlib, [1024, 1024], [256, 1024]),
        ("zlib-columns", Codec::Zlib, [1024, 1024], [1024, 256]),
        ("zlib-tiles", Codec::Zlib, [512, 512], [512, 256]),
        ("zlib-many", Codec::Zlib, [64, 1024], [64, 1024]),
    ] {
        out.keep(
            "b2nd_open",
            &format!("shared-{name}"),
            &square(codec, chunks, blocks)?.into_frame().into_bytes()?,
        );
    }
    let wide = array(Codec::Lz4, "|u1", &[2048, 2048], &[1024, 1024], &[256, 1024])?;
    out.keep("b2nd_open", "shared-lz4", &wide.into_frame().into_bytes()?);
    for (name, blocks) in [("rows", [256, 1024]), ("columns", [1024, 256])] {
        let other = remade(square(Codec::Lz4, [1024, 1024], blocks)?, zlib(1 << 18))?;
        out.keep("b2nd_open", &format!("shared-other-codec-{name}"), &other);
    }
    let own = remade(square(Codec::Zlib, [512, 1024], [256, 1024])?, zlib(100_000))?;
    out.keep("b2nd_open", "shared-own-blocks", &own);
    let own = remade(array(Codec::Zlib, "|u1", &[10, 10], &[5, 5], &[5, 2])?, zlib(7))?;
    out.keep("b2nd_open", "own-blocks", &own);
    for (name, kind) in [("nan", Special::Nan), ("zeros", Special::Zeros), ("uninit", Special::Uninit)] {
        for (size, shape, chunks, blocks) in
            [("shared", [512, 512], [256, 512], [64, 512]), ("small", [6, 6], [3, 6], [1, 6])]
        {
            let special =
                remade(array(Codec::Zlib, "<f4", &shape, &chunks, &blocks)?, |to, k, data| match k {
                    1 => to.fill_special(kind, data.len() as u64),
                    _ => to.append_chunk(&blosc_core::compress(&to.params(), data).expect("a small chunk")),
                })?;
            out.keep("b2nd_open", &format!("{size}-{name}"), &special);
        }
    }
    let small = || array(Codec::Lz4, "<i4", &[3, 5], &[2, 3], &[1, 2]);
    // 4 bytes, 2 x 9, 2 x (1 + 2 x 5), then the format of the dtype, its marker, its length, "<i4".
    for (name, at, with) in [
        ("no-array", 0, &[0xc0][..]),
        ("version", 1, &[5]),
        ("high-version", 1, &[200]),
        ("many-axes", 2, &[17]),
        ("axes", 2, &[3]),
        ("side", 4, &[0xcf]),
        ("negative", 5, &[0xff]),
        ("negative-chunk", 24, &[0xff]),
        ("format", 44, &[3]),
        ("marker", 45, &[0xa3]),
        ("negative-dtype", 46, &[0xff]),
        ("short-dtype", 49, &[2]),
        ("long-dtype", 49, &[9]),
        ("latin", 50, &[0xff]),
        ("wide", 52, b"8"),
        ("unknown", 51, b"y"),
    ] {
        let mut frame = small()?.into_frame();
        let mut meta = frame.metalayer("b2nd").expect("the metalayer of an array").to_vec();
        meta[at..at + with.len()].copy_from_slice(with);
        frame.set_metalayer("b2nd", &meta)?;
        out.keep("b2nd_open", &format!("meta-{name}"), &frame.into_bytes()?);
    }
    for (name, cut, version) in
        [("cut", 44, 0), ("cut-new", 44, 1), ("cut-short", 30, 0), ("cut-empty", 0, 0)]
    {
        let mut frame = small()?.into_frame();
        let mut meta = frame.metalayer("b2nd").expect("the metalayer of an array")[..cut].to_vec();
        meta.iter_mut().skip(1).take(1).for_each(|byte| *byte = version);
        frame.remove_metalayer("b2nd");
        frame.set_metalayer(if cut == 44 { "caterva" } else { "b2nd" }, &meta)?;
        out.keep("b2nd_open", &format!("meta-{name}"), &frame.into_bytes()?);
    }
    let mut short = small()?.into_frame();
    short.delete(3)?;
    out.keep("b2nd_open", "too-few-chunks", &short.into_bytes()?);
    let mut plain = SuperChunk::memory(&Params::new(4))?;
    plain.set_metalayer("b2nd", small()?.frame().metalayer("b2nd").expect("the metalayer of an array"))?;
    for len in [24, 24, 24, 20] {
        plain.append_data(&data(len))?;
    }
    out.keep("b2nd_open", "variable-chunks", &plain.into_bytes()?);
    Ok(())
}
