//! Chunks on several threads. The order of results, and the bytes, do not depend on how many threads there are.

use crate::error::Error;
use alloc::vec::Vec;
use blosc_core::{Codec, Pool};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::Builder;

/// A thread that ends without a result has panicked.
const DIED: Error = Error::Internal { what: "a thread that panicked" };

/// A thread's own: what it decodes or encodes with, and a buffer for what it reads.
pub(super) type Tools = (Pool, Vec<u8>);

pub(super) fn tools() -> Tools {
    (Pool::new(1), Vec::new())
}

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

/// Runs `work` on every item, on `threads` threads, and hands the results to `take` in the items' order,
/// on the calling thread. At most two results per thread wait.
pub(super) fn ordered<I: Send, O: Send>(
    threads: usize,
    items: impl Iterator<Item = I>,
    work: impl Fn(&mut Tools, I) -> O + Sync,
    mut take: impl FnMut(O) -> Result<(), Error>,
) -> Result<(), Error> {
    let (send_job, jobs) = mpsc::channel::<(u64, I)>();
    let jobs = Mutex::new(jobs);
    let (send_result, results) = mpsc::channel::<(u64, O)>();
    let ahead = (threads as u64).saturating_mul(2);
    std::thread::scope(|scope| {
        // Owned by the scope's closure: dropped on every way out, which ends the workers.
        let send_job = send_job;
        let mut started = 0usize;
        for _ in 0..threads {
            let (jobs, work, send_result) = (&jobs, &work, send_result.clone());
            let thread = Builder::new().spawn_scoped(scope, move || {
                let mut tools = tools();
                loop {
                    let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, item)) = job else { break };
                    if send_result.send((number, work(&mut tools, item))).is_err() {
                        break;
                    }
                }
            });
            started += usize::from(thread.is_ok());
        }
        drop(send_result);
        if started == 0 {
            let mut tools = tools();
            return items.map(|item| work(&mut tools, item)).try_for_each(take);
        }
        let mut items = items.enumerate();
        let (mut sent, mut taken) = (0u64, 0u64);
        let mut waiting = BTreeMap::new();
        loop {
            while sent.saturating_sub(taken) < ahead {
                let Some((number, item)) = items.next() else { break };
                send_job.send((number as u64, item)).map_err(|_| DIED)?;
                sent = sent.saturating_add(1);
            }
            if taken == sent {
                return Ok(());
            }
            let result = match waiting.remove(&taken) {
                Some(result) => result,
                None => {
                    let (number, result) = results.recv().map_err(|_| DIED)?;
                    if number != taken {
                        waiting.insert(number, result);
                        continue;
                    }
                    result
                }
            };
            take(result)?;
            taken = taken.saturating_add(1);
        }
    })
}
