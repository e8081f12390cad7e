//! Chunks that are pushed, in exactly the memory that they need.

use super::{exact, mixed};
use blosc_core::*;

fn pushed(bytes: &[u8], room: usize, step: usize) -> Result<Vec<u8>, Error> {
    let mut memory = vec![0xDD; room].into_boxed_slice();
    let mut decoder = PushDecoder::new(Level::SCALAR, &mut memory);
    let mut out = Vec::new();
    for piece in bytes.chunks(step) {
        let piece = exact(piece);
        let mut rest = &piece[..];
        while let Some(block) = decoder.push(&mut rest)? {
            out.resize(out.len().max(block.offset + block.bytes.len()), 0);
            out[block.offset..][..block.bytes.len()].copy_from_slice(block.bytes);
        }
    }
    assert!(decoder.is_done());
    Ok(out)
}

#[test]
fn pushed_and_over_itself() {
    let data = mixed(5, 700);
    for params in [Params::new(4).shuffle(), Params::new(2).bitshuffle(), Params::new(1).no_filter()] {
        for codec in [Codec::Lz4, Codec::BloscLz] {
            let params = params.codec(codec).blocksize(Some(256));
            let bytes = Pool::new(1).compress(&params, &data).unwrap();
            let chunk = Chunk::parse(&bytes).unwrap();
            let needed = PushDecoder::memory_len(chunk.header());
            let steps: &[usize] = if cfg!(miri) { &[7] } else { &[1, 7, 64, 1000] };
            for &step in steps {
                assert_eq!(pushed(&bytes, needed, step).unwrap(), data);
                assert_eq!(pushed(&bytes, needed - 4 * chunk.nblocks(), step).unwrap(), data);
            }
            let len = data.len() + chunk.in_place_margin().unwrap();
            let mut buffer = vec![0; len].into_boxed_slice();
            let at = len - bytes.len();
            buffer[at..].copy_from_slice(&bytes);
            let mut memory = vec![0xDD; needed].into_boxed_slice();
            PushDecoder::new(Level::best(), &mut memory).decode_in_place(&mut buffer, at).unwrap();
            assert_eq!(buffer[..data.len()], data);
        }
    }
}
