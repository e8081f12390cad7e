//! Copying selected items out of their chunks, on one thread or on several.
//!
//! ```text
//! for each chunk touched:
//!     special        -> its value goes where its items go
//!     one block      -> decode it, copy its items out
//!     many blocks    -> the same, side by side: blocks whose items go to separate stretches of the
//!                       result own their stretch; blocks whose items interleave take turns to copy
//!
//! several threads, over all chunks:
//!     many parts of the selection without a chunk in common -> each thread takes parts
//!     decoding costs far more than copying -> each thread walks the selection and takes the next blocks
//! ```

use super::room::fit;
use super::select::Selection;
use super::walk::{Block, Touched, contiguous};
use crate::error::Error;
#[cfg(feature = "std")]
use crate::parallel;
use crate::schunk::{Loaded, Shared, Stored, Wanted, has_blocks_of};
use crate::shape::Geometry;
use alloc::vec::Vec;
use blosc_core::{Codec, Field, Header as ChunkHeader, Pool, Special};
use core::ops::Range;
#[cfg(feature = "std")]
use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(feature = "std")]
use std::sync::{Mutex, PoisonError};

/// What a thread needs to decode blocks.
pub(super) struct Worker {
    pub(super) pool: Pool,
    /// What is read of a chunk, and a block of it.
    pub(super) read: Vec<u8>,
    pub(super) block: Vec<u8>,
}

impl Worker {
    pub(super) fn new() -> Worker {
        Worker { pool: Pool::new(1), read: Vec::new(), block: Vec::new() }
    }

    /// One for each of `threads` threads.
    pub(super) fn crew(threads: usize) -> Vec<Worker> {
        core::iter::repeat_with(Worker::new).take(threads).collect()
    }
}

/// The chunks of an array; threads share them.
#[derive(Clone, Copy)]
pub(super) struct Chunks<'s> {
    pub(super) frame: Shared<'s>,
    pub(super) geometry: &'s Geometry,
    /// Whether results hold nothing but zeros beforehand.
    pub(super) zeros: bool,
}

