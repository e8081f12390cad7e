//! Blocks over scoped threads. Workers take the next block from a counter, the calling thread is one
//! of them, and nothing is allocated per block.
//!
//! Decoding: the destination is cut into blocks that are handed out in order. Encoding: workers encode
//! into a fixed set of buffers, and whoever holds the block whose turn it is puts it in place, so the
//! chunk is the one a single thread writes.

use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::chunk::params::Params;
use crate::chunk::{Appender, Chunk, Decoder, EncodedBlock, Plan, Surroundings, context_for};
use crate::codec::context::DecodeContext;
use crate::error::Error;
use alloc::vec;
use alloc::vec::Vec;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `worker` on `threads` threads, or as many as the system gives, this one included, and returns the first error.
fn on_all(threads: usize, worker: impl Fn() -> Result<(), Error> + Sync) -> Result<(), Error> {
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, &worker).ok()).collect();
        let mine = worker();
        others.into_iter().fold(mine, |result, other| {
            // A worker never panics by itself; should one, the panic goes on in the caller.
            result.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    })
}

/// Decodes a chunk with streams into `out`, which has exactly its size.
pub(super) fn decode(
    level: Level,
    threads: usize,
    chunk: &Chunk<'_>,
    around: Surroundings<'_>,
    out: Out<'_>,
) -> Result<usize, Error> {
    let nblocks = chunk.nblocks();
    let work_len = Decoder::work_len(chunk);
    let places = Mutex::new((0usize, Some(out)));
    on_all(threads.min(nblocks), || {
        let mut work = vec![0; work_len];
        let context = DecodeContext::for_codec(chunk.header().codec);
        let mut decoder = Decoder::with_context(level, &mut work, context).surroundings(around);
        let mut blocks = decoder.blocks(chunk)?;
        loop {
            let (index, place) = {
                let mut next = lock(&places);
                let index = next.0;
                if index >= nblocks {
                    return Ok(());
                }
                next.0 += 1;
                let len = blocks.block_len(index)?;
                let rest = next.1.take().filter(|rest| rest.len() >= len);
                let rest = rest.ok_or(Error::OutputTooSmall { needed: len, given: 0 })?;
                let (place, rest) = rest.split_at(len);
                next.1 = Some(rest);
                (index, place)
            };
            if let Err(e) = blocks.decode(index, place) {
                lock(&places).0 = nblocks; // nobody needs to go on
                return Err(e);
            }
        }
    })?;
    Ok(chunk.nbytes())
}

/// What the encoding workers share.
struct Shared<'d> {
    places: Appender<'d>,
    /// Next block to be encoded.
    taken: usize,
    /// Next block to be put in place.
    next: usize,
    /// Blocks encoded before their turn, by index modulo the number of buffers.
    ready: Vec<Option<(usize, EncodedBlock, Vec<u8>)>>,
    free: Vec<Vec<u8>>,
    failed: Option<Error>,
}

/// Encodes a plan's blocks; returns the chunk's length.
pub(super) fn encode(
    level: Level,
    threads: usize,
    params: &Params,
    plan: &Plan<'_>,
    dst: &mut [u8],
) -> Result<usize, Error> {
    let nblocks = plan.nblocks();
    let threads = threads.min(nblocks);
    // One buffer in work and one waiting for its turn, for each thread: blocks finish out of order.
    let buffers = 2 * threads;
    let mut writer = plan.writer(dst)?;
    let shared = Mutex::new(Shared {
        places: writer.appender(),
        taken: 0,
        next: 0,
        ready: (0..buffers).map(|_| None).collect(),
        free: (0..buffers).map(|_| vec![0; plan.max_block_len()]).collect(),
        failed: None,
    });
    let freed = Condvar::new();
    on_all(threads, || {
        let mut work = vec![0; plan.work_len()];
        let mut context = context_for(params, plan.blocksize())?;
        let mut blocks = plan.block_encoder(level, &mut work)?;
        let mut state = lock(&shared);
        loop {
            let over =
                |s: &Shared<'_>| s.taken >= nblocks || s.failed.is_some() || s.places.progress.abandoned;
            while state.free.is_empty() && !over(&state) {
                state = freed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if over(&state) {
                return state.failed.map_or(Ok(()), Err);
            }
            let Some(mut buffer) = state.free.pop() else { continue };
            let index = state.taken;
            state.taken += 1;
            drop(state);
            let done = blocks.encode(index, &mut buffer, &mut context);
            state = lock(&shared);
            match done {
                Ok(done) => {
                    if let Some(slot) = state.ready.get_mut(index % buffers) {
                        *slot = Some((index, done, buffer));
                    }
                }
                Err(e) => state.failed = Some(e),
            }
            // Put in place what has its turn. Places are handed out in order, but copied to at leisure.
            loop {
                let next = state.next;
                let Some(slot) = state.ready.get_mut(next % buffers) else { break };
                if slot.as_ref().is_none_or(|(index, ..)| *index != next) {
                    break;
                }
                let Some((_, done, buffer)) = slot.take() else { break };
                state.next += 1;
                if let Some(place) = state.places.take(done) {
                    drop(state);
                    place.copy_from_slice(buffer.get(..place.len()).unwrap_or_default());
                    state = lock(&shared);
                }
                state.free.push(buffer);
                freed.notify_one();
            }
            if over(&state) {
                freed.notify_all();
            }
        }
    })?;
    let progress = shared.into_inner().unwrap_or_else(PoisonError::into_inner).places.progress;
    writer.resume(progress);
    writer.finish()
}
