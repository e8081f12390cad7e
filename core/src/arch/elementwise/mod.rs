//! Element-wise maps over bytes: what delta, trunc_prec, int_trunc and bytedelta are made of.
//!
//! ```text
//! map  : out[i] = f(src[i])          for every whole lane of N bytes, in order; the rest is copied
//! map2 : out[i] = f(a[i], b[i])      likewise; the rest is copied from a
//! ```
//! The order is part of the contract, so that `f` may carry a running value. Only the stores are
//! unsafe here: [`Out`] cannot be written lane by lane from outside this folder.

pub(crate) mod scan;

use crate::arch::level::Level;
use crate::arch::out::Out;

/// A loop that can be compiled for several instruction sets. `run` must be `#[inline(always)]`.
pub(crate) trait Loop {
    fn run(self);
}

/// Runs `work` compiled for `level`. The compiler vectorises plain loops well enough, so they need no
/// intrinsics, only wider registers.
#[inline]
pub(crate) fn vectorized<L: Loop>(level: Level, work: L) {
    #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
    {
        use crate::arch::level::Isa;
        #[target_feature(enable = "avx2")]
        fn avx2<L: Loop>(work: L) {
            work.run();
        }
        if matches!(level.isa(), Isa::Avx2 | Isa::Avx2Gfni | Isa::Avx512) {
            // SAFETY: the level proves that the CPU has AVX2.
            return unsafe { avx2(work) };
        }
    }
    let _ = level;
    work.run();
}

/// `out = op(a, b)` byte by byte.
pub(crate) struct Bytes<'a, F: Fn(u8, u8) -> u8>(pub &'a [u8], pub &'a [u8], pub Out<'a>, pub F);

impl<F: Fn(u8, u8) -> u8> Loop for Bytes<'_, F> {
    #[inline(always)]
    fn run(self) {
        let Bytes(a, b, out, op) = self;
        // Arrays of a known size, or the compiler does not vectorise this.
        let whole = a.len().min(b.len()).min(out.len()) & !63;
        let (a, a_rest) = a.split_at_checked(whole).unwrap_or((&[], a));
        let (b, b_rest) = b.split_at_checked(whole).unwrap_or((&[], b));
        let (out, out_rest) = out.split_at(whole);
        map2(a, b, out, |mut x: [u8; 64], y| {
            for (x, y) in x.iter_mut().zip(y) {
                *x = op(*x, y);
            }
            x
        });
        map2(a_rest, b_rest, out_rest, |[x], [y]| [op(x, y)]);
    }
}

/// Every word of `W` bytes ANDed with the first of `mask`; a partial word at the end is copied.
pub(crate) struct And<'a, const W: usize>(pub &'a [u8], pub [u8; 8], pub Out<'a>);

impl<const W: usize> Loop for And<'_, W> {
    #[inline(always)]
    fn run(self) {
        map(self.0, self.2, |mut word: [u8; W]| {
            for (byte, m) in word.iter_mut().zip(self.1) {
                *byte &= m;
            }
            word
        });
    }
}

/// `out = f(src)` lane by lane in order; bytes after the last whole lane are copied. Stops at the
/// shorter of the two.
#[inline(always)]
pub(crate) fn map<const N: usize>(src: &[u8], mut out: Out<'_>, mut f: impl FnMut([u8; N]) -> [u8; N]) {
    let lanes = Lanes::<N>::of(&mut out);
    let body = src.as_chunks::<N>().0;
    let count = body.len().min(lanes.count);
    for (i, lane) in body.get(..count).unwrap_or(&[]).iter().enumerate() {
        // SAFETY: `i < count <= lanes.count`.
        unsafe { lanes.set(i, f(*lane)) };
    }
    copy_rest(count * N, src, &mut out);
}

/// `out = f(a, b)` lane by lane in order; bytes after the last whole lane are copied from `a`. Stops
/// at the shortest of the three.
#[inline(always)]
pub(crate) fn map2<const N: usize>(
    a: &[u8],
    b: &[u8],
    mut out: Out<'_>,
    mut f: impl FnMut([u8; N], [u8; N]) -> [u8; N],
) {
    let lanes = Lanes::<N>::of(&mut out);
    let (x, y) = (a.as_chunks::<N>().0, b.as_chunks::<N>().0);
    let count = x.len().min(y.len()).min(lanes.count);
    // Two slices of one length and nothing else to stop at: that the compiler vectorises.
    let (x, y) = (x.get(..count).unwrap_or(&[]), y.get(..count).unwrap_or(&[]));
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        // SAFETY: `i < count <= lanes.count`.
        unsafe { lanes.set(i, f(*x, *y)) };
    }
    copy_rest(count * N, a, &mut out);
}

/// Copies `src[from..]` to `out[from..]`.
#[inline(always)]
fn copy_rest(from: usize, src: &[u8], out: &mut Out<'_>) {
    let rest = out.len().saturating_sub(from);
    if let (Some(mut room), Some(rest)) = (out.get(from, rest), src.get(from..)) {
        room.copy_from(rest);
    }
}

/// The whole `N`-byte lanes of a destination.
struct Lanes<const N: usize> {
    ptr: *mut [u8; N],
    count: usize,
}

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    fn of(out: &mut Out<'_>) -> Self {
        Lanes { ptr: out.as_mut_ptr().cast(), count: out.len().checked_div(N).unwrap_or(0) }
    }

    /// # Safety
    /// `i < self.count`, and the destination is still borrowed.
    #[inline(always)]
    unsafe fn set(&self, i: usize, lane: [u8; N]) {
        // SAFETY: lane `i` lies inside the destination; `[u8; N]` has no alignment.
        unsafe { self.ptr.add(i).write(lane) }
    }
}