impl Chunks<'_> {
    /// Copies the selected items to `out`, on as many threads as there are workers if it is worth it.
    pub(super) fn gather_all(
        self,
        selection: &Selection,
        codec: Codec,
        workers: &mut [Worker],
        out: &mut [u8],
    ) -> Result<(), Error> {
        #[cfg(feature = "std")]
        if workers.len() > 1 {
            let threads = workers.len() as u64;
            let blocks = selection.nblocks(self.geometry);
            let bytes = blocks.saturating_mul(self.geometry.block_bytes().into());
            if parallel::worth(codec, bytes) {
                let parts = selection.cut(self.geometry, threads.saturating_mul(8));
                // Fewer may leave one thread with most of the work.
                let many = parts.len() as u64 >= threads.saturating_mul(4);
                let slow = matches!(codec, Codec::Zstd | Codec::Zlib);
                if !many && (slow || out.len() as u64 <= bytes / 8) {
                    return self.gather_by_turns(selection, blocks, workers, out);
                }
                if parts.len() > 1 {
                    return self.gather_parts(parts, workers, out);
                }
            }
        }
        let _ = codec;
        self.gather(selection, workers, out)
    }

    /// Every thread walks the selection; who comes first takes the next blocks, of which there are about
    /// `blocks`. They take turns to copy.
    #[cfg(feature = "std")]
    fn gather_by_turns(
        self,
        selection: &Selection,
        blocks: u64,
        workers: &mut [Worker],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let threads = workers.len() as u64;
        let share = blocks.checked_div(threads.saturating_mul(8)).unwrap_or(0).clamp(1, 64);
        let next = AtomicU64::new(0);
        let out = Mutex::new(out);
        parallel::each(workers, 0..threads, |worker, _| {
            let claim = || {
                let first = next.fetch_add(share, Ordering::Relaxed);
                first..first.saturating_add(share)
            };
            let mut read = core::mem::take(&mut worker.read);
            let mut mine = claim();
            // Number of the first block of the touched chunk.
            let mut first = 0u64;
            let mut walk = selection.walk(self.geometry);
            while let Some(touched) = walk.next() {
                let end = first.saturating_add(touched.nblocks());
                while mine.start < end {
                    let now = mine.start.saturating_sub(first)..mine.end.min(end).saturating_sub(first);
                    self.gather_some(&touched, now, worker, &mut read, &out)?;
                    if mine.end > end {
                        mine.start = end;
                    } else {
                        mine = claim();
                    }
                }
                first = end;
            }
            worker.read = read;
            Ok(())
        })
    }

    /// Copies the items of the touched blocks number `which` to `out`.
    #[cfg(feature = "std")]
    fn gather_some(
        self,
        touched: &Touched<'_>,
        which: Range<u64>,
        worker: &mut Worker,
        read: &mut Vec<u8>,
        out: &Mutex<&mut [u8]>,
    ) -> Result<(), Error> {
        let geometry = self.geometry;
        let count = which.end.saturating_sub(which.start);
        let blocks = || which.clone().filter_map(|n| touched.block(n));
        let put = |block: &Block<'_>, data: &[u8]| {
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            block.copies(geometry, touched.counts(), |s| s.gather(data, &mut out, 0));
        };
        let wanted = blocks().map(|b| Wanted { block: b.block as usize, part: b.span(geometry) });
        match self.frame.load(touched.chunk, |header| (wanted, self.count(header, count)), read)? {
            Loaded::Special(Special::Zeros | Special::Uninit) if self.zeros => {}
            Loaded::Special(kind) => {
                let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                for block in blocks() {
                    block.fill(geometry, touched.counts(), kind, &mut out)?;
                }
            }
            Loaded::Stored(stored) => {
                let source = Source::new(touched.chunk, stored, geometry)?;
                if !source.has_own_blocks() {
                    for block in blocks() {
                        source.decode_span(&block, worker)?;
                        put(&block, &worker.block);
                    }
                    return Ok(());
                }
                let size = geometry.block_bytes() as usize;
                source.decode_whole(worker)?;
                for block in blocks() {
                    let start = (block.block as usize).saturating_mul(size);
                    put(&block, worker.block.get(start..start.saturating_add(size)).unwrap_or(&[]));
                }
            }
        }
        Ok(())
    }

    /// How many of its blocks a chunk is loaded for: all where they are not those of the array, as then all are decoded.
    fn count(self, header: &ChunkHeader, count: u64) -> u64 {
        if has_blocks_of(header, self.geometry.block_bytes()) { count } else { u64::MAX }
    }

    /// Copies the selected items to `out`, one chunk after the other.
    pub(super) fn gather(
        self,
        selection: &Selection,
        workers: &mut [Worker],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let mut buf = workers.first_mut().map(|first| core::mem::take(&mut first.read)).unwrap_or_default();
        let result = self.gather_with(selection, workers, &mut buf, out);
        if let Some(first) = workers.first_mut() {
            first.read = buf;
        }
        result
    }

    fn gather_with(
        self,
        selection: &Selection,
        workers: &mut [Worker],
        buf: &mut Vec<u8>,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let geometry = self.geometry;
        let mut walk = selection.walk(geometry);
        while let Some(touched) = walk.next() {
            let wanted = touched.blocks();
            let wanted = wanted.map(|b| Wanted { block: b.block as usize, part: b.span(geometry) });
            let count = touched.nblocks();
            match self.frame.load(touched.chunk, |header| (wanted, self.count(header, count)), buf)? {
                Loaded::Special(Special::Zeros | Special::Uninit) if self.zeros => {}
                Loaded::Special(kind) => {
                    for block in touched.blocks() {
                        block.fill(geometry, touched.counts(), kind, out)?;
                    }
                }
                Loaded::Stored(stored) => {
                    let source = Source::new(touched.chunk, stored, geometry)?;
                    source.gather(&touched, workers, out)?;
                }
            }
        }
        Ok(())
    }

    /// Copies the items of selections whose results follow each other to `out`, side by side.
    #[cfg(feature = "std")]
    fn gather_parts(
        self,
        parts: Vec<Selection>,
        workers: &mut [Worker],
        mut out: &mut [u8],
    ) -> Result<(), Error> {
        let mut jobs = Vec::with_capacity(parts.len());
        for part in parts {
            let len = part.items().saturating_mul(self.geometry.typesize().into());
            let len = usize::try_from(len).map_err(|_| Error::OutOfMemory)?;
            let (own, rest) = core::mem::take(&mut out).split_at_mut_checked(len).unwrap_or_default();
            jobs.push((part, own));
            out = rest;
        }
        let threads = workers.len().min(jobs.len());
        let workers = workers.get_mut(..threads).unwrap_or_default();
        parallel::each(workers, jobs.into_iter(), |worker, (part, own)| {
            self.gather(&part, core::slice::from_mut(worker), own)
        })
    }
}

