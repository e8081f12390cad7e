//! Blocks that are asked for again and again are kept decoded: neighbouring rows, columns and items lie in
//! the same blocks.
//!
//! ```text
//! a request for less than half of the blocks it touches:
//!     at least half of them are kept or due -> decode the others whole, keep them, copy from them
//!     else read as usual, and add to the account of each block what that costs:
//!         all of it where the codec cannot stop early, else the part asked for and a 16th of the block
//! a block is due when its account has reached its size
//! ```
//! So nothing is kept of a request that does not come back, a scan by rows decodes each block about twice, and
//! what is kept never costs more than it was about to spare. Any change of the array drops all of it.

use super::array::{NdArray, Worker};
use super::gather::wrong_chunk;
use super::read::fit;
use super::select::Selection;
use crate::cframe::view::fill_special;
use crate::error::Error;
#[cfg(feature = "std")]
use crate::schunk::parallel;
use crate::schunk::{Loaded, Shared, Wanted};
use crate::shape::Geometry;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use blosc_core::Codec;

/// Bytes kept at most, unless the caller sets something else.
pub(super) const ROOM: usize = 16 << 20;
/// Blocks kept at most: they are searched one by one.
const MOST: usize = 64;

/// A chunk and a block of it.
type Id = (u64, u32);

/// A decoded block. Readers copy from it while others use the cache, and it may be dropped there meanwhile.
pub(super) type Block = Arc<Vec<u8>>;

struct Kept {
    id: Id,
    used: u64,
    data: Block,
}

/// How many blocks of `size` bytes may be kept.
fn capacity(room: usize, limit: u64, size: usize) -> usize {
    let room = room.min(usize::try_from(limit).unwrap_or(usize::MAX));
    room.checked_div(size).unwrap_or(0).min(MOST)
}

/// Decoded blocks, and accounts of others.
pub(super) struct Cache {
    clock: u64,
    kept: Vec<Kept>,
    /// What was spent on blocks that are not kept, the oldest account first.
    accounts: VecDeque<(Id, u64)>,
}

impl Cache {
    pub(super) fn new() -> Cache {
        Cache { clock: 0, kept: Vec::new(), accounts: VecDeque::new() }
    }

    pub(super) fn clear(&mut self) {
        self.kept = Vec::new();
        self.accounts.clear();
    }

    fn has(&self, id: Id) -> bool {
        self.kept.iter().any(|kept| kept.id == id)
    }

    fn get(&mut self, id: Id) -> Option<Block> {
        let kept = self.kept.iter_mut().find(|kept| kept.id == id)?;
        self.clock = self.clock.saturating_add(1);
        kept.used = self.clock;
        Some(Block::clone(&kept.data))
    }

    /// Keeps a block in the place of the one not used for longest, if there are `capacity` already.
    fn keep(&mut self, id: Id, data: Block, capacity: usize) {
        if self.has(id) {
            return;
        }
        while self.kept.len() >= capacity.max(1) {
            let oldest = self.kept.iter().enumerate().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(n, _)| n) else { break };
            self.kept.swap_remove(oldest);
        }
        self.accounts.retain(|(account, _)| *account != id);
        self.clock = self.clock.saturating_add(1);
        self.kept.push(Kept { id, used: self.clock, data });
    }

    /// Whether these blocks, with what reading each as usual costs, shall be read from here on. If not,
    /// that is added to their accounts.
    fn worth(&mut self, blocks: &[Asked], size: u64) -> bool {
        let due = |id: Id| self.accounts.iter().any(|(account, spent)| *account == id && *spent >= size);
        let known = blocks.iter().filter(|block| self.has(block.id) || due(block.id)).count();
        if known > 0 && known.saturating_mul(2) >= blocks.len() {
            return true;
        }
        for Asked { id, cost, .. } in blocks {
            match self.accounts.iter_mut().find(|(account, _)| account == id) {
                Some((_, spent)) => *spent = spent.saturating_add(*cost),
                None => self.accounts.push_back((*id, *cost)),
            }
        }
        while self.accounts.len() > MOST.saturating_mul(2) {
            self.accounts.pop_front();
        }
        false
    }
}

/// A block to be decoded.
struct Missing {
    id: Id,
    data: Vec<u8>,
}

/// A block that is asked for.
struct Asked {
    id: Id,
    /// What reading it as usual costs.
    cost: u64,
    data: Option<Block>,
}

