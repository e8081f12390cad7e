//! New arrays made from other arrays: copies, transposes, concatenations, stacks, and arrays without axes of one item.
//!
//! ```text
//! for each chunk of the new array, in order:
//!     read the items that belong there from the other arrays, as dense boxes
//!     bring them into the order of the new array
//! ```
//! `create.rs` lays the items out in blocks and appends the chunk.

use super::array::NdArray;
use super::room::fit;
use super::select::Selection;
use super::spec::Spec;
use super::strided::transpose;
use crate::error::Error;
use crate::schunk::SuperChunk;
use crate::shape::{Dims, metalayer};
use alloc::vec::Vec;
use core::ops::Range;

impl<'a> NdArray<'a> {
    /// A copy of `source` with the chunks, blocks and parameters of `spec`, whose shape and item size
    /// must be those of the source. Chunks that need not change are copied as they are. Metalayers are
    /// carried over.
    ///
    /// # Errors
    /// Another shape or item size, and errors of reading and writing chunks.
    pub fn copy(frame: SuperChunk<'a>, spec: &Spec, source: &NdArray<'_>) -> Result<NdArray<'a>, Error> {
        same_items(spec, source)?;
        if spec.geometry().shape() != source.shape() {
            return Err(other_shape(spec));
        }
        let mut nd = NdArray::start(frame, spec)?;
        nd.take_metalayers(source)?;
        if nd.layout.geometry != source.layout.geometry {
            nd.fill(|start, count, out| {
                let selection = Selection::region(source.shape(), start, count)?;
                source.get_into(&selection, out)
            })?;
        } else if nd.frame().params() == source.frame().params() {
            nd.edit().append_from(source.frame())?;
        } else {
            nd.edit().recompress_from(source.frame())?;
        }
        Ok(nd)
    }

    /// Copies the metalayers and vlmetalayers of `source`, except the metalayer that describes the array.
    fn take_metalayers(&mut self, source: &NdArray<'_>) -> Result<(), Error> {
        let names: Vec<_> = source.frame().metalayer_names().collect();
        for name in names.iter().filter(|n| **n != metalayer::NAME && **n != metalayer::NAME_CATERVA) {
            let content = source.frame().metalayer(name).map(<[u8]>::to_vec).unwrap_or_default();
            self.edit().set_metalayer(name, &content)?;
        }
        let names: Vec<_> = source.frame().vlmetalayer_names().collect();
        for name in names {
            let content = source.frame().vlmetalayer(&name)?.unwrap_or_default();
            self.edit().set_vlmetalayer(&name, &content)?;
        }
        Ok(())
    }

    /// `source` with its axes in another order: axis `d` of the result is axis `axes[d]` of the source.
    ///
    /// # Errors
    /// `axes` that are no permutation, a shape in `spec` that does not follow from it, another item
    /// size, and errors of reading and writing chunks.
    pub fn transpose(
        frame: SuperChunk<'a>,
        spec: &Spec,
        source: &NdArray<'_>,
        axes: &[usize],
    ) -> Result<NdArray<'a>, Error> {
        same_items(spec, source)?;
        let mut seen = Dims::repeat(0u8, source.shape().len());
        for axis in axes {
            if let Some(n) = seen.get_mut(*axis) {
                *n = 1;
            }
        }
        let permutation = axes.len() == source.shape().len() && seen.iter().all(|n| *n == 1);
        let expected = axes.iter().map(|axis| source.shape().at(*axis));
        if !permutation || !expected.eq(spec.geometry().shape().iter().copied()) {
            return Err(other_shape(spec));
        }
        let mut nd = NdArray::start(frame, spec)?;
        let mut part = Vec::new();
        nd.fill(|start, count, out| {
            let (mut from, mut shape) = (*start, *count);
            for (d, axis) in axes.iter().enumerate() {
                if let (Some(s), Some(n)) = (from.get_mut(*axis), shape.get_mut(*axis)) {
                    (*s, *n) = (start.at(d), count.at(d));
                }
            }
            fit(&mut part, out.len())?;
            source.get_into(&Selection::region(source.shape(), &from, &shape)?, &mut part)?;
            transpose(&part, &shape, axes, source.layout.geometry.typesize(), out)
        })?;
        Ok(nd)
    }

    /// The arrays one after the other along `axis`.
    ///
    /// # Errors
    /// A shape in `spec` that is not theirs put together, another item size, and errors of reading and writing chunks.
    pub fn concatenate(
        frame: SuperChunk<'a>,
        spec: &Spec,
        sources: &mut [NdArray<'_>],
        axis: usize,
    ) -> Result<NdArray<'a>, Error> {
        let mut total = 0u64;
        for source in sources.iter() {
            same_items(spec, source)?;
            let differs = |(d, (a, b)): (usize, (&u64, &u64))| d != axis && a != b;
            let pairs = source.shape().iter().zip(spec.geometry().shape().iter());
            if source.shape().len() != spec.geometry().ndim() || pairs.enumerate().any(differs) {
                return Err(other_shape(spec));
            }
            total = total.saturating_add(source.shape().at(axis));
        }
        if axis >= spec.geometry().ndim() || total != spec.geometry().shape().at(axis) {
            return Err(other_shape(spec));
        }
        let mut nd = NdArray::start(frame, spec)?;
        nd.fill(|start, count, out| {
            let wanted = start.at(axis)..start.at(axis).saturating_add(count.at(axis));
            let mut first = 0u64;
            for source in sources.iter_mut() {
                let end = first.saturating_add(source.shape().at(axis));
                let both = wanted.start.max(first)..wanted.end.min(end);
                if both.start < both.end {
                    let (mut from, mut shape) = (*start, *count);
                    if let (Some(s), Some(n)) = (from.get_mut(axis), shape.get_mut(axis)) {
                        (*s, *n) = (both.start.saturating_sub(first), both.end.saturating_sub(both.start));
                    }
                    let part = source.get(&Selection::region(source.shape(), &from, &shape)?)?;
                    let at = both.start.saturating_sub(wanted.start);
                    interleave(&part, count, axis, at..at.saturating_add(shape.at(axis)), out)?;
                }
                first = end;
            }
            Ok(())
        })?;
        Ok(nd)
    }

    /// The arrays, all of one shape, side by side along a new axis `axis`.
    ///
    /// # Errors
    /// As [`NdArray::concatenate`].
    pub fn stack(
        frame: SuperChunk<'a>,
        spec: &Spec,
        sources: &mut [NdArray<'_>],
        axis: usize,
    ) -> Result<NdArray<'a>, Error> {
        for source in sources.iter() {
            same_items(spec, source)?;
            let mut shape: Vec<u64> = source.shape().to_vec();
            if axis > shape.len() {
                return Err(other_shape(spec));
            }
            shape.insert(axis, sources.len() as u64);
            if shape[..] != spec.geometry().shape()[..] {
                return Err(other_shape(spec));
            }
        }
        let mut nd = NdArray::start(frame, spec)?;
        nd.fill(|start, count, out| {
            let without = |d: &Dims<u64>| {
                let mut v = d.to_vec();
                v.remove(axis);
                v
            };
            for k in 0..count.at(axis) {
                let which = usize::try_from(start.at(axis).saturating_add(k)).ok();
                let Some(source) = which.and_then(|n| sources.get_mut(n)) else { continue };
                let selection = Selection::region(source.shape(), &without(start), &without(count))?;
                let part = source.get(&selection)?;
                interleave(&part, count, axis, k..k.saturating_add(1), out)?;
            }
            Ok(())
        })?;
        Ok(nd)
    }

    /// `source` without its axes of one item; `spec` has the shape that is left.
    ///
    /// # Errors
    /// A shape in `spec` other than the shape that is left, another item size, and errors of reading and writing chunks.
    pub fn squeeze(frame: SuperChunk<'a>, spec: &Spec, source: &NdArray<'_>) -> Result<NdArray<'a>, Error> {
        same_items(spec, source)?;
        let left = source.shape().iter().copied().filter(|s| *s != 1);
        if !left.eq(spec.geometry().shape().iter().copied()) {
            return Err(other_shape(spec));
        }
        let mut nd = NdArray::start(frame, spec)?;
        nd.fill(|start, count, out| {
            let (mut from, mut shape) = (*source.shape(), *source.shape());
            let mut axes = start.iter().zip(count.iter());
            for (s, n) in from.iter_mut().zip(shape.iter_mut()) {
                (*s, *n) = match *n {
                    1 => (0, 1),
                    _ => axes.next().map_or((0, 0), |(s, n)| (*s, *n)),
                };
            }
            source.get_into(&Selection::region(source.shape(), &from, &shape)?, out)
        })?;
        Ok(nd)
    }
}

