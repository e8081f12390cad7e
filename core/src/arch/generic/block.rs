//! Items of 2 to 16 bytes, a block at a time; wider ones go to [`wide`].

use super::{Join, Source, Split, Vector};
use core::mem::MaybeUninit;
use core::ptr::copy_nonoverlapping;

/// Byte `i` of a lane of packed items of `W` bytes, ordered by plane, `U` items: where it comes from.
const fn by_plane<const W: usize, const P: usize>() -> [u8; 16] {
    let u = 16 / P;
    let mut table = [0; 16];
    let mut i = 0;
    while i < W * u {
        table[i] = (i % u * W + i / u) as u8;
        i += 1;
    }
    table
}

/// The inverse of [`by_plane`].
const fn by_item<const W: usize, const P: usize>() -> [u8; 16] {
    let u = 16 / P;
    let mut table = [0; 16];
    let mut i = 0;
    while i < W * u {
        table[i] = (i % W * u + i / W) as u8;
        i += 1;
    }
    table
}

/// Promotes the tables to statics.
struct Tables<const W: usize, const P: usize>;

impl<const W: usize, const P: usize> Tables<W, P> {
    const BY_PLANE: &'static [u8; 16] = &by_plane::<W, P>();
    const BY_ITEM: &'static [u8; 16] = &by_item::<W, P>();
}

/// Rotates the address `register . unit` of `R` registers left by one.
#[inline(always)]
unsafe fn rotate<V: Vector, const R: usize, const UNIT: usize>(from: [V; R]) -> [V; R] {
    let mut to = from;
    let mut i = 0;
    while i < R / 2 {
        // SAFETY: the caller's CPU.
        (to[2 * i], to[2 * i + 1]) = unsafe { V::zip::<UNIT>(from[i], from[i + R / 2]) };
        i += 1;
    }
    to
}

/// Transposes `P x P` units of `16 / P` bytes in every lane.
#[inline(always)]
pub(super) unsafe fn transpose<V: Vector, const P: usize>(mut r: [V; P]) -> [V; P] {
    let mut done = 1;
    while done < P {
        // SAFETY: the caller's CPU.
        r = unsafe {
            match P {
                2 => rotate::<V, P, 8>(r),
                4 => rotate::<V, P, 4>(r),
                8 => rotate::<V, P, 2>(r),
                _ => rotate::<V, P, 1>(r),
            }
        };
        done *= 2;
    }
    r
}

