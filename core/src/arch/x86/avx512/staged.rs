//! Items whose planes crowd a cache set: planes are put where they do not first.

use super::super::avx512bw::Lanes4;
use super::bytes::{join_pitched, split_planes};
use super::registers::{BLOCK, SPLIT, TileBuffer};
use crate::arch::vector::staged::{copy_planes, split_staged};
use crate::arch::vector::{AMPLE, Pitched, Split};
use core::mem::MaybeUninit;

/// Splits items of 8 to 32 bytes whose planes crowd a cache set.
///
/// # Safety
/// As for [`split_staged`]; the CPU has AVX-512 F, BW, VL and VBMI.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn split_crowded(job: Split) {
    // SAFETY: the conditions are those of this function.
    unsafe { split_staged::<Lanes4>(job, split_tile) }
}

/// # Safety
/// As for [`split_planes`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn split_tile(job: Split) {
    // SAFETY: the conditions are those of `split_planes`.
    unsafe { split_planes(job.width, job.n, job.src, job.dst, job.pitch, SPLIT) }
}

/// Joins items of 16 to 32 bytes, [`LONG`] bytes of them or more, whose planes crowd a cache set: several lines of each are put
/// where they do not first.
///
/// # Safety
/// `width` planes of `n` bytes are readable, and `n * width` bytes at `dst` writable; the CPU has AVX-512 F, BW, VL and VBMI.
/// `n * width >= LONG`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn join_crowded(width: usize, n: usize, planes: Pitched, dst: *mut u8) {
    let mut room = TileBuffer::<AMPLE>(MaybeUninit::uninit());
    let base = room.0.as_mut_ptr().cast::<u8>();
    let tile = (AMPLE / width.max(1) - BLOCK) / (2 * BLOCK) * (2 * BLOCK);
    let pitch = tile + BLOCK;
    let mut i = 0;
    // SAFETY: tiles end at or before the last item, the last one overlapping the one before; they have room.
    unsafe {
        while i < n {
            i = i.min(n - tile);
            copy_planes::<Lanes4>(width, tile, (planes.base.add(i), planes.pitch), (base, pitch));
            join_pitched(width, tile, Pitched { base, pitch }, dst.add(i * width), false);
            i += tile;
        }
    }
}
