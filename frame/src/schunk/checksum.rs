//! Checksums of a frame, in two places where other programs leave them alone.
//!
//! ```text
//! trailer fingerprint, type 3: XXH3-128 over
//!     header 00..3e and 44..57 | index chunk | trailer without the fingerprint's 16 bytes
//! vlmetalayer ".checksums": MessagePack bin32 of
//!     "XXH3" 02 00 00 00 | u64 metalayers | u64 n | u64 live | n x u64            (little-endian)
//!     "XXH3" 01 00 00 00 | u64 metalayers | u64 n | n x u64                       (the earlier form, read only)
//! ```
//! `metalayers` is XXH3-64 of header bytes 57..H. `live` is the stored bytes of all chunks: what else there is of the
//! payload is free room. The table has one XXH3-64 per stored chunk (of its stored bytes), in logical
//! order; 0 means "not known". Special chunks need none: the index is covered by the fingerprint.
//!
//! C-Blosc2 drops the fingerprint whenever it rewrites the trailer, and the table then says nothing
//! about the chunks: [`ChecksumState::Foreign`]. The one change it makes without touching the trailer,
//! new content of a header metalayer, rewrites the header's thread hints; they are 0 in headers written
//! here, so `metalayers` counts only while both are 0.

use super::index::Index;
use super::meta::{self, Meta};
use crate::cframe::checksums::{FORM, KIND, Parsed, Sum, Table};
pub(super) use crate::cframe::checksums::{UNKNOWN, fingerprint, of};
use crate::cframe::header::FIXED_LEN;
use crate::cframe::section::MAX_WRITTEN;
use crate::cframe::trailer::FINGERPRINT_XXH3;
use crate::cframe::{CHECKSUMS_NAME, Opened};
use crate::error::{Error, Structure};
use alloc::vec::Vec;
use blosc_core::{Params, Pool};

/// `bin32` marker and length, magic, metalayers, count, live bytes.
const HEAD: usize = 5 + 8 + 8 + 8 + 8;

/// What is known about a frame's integrity before any chunk is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChecksumState {
    /// Written without checksums.
    #[default]
    None,
    /// Checksums of this library are there and in force.
    Present,
    /// There is a table, but another writer has changed the frame since.
    Foreign,
    /// A fingerprint of another kind.
    Other(u8),
    /// There is a table, of a form that is not known: nothing can be compared with it.
    UnknownForm,
    /// There is a table that no writer of checksums left: chunks are read only where they need not be
    /// [verified](crate::SuperChunk::set_verify).
    Damaged,
}

impl ChecksumState {
    /// Why nothing can be compared with the checksums that are there, where only their kind is the reason.
    pub(crate) fn unknown(self) -> Option<Error> {
        let (structure, what) = match self {
            ChecksumState::UnknownForm => {
                (Structure::Checksums, "a table of this form (a later version wrote it)")
            }
            ChecksumState::Other(_) => (Structure::Trailer, "a fingerprint of this type"),
            _ => return None,
        };
        Some(Error::Unsupported { structure, what })
    }
}

/// The checksum of parts that follow each other.
pub(super) fn of_parts(parts: &[&[u8]]) -> u64 {
    let mut sum = Sum::new();
    parts.iter().for_each(|part| sum.add(part));
    sum.get()
}

/// What a frame says of its checksums as a whole; those of the chunks are in the [`Index`].
#[derive(Default)]
pub(super) struct Checksums {
    /// Whether commits write them.
    pub(super) enabled: bool,
    pub(super) state: ChecksumState,
    /// Whether chunks that are read whole are compared with them.
    pub(super) verify: bool,
    /// The fingerprint's type and bytes, as last read or written.
    pub(super) fingerprint: (u8, [u8; 16]),
    /// Where the trailer starts that the table is in, for errors.
    table_at: u64,
    /// What the table says about header bytes 57..H.
    pub(super) metalayers: u64,
    /// What the table says about the stored bytes of all chunks.
    pub(super) live: Option<u64>,
}

impl Checksums {
    /// The checksums of a new frame, which are written and compared.
    pub(super) fn new() -> Checksums {
        Checksums { enabled: true, verify: true, ..Checksums::default() }
    }