/// Puts `part`, which is as wide as `at` along `axis`, into a box of shape `count`.
fn interleave(
    part: &[u8],
    count: &Dims<u64>,
    axis: usize,
    at: Range<u64>,
    out: &mut [u8],
) -> Result<(), Error> {
    let outer: u64 = count.iter().take(axis).product();
    let side = count.at(axis).max(1) as usize;
    let row = out.len().checked_div((outer.max(1) as usize).saturating_mul(side)).unwrap_or(0);
    let (skip, width) = (at.start as usize * row, (at.end.saturating_sub(at.start)) as usize * row);
    if width == 0 {
        return Ok(());
    }
    for (to, from) in out.chunks_exact_mut(side.saturating_mul(row)).zip(part.chunks_exact(width)) {
        let to = to.get_mut(skip..skip.saturating_add(width));
        to.ok_or(Error::Internal { what: "a part outside its box" })?.copy_from_slice(from);
    }
    Ok(())
}

fn same_items(spec: &Spec, source: &NdArray<'_>) -> Result<(), Error> {
    if spec.geometry().typesize() == source.layout.geometry.typesize() {
        return Ok(());
    }
    let value = source.layout.geometry.typesize().into();
    Err(Error::Param { name: "item size", value, allowed: "that of the new array" })
}

fn other_shape(spec: &Spec) -> Error {
    Error::Param {
        name: "shape of the new array",
        value: spec.geometry().ndim() as i64,
        allowed: "the shape that follows from the arrays it is made of",
    }
}
