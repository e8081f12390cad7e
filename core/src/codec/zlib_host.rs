//! The zlib encoder of hosts at levels 1 to 8, the `zlib-rs` crate, with reused states. At level 9 our own,
//! [`deflate`](super::zlib::deflate), writes less in less time (`core/examples/zlib_speed.rs`).
//!
//! Its output does not depend on the SIMD instructions of the machine: they only serve to compare
//! bytes and to compute the checksum.

use super::context::EncodeContext;
use zlib_rs::{Deflate, DeflateFlush, Status};

/// Whether chunk level `level`, which is zlib's own, is for this encoder.
pub(crate) const fn serves(level: u8) -> bool {
    level < 9
}

/// The state that encodes at chunk level 1 ..= 8.
pub(crate) fn encoder(level: u8) -> Deflate {
    Deflate::new(level.clamp(1, 8).into(), true, 15)
}

/// Compresses `src` into the start of `dst`; returns the size.
///
/// `None` when it does not fit, or when the context is not for zlib. Never allocates.
pub fn encode(context: &mut EncodeContext, src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let state = context.zlib.as_mut()?;
    state.reset();
    match state.compress(src, dst, DeflateFlush::Finish) {
        Ok(Status::StreamEnd) => usize::try_from(state.total_out()).ok(),
        _ => {
            abandon(state);
            None
        }
    }
}

/// Ends a stream that did not fit. A reset keeps the bits that have not made up a byte yet, and they
/// would begin the next stream; only the end of a stream flushes them.
fn abandon(state: &mut Deflate) {
    let mut sink = [0; 1024];
    // What is buffered (two windows at most) has an end; the bound is for the reader.
    for _ in 0..1024 {
        match state.compress(&[], &mut sink, DeflateFlush::Finish) {
            Ok(Status::StreamEnd) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Codec, zlib};
    use alloc::vec;
    use alloc::vec::Vec;

    /// A block that does not compress, then one that does, through one context.
    #[test]
    fn a_stream_that_did_not_fit_leaves_nothing_behind() {
        let mut seed = 1u32;
        let mut noise = || {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 24) as u8
        };
        let random: Vec<u8> = (0..260_700).map(|_| noise()).collect();
        let plain: Vec<u8> =
            (0..260_700).map(|i| if i % 3 == 0 { noise() } else { (i / 300) as u8 }).collect();
        for level in 1..=8 {
            let mut context = EncodeContext::for_codec(Codec::Zlib, level, random.len()).unwrap();
            for room in [random.len(), 100_000, 5000, 100, 3, 0] {
                let mut dst = vec![0; room];
                assert_eq!(encode(&mut context, &random, &mut dst), None);
                let mut dst = vec![0; plain.len()];
                let n = encode(&mut context, &plain, &mut dst).unwrap();
                let mut back = vec![0; plain.len()];
                let mut work = vec![0; zlib::DECODE_WORK_LEN];
                zlib::decode(&dst[..n], (&mut back[..]).into(), &mut work).unwrap();
                assert!(back == plain, "level {level}, room {room}");
            }
        }
    }
}
