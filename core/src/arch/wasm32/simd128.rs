//! simd128: registers of one lane, byte table.

use crate::arch::out::Out;
use crate::arch::planes::{Planes, Stores};
use crate::arch::scalar;
use crate::arch::vector::{self, Each, Join, Pitched, Split, Table, Vector};
use core::arch::wasm32::*;

/// A 16-byte register.
#[derive(Clone, Copy)]
pub(super) struct Q(v128);

impl Vector for Q {
    const LANES: usize = 1;
    const BLOCK: usize = 16;
    const TABLE: bool = true;

    #[inline(always)]
    unsafe fn load(p: *const u8) -> Self {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { Q(v128_load(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { v128_store(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn store_halves(self, _l: usize, p: *mut u8, q: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            v128_store64_lane::<0>(self.0, p.cast());
            v128_store64_lane::<1>(self.0, q.cast());
        }
    }
    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.0, b.0);
        match UNIT {
            1 => (
                Q(i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b)),
                Q(i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b)),
            ),
            2 => (
                Q(i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b)),
                Q(i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b)),
            ),
            4 => (Q(i32x4_shuffle::<0, 4, 1, 5>(a, b)), Q(i32x4_shuffle::<2, 6, 3, 7>(a, b))),
            _ => (Q(i64x2_shuffle::<0, 2>(a, b)), Q(i64x2_shuffle::<1, 3>(a, b))),
        }
    }
    #[inline(always)]
    unsafe fn table(self, table: &'static [u8; 16]) -> Self {
        // SAFETY: the table is 16 bytes.
        unsafe { Q(i8x16_swizzle(self.0, v128_load(table.as_ptr().cast()))) }
    }
    #[inline(always)]
    unsafe fn swap_bits<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        let (a, b, low) = (a.0, b.0, u8x16_splat((0xff / ((1 << SHIFT) + 1)) as u8));
        let (up, down) = (u8x16_shl(b, SHIFT as u32), u8x16_shr(a, SHIFT as u32));
        (Q(v128_bitselect(a, up, low)), Q(v128_bitselect(down, b, low)))
    }
    vector::calls!();
}

vector::rows!(bytes Q, "simd128", scalar);
vector::rows!(bits Q, "simd128", scalar);
