//! Registers of wasm32: simd128.

use super::registers::{Lanes, Registers, registers};
use core::arch::wasm32::v128;
use pulp::wasm::Simd128;

registers!(v128: [u8; 16], Simd128.simd128 { v128_xor v128_and u8x16_add u8x16_sub });

#[rustfmt::skip] // One line for sixteen places.
impl Lanes<16> for Simd128 {
    #[inline(always)]
    fn up<const BY: usize>(self, x: v128) -> v128 {
        let zero = self.load([0; 16]);
        match BY {
            1 => self.simd128.i8x16_shuffle::<15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30>(zero, x),
            2 => self.simd128.i8x16_shuffle::<14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29>(zero, x),
            4 => self.simd128.i8x16_shuffle::<12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27>(zero, x),
            _ => self.simd128.i8x16_shuffle::<8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23>(zero, x),
        }
    }
    #[inline(always)]
    fn join<const W: usize, const OP: char>(self, x: v128) -> (v128, v128) {
        let last = match W {
            1 => self.simd128.i8x16_shuffle::<15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15>(x, x),
            2 => self.simd128.i8x16_shuffle::<14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15>(x, x),
            _ => self.simd128.i8x16_shuffle::<12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15>(x, x),
        };
        (x, last)
    }
}
