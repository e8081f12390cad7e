//! Chunks on several threads, results in order: the order of chunks, and the bytes, do not depend on
//! how many threads there are.

use crate::error::{Error, IoKind};
use blosc_core::Pool;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, mpsc};

/// Runs `work` on every item, on `threads` threads with a [`Pool`] each, and hands the results to
/// `take` in the items' order, on the calling thread. At most two results per thread wait.
pub(super) fn ordered<I: Send, O: Send>(
    threads: usize,
    items: impl Iterator<Item = I>,
    work: impl Fn(&mut Pool, I) -> O + Sync,
    mut take: impl FnMut(O) -> Result<(), Error>,
) -> Result<(), Error> {
    let (send_job, jobs) = mpsc::channel::<(u64, I)>();
    let jobs = Mutex::new(jobs);
    let (send_result, results) = mpsc::channel::<(u64, O)>();
    let ahead = (threads as u64).saturating_mul(2);
    std::thread::scope(|scope| {
        // Owned by the scope's closure: dropped on every way out, which ends the workers.
        let send_job = send_job;
        for _ in 0..threads {
            let (jobs, work, send_result) = (&jobs, &work, send_result.clone());
            scope.spawn(move || {
                let mut pool = Pool::new(1);
                loop {
                    let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, item)) = job else { break };
                    if send_result.send((number, work(&mut pool, item))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send_result);
        let mut items = items.enumerate();
        let (mut sent, mut taken) = (0u64, 0u64);
        let mut waiting = BTreeMap::new();
        loop {
            while sent.saturating_sub(taken) < ahead {
                let Some((number, item)) = items.next() else { break };
                send_job.send((number as u64, item)).map_err(|_| IoKind::Other)?;
                sent = sent.saturating_add(1);
            }
            if taken == sent {
                return Ok(());
            }
            let result = match waiting.remove(&taken) {
                Some(result) => result,
                None => {
                    let (number, result) = results.recv().map_err(|_| IoKind::Other)?;
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
