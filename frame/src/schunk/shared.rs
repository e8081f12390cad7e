//! [`Shared`]: what several threads may use of a super-chunk at once, each with buffers of its own.

use super::SuperChunk;
use super::checksum;
use super::place::{Located, Place};
use super::read::around;
use crate::cframe::Entries;
use crate::cframe::index::Entry;
use crate::error::{Error, Structure};
use crate::limits::Limits;
use blosc_core::{ChunkContext, Special};

/// The chunks of a frame, to be read.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'s> {
    place: &'s Place<'s>,
    entries: &'s Entries,
    /// The checksums that chunks are held to, where they are known.
    sums: &'s [u64],
    pub(super) limits: &'s Limits,
    typesize: u32,
    blockshape: &'s [u32],
}

/// A chunk that has been found, and perhaps read.
pub(super) enum Found<'s, T> {
    Special(Special),
    Stored(T, Located<'s>),
}

impl SuperChunk<'_> {
    pub(crate) fn shared(&self) -> Shared<'_> {
        Shared {
            place: &self.place,
            entries: &self.entries,
            sums: self.hashes.all_held(),
            limits: &self.limits,
            typesize: self.header.typesize,
            blockshape: &self.blockshape,
        }
    }
}

/// The entry of chunk `k`.
pub(super) fn entry(entries: &Entries, k: u64) -> Result<Entry, Error> {
    let len = entries.len();
    let raw = entries.get(k).ok_or(Error::OutOfRange { what: "chunk", index: k, len })?;
    let wrong = Error::Invalid { structure: Structure::Index, field: "entry", offset: 0, value: raw };
    Entry::from_raw(raw).ok_or(wrong)
}

impl<'s> Shared<'s> {
    /// What chunks may ask about the frame around them.
    pub(super) fn around(self) -> ChunkContext<'s> {
        around(self.typesize, self.blockshape)
    }

    /// The checksum that chunk `k` is held to when all of it is read.
    pub(super) fn sum(self, k: u64) -> Option<u64> {
        self.sums.get(usize::try_from(k).ok()?).copied().filter(|sum| *sum != checksum::UNKNOWN)
    }

    /// Where chunk `k` lies.
    pub(super) fn locate(self, k: u64) -> Result<Found<'s, ()>, Error> {
        Ok(match entry(self.entries, k)? {
            Entry::Special(kind) => Found::Special(kind),
            Entry::Stored(entry) => Found::Stored((), self.place.locate(entry)?),
        })
    }
}
