//! Work over scoped threads. The calling thread is one of them, and nothing is allocated per block.
//!
//! ```text
//! decode, streams      the destination is cut into blocks; a thread takes the next block from a counter
//! decode, no streams   the destination is cut into one part for each thread
//! encode               a thread   copies a stored block, if one waits to be copied
//!                                 else encodes the next block into one of a fixed set of buffers
//!                                 then, while the block whose turn it is is ready: gives it its place, copies it there
//!                      in the end, where the blocks are longer than the data, the data is copied as by `decode, no streams`
//! ```
//! Places are given in the order of the blocks, so the chunk is the one that a single thread writes.
//!
//! A block that the codec does not shrink is copied from the source, not by way of a buffer. As long as there are only such
//! blocks none is copied at all, because the chunk is likely to be stored whole; the first block that shrinks has those
//! before it copied.
//!
//! A codec or filter of the caller may panic. That ends the other threads as an error does, and goes on in the caller.

use super::scratch::{Scratch, grow};
use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::chunk::params::Params;
use crate::chunk::{
    Appender, Chunk, ChunkContext, ChunkWriter, Decoder, EncodedBlock, Plan, Progress, copy_plain,
    write_stored,
};
use crate::codec::Codec;
use crate::error::Error;
use alloc::vec::Vec;
use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Builder};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads of the caller, for a [`Pool`](super::Pool) to use in place of its own.
pub trait Runner: Sync {
    /// Calls `job` up to `jobs` times, with 0, 1, …, on any threads, at once or one after the other, and returns when all
    /// calls have ended.
    fn run(&self, jobs: usize, job: &(dyn Fn(usize) + Sync));
}

/// More threads than this are used only where there are as many cores: each takes memory, and none makes it faster.
const MOST_THREADS: usize = 256;

/// Bytes to copy, fill, or put through a fast codec that are worth a thread (docs/optimization-notes.md, "Threads").
const PART: usize = 1 << 20;
/// Bytes to put through another codec that are worth one.
const SLOW_PART: usize = PART / 2;

/// Longer memory is given back after each chunk: a single chunk of large blocks would have all threads hold as much for good.
const MOST_KEPT: usize = 64 << 20;

/// How many threads to use, whose, and what they leave for those of the next chunk.
pub(super) struct Team {
    pub threads: usize,
    pub runner: Option<&'static dyn Runner>,
    scratch: Mutex<Vec<Scratch>>,
    /// Room for encoded blocks.
    buffers: Vec<Vec<u8>>,
}

impl Team {
    pub fn new(asked: usize) -> Team {
        // The system is asked once: on Linux each answer costs a dozen system calls.
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = *CORES.get_or_init(|| thread::available_parallelism().map_or(1, |n| n.get()));
        let threads = if asked > 0 { asked.min(cores.max(MOST_THREADS)) } else { cores };
        Team { threads, runner: None, scratch: Mutex::default(), buffers: Vec::new() }
    }

    /// How many threads are worth it for `len` bytes.
    pub fn worth(&self, len: usize, codec: Codec, encodes: bool) -> usize {
        let fast = match codec {
            Codec::BloscLz | Codec::Lz4 | Codec::Snappy => true,
            Codec::Lz4Hc => !encodes,
            _ => false,
        };
        let most = len / if fast { PART } else { SLOW_PART };
        if self.runner.is_some() { self.threads } else { self.threads.min(most) }
    }

