//! Splits into planes that crowd a set of the L1 cache. A tile of them is put on the stack, where they do not, and from there
//! several lines of one plane after the other to where they belong: lines in a row are fetched ahead, and written whole.

use super::registers::{LINE, Split, Vector};
use core::mem::MaybeUninit;

/// Most items of a tile: eight lines of each plane. Half as many of wide items, so that they stay in the L1 cache, too.
const TILE: usize = 512;

/// Most planes.
const MOST: usize = 32;

/// Uninitialised memory on the stack for the planes of a tile.
#[repr(align(64))]
struct Stage(MaybeUninit<[u8; MOST * (TILE / 2 + LINE)]>);

/// Whether planes at this distance share a set of the L1 cache, or two.
#[inline(always)]
pub(super) fn crowd(pitch: usize) -> bool {
    pitch.wrapping_add(LINE) % 4096 <= 2 * LINE
}

/// Whether planes at this distance crowd, and there are enough of them and of items for staging to be worth it.
#[inline(always)]
pub(in crate::arch) fn crowded(width: usize, n: usize, pitch: usize) -> bool {
    (8..=MOST).contains(&width) && n >= 8 * TILE && crowd(pitch)
}

/// Copies `len` bytes, a multiple of two registers and of a line, of each of `count` planes.
///
/// # Safety
/// The CPU; they are readable at each of `count` multiples of `from_pitch` from `from`, and writable at those of `pitch` from `to`.
#[inline(always)]
pub(in crate::arch) unsafe fn copy_planes<V: Vector>(
    count: usize,
    len: usize,
    (mut from, from_pitch): (*const u8, usize),
    (mut to, pitch): (*mut u8, usize),
) {
    for _ in 0..count {
        let mut k = 0;
        while k < len {
            // By two: of single registers the compiler makes a call of the library's copy.
            // SAFETY: two registers from byte `k` on are within `len`.
            unsafe {
                let (one, two) = (V::load(from.add(k)), V::load(from.add(k + V::BYTES)));
                one.store(to.add(k));
                two.store(to.add(k + V::BYTES));
            }
            k += 2 * V::BYTES;
        }
        (from, to) = (from.wrapping_add(from_pitch), to.wrapping_add(pitch));
    }
}

/// Splits [`crowded`] planes; `split` is [`split`](super::split) of the same CPU for planes that are not.
///
/// # Safety
/// As for [`split`](super::split), and for `split` as it says.
#[inline(always)]
pub(in crate::arch) unsafe fn split_staged<V: Vector>(job: Split, split: unsafe fn(Split)) {
    let mut stage = Stage(MaybeUninit::uninit());
    let stage: *mut u8 = stage.0.as_mut_ptr().cast();
    let tile = if job.width > MOST / 2 { TILE / 2 } else { TILE };
    let pitch = tile + LINE;
    let mut i = 0;
    while i < job.n {
        // The last tile overlaps the one before.
        i = i.min(job.n - tile);
        // SAFETY: the tile ends at or before the last item, and each of its planes has room on the stack and in `dst`.
        unsafe {
            let (src, readable) = (job.src.add(i * job.stride), job.readable - i * job.stride);
            split(Split { n: tile, src, readable, dst: stage, pitch, ..job });
            copy_planes::<V>(job.width, tile, (stage, pitch), (job.dst.add(i), job.pitch));
        }
        i += tile;
    }
}
