//! [`Pending`]: in what a super-chunk differs from the state on disk.

use crate::cframe::header::Header;

/// How the header's metalayers differ from those on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    No,
    /// In content, each as long as it was.
    Content,
    /// In length: everything behind the header would move.
    Length,
}

/// A switch must not be torn: it stays inside the first of these.
const SECTOR: u64 = 512;

/// What the next commit has to write, and over which state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The header's first bytes as last read or written; `None` before the first commit of a new frame.
    pub(super) committed: Option<Header>,
    /// The header's metalayers.
    pub(super) metalayers: Change,
    /// Anything else.
    pub(super) frame: bool,
    /// Whether something may have been written for it, which goes if it is given up.
    pub(super) written: bool,
}

impl Pending {
    /// For a new frame: all of it.
    pub(super) fn all() -> Pending {
        Pending { committed: None, metalayers: Change::No, frame: true, written: false }
    }

    /// The state with this header is on disk, and this is it.
    pub(super) fn nothing(header: Header) -> Pending {
        Pending { committed: Some(header), metalayers: Change::No, frame: false, written: false }
    }

    pub(super) fn is_anything(&self) -> bool {
        self.frame || self.metalayers != Change::No
    }

    /// Whether one small write can put the next state in force, whose header takes `header_len` bytes as that of the
    /// state before, and which has `chunks` chunks. The first state of a frame may be written in any order: its first
    /// bytes come last.
    pub(super) fn can_switch(&self, header_len: u64, chunks: u64) -> bool {
        self.committed.is_none() || chunks > 0 && (self.metalayers == Change::No || header_len <= SECTOR)
    }
}
