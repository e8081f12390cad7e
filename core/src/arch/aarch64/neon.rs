//! NEON: registers of one lane, byte table.
//!
//! Targets without an operating system are compiled for memory that faults on unaligned access, and
//! there the compiler takes a byte-aligned `vld1q_u8` apart into sixteen loads. LD1 and ST1 of
//! bytes have no alignment to violate, so they are spelled out.

use crate::arch::out::Out;
use crate::arch::planes::{Planes, Stores};
use crate::arch::scalar;
use crate::arch::vector::{self, Each, Join, Pitched, Split, Table, Vector};
use core::arch::aarch64::*;

/// A 16-byte register.
#[derive(Clone, Copy)]
pub(super) struct Q(uint8x16_t);

impl Vector for Q {
    const LANES: usize = 1;
    const BLOCK: usize = 32;
    const TABLE: bool = true;
    const STRUCTURES: bool = true;

    #[inline(always)]
    unsafe fn load(p: *const u8) -> Self {
        #[cfg(not(target_os = "none"))]
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            Q(vld1q_u8(p))
        }
        #[cfg(target_os = "none")]
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            let q: uint8x16_t;
            core::arch::asm!("ld1 {{{q:v}.16b}}, [{p}]", q = out(vreg) q, p = in(reg) p,
                options(pure, readonly, nostack, preserves_flags));
            Q(q)
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8) {
        #[cfg(not(target_os = "none"))]
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            vst1q_u8(p, self.0);
        }
        #[cfg(target_os = "none")]
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            core::arch::asm!("st1 {{{q:v}.16b}}, [{p}]", q = in(vreg) self.0, p = in(reg) p,
                options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    unsafe fn store_halves(self, _l: usize, p: *mut u8, q: *mut u8) {
        #[cfg(not(target_os = "none"))]
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            vst1_u8(p, vget_low_u8(self.0));
            vst1_u8(q, vget_high_u8(self.0));
        }
        #[cfg(target_os = "none")]
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            core::arch::asm!("st1 {{{low:v}.8b}}, [{p}]", "st1 {{{high:v}.8b}}, [{q}]", low = in(vreg) vget_low_u8(self.0),
                high = in(vreg) vget_high_u8(self.0), p = in(reg) p, q = in(reg) q,
                options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.0, b.0);
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            match UNIT {
                1 => (Q(vzip1q_u8(a, b)), Q(vzip2q_u8(a, b))),
                2 => {
                    let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                    (Q(vreinterpretq_u8_u16(vzip1q_u16(a, b))), Q(vreinterpretq_u8_u16(vzip2q_u16(a, b))))
                }
                4 => {
                    let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                    (Q(vreinterpretq_u8_u32(vzip1q_u32(a, b))), Q(vreinterpretq_u8_u32(vzip2q_u32(a, b))))
                }
                _ => {
                    let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                    (Q(vreinterpretq_u8_u64(vzip1q_u64(a, b))), Q(vreinterpretq_u8_u64(vzip2q_u64(a, b))))
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn unzip(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe { (Q(vuzp1q_u8(a.0, b.0)), Q(vuzp2q_u8(a.0, b.0))) }
    }
    #[inline(always)]
    unsafe fn load_structures<const N: usize>(p: *const u8) -> [Self; 4] {
        // SAFETY: conditions of the trait: these bytes may be read, and the CPU has the instruction. Single bytes have
        // no alignment.
        unsafe {
            match N {
                2 => {
                    let uint8x16x2_t(a, b) = vld2q_u8(p);
                    [Q(a), Q(b), Q(a), Q(b)]
                }
                3 => {
                    let uint8x16x3_t(a, b, c) = vld3q_u8(p);
                    [Q(a), Q(b), Q(c), Q(a)]
                }
                _ => {
                    let uint8x16x4_t(a, b, c, d) = vld4q_u8(p);
                    [Q(a), Q(b), Q(c), Q(d)]
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn store_structures<const N: usize>([a, b, c, d]: [Self; 4], p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            match N {
                2 => vst2q_u8(p, uint8x16x2_t(a.0, b.0)),
                3 => vst3q_u8(p, uint8x16x3_t(a.0, b.0, c.0)),
                _ => vst4q_u8(p, uint8x16x4_t(a.0, b.0, c.0, d.0)),
            }
        }
    }
    #[inline(always)]
    unsafe fn table(self, table: &'static [u8; 16]) -> Self {
        // SAFETY: condition of the trait: the CPU has the instruction. The table is 16 bytes.
        unsafe { Q(vqtbl1q_u8(self.0, Q::load(table.as_ptr()).0)) }
    }
    #[inline(always)]
    unsafe fn swap_bits<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.0, b.0);
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            if SHIFT == 4 {
                return (Q(vsliq_n_u8::<4>(a, b)), Q(vsriq_n_u8::<4>(b, a)));
            }
            let low = vdupq_n_u8((0xff / ((1 << SHIFT) + 1)) as u8);
            let (up, down) = match SHIFT {
                2 => (vshlq_n_u8::<2>(b), vshrq_n_u8::<2>(a)),
                _ => (vaddq_u8(b, b), vshrq_n_u8::<1>(a)),
            };
            (Q(vbslq_u8(low, a, up)), Q(vbslq_u8(low, down, b)))
        }
    }
    vector::calls!();
}

vector::rows!(bytes Q, "neon", scalar);
vector::rows!(bits Q, "neon", scalar);