    /// Runs `worker` on `threads` threads, or fewer where the system gives fewer, this one included. Returns the error of a worker
    /// that failed; a worker's panic goes on in the caller once all have ended. Either has `stop` called first, which leaves the
    /// other workers nothing to do, so that none waits for what will not come.
    fn on_all(
        &self,
        threads: usize,
        worker: impl Fn(&mut Scratch) -> Result<(), Error> + Sync,
        stop: impl Fn() + Sync,
    ) -> Result<(), Error> {
        struct Stop<F: Fn()>(F);
        impl<F: Fn()> Drop for Stop<F> {
            fn drop(&mut self) {
                (self.0)();
            }
        }
        let worker = || {
            let stop = Stop(&stop);
            let mut scratch = lock(&self.scratch).pop().unwrap_or_default();
            let done = worker(&mut scratch);
            if scratch.work.len() <= MOST_KEPT {
                lock(&self.scratch).push(scratch);
            }
            done.inspect(|()| core::mem::forget(stop))
        };
        if let Some(runner) = self.runner {
            return on_runner(runner, threads, worker);
        }
        thread::scope(|scope| {
            let others: Vec<_> =
                (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, worker).ok()).collect();
            let mine = worker();
            others.into_iter().fold(mine, |result, other| {
                result.and(other.join().unwrap_or_else(|panic| resume_unwind(panic)))
            })
        })
    }

    /// Cuts `out` into a part for each of up to `threads` threads, and has `write` called with where each part begins.
    fn in_parts(
        &self,
        out: Out<'_>,
        write: impl Fn(usize, Out<'_>) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let threads = self.threads.min(out.len() / PART);
        if threads <= 1 {
            return write(0, out);
        }
        let part = out.len().div_ceil(threads).next_multiple_of(64);
        let left = Mutex::new((0, Some(out)));
        let worker = |_: &mut Scratch| {
            loop {
                let (at, place) = {
                    let mut left = lock(&left);
                    let Some(rest) = left.1.take().filter(|rest| !rest.is_empty()) else { return Ok(()) };
                    let at = left.0;
                    let (place, rest) = rest.split_at(part);
                    *left = (at + place.len(), Some(rest));
                    (at, place)
                };
                write(at, place)?;
            }
        };
        self.on_all(threads, worker, || lock(&left).1 = None)
    }

    /// Decodes a chunk without streams into `out`, which has exactly its size.
    pub fn decode_plain(&self, chunk: &Chunk<'_>, out: Out<'_>) -> Result<(), Error> {
        self.in_parts(out, |at, out| copy_plain(chunk, at, out))
    }

    /// Decodes a chunk with streams into `out`, which has exactly its size.
    pub fn decode(
        &self,
        threads: usize,
        level: Level,
        chunk: &Chunk<'_>,
        chunk_context: ChunkContext<'_>,
        out: Out<'_>,
    ) -> Result<usize, Error> {
        let nblocks = chunk.nblocks();
        let work_len = Decoder::work_len(chunk);
        let places = Mutex::new((0usize, Some(out)));
        let take_blocks = |decoder: &mut Decoder<'_>| {
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
                blocks.decode(index, place)?;
            }
        };
        let worker = |scratch: &mut Scratch| {
            // `with_decoder` runs again where memory is short, and the block that was taken before would never be decoded.
            grow(&mut scratch.work, work_len);
            scratch.with_decoder(level, chunk, chunk_context, take_blocks)
        };
        self.on_all(threads.min(nblocks), worker, || lock(&places).0 = nblocks)?;
        Ok(chunk.nbytes())
    }

    /// Encodes a plan's blocks; returns the chunk's length.
    pub fn encode(
        &mut self,
        threads: usize,
        level: Level,
        params: &Params,
        plan: &Plan<'_>,
        dst: &mut [u8],
    ) -> Result<usize, Error> {
        let mut writer = plan.writer(dst)?;
        if !writer.is_abandoned() {
            let progress =
                self.encode_blocks(threads.min(plan.nblocks()), level, params, plan, &mut writer)?;
            writer.resume(progress);
        }
        writer.finish_by(|out, src| {
            self.in_parts(out, |at, mut out| {
                out.copy_from(src.get(at..).unwrap_or_default());
                Ok(())
            })
        })
    }

    /// Encodes a plan's blocks to where `writer` says.
    fn encode_blocks(
        &mut self,
        threads: usize,
        level: Level,
        params: &Params,
        plan: &Plan<'_>,
        writer: &mut ChunkWriter<'_>,
    ) -> Result<Progress, Error> {
        // One buffer in work and one waiting for its turn, for each thread: blocks finish out of order.
        let buffers = 2 * threads;
        let mut free = core::mem::take(&mut self.buffers);
        free.resize_with(buffers, Vec::new);
        let workers = Workers {
            shared: Mutex::new(Shared {
                places: writer.appender(),
                taken: 0,
                next: 0,
                is_held: true,
                copies: Vec::new(),
                ready: (0..buffers).map(|_| None).collect(),
                free,
            }),
            changed: Condvar::new(),
            nblocks: plan.nblocks(),
        };
        let worker = |scratch: &mut Scratch| {
            let (work, context) = scratch.for_plan(params, plan)?;
            let mut blocks = plan.block_encoder(level, work)?;
            let mut state = lock(&workers.shared);
            loop {
                if let Some((place, src)) = state.copies.pop() {
                    drop(state);
                    write_stored(src, place);
                    state = lock(&workers.shared);
                    continue;
                }
                if workers.is_over(&state) {
                    return Ok(());
                }
                let Some(mut buffer) = state.free.pop() else {
                    state = workers.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                };
                let index = state.taken;
                state.taken += 1;
                drop(state);
                grow(&mut buffer, plan.max_block_len());
                // A codec may write other bytes where it has more room.
                let room = buffer.get_mut(..plan.max_block_len()).unwrap_or_default();
                let (block, is_source) = blocks.encode_unless_stored(index, room, context)?;
                state = lock(&workers.shared);
                if let Some(slot) = state.ready.get_mut(index % buffers) {
                    *slot = Some(Ready { index, block, buffer, is_source });
                }
                state = place_ready(&workers, plan, state, buffers)?;
                if workers.is_over(&state) {
                    workers.changed.notify_all();
                }
            }
        };
        self.on_all(threads, worker, || {
            lock(&workers.shared).taken = workers.nblocks;
            workers.changed.notify_all();
        })?;
        let Shared { places, mut free, .. } =
            workers.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        free.retain(|buffer| buffer.len() <= MOST_KEPT);
        self.buffers = free;
        Ok(places.progress)
    }
}