/// How many bytes beyond the items of a block are read by its split or garbled by its join.
const fn excess(width: usize, p: usize) -> usize {
    16 - 16 / p * width
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
        if W == P && !V::TABLE {
            let mut r = [V::load_lanes(src, 16 * W); P];
            let mut k = 1;
            while k < P {
                r[k] = V::load_lanes(src.add(16 * k), 16 * W);
                k += 1;
            }
            let mut turn = 0;
            while turn < 4 {
                r = rotate::<V, P, 1>(r);
                turn += 1;
            }
            return r;
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
                r[k] = r[k].table(&[7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]).bits_8x8();
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
        if W == P {
            let mut turn = 1;
            while turn < W {
                r = rotate::<V, P, 1>(r);
                turn *= 2;
            }
            if BITS {
                let mut k = 0;
                while k < P {
                    r[k] = r[k].bits_8x8();
                    k += 1;
                }
            }
            // Lane l of register k is bytes 16 k .. of the items 16 l .. of the block.
            let mut k = 0;
            while k < P {
                let (a, b) = V::pair_lanes(r[k], r[k + 1]);
                let (a_at, b_at) = if V::LANES == 1 { (16 * k, 16 * k + 16) } else { (16 * k, 16 * (W + k)) };
                if stream {
                    a.stream(dst.add(a_at));
                    b.stream(dst.add(b_at));
                } else {
                    a.store(dst.add(a_at));
                    b.store(dst.add(b_at));
                }
                k += 2;
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

/// Room for one block and its excess.
#[repr(align(64))]
struct Bounce(MaybeUninit<[u8; 64 * 15 + 16]>);

impl Bounce {
    #[inline(always)]
    fn ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Splits `n >= V::BLOCK` items of `W` bytes.
#[inline(always)]
unsafe fn split_items<V: Vector, const W: usize, const P: usize>(job: Split) {
    let Split { n, src, readable, dst, pitch, .. } = job;
    let (block, excess) = (V::BLOCK, excess(W, P));
    let mut bounce = Bounce(MaybeUninit::uninit());
    let mut i = 0;
    // SAFETY: blocks end at or before item `n` and read no more than `readable`, or from the bounce buffer.
    unsafe {
        while i < n {
            // The last block overlaps the one before.
            i = i.min(n - block);
            let mut from = src.add(i * W);
            if (i + block) * W + excess > readable {
                copy_nonoverlapping(from, bounce.ptr(), block * W);
                from = bounce.ptr();
            }
            let a = split_block::<V, W, P, false>(from);
            if block > V::BYTES {
                let b = split_block::<V, W, P, false>(from.add(V::BYTES * W));
                let mut j = 0;
                while j < W {
                    a[j].store(dst.add(j * pitch + i));
                    b[j].store(dst.add(j * pitch + i + V::BYTES));
                    j += 1;
                }
            } else {
                let mut j = 0;
                while j < W {
                    a[j].store(dst.add(j * pitch + i));
                    j += 1;
                }
            }
            i += block;
        }
    }
}

/// Joins `n >= V::BLOCK` items of `W` bytes. To stream, `dst` is a multiple of `W`, a power of two.
#[inline(always)]
unsafe fn join_items<V: Vector, const W: usize, const P: usize, const STREAM: bool, S: Source>(job: Join<S>) {
    let Join { n, planes, dst, writable, .. } = job;
    let (block, excess) = (V::BLOCK, excess(W, P));
    let mut bounce = Bounce(MaybeUninit::uninit());
    let mut i = 0;
    // SAFETY: blocks end at or before item `n` and write no more than `writable`, or to the bounce
    // buffer; both are aligned when streaming.
    unsafe {
        while i < n {
            i = i.min(n - block);
            let to = dst.add(i * W);
            let last = i + block == n;
            let indirect = (i + block) * W + excess > writable || (STREAM && to.addr() % V::BYTES != 0);
            let at = if indirect { bounce.ptr() } else { to };
            let a = load_planes::<V, P, S>(planes, W, i);
            if block > V::BYTES {
                let b = load_planes::<V, P, S>(planes, W, i + V::BYTES);
                join_block::<V, W, P, false>(a, at, STREAM);
                join_block::<V, W, P, false>(b, at.add(V::BYTES * W), STREAM);
            } else {
                join_block::<V, W, P, false>(a, at, STREAM);
            }
            if indirect {
                copy_nonoverlapping(bounce.ptr(), to, block * W);
                if STREAM && !last {
                    // On to the first item at an aligned address; what it overlaps is written again.
                    i += to.align_offset(V::BYTES) / W;
                    continue;
                }
            }
            i += block;
        }
        if STREAM {
            V::fence();
        }
    }
}

/// Register `j` is plane `j` of a block; those beyond the width repeat plane 0.
#[inline(always)]
unsafe fn load_planes<V: Vector, const P: usize, S: Source>(planes: S, width: usize, i: usize) -> [V; P] {
    // SAFETY: the caller's.
    unsafe {
        let mut r = [V::load(planes.at(0, i)); P];
        let mut j = 1;
        while j < width {
            r[j] = V::load(planes.at(j, i));
            j += 1;
        }
        r
    }
}

/// Calls the kernel for the width at hand. Where there is no byte table, only powers of two have one of
/// their own; other items are taken one by one.
macro_rules! by_width {
    ($V:ty, $job:ident, $items:ident; $($w:literal $p:literal),*) => {
        match $job.width {
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
    // SAFETY: the caller's.
    unsafe {
        by_width!(V, job, split_items;
            2 2, 3 4, 4 4, 5 8, 6 8, 7 8, 8 8, 9 16, 10 16, 11 16, 12 16, 13 16, 14 16, 15 16)
    }
}

/// Joins `n >= V::BLOCK` items of 2 to 15 bytes.
///
/// # Safety
/// The CPU; what the job says is readable and writable.
#[inline(always)]
pub(super) unsafe fn join<V: Vector, S: Source>(job: Join<S>) {
    // SAFETY: the caller's; streaming needs items that divide a register.
    unsafe {
        if job.stream && job.dst.addr().is_multiple_of(job.width) {
            match job.width {
                2 => return join_items::<V, 2, 2, true, S>(job),
                4 => return join_items::<V, 4, 4, true, S>(job),
                8 => return join_items::<V, 8, 8, true, S>(job),
                _ => {}
            }
        }
        by_width!(V, job, join_cached;
            2 2, 3 4, 4 4, 5 8, 6 8, 7 8, 8 8, 9 16, 10 16, 11 16, 12 16, 13 16, 14 16, 15 16)
    }
}

/// [`join_items`] into the cache.
#[inline(always)]
unsafe fn join_cached<V: Vector, const W: usize, const P: usize>(job: Join<impl Source>) {
    // SAFETY: the caller's.
    unsafe { join_items::<V, W, P, false, _>(job) }
}
