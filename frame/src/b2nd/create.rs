//! New arrays: from data, from a stream, filled with one value, or made from other arrays.
//!
//! ```text
//! for each chunk of the new array, in order:
//!     get its items as a dense box         from the data, the stream, the other arrays
//!     lay them out block by block, zeros in the padding
//!     append the chunk
//! ```

use super::array::{NdArray, Worker};
use super::cache::Cache;
use super::read::{check_len, fit};
use super::select::{Selection, Touched};
use super::spec::Spec;
use super::strided::transpose;
use crate::error::Error;
use crate::plain::{MOST_HELD, Plain};
use crate::schunk::SuperChunk;
use crate::shape::Dims;
use crate::shape::Geometry;
use crate::shape::metalayer;
use alloc::vec::Vec;
use blosc_core::{Pool, Special};
use core::ops::Range;

impl<'a> NdArray<'a> {
    /// An array without chunks yet, in a frame without chunks.
    fn start(mut frame: SuperChunk<'a>, spec: &Spec) -> Result<NdArray<'a>, Error> {
        let geometry = *spec.geometry();
        if frame.nchunks() > 0 || frame.typesize() != geometry.typesize() {
            return Err(Error::Param {
                name: "chunks in the frame of a new array",
                value: i64::try_from(frame.nchunks()).unwrap_or(i64::MAX),
                allowed: "none, in a frame made with Spec::params",
            });
        }
        let text = spec.dtype_text();
        frame.set_metalayer(metalayer::NAME, &geometry.metalayer(text.as_bytes()).to_bytes()?)?;
        for (name, content) in spec.metalayers() {
            frame.set_metalayer(name, content)?;
        }
        if geometry.chunk_bytes() > 0 {
            frame.set_chunksize(geometry.chunk_bytes())?;
        }
        frame.set_blockshape(geometry.blocks());
        Ok(NdArray {
            frame,
            geometry,
            name: metalayer::NAME,
            dtype: spec.dtype().clone(),
            opaque: None,
            workers: alloc::vec![Worker::new()],
            scratch: Vec::new(),
            cache: Cache::new(),
        })
    }

    /// An array of zeros, in a frame without chunks made with [`Spec::params`]. Takes no space.
    ///
    /// # Errors
    /// A frame that has chunks, or another item size.
    pub fn zeros(frame: SuperChunk<'a>, spec: &Spec) -> Result<NdArray<'a>, Error> {
        NdArray::special(frame, spec, Special::Zeros)
    }

    /// An array whose items nobody has set; here they read as zeros, elsewhere perhaps as anything.
    ///
    /// # Errors
    /// As [`NdArray::zeros`].
    pub fn uninit(frame: SuperChunk<'a>, spec: &Spec) -> Result<NdArray<'a>, Error> {
        NdArray::special(frame, spec, Special::Uninit)
    }

    /// An array of NaNs: little-endian `7fc00000` or `7ff8000000000000`.
    ///
    /// # Errors
    /// Items of other than 4 or 8 bytes, and as [`NdArray::zeros`].
    pub fn nans(frame: SuperChunk<'a>, spec: &Spec) -> Result<NdArray<'a>, Error> {
        NdArray::special(frame, spec, Special::Nan)
    }

    fn special(frame: SuperChunk<'a>, spec: &Spec, kind: Special) -> Result<NdArray<'a>, Error> {
        let mut nd = NdArray::start(frame, spec)?;
        let bytes = nd.geometry.nchunks().saturating_mul(nd.geometry.chunk_bytes().into());
        if bytes > 0 {
            nd.frame.fill_special(kind, bytes)?;
        }
        Ok(nd)
    }

    /// An array of one value, `item`, given as its bytes.
    ///
    /// # Errors
    /// An item of another size, and as [`NdArray::zeros`].
    pub fn full(frame: SuperChunk<'a>, spec: &Spec, item: &[u8]) -> Result<NdArray<'a>, Error> {
        check_len(spec.geometry().typesize().into(), item.len())?;
        if item.iter().all(|b| *b == 0) {
            return NdArray::zeros(frame, spec);
        }
        let mut nd = NdArray::start(frame, spec)?;
        let geometry = nd.geometry;
        let chunk_items = u64::from(geometry.chunk_bytes() / geometry.typesize());
        let items = geometry.nchunks().saturating_mul(chunk_items);
        if items > 0 {
            nd.frame.fill_value(item, items)?;
        }
        Ok(nd)
    }

    /// An array of `data`: all items in C order.
    ///
    /// # Errors
    /// Data of another length than the shape demands, and as [`NdArray::zeros`].
    pub fn from_slice(frame: SuperChunk<'a>, spec: &Spec, data: &[u8]) -> Result<NdArray<'a>, Error> {
        check_len(spec.geometry().nbytes(), data.len())?;
        let mut nd = NdArray::start(frame, spec)?;
        let geometry = nd.geometry;
        nd.append_chunks(&geometry, data)?;
        Ok(nd)
    }

    /// An array of what `read` delivers: it is called with buffers to fill, of whole rows of chunks
    /// along the first axis, until all items have come in C order.
    ///
    /// # Errors
    /// What `read` returns, and as [`NdArray::zeros`].
    pub fn from_stream(
        frame: SuperChunk<'a>,
        spec: &Spec,
        mut read: impl FnMut(&mut [u8]) -> Result<(), Error>,
    ) -> Result<NdArray<'a>, Error> {
        let side = u64::from(spec.geometry().chunks().at(0)).max(1);
        NdArray::from_rows(frame, spec, side, &mut read)
    }

    /// An array of what `source` holds, its items in C order.
    ///
    /// Memory: at most 64 MiB of rows of chunks at a time; where a single row of chunks is larger, one chunk.
    ///
    /// # Errors
    /// A source of another length than the shape demands; what it returns, and as [`NdArray::zeros`].
    pub fn from_plain(
        frame: SuperChunk<'a>,
        spec: &Spec,
        pool: &mut Pool,
        source: &dyn Plain,
    ) -> Result<NdArray<'a>, Error> {
        let geometry = *spec.geometry();
        check_len(geometry.nbytes(), usize::try_from(source.nbytes()).unwrap_or(usize::MAX))?;
        let side = u64::from(geometry.chunks().at(0)).max(1);
        let row = geometry.nbytes().checked_div(geometry.shape().at(0)).unwrap_or(0);
        let chunks = row.saturating_mul(side).max(1);
        if chunks > MOST_HELD && !geometry.shape().is_empty() {
            let mut nd = NdArray::start(frame, spec)?;
            let array = (&**geometry.shape(), u64::from(geometry.typesize()));
            nd.fill(|start, count, items| {
                let range = |(&start, &count): (&u64, &u64)| start..start.saturating_add(count);
                let ranges: Vec<Range<u64>> = start.iter().zip(count.iter()).map(range).collect();
                source.read_box(pool, array, &ranges, items)
            })?;
            return Ok(nd);
        }
        // As many rows of chunks as the source reads well at once.
        let step = (source.chunk_nbytes().min(MOST_HELD) / chunks).max(1).saturating_mul(side);
        let mut at = 0u64;
        NdArray::from_rows(frame, spec, step, &mut |buffer| {
            source.read_plain(pool, at, buffer)?;
            at = at.saturating_add(buffer.len() as u64);
            Ok(())
        })
    }

    /// An array of what `read` delivers, called with buffers of `step` rows, a multiple of a chunk's.
    fn from_rows(
        frame: SuperChunk<'a>,
        spec: &Spec,
        step: u64,
        read: &mut dyn FnMut(&mut [u8]) -> Result<(), Error>,
    ) -> Result<NdArray<'a>, Error> {
        let mut nd = NdArray::start(frame, spec)?;
        let geometry = nd.geometry;
        let Some(rows) = geometry.shape().first().copied().filter(|_| geometry.items() > 0) else {
            let mut item = super::read::zeroed(usize::try_from(geometry.nbytes()).unwrap_or(0))?;
            read(&mut item)?;
            nd.append_chunks(&geometry, &item)?;
            return Ok(nd);
        };
        let row = geometry.nbytes() / rows;
        let (mut start, mut buf) = (0, Vec::new());
        while start < rows {
            let n = step.min(rows.saturating_sub(start));
            let mut shape = *geometry.shape();
            if let Some(first) = shape.first_mut() {
                *first = n;
            }
            let len = usize::try_from(row.saturating_mul(n)).map_err(|_| crate::IoKind::OutOfMemory)?;
            fit(&mut buf, len)?;
            read(&mut buf)?;
            nd.append_chunks(&geometry.with_shape(&shape)?, &buf)?;
            start = start.saturating_add(n);
        }
        Ok(nd)
    }

    /// Appends all chunks of an array `data` of this geometry.
    fn append_chunks(&mut self, geometry: &Geometry, data: &[u8]) -> Result<(), Error> {
        let all = Selection::all(geometry.shape());
        let mut walk = all.walk(geometry);
        while let Some(touched) = walk.next() {
            // Where the data lies as the chunk shall be, it is encoded from there.
            if let Some(chunk) = contiguous(&touched, geometry).and_then(|range| data.get(range)) {
                self.frame.append_data(chunk)?;
                continue;
            }
            let mut chunk = core::mem::take(&mut self.scratch);
            lay_out(&touched, geometry, data, &mut chunk)?;
            self.frame.append_data(&chunk)?;
            self.scratch = chunk;
        }
        Ok(())
    }

    /// Appends all chunks, their items made by `make(start, count, box)`: a box of `count` items per
    /// axis from `start` on, in C order.
    fn fill(
        &mut self,
        mut make: impl FnMut(&Dims<u64>, &Dims<u64>, &mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let geometry = self.geometry;
        let mut items = Vec::new();
        for chunk in 0..geometry.nchunks() {
            let (start, count) = geometry.chunk_region(chunk);
            let bytes = count.iter().fold(u64::from(geometry.typesize()), |n, c| n.saturating_mul(*c));
            fit(&mut items, usize::try_from(bytes).map_err(|_| crate::IoKind::OutOfMemory)?)?;
            make(&start, &count, &mut items)?;
            self.append_chunks(&geometry.with_shape(&count)?, &items)?;
        }
        Ok(())
    }

    /// A copy of `source` with the chunks, blocks and parameters of `spec`, whose shape and item size
    /// must be those of the source. Chunks that need not change are copied as they are. Metalayers are
    /// carried over.
    ///
    /// # Errors
    /// Another shape or item size, and whatever chunks can be.
    pub fn copy(frame: SuperChunk<'a>, spec: &Spec, source: &mut NdArray<'_>) -> Result<NdArray<'a>, Error> {
        same_items(spec, source)?;
        if spec.geometry().shape() != source.shape() {
            return Err(other_shape(spec));
        }
        let mut nd = NdArray::start(frame, spec)?;
        nd.take_metalayers(source)?;
        if nd.geometry != source.geometry {
            nd.fill(|start, count, out| {
                let selection = Selection::region(source.shape(), start, count)?;
                source.get_into(&selection, out)
            })?;
        } else if nd.frame.params() == source.frame.params() {
            nd.frame.append_from(&mut source.frame)?;
        } else {
            nd.frame.recompress_from(&mut source.frame)?;
        }
        Ok(nd)
    }

    /// Metalayers and vlmetalayers of the user's.
    fn take_metalayers(&mut self, source: &mut NdArray<'_>) -> Result<(), Error> {
        let names: Vec<_> = source.frame.metalayer_names().collect();
        for name in names.iter().filter(|n| **n != metalayer::NAME && **n != metalayer::NAME_CATERVA) {
            let content = source.frame.metalayer(name).map(<[u8]>::to_vec).unwrap_or_default();
            self.frame.set_metalayer(name, &content)?;
        }
        let names: Vec<_> = source.frame.vlmetalayer_names().collect();
        for name in names {
            let content = source.frame.vlmetalayer(&name)?.unwrap_or_default();
            self.frame.set_vlmetalayer(&name, &content)?;
        }
        Ok(())
    }

    /// `source` with its axes in another order: axis `d` of the result is axis `axes[d]` of the source.
    ///
    /// # Errors
    /// `axes` that are no permutation, a shape in `spec` that does not follow from it, another item
    /// size, and whatever chunks can be.
    pub fn transpose(
        frame: SuperChunk<'a>,
        spec: &Spec,
        source: &mut NdArray<'_>,
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
            transpose(&part, &shape, axes, source.geometry.typesize(), out);
            Ok(())
        })?;
        Ok(nd)
    }

    /// The arrays one after the other along `axis`.
    ///
    /// # Errors
    /// A shape in `spec` that is not theirs put together, another item size, and whatever chunks can be.
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
                    interleave(&part, count, axis, at..at.saturating_add(shape.at(axis)), out);
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
                interleave(&part, count, axis, k..k.saturating_add(1), out);
            }
            Ok(())
        })?;
        Ok(nd)
    }

    /// `source` without its axes of one item; `spec` has the shape that is left.
    ///
    /// # Errors
    /// A shape in `spec` that is not that one, another item size, and whatever chunks can be.
    pub fn squeeze(
        frame: SuperChunk<'a>,
        spec: &Spec,
        source: &mut NdArray<'_>,
    ) -> Result<NdArray<'a>, Error> {
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
fn interleave(part: &[u8], count: &Dims<u64>, axis: usize, at: Range<u64>, out: &mut [u8]) {
    let outer: u64 = count.iter().take(axis).product();
    let side = count.at(axis).max(1) as usize;
    let row = out.len().checked_div((outer.max(1) as usize).saturating_mul(side)).unwrap_or(0);
    let (skip, width) = (at.start as usize * row, (at.end.saturating_sub(at.start)) as usize * row);
    if width == 0 {
        return;
    }
    for (to, from) in out.chunks_exact_mut(side.saturating_mul(row)).zip(part.chunks_exact(width)) {
        if let Some(to) = to.get_mut(skip..skip.saturating_add(width)) {
            to.copy_from_slice(from);
        }
    }
}

