//! Items of 2 to 15 bytes, a block at a time; wider ones go to [`windows`](super::windows).
//!
//! ```text
//! for each block of 16 items per lane, the last one overlapping the one before
//!     split: load and order the items of every lane (`split_block`); store register j to plane j (`store_planes`)
//!     join:  load register j from plane j (`load_planes`); order and store every lane (`join_block`)
//! ```
//! Loads and stores of whole registers go beyond the items by up to `excess` bytes. The last block goes by way of a buffer on
//! the stack where the caller's slice has no room for that.

use super::planes::PlaneSource;
use super::registers::{Join, Kernel, LINE, Split, Vector};
use super::structures::{load_planes_of, store_planes_of, structure};
use super::tables::Tables;
use core::mem::MaybeUninit;
use core::ptr::copy_nonoverlapping;

/// Rotates the address `register . unit` of `R` registers left by one.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn rotate<V: Vector, const R: usize, const UNIT: usize>(from: [V; R]) -> [V; R] {
    let mut to = from;
    let mut i = 0;
    while i < R / 2 {
        // SAFETY: registers alone, of the CPU that the contract of `Vector` asks for.
        (to[2 * i], to[2 * i + 1]) = unsafe { V::zip::<UNIT>(from[i], from[i + R / 2]) };
        i += 1;
    }
    to
}

/// Transposes `P x P` units of `16 / P` bytes in every lane.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn transpose<V: Vector, const P: usize>(r: [V; P]) -> [V; P] {
    // SAFETY: registers alone, of the CPU that the contract of `Vector` asks for.
    unsafe {
        match P {
            1 => r,
            2 => rotate::<V, P, 8>(r),
            4 => rotate::<V, P, 4>(rotate::<V, P, 4>(r)),
            8 => rotate::<V, P, 2>(rotate::<V, P, 2>(rotate::<V, P, 2>(r))),
            _ => join_lanes::<V, P>(r),
        }
    }
}

/// Joins planes of items of a power of two of bytes: in the result lane `l` of register `k` is bytes `16 k ..` of the items
/// `16 l ..`.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn join_lanes<V: Vector, const P: usize>(mut r: [V; P]) -> [V; P] {
    // SAFETY: registers alone, of the CPU that the contract of `Vector` asks for.
    // Not a loop: the compiler would keep it, and with it the registers in memory.
    unsafe {
        r = rotate::<V, P, 1>(r);
        if P > 2 {
            r = rotate::<V, P, 1>(r);
        }
        if P > 4 {
            r = rotate::<V, P, 1>(r);
        }
        if P > 8 {
            r = rotate::<V, P, 1>(r);
        }
    }
    r
}

/// How many bytes beyond the items of a block are read by its split or garbled by its join.
const fn excess<V: Vector>(width: usize, p: usize) -> usize {
    if V::STRUCTURES && structure(width) > 0 { 0 } else { 16 - 16 / p * width }
}

/// Items taken at a time: [`Vector::BLOCK`], or a register of each plane where two of each would not stay in registers.
pub(super) const fn block<V: Vector>(width: usize) -> usize {
    if V::LANES == 1 && width > 12 { V::BYTES } else { V::BLOCK }
}

/// One block of items as planes; plane `j` in register `j`. With `BITS` (items of 8 bytes), the bits
/// of each item are transposed before.
///
/// # Safety
/// The CPU; `V::BYTES * W + excess` readable bytes.
#[inline(always)]
pub(super) unsafe fn split_block<V: Vector, const W: usize, const P: usize, const BITS: bool>(
    src: *const u8,
) -> [V; P] {
    let u = 16 / P;
    // SAFETY: the last lane's last load ends `excess` bytes after the items.
    unsafe {
        if V::STRUCTURES {
            match structure(W) {
                2 => return load_planes_of::<V, W, P, 2>(src),
                3 => return load_planes_of::<V, W, P, 3>(src),
                4 => return load_planes_of::<V, W, P, 4>(src),
                _ => {}
            }
        }
        // A table saves rounds: none from 8 planes on, where it is a round by itself.
        if W == P && !BITS && (!V::TABLE || P >= 8) {
            let mut r = [V::load_lanes(src, 16 * W); P];
            let mut k = 1;
            while k < P {
                r[k] = V::load_lanes(src.add(16 * k), 16 * W);
                k += 1;
            }
            return rotate::<V, P, 1>(rotate::<V, P, 1>(rotate::<V, P, 1>(rotate::<V, P, 1>(r))));
        }
        let mut r = [V::load_lanes(src, 16 * W); P];
        let mut k = 1;
        while k < P {
            r[k] = V::load_lanes(src.add(u * k * W), 16 * W);
            k += 1;
        }
        if BITS {
            let mut k = 0;
            while k < P {
                r[k] = r[k].bits_8x8().reverse_bits();
                k += 1;
            }
        }
        if u > 1 {
            let mut k = 0;
            while k < P {
                r[k] = r[k].table(Tables::<W, P>::BY_PLANE);
                k += 1;
            }
        }
        transpose::<V, P>(r)
    }
}

