//! Element-wise maps over bytes: what delta, trunc_prec, int_trunc and bytedelta are made of.
//!
//! ```text
//! map  : out[i] = f(src[i])          for every whole lane of N bytes, in order; the rest is copied
//! map2 : out[i] = f(a[i], b[i])      likewise; the rest is copied from a
//! ```
//! The order is part of the contract, so that `f` may carry a running value. Only the stores are
//! unsafe here: [`Out`] cannot be written lane by lane from outside this folder.

use crate::arch::out::Out;

/// `out = f(src)` lane by lane in order; bytes after the last whole lane are copied. Stops at the
/// shorter of the two.
#[inline(always)]
pub(crate) fn map<const N: usize>(src: &[u8], mut out: Out<'_>, mut f: impl FnMut([u8; N]) -> [u8; N]) {
    let lanes = Lanes::<N>::of(&mut out);
    let (body, _) = src.as_chunks::<N>();
    for (i, lane) in body.iter().enumerate().take(lanes.count) {
        // SAFETY: `i < lanes.count`.
        unsafe { lanes.set(i, f(*lane)) };
    }
    copy_rest(body.len().min(lanes.count) * N, src, &mut out);
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
    let pairs = a.as_chunks::<N>().0.iter().zip(b.as_chunks::<N>().0);
    let count = pairs.len().min(lanes.count);
    for (i, (x, y)) in pairs.enumerate().take(lanes.count) {
        // SAFETY: `i < lanes.count`.
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
