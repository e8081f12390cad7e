//! Copying items between two buffers with different strides: the inner loop of every slice.
//!
//! ```text
//! for each index (i0, i1, ...) below the lengths:
//!     copy t bytes between  first[base1 + sum i_d * first_d]  and  second[base2 + sum i_d * second_d]
//! ```
//! Axes of length 1 are dropped and axes that continue each other on both sides are merged first, so
//! the innermost loop is one copy as often as it can be.

use crate::cframe::view::fill_special;
use crate::error::Error;
use crate::shape::{MAX_DIM, reverse_axes};
use alloc::vec::Vec;
use blosc_core::Special;
use core::ops::Range;

/// One axis of a strided copy; strides in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) len: u64,
    pub(super) first: i64,
    pub(super) second: i64,
}

/// A strided copy. Axes are pushed from the innermost outwards.
#[derive(Clone, Debug)]
pub(super) struct Strides {
    typesize: usize,
    axes: [Axis; MAX_DIM],
    len: usize,
    first: i64,
    second: i64,
}

impl Strides {
    /// One item of `typesize` bytes at the start of both buffers.
    pub(super) fn new(typesize: u32) -> Strides {
        Strides { typesize: typesize as usize, axes: [Axis::default(); MAX_DIM], len: 0, first: 0, second: 0 }
    }

    /// Adds an axis outside the others.
    pub(super) fn push(&mut self, axis: Axis) {
        if axis.len == 1 {
            return;
        }
        if let Some(inner) = self.len.checked_sub(1).and_then(|n| self.axes.get_mut(n)) {
            let span = |stride: i64| i64::try_from(inner.len).ok().and_then(|n| n.checked_mul(stride));
            if span(inner.first) == Some(axis.first) && span(inner.second) == Some(axis.second) {
                inner.len = inner.len.saturating_mul(axis.len);
                return;
            }
        }
        if let Some(slot) = self.axes.get_mut(self.len) {
            *slot = axis;
            self.len += 1;
        }
    }

    /// Moves the starting points by so many bytes.
    pub(super) fn shift(&mut self, first: i64, second: i64) {
        self.first = self.first.saturating_add(first);
        self.second = self.second.saturating_add(second);
    }

    /// Which bytes of the first buffer go to which of the second, if it is one stretch on both sides.
    pub(super) fn dense(&self) -> Option<(Range<usize>, Range<usize>)> {
        let t = self.typesize as i64;
        let bytes = match self.axes.get(..self.len)? {
            [] => self.typesize,
            [a] if a.first == t && a.second == t => {
                usize::try_from(a.len).ok()?.checked_mul(self.typesize)?
            }
            _ => return None,
        };
        let range = |start: i64| {
            let start = usize::try_from(start).ok()?;
            Some(start..start.checked_add(bytes)?)
        };
        Some((range(self.first)?, range(self.second)?))
    }

    /// Copies from the first buffer to the second, which begins `skip` bytes into the result.
    pub(super) fn gather(&self, first: &[u8], second: &mut [u8], skip: usize) {
        self.run(|f, s, inner| copy(inner, (second, s - skip as i64, inner.second), (first, f, inner.first)));
    }

    /// Puts the value that a special chunk repeats where [`gather`](Self::gather) puts items.
    pub(super) fn fill(&self, value: Special, second: &mut [u8]) -> Result<(), Error> {
        let mut result = Ok(());
        self.run(|_, s, inner| {
            let (mut at, step, t) = (s, inner.second, inner.t as i64);
            let (len, times) =
                if step == t { (inner.len as usize * inner.t, 1) } else { (inner.t, inner.len) };
            for _ in 0..times {
                let room = usize::try_from(at).ok().and_then(|at| second.get_mut(at..)?.get_mut(..len));
                debug_assert!(room.is_some(), "a strided fill left its buffer");
                let filled = fill_special(value, self.typesize as u32, 0, room.unwrap_or(&mut []));
                result = result.and(filled);
                at = at.wrapping_add(step);
            }
        });
        result
    }

    /// Copies from the second buffer to the first.
    pub(super) fn scatter(&self, first: &mut [u8], second: &[u8]) {
        self.run(|f, s, inner| copy(inner, (first, f, inner.first), (second, s, inner.second)));
    }

