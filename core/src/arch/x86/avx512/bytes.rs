//! Splits and joins of items of 2 to 32 bytes.

use super::super::intrinsics::*;
use super::registers::{
    AHEAD, BLOCK, INDICES, Indices, JOIN, NARROW_JOIN, PHASE, SHARED, WIDEST, Zmm, half_of_planes, load,
    store_ahead, transpose,
};
use super::{eights, halves};
use crate::arch::level::detect::executes_512_in_halves;
use crate::arch::vector::{Each, Pitched, PlaneSource};
use core::ops::Range;

/// Splits `n >= BLOCK` items of `W` bytes.
///
/// # Safety
/// `n * W` bytes at `src` are readable, and for each of `W` planes `j` `n` bytes at `dst + j * pitch` are writable; the
/// CPU has AVX-512 F, BW, VL and VBMI. `n >= BLOCK`.
#[inline(always)]
pub(super) unsafe fn split_items<const W: usize, const R: usize>(
    n: usize,
    src: *const u8,
    dst: *mut u8,
    pitch: usize,
    indices: &Indices,
) {
    // SAFETY: blocks end at or before item `n`, the last one overlapping the one before.
    unsafe {
        let [low, high] = indices.load();
        // Only `next` is carried from turn to turn: short blocks wait for nothing.
        let mut next = 0;
        while next < n {
            let i = next.min(n - BLOCK);
            let from = src.add(i * W);
            let a = half_of_planes::<R>(from, 64 / R * W, low);
            let b = half_of_planes::<R>(from, 64 / R * W, high);
            let mut to = dst.add(i);
            let mut j = 0;
            while j < W {
                store_ahead::<AHEAD>(to, if j < R { a[j] } else { b[j + R - W] });
                to = to.wrapping_add(pitch);
                j += 1;
            }
            next += BLOCK;
        }
    }
}

/// A line of each of the `R` planes from `j` on.
///
/// # Safety
/// `R` planes from `j` on have 64 readable bytes from item `i` on; the CPU has AVX-512 F.
#[inline(always)]
pub(super) unsafe fn load_planes<const R: usize>(planes: impl PlaneSource, j: usize, i: usize) -> [Zmm; R] {
    // SAFETY: the 64 bytes of each plane from item `i` on are readable, as the caller vouches.
    unsafe {
        let mut at = planes.at(j, i);
        let mut r = [load(at); R];
        let mut k = 1;
        while k < R {
            at = planes.next(at, j + k, i);
            r[k] = load(at);
            k += 1;
        }
        r
    }
}

/// Joins `n >= BLOCK` items of `W` bytes. To stream, `W` is a power of two and `dst` a multiple of it.
///
/// # Safety
/// `W` planes of `n` bytes are readable, and `n * W` bytes at `dst` writable; the CPU has AVX-512 F, BW, VL and VBMI. `n >=
/// BLOCK`.
#[inline(always)]
pub(super) unsafe fn join_items<const W: usize, const R: usize, const STREAM: bool>(
    n: usize,
    planes: impl PlaneSource,
    dst: *mut u8,
) {
    let len = 64 / R * W;
    // SAFETY: blocks end at or before item `n`; the last one, and when streaming the first, overlap
    // their neighbours.
    unsafe {
        let [first, last] = INDICES[W][JOIN].load();
        let mut next = 0;
        while next < n {
            let i = next.min(n - BLOCK);
            let to = dst.add(i * W);
            let a = transpose(load_planes::<R>(planes, 0, i));
            let b = transpose(load_planes::<R>(planes, W - R, i));
            let aligned = STREAM && to.addr().is_multiple_of(64);
            let mut g = 0;
            while g < R {
                let group = to.add(g * len);
                let head = _mm512_permutex2var_epi8(a[g], first, b[g]);
                let tail = _mm512_permutex2var_epi8(a[g], last, b[g]);
                if aligned {
                    _mm512_stream_si512(group.cast(), head);
                    _mm512_stream_si512(group.add(64).cast(), tail);
                } else {
                    store_ahead::<AHEAD>(group, head);
                    store_ahead::<AHEAD>(group.add(len - 64), tail);
                }
                g += 1;
            }
            // From the first block on to the first aligned item. `next`, not `i`, says that this was the first: where
            // there is just one block, the last begins where it did.
            next += if STREAM && !aligned && next == 0 { to.align_offset(64) / W } else { BLOCK };
        }
        if STREAM {
            _mm_sfence();
        }
    }
}

