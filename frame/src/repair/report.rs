//! What a repair is asked for, and what it tells: [`Options`] and [`Repaired`].

use crate::error::{Error, IoKind};
use crate::limits::Limits;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Where the order of the chunks was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The frame's own index.
    Index,
    /// An index found in the payload: that of the newest state still there.
    FoundIndex,
    /// The order in which the chunks are stored.
    Stored,
}

/// What takes the place of items that are lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Substitute {
    /// Zeros.
    #[default]
    Zeros,
    /// NaN, in frames whose items are floats of 4 or 8 bytes.
    Nan,
    /// An item.
    Item(Vec<u8>),
}

/// How to repair.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// What may be decoded; the new frame has these limits, too.
    pub limits: Limits,
    /// What takes the place of items that are lost.
    pub substitute: Substitute,
}

impl Options {
    /// Sets what takes the place of items that are lost.
    pub fn substitute(mut self, substitute: Substitute) -> Options {
        self.substitute = substitute;
        self
    }
}

impl From<&Limits> for Options {
    fn from(limits: &Limits) -> Options {
        Options { limits: *limits, substitute: Substitute::Zeros }
    }
}

/// What a repair found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Where the order of the chunks comes from.
    pub order: Order,
    /// Chunks taken over.
    pub kept: u64,
    /// Kept chunks that were copied as they are because they cannot be decoded here: nothing is known to be wrong
    /// with them.
    pub unchecked: u64,
    /// Kept chunks that no entry of the index names, but that lie where the chunk of an entry that is damaged
    /// must have been.
    pub placed: u64,
    /// Chunks that are there but do not decode, and chunks that must be there but are not: by their number in the new
    /// frame, where something else takes their place.
    pub lost: Vec<u64>,
    /// Which rows of an array the lost chunks have a part of, or which items of another frame: in ascending order.
    pub gone: Vec<Range<u64>>,
    /// How many chunks the header announces, or an index names, beyond those in the new frame: never found, or
    /// damaged or of special values and of a size that nothing tells.
    pub missing: u64,
    /// Metalayers that the new frame does not have: they cannot be read, or do not fit the chunks that are left.
    pub dropped: Vec<String>,
    /// Keys of frames embedded in the root of a store of which nothing is left.
    pub leaves_lost: Vec<String>,
    /// Keys of those that were repaired.
    pub leaves_in_part: Vec<String>,
    /// Whether header, index and trailer are those that the fingerprint was made of, where the frame opens and has one.
    pub intact: bool,
    /// Whether parameters and metalayers were read from the header.
    pub header: bool,
    /// Whether vlmetalayers were read from a trailer.
    pub vlmetalayers: bool,
}

impl Repaired {
    /// Whether all of the frame is in the new one: nothing is lost or missing, and nothing had to be guessed.
    pub fn is_complete(&self) -> bool {
        let leaves = self.leaves_lost.is_empty() && self.leaves_in_part.is_empty();
        let whole = leaves
            && self.lost.is_empty()
            && self.missing == 0
            && self.placed == 0
            && self.dropped.is_empty();
        whole && self.intact && self.header && self.vlmetalayers && self.order == Order::Index
    }
}

/// Whether an error says nothing of the chunk, but that the caller has no memory for it, does not allow it so much, or may
/// not read it.
pub(super) fn is_of_the_caller(error: &Error) -> bool {
    use blosc_core::Error as Core;
    match error {
        Error::Limit { .. }
        | Error::OutOfMemory
        | Error::Codec(Core::Limit { .. })
        | Error::Chunk { error: Core::Limit { .. }, .. } => true,
        Error::Io(error) => error.kind == IoKind::PermissionDenied,
        _ => false,
    }
}
