//! Signals that end the program: temporary files go before it does.

use crate::paths::parent;
use blosc_frame::io::temporary_beginning;
#[cfg(unix)]
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ},
    iterator::Signals,
};
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::{Arc, atomic::AtomicBool};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// What to remove when a signal ends the program: temporary files and directories, and files whose names begin so.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static BEGINNINGS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Ends the program when a signal asks for it, without leaving temporary files. A signal that is ignored from the
/// start, as by `nohup` and by jobs in the background, stays so. Where handlers cannot be had, a signal ends the program
/// all the same, and the next command removes what stays. A process that runs several commands handles signals once.
pub fn clean_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(handle);
}

/// Removes what is temporary, and ends the program.
fn end() {
    // Held to the end, so that nothing half removed is renamed into place.
    let temporary = temporary();
    for path in &*temporary {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
    for beginning in &*BEGINNINGS.lock().unwrap_or_else(PoisonError::into_inner) {
        remove_beginning(beginning);
    }
    std::process::exit(130);
}

fn remove_beginning(path: &Path) {
    let Some(name) = path.file_name().map(|name| name.as_encoded_bytes()) else { return };
    for entry in fs::read_dir(parent(path)).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(name) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The temporary files and directories. While this is held, no signal ends the program.
pub fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a temporary file or directory.
pub fn remember(path: &Path) {
    temporary().push(path.to_path_buf());
}

/// Remembers what the library calls the files by which it replaces `path`.
pub fn remember_replacing(path: &Path) {
    // A link is not replaced, but what it leads to.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if let Ok(beginning) = temporary_beginning(&path) {
        BEGINNINGS.lock().unwrap_or_else(PoisonError::into_inner).push(beginning);
    }
}

#[cfg(not(unix))]
fn handle() {
    let _ = ctrlc::try_set_handler(end);
}

/// Handles the signals that are not ignored.
#[cfg(unix)]
fn handle() {
    // With a handler the signal of `ulimit -f` ends nothing: the write fails, as on a full disk.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let ignored = ignored();
    let (ready, begin) = std::sync::mpsc::channel::<()>();
    // Without a thread nothing is handled: a handler whose signal no thread waits for would keep the signal from its work.
    let _ = std::thread::Builder::new().spawn(move || {
        let wanted = [SIGTERM, SIGINT, SIGHUP].into_iter().filter(|signal| !ignored.contains(signal));
        let signals = Signals::new(wanted);
        drop(ready);
        if let Ok(mut signals) = signals {
            signals.forever().take(1).for_each(|_| end());
        }
    });
    // The handlers have their descriptors before the work begins, so that none runs out midway, when a directory is removed.
    let _ = begin.recv();
}

/// Which signals this process was started with as ignored. Where the system does not say, those that shells and `nohup`
/// ignore.
#[cfg(unix)]
fn ignored() -> Vec<i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => (1..64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect(),
        None => vec![SIGINT, SIGHUP],
    }
}