/// Stores the planes `range` of a half of a block of items of `width` bytes. All of them are among the `COUNT` ones
/// of turn `TURN`; no other ones are worked out.
///
/// # Safety
/// A block of 64 items of `width` bytes at `src` is readable from the half's first byte on; 64 bytes are writable at each
/// plane of `range`, `pitch` bytes apart from `dst` on; the CPU has AVX-512 F, BW, VL and VBMI.
#[inline(always)]
pub(super) unsafe fn store_planes<const R: usize, const COUNT: usize, const TURN: usize>(
    width: usize,
    src: *const u8,
    dst: *mut u8,
    pitch: usize,
    index: Zmm,
    range: Range<usize>,
) {
    // SAFETY: `half_of_planes` reads the items of half a block, and `range` keeps the stores to planes that are there.
    unsafe {
        let planes = half_of_planes::<R>(src, 64 / R * width, index);
        let mut to = dst.wrapping_add(COUNT * TURN * pitch);
        let mut j = COUNT * TURN;
        while j < COUNT * (TURN + 1) {
            if range.contains(&j) {
                store_ahead::<AHEAD>(to, planes[j]);
            }
            to = to.wrapping_add(pitch);
            j += 1;
        }
    }
}

/// Splits `n >= BLOCK` items of 9 to 32 bytes, half or a quarter of the planes at a time: planes whose distance
/// is a power of two share a cache set, and no more than 8 of them stay in it until their line is full.
///
/// # Safety
/// `n * width` bytes at `src` are readable, and for each of `width` planes `j` `n` bytes at `dst + j * pitch` are writable; the
/// CPU has AVX-512 F, BW, VL and VBMI. `n >= BLOCK` and `2 * R >= width >= R`.
#[inline(always)]
pub(super) unsafe fn split_in_phases<const R: usize>(
    width: usize,
    n: usize,
    src: *const u8,
    dst: *mut u8,
    pitch: usize,
    indices: &Indices,
) {
    let tile = PHASE / width.max(1) / BLOCK * BLOCK;
    // SAFETY: as for `split_items`; register j of half h is plane `h * (width - R) + j`.
    unsafe {
        let index = indices.load();
        let mut first = 0;
        while first < n {
            let items = first..(first + tile).min(n);
            let mut half = 0;
            while half < 2 {
                let (to, index) = (dst.add(half * (width - R) * pitch), index[half]);
                // Planes of both halves are left to the first.
                let from = half * (2 * R - width);
                if R == 8 || (from < 8 && !pitch.is_multiple_of(SHARED)) {
                    split_turn::<R, R, 0>(width, n, items.clone(), src, to, pitch, index, from..R);
                } else {
                    if from < 8 {
                        split_turn::<R, 8, 0>(width, n, items.clone(), src, to, pitch, index, from..8);
                    }
                    split_turn::<R, 8, 1>(width, n, items.clone(), src, to, pitch, index, from.max(8)..R);
                }
                half += 1;
            }
            first += tile;
        }
    }
}

