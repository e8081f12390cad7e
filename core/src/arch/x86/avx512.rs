//! AVX-512 with VBMI: byte planes by two-register byte permutes.
//!
//! ```text
//! w = item width, P = w rounded up to a power of two, R = P / 2, one block = 64 items = R groups
//! split  group g, 128 / P items, is 65 to 128 bytes: its first and its last 64 bytes in two registers
//!        permute them to R planes of 128 / P bytes, once for the first R planes, once for the last R
//!        transpose the R registers of R units: register j is now plane j of the block
//! join   the same backwards; a group is stored as its first and its last 64 bytes
//!        of 17 to 24 bytes: out of the first 16 and the last 8 planes, two groups in each register of these
//! ```
//! Nothing beyond a block is read or written, and every plane is stored by whole lines. Items of more
//! than 32 bytes are left to AVX2.

use super::avx2;
use super::intrinsics::*;
use crate::arch::detect::halves as in_halves;
use crate::arch::generic::{AMPLE, Each, LONG, Pitched, Source, Table};
use crate::arch::out::Out;
use crate::filter::blocksplit::{Planes, Stores};
use core::mem::MaybeUninit;
use core::ops::Range;

mod bits;
mod eights;
mod halves;
#[cfg(test)]
mod tests;
pub(in crate::arch) use bits::{bitshuffle, bitunshuffle};
use eights::{Swap, deal, swap_units};

type Zmm = __m512i;

/// Items of a block: a register of each plane.
const BLOCK: usize = 64;

/// Bytes of items whose planes are split in phases: they are read again from the L1 cache.
const PHASE: usize = 16 << 10;

/// Planes at a multiple of this distance crowd the same cache sets.
const SHARED: usize = 2048;

/// Two index registers.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Indices([[u8; 64]; 2]);

impl Indices {
    /// The first and the last `R` planes out of a group of items; every 8 items in reverse, if asked.
    const fn split(width: usize, reverse: bool) -> Indices {
        let r = width.next_power_of_two() / 2;
        let (items, len) = (64 / r, 64 / r * width);
        let mut to = [[0; 64]; 2];
        let mut at = 0;
        while at < 128 {
            let (unit, item) = (at / items, at % items);
            let plane = if unit < r { unit } else { unit + width - 2 * r };
            let from = (if reverse { item ^ 7 } else { item }) * width + plane;
            to[at / 64][at % 64] = if from < 64 { from } else { 128 + from - len } as u8;
            at += 1;
        }
        Indices(to)
    }

    /// The first and the last 64 bytes of a group of items, out of its first and last `R` planes.
    const fn join(width: usize) -> Indices {
        let r = width.next_power_of_two() / 2;
        let (items, len) = (64 / r, 64 / r * width);
        let mut to = [[0; 64]; 2];
        let mut at = 0;
        while at < 128 {
            let byte = if at < 64 { at } else { len + at - 128 };
            let (plane, item) = (byte % width, byte / width);
            let unit = if plane < r { plane } else { plane + 2 * r - width };
            to[at / 64][at % 64] = (unit * items + item) as u8;
            at += 1;
        }
        Indices(to)
    }

    /// The first and the last 64 bytes of four items of 17 to [`NARROW`] bytes, the first or the last four of eight: out of
    /// 16 planes of four and the last 8 planes of eight.
    const fn join_narrow(width: usize, last_four: bool) -> Indices {
        let mut to = [[0; 64]; 2];
        let mut at = 0;
        while at < 128 {
            let byte = if at < 64 { at } else { 4 * width + at - 128 };
            let (plane, item) = (byte % width, byte / width);
            to[at / 64][at % 64] = if plane < 16 {
                4 * plane + item
            } else {
                64 + 8 * (plane + 8 - width) + if last_four { 4 + item } else { item }
            } as u8;
            at += 1;
        }
        Indices(to)
    }

    #[inline(always)]
    unsafe fn load(&self) -> [Zmm; 2] {
        // SAFETY: 64 bytes each, aligned.
        unsafe {
            [_mm512_load_si512(self.0[0].as_ptr().cast()), _mm512_load_si512(self.0[1].as_ptr().cast())]
        }
    }
}

