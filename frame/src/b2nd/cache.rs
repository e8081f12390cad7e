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
//! what is kept never costs more than it was about to spare. Any change of the array drops all of it. `kept.rs` reads through it.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Bytes kept at most, unless the caller sets something else.
pub(super) const ROOM: usize = 16 << 20;
/// Blocks kept at most: they are searched one by one.
const MOST: usize = 64;

/// A chunk and a block of it.
pub(super) type Id = (u64, u32);

/// A decoded block. Readers copy from it while others use the cache, and it may be dropped there meanwhile.
pub(super) type Block = Arc<Vec<u8>>;

struct Kept {
    id: Id,
    used: u64,
    data: Block,
}

/// How many blocks of `size` bytes may be kept.
pub(super) fn capacity(room: usize, limit: u64, size: usize) -> usize {
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

    pub(super) fn get(&mut self, id: Id) -> Option<Block> {
        let kept = self.kept.iter_mut().find(|kept| kept.id == id)?;
        self.clock = self.clock.saturating_add(1);
        kept.used = self.clock;
        Some(Block::clone(&kept.data))
    }

    /// Keeps a block in the place of the one not used for longest, if there are `capacity` already.
    pub(super) fn keep(&mut self, id: Id, data: Block, capacity: usize) {
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
    pub(super) fn worth(&mut self, blocks: &[Asked], size: u64) -> bool {
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

/// A block that is asked for.
pub(super) struct Asked {
    pub(super) id: Id,
    /// What reading it as usual costs.
    pub(super) cost: u64,
    pub(super) data: Option<Block>,
}

#[cfg(test)]
mod tests {
    use super::super::{Dtype, NdArray, Selection, Spec};
    use super::*;
    use crate::SuperChunk;
    use alloc::vec;
    use blosc_core::Codec;
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