fn same_items(spec: &Spec, source: &NdArray<'_>) -> Result<(), Error> {
    if spec.geometry().typesize() == source.geometry.typesize() {
        return Ok(());
    }
    let value = source.geometry.typesize().into();
    Err(Error::Param { name: "item size", value, allowed: "that of the new array" })
}

fn other_shape(spec: &Spec) -> Error {
    Error::Param {
        name: "shape of the new array",
        value: spec.geometry().ndim() as i64,
        allowed: "the shape that follows from the arrays it is made of",
    }
}

/// Where in the data the chunk lies, if it lies there as it is stored.
fn contiguous(touched: &Touched<'_>, geometry: &Geometry) -> Option<Range<usize>> {
    if touched.nblocks() != u64::from(geometry.nblocks()) {
        return None;
    }
    let mut whole: Option<Range<usize>> = None;
    for block in touched.blocks() {
        let (from, range) = block.dense(geometry, touched.counts())?;
        if from != (0..geometry.block_bytes() as usize) {
            return None;
        }
        whole = match whole {
            None => Some(range),
            Some(before) if before.end == range.start => Some(before.start..range.end),
            Some(_) => return None,
        };
    }
    whole
}

/// Makes `chunk` the touched chunk of a dense array `data`, with zeros where the array has no items.
fn lay_out(
    touched: &Touched<'_>,
    geometry: &Geometry,
    data: &[u8],
    chunk: &mut Vec<u8>,
) -> Result<(), Error> {
    fit(chunk, geometry.chunk_bytes() as usize)?;
    chunk.fill(0);
    scatter(touched, geometry, data, chunk);
    Ok(())
}

/// Copies the touched items from `data` into their blocks.
pub(super) fn scatter(touched: &Touched<'_>, geometry: &Geometry, data: &[u8], chunk: &mut [u8]) {
    let size = geometry.block_bytes() as usize;
    for block in touched.blocks() {
        let start = (block.block as usize).saturating_mul(size);
        let to = chunk.get_mut(start..start.saturating_add(size)).unwrap_or(&mut []);
        block.copies(geometry, touched.counts(), |s| s.scatter(to, data));
    }
}

/// Copies the touched items of a decoded chunk to a dense result.
pub(super) fn gather(touched: &Touched<'_>, geometry: &Geometry, chunk: &[u8], out: &mut [u8]) {
    let size = geometry.block_bytes() as usize;
    for block in touched.blocks() {
        let start = (block.block as usize).saturating_mul(size);
        let from = chunk.get(start..start.saturating_add(size)).unwrap_or(&[]);
        block.copies(geometry, touched.counts(), |s| s.gather(from, out, 0));
    }
}
