//! [`Words`]: what an LZ encoder reads of its input, eight bytes at a time.
//!
//! Words are little-endian whatever the machine, so that the same matches are found, and the same bytes
//! written, everywhere.
//!
//! ```text
//! common(a, b, end)      n = 0; while b + n < end and bytes[a + n] = bytes[b + n]: n += 1
//!     a word at a time   differ = word(a + n) ^ word(b + n); its trailing zeros are the bits that are equal
//!     by lines           64 bytes at a time: one bit for each byte that differs; then 32, then words, then bytes
//! common_before          the same backwards, with the leading zeros of words that end at `a` and `b`
//! ```
//! The forms of `common` differ in what they expect, because a wrong guess costs an encoder more than the comparison:
//! - `common`: most strings differ within eight bytes; one branch.
//! - `common_any`, `end_of_common`: any length up to 32 is as likely; no branch depends on it.
//! - `common_from`: the caller has compared the first words already.
//! - `common_to_end`: as `common`, without a bound to keep in a register.
//!
//! What is rare is a call that takes no struct by value, so that loops keep their registers.

// A build with some of the codecs needs only part of this.
#![cfg_attr(
    not(all(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd", feature = "snappy")),
    allow(dead_code, unused_imports)
)]

/// Input of at least eight bytes; every word is checked against one precomputed bound.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the last whole word begins.
    last: usize,
}