/// The planes `range` of a half of the blocks that hold `items`; see [`store_planes`].
///
/// # Safety
/// As for [`split_in_phases`], with `dst` at the first plane of the half.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one loop body of split_in_phases")]
pub(super) unsafe fn split_turn<const R: usize, const COUNT: usize, const TURN: usize>(
    width: usize,
    n: usize,
    items: Range<usize>,
    src: *const u8,
    dst: *mut u8,
    pitch: usize,
    index: Zmm,
    range: Range<usize>,
) {
    // SAFETY: `i + BLOCK <= n` for each block, so all of it is in the source and in each plane.
    unsafe {
        let mut next = items.start;
        while next < items.end {
            let i = next.min(n - BLOCK);
            store_planes::<R, COUNT, TURN>(
                width,
                src.add(i * width),
                dst.add(i),
                pitch,
                index,
                range.clone(),
            );
            next += BLOCK;
        }
    }
}

/// Joins `n >= BLOCK` items of 17 to 32 bytes out of their first 16 and their last `LAST` planes, 8 or 16; `indices` are for
/// even and for odd groups.
///
/// # Safety
/// `width` planes of `n` bytes are readable, and `n * width` bytes at `dst` writable; the CPU has AVX-512 F, BW, VL and VBMI.
/// `n >= BLOCK`.
#[inline(always)]
pub(super) unsafe fn join_wide<const LAST: usize>(
    width: usize,
    n: usize,
    planes: impl PlaneSource,
    dst: *mut u8,
    indices: [&Indices; 2],
) {
    // SAFETY: blocks end at or before item `n`, the last one overlapping the one before; a group is stored as its first and
    // last 64 bytes.
    unsafe {
        let index = [indices[0].load(), indices[1].load()];
        let mut i = 0;
        while i < n {
            i = i.min(n - BLOCK);
            let a = transpose(load_planes::<16>(planes, 0, i));
            let b = transpose(load_planes::<LAST>(planes, width - LAST, i));
            let mut group = dst.add(i * width);
            let mut g = 0;
            while g < 16 {
                // A register of the last 8 planes holds two groups.
                let [first, last] = index[if LAST == 8 { g % 2 } else { 0 }];
                let b = b[g * LAST / 16];
                store_ahead::<AHEAD>(group, _mm512_permutex2var_epi8(a[g], first, b));
                store_ahead::<AHEAD>(group.add(4 * width - 64), _mm512_permutex2var_epi8(a[g], last, b));
                group = group.wrapping_add(4 * width);
                g += 1;
            }
            i += BLOCK;
        }
    }
}

/// Calls a kernel with the width, 2 to 16, as a constant.
macro_rules! by_width {
    ($width:expr, $kernel:ident $args:tt) => {
        match $width {
            2 => $kernel::<2, 1>$args,
            3 => $kernel::<3, 2>$args,
            4 => $kernel::<4, 2>$args,
            5 => $kernel::<5, 4>$args,
            6 => $kernel::<6, 4>$args,
            7 => $kernel::<7, 4>$args,
            8 => $kernel::<8, 4>$args,
            9 => $kernel::<9, 8>$args,
            10 => $kernel::<10, 8>$args,
            11 => $kernel::<11, 8>$args,
            12 => $kernel::<12, 8>$args,
            13 => $kernel::<13, 8>$args,
            14 => $kernel::<14, 8>$args,
            15 => $kernel::<15, 8>$args,
            16 => $kernel::<16, 8>$args,
            _ => {}
        }
    };
}

/// Splits `n >= BLOCK` items of 9 to 32 bytes in phases. A function of its own, so that the loops of
/// [`split_planes`] do not run short of registers: loads of what they keep on the stack would wait for stores to planes at the
/// same offset in a page.
///
/// # Safety
/// `n * width` bytes at `src` are readable, and for each of `width` planes `j` `n` bytes at `dst + j * pitch` are writable; the
/// CPU has AVX-512 F, BW, VL and VBMI. `n >= BLOCK`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline(never)]
pub(super) unsafe fn split_wide(
    width: usize,
    n: usize,
    src: *const u8,
    dst: *mut u8,
    pitch: usize,
    indices: &Indices,
) {
    // SAFETY: each branch has the conditions of this function, and is chosen by the widths that it is for.
    unsafe {
        if (17..=halves::NARROW).contains(&width) && executes_512_in_halves() {
            halves::split_narrow(width, n, src, dst, pitch);
        } else if (17..=eights::WIDEST).contains(&width) {
            eights::split(width, n, src, dst, pitch);
        } else if width > 16 {
            split_in_phases::<16>(width, n, src, dst, pitch, indices);
        } else {
            split_in_phases::<8>(width, n, src, dst, pitch, indices);
        }
    }
}

