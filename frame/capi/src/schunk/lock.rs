//! The lock of a frame in a file, for handles that ask for one.

use crate::abi::{Io, StdioParams};
use crate::error::*;
use blosc_frame::io::SidecarLock;
use std::path::Path;

/// The lock of a handle, and how many operations lie in each other.
#[derive(Default)]
pub struct Session {
    pub lock: Option<SidecarLock>,
    pub depth: u32,
}

/// Whether handles on files of this back end lock the frame.
///
/// # Safety
/// `io` is null or valid, and its parameters are of the kind that its id says.
pub unsafe fn is_locking(io: Option<&Io>) -> bool {
    if io.is_some_and(|io| io.id != 0) {
        return false;
    }
    // SAFETY: parameters of the back end for files, as the caller promises.
    let asked =
        io.and_then(|io| unsafe { io.params.cast::<StdioParams>().as_ref() }).is_some_and(|p| p.locking);
    asked || std::env::var("BLOSC_LOCKING").is_ok_and(|value| !value.is_empty() && value != "0")
}

/// Runs `body` while the lock of the frame at `path` is held, if `locking` asks for it. Gives the lock, too.
pub fn locked<T>(
    path: &str,
    locking: bool,
    write: bool,
    body: impl FnOnce() -> Result<T>,
) -> Result<(T, Option<SidecarLock>)> {
    if !locking {
        return Ok((body()?, None));
    }
    let mut lock = SidecarLock::open(Path::new(path)).map_err(|_| LOCK)?;
    lock.acquire(write).map_err(|_| LOCK)?;
    let made = body();
    lock.release().map_err(|_| LOCK)?;
    Ok((made?, Some(lock)))
}
