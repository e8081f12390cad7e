//! zlib streams on hosts: by our own encoder or by the `zlib-rs` crate, as [`encoders`](super::zlib::encoders) chooses.
//!
//! | levels | what is chosen for which streams | threshold | why, and row of docs/optimization-notes.md |
//! |---|---|---|---|
//! | 1 to 5 | ours where matches are few | at most at 1 of 64 positions | it steps over the others | #zlib-few-matches |
//! | 1 to 5 | or long and far apart, | half have 8 bytes, 3 begin in 16 positions without | bits of floats are so | #zlib-far |
//! | | but not dense | 13 of 16 positions, at levels 1 and 2 4 of 16 | it takes longer for each match | #zlib-far |
//! | 3 to 5 | or nothing but long | 31 of 32 positions, 15 of 16 of these have 8 bytes | each ends a search | #zlib-long |
//! | 1, 2 | samples are short | 8 pieces of 64 bytes, not 4 of 512 | the others read up to 5 GB/s | #zlib-samples |
//! | 5 | zlib-rs's level 4 for short ones | 1 of 20 has 8 bytes | longer searches find little more | #zlib-short |
//! | | if few or many | 1/4 of positions at most, 2/5 at least | between, as in photographs, long ones hide | #zlib-short |
//!
//! The choice depends on the stream and the level alone, and so does what is written: of SIMD instructions zlib-rs only asks
//! to compare bytes and to compute the checksum.

use super::context::EncodeContext;
use super::zlib::deflate;
use super::zlib::encoders::{Choice, choice};
use crate::codec::sample::{LONG, Sample};
use zlib_rs::{Deflate, DeflateFlush, Status};

/// The highest level of ours where matches are few: few matches are found by few steps (docs/optimization-notes.md#zlib-few).
const MOST_WHERE_FEW: u8 = 4;
/// The level that is zlib-rs's next lower one where matches are short (docs/optimization-notes.md#zlib-short).
const LESS_WHERE_SHORT: u8 = 5;

/// Scratch bytes that [`encode`] needs for streams of `len` bytes.
pub(crate) const fn work_len(level: u8, len: usize) -> usize {
    let (ours, quick) = (deflate::work_len(level, len), deflate::quick_work_len(len));
    match choice(level) {
        Choice::OursOrQuick if quick > ours => quick,
        _ => ours,
    }
}

