//! Chunks with a dictionary, and bytes for the targets of kernels and filters.

use crate::{Out, data};
use blosc_core::{Codec, Params};

/// Chunks with a dictionary, crowded bytes of every width, and numbers for the filters of cells and means.
pub fn chunks(out: &Out) {
    let words = b"the quick brown fox jumps over the lazy dog while seven wizards box quietly; ";
    let text: Vec<u8> =
        (0..40_000usize).map(|k| words[(k * k / 977 + k) % words.len()] ^ (k % 11 == 3) as u8).collect();
    for (name, codec) in [("zstd", Codec::Zstd), ("lz4", Codec::Lz4), ("lz4hc", Codec::Lz4Hc)] {
        let params = Params::new(1).codec(codec).no_filter().dictionary(true).blocksize(Some(2000));
        let chunk = blosc_core::compress(&params, &text[..30_000]).expect("a chunk with a dictionary");
        out.keep("chunk_decode", &format!("dictionary-{name}"), &chunk);
        if let (Codec::Zstd, Some((dict, frame))) = (codec, dictionary(&chunk)) {
            // 2000 bytes: 250 << 3.
            out.keep("zstd_decode", "dictionary", &[&[250, 3][..], dict, frame].concat());
        }
    }
    // Kernels: 4096 items of each width, from a short piece.
    for typesize in [1, 2, 3, 4, 6, 8, 12, 16, 20, 31, 32] {
        for skew in [0, 16] {
            let piece: Vec<u8> = (0..150u32).map(|k| (k * k % 251) as u8).collect();
            out.keep(
                "kernel_twins",
                &format!("crowded-{typesize}-{skew}"),
                &[&[typesize, skew, 2, 252 + skew / 16], &piece[..]].concat(),
            );
        }
    }
    for typesize in [1, 2, 4, 8, 16] {
        for own in [0x01, 0x12, 0x13, 0x34, 0x02, 0x3f, 0xf9, 0x07, 0x10] {
            out.keep(
                "filters_pipeline",
                &format!("cells-{typesize}-{own}"),
                &[&[typesize, own][..], &data(240)].concat(),
            );
        }
    }
    let floats =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0, f32::from_bits(0x7F80_0001), 0.0, 2.5, -1.0];
    let wide = floats.map(f64::from);
    for (typesize, bytes) in [
        (4, floats.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()),
        (8, wide.iter().flat_map(|x| x.to_le_bytes()).collect()),
    ] {
        for own in [0x02, 0x11, 0x12, 0x32] {
            out.keep(
                "filters_pipeline",
                &format!("means-{typesize}-{own}"),
                &[&[typesize, own][..], &bytes].concat(),
            );
        }
    }
}

/// The dictionary of a chunk, and its first stream.
fn dictionary(chunk: &[u8]) -> Option<(&[u8], &[u8])> {
    let word = |at: usize| Some(u32::from_le_bytes(*chunk.get(at..)?.first_chunk()?) as usize);
    let (nbytes, blocksize) = (word(4)?, word(8)?);
    let at = 32 + 4 * nbytes.div_ceil(blocksize);
    let dict = chunk.get(at + 4..)?.get(..word(at)?)?;
    let start = word(32)?;
    Some((dict, chunk.get(start + 4..)?.get(..word(start)?)?))
}
