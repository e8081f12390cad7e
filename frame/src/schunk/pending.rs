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
    /// Nothing, where a state with this header is on disk; all of a new frame.
    pub(super) fn after(committed: Option<Header>) -> Pending {
        Pending { committed, metalayers: Change::No, frame: committed.is_none(), written: false }
    }
}