/// Widest item that is permuted here.
const WIDEST: usize = 32;

/// Items of 17 to this many bytes are joined out of their first 16 and their last 8 planes, not their last 16: a quarter of the
/// permutes less. Splitting them so would take a third load for each register.
const NARROW: usize = 24;

/// For each of these widths: join.
static NARROW_JOIN: [[Indices; 2]; NARROW - 16] = {
    let mut all = [[Indices([[0; 64]; 2]); 2]; NARROW - 16];
    let mut k = 0;
    while k < all.len() {
        all[k] = [Indices::join_narrow(17 + k, false), Indices::join_narrow(17 + k, true)];
        k += 1;
    }
    all
};

/// For each width: split; split with every 8 items in reverse; join.
static INDICES: [[Indices; 3]; WIDEST + 1] = {
    let mut all = [[Indices([[0; 64]; 2]); 3]; WIDEST + 1];
    let mut width = 2;
    while width <= WIDEST {
        all[width] = [Indices::split(width, false), Indices::split(width, true), Indices::join(width)];
        width += 1;
    }
    all
};
const SPLIT: usize = 0;
const SPLIT_REVERSE: usize = 1;
const JOIN: usize = 2;

#[inline(always)]
unsafe fn load(p: *const u8) -> Zmm {
    // SAFETY: the caller's.
    unsafe { _mm512_loadu_si512(p.cast()) }
}

#[inline(always)]
unsafe fn store(p: *mut u8, z: Zmm) {
    // SAFETY: the caller's.
    unsafe { _mm512_storeu_si512(p.cast(), z) }
}

/// How far ahead of a block's part of a plane the plane is brought near.
const AHEAD: usize = 3 * BLOCK - 1;

/// Stores a block's part of a plane, and brings the plane's line near that is `AWAY` bytes from there.
///
/// A store across two lines asks for the second only when it is its turn, and waits for it: Intel's CPUs took twice the time.
#[inline(always)]
unsafe fn store_ahead<const AWAY: usize>(p: *mut u8, z: Zmm) {
    // SAFETY: the caller's; nothing is too far for a hint.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(p.wrapping_add(AWAY).cast());
        store(p, z);
    }
}

/// Transposes four registers of four lanes.
#[inline(always)]
unsafe fn transpose_lanes([a, b, c, d]: [Zmm; 4]) -> [Zmm; 4] {
    // SAFETY: the caller's CPU.
    unsafe {
        let (ab_low, ab_high) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xee>(a, b));
        let (cd_low, cd_high) = (_mm512_shuffle_i64x2::<0x44>(c, d), _mm512_shuffle_i64x2::<0xee>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
            _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high),
        ]
    }
}

