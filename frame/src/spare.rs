//! What lets several threads read one open container: [`Lock`], [`Once`], and [`Spare`], the tools of readers.
//!
//! Without `std` there is no lock: then a container can be moved to another thread and read by one at a time.

use alloc::vec::Vec;
use blosc_core::{ChunkContext, Params, Pool, max_encoded_len};
#[cfg(not(feature = "std"))]
use core::cell::{OnceCell, RefCell, RefMut};
use core::ops::DerefMut;
#[cfg(feature = "std")]
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// A value that is found out once, by the first reader that needs it.
#[cfg(feature = "std")]
pub(crate) type Once<T> = OnceLock<T>;
#[cfg(not(feature = "std"))]
pub(crate) type Once<T> = OnceCell<T>;

#[cfg(feature = "std")]
type Held<'l, T> = MutexGuard<'l, T>;
#[cfg(not(feature = "std"))]
type Held<'l, T> = RefMut<'l, T>;

/// What may go to another thread, where there are threads.
#[cfg(feature = "std")]
pub(crate) trait Portable: Send + Sync {}
#[cfg(feature = "std")]
impl<T: Send + Sync> Portable for T {}
#[cfg(not(feature = "std"))]
pub(crate) trait Portable {}
#[cfg(not(feature = "std"))]
impl<T> Portable for T {}

/// A value that readers change one after the other. A panic of another reader is no reason to refuse it: what is locked here is
/// scratch memory, or blocks that are put in whole.
pub(crate) struct Lock<T> {
    #[cfg(feature = "std")]
    value: Mutex<T>,
    #[cfg(not(feature = "std"))]
    value: RefCell<T>,
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Lock<T> {
        Lock {
            #[cfg(feature = "std")]
            value: Mutex::new(value),
            #[cfg(not(feature = "std"))]
            value: RefCell::new(value),
        }
    }

    /// The value; waits until no other thread has it. A thread that has it already must not ask again.
    pub(crate) fn lock(&self) -> impl DerefMut<Target = T> {
        #[cfg(feature = "std")]
        return self.value.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(not(feature = "std"))]
        return self.value.borrow_mut();
    }

    /// The value, if nothing has it.
    fn try_lock(&self) -> Option<Held<'_, T>> {
        #[cfg(feature = "std")]
        return match self.value.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        #[cfg(not(feature = "std"))]
        return self.value.try_borrow_mut().ok();
    }

    /// The value, where it is not shared.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        #[cfg(feature = "std")]
        return self.value.get_mut().unwrap_or_else(PoisonError::into_inner);
        #[cfg(not(feature = "std"))]
        return self.value.get_mut();
    }
}

/// Sets of tools that are kept for later readers at most, beside the first.
const MOST: usize = 31;

/// What a reader or a writer has for itself: what it decodes or encodes with, and a buffer for what it reads.
pub(crate) type Tools = (Pool, Vec<u8>);

pub(crate) fn tools(threads: usize) -> Tools {
    (Pool::new(threads), Vec::new())
}

/// Tools for each of `threads` threads.
#[cfg(feature = "std")]
pub(crate) fn crew(threads: usize) -> Vec<Tools> {
    core::iter::repeat_with(|| tools(1)).take(threads).collect()
}

/// Encodes a chunk. `room` grows to what the worst case needs, and is kept: no more of it is touched than is ever written.
pub(crate) fn encode<'r>(
    (pool, room): (&mut Pool, &'r mut Vec<u8>),
    params: &Params,
    around: ChunkContext<'_>,
    data: &[u8],
) -> Result<&'r [u8], blosc_core::Error> {
    let needed = max_encoded_len(data.len());
    if room.len() < needed {
        *room = alloc::vec![0; needed];
    }
    let len = pool.compress_into(params, around, data, room)?;
    Ok(room.get(..len).unwrap_or(&[]))
}

/// Scratch memory and codec contexts: a set for each reader at work, kept for the next one. A reader that is alone
/// always gets the same set, and takes one lock for it.
pub(crate) struct Spare<T> {
    first: Lock<T>,
    others: Lock<Vec<T>>,
}

impl<T> Spare<T> {
    pub(crate) fn new(first: T) -> Spare<T> {
        Spare { first: Lock::new(first), others: Lock::new(Vec::new()) }
    }

    /// Runs `work` with a set of tools, which `make` makes if all are in use.
    pub(crate) fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let (mut first, mut other) = (self.first.try_lock(), None);
        let tools = match &mut first {
            Some(first) => &mut **first,
            None => {
                // A statement of its own: the lock must be free again while `make` and `work` run.
                let kept = self.others.lock().pop();
                other.insert(kept.unwrap_or_else(make))
            }
        };
        let result = work(tools);
        if let Some(other) = other {
            let mut others = self.others.lock();
            if others.len() < MOST {
                others.push(other);
            }
        }
        result
    }

    /// The tools of a caller that is alone.
    pub(crate) fn own(&mut self) -> &mut T {
        self.first.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readers inside readers get tools of their own, and these are kept.
    #[test]
    fn nested_readers_get_other_tools() {
        let spare = Spare::new(0u32);
        let made = core::cell::Cell::new(0);
        let make = || {
            made.set(made.get() + 1);
            0
        };
        for _ in 0..5 {
            spare.with(make, |outer| {
                *outer += 1;
                spare.with(make, |inner| *inner += 10);
            });
        }
        assert_eq!((made.get(), *spare.first.lock(), spare.others.lock().clone()), (1, 5, [50].into()));
    }

    #[cfg(feature = "std")]
    #[test]
    fn a_panic_of_one_reader_is_not_that_of_the_next() {
        let spare = Spare::new(1u32);
        let panic = || spare.with(|| 0, |_| panic!("on purpose"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panic)).is_err());
        assert_eq!(spare.with(|| 0, |tools| *tools), 1);
    }
}