    /// Calls `row(first, second, inner)` for every innermost row.
    fn run(&self, mut row: impl FnMut(i64, i64, &Inner)) {
        let axes = self.axes.get(..self.len).unwrap_or(&[]);
        let t = self.typesize as i64;
        // One dense item is the innermost row if the last axis is not dense on both sides.
        let (inner, outer) = match axes.split_first() {
            Some((a, rest)) => {
                (Inner { len: a.len, first: a.first, second: a.second, t: self.typesize }, rest)
            }
            None => (Inner { len: 1, first: t, second: t, t: self.typesize }, axes),
        };
        let mut index = [0u64; MAX_DIM];
        let (mut f, mut s) = (self.first, self.second);
        if inner.len == 0 || outer.iter().any(|a| a.len == 0) {
            return;
        }
        loop {
            row(f, s, &inner);
            let mut moved = false;
            for (i, axis) in index.iter_mut().zip(outer) {
                *i += 1;
                f = f.wrapping_add(axis.first);
                s = s.wrapping_add(axis.second);
                if *i < axis.len {
                    moved = true;
                    break;
                }
                *i = 0;
                let back = axis.len as i64;
                f = f.wrapping_sub(back.wrapping_mul(axis.first));
                s = s.wrapping_sub(back.wrapping_mul(axis.second));
            }
            if !moved {
                return;
            }
        }
    }
}

/// The innermost axis.
struct Inner {
    len: u64,
    first: i64,
    second: i64,
    t: usize,
}

/// Copies one row between `(buffer, offset, stride)` pairs.
fn copy(row: &Inner, to: (&mut [u8], i64, i64), from: (&[u8], i64, i64)) {
    let (to, to_at, to_step) = to;
    let (from, from_at, from_step) = from;
    let t = row.t;
    let (Ok(to_at), Ok(from_at)) = (usize::try_from(to_at), usize::try_from(from_at)) else {
        debug_assert!(false, "a strided copy began before a buffer");
        return;
    };
    if to_step == t as i64 && from_step == t as i64 {
        let n = row.len as usize * t;
        let room = to.get_mut(to_at..).and_then(|b| b.get_mut(..n));
        let data = from.get(from_at..).and_then(|b| b.get(..n));
        debug_assert!(room.is_some() && data.is_some(), "a strided copy left a buffer");
        if let (Some(room), Some(data)) = (room, data) {
            room.copy_from_slice(data);
        }
        return;
    }
    match t {
        1 => items::<1>(row.len, (to, to_at, to_step), (from, from_at, from_step)),
        2 => items::<2>(row.len, (to, to_at, to_step), (from, from_at, from_step)),
        4 => items::<4>(row.len, (to, to_at, to_step), (from, from_at, from_step)),
        8 => items::<8>(row.len, (to, to_at, to_step), (from, from_at, from_step)),
        16 => items::<16>(row.len, (to, to_at, to_step), (from, from_at, from_step)),
        _ => {
            let (mut d, mut s) = (to_at, from_at);
            for _ in 0..row.len {
                let room = to.get_mut(d..).and_then(|b| b.get_mut(..t));
                let data = from.get(s..).and_then(|b| b.get(..t));
                debug_assert!(room.is_some() && data.is_some(), "a strided copy left a buffer");
                if let (Some(room), Some(data)) = (room, data) {
                    room.copy_from_slice(data);
                }
                d = d.wrapping_add_signed(to_step as isize);
                s = s.wrapping_add_signed(from_step as isize);
            }
        }
    }
}

/// Copies items of `T` bytes, each moved in registers.
fn items<const T: usize>(len: u64, to: (&mut [u8], usize, i64), from: (&[u8], usize, i64)) {
    let (to, mut d, to_step) = to;
    let (from, mut s, from_step) = from;
    for _ in 0..len {
        let room = to.get_mut(d..).and_then(|b| b.first_chunk_mut::<T>());
        let data = from.get(s..).and_then(|b| b.first_chunk::<T>());
        debug_assert!(room.is_some() && data.is_some(), "a strided copy left a buffer");
        if let (Some(room), Some(data)) = (room, data) {
            *room = *data;
        }
        d = d.wrapping_add_signed(to_step as isize);
        s = s.wrapping_add_signed(from_step as isize);
    }
}

