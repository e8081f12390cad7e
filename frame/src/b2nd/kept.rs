//! Reading through the [`Cache`](super::cache::Cache): which blocks a request takes from it, and which it puts there.

use super::array::ArrayOn;
use super::cache::{Asked, Block, Cache, Id, Own};
use super::gather::{Worker, wrong_chunk};
use super::room::fit;
use super::select::Selection;
use crate::cframe::view::fill_special;
use crate::error::Error;
#[cfg(feature = "std")]
use crate::parallel;
use crate::schunk::{Loaded, Shared, SuperChunk, Wanted};
use crate::shape::Geometry;
use alloc::vec::Vec;
use blosc_core::Codec;
use core::borrow::BorrowMut;

/// A block to be decoded.
struct Missing {
    id: Id,
    data: Vec<u8>,
}

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// Keeps decoded blocks in this cache from now on, never more than the limit on output. The default is one of its own
    /// of 16 MiB; to look at that, or to share it with other arrays, give each a clone of one.
    pub fn set_cache(&mut self, cache: Cache) {
        self.cache = Own::new(cache);
    }

    /// How many blocks may be kept.
    fn capacity(&self) -> usize {
        self.cache.capacity(self.frame().limits().output, self.layout.geometry.block_bytes() as usize)
    }

    fn cost(&self, part: usize) -> u64 {
        let size = u64::from(self.layout.geometry.block_bytes());
        match self.frame().params().codec {
            // Their blocks are one stream, of which all but the end is needed for any item.
            Codec::Zstd | Codec::Zlib | Codec::Lz4Hc => size,
            _ => size.div_ceil(16).saturating_add(part as u64),
        }
    }

    /// The block if it is kept, or shall be from now on. `part` is how many bytes of it are wanted.
    pub(super) fn kept_block(&self, id: Id, part: usize) -> Option<Block> {
        let capacity = self.capacity();
        if capacity == 0 || part > self.layout.geometry.block_bytes() as usize / 2 {
            return None;
        }
        // Looked for first: what it costs matters only where it is not there.
        if let Some(block) = self.cache.get(id) {
            return Some(block);
        }
        let mut asked = [Asked { id, cost: self.cost(part), data: None }];
        self.bring(&mut asked)?;
        let [Asked { data, .. }] = asked;
        data
    }

    /// Copies the selected items to `out` from blocks that are kept, or shall be from now on. If it tells
    /// `false`, nothing was copied.
    pub(super) fn gather_kept(&self, selection: &Selection, out: &mut [u8]) -> bool {
        let geometry = &self.layout.geometry;
        let (size, capacity) = (geometry.block_bytes() as usize, self.capacity());
        let about = selection.nblocks(geometry);
        let thin = about.saturating_mul(size as u64) / 2 >= out.len() as u64;
        if capacity == 0 || about > capacity as u64 || !thin {
            return false;
        }
        let mut asked = Vec::new();
        let mut walk = selection.walk(geometry);
        while let Some(touched) = walk.next() {
            if touched.nblocks().saturating_add(asked.len() as u64) > capacity as u64 {
                return false;
            }
            for block in touched.blocks() {
                let cost = self.cost(block.span(geometry).len());
                asked.push(Asked { id: (touched.chunk, block.block), cost, data: None });
            }
        }
        if self.bring(&mut asked).is_none() {
            return false;
        }
        let mut found = asked.iter();
        let mut walk = selection.walk(geometry);
        while let Some(touched) = walk.next() {
            for block in touched.blocks() {
                if let Some(data) = found.next().and_then(|asked| asked.data.as_ref()) {
                    block.copies(geometry, touched.counts(), |s| s.gather(data, out, 0));
                }
            }
        }
        true
    }

    /// Finds the blocks, and decodes those that are not kept; none where the usual way shall be taken. Blocks are decoded
    /// while other readers have the cache, so two may decode the same one.
    fn bring(&self, asked: &mut [Asked]) -> Option<()> {
        let size = u64::from(self.layout.geometry.block_bytes());
        if !self.cache.worth(asked, size) {
            return None;
        }
        for block in asked.iter_mut() {
            block.data = self.cache.get(block.id);
        }
        let absent = asked.iter().filter(|block| block.data.is_none());
        let mut missing: Vec<_> = absent.map(|block| Missing { id: block.id, data: Vec::new() }).collect();
        if missing.is_empty() {
            return Some(());
        }
        // An error is for the usual way to report: it may not need what could not be decoded.
        self.decode_missing(&mut missing).ok()?;
        let limit = self.frame().limits().output;
        for (block, Missing { id, data }) in asked.iter_mut().filter(|b| b.data.is_none()).zip(missing) {
            let data = Block::new(data);
            block.data = Some(Block::clone(&data));
            self.cache.keep(id, data, limit);
        }
        Some(())
    }

    fn decode_missing(&self, missing: &mut [Missing]) -> Result<(), Error> {
        let geometry = &self.layout.geometry;
        let wishes =
            || missing.chunk_by(|a, b| a.id.0 == b.id.0).map(|same| self.wish(same.iter().map(|m| m.id)));
        let pieces = self.frame().fetched(|| Ok(wishes().flatten().collect()))?;
        let frame = self.frame().shared().over(pieces.as_ref());
        self.workers.with(
            || Worker::crew(self.frame().threads()),
            |workers| {
                #[cfg(feature = "std")]
                if workers.len() > 1 && missing.len() > 1 {
                    let bytes = (missing.len() as u64).saturating_mul(geometry.block_bytes().into());
                    if parallel::worth(self.frame().params().codec, bytes) {
                        let threads = workers.len().min(missing.len());
                        let workers = workers.get_mut(..threads).unwrap_or_default();
                        return parallel::each(workers, missing.chunks_mut(1), |worker, one| {
                            decode_blocks(frame, geometry, worker, one)
                        });
                    }
                }
                let Some(worker) = workers.first_mut() else { return Ok(()) };
                let mut same_chunk = missing.chunk_by_mut(|a, b| a.id.0 == b.id.0);
                same_chunk.try_for_each(|same| decode_blocks(frame, geometry, worker, same))
            },
        )
    }
}

/// Decodes blocks of one chunk.
fn decode_blocks(
    frame: Shared<'_>,
    geometry: &Geometry,
    worker: &mut Worker,
    missing: &mut [Missing],
) -> Result<(), Error> {
    let Some(Missing { id: (k, _), .. }) = missing.first() else { return Ok(()) };
    let (k, size) = (*k, geometry.block_bytes() as usize);
    let Worker { pool, read, .. } = worker;
    let (wanted, count) =
        (missing.iter().map(|m| Wanted { block: m.id.1 as usize, part: 0..size }), missing.len() as u64);
    match frame.load(k, |_| (wanted, count), read)? {
        Loaded::Special(kind) => {
            for m in missing {
                fit(&mut m.data, size)?;
                fill_special(kind, geometry.typesize(), 0, &mut m.data)?;
            }
        }
        Loaded::Stored(stored) => {
            let chunk = &stored.chunk;
            let header = chunk.header();
            let fits = !header.is_vl() && header.blocksize as usize == size;
            if !fits || chunk.nbytes() != geometry.chunk_bytes() as usize {
                return Err(wrong_chunk(k, stored.at, chunk.nbytes()));
            }
            for m in missing {
                fit(&mut m.data, size)?;
                stored.block(pool, m.id.1 as usize, &mut m.data)?;
            }
        }
    }
    Ok(())
}
