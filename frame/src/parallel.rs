//! Chunks on several threads. The order of results, and the bytes, do not depend on how many threads there are.

use crate::error::Error;
use crate::spare::{Tools, tools};
use alloc::vec::Vec;
use blosc_core::Codec;
use std::collections::VecDeque;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// A thread that ends without a result has panicked.
const DIED: Error = Error::Internal { what: "a thread that panicked" };

/// Whether decoding this many bytes takes well above a millisecond: less is not worth waking another thread
/// for, which takes a tenth of that, in virtual machines several.
pub(crate) fn worth(codec: Codec, bytes: u64) -> bool {
    let least = match codec {
        Codec::Zlib => 1 << 20,
        Codec::Zstd => 2 << 20,
        _ => 4 << 20,
    };
    // Tests compare small arrays with a model.
    cfg!(test) || bytes >= least
}

/// Runs `work` on every item, on as many threads as there are `states`, the caller's among them. After an
/// error no new item is begun.
pub(crate) fn each<S: Send, I: Send>(
    states: &mut [S],
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(&mut S, I) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let items = Mutex::new(Some(items));
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.next();
    let run = |state: &mut S| {
        while let Some(item) = next() {
            if let Err(error) = work(state, item) {
                *items.lock().unwrap_or_else(PoisonError::into_inner) = None;
                return Err(error);
            }
        }
        Ok(())
    };
    let run = &run;
    let (here, others) =
        states.split_first_mut().ok_or(Error::Internal { what: "work without anybody to do it" })?;
    std::thread::scope(|scope| {
        // A system that gives no more threads is no error: the caller's works too.
        let spawned = |state| Builder::new().spawn_scoped(scope, move || run(state)).ok();
        let others: Vec<_> = others.iter_mut().filter_map(spawned).collect();
        others.into_iter().fold(run(here), |result, thread| {
            let other = thread.join().unwrap_or(Err(DIED));
            result.and(other)
        })
    })
}

/// Larger chunks are decoded one at a time, their blocks in parallel, to bound the memory.
pub(crate) const MAX_AHEAD: u32 = 16 << 20;

/// Bytes that are handed to a thread at a time, at the least: waking it costs as much as some tens of KiB.
/// Tests have small frames.
pub(crate) const HANDED: usize = if cfg!(test) { 64 } else { 256 << 10 };

/// How many chunks of `size` bytes are handed to a thread at a time.
pub(crate) fn handed(size: usize) -> usize {
    HANDED.div_ceil(size.max(1))
}

/// Runs `work` on every item, on a thread for each of the `crew`, and hands the results to `take` in the items' order,
/// on the calling thread. A thread gets `together` items at a time; the results of two such batches per thread wait at most.
pub(crate) fn ordered<I: Send, O: Send>(
    crew: &mut [Tools],
    together: usize,
    items: impl Iterator<Item = I>,
    work: impl Fn(&mut Tools, I) -> O + Sync,
    mut take: impl FnMut(O) -> Result<(), Error>,
) -> Result<(), Error> {
    // A thread for a batch at most.
    let together = together.max(1);
    let threads = items.size_hint().1.map_or(crew.len(), |most| crew.len().min(most.div_ceil(together)));
    // Each batch travels with the channel for its results.
    let (send_job, jobs) = mpsc::channel::<(Vec<I>, SyncSender<Vec<O>>)>();
    std::thread::scope(|scope| {
        // Dropped on every way out, which ends the workers; and when these are gone, so are the jobs that wait.
        let (send_job, jobs) = (send_job, Arc::new(Mutex::new(jobs)));
        let mut started = 0usize;
        for tools in crew.iter_mut().take(threads) {
            let (jobs, work) = (Arc::clone(&jobs), &work);
            let thread = Builder::new().spawn_scoped(scope, move || {
                let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                while let Ok((batch, results)) = next() {
                    // After an error no thread waits for them.
                    let _ = results.send(batch.into_iter().map(|item| work(tools, item)).collect());
                }
            });
            started += usize::from(thread.is_ok());
        }
        drop(jobs);
        if started == 0 {
            let mut tools = tools(1);
            return items.map(|item| work(&mut tools, item)).try_for_each(take);
        }
        let mut items = items.fuse();
        let mut waiting = VecDeque::new();
        loop {
            while waiting.len() < threads.saturating_mul(2) {
                let batch: Vec<I> = items.by_ref().take(together).collect();
                if batch.is_empty() {
                    break;
                }
                let (send_results, results) = mpsc::sync_channel(1);
                send_job.send((batch, send_results)).map_err(|_| DIED)?;
                waiting.push_back(results);
            }
            let Some(results) = waiting.pop_front() else { return Ok(()) };
            results.recv().map_err(|_| DIED)?.into_iter().try_for_each(&mut take)?;
        }
    })
}