/// Runs `worker` on the caller's threads. Whatever they leave undone is done here.
fn on_runner(
    runner: &dyn Runner,
    threads: usize,
    worker: impl Fn() -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let failed = Mutex::new(None);
    let panicked = Mutex::new(None);
    runner.run(threads, &|_| match catch_unwind(AssertUnwindSafe(&worker)) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => *lock(&failed) = Some(error),
        Err(panic) => *lock(&panicked) = Some(panic),
    });
    if let Some(panic) = panicked.into_inner().unwrap_or_else(PoisonError::into_inner) {
        resume_unwind(panic);
    }
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => worker(),
    }
}

/// A block that has been encoded and waits for its turn.
struct Ready {
    index: usize,
    block: EncodedBlock,
    /// Holds the block, unless it is the source stored as it is.
    buffer: Vec<u8>,
    is_source: bool,
}

/// What the encoding threads share.
struct Shared<'d> {
    places: Appender<'d>,
    /// Next block to be encoded.
    taken: usize,
    /// Next block to be given its place.
    next: usize,
    /// Whether no block so far is anything but its source, so that none has been copied.
    is_held: bool,
    /// Stored blocks to be copied: where to, and the source.
    copies: Vec<(&'d mut [u8], &'d [u8])>,
    /// Blocks encoded before their turn, by index modulo the number of buffers.
    ready: Vec<Option<Ready>>,
    free: Vec<Vec<u8>>,
}

/// Encoding threads, some of which may wait for a free buffer.
struct Workers<'d> {
    shared: Mutex<Shared<'d>>,
    changed: Condvar,
    nblocks: usize,
}

impl<'d> Workers<'d> {
    /// Whether there is nothing left to encode, or no use in it.
    fn is_over(&self, shared: &Shared<'d>) -> bool {
        shared.taken >= self.nblocks || shared.places.progress.abandoned
    }
}

/// Gives the blocks that have their turn their places, and copies them there while others work on.
fn place_ready<'w, 'd>(
    workers: &'w Workers<'d>,
    plan: &Plan<'d>,
    mut state: MutexGuard<'w, Shared<'d>>,
    buffers: usize,
) -> Result<MutexGuard<'w, Shared<'d>>, Error> {
    loop {
        let next = state.next;
        let Some(slot) = state.ready.get_mut(next % buffers) else { return Ok(state) };
        let Some(ready) = slot.take_if(|ready| ready.index == next) else { return Ok(state) };
        state.next += 1;
        if state.is_held && ready.is_source {
            state.places.hold(ready.block);
        } else {
            if state.is_held {
                state.is_held = false;
                let mut held = state.places.release();
                for src in (0..next).map(|index| plan.block_src(index)) {
                    let src = src?;
                    let (place, rest) = held.split_at_mut_checked(src.len() + 4).unwrap_or_default();
                    state.copies.push((place, src));
                    held = rest;
                }
                workers.changed.notify_all();
            }
            if let Some(place) = state.places.take(ready.block) {
                drop(state);
                // A block of one byte, behind the four of its length, has been encoded: as a run.
                if ready.is_source && place.len() > 5 {
                    write_stored(plan.block_src(next)?, place);
                } else {
                    place.copy_from_slice(ready.buffer.get(..place.len()).unwrap_or_default());
                }
                state = lock(&workers.shared);
            }
        }
        state.free.push(ready.buffer);
        workers.changed.notify_one();
    }
}
