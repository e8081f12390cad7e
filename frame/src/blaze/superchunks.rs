//! The super-chunk files of a column: their names, and which chunks each of them holds.
//!
//! ```text
//! superchunksize s known:   file k holds chunks (k−1)·s .. k·s
//! otherwise:                each file is asked for its chunks; a file added later holds the number of the largest one
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Error;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Which chunks each file holds.
pub(super) struct Files {
    /// The first chunk of each of the first files; at least one entry.
    pub starts: Vec<u64>,
    /// How many chunks the last of those files holds, and every file behind it.
    pub per: u64,
    /// The first chunk whose file is not known, and why: a file that had to be asked for its chunks is not here.
    pub unknown: Option<(u64, Error)>,
}

impl Files {
    /// The chunks of file `k`, from 1 on.
    pub fn chunks(&self, k: u64) -> Range<u64> {
        let k = k.saturating_sub(1);
        let at = |k: u64| usize::try_from(k).ok().and_then(|k| self.starts.get(k)).copied();
        let last = (self.starts.len() as u64).saturating_sub(1);
        let start = at(k).unwrap_or_else(|| {
            let behind = k.saturating_sub(last).saturating_mul(self.per);
            self.starts.last().copied().unwrap_or(0).saturating_add(behind)
        });
        start..at(k.saturating_add(1)).unwrap_or(start.saturating_add(self.per))
    }

    /// The file that holds chunk `i`.
    pub fn of(&self, i: u64) -> u64 {
        let listed = self.starts.partition_point(|&start| start <= i) as u64;
        if listed < self.starts.len() as u64 {
            return listed;
        }
        let behind = i.saturating_sub(self.starts.last().copied().unwrap_or(0));
        listed.saturating_add(behind.checked_div(self.per).unwrap_or(0))
    }

    /// How many files hold this number of chunks.
    pub fn count(&self, chunks: u64) -> u64 {
        chunks.checked_sub(1).map_or(0, |last| self.of(last))
    }

    /// Fails when the files do not tell where chunk `i` is.
    pub fn check(&self, i: u64) -> Result<(), Error> {
        match self.unknown {
            Some((first, error)) if i >= first => Err(error),
            _ => Ok(()),
        }
    }
}

/// Super-chunks are chosen to hold about this many decoded bytes.
const SUPERCHUNK: u64 = 64 << 20;

/// How many chunks of `chunk` bytes go into a super-chunk by default.
pub(super) fn default_superchunk(chunk: u64) -> u64 {
    SUPERCHUNK.checked_div(chunk).unwrap_or(1).clamp(1, 1024)
}

/// The name of file `k`.
pub(super) fn file_name(k: u64) -> String {
    format!("__{k}__.bin")
}

/// The number in the name of a super-chunk file.
pub(super) fn file_number(name: &str) -> Option<u64> {
    let k = name.strip_prefix("__")?.strip_suffix("__.bin")?.parse().ok()?;
    (file_name(k) == name).then_some(k)
}

/// Whether a name is one of a super-chunk file.
pub(super) fn is_superchunk(name: &str) -> bool {
    name.strip_prefix("__").and_then(|n| n.strip_suffix("__.bin")).is_some()
}