/// Splits `n >= BLOCK` items of 2 to 32 bytes; `kind` is `SPLIT` or, up to 16 bytes, `SPLIT_REVERSE`.
///
/// # Safety
/// `n * width` bytes at `src` are readable, and for each of `width` planes `j` `n` bytes at `dst + j * pitch` are writable; the
/// CPU has AVX-512 F, BW, VL and VBMI. `n >= BLOCK`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn split_planes(
    width: usize,
    n: usize,
    src: *const u8,
    dst: *mut u8,
    pitch: usize,
    kind: usize,
) {
    // SAFETY: each branch has the conditions of this function; `INDICES` is indexed within its bounds.
    unsafe {
        let indices = &INDICES[width.min(WIDEST)][kind.min(JOIN)];
        if width > 16 || (width > 8 && pitch.is_multiple_of(SHARED)) {
            return split_wide(width, n, src, dst, pitch, indices);
        }
        by_width!(width, split_items(n, src, dst, pitch, indices));
    }
}

/// [`join_items`] into the cache.
///
/// # Safety
/// As for [`join_items`].
#[inline(always)]
pub(super) unsafe fn join_cached<const W: usize, const R: usize>(
    n: usize,
    planes: impl PlaneSource,
    dst: *mut u8,
) {
    // SAFETY: the conditions are those of `join_items`, handed on as they are.
    unsafe { join_items::<W, R, false>(n, planes, dst) }
}

/// Joins `n >= BLOCK` items of 2 to 32 bytes.
///
/// # Safety
/// `width` planes of `n` bytes are readable, and `n * width` bytes at `dst` writable; the CPU has AVX-512 F, BW, VL and VBMI.
/// `n >= BLOCK`.
#[inline(always)]
pub(super) unsafe fn join_planes(
    width: usize,
    n: usize,
    planes: impl PlaneSource,
    dst: *mut u8,
    stream: bool,
) {
    // SAFETY: each branch has the conditions of this function, and is chosen by the width that it is for.
    unsafe {
        if let Some([even, odd]) = NARROW_JOIN.get(width.wrapping_sub(17)) {
            return join_wide::<8>(width, n, planes, dst, [even, odd]);
        }
        if width > 16 {
            return join_wide::<16>(width, n, planes, dst, [&INDICES[width.min(WIDEST)][JOIN]; 2]);
        }
        if stream && dst.addr().is_multiple_of(width) {
            match width {
                2 => return join_items::<2, 1, true>(n, planes, dst),
                4 => return join_items::<4, 2, true>(n, planes, dst),
                8 => return join_items::<8, 4, true>(n, planes, dst),
                16 => return join_items::<16, 8, true>(n, planes, dst),
                _ => {}
            }
        }
        by_width!(width, join_cached(n, planes, dst));
    }
}

/// # Safety
/// As for [`join_planes`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn join_pitched(width: usize, n: usize, planes: Pitched, dst: *mut u8, stream: bool) {
    // SAFETY: the conditions are those of `join_planes`, and `target_feature` enables its instructions.
    unsafe { join_planes(width, n, planes, dst, stream) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn join_each(width: usize, n: usize, planes: Each<'_>, dst: *mut u8, stream: bool) {
    // SAFETY: the conditions are those of `join_planes`, and `target_feature` enables its instructions.
    unsafe { join_planes(width, n, planes, dst, stream) }
}
