//! [`PrefetchedWords`] and [`Lookahead`]: the bytes around one position, kept in registers, to be compared with those around
//! many earlier positions.
//!
//! How much two positions have in common is not predictable, so no branch depends on it.

use super::words::Words;
use sixteen::{BITS, Bits, Sixteen};

/// How many bytes before a place, and from it on, [`PrefetchedWords`] and [`Lookahead`] compare.
pub(in crate::arch) const NEAR: usize = 16;

/// What lies before one place and from it on, kept in registers, to be compared with what lies around many earlier places.
pub struct PrefetchedWords<'a> {
    ahead: Lookahead<'a>,
    before: Sixteen,
    /// The first byte before it that does not count any more.
    stop: Bits,
}

/// What lies from one place on.
pub struct Lookahead<'a> {
    bytes: &'a [u8],
    at: usize,
    here: Sixteen,
}

impl<'a> Words<'a> {
    /// What lies around `at`: `most` bytes before it count, and those before `end`. `None` too near either end.
    #[inline(always)]
    pub fn around(&self, at: usize, most: usize, end: usize) -> Option<PrefetchedWords<'a>> {
        let ahead = self.ahead(at, end)?;
        // SAFETY: as many bytes lie before `at`, which lies inside.
        let before = unsafe { Sixteen::load(self.bytes.as_ptr().add(at.checked_sub(NEAR)?)) };
        let stop = if most < NEAR { 1 << (BITS * (NEAR - 1 - most) as u32) } else { 0 };
        Some(PrefetchedWords { ahead, before, stop })
    }

    /// What lies from `at` on, before `end`; `None` too near that.
    #[inline(always)]
    pub fn ahead(&self, at: usize, end: usize) -> Option<Lookahead<'a>> {
        if at + NEAR > end || end > self.bytes.len() {
            return None;
        }
        // SAFETY: as many bytes lie from `at` on.
        let here = unsafe { Sixteen::load(self.bytes.as_ptr().add(at)) };
        Some(Lookahead { bytes: self.bytes, at, here })
    }
}

impl PrefetchedWords<'_> {
    /// How many bytes from `earlier` on, and before it, are the same here. `None` where there may be more than were compared.
    #[inline(always)]
    pub fn common(&self, earlier: usize) -> Option<(usize, usize)> {
        let PrefetchedWords { ahead: Lookahead { bytes, at, here }, before, stop } = self;
        if earlier.wrapping_sub(NEAR) >= at.wrapping_sub(NEAR) {
            return None;
        }
        // SAFETY: `earlier` is at least `NEAR` and below `at`, which has as many bytes before it and from it on.
        let (behind, ahead) = unsafe {
            let place = bytes.as_ptr().add(earlier);
            (before.differ(place.sub(NEAR)) | stop, here.differ(place))
        };
        (behind != 0 && ahead != 0).then(|| (first(ahead), last(behind)))
    }
}

impl Lookahead<'_> {
    /// How many bytes from `earlier` on are the same here. `None` where there may be more than were compared.
    #[inline(always)]
    pub fn common(&self, earlier: usize) -> Option<usize> {
        if earlier >= self.at {
            return None;
        }
        // SAFETY: from there on lie more bytes than from `at` on, which has enough.
        let differ = unsafe { self.here.differ(self.bytes.as_ptr().add(earlier)) };
        (differ != 0).then(|| first(differ))
    }
}

/// How many of sixteen bytes are equal before the first that differs.
#[inline(always)]
fn first(differ: Bits) -> usize {
    (differ.trailing_zeros() / BITS) as usize
}

/// How many are equal behind the last that differs.
#[inline(always)]
fn last(differ: Bits) -> usize {
    ((differ << (Bits::BITS - BITS * NEAR as u32)).leading_zeros() / BITS) as usize
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sixteen {
    use core::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};

    /// Which of sixteen bytes differ.
    pub type Bits = u32;
    /// How many bits there are for each byte.
    pub const BITS: u32 = 1;

    pub struct Sixteen(__m128i);

    impl Sixteen {
        /// # Safety
        /// Sixteen bytes are readable.
        #[inline(always)]
        pub unsafe fn load(at: *const u8) -> Self {
            // SAFETY: by the contract sixteen bytes are readable; the load needs no alignment.
            Sixteen(unsafe { _mm_loadu_si128(at.cast()) })
        }

        /// Which are not those at `at`.
        ///
        /// # Safety
        /// Sixteen bytes are readable.
        #[inline(always)]
        pub unsafe fn differ(&self, at: *const u8) -> Bits {
            // SAFETY: by the contract sixteen bytes are readable at `at`.
            unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, Self::load(at).0)) as u32 ^ 0xffff }
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
mod sixteen {
    /// Which of sixteen bytes differ.
    pub type Bits = u128;
    /// How many bits there are for each byte.
    pub const BITS: u32 = 8;

    pub struct Sixteen(u128);

    impl Sixteen {
        /// # Safety
        /// Sixteen bytes are readable.
        #[inline(always)]
        pub unsafe fn load(at: *const u8) -> Self {
            // SAFETY: by the contract sixteen bytes are readable; the read needs no alignment.
            Sixteen(u128::from_le(unsafe { at.cast::<u128>().read_unaligned() }))
        }

        /// Which are not those at `at`.
        ///
        /// # Safety
        /// Sixteen bytes are readable.
        #[inline(always)]
        pub unsafe fn differ(&self, at: *const u8) -> Bits {
            // SAFETY: by the contract sixteen bytes are readable at `at`.
            self.0 ^ unsafe { Self::load(at).0 }
        }
    }
}