/// Stores one block of items whose plane `j` is in register `j`. With `BITS` (items of 8 bytes, whose
/// planes come in reverse), the bits of each item are transposed after.
///
/// # Safety
/// The CPU; `V::BYTES * W + excess` writable bytes, aligned if `stream`.
#[inline(always)]
pub(super) unsafe fn join_block<V: Vector, const W: usize, const P: usize, const BITS: bool>(
    mut r: [V; P],
    dst: *mut u8,
    stream: bool,
) {
    let u = 16 / P;
    // SAFETY: the last lane's last store ends `excess` bytes after the items.
    unsafe {
        if V::STRUCTURES {
            match structure(W) {
                2 => return store_planes_of::<V, W, P, 2>(r, dst),
                3 => return store_planes_of::<V, W, P, 3>(r, dst),
                4 => return store_planes_of::<V, W, P, 4>(r, dst),
                _ => {}
            }
        }
        if W == P {
            r = join_lanes::<V, P>(r);
            if BITS {
                let mut k = 0;
                while k < P {
                    r[k] = r[k].bits_8x8();
                    k += 1;
                }
            }
            if V::LANES == 4 && P > 2 {
                // Not a loop: the compiler would keep it, and the registers in memory.
                store_lanes::<V, W, P>(r, 0, dst, stream);
                if P > 4 {
                    store_lanes::<V, W, P>(r, 4, dst, stream);
                }
                return;
            }
            // In the order of their addresses: lines are written whole, and none twice.
            let mut pairs = r;
            let mut k = 0;
            while k < P {
                let (a, b) = V::pair_lanes(r[k], r[k + 1]);
                let (at, b_at) = if V::LANES == 2 { (k / 2, (P + k) / 2) } else { (k, k + 1) };
                (pairs[at], pairs[b_at]) = (a, b);
                k += 2;
            }
            let mut k = 0;
            while k < P {
                pairs[k].store_or_stream(dst.add(k * V::BYTES), stream);
                k += 1;
            }
            return;
        }
        r = transpose::<V, P>(r);
        if u > 1 {
            let mut k = 0;
            while k < P {
                r[k] = r[k].table(Tables::<W, P>::BY_ITEM);
                k += 1;
            }
        }
        let mut l = 0;
        while l < V::LANES {
            let mut k = 0;
            while k < P {
                r[k].store_lane(l, dst.add((16 * l + u * k) * W));
                k += 1;
            }
            l += 1;
        }
    }
}

/// Stores lane `l` of registers `k` to `k + 3` as bytes `16 k ..` of the items of that lane, for each of four lanes.
///
/// # Safety
/// As for [`join_block`].
#[inline(always)]
unsafe fn store_lanes<V: Vector, const W: usize, const P: usize>(
    r: [V; P],
    k: usize,
    dst: *mut u8,
    stream: bool,
) {
    // SAFETY: the contract of `join_block`: lane `l` of a block is `16 * W` bytes from `16 * W * l` on.
    unsafe {
        let [a, b, c, d] = V::transpose_lanes([r[k], r[k + 1], r[k + 2], r[k + 3]]);
        a.store_or_stream(dst.add(16 * k), stream);
        b.store_or_stream(dst.add(16 * (W + k)), stream);
        c.store_or_stream(dst.add(16 * (2 * W + k)), stream);
        d.store_or_stream(dst.add(16 * (3 * W + k)), stream);
    }
}

/// Uninitialised memory on the stack for one block and what its last store writes behind it.
#[repr(align(64))]
struct Bounce(MaybeUninit<[u8; 64 * 15 + 16]>);

/// Copies what has no room for whole registers. Out of line: `.ci/inlined.py` allows no other call of the library's copy, which is
/// what arrays of registers become that the compiler keeps in memory.
///
/// # Safety
/// `len` bytes are readable at `from` and writable at `to`, and do not overlap.
#[cold]
#[inline(never)]
unsafe fn copy_edge(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the conditions are the same.
    unsafe { copy_nonoverlapping(from, to, len) }
}

