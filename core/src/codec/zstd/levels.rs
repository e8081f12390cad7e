//! What each level asks of the C library. How the numbers were chosen: docs/optimization-notes.md, "Encoders".

use crate::arch::c::zstd::Tuning;
use crate::codec::content::Content;

/// Longest stream in bytes of zstd's smallest set of parameters (docs/optimization-notes.md#zstd-small).
const SMALL: usize = 16 << 10;
/// Longest stream in bytes of zstd's next two sets (docs/optimization-notes.md#zstd-medium).
const MEDIUM: usize = 256 << 10;

/// zstd's own level for chunk level 1 ..= 9 (docs/formats/chunk.md §6.3): 1, 3, .. 15, and 22.
pub const fn library_level(level: u8) -> i32 {
    match level {
        0 => 1,
        1..=8 => 2 * level as i32 - 1,
        _ => 22,
    }
}

/// Where zstd's own parameters of a level are not the best for streams of chunks: outputs as small in less time.
///
/// | level, streams | parameters | why | row of docs/optimization-notes.md |
/// |---|---|---|---|
/// | 1, planes of 4 to 16 KiB | one or two hash cells a byte, not four | they stay in the first-level cache | #zstd-level-1 |
/// | 5, up to 16 KiB, not bits, no repeats | chains for binary trees | less time; bits lose by it | #zstd-small |
/// | 5, planes of 16 to 256 KiB | rows for the second-level cache | fewer to clear: bits a quarter faster | #zstd-medium |
/// | 6 to 9, unlike byte planes | a block for each | own codes: 64 KiB at 9 3.5 % smaller in .6 of the time | #zstd-planes |
/// | 6, these, 16 to 64 KiB | chains for binary trees | half the time, .2 % larger; without blocks 6 % | #zstd-level-6 |
/// | 9, not bits | long matches are taken without being priced | an eighth less time; bits grow by percents | #zstd-repeats |
pub(in crate::codec) fn tuning(library_level: i32, src: &[u8], content: Content) -> Tuning {
    const LEVEL_1: i32 = self::library_level(1);
    const LEVEL_5: i32 = self::library_level(5);
    const LEVEL_6: i32 = self::library_level(6);
    const LEVEL_9: i32 = self::library_level(9);
    let own = match content {
        // From level 6 on all planes of a block are one stream (docs/formats/chunk.md §6.3).
        Content::BytePlanes(planes) if library_level >= LEVEL_6 => {
            Tuning { max_block: unlike_planes(src, planes), ..Tuning::default() }
        }
        _ => Tuning::default(),
    };
    match (library_level, content) {
        (LEVEL_1, Content::BytePlanes(_) | Content::BitPlanes) if (4097..=SMALL).contains(&src.len()) => {
            Tuning { hash_log: 13, ..own }
        }
        (LEVEL_5, Content::Any | Content::BytePlanes(_)) if src.len() <= SMALL && !repeats(src) => {
            Tuning { strategy: Tuning::LAZY2, search_log: if src.len() > 4096 { 6 } else { 0 }, ..own }
        }
        (LEVEL_5, Content::BytePlanes(_) | Content::BitPlanes)
            if (SMALL + 1..=MEDIUM).contains(&src.len()) =>
        {
            Tuning { hash_log: row_log(src.len(), content == Content::BitPlanes), ..own }
        }
        (LEVEL_6, Content::BytePlanes(_))
            if own.max_block > 0 && (SMALL + 1..=64 << 10).contains(&src.len()) =>
        {
            Tuning { strategy: Tuning::LAZY2, hash_log: 15, ..own }
        }
        (LEVEL_9, Content::BytePlanes(_)) if own.max_block > 0 => Tuning { target_length: 192, ..own },
        (LEVEL_9, Content::BytePlanes(_)) => Tuning { target_length: 320, ..own },
        (LEVEL_9, Content::Any) => Tuning { target_length: 512, ..own },
        _ => own,
    }
}

/// Bytes of each of the `planes` of `src` where zstd's blocks should end with them; 0 where they should not.
///
/// Codes of its own pay for a plane of 4 KiB or more whose bytes are spread unlike those of the plane before. Longer planes than
/// 128 KiB are several blocks anyway.
fn unlike_planes(src: &[u8], planes: usize) -> i32 {
    /// Bytes of each plane that are counted (docs/optimization-notes.md#zstd-planes).
    const SAMPLES: usize = 128;
    let plane = src.len() / planes.max(1);
    if planes < 2 || !(4 << 10..=128 << 10).contains(&plane) || repeats(src) {
        return 0;
    }
    let mut before = [0i32; 32];
    let mut unlike = 0;
    for (number, plane) in src.chunks_exact(plane).enumerate() {
        let mut now = [0i32; 32];
        for byte in plane.iter().step_by(plane.len() / SAMPLES).take(SAMPLES) {
            if let Some(cell) = now.get_mut(usize::from(byte >> 3)) {
                *cell += 1;
            }
        }
        if number > 0 {
            unlike += before.iter().zip(&now).map(|(b, n)| (b - n).abs()).sum::<i32>();
        }
        before = now;
    }
    let most = 2 * SAMPLES as i32 * (planes as i32 - 1);
    if 8 * unlike >= most { plane as i32 } else { 0 }
}

/// Binary logarithm of the cells for planes of `len` bytes at level 5.
fn row_log(len: usize, is_bits: bool) -> u8 {
    let len_log = len.next_power_of_two().trailing_zeros() as u8;
    (len_log - u8::from(is_bits && len_log > 15)).clamp(15, if is_bits { 16 } else { 17 })
}

/// Whether most of `src` seems to be runs or to come again every 256 bytes, as planes of evenly rising integers do.
/// Binary trees pass over long matches, chains enter each of their bytes. Sixteen words tell it in less time than a sample takes.
fn repeats(src: &[u8]) -> bool {
    /// Words that are looked at (docs/optimization-notes.md#zstd-repeats).
    const PROBES: usize = 16;
    let Some(room) = src.len().checked_sub(256 + 8) else { return false };
    let word = |at: usize| src.get(at..at + 8);
    let found = (0..PROBES)
        .map(|probe| probe * room / PROBES)
        .filter(|&at| word(at) == word(at + 1) || word(at) == word(at + 256))
        .count();
    found >= PROBES - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn rows_are_as_large_as_planes_within_limits() {
        let logs = |len| [false, true].map(|is_bits| row_log(len, is_bits));
        assert_eq!(logs(SMALL + 1), [15, 15]);
        assert_eq!(logs(0x8000), [15, 15]);
        assert_eq!(logs(0x8001), [16, 15]);
        assert_eq!(logs(0x1_0000), [16, 15]);
        assert_eq!(logs(0x1_0001), [17, 16]);
        assert_eq!(logs(MEDIUM), [17, 16]);
    }

    #[test]
    fn runs_and_what_comes_again_after_256_bytes_repeat() {
        let noise: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let mut half = vec![7; 4096];
        half[2048..].copy_from_slice(&noise[..2048]);
        for (src, wanted) in [
            (vec![7; 4096], true),
            ((0..4096).map(|i| i as u8).collect(), true),
            ((0..4096).map(|i| (i >> 8) as u8).collect(), true),
            (vec![7; 263], false),
            (half, false),
            (noise, false),
        ] {
            assert_eq!(repeats(&src), wanted, "{:?}", &src[..4]);
        }
    }
}
