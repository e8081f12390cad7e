//! The kernels for registers made of 16-byte lanes: SSE2, SSSE3, AVX2, AVX-512BW, NEON, simd128.
//!
//! ```text
//! split  item width w < 16, one block = 16 items per lane
//!   load   U = 16 / P items at a time, P = w rounded up to a power of two; lane l has items 16 l ..
//!   table  order each lane by byte plane: U bytes of plane 0, of plane 1, ...
//!   zip    log2(P) times: register i with register i + P/2, in units of U bytes
//!   store  register j is now byte plane j of the block
//! join   the same backwards; lane by lane, each store repairing what the one before wrote too much
//!        where loads take items of 2 to 4 bytes apart, items of 2, 3, 4, 6, 8 and 12 bytes are such items of such items
//! wider  windows of 16 byte planes, one load per item and window
//! bits   planes of a tile that stays in the L1 cache, then bits across 8 registers
//! ```
//! `zip` moves the top bit of the register number to the bottom of the unit number, that is, it
//! rotates the address `register . unit` left by one; after log2(P) of P * P units, the two halves
//! of the address are exchanged: a transposition. Powers of two need no table: log2(16) zips of
//! single bytes split a block of w registers, log2(w) join it.
//!
//! Everything here is `inline(always)` into functions that enable the CPU's features, and knows
//! the CPU by [`Vector`] only.

mod bits;
mod block;
mod planes;
mod registers;
mod rows;
pub(super) mod staged;
mod structures;
mod tables;
mod windows;

pub(super) use bits::{AMPLE, LONG, bitshuffle, bitunshuffle, half_empty, little};
pub(super) use planes::{Each, Pitched, PlaneSource, Table};
pub(super) use registers::{Join, Kernel, Split, Vector};
pub(super) use rows::{calls, rows};
pub(super) use staged::{crowded, split_staged};

/// Splits `n >= V::BLOCK` items.
///
/// # Safety
/// The CPU; what the job says is readable and writable.
#[inline(always)]
pub(super) unsafe fn split<V: Vector>(job: Split) {
    // SAFETY: each branch has the conditions of this function: the CPU of `V`, and the memory of `job`.
    unsafe {
        if job.width < 16 {
            block::split::<V>(job);
        } else if !V::leaves(Kernel::Split, 16) {
            windows::split::<V>(job);
        }
    }
}

/// Joins `n >= V::BLOCK` items.
///
/// # Safety
/// The CPU; what the job says is readable and writable.
#[inline(always)]
pub(super) unsafe fn join<V: Vector, S: PlaneSource>(job: Join<S>) {
    // SAFETY: each branch has the conditions of this function: the CPU of `V`, and the memory of `job`.
    unsafe {
        if job.width < 16 {
            block::join::<V, S>(job);
        } else if !V::leaves(Kernel::Join, 16) {
            windows::join::<V, S>(job);
        }
    }
}
