//! Reading: slices, lists of indices, masks, single items. Only blocks that hold something wanted are
//! read and decoded.
//!
//! ```text
//! for each chunk touched:
//!     special        -> its value goes where its items go
//!     one block      -> decode it, copy its items out
//!     many blocks    -> the same, side by side: blocks whose items go to separate stretches of the
//!                       result own their stretch; blocks whose items interleave take turns to copy
//! ```

use super::array::{NdArray, Worker};
use super::dims::Dims;
use super::geometry::Geometry;
use super::select::{Block, Selection, Touched};
use crate::error::{Error, IoKind, Structure};
use crate::schunk::{Loaded, Wanted};
use alloc::vec::Vec;
use blosc_core::{Chunk, Pool, Special, Surroundings};
use core::ops::Range;

/// What a thread is worth starting for, in decoded bytes.
#[cfg(feature = "std")]
const PARALLEL_FROM: u64 = 128 << 10;

/// A box of items cut out of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Index of its first item.
    pub start: Dims<u64>,
    /// Items per axis.
    pub shape: Dims<u64>,
    /// The items in C order.
    pub data: Vec<u8>,
}

impl NdArray<'_> {
    /// The selected items, in C order of the selection's shape.
    ///
    /// # Errors
    /// `Limit` if that is more than the frame's limits allow, and whatever chunks can be.
    pub fn get(&mut self, selection: &Selection) -> Result<Vec<u8>, Error> {
        let limit = self.frame.limits().output;
        let asked = selection.items().saturating_mul(self.geometry.typesize().into());
        if asked > limit {
            return Err(Error::Limit { what: "bytes of output", asked, limit });
        }
        let len = usize::try_from(asked).map_err(|_| IoKind::NoSpace)?;
        let mut out = zeroed(len)?;
        self.gather(selection, &mut out, true)?;
        Ok(out)
    }

    /// The same into `out`, which must be exactly as long as the result.
    ///
    /// # Errors
    /// As [`NdArray::get`], and a length that does not fit.
    pub fn get_into(&mut self, selection: &Selection, out: &mut [u8]) -> Result<(), Error> {
        self.gather(selection, out, false)
    }

    /// The box of these ranges into `out`.
    ///
    /// # Errors
    /// As [`NdArray::get_into`], and ranges outside the array.
    pub fn get_slice(&mut self, ranges: &[Range<u64>], out: &mut [u8]) -> Result<(), Error> {
        let selection = Selection::ranges(self.shape(), ranges)?;
        self.gather(&selection, out, false)
    }

    /// All items.
    ///
    /// # Errors
    /// As [`NdArray::get`].
    pub fn get_all(&mut self) -> Result<Vec<u8>, Error> {
        self.get(&Selection::all(self.shape()))
    }

    /// One item into `out`, whose length is the item size. Only its block is decoded, and only that
    /// part of it if its codec allows.
    ///
    /// # Errors
    /// `OutOfRange` for an index outside the array, and whatever a chunk can be.
    pub fn get_item(&mut self, index: &[u64], out: &mut [u8]) -> Result<(), Error> {
        let (chunk, at) = self.address(index)?;
        let needed = self.geometry.typesize() as usize;
        check_len(needed as u64, out.len())?;
        self.frame.read_chunk_bytes(chunk, at..at.saturating_add(needed), out)?;
        Ok(())
    }

    /// Chunk and byte in the chunk where an item lies.
    pub(super) fn address(&self, index: &[u64]) -> Result<(u64, usize), Error> {
        let (chunk, block, item) = self.geometry.locate(index).ok_or(Error::OutOfRange {
            what: "index",
            index: index.first().copied().unwrap_or(0),
            len: self.shape().at(0),
        })?;
        // Both below 2^31: the geometry bounds the bytes of a chunk.
        let block = block.saturating_mul(self.geometry.block_bytes()) as usize;
        let item = item.saturating_mul(self.geometry.typesize()) as usize;
        Ok((chunk, block.saturating_add(item)))
    }

    /// The items at these positions of the flattened array (C order), in that order, repeats allowed.
    ///
    /// # Errors
    /// `OutOfRange` for a position outside the array, `Limit` as in [`NdArray::get`].
    pub fn get_flat(&mut self, positions: &[u64]) -> Result<Vec<u8>, Error> {
        let t = self.geometry.typesize() as usize;
        let limit = self.frame.limits().output;
        let asked = (positions.len() as u64).saturating_mul(t as u64);
        if asked > limit {
            return Err(Error::Limit { what: "bytes of output", asked, limit });
        }
        let mut out = zeroed(positions.len().saturating_mul(t))?;
        let places = self.addresses(positions)?;
        let block_bytes = (self.geometry.block_bytes() as usize).max(1);
        let mut block = Vec::new();
        for same in places.chunk_by(|a, b| a.0 == b.0 && a.1 / block_bytes == b.1 / block_bytes) {
            let Some((chunk, at, _)) = same.first() else { continue };
            let start = at / block_bytes * block_bytes;
            block.resize(block_bytes, 0);
            if let [(_, at, place)] = same {
                let place = place.saturating_mul(t);
                let to = out.get_mut(place..place.saturating_add(t)).unwrap_or(&mut []);
                self.frame.read_chunk_bytes(*chunk, *at..at.saturating_add(t), to)?;
                continue;
            }
            self.frame.read_chunk_bytes(*chunk, start..start.saturating_add(block_bytes), &mut block)?;
            for (_, at, place) in same {
                let from = at.saturating_sub(start);
                let place = place.saturating_mul(t);
                let to = out.get_mut(place..place.saturating_add(t));
                if let (Some(to), Some(from)) = (to, block.get(from..from.saturating_add(t))) {
                    to.copy_from_slice(from);
                }
            }
        }
        Ok(out)
    }

    /// The items where `mask`, one value per item in C order, is true; in C order.
    ///
    /// # Errors
    /// `Param` for a mask of another size, and as [`NdArray::get_flat`].
    pub fn get_mask(&mut self, mask: &[bool]) -> Result<Vec<u8>, Error> {
        let positions = self.mask_positions(mask)?;
        self.get_flat(&positions)
    }

    pub(super) fn mask_positions(&self, mask: &[bool]) -> Result<Vec<u64>, Error> {
        if mask.len() as u64 != self.geometry.items() {
            return Err(Error::Param {
                name: "mask length",
                value: mask.len() as i64,
                allowed: "one value per item of the array",
            });
        }
        Ok((0u64..).zip(mask).filter(|(_, set)| **set).map(|(i, _)| i).collect())
    }

    /// `(chunk, byte in the chunk, number in the list)` of flat positions, sorted.
    pub(super) fn addresses(&self, positions: &[u64]) -> Result<Vec<(u64, usize, usize)>, Error> {
        let mut places = Vec::with_capacity(positions.len());
        let len = self.geometry.items();
        for (n, position) in positions.iter().enumerate() {
            if *position >= len {
                return Err(Error::OutOfRange { what: "item", index: *position, len });
            }
            let mut index = *self.shape();
            let mut rest = *position;
            for side in index.iter_mut().rev() {
                let s = (*side).max(1);
                *side = rest % s;
                rest /= s;
            }
            let (chunk, at) = self.address(&index)?;
            places.push((chunk, at, n));
        }
        places.sort_unstable();
        Ok(places)
    }

    /// The items of chunk `chunk` that belong to the array.
    ///
    /// # Errors
    /// `OutOfRange` for a chunk that does not exist, and whatever chunks can be.
    pub fn get_chunk(&mut self, chunk: u64) -> Result<Region, Error> {
        let len = self.geometry.nchunks();
        if chunk >= len {
            return Err(Error::OutOfRange { what: "chunk", index: chunk, len });
        }
        let (start, count) = self.geometry.chunk_region(chunk);
        let data = self.get(&Selection::region(self.shape(), &start, &count)?)?;
        Ok(Region { start, shape: count, data })
    }

    /// Every block of chunk `chunk` as it is stored, padding included: `f(block, bytes)`.
    ///
    /// # Errors
    /// As [`NdArray::get_chunk`], and what `f` returns.
    pub fn for_each_block(
        &mut self,
        chunk: u64,
        mut f: impl FnMut(u32, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let size = (self.geometry.block_bytes() as usize).max(1);
        let data = self.decoded_chunk(chunk)?;
        let result = (0u32..).zip(data.chunks_exact(size)).try_for_each(|(n, block)| f(n, block));
        self.scratch = data;
        result
    }

    /// All of chunk `chunk` in the scratch buffer, which the caller puts back.
    pub(super) fn decoded_chunk(&mut self, chunk: u64) -> Result<Vec<u8>, Error> {
        let mut data = core::mem::take(&mut self.scratch);
        fit(&mut data, self.geometry.chunk_bytes() as usize)?;
        let n = self.frame.read_chunk_into(chunk, &mut data)?;
        if n != data.len() {
            return Err(wrong_chunk(chunk, n));
        }
        Ok(data)
    }

    /// Hands the array's bytes, in C order, to `f` in pieces of at most about `piece` bytes.
    ///
    /// # Errors
    /// What `f` returns, and whatever chunks can be.
    pub fn for_each_piece(
        &mut self,
        piece: u64,
        mut f: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let shape = *self.shape();
        if self.geometry.items() == 0 {
            return Ok(());
        }
        let Some(rows) = shape.first().copied() else {
            return f(&self.get_all()?);
        };
        let row = self.geometry.nbytes() / rows;
        // Whole rows of chunks if they fit, else whole rows of blocks, so that nothing is decoded twice.
        let (c, b) = (u64::from(self.geometry.chunks().at(0)), u64::from(self.geometry.blocks().at(0)));
        let fits = |n: u64| row.saturating_mul(n) <= piece;
        let step = if fits(c) { (piece / row.saturating_mul(c).max(1)).max(1).saturating_mul(c) } else { b };
        let step = step.max(1);
        let mut start = 0u64;
        let mut buf = Vec::new();
        while start < rows {
            // Blocks do not cross chunks: the last row of blocks of a chunk may be a short one.
            let mut end = start.saturating_add(step);
            if !fits(c) {
                end = end.min((start / c.max(1)).saturating_add(1).saturating_mul(c));
            }
            let end = end.min(rows);
            let mut ranges: Vec<Range<u64>> = shape.iter().map(|s| 0..*s).collect();
            if let Some(first) = ranges.first_mut() {
                *first = start..end;
            }
            let selection = Selection::ranges(&shape, &ranges)?;
            let len = row.saturating_mul(end.saturating_sub(start));
            fit(&mut buf, usize::try_from(len).map_err(|_| IoKind::NoSpace)?)?;
            self.gather(&selection, &mut buf, false)?;
            f(&buf)?;
            start = end;
        }
        Ok(())
    }

    /// Copies the selected items to `out`; `zeros` says that it holds nothing but zeros.
    fn gather(&mut self, selection: &Selection, out: &mut [u8], zeros: bool) -> Result<(), Error> {
        let asked = selection.items().saturating_mul(self.geometry.typesize().into());
        check_len(asked, out.len())?;
        let geometry = self.geometry;
        let mut walk = selection.walk(&geometry);
        while let Some(touched) = walk.next() {
            let wanted = touched.blocks();
            let wanted = wanted.map(|b| Wanted { block: b.block as usize, part: b.span(&geometry) });
            match self.frame.load_chunk(touched.chunk, wanted, touched.nblocks())? {
                Loaded::Special(Special::Zeros | Special::Uninit) if zeros => {}
                Loaded::Special(kind) => {
                    let block = special_block(kind, &geometry)?;
                    for b in touched.blocks() {
                        b.copies(&geometry, touched.counts(), |s| s.gather(&block, out, 0));
                    }
                }
                Loaded::Stored { chunk, around, at } => {
                    if chunk.nbytes() != geometry.chunk_bytes() as usize {
                        return Err(wrong_chunk(touched.chunk, chunk.nbytes()));
                    }
                    let source = Source { chunk, around, geometry: &geometry };
                    source.gather(&touched, &mut self.workers, out).map_err(|error| match error {
                        Failure::Core(error) => {
                            Error::Chunk { chunk: Some(touched.chunk), offset: at, error }
                        }
                        Failure::Memory => IoKind::NoSpace.into(),
                    })?;
                }
            }
        }
        Ok(())
    }
}