/// Transposes the four words of 4 bytes in each lane of four registers.
#[inline(always)]
unsafe fn transpose_words([a, b, c, d]: [Zmm; 4]) -> [Zmm; 4] {
    // SAFETY: the caller's CPU.
    unsafe {
        let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab_low, cd_low),
            _mm512_unpackhi_epi64(ab_low, cd_low),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// Transposes `R` registers of `R` units of `64 / R` bytes; `R` is 1, 2, 4, 8 or 16.
#[inline(always)]
unsafe fn transpose<const R: usize>(r: [Zmm; R]) -> [Zmm; R] {
    let mut out = r;
    // SAFETY: the caller's CPU.
    unsafe {
        match R {
            2 => {
                out[0] = _mm512_shuffle_i64x2::<0x44>(r[0], r[1]);
                out[1] = _mm512_shuffle_i64x2::<0xee>(r[0], r[1]);
            }
            4 => {
                let lanes = transpose_lanes([r[0], r[1], r[2], r[3]]);
                let mut k = 0;
                while k < 4 {
                    out[k] = lanes[k];
                    k += 1;
                }
            }
            8 => {
                // Lane l of `pairs[c][i]`: unit 2 l + c of registers 2 i and 2 i + 1.
                let mut pairs = [[r[0]; 4]; 2];
                let mut i = 0;
                while i < 4 {
                    pairs[0][i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
                    pairs[1][i] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
                    i += 1;
                }
                let mut c = 0;
                while c < 2 {
                    let lanes = transpose_lanes(pairs[c]);
                    let mut k = 0;
                    while k < 4 {
                        out[2 * k + c] = lanes[k];
                        k += 1;
                    }
                    c += 1;
                }
            }
            16 => {
                // Lane l of `fours[c][i]`: unit 4 l + c of registers 4 i .. 4 i + 4.
                let mut fours = [[r[0]; 4]; 4];
                let mut i = 0;
                while i < 4 {
                    let words = transpose_words([r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]]);
                    let mut c = 0;
                    while c < 4 {
                        fours[c][i] = words[c];
                        c += 1;
                    }
                    i += 1;
                }
                let mut c = 0;
                while c < 4 {
                    let lanes = transpose_lanes(fours[c]);
                    let mut k = 0;
                    while k < 4 {
                        out[4 * k + c] = lanes[k];
                        k += 1;
                    }
                    c += 1;
                }
            }
            _ => {}
        }
    }
    out
}

/// `R` planes of a block whose groups have `len` bytes.
#[inline(always)]
unsafe fn half_of_planes<const R: usize>(src: *const u8, len: usize, index: Zmm) -> [Zmm; R] {
    // SAFETY: the caller's; a group is at least 64 bytes.
    unsafe {
        let mut r = [index; R];
        let mut group = src;
        let mut g = 0;
        while g < R {
            r[g] = _mm512_permutex2var_epi8(load(group), index, load(group.add(len - 64)));
            group = group.add(len);
            g += 1;
        }
        transpose(r)
    }
}

/// Splits `n >= BLOCK` items of `W` bytes.
#[inline(always)]
unsafe fn split_items<const W: usize, const R: usize>(
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
#[inline(always)]
unsafe fn load_planes<const R: usize>(planes: impl Source, j: usize, i: usize) -> [Zmm; R] {
    // SAFETY: the caller's.
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
#[inline(always)]
unsafe fn join_items<const W: usize, const R: usize, const STREAM: bool>(
    n: usize,
    planes: impl Source,
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
#[inline(always)]
unsafe fn store_planes<const R: usize, const COUNT: usize, const TURN: usize>(
    width: usize,
    src: *const u8,
    dst: *mut u8,
    pitch: usize,
    index: Zmm,
    range: Range<usize>,
) {
    // SAFETY: the caller's.
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
#[inline(always)]
unsafe fn split_in_phases<const R: usize>(
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
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one loop body of split_in_phases")]
unsafe fn split_turn<const R: usize, const COUNT: usize, const TURN: usize>(
    width: usize,
    n: usize,
    items: Range<usize>,
    src: *const u8,
    dst: *mut u8,
    pitch: usize,
    index: Zmm,
    range: Range<usize>,
) {
    // SAFETY: the caller's.
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
#[inline(always)]
unsafe fn join_wide<const LAST: usize>(
    width: usize,
    n: usize,
    planes: impl Source,
    dst: *mut u8,
    indices: [&Indices; 2],
) {
    // SAFETY: as for `join_items`.
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

/// Splits `n >= BLOCK` items of 9 to 32 bytes in phases. A function of its own, lest the loops of [`split_planes`] run short of
/// registers: what they keep on the stack, stores to planes at the same place of a page hold up.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline(never)]
unsafe fn split_wide(width: usize, n: usize, src: *const u8, dst: *mut u8, pitch: usize, indices: &Indices) {
    // SAFETY: the caller's.
    unsafe {
        if (17..=halves::NARROW).contains(&width) && in_halves() {
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
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn split_planes(width: usize, n: usize, src: *const u8, dst: *mut u8, pitch: usize, kind: usize) {
    // SAFETY: the caller's.
    unsafe {
        let indices = &INDICES[width.min(WIDEST)][kind.min(JOIN)];
        if width > 16 || (width > 8 && pitch.is_multiple_of(SHARED)) {
            return split_wide(width, n, src, dst, pitch, indices);
        }
        by_width!(width, split_items(n, src, dst, pitch, indices));
    }
}

/// Row of the kernel table.
pub(in crate::arch) unsafe fn split(width: usize, src: &[u8], mut out: Out<'_>, pitch: usize) {
    let n = src.len().checked_div(width).unwrap_or(0);
    // SAFETY: the caller's; at least a block of items.
    unsafe {
        if n < BLOCK || width > WIDEST {
            return avx2::split(width, src, out, pitch);
        }
        if width > 8 && pitch.is_multiple_of(SHARED) && n >= halves::MANY && in_halves() {
            return halves::split_crowded(width, n, src.as_ptr(), out.as_mut_ptr(), pitch);
        }
        split_planes(width, n, src.as_ptr(), out.as_mut_ptr(), pitch, SPLIT);
    }
}

/// [`join_items`] into the cache.
#[inline(always)]
unsafe fn join_cached<const W: usize, const R: usize>(n: usize, planes: impl Source, dst: *mut u8) {
    // SAFETY: the caller's.
    unsafe { join_items::<W, R, false>(n, planes, dst) }
}

/// Joins `n >= BLOCK` items of 2 to 32 bytes.
#[inline(always)]
unsafe fn join_planes(width: usize, n: usize, planes: impl Source, dst: *mut u8, stream: bool) {
    // SAFETY: the caller's.
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

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn join_pitched(width: usize, n: usize, planes: Pitched, dst: *mut u8, stream: bool) {
    // SAFETY: the caller's.
    unsafe { join_planes(width, n, planes, dst, stream) }
}

/// Room for planes, those of a join a line further apart than they are long.
#[repr(align(64))]
struct Room<const BYTES: usize>(MaybeUninit<[u8; BYTES]>);

/// Joins items of 17 to 32 bytes, [`LONG`] bytes of them or more, whose planes crowd a cache set: several lines of each are put
/// where they do not first.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn join_crowded(width: usize, n: usize, planes: Pitched, dst: *mut u8) {
    let mut room = Room::<AMPLE>(MaybeUninit::uninit());
    let base = room.0.as_mut_ptr().cast::<u8>();
    // In pairs of lines: of single ones the compiler makes a call of the library's copy.
    let tile = (AMPLE / width.max(1) - 64) / (2 * BLOCK) * (2 * BLOCK);
    let pitch = tile + 64;
    let mut i = 0;
    // SAFETY: tiles end at or before the last item, the last one overlapping the one before; they have room.
    unsafe {
        while i < n {
            i = i.min(n - tile);
            let (mut from, mut to) = (planes.base.add(i), base);
            let mut j = 0;
            while j < width {
                let mut k = 0;
                while k < tile {
                    let (a, b) = (load(from.add(k)), load(from.add(k + BLOCK)));
                    store(to.add(k), a);
                    store(to.add(k + BLOCK), b);
                    k += 2 * BLOCK;
                }
                from = from.wrapping_add(planes.pitch);
                to = to.wrapping_add(pitch);
                j += 1;
            }
            join_pitched(width, tile, Pitched { base, pitch }, dst.add(i * width), false);
            i += tile;
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn join_each(width: usize, n: usize, planes: Each<'_>, dst: *mut u8, stream: bool) {
    // SAFETY: the caller's.
    unsafe { join_planes(width, n, planes, dst, stream) }
}

/// Row of the kernel table.
pub(in crate::arch) unsafe fn join(width: usize, planes: Planes<'_>, mut out: Out<'_>, stores: Stores) {
    let n = out.len().checked_div(width).unwrap_or(0);
    let stream = stores == Stores::Streaming;
    // SAFETY: the caller's; at least a block of items.
    unsafe {
        if n < BLOCK || width > WIDEST {
            return avx2::join(width, planes, out, stores);
        }
        match planes {
            Planes::Pitched { bytes, pitch } => {
                let (planes, dst) = (Pitched { base: bytes.as_ptr(), pitch }, out.as_mut_ptr());
                if width > 16 && pitch.is_multiple_of(SHARED) && out.len() >= LONG && !stream {
                    return join_crowded(width, n, planes, dst);
                }
                join_pitched(width, n, planes, dst, stream);
            }
            Planes::Each(list) => join_each(width, n, Table::new(list).source(), out.as_mut_ptr(), stream),
        }
    }
}
