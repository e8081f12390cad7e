//! Repairing a contiguous or sparse frame: whatever chunks can still be found go into a new frame.
//!
//! ```text
//! 1  the frame opens             its index is used; chunks that do not decode are replaced
//! 2  it does not open            the payload is searched for chunks, and for an index among them:
//!                                a chunk of 8-byte items that all point at chunks found, with a trailer
//! 3  an index was found          the newest one gives the order (an older state of the frame, perhaps)
//! 4  none was found              the chunks come in the order they are stored in
//! 5  an array                    gets the chunks that its shape demands: those that are missing are filled in. Where
//!                                the chunks do not fit its shape at all, a plain frame comes of it
//! 6  the root of a store         the frames embedded in it are repaired by themselves
//! ```
//! A lost chunk of known size becomes zeros, or what is asked for, so that what follows keeps its place; one whose size
//! nothing tells is counted as missing. A chunk that cannot be decoded here (its codec is not built in, say) is no damaged
//! one: it is copied as it is if its bytes are whole, else it ends the repair.
//!
//! The frame itself is never written to. What cannot be written to the new frame, or lies beyond the limits, ends the
//! repair with an error: a chunk counts as lost only when it is the chunk that is damaged.

#[cfg(feature = "store")]
mod leaves;
mod made;
mod rescue;
mod search;
mod sparse;

use crate::error::{Error, IoKind};
use crate::io::ReadAt;
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Header as ChunkHeader, Params};
use core::ops::Range;
pub use sparse::repair_dir;

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

/// Saves what can be saved of a contiguous frame in `source`. `make` is given parameters and gives the
/// new, empty frame, which is committed at the end, and has the limits from then on.
///
/// # Errors
/// Errors of reading what tells where the chunks are and of writing the new frame; [`Error::Limit`] where more would
/// have to be decoded than the limits allow; the reason why a chunk cannot be decoded here, where its bytes are not known
/// to be whole; [`Error::NothingKept`] where there are chunks and all of them are lost. What `make` gave is not committed
/// then.
pub fn repair<'a>(
    source: &(impl ReadAt + Sync),
    options: impl Into<Options>,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    let options = options.into();
    #[cfg(feature = "store")]
    {
        let (mut report, mut made) = one(source, options.clone(), make)?;
        leaves::mend(&mut made, &mut report, &options, &|bytes| {
            one(&bytes, options.clone(), SuperChunk::memory)
        })?;
        Ok((report, made))
    }
    #[cfg(not(feature = "store"))]
    one(source, options, make)
}

/// Repairs one frame, be it the root of a store or not.
fn one<'a>(
    source: &(impl ReadAt + Sync),
    options: Options,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    match SuperChunk::open_read(Borrowed(source), &options.limits) {
        Ok(frame) if rescue::has_usable_index(&frame)? => rescue::rescue(frame, options, make),
        _ => search::search(source, options, make),
    }
}

/// A reference that can be shared by a frame opened for reading.
struct Borrowed<'s, R>(&'s R);

impl<R: ReadAt> ReadAt for Borrowed<'_, R> {
    crate::io::forward_read!(this => this.0);
}

/// Whether an error says nothing of the chunk, but that the caller has no memory for it, does not allow it so much, or may
/// not read it.
fn is_of_the_caller(error: &Error) -> bool {
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

/// Whether the bytes of a chunk that cannot be decoded here look whole: its blocks lie inside of it, one of them right
/// after the table of where they start, as every writer has it.
fn looks_whole(bytes: &[u8]) -> bool {
    let Ok(header) = ChunkHeader::parse(bytes) else { return false };
    let table = search::table_len(&header);
    bytes.len() == header.cbytes as usize
        && bytes.get(..table).is_some_and(|bytes| search::sound_table(bytes, &header))
}
