//! How a container that a command changes, or looks into, is got at; and the lock held meanwhile.

use crate::args::Input;
use crate::failure::{Failure, Result, failure};
use crate::paths::{is_stream, is_url};
use blosc_frame::any::Kind;
use blosc_frame::bcolz::Flavour;
use blosc_frame::io::{FsDir, SidecarLock, strays as strays_beside, sweep};
use blosc_frame::{Limits, SuperChunk};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What a command will do with what it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Say what it is, and whether it is sound.
    Inspect,
    /// Take its items.
    Read,
    /// Change what lies around the items.
    Maintain,
    /// Change the items.
    Change,
}

impl Intent {
    /// Whether something is written.
    pub fn writes(self) -> bool {
        matches!(self, Intent::Maintain | Intent::Change)
    }

    /// Whether its items are needed.
    pub fn takes_items(self) -> bool {
        matches!(self, Intent::Read | Intent::Change)
    }
}

/// Refuses options that say nothing of what is read, by its kind.
///
/// # Errors
/// `--column` given for no table, or more often than one is read at a time; `--anywhere`, `--no-verify` given for others.
pub fn check_options_of(input: &Input, kind: Kind) -> Result<()> {
    let columns = match kind {
        Kind::Store | Kind::Zip | Kind::Frame => usize::MAX,
        Kind::Bcolz(Flavour::Table) | Kind::Blaze | Kind::Shards => 1,
        _ => 0,
    };
    if input.column.len() > columns {
        let what = if columns == 1 { "read one column at a time" } else { "no table" };
        return Err(Failure::Usage(format!("--column: {} is {what}", input.input.display())));
    }
    if input.anywhere && kind != Kind::Shards {
        return Err(Failure::Usage(format!(
            "--anywhere: {} is no manifest of shards",
            input.input.display()
        )));
    }
    if input.no_verify
        && !matches!(kind, Kind::Frame | Kind::SparseFrame | Kind::Store | Kind::Arrays | Kind::Zip)
    {
        return Err(Failure::Usage(format!("--no-verify: {} is no frame or array", input.input.display())));
    }
    Ok(())
}

/// A lock, held as long as this lives.
pub struct Lock {
    #[allow(dead_code, reason = "closing the file lets go of the lock")]
    file: SidecarLock,
    path: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).retain(|(path, _)| *path != self.path);
    }
}

/// What this process holds locks of, and whether to write: it would wait for itself.
static HELD: Mutex<Vec<(PathBuf, bool)>> = Mutex::new(Vec::new());

/// Waits for the sidecar lock of `path` and holds it, if that is asked for here or by `BLOSC_LOCKING`, as C-Blosc2
/// has it: alone to write, with other readers to read.
pub fn lock(path: &Path, asked: bool, write: bool) -> Result<Option<Lock>> {
    put_back(path);
    let by_environment = || std::env::var_os("BLOSC_LOCKING").is_some_and(|v| !v.is_empty() && v != "0");
    if !asked && (is_url(path) || !by_environment()) {
        return Ok(None);
    }
    // No lock is left beside what does not exist, and a stream has no name to put one beside.
    if is_stream(path)? {
        return match asked {
            true => Err(Failure::Usage(format!("--lock: {} is a stream", path.display()))),
            false => Ok(None),
        };
    }
    let held = |held: &(PathBuf, bool)| held.0 == path && (held.1 || !write);
    if HELD.lock().unwrap_or_else(PoisonError::into_inner).iter().any(held) {
        return Ok(None);
    }
    let mut lock = SidecarLock::open(path).map_err(failure(path))?;
    // The guard lets go when it is dropped; closing the file does, too, and comes when the command is done.
    match write {
        true => std::mem::forget(lock.write().map_err(failure(path))?),
        false => std::mem::forget(lock.read().map_err(failure(path))?),
    }
    HELD.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_path_buf(), write));
    Ok(Some(Lock { file: lock, path: path.to_path_buf() }))
}

/// Puts back what stood at `path` where a command was killed while it replaced that, on a system that cannot do it in one
/// step.
fn put_back(path: &Path) {
    if path != Path::new("-") && std::fs::symlink_metadata(path).is_err() {
        let _ = sweep(path);
    }
}

/// What writers that died left beside a container, or in it: temporary files, and chunks that nothing refers to.
pub fn strays(path: &Path) -> Vec<String> {
    let beside = strays_beside(path).unwrap_or_default();
    let inside = || SuperChunk::open_dir(FsDir::open(path)?, &Limits::DEFAULT)?.strays();
    let inside = if path.is_dir() { inside().unwrap_or_default() } else { Vec::new() };
    beside.iter().map(|stray| stray.display().to_string()).chain(inside).collect()
}
