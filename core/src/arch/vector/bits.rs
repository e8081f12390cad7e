//! Bit transposition: tiles of byte planes, then bits.
//!
//! ```text
//! one tile = some turns of 8 items per byte of a register, its planes on the stack (typesize 1: where they are)
//! for each plane, turn by turn: split it by 8, so that byte k of register m belongs to item 8 k + m
//!                               exchange register number and bit number: three rounds of swapped bit fields
//!                               register b is now the turn's part of the plane's row b
//! ```
//! So several lines of a row are read or written before the next plane's: rows of blocks often crowd a cache set.
//! With an 8x8 bit matrix instruction the bits are transposed where they lie and the split by 8 is all that remains.
//! Items of more than 16 bytes have their planes taken 16 at a time.

use super::block::{join_block, split_block};
use super::planes::Pitched;
use super::registers::{Join, LINE, Split, Vector};
use super::staged::{copy_planes, crowd};
use core::mem::MaybeUninit;

/// Most planes of a tile.
const PLANES: usize = 16;

/// Most items of a tile: four lines of each row. Where rows crowd the sets of a cache, a line that is left before it is full,
/// or read in part, has to come back; and fetching ahead finds nothing to go by in single lines.
const MOST: usize = 2048;

/// Uninitialised memory on the stack for the planes of a tile. These lie a line further apart than they are long, so that
/// they do not share the sets of a cache.
#[repr(align(64))]
pub(in crate::arch) struct TileBuffer<const BYTES: usize>(MaybeUninit<[u8; BYTES]>);

/// Bytes of a [`TileBuffer`] for buffers shorter than [`LONG`], with registers of `register` bytes: firmware has little stack.
pub(in crate::arch) const fn little(register: usize) -> usize {
    PLANES * (if register < 32 { 256 } else { 8 * register } + LINE)
}

/// Bytes of a [`TileBuffer`] for buffers of [`LONG`] bytes and more.
pub(in crate::arch) const AMPLE: usize = PLANES * (1024 + LINE);

/// Buffers that need more than the L1 cache.
pub(in crate::arch) const LONG: usize = 64 << 10;

/// Buffers that need more than the L2 cache, or much of it: lines of rows are prefetched.
const FAR: usize = 1 << 20;

/// Whether the last of a few tiles of 512 items would be half empty: by registers of half the length it is not there.
#[inline(always)]
pub(in crate::arch) fn half_empty(items: usize) -> bool {
    items < 4 * 512 && (1..=256).contains(&(items % 512))
}

/// Planes of a tile and its items, a multiple of `n`.
#[inline(always)]
fn tile(room: usize, typesize: usize, n: usize) -> (usize, usize) {
    let planes = typesize.min(PLANES);
    let items = (room / planes.max(1) - LINE).min(MOST) / n * n;
    (planes, items)
}

/// Bit-transposes `items >= 8 * V::BYTES` items, a multiple of 8.
///
/// # Safety
/// The CPU; `items * typesize` bytes readable and writable.
#[inline(always)]
pub(in crate::arch) unsafe fn bitshuffle<V: Vector, const ROOM: usize>(
    typesize: usize,
    items: usize,
    src: *const u8,
    dst: *mut u8,
) {
    let (n, row) = (8 * V::BYTES, items / 8);
    // Rows that crowd a set of the cache are put on the stack first, and from there several lines of each to where they belong.
    // Only measured on x86.
    let stages = cfg!(any(target_arch = "x86", target_arch = "x86_64")) && ROOM == AMPLE && V::BYTES < LINE;
    let stage = if stages && crowd(row) { 8 * (MOST / 8 + LINE) } else { 0 };
    let (width, long) = tile(ROOM - stage, typesize, if stage > 0 { 2 * n } else { n });
    let mut room = TileBuffer::<ROOM>(MaybeUninit::uninit());
    let planes = room.0.as_mut_ptr().cast::<u8>();
    // Slower where transposing takes its time: lines are there again before their other half is.
    let ahead = items * typesize >= FAR && V::wants_prefetch();
    let mut i = 0;
    while i < items {
        // The last tile overlaps the one before.
        let tile = if items - i >= long { long } else { n };
        let pitch = tile + LINE;
        i = i.min(items - tile);
        let mut next = 0;
        while next < typesize {
            let first = next.min(typesize - width);
            // SAFETY: tiles end at or before the last item; the planes have room.
            unsafe {
                let src = src.add(i * typesize + first);
                let dst = dst.add(8 * first * row + i / 8);
                let readable = (items - i) * typesize - first;
                let (mut from, mut distance) = (src, 0);
                if width > 1 {
                    V::call_split(Split {
                        width,
                        stride: typesize,
                        n: tile,
                        src,
                        readable,
                        dst: planes,
                        pitch,
                    });
                    (from, distance) = (planes.cast_const(), pitch);
                }
                let mut j = 0;
                while j < width {
                    let (plane, rows) = (from.add(j * distance), dst.add(8 * j * row));
                    if ahead {
                        prefetch_rows::<V>(rows.wrapping_add(2 * LINE - 1), row, tile / 8);
                    }
                    let staged = stage > 0 && tile == long;
                    let (to, apart) =
                        if staged { (planes.add(ROOM - stage), tile / 8 + LINE) } else { (rows, row) };
                    let mut k = 0;
                    while k < tile {
                        plane_to_rows::<V>(plane.add(k), to.add(k / 8), apart);
                        k += n;
                    }
                    if staged {
                        copy_planes::<V>(8, tile / 8, (to, apart), (rows, row));
                    }
                    j += 1;
                }
            }
            next += PLANES;
        }
        i += tile;
    }
}