impl<'a> Words<'a> {
    /// Words of `bytes`; `None` where there is not a single one.
    #[inline(always)]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        Some(Words { bytes, last: bytes.len().checked_sub(8)? })
    }

    /// The eight bytes at `at`, or 0 where they leave the input.
    #[inline(always)]
    pub fn load64(&self, at: usize) -> u64 {
        if at > self.last {
            return 0;
        }
        // SAFETY: `at <= last`, and eight bytes begin there.
        u64::from_le(unsafe { self.bytes.as_ptr().add(at).cast::<u64>().read_unaligned() })
    }

    /// The eight bytes at `at`; `None` where they leave the input.
    #[inline(always)]
    pub fn get64(&self, at: usize) -> Option<u64> {
        (at <= self.last).then(|| self.load64(at))
    }

    /// The eight bytes at `at`.
    ///
    /// # Safety
    /// They are part of the input.
    #[cfg(feature = "lz4")]
    #[inline(always)]
    pub(in crate::arch) unsafe fn load64_unchecked(&self, at: usize) -> u64 {
        // SAFETY: by the contract the eight bytes are part of the input; the read needs no alignment.
        u64::from_le(unsafe { self.bytes.as_ptr().add(at).cast::<u64>().read_unaligned() })
    }

    /// Where the last word of the first `until` bytes begins; `None` where they have none or leave the input.
    #[cfg(feature = "lz4")]
    #[inline(always)]
    pub(in crate::arch) fn starts_before(&self, until: usize) -> Option<usize> {
        until.checked_sub(8).filter(|last| *last <= self.last)
    }

    /// How many bytes from `a` and from `b` on are equal, reading none at or after `end`; `a < b`.
    #[inline(always)]
    pub fn common(&self, a: usize, b: usize, end: usize) -> usize {
        if a >= b || b > end || end > self.bytes.len() {
            return 0;
        }
        let most = end - b;
        // SAFETY: `a + most` and `b + most` are at most `end`, which is at most the length.
        unsafe {
            let (x, y) = (self.bytes.as_ptr().add(a), self.bytes.as_ptr().add(b));
            // Most matches end soon.
            if most >= 8 {
                let differ = difference(x, y, 0);
                if differ != 0 {
                    return (differ.trailing_zeros() / 8) as usize;
                }
            }
        }
        slow_common(self.bytes, a, b, end)
    }

    /// [`common`](Self::common), for strings whose common length is not predictable: up to 32 bytes no branch depends on it.
    #[inline(always)]
    pub fn common_any(&self, a: usize, b: usize, end: usize) -> usize {
        if a < b && b + 32 <= end && end <= self.bytes.len() {
            // SAFETY: 32 bytes begin at both.
            let n = unsafe { common32(self.bytes.as_ptr().add(a), self.bytes.as_ptr().add(b)) };
            if n < 32 {
                return n;
            }
        }
        slow_common(self.bytes, a, b, end)
    }

    /// [`common`](Self::common) of `a < b` where the words there are known to differ in the bits `diff`.
    #[inline(always)]
    pub fn common_from(&self, diff: u64, a: usize, b: usize, end: usize) -> usize {
        if diff == 0 {
            return slow_common(self.bytes, a, b, end);
        }
        ((diff.trailing_zeros() / 8) as usize).min(end.saturating_sub(b))
    }

    /// [`common`](Self::common) up to the end of the input.
    #[inline(always)]
    pub fn common_to_end(&self, a: usize, b: usize) -> usize {
        if a < b && b <= self.last {
            // SAFETY: eight bytes begin at both.
            let differ = unsafe { difference(self.bytes.as_ptr().add(a), self.bytes.as_ptr().add(b), 0) };
            if differ != 0 {
                return (differ.trailing_zeros() / 8) as usize;
            }
        }
        self.long_common_to_end(a, b)
    }

    /// Where, from `b` on, the strings end that are equal from `a` and from `b` on; `a < b`. At most the end of the bytes.
    ///
    /// Often that is `b` itself. It has a branch of its own, so that a CPU that predicts it need not wait for the bytes;
    /// up to 32 bytes no other branch depends on the length.
    #[inline(always)]
    pub fn end_of_common(&self, a: usize, b: usize) -> usize {
        if a < b && b <= self.last && self.last - b >= 24 {
            // SAFETY: 32 bytes begin at both.
            unsafe {
                let (x, y) = (self.bytes.as_ptr().add(a), self.bytes.as_ptr().add(b));
                if *x != *y {
                    return b;
                }
                let n = common32(x, y);
                if n < 32 {
                    return b + n;
                }
            }
        }
        self.long_end_of_common(a, b)
    }

    #[inline(never)]
    fn long_end_of_common(&self, a: usize, b: usize) -> usize {
        (b + common_by_lines(self.bytes, a, b, self.bytes.len())).min(self.bytes.len())
    }

    /// Takes a reference: the loop of an encoder has no registers to pass the struct by value.
    #[inline(never)]
    fn long_common_to_end(&self, a: usize, b: usize) -> usize {
        slow_common(self.bytes, a, b, self.bytes.len())
    }

    /// How many bytes before `a` and before `b` are equal, at most `most`, `a` and `b`.
    #[inline(always)]
    pub fn common_before(&self, a: usize, b: usize, most: usize) -> usize {
        if a < 8 || a >= b || b > self.last {
            return self.edge_common_before(a, b, most);
        }
        // SAFETY: at least eight bytes lie before both, and the greater is at most the length.
        unsafe {
            let (x, y) = (self.bytes.as_ptr().add(a), self.bytes.as_ptr().add(b));
            let differ = difference(x.sub(8), y.sub(8), 0);
            if differ == 0 && most >= 8 {
                return long_common_before(x, y, most.min(a));
            }
            // How many is not predictable, so no branch depends on it.
            let n = (differ.swap_bytes() | 1 << 63).trailing_zeros() / 8;
            most.min(n as usize)
        }
    }

    #[inline(never)]
    fn edge_common_before(&self, a: usize, b: usize, most: usize) -> usize {
        if a.max(b) > self.bytes.len() {
            return 0;
        }
        // SAFETY: as many bytes lie before both, which are at most the length.
        unsafe {
            let bytes = self.bytes.as_ptr();
            short_common_before(bytes.add(a), bytes.add(b), 0, most.min(a).min(b))
        }
    }
}

