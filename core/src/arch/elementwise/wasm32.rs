//! Registers of wasm32: simd128.

use super::registers::{Lanes, Registers};
use core::arch::wasm32::v128;
use pulp::wasm::Simd128;

impl Registers<16> for Simd128 {
    type Register = v128;

    #[inline(always)]
    fn load(self, bytes: [u8; 16]) -> v128 {
        pulp::cast(bytes)
    }
    #[inline(always)]
    fn store(self, register: v128) -> [u8; 16] {
        pulp::cast(register)
    }
    #[inline(always)]
    fn xor(self, a: v128, b: v128) -> v128 {
        self.simd128.v128_xor(a, b)
    }
    #[inline(always)]
    fn and(self, a: v128, b: v128) -> v128 {
        self.simd128.v128_and(a, b)
    }
    #[inline(always)]
    fn add(self, a: v128, b: v128) -> v128 {
        self.simd128.u8x16_add(a, b)
    }
    #[inline(always)]
    fn sub(self, a: v128, b: v128) -> v128 {
        self.simd128.u8x16_sub(a, b)
    }
}

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
