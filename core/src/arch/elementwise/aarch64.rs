//! Registers of aarch64: NEON.

use super::registers::{Lanes, Registers, registers};
use core::arch::aarch64::uint8x16_t;
use pulp::aarch64::Neon;

registers!(uint8x16_t: [u8; 16], Neon.neon { veorq_u8 vandq_u8 vaddq_u8 vsubq_u8 });

impl Lanes<16> for Neon {
    #[inline(always)]
    fn up<const BY: usize>(self, x: uint8x16_t) -> uint8x16_t {
        let zero = self.load([0; 16]);
        match BY {
            1 => self.neon.vextq_u8::<15>(zero, x),
            2 => self.neon.vextq_u8::<14>(zero, x),
            4 => self.neon.vextq_u8::<12>(zero, x),
            _ => self.neon.vextq_u8::<8>(zero, x),
        }
    }
    #[inline(always)]
    fn join<const W: usize, const OP: char>(self, x: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        let last = match W {
            1 => self.neon.vdupq_laneq_u8::<15>(x),
            2 => pulp::cast(self.neon.vdupq_laneq_u16::<7>(pulp::cast(x))),
            _ => pulp::cast(self.neon.vdupq_laneq_u32::<3>(pulp::cast(x))),
        };
        (x, last)
    }
}