/// How many bytes before `x` and before `y` are equal, at most `most`; eight are.
///
/// # Safety
/// `most` bytes before both are readable.
#[inline(never)]
unsafe fn long_common_before(x: *const u8, y: *const u8, most: usize) -> usize {
    let mut n = 8;
    // SAFETY: `n + 8 <= most`, and `n < most`.
    unsafe {
        while n + 8 <= most {
            let differ = difference(x.sub(n + 8), y.sub(n + 8), 0);
            if differ != 0 {
                return n + (differ.leading_zeros() / 8) as usize;
            }
            n += 8;
        }
        short_common_before(x, y, n, most)
    }
}

/// How many bytes before `x` and before `y` are equal, at most `most`; `n` are.
///
/// # Safety
/// `most` bytes before both are readable.
#[inline(always)]
unsafe fn short_common_before(x: *const u8, y: *const u8, mut n: usize, most: usize) -> usize {
    // SAFETY: `n < most`.
    while n < most && unsafe { *x.sub(n + 1) == *y.sub(n + 1) } {
        n += 1;
    }
    n
}

/// Bits in which the words at `x + n` and `y + n` differ.
///
/// # Safety
/// Eight bytes are readable at both.
#[inline(always)]
unsafe fn difference(x: *const u8, y: *const u8, n: usize) -> u64 {
    // SAFETY: by the contract eight bytes are readable at `x + n` and at `y + n`; the read needs no alignment.
    let word = |p: *const u8| u64::from_le(unsafe { p.add(n).cast::<u64>().read_unaligned() });
    word(x) ^ word(y)
}

/// Which of 32 bytes differ: the lowest bit stands for the first.
///
/// # Safety
/// 32 bytes are readable at both.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
unsafe fn difference32(x: *const u8, y: *const u8) -> u32 {
    use core::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};
    // SAFETY: two halves of 16 bytes each.
    unsafe {
        let equal = |n| {
            let load = |p: *const u8| _mm_loadu_si128(p.add(n).cast::<__m128i>());
            _mm_movemask_epi8(_mm_cmpeq_epi8(load(x), load(y))) as u32
        };
        !(equal(0) | equal(16) << 16)
    }
}

/// How many of 32 bytes are equal before the first that is not.
///
/// # Safety
/// 32 bytes are readable at both.
#[inline(always)]
unsafe fn common32(x: *const u8, y: *const u8) -> usize {
    // SAFETY: by the contract 32 bytes are readable at both, which is what `difference32`, or four words, read.
    unsafe {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        {
            (u64::from(difference32(x, y)) | 1 << 32).trailing_zeros() as usize
        }
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        {
            for n in [0, 8, 16, 24] {
                let differ = difference(x, y, n);
                if differ != 0 {
                    return n + (differ.trailing_zeros() / 8) as usize;
                }
            }
            32
        }
    }
}

/// [`Words::common`] of two long, or very short, strings. It takes no `Words`, which could not stay in registers then.
#[inline(never)]
fn slow_common(bytes: &[u8], a: usize, b: usize, end: usize) -> usize {
    common_by_lines(bytes, a, b, end)
}

/// [`Words::common`], a cache line at a time.
#[inline(always)]
fn common_by_lines(bytes: &[u8], a: usize, b: usize, end: usize) -> usize {
    if a >= b || b > end || end > bytes.len() {
        return 0;
    }
    let (most, mut n) = (end - b, 0);
    // SAFETY: `a + most` and `b + most` are at most `end`, which is at most the length; every read ends at or before `most`.
    unsafe {
        let (x, y) = (bytes.as_ptr().add(a), bytes.as_ptr().add(b));
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        while n + 64 <= most {
            let half = |n| u64::from(difference32(x.add(n), y.add(n)));
            let differ = half(n) | half(n + 32) << 32;
            if differ != 0 {
                return n + differ.trailing_zeros() as usize;
            }
            n += 64;
        }
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        if n + 32 <= most {
            let differ = difference32(x.add(n), y.add(n));
            if differ != 0 {
                return n + differ.trailing_zeros() as usize;
            }
            n += 32;
        }
        while n + 8 <= most {
            let differ = difference(x, y, n);
            if differ != 0 {
                return n + (differ.trailing_zeros() / 8) as usize;
            }
            n += 8;
        }
        short_common(x, y, n, most)
    }
}