/// Why a block could not be decoded.
enum Failure {
    Core(blosc_core::Error),
    Memory,
}

impl From<blosc_core::Error> for Failure {
    fn from(error: blosc_core::Error) -> Failure {
        Failure::Core(error)
    }
}

/// A chunk to take blocks from; threads share it.
#[derive(Clone, Copy)]
struct Source<'s> {
    chunk: Chunk<'s>,
    around: Surroundings<'s>,
    geometry: &'s Geometry,
}

impl Source<'_> {
    fn gather(&self, touched: &Touched<'_>, workers: &mut [Worker], out: &mut [u8]) -> Result<(), Failure> {
        let header = self.chunk.header();
        if header.is_vl() || header.blocksize != self.geometry.block_bytes() {
            return self.gather_whole(touched, workers, out);
        }
        #[cfg(feature = "std")]
        {
            let bytes = touched.nblocks().saturating_mul(self.geometry.block_bytes().into());
            if workers.len() > 1 && touched.nblocks() > 1 && bytes >= PARALLEL_FROM {
                return self.gather_parallel(touched, workers, out);
            }
        }
        let Some(worker) = workers.first_mut() else { return Err(Failure::Memory) };
        touched.blocks().try_for_each(|block| self.decode(&block, touched, worker, out, 0))
    }

    /// Decodes one block and copies its items to `out`, which begins `skip` bytes into the result.
    fn decode(
        &self,
        block: &Block<'_>,
        touched: &Touched<'_>,
        worker: &mut Worker,
        out: &mut [u8],
        skip: usize,
    ) -> Result<(), Failure> {
        if let Some((from, to)) = block.dense(self.geometry, touched.counts()) {
            // It goes to one place as it is: decode it there.
            let start = to.start.checked_sub(skip);
            let to = start.and_then(|start| out.get_mut(start..)?.get_mut(..to.len()));
            if let Some(to) = to {
                return self.part(block.block, from, &mut worker.pool, to);
            }
        }
        self.decode_span(block, worker)?;
        block.copies(self.geometry, touched.counts(), |s| s.gather(&worker.block, out, skip));
        Ok(())
    }

    /// Decodes as much of a block as its wanted items span, to its place in the worker's buffer.
    fn decode_span(&self, block: &Block<'_>, worker: &mut Worker) -> Result<(), Failure> {
        let Worker { pool, block: buf } = worker;
        fit(buf, self.geometry.block_bytes() as usize).map_err(|_| Failure::Memory)?;
        let span = block.span(self.geometry);
        self.part(block.block, span.clone(), pool, buf.get_mut(span).unwrap_or(&mut []))
    }

    /// Decodes bytes `range` of a block.
    fn part(&self, block: u32, range: Range<usize>, pool: &mut Pool, out: &mut [u8]) -> Result<(), Failure> {
        let size = self.geometry.block_bytes() as usize;
        if range.len() == size {
            pool.decode_block(&self.chunk, self.around, block as usize, out)?;
        } else {
            let start = (block as usize).saturating_mul(size);
            let range = start.saturating_add(range.start)..start.saturating_add(range.end);
            pool.get_bytes(&self.chunk, self.around, range, out)?;
        }
        Ok(())
    }

    /// For chunks whose own blocks are not those of the array.
    fn gather_whole(
        &self,
        touched: &Touched<'_>,
        workers: &mut [Worker],
        out: &mut [u8],
    ) -> Result<(), Failure> {
        let Some(worker) = workers.first_mut() else { return Err(Failure::Memory) };
        fit(&mut worker.block, self.chunk.nbytes()).map_err(|_| Failure::Memory)?;
        worker.pool.decompress_into(&self.chunk, self.around, &mut worker.block)?;
        super::create::gather(touched, self.geometry, &worker.block, out);
        Ok(())
    }

    #[cfg(feature = "std")]
    fn gather_parallel(
        &self,
        touched: &Touched<'_>,
        workers: &mut [Worker],
        out: &mut [u8],
    ) -> Result<(), Failure> {
        use std::sync::Mutex;

        let (jobs, out) = match stretches(touched, self.geometry, out) {
            Ok(jobs) => (jobs, &mut [][..]),
            // The items of different blocks interleave.
            Err(out) => {
                let each = touched.blocks().map(|block| Job { blocks: alloc::vec![block], own: None });
                (each.collect(), out)
            }
        };
        let shared = Mutex::new(out);
        let queue = Mutex::new(jobs.into_iter());
        let run = |worker: &mut Worker| -> Result<(), Failure> {
            loop {
                let Some(job) = queue.lock().map_err(|_| Failure::Memory)?.next() else { return Ok(()) };
                match job.own {
                    Some((own, skip)) => {
                        for block in &job.blocks {
                            self.decode(block, touched, worker, own, skip)?;
                        }
                    }
                    None => {
                        for block in &job.blocks {
                            self.decode_span(block, worker)?;
                            let mut out = shared.lock().map_err(|_| Failure::Memory)?;
                            block.copies(self.geometry, touched.counts(), |s| {
                                s.gather(&worker.block, &mut out, 0)
                            });
                        }
                    }
                }
            }
        };
        let Some((here, others)) = workers.split_first_mut() else { return Err(Failure::Memory) };
        std::thread::scope(|scope| {
            let threads: Vec<_> = others
                .iter_mut()
                .take(usize::try_from(touched.nblocks()).unwrap_or(usize::MAX).saturating_sub(1))
                .map(|worker| scope.spawn(|| run(worker)))
                .collect();
            let mut result = run(here);
            for thread in threads {
                result = thread.join().unwrap_or(Err(Failure::Memory)).and(result);
            }
            result
        })
    }
}

