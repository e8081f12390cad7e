//! New arrays: from data, from a stream, or filled with one value. `from_arrays.rs` makes them from other arrays.
//!
//! ```text
//! for each chunk of the new array, in order:
//!     get its items as a dense box         from the data or the stream
//!     lay them out block by block, zeros in the padding
//!     append the chunk
//! ```

use super::array::NdArray;
use super::layout::Layout;
use super::room::{check_len, fit};
use super::select::Selection;
use super::spec::Spec;
use super::walk::{Touched, contiguous, scatter};
use crate::error::Error;
use crate::plain::{MOST_HELD, Plain};
use crate::schunk::SuperChunk;
use crate::shape::{Dims, Geometry};
use alloc::vec::Vec;
use blosc_core::{Pool, Special};
use core::ops::Range;

impl<'a> NdArray<'a> {
    /// An array without chunks yet, in a frame without chunks.
    pub(super) fn start(mut frame: SuperChunk<'a>, spec: &Spec) -> Result<NdArray<'a>, Error> {
        spec.check().map_err(Error::Codec)?;
        let geometry = *spec.geometry();
        if frame.nchunks() > 0 || frame.typesize() != geometry.typesize() {
            return Err(Error::Param {
                name: "chunks in the frame of a new array",
                value: i64::try_from(frame.nchunks()).unwrap_or(i64::MAX),
                allowed: "none, in a frame made with Spec::params",
            });
        }
        let layout = Layout::new(geometry, spec.dtype());
        frame.set_metalayer(layout.name(), &layout.to_bytes()?)?;
        for (name, content) in spec.metalayers() {
            frame.set_metalayer(name, content)?;
        }
        if geometry.chunk_bytes() > 0 {
            frame.set_chunksize(geometry.chunk_bytes())?;
        }
        Ok(NdArray::with(frame, layout))
    }

    /// An array of zeros, in a frame without chunks made with [`Spec::params`]. Takes no space.
    ///
    /// # Errors
    /// A frame that has chunks, or another item size.
    pub fn zeros(frame: SuperChunk<'a>, spec: &Spec) -> Result<NdArray<'a>, Error> {
        NdArray::special(frame, spec, Special::Zeros)
    }

    /// An array whose items have not been set; here they read as zeros, elsewhere perhaps as anything.
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
        let bytes = nd.layout.geometry.nchunks().saturating_mul(nd.layout.geometry.chunk_bytes().into());
        if bytes > 0 {
            nd.edit().fill_special(kind, bytes)?;
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
        let geometry = nd.layout.geometry;
        let chunk_items = u64::from(geometry.chunk_bytes() / geometry.typesize());
        let items = geometry.nchunks().saturating_mul(chunk_items);
        if items > 0 {
            nd.edit().fill_value(item, items)?;
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
        let geometry = nd.layout.geometry;
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
        let geometry = nd.layout.geometry;
        let Some(rows) = geometry.shape().first().copied().filter(|_| geometry.items() > 0) else {
            let mut item = super::room::zeroed(usize::try_from(geometry.nbytes()).unwrap_or(0))?;
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
            let len =
                usize::try_from(row.saturating_mul(n)).map_err(|_| crate::error::IoKind::OutOfMemory)?;
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
            if let Some(chunk) =
                contiguous(&touched, geometry, geometry.shape()).and_then(|range| data.get(range))
            {
                self.edit().append_data(chunk)?;
                continue;
            }
            let mut chunk = core::mem::take(&mut self.scratch);
            lay_out(&touched, geometry, data, &mut chunk)?;
            self.edit().append_data(&chunk)?;
            self.scratch = chunk;
        }
        Ok(())
    }

    /// Appends all chunks, their items made by `make(start, count, box)`: a box of `count` items per
    /// axis from `start` on, in C order.
    pub(super) fn fill(
        &mut self,
        mut make: impl FnMut(&Dims<u64>, &Dims<u64>, &mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let geometry = self.layout.geometry;
        let mut items = Vec::new();
        for chunk in 0..geometry.nchunks() {
            let (start, count) = geometry.chunk_region(chunk);
            let bytes = count.iter().fold(u64::from(geometry.typesize()), |n, c| n.saturating_mul(*c));
            fit(&mut items, usize::try_from(bytes).map_err(|_| crate::error::IoKind::OutOfMemory)?)?;
            make(&start, &count, &mut items)?;
            self.append_chunks(&geometry.with_shape(&count)?, &items)?;
        }
        Ok(())
    }
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
    scatter(touched, geometry, geometry.shape(), data, chunk);
    Ok(())
}
