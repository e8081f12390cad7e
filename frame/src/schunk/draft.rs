//! [`Draft`]: the next state of a frame, which a commit has the store write.

use super::checksum::{self, Checksums};
use super::index::Index;
use super::meta::{Change, Meta, Metalayers};
use crate::cframe::header::{FIXED_LEN, FrameType, Header};
use crate::cframe::section;
use crate::cframe::trailer::{self, FINGERPRINT_XXH3};
use crate::error::{Error, Structure};
use alloc::vec::Vec;
use blosc_core::Pool;

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

/// The next state of a frame: everything but the bytes of its chunks.
pub(crate) struct Draft<'s> {
    /// The header; lengths are not in it yet.
    pub(super) header: Header,
    /// The bytes 57..H of the header.
    pub(super) section: Vec<u8>,
    pub(super) index: &'s mut Index,
    pub(super) metalayers: &'s Metalayers,
    pub(super) checksums: &'s mut Checksums,
    pub(super) pool: &'s mut Pool,
    pub(super) pending: Pending,
    /// What a store put in force.
    pub(super) in_force: Option<Written>,
}

/// Everything of a frame but its chunks, as it is written.
pub(super) struct Written {
    pub(super) header: Header,
    /// Header and metalayers.
    pub(super) head: Vec<u8>,
    /// Index chunk and trailer.
    pub(super) rest: Vec<u8>,
    pub(super) fingerprint: (u8, [u8; 16]),
    /// Whether a table of checksums is in it.
    pub(super) table: bool,
}

impl Draft<'_> {
    /// Length of the header.
    pub(super) fn header_len(&self) -> u64 {
        (FIXED_LEN as u64).saturating_add(self.section.len() as u64)
    }

    /// Puts together header, index and trailer. `live` is what the stored chunks take; `payload` is told how long index
    /// and trailer are, and gives the payload bytes before them.
    pub(super) fn assemble(
        &mut self,
        live: u64,
        payload: impl FnOnce(&Index, u64) -> Result<u64, Error>,
    ) -> Result<Written, Error> {
        let Draft { section, index, metalayers, checksums, pool, .. } = self;
        let table = checksums.encode(index, checksum::of(section), live, metalayers.trailer.len(), pool)?;
        let layers = metalayers.trailer.iter().chain(&table).map(Meta::pair);
        let mut trailer = trailer::encode(&section::encode(Structure::VlMetalayers, layers)?)?;
        let table = table.is_some();
        let mut rest = index.entries.encode(pool)?;
        let rest_len = (rest.len() as u64).saturating_add(trailer.len() as u64);

        let mut header = self.header;
        // `section::encode` makes none of 2^31 bytes.
        header.header_len = FIXED_LEN.saturating_add(section.len()) as u32;
        header.cbytes = payload(index, rest_len)?;
        header.has_vlmetalayers = table || !metalayers.trailer.is_empty();
        if table {
            // Both 0 says: the header was last written with checksums (see `checksum`).
            header.threads = [0, 0];
        }
        let in_frame = header.frame_type == FrameType::Contiguous && index.len() > 0;
        let payload = if in_frame { header.cbytes } else { 0 };
        header.frame_len = u64::from(header.header_len).saturating_add(payload).saturating_add(rest_len);

        let mut head = header.encode().to_vec();
        head.extend(section.iter());
        let mut fingerprint = checksums.foreign();
        if table {
            fingerprint.0 = FINGERPRINT_XXH3;
        }
        if let Some([kind, ..]) = trailer.last_chunk_mut::<17>() {
            *kind = fingerprint.0;
        }
        if table {
            fingerprint.1 = checksum::fingerprint(&head, &rest, &trailer);
        }
        if let Some(place) = trailer.last_chunk_mut() {
            *place = fingerprint.1;
        }
        rest.extend(trailer);
        Ok(Written { header, head, rest, fingerprint, table })
    }
}
