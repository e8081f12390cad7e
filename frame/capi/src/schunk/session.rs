//! What surrounds each operation on a super-chunk: the lock, what others have written since, and the commit.
//!
//! ```text
//! begin   hold the lock, if the handle has one; take over what other handles have written
//! ...     one operation, or all that are between blosc2_schunk_lock and blosc2_schunk_unlock
//! end     commit, let go of the lock
//! ```

use super::owned::{Owned, owned};
use crate::abi::Schunk;
use crate::error::*;
use core::ffi::c_int;

impl Owned {
    fn begin(&mut self, write: bool) -> Result<()> {
        let session = &mut self.inner.session;
        if session.depth > 0 {
            session.depth += 1;
            return Ok(());
        }
        if let Some(lock) = &mut session.lock {
            lock.acquire(write).map_err(|_| LOCK)?;
        }
        session.depth = 1;
        // A reader goes on with what it has if the file is gone.
        if let Err(code) = self.follow()
            && write
        {
            self.end()?;
            return Err(code);
        }
        Ok(())
    }

    /// Takes the lock, if the handle has one, for as long as the handle lives.
    pub fn hold_to_the_end(&mut self) {
        if let (Some(lock), 0) = (&mut self.inner.session.lock, self.inner.session.depth) {
            _ = lock.acquire(true);
        }
    }

    fn end(&mut self) -> Result<()> {
        self.inner.session.depth = self.inner.session.depth.saturating_sub(1);
        if self.inner.session.depth > 0 {
            return Ok(());
        }
        let done = self.commit();
        self.sync_data();
        if let Some(lock) = &self.inner.session.lock {
            lock.release().map_err(|_| LOCK)?;
        }
        done
    }

    /// Writes what has changed; where this fails, the frame is again what is stored.
    fn commit(&mut self) -> Result<()> {
        if !self.inner.is_stored || !self.inner.frame.is_dirty() {
            return Ok(());
        }
        let done = self.declare_chunksize().and_then(|()| Ok(self.inner.frame.commit()?));
        if done.is_err() {
            self.inner.frame.discard()?;
            self.inner.recount();
            self.sync_meta()?;
            self.sync();
        }
        done
    }

    /// Takes over what other handles have written; tells whether there was anything.
    fn follow(&mut self) -> Result<bool> {
        if !self.inner.is_stored || self.inner.frame.is_dirty() || !self.inner.frame.refresh()? {
            return Ok(false);
        }
        self.inner.cbytes = i64::try_from(self.inner.frame.header().cbytes).unwrap_or(i64::MAX);
        self.sync_meta()?;
        self.sync();
        Ok(true)
    }
}

/// Runs `body` as one operation on `schunk`, of which it may make references of its own.
///
/// # Safety
/// `schunk` is null or a super-chunk of this library that no other call uses now.
pub unsafe fn session<T>(schunk: *mut Schunk, write: bool, body: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: as the caller promises; the reference ends before `body` begins.
    unsafe { owned(schunk) }?.begin(write)?;
    // A panic, which would be a bug, must not leave the frame locked.
    let done = guard(Err, || body().map(Ok));
    // SAFETY: as the caller promises; what `body` referred to ended with it.
    let ended = unsafe { owned(schunk) }?.end();
    let value = done?;
    ended.map(|()| value)
}

/// Runs `body`, which reads, on the super-chunk.
///
/// # Safety
/// As [`session`].
pub unsafe fn reading<T>(schunk: *mut Schunk, body: impl FnOnce(&mut Owned) -> Result<T>) -> Result<T> {
    // SAFETY: as the caller promises; the only reference within the session is the one handed to `body`.
    unsafe { session(schunk, false, || body(owned(schunk)?)) }
}

/// Runs `body`, which changes the frame, on the super-chunk.
///
/// # Safety
/// As [`session`].
pub unsafe fn changing<T>(schunk: *mut Schunk, body: impl FnOnce(&mut Owned) -> Result<T>) -> Result<T> {
    // SAFETY: as the caller promises; the only reference within the session is the one handed to `body`.
    unsafe { session(schunk, true, || body(owned(schunk)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_refresh(schunk: *mut Schunk) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library, as the caller promises.
        let owned = unsafe { owned(schunk) }?;
        if let Some(lock) = owned.inner.session.lock.as_mut().filter(|_| owned.inner.session.depth == 0) {
            lock.acquire(false).map_err(|_| LOCK)?;
        }
        let found = owned.follow();
        if let Some(lock) = owned.inner.session.lock.as_ref().filter(|_| owned.inner.session.depth == 0) {
            lock.release().map_err(|_| LOCK)?;
        }
        found.map(c_int::from)
    })
}

/// Without a lock of the handle this does nothing: changes are committed one by one.
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_lock(schunk: *mut Schunk) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library, as the caller promises.
        let owned = unsafe { owned(schunk) }?;
        if owned.inner.session.lock.is_some() {
            owned.begin(true)?;
        }
        Ok(0)
    })
}

/// The inverse of [`blosc2_schunk_lock`].
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_unlock(schunk: *mut Schunk) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library, as the caller promises.
        let owned = unsafe { owned(schunk) }?;
        if owned.inner.session.lock.is_some() && owned.inner.session.depth > 0 {
            owned.end()?;
        }
        Ok(0)
    })
}
