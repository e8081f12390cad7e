//! Blocks over scoped threads. Workers take the next block from a counter, the calling thread is one
//! of them, and nothing is allocated per block.
//!
//! Decoding: the destination is cut into blocks that are handed out in order. Encoding: each worker
//! encodes into a buffer of its own and appends it when its block's turn comes, so the chunk is the
//! one a single thread writes.

use crate::arch::level::Level;
use crate::chunk::params::Params;
use crate::chunk::{Chunk, ChunkWriter, Decoder, EncodedBlock, Plan, Surroundings, context_for};
use crate::codec::context::DecodeContext;
use crate::error::Error;
use alloc::vec;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `worker` on `threads` threads, this one included, and returns the first error.
fn on_all(threads: usize, worker: impl Fn() -> Result<(), Error> + Sync) -> Result<(), Error> {
    thread::scope(|scope| {
        let others: vec::Vec<_> = (1..threads).map(|_| scope.spawn(&worker)).collect();
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
    out: &mut [u8],
) -> Result<usize, Error> {
    let nblocks = chunk.nblocks();
    let work_len = Decoder::work_len(chunk);
    let places = Mutex::new((0usize, out));
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
                let rest = core::mem::take(&mut next.1);
                let len = blocks.block_len(index)?;
                let (place, rest) =
                    rest.split_at_mut_checked(len).ok_or(Error::OutputTooSmall { needed: len, given: 0 })?;
                next.1 = rest;
                (index, place)
            };
            if let Err(e) = blocks.decode(index, place.into()) {
                lock(&places).0 = nblocks; // nobody needs to go on
                return Err(e);
            }
        }
    })?;
    Ok(chunk.nbytes())
}

/// Encodes a plan's blocks; returns the chunk's length.
pub(super) fn encode(
    level: Level,
    threads: usize,
    params: &Params,
    plan: &Plan<'_>,
    dst: &mut [u8],
) -> Result<usize, Error> {
    struct Turn<'d> {
        writer: ChunkWriter<'d>,
        next: usize,
    }
    let nblocks = plan.nblocks();
    let turn = Mutex::new(Turn { writer: plan.writer(dst)?, next: 0 });
    let (taken, changed) = (AtomicUsize::new(0), Condvar::new());
    on_all(threads.min(nblocks), || {
        let mut work = vec![0; plan.work_len()];
        let mut buffer = vec![0; plan.max_block_len()];
        let setup = context_for(params, plan.blocksize())
            .and_then(|context| Ok((context, plan.block_encoder(level, &mut work)?)));
        let mut failed = None;
        let (mut context, mut blocks) = match setup {
            Ok((context, blocks)) => (Some(context), Some(blocks)),
            Err(e) => {
                failed = Some(e);
                (None, None)
            }
        };
        loop {
            let index = taken.fetch_add(1, Ordering::Relaxed);
            if index >= nblocks {
                return failed.map_or(Ok(()), Err);
            }
            // Even after an error every block must have its turn, or the others would wait for ever.
            let done = match (&mut blocks, &mut context, failed) {
                (Some(blocks), Some(context), None) => blocks.encode(index, &mut buffer, context),
                _ => Ok(EncodedBlock { len: 0, zeros: false }),
            };
            let mut turn = lock(&turn);
            while turn.next != index {
                turn = changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
            }
            match done {
                Ok(done) => {
                    turn.writer.copy(buffer.get(..done.len).unwrap_or(&[]));
                    turn.writer.advance(done);
                    if turn.writer.is_abandoned() {
                        taken.store(nblocks, Ordering::Relaxed);
                    }
                }
                Err(e) => failed = Some(e),
            }
            turn.next += 1;
            changed.notify_all();
        }
    })?;
    turn.into_inner().unwrap_or_else(PoisonError::into_inner).writer.finish()
}
