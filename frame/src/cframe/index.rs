//! Index entries (docs/formats/cframe.md §5.2): where each chunk lies.
//!
//! An entry without its top bit is an offset from the end of the header, or a chunk file's number.
//! One with it is a special chunk, which has no bytes: top byte `81` zeros, `82` NaN, `84` never written.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Structure};
use blosc_core::{Header as ChunkHeader, Special};

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry {
    /// Offset from the end of the header; in a sparse frame the number of the chunk file.
    Stored(u64),
    /// A chunk without bytes.
    Special(Special),
}

const ZEROS: i64 = i64::MIN | 0x01 << 56;
const NAN: i64 = i64::MIN | 0x02 << 56;
const UNINIT: i64 = i64::MIN | 0x04 << 56;

impl Entry {
    /// Reads a raw entry; special codes that no writer produces are refused.
    pub fn from_raw(raw: i64) -> Option<Entry> {
        match raw {
            0.. => Some(Entry::Stored(raw.unsigned_abs())),
            ZEROS => Some(Entry::Special(Special::Zeros)),
            NAN => Some(Entry::Special(Special::Nan)),
            UNINIT => Some(Entry::Special(Special::Uninit)),
            _ => None,
        }
    }

    /// The raw form. A repeated value has none: it is stored as a chunk.
    pub fn to_raw(self) -> Option<i64> {
        match self {
            Entry::Stored(at) => i64::try_from(at).ok(),
            Entry::Special(Special::Zeros) => Some(ZEROS),
            Entry::Special(Special::Nan) => Some(NAN),
            Entry::Special(Special::Uninit) => Some(UNINIT),
            Entry::Special(_) => None,
        }
    }
}

/// Why a special chunk in a frame of variable chunks cannot be read.
pub(crate) const SIZE_LOST: Error = Error::Unsupported {
    structure: Structure::Index,
    what: "a special chunk in a frame of variable chunks (its size is lost)",
};

/// Checks the header of an index chunk against the number of chunks the frame header promises
/// (`None`: it promises none) and gives that number. `at` is where the chunk starts in the frame.
///
/// # Errors
/// [`Error::Invalid`] for an index of other items than 8 bytes, or of another number of them.
pub fn check_header(header: &ChunkHeader, promised: Option<u64>, at: u64) -> Result<u64, Error> {
    let invalid =
        |field, skip, value| Error::invalid(Structure::Index, field, at.saturating_add(skip), value);
    if header.typesize != 8 {
        return Err(invalid("typesize", 3, i64::from(header.typesize)));
    }
    let nbytes = u64::from(header.nbytes);
    if nbytes % 8 != 0 || promised.is_some_and(|n| n.checked_mul(8) != Some(nbytes)) {
        return Err(invalid("decoded length", 4, i64::from(header.nbytes)));
    }
    let nchunks = nbytes / 8;
    if nchunks > super::header::MAX_CHUNKS || nchunks == 0 {
        return Err(invalid("number of chunks", 4, i64::from(header.nbytes)));
    }
    if matches!(header.special(), Some(Special::Nan | Special::Uninit)) {
        return Err(invalid("special kind", 31, i64::from(header.flags1)));
    }
    Ok(nchunks)
}

/// Checks a raw entry: canonical, and inside the payload. `at` is where the index starts, for errors;
/// `cbytes` bounds offsets, and is `None` in a sparse frame, whose entries are file numbers.
///
/// # Errors
/// [`Error::Invalid`] with the offset of the entry.
pub fn check_entry(raw: i64, at: u64, cbytes: Option<u64>) -> Result<Entry, Error> {
    let entry = Entry::from_raw(raw).filter(|entry| match (*entry, cbytes) {
        (Entry::Stored(offset), Some(cbytes)) => offset.checked_add(32).is_some_and(|end| end <= cbytes),
        (Entry::Stored(id), None) => id <= u64::from(u32::MAX),
        _ => true,
    });
    let field = if cbytes.is_some() { "entry (chunk offset)" } else { "entry (chunk file)" };
    entry.ok_or(Error::invalid(Structure::Index, field, at, raw))
}
