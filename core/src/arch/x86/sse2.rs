//! SSE2: registers of one lane, no byte table.

use super::intrinsics::*;
use crate::arch::generic::{self, Each, Join, Pitched, Split, Table, Vector};
use crate::arch::out::Out;
use crate::arch::scalar;
use crate::filter::blocksplit::{Planes, Stores};

/// A 16-byte register.
#[derive(Clone, Copy)]
pub(super) struct Xmm(__m128i);

impl Vector for Xmm {
    const LANES: usize = 1;
    const BLOCK: usize = 16;
    const TABLE: bool = false;

    #[inline(always)]
    unsafe fn load(p: *const u8) -> Self {
        // SAFETY: the caller's.
        unsafe { Xmm(_mm_loadu_si128(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8) {
        // SAFETY: the caller's.
        unsafe { _mm_storeu_si128(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn stream(self, p: *mut u8) {
        // SAFETY: the caller's.
        unsafe { _mm_stream_si128(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn fence() {
        // SAFETY: SSE.
        unsafe { _mm_sfence() }
    }
    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.0, b.0);
        // SAFETY: the caller's CPU.
        let (low, high) = unsafe {
            match UNIT {
                1 => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
                2 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
                4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
                _ => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
            }
        };
        (Xmm(low), Xmm(high))
    }
    #[inline(always)]
    unsafe fn table(self, _: &'static [u8; 16]) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn swap_bits<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: the caller's CPU.
        unsafe {
            let low = _mm_set1_epi8((0xff / ((1 << SHIFT) + 1)) as u8 as i8);
            let differ = _mm_and_si128(_mm_xor_si128(_mm_srli_epi16::<SHIFT>(a.0), b.0), low);
            let moved = _mm_slli_epi16::<SHIFT>(differ);
            (Xmm(_mm_xor_si128(a.0, moved)), Xmm(_mm_xor_si128(b.0, differ)))
        }
    }
    #[inline(always)]
    unsafe fn call_split(job: Split) {
        // SAFETY: the caller's.
        unsafe { split_job(job) }
    }
    #[inline(always)]
    unsafe fn call_join(job: Join<Pitched>) {
        // SAFETY: the caller's.
        unsafe { join_pitched(job) }
    }
}

generic::rows!(bytes Xmm, "sse2", scalar);
generic::rows!(bits Xmm, "sse2", scalar);