impl NdArray<'_> {
    /// Keeps up to `bytes` of decoded blocks, and never more than the limit on output, for requests that
    /// touch the same blocks again; 0 keeps none. Default 16 MiB. At most 64 blocks are kept. Changes no
    /// byte of any result.
    pub fn set_cache(&mut self, bytes: usize) {
        *self.cache.get_mut() = Cache::new();
        self.cache_room = bytes;
    }

    /// How many blocks may be kept.
    fn capacity(&self) -> usize {
        capacity(self.cache_room, self.frame.limits().output, self.geometry.block_bytes() as usize)
    }

    fn cost(&self, part: usize) -> u64 {
        let size = u64::from(self.geometry.block_bytes());
        match self.frame.params().codec {
            // Their blocks are one stream, of which all but the end is needed for any item.
            Codec::Zstd | Codec::Zlib | Codec::Lz4Hc => size,
            _ => size.div_ceil(16).saturating_add(part as u64),
        }
    }

    /// The block if it is kept, or shall be from now on. `part` is how many bytes of it are wanted.
    pub(super) fn kept_block(&self, id: Id, part: usize) -> Option<Block> {
        let capacity = self.capacity();
        if capacity == 0 || part > self.geometry.block_bytes() as usize / 2 {
            return None;
        }
        // Looked for first: what it costs matters only where it is not there.
        if let Some(block) = self.cache.lock().get(id) {
            return Some(block);
        }
        let mut asked = [Asked { id, cost: self.cost(part), data: None }];
        self.bring(&mut asked, capacity)?;
        let [Asked { data, .. }] = asked;
        data
    }

    /// Copies the selected items to `out` from blocks that are kept, or shall be from now on. If it tells
    /// `false`, nothing was copied.
    pub(super) fn gather_kept(&self, selection: &Selection, out: &mut [u8]) -> bool {
        let geometry = &self.geometry;
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
        if self.bring(&mut asked, capacity).is_none() {
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
    fn bring(&self, asked: &mut [Asked], capacity: usize) -> Option<()> {
        let size = u64::from(self.geometry.block_bytes());
        let mut missing = {
            let mut cache = self.cache.lock();
            if !cache.worth(asked, size) {
                return None;
            }
            for block in asked.iter_mut() {
                block.data = cache.get(block.id);
            }
            let absent = asked.iter().filter(|block| block.data.is_none());
            absent.map(|block| Missing { id: block.id, data: Vec::new() }).collect::<Vec<_>>()
        };
        if missing.is_empty() {
            return Some(());
        }
        // An error is for the usual way to report: it may not need what could not be decoded.
        self.decode_missing(&mut missing).ok()?;
        let mut cache = self.cache.lock();
        for (block, Missing { id, data }) in asked.iter_mut().filter(|b| b.data.is_none()).zip(missing) {
            let data = Block::new(data);
            block.data = Some(Block::clone(&data));
            cache.keep(id, data, capacity);
        }
        Some(())
    }

    fn decode_missing(&self, missing: &mut [Missing]) -> Result<(), Error> {
        let geometry = &self.geometry;
        let wishes =
            || missing.chunk_by(|a, b| a.id.0 == b.id.0).map(|same| self.wish(same.iter().map(|m| m.id)));
        let pieces = self.frame.fetched(|| Ok(wishes().flatten().collect()))?;
        let frame = self.frame.shared().over(pieces.as_ref());
        self.workers.with(
            || Worker::crew(self.frame.threads()),
            |workers| {
                #[cfg(feature = "std")]
                if workers.len() > 1 && missing.len() > 1 {
                    let bytes = (missing.len() as u64).saturating_mul(geometry.block_bytes().into());
                    if parallel::worth(self.frame.params().codec, bytes) {
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

#[cfg(test)]
mod tests {
    use super::super::{Dtype, Spec};
    use super::*;
    use crate::SuperChunk;
    use alloc::vec;
    use blosc_core::Params;

    fn array(codec: Codec) -> (NdArray<'static>, Vec<u8>) {
        let spec = Spec::new(&[64, 64, 16], Dtype::parse("<u2").unwrap()).unwrap();
        let spec = spec.params_from(&Params::new(2).codec(codec).level(3).shuffle());
        let spec = spec.chunks(&[32, 32, 16]).unwrap().blocks(&[16, 16, 16]).unwrap();
        let data: Vec<u8> = (0..65536u32).flat_map(|i| ((i / 3) as u16).to_le_bytes()).collect();
        let nd = NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &data).unwrap();
        (nd, data)
    }

    fn row(nd: &mut NdArray<'_>, i: u64, j: u64) -> Vec<u8> {
        nd.get(&Selection::ranges(nd.shape(), &[i..i + 1, j..j + 1, 0..16]).unwrap()).unwrap()
    }

    #[test]
    fn neighbours_are_kept_and_changes_drop_them() {
        for codec in [Codec::Zstd, Codec::Zlib, Codec::Lz4, Codec::BloscLz] {
            let (mut nd, mut data) = array(codec);
            for round in 0..3u64 {
                for i in (0..64).step_by(if super::super::model::emulated() { 8 } else { 1 }) {
                    for j in 0..20 {
                        let at = ((i * 64 + j) * 16 * 2) as usize;
                        assert_eq!(row(&mut nd, i, j), data[at..at + 32], "{codec:?}");
                        let mut item = [0; 2];
                        nd.get_item(&[i, j, 7], &mut item).unwrap();
                        assert_eq!(item, data[at + 14..at + 16]);
                        assert_eq!(nd.get_flat(&[(i * 64 + j) * 16 + 7, 0]).unwrap()[..2], item);
                    }
                }
                assert!((1..=MOST).contains(&nd.cache.lock().kept.len()));
                // A change anywhere is seen at once.
                let at = ((round * 64 + 3) * 16 * 2) as usize;
                nd.set_item(&[round, 3, 0], &[0xee, round as u8]).unwrap();
                data[at..at + 2].copy_from_slice(&[0xee, round as u8]);
                let cache = nd.cache.get_mut();
                assert!(cache.kept.is_empty() && cache.accounts.is_empty());
                assert_eq!(row(&mut nd, round, 3), data[at..at + 32]);
            }
            for _ in 0..40 {
                row(&mut nd, 63, 63);
            }
            assert!(!nd.cache.lock().kept.is_empty());
            nd.resize(&[40, 64, 16]).unwrap();
            nd.resize(&[64, 64, 16]).unwrap();
            assert_eq!(row(&mut nd, 63, 63), [0; 32]);
            nd.set_slice(&[63..64, 63..64, 0..16], &[7; 32]).unwrap();
            assert_eq!(row(&mut nd, 63, 63), [7; 32]);
            nd.set_flat(&[(63 * 64 + 63) * 16], &[8, 8]).unwrap();
            assert_eq!(row(&mut nd, 63, 63)[..4], [8, 8, 7, 7]);
        }
    }

    #[test]
    fn room_and_limits_are_kept() {
        let (mut nd, _) = array(Codec::Zstd);
        // Blocks of 8 KiB.
        for (room, most) in [(0, 0), (8191, 0), (8192, 1), (20_000, 2)] {
            nd.set_cache(room);
            for n in 0..200 {
                row(&mut nd, n / 2 * 16 % 64, n / 8 * 16 % 64);
                assert!(nd.cache.lock().kept.len() <= most, "{room}");
            }
            assert_eq!(nd.cache.lock().kept.len(), most);
        }
        let limits = crate::Limits::default().output(8192);
        let mut cache = Cache::new();
        assert_eq!(capacity(ROOM, limits.output, 8192), 1);
        assert_eq!(capacity(ROOM, u64::MAX, 0), 0);
        assert_eq!(capacity(ROOM, u64::MAX, 1), MOST);
        // The one used longest ago goes.
        for k in 0..4 {
            cache.keep((k, 0), Block::new(vec![k as u8]), 3);
            cache.get((0, 0));
        }
        assert!(cache.has((0, 0)) && !cache.has((1, 0)) && cache.has((3, 0)));
    }

    #[test]
    fn requests_that_do_not_come_back_keep_nothing() {
        let (mut nd, data) = array(Codec::Zstd);
        for n in 0..16 {
            row(&mut nd, n / 4 * 16, n % 4 * 16);
        }
        assert!(nd.cache.lock().kept.is_empty());
        // Nor do whole blocks.
        for _ in 0..5 {
            assert_eq!(nd.get_all().unwrap(), data);
            nd.get_chunk(0).unwrap();
        }
        assert!(nd.cache.lock().kept.is_empty());
    }
}