/// The inverse of [`bitshuffle`].
///
/// # Safety
/// The CPU; `items * typesize` bytes readable and writable.
#[inline(always)]
pub(in crate::arch) unsafe fn bitunshuffle<V: Vector, const ROOM: usize>(
    typesize: usize,
    items: usize,
    src: *const u8,
    dst: *mut u8,
    stream: bool,
) {
    let (n, row) = (8 * V::BYTES, items / 8);
    let (width, long) = tile(ROOM, typesize, n);
    let mut room = TileBuffer::<ROOM>(MaybeUninit::uninit());
    let base = room.0.as_mut_ptr().cast::<u8>();
    // The next plane's rows; of few planes the CPU finds them by itself.
    let ahead = items * typesize >= FAR && width >= 8 && V::wants_prefetch();
    let mut i = 0;
    while i < items {
        let tile = if items - i >= long { long } else { n };
        let planes = Pitched { base, pitch: tile + LINE };
        i = i.min(items - tile);
        let mut next = 0;
        while next < typesize {
            let first = next.min(typesize - width);
            // SAFETY: tiles end at or before the last item; the planes have room in the tile buffer.
            unsafe {
                let src = src.add(8 * first * row + i / 8);
                let dst = dst.add(i * typesize + first);
                let writable = (items - i) * typesize - first;
                let (to, distance) = if width > 1 { (base, planes.pitch) } else { (dst, 0) };
                if stream {
                    V::prefetch(dst.wrapping_add(tile * typesize));
                }
                let mut j = 0;
                while j < width {
                    if ahead {
                        prefetch_rows::<V>(src.wrapping_add(8 * (j + 1) * row), row, tile / 8);
                    }
                    let mut k = 0;
                    while k < tile {
                        rows_to_plane::<V>(src.add(8 * j * row + k / 8), row, to.add(j * distance + k));
                        k += n;
                    }
                    j += 1;
                }
                if width > 1 {
                    V::call_join(Join { width, stride: typesize, n: tile, planes, dst, writable, stream });
                }
            }
            next += PLANES;
        }
        i += tile;
    }
    if stream {
        // SAFETY: registers alone, or a prefetch, which may name any address; of the CPU that the contract of `Vector` asks
        // for.
        unsafe { V::fence() };
    }
}

/// Prefetches `len` bytes of each of 8 rows. Out of line: most buffers are too short for it.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[cold]
#[inline(never)]
unsafe fn prefetch_rows<V: Vector>(rows: *const u8, row: usize, len: usize) {
    for b in 0..8 {
        for at in (0..len).step_by(LINE) {
            // SAFETY: registers alone, or a prefetch, which may name any address; of the CPU that the contract of `Vector`
            // asks for.
            unsafe { V::prefetch(rows.wrapping_add(b * row + at)) };
        }
    }
}

/// `8 * V::BYTES` bytes of one plane to `V::BYTES` bytes of each of its 8 rows.
///
/// # Safety
/// `8 * V::BYTES` bytes at `plane` are readable, and `V::BYTES` bytes at each of 8 rows, `row` bytes apart from `rows` on,
/// writable; the CPU has the instructions of `V`.
#[inline(always)]
unsafe fn plane_to_rows<V: Vector>(plane: *const u8, rows: *mut u8, row: usize) {
    // SAFETY: by the contract `8 * V::BYTES` bytes are readable at `plane`, and `V::BYTES` writable at each of 8 rows.
    unsafe {
        let r = if V::BITS {
            split_block::<V, 8, 8, true>(plane)
        } else {
            swap_register_and_bit(split_block::<V, 8, 8, false>(plane))
        };
        let mut b = 0;
        while b < 8 {
            r[b].store(rows.add(b * row));
            b += 1;
        }
    }
}

/// The inverse of [`plane_to_rows`].
///
/// # Safety
/// `V::BYTES` bytes at each of 8 rows, `row` bytes apart from `rows` on, are readable, and `8 * V::BYTES` bytes at `plane`
/// writable; the CPU has the instructions of `V`.
#[inline(always)]
unsafe fn rows_to_plane<V: Vector>(rows: *const u8, row: usize, plane: *mut u8) {
    // SAFETY: by the contract `V::BYTES` bytes are readable at each of 8 rows, and `8 * V::BYTES` writable at `plane`.
    unsafe {
        let mut r = [V::load(rows); 8];
        let mut b = 0;
        while b < 8 {
            // The 8x8 instruction wants its bytes in reverse.
            r[if V::BITS { 7 - b } else { b }] = V::load(rows.add(b * row));
            b += 1;
        }
        if V::BITS {
            join_block::<V, 8, 8, true>(r, plane, false);
        } else {
            join_block::<V, 8, 8, false>(swap_register_and_bit(r), plane, false);
        }
    }
}

/// Bit `b` of register `m` becomes bit `m` of register `b`, in every byte.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn swap_register_and_bit<V: Vector>(mut r: [V; 8]) -> [V; 8] {
    // SAFETY: registers alone, of the CPU that the contract of `Vector` asks for.
    unsafe {
        let mut m = 0;
        while m < 4 {
            (r[m], r[m + 4]) = V::swap_bits::<4>(r[m], r[m + 4]);
            m += 1;
        }
        let mut m = 0;
        while m < 2 {
            (r[m], r[m + 2]) = V::swap_bits::<2>(r[m], r[m + 2]);
            (r[m + 4], r[m + 6]) = V::swap_bits::<2>(r[m + 4], r[m + 6]);
            m += 1;
        }
        let mut m = 0;
        while m < 8 {
            (r[m], r[m + 1]) = V::swap_bits::<1>(r[m], r[m + 1]);
            m += 2;
        }
    }
    r
}