/// Compresses `src` into the start of `dst`; returns the size.
///
/// `None` when it does not fit, or when the context is for another codec or the scratch too short. Never allocates.
pub(crate) fn encode(
    context: &mut EncodeContext,
    src: &[u8],
    dst: &mut [u8],
    level: u8,
    work: &mut [u8],
) -> Option<usize> {
    match choice(level) {
        Choice::Ours => return deflate::encode(src, dst, level, work),
        Choice::OursOrQuick | Choice::OursOrLibrary if has_few_matches(src, level) => {
            return deflate::encode(src, dst, level.min(MOST_WHERE_FEW), work);
        }
        Choice::OursOrQuick => return deflate::encode_quick(src, dst, work),
        Choice::OursOrLibrary => {}
    }
    let state = context.zlib.as_mut()?;
    state.reset();
    let less = level == LESS_WHERE_SHORT && has_short_matches(src);
    state.set_level(i32::from(level) - i32::from(less)).ok()?;
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

/// Whether the stream is for our own encoder, by the table above.
fn has_few_matches(src: &[u8], level: u8) -> bool {
    let (pieces, most_sixteenths) = if level < 3 { ((8, 64), 4) } else { (LONG, 13) };
    let Some(Sample { positions, fours, eights, starts }) = Sample::of(src, pieces) else {
        return false;
    };
    let (none, dense) = (64 * fours <= positions, 16 * fours > most_sixteenths * positions);
    let (long, far_apart) = (2 * eights >= fours, 16 * starts <= 3 * (positions - fours));
    let nothing_else = level > 2 && 32 * fours >= 31 * positions && 16 * eights >= 15 * fours;
    none || nothing_else || (long && far_apart && !dense)
}

/// Whether the stream is for zlib-rs's next lower level, by the table above.
fn has_short_matches(src: &[u8]) -> bool {
    let Some(Sample { positions, fours, eights, .. }) = Sample::of(src, LONG) else { return false };
    20 * eights <= fours && (4 * fours <= positions || 5 * fours >= 2 * positions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::id::Codec;
    use crate::codec::zlib;
    use alloc::vec;
    use alloc::vec::Vec;

    /// A block that does not compress, then one that does, through one context.
    #[test]
    fn a_stream_that_did_not_fit_leaves_nothing_behind() {
        let mut random = blosc_testkit::Random(1);
        let mut noise = || random.next() as u8;
        let random: Vec<u8> = (0..260_700).map(|_| noise()).collect();
        let plain: Vec<u8> =
            (0..260_700).map(|i| if i % 3 == 0 { noise() } else { (i / 300) as u8 }).collect();
        let emulated = std::env::var_os("BLOSC_EMULATED").is_some();
        for level in (1..=9).step_by(if emulated { 4 } else { 1 }) {
            let mut work = vec![0xa5; work_len(level, random.len())];
            let mut context = EncodeContext::for_codec(Codec::Zlib, level, random.len()).unwrap();
            for room in [random.len(), 100_000, 5000, 100, 3, 0] {
                let mut dst = vec![0; room];
                assert_eq!(encode(&mut context, &random, &mut dst, level, &mut work), None);
                let mut dst = vec![0; plain.len()];
                let n = encode(&mut context, &plain, &mut dst, level, &mut work).unwrap();
                let mut back = vec![0; plain.len()];
                let mut work = vec![0; zlib::DECODE_WORK_LEN];
                zlib::decode(&dst[..n], (&mut back[..]).into(), &mut work).unwrap();
                assert!(back == plain, "level {level}, room {room}");
            }
        }
    }

    /// Noise, and bits of the same place in numbers with noise below, are for our own encoder at levels 1 to 5; words are not;
    /// nor is what repeats itself, and runs are from level 3 on. Each choice is seen by its bytes, and both are read back.
    #[test]
    fn what_has_few_matches_is_for_our_own_encoder() {
        let mut random = blosc_testkit::Random(7);
        let mut noise = || random.next() as u8;
        let random: Vec<u8> = (0..50_000).map(|_| noise()).collect();
        let most: Vec<u8> = (0..50_000).map(|i| if i / 2500 % 4 > 0 { noise() } else { 0 }).collect();
        let words: Vec<[u8; 6]> = (0..300).map(|_| core::array::from_fn(|_| noise())).collect();
        let text: Vec<u8> = (0..9000).flat_map(|_| words[usize::from(noise()) % 300]).collect();
        let period: Vec<u8> = (0..50_000).map(|i| (i % 30) as u8).collect();
        for (src, from_level) in [(random, 1), (most, 1), (text, 6), (period, 6), (vec![1; 50_000], 3)] {
            for level in 1..=5 {
                let few = level >= from_level;
                assert_eq!(has_few_matches(&src, level), few, "level {level}");
                let mut work = vec![0xa5; work_len(level, src.len())];
                let (mut host, mut own) = (vec![0; src.len() + 100], vec![0; src.len() + 100]);
                let mut context = EncodeContext::for_codec(Codec::Zlib, level, src.len()).unwrap();
                // What did not fit leaves nothing behind in either encoder.
                assert_eq!(encode(&mut context, &src, &mut host[..20], level, &mut work), None);
                let n = encode(&mut context, &src, &mut host, level, &mut work).unwrap();
                let m = deflate::encode(&src, &mut own, level.min(MOST_WHERE_FEW), &mut work).unwrap();
                assert_eq!(host[..n] == own[..m], few, "level {level}");
                let (mut back, mut work) = (vec![0; src.len()], vec![0; zlib::DECODE_WORK_LEN]);
                zlib::decode(&host[..n], (&mut back[..]).into(), &mut work).unwrap();
                assert!(back == src, "level {level}");
            }
        }
        // Streams shorter than a sample, or than a word.
        for (len, level) in (0..40).flat_map(|len| (1..=5).map(move |level| (len, level))) {
            let (src, mut dst, mut back) = (vec![len as u8; len], [0; 100], vec![0; len]);
            let mut work = vec![0xa5; work_len(level, len)];
            let mut context = EncodeContext::for_codec(Codec::Zlib, level, len).unwrap();
            let n = encode(&mut context, &src, &mut dst, level, &mut work).unwrap();
            zlib::decode(&dst[..n], (&mut back[..]).into(), &mut [0; zlib::DECODE_WORK_LEN]).unwrap();
            assert!(back == src, "{len} bytes, level {level}");
        }
    }

    /// Words of six bytes are short matches, a period of thirty is long: one context writes both as zlib-rs does at levels 4
    /// and 5, whatever it wrote before.
    #[test]
    fn short_matches_are_written_one_level_lower() {
        let mut random = blosc_testkit::Random(3);
        let mut noise = || random.next() as u8;
        let words: Vec<[u8; 6]> = (0..300).map(|_| core::array::from_fn(|_| noise())).collect();
        let text: Vec<u8> = (0..9000).flat_map(|_| words[usize::from(noise()) % 300]).collect();
        let lines: Vec<u8> =
            (0..2000u32).flat_map(|i| [[i as u8, (i >> 8) as u8, 7, 9]; 7]).flatten().collect();
        assert!(has_short_matches(&text) && !has_short_matches(&lines));
        let mut context = EncodeContext::for_codec(Codec::Zlib, 5, text.len()).unwrap();
        let mut work = vec![0xa5; work_len(5, text.len())];
        for (src, level) in [(&text, 4), (&lines, 5), (&text, 4)] {
            let (mut host, mut theirs) = (vec![0; src.len() + 100], vec![0; src.len() + 100]);
            let n = encode(&mut context, src, &mut host, 5, &mut work).unwrap();
            let mut state = Deflate::new(level, true, 15);
            assert_eq!(state.compress(src, &mut theirs, DeflateFlush::Finish), Ok(Status::StreamEnd));
            assert!(host[..n] == theirs[..state.total_out() as usize], "level {level}");
        }
    }
}