/// The common length of two strings that are equal up to `n` and less than eight bytes longer.
///
/// # Safety
/// `most` bytes are readable at both.
#[inline(always)]
unsafe fn short_common(x: *const u8, y: *const u8, mut n: usize, most: usize) -> usize {
    // SAFETY: `n < most`.
    while n < most && unsafe { *x.add(n) == *y.add(n) } {
        n += 1;
    }
    n
}

/// Which of 16 bytes are `byte`: the lowest bit stands for the first.
#[cfg(any(feature = "lz4", feature = "zlib"))]
#[inline(always)]
pub fn equal16(bytes: &[u8; 16], byte: u8) -> u32 {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use core::arch::x86_64::{
            __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
        };
        // SAFETY: 16 bytes are read.
        unsafe {
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))) as u32
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    equal16_by_words(bytes, byte)
}

/// Moves all bytes one place on, the last one out, and sets the first.
#[cfg(any(feature = "lz4", feature = "zlib"))]
#[inline(always)]
pub fn push8(bytes: &mut [u8; 16], first: u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use core::arch::x86_64::{
            _mm_cvtsi32_si128, _mm_loadu_si128, _mm_or_si128, _mm_slli_si128, _mm_storeu_si128,
        };
        // SAFETY: 16 bytes are read and written.
        unsafe {
            let at = bytes.as_mut_ptr().cast();
            let moved = _mm_slli_si128::<1>(_mm_loadu_si128(at));
            _mm_storeu_si128(at, _mm_or_si128(moved, _mm_cvtsi32_si128(first.into())));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        *bytes = (u128::from_le_bytes(*bytes) << 8 | u128::from(first)).to_le_bytes();
    }
}

/// Puts two bytes in front of 16 pairs, as [`push8`] puts one.
#[cfg(any(feature = "lz4", feature = "zlib"))]
#[inline(always)]
pub fn push16(pairs: &mut [u8; 32], first: u16) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use core::arch::x86_64::{
            __m128i, _mm_insert_epi16, _mm_loadu_si128, _mm_or_si128, _mm_slli_si128, _mm_srli_si128,
            _mm_storeu_si128,
        };
        // SAFETY: two halves of 16 bytes each are read and written.
        unsafe {
            let low = pairs.as_mut_ptr().cast::<__m128i>();
            let high = low.add(1);
            let (older, newer) = (_mm_loadu_si128(high), _mm_loadu_si128(low));
            _mm_storeu_si128(high, _mm_or_si128(_mm_slli_si128::<2>(older), _mm_srli_si128::<14>(newer)));
            _mm_storeu_si128(low, _mm_insert_epi16::<0>(_mm_slli_si128::<2>(newer), first.into()));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        pairs.copy_within(..30, 2);
        let [low, high] = first.to_le_bytes();
        (pairs[0], pairs[1]) = (low, high);
    }
}

/// [`equal16`] without vectors.
#[cfg(all(
    any(feature = "lz4", feature = "zlib"),
    any(test, not(all(target_arch = "x86_64", target_feature = "sse2")))
))]
#[inline(always)]
fn equal16_by_words(bytes: &[u8; 16], byte: u8) -> u32 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let all = u128::from_le_bytes(*bytes);
    [(all >> 64) as u64, all as u64].into_iter().fold(0, |bits, word| {
        // The high bit of each byte that differs; then those of the others, brought together.
        let differ = word ^ (LOW * u64::from(byte));
        let differ = ((differ & (0x7f * LOW)) + 0x7f * LOW) | differ;
        let equal = (!differ >> 7 & LOW).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits << 8 | equal as u32
    })
}