/// Copies `src`, a C-order array of `shape`, to `dst` with its axes in the order `axes`: result axis `d`
/// is axis `axes[d]` of the source.
pub(super) fn transpose(
    src: &[u8],
    shape: &[u64],
    axes: &[usize],
    typesize: u32,
    dst: &mut [u8],
) -> Result<(), Error> {
    if axes.iter().rev().copied().eq(0..shape.len()) {
        let sides: Vec<u64> = shape.iter().rev().copied().collect();
        return reverse_axes(src, &sides, typesize as usize, dst);
    }
    let mut strides = Strides::new(typesize);
    let mut of_src = [0i64; MAX_DIM];
    let mut step = i64::from(typesize);
    for (slot, n) in of_src.iter_mut().take(shape.len()).zip(shape.iter().rev()) {
        *slot = step;
        step = step.saturating_mul(*n as i64);
    }
    let mut out = i64::from(typesize);
    for axis in axes.iter().rev() {
        let len = shape.get(*axis).copied().unwrap_or(1);
        let back = shape.len().wrapping_sub(*axis).wrapping_sub(1);
        strides.push(Axis { len, first: of_src.get(back).copied().unwrap_or(0), second: out });
        out = out.saturating_mul(len as i64);
    }
    strides.gather(src, dst, 0);
    Ok(())
}

/// Copies a box of `len` items of `typesize` bytes between two C-order arrays, each given as `(bytes, shape, where the box
/// begins)`.
///
/// ```
/// use blosc_frame::b2nd::copy_box;
/// let (from, mut to) = ([1, 2, 3, 4, 5, 6], [0; 4]);          // 2 x 3 and 2 x 2 items
/// copy_box(1, &[2, 1], (&from, &[2, 3], &[0, 2]), (&mut to, &[2, 2], &[0, 1]))?;
/// assert_eq!(to, [0, 3, 0, 6]);
/// # Ok::<(), blosc_frame::Error>(())
/// ```
///
/// # Errors
/// `Param` for a box that is not inside both arrays, an array larger than its bytes, more than 16 axes, and items of no
/// bytes.
pub fn copy_box(
    typesize: u32,
    len: &[u64],
    (from, from_shape, from_at): (&[u8], &[u64], &[u64]),
    (to, to_shape, to_at): (&mut [u8], &[u64], &[u64]),
) -> Result<(), Error> {
    let fits = |bytes: usize, shape: &[u64], at: &[u64]| {
        let axes = shape.len() == len.len() && at.len() == len.len() && typesize > 0 && len.len() <= MAX_DIM;
        let all = shape.iter().try_fold(u64::from(typesize), |n, side| n.checked_mul(*side));
        let mut ends = at.iter().zip(len).map(|(at, len)| at.checked_add(*len));
        axes && all.is_some_and(|all| all <= bytes as u64)
            && ends.by_ref().zip(shape).all(|(end, side)| end.is_some_and(|end| end <= *side))
    };
    if !fits(from.len(), from_shape, from_at) || !fits(to.len(), to_shape, to_at) {
        return Err(Error::Param { name: "box", value: len.len() as i64, allowed: "one inside both arrays" });
    }
    let mut strides = Strides::new(typesize);
    let mut step = [i64::from(typesize); 2];
    // The products are at most the sizes of the buffers.
    for d in (0..len.len()).rev() {
        let at = |list: &[u64]| list.get(d).map_or(0, |n| *n as i64);
        strides.shift(at(from_at).saturating_mul(step[0]), at(to_at).saturating_mul(step[1]));
        strides.push(Axis { len: at(len) as u64, first: step[0], second: step[1] });
        step = [step[0].saturating_mul(at(from_shape)), step[1].saturating_mul(at(to_shape))];
    }
    strides.gather(from, to, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn merges_what_continues() {
        let mut s = Strides::new(4);
        s.push(Axis { len: 5, first: 4, second: 4 });
        s.push(Axis { len: 1, first: 999, second: 7 });
        s.push(Axis { len: 3, first: 20, second: 20 });
        assert_eq!(s.len, 1);
        assert_eq!(s.axes[0].len, 15);
        s.push(Axis { len: 2, first: 100, second: 60 });
        assert_eq!(s.len, 2);
    }

    #[test]
    fn transposes_every_item_size() {
        for t in [1usize, 2, 3, 4, 8, 16, 20] {
            let shape = [3u64, 4, 5];
            let src: Vec<u8> = (0..60 * t).map(|i| (i * 7 % 251) as u8).collect();
            for axes in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
                let mut dst = vec![0; src.len()];
                transpose(&src, &shape, &axes, t as u32, &mut dst).unwrap();
                let n = axes.map(|a| shape[a] as usize);
                for i in 0..60 {
                    let at = [i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]];
                    let mut from = [0; 3];
                    for d in 0..3 {
                        from[axes[d]] = at[d];
                    }
                    let j = (from[0] * 4 + from[1]) * 5 + from[2];
                    assert_eq!(dst[i * t..][..t], src[j * t..][..t]);
                }
            }
        }
    }
}