/// A chunk to take blocks from; threads share it.
#[derive(Clone, Copy)]
struct Source<'s> {
    stored: Stored<'s>,
    geometry: &'s Geometry,
}

impl<'s> Source<'s> {
    /// Chunk number `k`, which must be as large as the array's chunks are.
    fn new(k: u64, stored: Stored<'s>, geometry: &'s Geometry) -> Result<Source<'s>, Error> {
        let found = stored.chunk.nbytes();
        if found == geometry.chunk_bytes() as usize {
            Ok(Source { stored, geometry })
        } else {
            Err(wrong_chunk(k, stored.at, found))
        }
    }

    /// Whether its blocks are not those of the array.
    fn has_own_blocks(&self) -> bool {
        !has_blocks_of(self.stored.chunk.header(), self.geometry.block_bytes())
    }

    fn gather(&self, touched: &Touched<'_>, workers: &mut [Worker], out: &mut [u8]) -> Result<(), Error> {
        #[cfg(feature = "std")]
        {
            let bytes = touched.nblocks().saturating_mul(self.geometry.block_bytes().into());
            let worth = parallel::worth(self.stored.chunk.header().codec, bytes);
            if workers.len() > 1 && touched.nblocks() > 1 && worth && !self.has_own_blocks() {
                return self.gather_parallel(touched, workers, out);
            }
        }
        let Some(worker) = workers.first_mut() else {
            return Err(Error::Internal { what: "an array without workers" });
        };
        let whole = out.len();
        if let Some(place) = contiguous(touched, self.geometry, touched.counts())
            && let Some(place) = out.get_mut(place).filter(|place| place.len() == self.stored.chunk.nbytes())
        {
            return self.stored.decode(&mut worker.pool, place, whole).map(drop);
        }
        if self.has_own_blocks() {
            self.decode_whole(worker)?;
            super::walk::gather(touched, self.geometry, touched.counts(), &worker.block, out);
            return Ok(());
        }
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
    ) -> Result<(), Error> {
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
    fn decode_span(&self, block: &Block<'_>, worker: &mut Worker) -> Result<(), Error> {
        let Worker { pool, block: buf, .. } = worker;
        fit(buf, self.geometry.block_bytes() as usize)?;
        let span = block.span(self.geometry);
        self.part(block.block, span.clone(), pool, buf.get_mut(span).unwrap_or(&mut []))
    }

    /// Decodes bytes `range` of a block.
    fn part(&self, block: u32, range: Range<usize>, pool: &mut Pool, out: &mut [u8]) -> Result<(), Error> {
        let size = self.geometry.block_bytes() as usize;
        if range.len() == size {
            self.stored.block(pool, block as usize, out)?;
        } else {
            let start = (block as usize).saturating_mul(size);
            let range = start.saturating_add(range.start)..start.saturating_add(range.end);
            self.stored.bytes(pool, range, out)?;
        }
        Ok(())
    }

    /// Decodes the whole chunk to the worker's buffer.
    fn decode_whole(&self, worker: &mut Worker) -> Result<(), Error> {
        fit(&mut worker.block, self.stored.chunk.nbytes())?;
        self.stored.decode(&mut worker.pool, &mut worker.block, 0).map(drop)
    }

    #[cfg(feature = "std")]
    fn gather_parallel(
        &self,
        touched: &Touched<'_>,
        workers: &mut [Worker],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let (jobs, out) = match stretches(touched, self.geometry, out) {
            Ok(jobs) => (jobs, &mut [][..]),
            // The items of different blocks interleave.
            Err(out) => {
                let each = touched.blocks().map(|block| Job { blocks: alloc::vec![block], own: None });
                (each.collect(), out)
            }
        };
        let shared = Mutex::new(out);
        let threads = workers.len().min(jobs.len());
        let workers = workers.get_mut(..threads).unwrap_or_default();
        parallel::each(workers, jobs.into_iter(), |worker, job| {
            match job.own {
                Some((own, skip)) => {
                    for block in &job.blocks {
                        self.decode(block, touched, worker, own, skip)?;
                    }
                }
                None => {
                    for block in &job.blocks {
                        self.decode_span(block, worker)?;
                        let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        block.copies(self.geometry, touched.counts(), |s| {
                            s.gather(&worker.block, &mut out, 0)
                        });
                    }
                }
            }
            Ok(())
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

/// The answer to chunk `chunk`, at byte `at`, whose size is not that of the array's chunks.
pub(super) fn wrong_chunk(chunk: u64, at: u64, nbytes: usize) -> Error {
    let error = blosc_core::Error::Invalid { field: Field::Nbytes, offset: 4, value: nbytes as i64 };
    Error::Chunk { chunk: Some(chunk), offset: at, error }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::super::model::{self, Random};
    use super::super::{Cache, Dtype, NdArray, Spec, Take};
    use super::*;
    use crate::SuperChunk;
    use alloc::vec;
    use blosc_core::Params;

    /// Threads and kept blocks on random arrays; here no request is too small for them.
    #[test]
    fn threads_and_kept_blocks_change_nothing() {
        let mut r = Random::new(11);
        // Twelve have every codec with every kind of chunk.
        for round in 0..if model::emulated() { 12 } else { 60 } {
            let g = r.geometry();
            let t = g.typesize() as usize;
            let codec = [Codec::Zstd, Codec::Zlib, Codec::Lz4, Codec::Lz4Hc][round % 4];
            let params = Params::new(g.typesize()).codec(codec).level(1).shuffle();
            let spec = Spec::new(g.shape(), Dtype::opaque(g.typesize())).unwrap().params_from(&params);
            let spec = spec.chunks(g.chunks()).unwrap().blocks(g.blocks()).unwrap();
            // Zeros at the start make special chunks, a change of block size blocks that are not the array's.
            let mut dense: Vec<u8> = r.bytes(g.nbytes() as usize).iter().map(|b| b % 5).collect();
            let third = dense.len() / 3;
            dense[..third].fill(0);
            let mut nd =
                NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &dense).unwrap();
            if round % 3 == 0 && g.nchunks() > 1 {
                let last = g.nchunks() - 1;
                let whole = nd.frame_mut().read_chunk(last).unwrap();
                let own = (64 * g.typesize()).min(g.chunk_bytes());
                let chunk = Pool::new(1).compress(&params.blocksize(Some(own)), &whole).unwrap();
                nd.frame_mut().update_chunk(last, &chunk).unwrap();
            }
            for threads in 1..4 {
                nd.set_threads(threads);
                nd.set_cache(Cache::new([0, 1 << 12, 1 << 20][r.below(3) as usize]));
                for _ in 0..6 {
                    let (takes, lists): (Vec<Take>, Vec<Vec<u64>>) =
                        g.shape().iter().map(|s| r.take(*s)).unzip();
                    if lists.iter().map(Vec::len).product::<usize>() * t > 50_000 {
                        continue;
                    }
                    let selection = Selection::new(g.shape(), &takes).unwrap();
                    let want = model::take(&dense, g.shape(), &lists, t);
                    for _ in 0..3 {
                        assert!(nd.get(&selection).unwrap() == want, "{round}: {g:?} {takes:?} {threads}");
                        let mut out = vec![0x55; want.len()];
                        nd.get_into(&selection, &mut out).unwrap();
                        assert!(out == want, "{round}: {g:?} {takes:?} {threads}");
                    }
                }
            }
        }
    }
}