/// Blocks whose items fill a stretch of the result that no other block touches.
#[cfg(feature = "std")]
struct Job<'j, 'o> {
    blocks: Vec<Block<'j>>,
    /// The stretch, and where it begins in the result.
    own: Option<(&'o mut [u8], usize)>,
}

/// Cuts the result into stretches, or gives it back if there would be fewer than two.
#[cfg(feature = "std")]
fn stretches<'j, 'o>(
    touched: &Touched<'j>,
    geometry: &Geometry,
    out: &'o mut [u8],
) -> Result<Vec<Job<'j, 'o>>, &'o mut [u8]> {
    let mut blocks: Vec<(Range<usize>, Block<'j>)> =
        touched.blocks().map(|b| (b.extent(geometry, touched.counts()), b)).collect();
    blocks.sort_by_key(|(extent, _)| extent.start);
    let mut merged: Vec<(Range<usize>, Vec<Block<'j>>)> = Vec::new();
    for (extent, block) in blocks {
        match merged.last_mut() {
            Some((last, list)) if extent.start < last.end => {
                last.end = last.end.max(extent.end);
                list.push(block);
            }
            _ => merged.push((extent, alloc::vec![block])),
        }
    }
    if merged.len() < 2 {
        return Err(out);
    }
    let mut jobs = Vec::with_capacity(merged.len());
    let (mut rest, mut at) = (out, 0usize);
    for (extent, blocks) in merged {
        // Extents are sorted, apart from each other and inside the result.
        let gap = extent.start.saturating_sub(at);
        let (_, tail) = rest.split_at_mut_checked(gap).unwrap_or_default();
        let (own, tail) = tail.split_at_mut_checked(extent.len()).unwrap_or_default();
        jobs.push(Job { blocks, own: Some((own, extent.start)) });
        rest = tail;
        at = extent.end;
    }
    Ok(jobs)
}

fn wrong_chunk(chunk: u64, nbytes: usize) -> Error {
    Error::Invalid {
        structure: Structure::Chunk,
        field: "nbytes (the array's chunks have another size)",
        offset: chunk,
        value: nbytes as i64,
    }
}

pub(super) fn check_len(needed: u64, given: usize) -> Result<(), Error> {
    if needed == given as u64 {
        return Ok(());
    }
    let allowed = "as many as the shape and the item size demand";
    Err(Error::Param { name: "number of bytes", value: given as i64, allowed })
}

/// A block of a special chunk.
fn special_block(kind: Special, geometry: &Geometry) -> Result<Vec<u8>, Error> {
    let mut block = zeroed(geometry.block_bytes() as usize)?;
    crate::cframe::view::fill_special(kind, geometry.typesize(), 0, &mut block)?;
    Ok(block)
}

/// `len` zero bytes, or an error if there is no memory for them.
pub(super) fn zeroed(len: usize) -> Result<Vec<u8>, Error> {
    // Asked for and given back: `vec!` takes pages the system has zeroed, but cannot fail gently.
    drop({
        let mut probe: Vec<u8> = Vec::new();
        probe.try_reserve_exact(len).map_err(|_| IoKind::NoSpace)?;
        probe
    });
    Ok(alloc::vec![0; len])
}

/// Makes `buf` exactly `len` bytes long; what is in it is not kept.
pub(super) fn fit(buf: &mut Vec<u8>, len: usize) -> Result<(), Error> {
    buf.try_reserve(len.saturating_sub(buf.len())).map_err(|_| IoKind::NoSpace)?;
    buf.resize(len, 0);
    Ok(())
}