impl Bounce {
    #[inline(always)]
    fn ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Stores the first `count` planes of a block of `block` items: registers `a`, and `b` behind them if that takes two.
///
/// From plane to plane by one sum: multiples of the pitch, kept for the whole loop, would be kept on the stack, and their loads
/// are held up by stores at the same place of another page, as those to planes often are.
///
/// # Safety
/// The CPU; a block at `dst` and at every `pitch` from there is writable.
#[inline(always)]
pub(super) unsafe fn store_planes<V: Vector, const P: usize, const FIRST: usize>(
    a: [V; P],
    b: [V; P],
    count: usize,
    block: usize,
    mut dst: *mut u8,
    pitch: usize,
) {
    let mut j = FIRST;
    while j < count {
        // SAFETY: by the contract a block is writable at `dst`, which the last line of the loop moves from plane to
        // plane.
        unsafe {
            if count < 16 {
                V::prefetch(dst.wrapping_add(2 * block - 1));
            }
            a[j].store(dst);
            if block > V::BYTES {
                b[j].store(dst.add(V::BYTES));
            }
        }
        dst = dst.wrapping_add(pitch);
        j += 1;
    }
}

/// Splits `n >= V::BLOCK` items of `W` bytes.
///
/// # Safety
/// The pointers of `job` are good for `n` items of `W` bytes and their planes; the CPU has the instructions of `V`.
#[inline(always)]
unsafe fn split_items<V: Vector, const W: usize, const P: usize>(job: Split) {
    let Split { n, src, readable, dst, pitch, .. } = job;
    let (block, excess) = const { (block::<V>(W), excess::<V>(W, P)) };
    let mut bounce = Bounce(MaybeUninit::uninit());
    let mut i = 0;
    // SAFETY: blocks end at or before item `n` and read no more than `readable`, or from the bounce buffer.
    unsafe {
        while i < n {
            // The last block overlaps the one before.
            i = i.min(n - block);
            let mut from = src.add(i * W);
            if excess > 0 && (i + block) * W + excess > readable {
                copy_edge(from, bounce.ptr(), block * W);
                // Registers are loaded whole, so what follows the items must have a value too.
                bounce.ptr().add(block * W).write_bytes(0, excess);
                from = bounce.ptr();
            }
            let a = split_block::<V, W, P, false>(from);
            let b = if block > V::BYTES { split_block::<V, W, P, false>(from.add(V::BYTES * W)) } else { a };
            store_planes::<V, P, 0>(a, b, W, block, dst.add(i), pitch);
            i += block;
        }
    }
}

/// Joins `n >= V::BLOCK` items of `W` bytes.
///
/// # Safety
/// The pointers of `job` are good for `n` items of `W` bytes and their planes; the CPU has the instructions of `V`.
#[inline(always)]
unsafe fn join_items<V: Vector, const W: usize, const P: usize>(job: Join<impl PlaneSource>) {
    let Join { n, planes, dst, writable, .. } = job;
    let (block, excess) = const { (block::<V>(W), excess::<V>(W, P)) };
    let mut bounce = Bounce(MaybeUninit::uninit());
    let mut i = 0;
    // SAFETY: blocks end at or before item `n` and write no more than `writable`, or to the bounce buffer.
    unsafe {
        while i < n {
            i = i.min(n - block);
            let to = dst.add(i * W);
            let indirect = excess > 0 && (i + block) * W + excess > writable;
            join_items_of_block::<V, W, P, false>(planes, i, if indirect { bounce.ptr() } else { to });
            if indirect {
                copy_edge(bounce.ptr(), to, block * W);
            }
            i += block;
        }
    }
}

/// Joins `n >= V::BLOCK` items of `W` bytes, a power of two that `dst` is a multiple of, past the cache.
///
/// Whole lines alone go past the cache: a line that is written both ways takes as long as hundreds of others. The ones at the
/// ends, of which others may have a part, go into the cache.
///
/// # Safety
/// The pointers of `job` are good for `n` items of `W` bytes and their planes; the CPU has the instructions of `V`.
#[inline(always)]
unsafe fn stream_items<V: Vector, const W: usize>(job: Join<impl PlaneSource>) {
    let Join { n, planes, dst, .. } = job;
    let block = const { block::<V>(W) };
    let mut bounce = Bounce(MaybeUninit::uninit());
    // SAFETY: blocks end at or before item `n`, or fill the bounce buffer; what lies before the first whole line is no longer
    // than a block, so `i <= n`; from there on each block begins at a multiple of `V::BYTES`, which streaming needs.
    unsafe {
        V::prefetch(dst.wrapping_add(n * W));
        let mut i = dst.align_offset(LINE.min(block * W)) / W;
        if i > 0 {
            join_items_of_block::<V, W, W, false>(planes, 0, bounce.ptr());
            copy_edge(bounce.ptr(), dst, i * W);
        }
        while n - i >= block {
            join_items_of_block::<V, W, W, true>(planes, i, dst.add(i * W));
            i += block;
        }
        if i < n {
            join_items_of_block::<V, W, W, false>(planes, n - block, bounce.ptr());
            let (mut from, mut to) = (bounce.ptr().add((block - (n - i)) * W), dst.add(i * W));
            let mut left = (n - i) * W;
            while left >= LINE {
                let mut k = 0;
                while k < LINE {
                    V::load(from.add(k)).stream(to.add(k));
                    k += V::BYTES;
                }
                (from, to, left) = (from.add(LINE), to.add(LINE), left - LINE);
            }
            copy_edge(from, to, left);
        }
    }
}

/// Stores the block of items from item `i` on.
///
/// # Safety
/// As for [`join_block`], of a block.
#[inline(always)]
unsafe fn join_items_of_block<V: Vector, const W: usize, const P: usize, const STREAM: bool>(
    planes: impl PlaneSource,
    i: usize,
    to: *mut u8,
) {
    let block = const { block::<V>(W) };
    // Both registers of a plane at once only where that many stay in registers.
    let two = block > V::BYTES && V::STRUCTURES;
    // SAFETY: by the contract the planes have a block from item `i` on, and a block is writable at `to`, or what
    // `join_block` writes behind it.
    unsafe {
        let (a, b) = load_planes::<V, P, _>(planes, 0, W, i, two);
        join_block::<V, W, P, false>(a, to, STREAM);
        if block > V::BYTES {
            let b = if two { b } else { load_planes::<V, P, _>(planes, 0, W, i + V::BYTES, false).0 };
            join_block::<V, W, P, false>(b, to.add(V::BYTES * W), STREAM);
        }
    }
}

/// Register `j` is plane `first + j` of a block, and if it has two of each the second ones; those beyond the width repeat
/// the first.
///
/// # Safety
/// The CPU; the planes have these bytes from `i`.
#[inline(always)]
pub(super) unsafe fn load_planes<V: Vector, const P: usize, S: PlaneSource>(
    planes: S,
    first: usize,
    width: usize,
    i: usize,
    two: bool,
) -> ([V; P], [V; P]) {
    // SAFETY: by the contract the planes have these bytes; `next` is asked for a plane that follows an existing one.
    unsafe {
        let mut at = planes.at(first, i);
        let mut a = [V::load(at); P];
        let mut b = a;
        let mut j = 0;
        while j < width {
            if j > 0 {
                at = planes.next(at, first + j, i);
                a[j] = V::load(at);
            }
            if two {
                b[j] = V::load(at.add(V::BYTES));
            }
            j += 1;
        }
        (a, b)
    }
}

/// Calls the kernel for the width at hand. Where there is no byte table, only powers of two have one of
/// their own; other items are taken one by one.
macro_rules! by_width {
    ($V:ty, $kernel:ident, $job:ident, $items:ident; $($w:literal $p:literal),*) => {
        match $job.width {
            $($w if <$V>::leaves(Kernel::$kernel, $w) => {})*
            $($w if $w == $p || <$V>::TABLE => $items::<$V, $w, $p>($job),)*
            $($w => $items::<$V, $w, 16>($job),)*
            _ => {}
        }
    };
}

/// Splits `n >= V::BLOCK` items of 2 to 15 bytes.
///
/// # Safety
/// The CPU; what the job says is readable and writable.
#[inline(always)]
pub(super) unsafe fn split<V: Vector>(job: Split) {
    // SAFETY: the contract is that of `split_items`: a block of items or more, and the memory that the job names.
    unsafe {
        by_width!(V, Split, job, split_items;
            2 2, 3 4, 4 4, 5 8, 6 8, 7 8, 8 8, 9 16, 10 16, 11 16, 12 16, 13 16, 14 16, 15 16)
    }
}

/// Joins `n >= V::BLOCK` items of 2 to 15 bytes.
///
/// # Safety
/// The CPU; what the job says is readable and writable.
#[inline(always)]
pub(super) unsafe fn join<V: Vector, S: PlaneSource>(job: Join<S>) {
    // SAFETY: the contract is that of `join_items`; `stream_items` is called with items that divide a register, and
    // `dst` a multiple of them.
    unsafe {
        if job.stream && job.dst.addr().is_multiple_of(job.width) {
            match job.width {
                2 => return stream_items::<V, 2>(job),
                4 => return stream_items::<V, 4>(job),
                8 => return stream_items::<V, 8>(job),
                _ => {}
            }
        }
        by_width!(V, Join, job, join_items;
            2 2, 3 4, 4 4, 5 8, 6 8, 7 8, 8 8, 9 16, 10 16, 11 16, 12 16, 13 16, 14 16, 15 16)
    }
}
