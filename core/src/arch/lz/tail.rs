//! [`Tail`]: the last 16 bytes of an LZ codec's output, held in a register.
//!
//! Without a filter, items of 4 or 8 bytes make LZ4 streams of a few literals and a short match of distance 4, 8 or 16, by
//! turns. A load of what two or three such stores have just written waits for all of them to reach the cache. A near
//! match made of a register waits for nothing:
//!
//! ```text
//! match of distance d    next[i] = tail[16 - d + i % d]
//! after n bytes more     tail[i] = (tail, next)[i + n]
//! ```
//! Only in code compiled with the byte shuffle.

use crate::arch::copy::{Vector, load16};

/// The last 16 bytes of output.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Tail(Vector);

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
// SAFETY: every bit pattern is a vector.
const ZEROS: Vector = unsafe { core::mem::transmute([0u64; 2]) };
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
const ZEROS: Vector = [0; 2];

/// The nearest distance that does not fit a tail.
pub(in crate::arch) const BEYOND: usize = 17;

/// What comes where: by distance, and by how many bytes are new.
#[repr(C, align(64))]
struct Orders {
    /// Row `d - 1`: the last `d` of 16 bytes, over and over.
    near: [[u8; 16]; 16],
    /// 16 bytes from `n` on drop the first `n`; 16 bytes from 16 before that leave just those that move in behind.
    shift: [u8; 48],
}

static ORDERS: Orders = orders();

#[allow(clippy::indexing_slicing)]
const fn orders() -> Orders {
    let (mut near, mut shift) = ([[0; 16]; 16], [0x80; 48]);
    let mut at = 0;
    while at < 16 {
        let mut d = 1;
        while d <= 16 {
            near[d - 1][at] = (16 - d + at % d) as u8;
            d += 1;
        }
        shift[16 + at] = at as u8;
        at += 1;
    }
    Orders { near, shift }
}

/// The bytes of `v` that `order` names, zero where it names none.
///
/// # Safety
/// The CPU has the byte shuffle.
#[inline(always)]
unsafe fn ordered(v: Vector, order: *const u8) -> Vector {
    // SAFETY: the caller has the instruction, and `order` points to 16 bytes of `ORDERS`.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    unsafe {
        core::arch::x86_64::_mm_shuffle_epi8(v, load16(order))
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        let _ = order;
        v
    }
}

impl Tail {
    /// The tail of loops that need none.
    pub(in crate::arch) const NONE: Tail = Tail(ZEROS);

    /// What lies before `to`.
    ///
    /// # Safety
    /// 16 initialised bytes before `to`.
    #[inline(always)]
    pub(in crate::arch) unsafe fn before(to: *const u8) -> Tail {
        // SAFETY: by the contract 16 initialised bytes lie before `to`.
        Tail(unsafe { load16(to.sub(16)) })
    }

    /// The 16 bytes of a match.
    ///
    /// # Safety
    /// `1 <= back < BEYOND`; the CPU has the byte shuffle.
    #[inline(always)]
    pub(in crate::arch) unsafe fn near(self, back: usize) -> Vector {
        // SAFETY: a row for every such distance.
        unsafe { ordered(self.0, ORDERS.near.get_unchecked(back - 1).as_ptr()) }
    }

    /// The tail once the first `len` bytes of `next` have been appended.
    ///
    /// # Safety
    /// `len <= 16`; the CPU has the byte shuffle.
    #[inline(always)]
    pub(in crate::arch) unsafe fn then(self, next: Vector, len: usize) -> Tail {
        // SAFETY: both orders lie in the table.
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        unsafe {
            let order = ORDERS.shift.as_ptr().add(len);
            Tail(core::arch::x86_64::_mm_or_si128(ordered(self.0, order.add(16)), ordered(next, order)))
        }
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        {
            let _ = (next, len);
            self
        }
    }
}