    /// For a frame just opened; `stored` is its table. A table that is stale tells nothing: all is then unknown.
    pub(super) fn open(
        &mut self,
        opened: &Opened,
        stored: Option<&[u8]>,
        index: &mut Index,
        pool: &mut Pool,
        limits: &blosc_core::Limits,
    ) {
        let tail = &opened.tail;
        self.enabled = stored.is_some();
        self.table_at = opened.header.frame_len.saturating_sub(tail.trailer_len.into());
        self.fingerprint = (tail.fingerprint_type, tail.fingerprint);
        self.state = match (tail.fingerprint_type, stored) {
            (FINGERPRINT_XXH3, Some(_)) => ChecksumState::Present,
            (_, Some(_)) => ChecksumState::Foreign,
            (0, None) => ChecksumState::None,
            (other, None) => ChecksumState::Other(other),
        };
        (self.metalayers, self.live) = (UNKNOWN, None);
        if let (Some(stored), ChecksumState::Present) = (stored, self.state) {
            // A few bytes can say they are gigabytes.
            let most = index.len().saturating_mul(8).saturating_add(HEAD as u64);
            let table = meta::decode(pool, stored, &limits.output(most)).ok();
            let state = table.and_then(|table| self.parse(&table, index));
            self.state = state.unwrap_or_else(|| match opened.fingerprint_matches() {
                true => ChecksumState::UnknownForm,
                false => ChecksumState::Damaged,
            });
        }
    }

    /// Takes over a table, if it is one, and says whether its form is known.
    fn parse(&mut self, table: &[u8], index: &mut Index) -> Option<ChecksumState> {
        let table = match Table::parse(table)? {
            Parsed::Table(table) => table,
            Parsed::UnknownForm => return Some(ChecksumState::UnknownForm),
        };
        (self.metalayers, self.live) = (table.metalayers, table.live);
        index.set_sums(table.sums());
        Some(ChecksumState::Present)
    }

    /// An error if there is a table that cannot be what was written.
    pub(super) fn check_table(&self) -> Result<(), Error> {
        match self.state {
            ChecksumState::Damaged => {
                Err(Error::Checksum { structure: Structure::Checksums, chunk: None, offset: self.table_at })
            }
            _ => Ok(()),
        }
    }

    /// The checksum of a chunk's stored bytes, if checksums are on.
    pub(super) fn of_chunk(&self, bytes: &[u8]) -> u64 {
        if self.enabled { of(bytes) } else { UNKNOWN }
    }

    /// The fingerprint of the next state, if it has no checksums: that of another program stays.
    pub(super) fn foreign(&self) -> (u8, [u8; 16]) {
        let ours = matches!(self.fingerprint.0, 0 | FINGERPRINT_XXH3);
        let stays = !ours || self.state == ChecksumState::Other(FINGERPRINT_XXH3);
        if stays { self.fingerprint } else { (0, [0; 16]) }
    }

    /// The fingerprint of the state now on disk, and whether a table goes with it.
    pub(super) fn written(&mut self, fingerprint: (u8, [u8; 16]), table: bool) {
        self.fingerprint = fingerprint;
        self.state = match fingerprint.0 {
            _ if table => ChecksumState::Present,
            0 => ChecksumState::None,
            other => ChecksumState::Other(other),
        };
    }

    /// The table as a vlmetalayer, if checksums are on and there is a free slot for it beside the others.
    pub(super) fn encode(
        &mut self,
        index: &Index,
        metalayers: u64,
        live: u64,
        vlmetalayers: usize,
        pool: &mut Pool,
    ) -> Result<Option<Meta>, Error> {
        if !self.enabled || vlmetalayers >= MAX_WRITTEN {
            return Ok(None);
        }
        let sums: Vec<u64> = index.stored_sums().collect();
        let words = [metalayers, sums.len() as u64, live].into_iter().chain(sums);
        let mut table = Vec::from([0xc6, 0, 0, 0, 0]);
        table.extend(KIND);
        table.extend(FORM.to_le_bytes());
        words.for_each(|word| table.extend(word.to_le_bytes()));
        // Below 2^32: a frame has fewer than 2^28 chunks.
        let len = table.len().saturating_sub(5) as u32;
        table.splice(1..5, len.to_be_bytes());
        // Checksums do not compress; level 0 stores them.
        let content = pool.compress(&Params::new(1).no_filter().level(0), &table).map_err(Error::Codec)?;
        (self.metalayers, self.live) = (metalayers, Some(live));
        Ok(Some(Meta { name: CHECKSUMS_NAME.as_bytes().to_vec(), content }))
    }
}

impl Opened {
    /// Whether the stored fingerprint is that of the bytes.
    pub(crate) fn fingerprint_matches(&self) -> bool {
        fingerprint(&self.head, &self.index, &self.trailer) == self.tail.fingerprint
    }

    /// The checksum of header bytes 57..H, as the table has it.
    pub(crate) fn metalayers_checksum(&self) -> u64 {
        of(self.head.get(FIXED_LEN..).unwrap_or(&[]))
    }
}
