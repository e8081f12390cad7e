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
//! what is kept never costs more than it was about to spare. Any change of an array drops all of it. `kept.rs` reads through it.

use crate::spare::Lock;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What clones of a cache have in common. Without `std` there is no lock for several threads, and so there are no clones.
#[cfg(feature = "std")]
type Common = Arc<Lock<State>>;
#[cfg(not(feature = "std"))]
type Common = alloc::boxed::Box<Lock<State>>;

/// Decoded blocks of arrays, for requests that touch the same blocks again; it changes no byte of any result. A request for
/// half of a block or more, such as that of a whole chunk or array, neither uses nor fills it.
///
/// Clones are the same cache (they need the feature `std`), so that several arrays share its bytes:
///
/// ```
/// # use blosc_frame::SuperChunk;
/// # use blosc_frame::b2nd::{Cache, Dtype, NdArray, Spec};
/// # let spec = Spec::new(&[300], Dtype::parse("|u1")?)?;
/// # let zeros = || NdArray::zeros(SuperChunk::memory(&spec.params())?, &spec);
/// # let (mut a, mut b) = (zeros()?, zeros()?);
/// let cache = Cache::new(64 << 20);
/// a.set_cache(cache.clone());
/// b.set_cache(cache.clone());
/// a.get_item(&[7], &mut [0])?;
/// assert_eq!((cache.hits(), cache.misses(), cache.bytes()), (0, 1, 0));
/// # Ok::<(), blosc_frame::Error>(())
/// ```
#[cfg_attr(feature = "std", derive(Clone))]
pub struct Cache {
    room: usize,
    state: Common,
}

impl Cache {
    /// A cache of up to `bytes` decoded bytes; 0 keeps none.
    pub fn new(bytes: usize) -> Cache {
        Cache { room: bytes, state: Common::new(Lock::new(State::default())) }
    }

    /// Most decoded bytes in it.
    pub fn limit(&self) -> usize {
        self.room
    }

    /// Decoded bytes in it now.
    pub fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// How many blocks were taken from it so far.
    pub fn hits(&self) -> u64 {
        self.state.lock().hits
    }

    /// How many blocks were asked for so far and decoded instead.
    pub fn misses(&self) -> u64 {
        self.state.lock().misses
    }

    /// Blocks kept at most: they are searched one by one, which takes some microseconds for a GiB.
    fn most(&self) -> usize {
        (self.room >> 18).max(64)
    }
}

impl Default for Cache {
    /// 16 MiB, as each array has them unless it is given another cache.
    fn default() -> Cache {
        Cache::new(16 << 20)
    }
}

/// A chunk and a block of it.
pub(super) type Id = (u64, u32);

/// A decoded block. Readers copy from it while others use the cache, and it may be dropped there meanwhile.
pub(super) type Block = Arc<Vec<u8>>;

/// A block of one of the arrays.
type Key = (u64, Id);

struct Kept {
    key: Key,
    used: u64,
    data: Block,
}

/// Decoded blocks, and accounts of others.
#[derive(Default)]
struct State {
    clock: u64,
    /// Arrays that have used it so far.
    arrays: u64,
    kept: Vec<Kept>,
    /// What was spent on blocks that are not kept, the oldest account first.
    accounts: VecDeque<(Key, u64)>,
    bytes: usize,
    hits: u64,
    misses: u64,
}

impl State {
    fn has(&self, key: Key) -> bool {
        self.kept.iter().any(|kept| kept.key == key)
    }

    fn tick(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }

    fn remove(&mut self, n: usize) {
        let gone = self.kept.swap_remove(n);
        self.bytes = self.bytes.saturating_sub(gone.data.len());
    }
}

/// What one array has in a cache; all of that goes with it.
pub(super) struct Own {
    cache: Cache,
    array: u64,
}

impl Own {
    pub(super) fn new(cache: Cache) -> Own {
        let array = {
            let mut state = cache.state.lock();
            state.arrays = state.arrays.saturating_add(1);
            state.arrays
        };
        Own { cache, array }
    }

    /// How many blocks of `size` bytes may be kept, where the array's limit is `limit` bytes.
    pub(super) fn capacity(&self, limit: u64, size: usize) -> usize {
        self.within(limit).checked_div(size).unwrap_or(0).min(self.cache.most())
    }

    fn within(&self, limit: u64) -> usize {
        self.cache.room.min(usize::try_from(limit).unwrap_or(usize::MAX))
    }

    pub(super) fn clear(&mut self) {
        let (mut state, array) = (self.cache.state.lock(), self.array);
        while let Some(n) = state.kept.iter().position(|kept| kept.key.0 == array) {
            state.remove(n);
        }
        state.accounts.retain(|((of, _), _)| *of != array);
    }

    pub(super) fn get(&self, id: Id) -> Option<Block> {
        let mut state = self.cache.state.lock();
        let used = state.tick();
        let kept = state.kept.iter_mut().find(|kept| kept.key == (self.array, id))?;
        kept.used = used;
        let block = Block::clone(&kept.data);
        state.hits = state.hits.saturating_add(1);
        Some(block)
    }

    /// Keeps a block, no longer than `limit`, in the place of those not used for longest.
    pub(super) fn keep(&self, id: Id, data: Block, limit: u64) {
        let (mut state, key) = (self.cache.state.lock(), (self.array, id));
        state.misses = state.misses.saturating_add(1);
        if state.has(key) {
            return;
        }
        let left = self.within(limit).saturating_sub(data.len());
        while state.bytes > left || state.kept.len() >= self.cache.most() {
            let oldest = state.kept.iter().enumerate().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(n, _)| n) else { break };
            state.remove(oldest);
        }
        state.accounts.retain(|(account, _)| *account != key);
        state.bytes = state.bytes.saturating_add(data.len());
        let used = state.tick();
        state.kept.push(Kept { key, used, data });
    }

    /// Whether these blocks, with what reading each as usual costs, shall be read from here on. If not,
    /// that is added to their accounts.
    pub(super) fn worth(&self, blocks: &[Asked], size: u64) -> bool {
        let (mut state, key) = (self.cache.state.lock(), |block: &Asked| (self.array, block.id));
        let due = |key: Key| state.accounts.iter().any(|(account, spent)| *account == key && *spent >= size);
        let known = blocks.iter().map(key).filter(|key| state.has(*key) || due(*key)).count();
        if known > 0 && known.saturating_mul(2) >= blocks.len() {
            return true;
        }
        state.misses = state.misses.saturating_add(blocks.len() as u64);
        for block in blocks {
            match state.accounts.iter_mut().find(|(account, _)| *account == key(block)) {
                Some((_, spent)) => *spent = spent.saturating_add(block.cost),
                None => state.accounts.push_back((key(block), block.cost)),
            }
        }
        while state.accounts.len() > self.cache.most().saturating_mul(2) {
            state.accounts.pop_front();
        }
        false
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A block that is asked for.
pub(super) struct Asked {
    pub(super) id: Id,
    /// What reading it as usual costs.
    pub(super) cost: u64,
    pub(super) data: Option<Block>,
}