#[cfg(all(test, feature = "lz4"))]
mod tests {
    use super::*;
    use crate::arch::search::lookahead::NEAR;

    #[test]
    fn equal_bytes_are_found_with_and_without_vectors() {
        let mut seed = 1u32;
        for _ in 0..2000 {
            let bytes = [(); 16].map(|()| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                [0, 1, 0x7f, 0x80, 0x81, 0xff, (seed >> 8) as u8, 0x55][(seed >> 29) as usize]
            });
            for byte in [0, 1, 0x7f, 0x80, 0x81, 0xff, 0x55] {
                let wanted = (0..16).filter(|i| bytes[*i] == byte).fold(0, |bits, i| bits | 1 << i);
                assert_eq!(equal16(&bytes, byte), wanted, "{byte} in {bytes:?}");
                assert_eq!(equal16_by_words(&bytes, byte), wanted, "{byte} in {bytes:?}");
            }
        }
    }

    /// Every length of what is equal, both ways, ending at the limit or before it.
    #[test]
    fn common_lengths() {
        for equal in (0..80).chain([127, 128, 129, 200]) {
            for (behind, ahead) in [(equal, 3), (3, equal), (equal, equal)] {
                let half: alloc::vec::Vec<u8> = (0..behind + ahead).map(|i| i as u8 ^ 0x5a).collect();
                let bytes = [&[1][..], &half, &[2, 3], &half, &[4], &[0; 9]].concat();
                let (words, a) = (Words::new(&bytes).unwrap(), 1 + behind);
                let b = a + half.len() + 2;
                for most in [0, 1, 7, 8, 9, 40, behind.max(ahead), bytes.len() - b] {
                    let most = most.min(bytes.len() - b);
                    assert_eq!(
                        words.common(a, b, b + most),
                        ahead.min(most),
                        "{ahead} ahead, at most {most}"
                    );
                    assert_eq!(words.common_any(a, b, b + most), ahead.min(most), "{ahead}, {most}");
                    let from = words.ahead(b, b + most);
                    assert_eq!(from.is_some(), most >= NEAR, "{most}");
                    if let Some(from) = from {
                        assert_eq!(from.common(a), (ahead < NEAR).then_some(ahead), "{ahead}");
                        assert_eq!(from.common(b), None, "only earlier places");
                    }
                    for before in [0, 1, 7, NEAR - 1, NEAR, 100] {
                        let Some(around) = words.around(b, before, b + most) else {
                            assert!(most < NEAR || b < NEAR, "{most} after, {b} before");
                            continue;
                        };
                        assert!(most >= NEAR && b >= NEAR);
                        let known = a >= NEAR && ahead < NEAR && behind.min(before) < NEAR;
                        assert_eq!(
                            around.common(a),
                            known.then_some((ahead, behind.min(before))),
                            "{ahead} ahead, {behind} behind, of {before}"
                        );
                        assert_eq!(around.common(b), None, "only earlier places");
                    }
                    let differ = words.load64(a) ^ words.load64(b);
                    if let Some(words) = Words::new(&bytes[..b + most]) {
                        assert_eq!(words.end_of_common(a, b), b + ahead.min(most), "{ahead}, {most}");
                        // What begins behind the end ends there: an encoder knows of eight bytes more than may match.
                        assert_eq!(words.end_of_common(a, b + most + 1), b + most);
                    }
                    assert_eq!(words.common_from(differ, a, b, b + most), ahead.min(most), "{ahead}, {most}");
                    assert_eq!(
                        words.common_before(a, b, most),
                        behind.min(most),
                        "{behind} behind, at most {most}"
                    );
                }
            }
        }
    }
}
