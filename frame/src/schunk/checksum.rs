//! Checksums of a frame, in two places where other programs leave them alone.
//!
//! ```text
//! trailer fingerprint, type 3: XXH3-128 over
//!     header 00..3e and 44..57 | index chunk | trailer without the fingerprint's 16 bytes
//! vlmetalayer ".checksums": MessagePack bin32 of
//!     "XXH3" 01 00 00 00 | u64 metalayers | u64 n | n x u64                       (little-endian)
//! ```
//! `metalayers` is XXH3-64 of header bytes 57..H. The table has one XXH3-64 per stored chunk (of its
//! stored bytes), in logical order; 0 means "not known". Special chunks need none: the index is
//! covered by the fingerprint.
//!
//! C-Blosc2 drops the fingerprint whenever it rewrites the trailer, and the table then says nothing
//! about the chunks: [`ChecksumState::Foreign`]. The one change it makes without touching the trailer,
//! new content of a header metalayer, rewrites the header's thread hints; they are 0 in headers written
//! here, so `metalayers` counts only while both are 0.

use super::SuperChunk;
use super::meta::{self, Meta};
use crate::cframe::header::FIXED_LEN;
use crate::cframe::index::Entry;
use crate::cframe::section::MAX_WRITTEN;
use crate::cframe::trailer::FINGERPRINT_XXH3;
use crate::cframe::{CHECKSUMS_NAME, Entries, Opened};
use crate::error::Error;
use crate::io::ReadAt;
use alloc::vec::Vec;
use blosc_core::{Params, Pool};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

const MAGIC: [u8; 8] = *b"XXH3\x01\0\0\0";
/// `bin32` marker and length, magic, metalayers, count.
const HEAD: usize = 5 + 8 + 8 + 8;
/// The table's value for a chunk whose checksum is not known.
pub(super) const UNKNOWN: u64 = 0;

/// What is known about a frame's integrity before any chunk is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumState {
    /// Written without checksums.
    None,
    /// Checksums of this library are there and in force.
    Present,
    /// There is a table, but another writer has changed the frame since.
    Foreign,
    /// A fingerprint of another kind.
    Other(u8),
}

/// The checksum of stored bytes; never [`UNKNOWN`].
pub(super) fn of(bytes: &[u8]) -> u64 {
    xxh3_64(bytes).max(1)
}

/// The same of the first `len` bytes of a file, or of all there are.
pub(super) fn of_file(file: &(impl ReadAt + ?Sized), len: u64) -> Result<u64, Error> {
    let (mut hash, mut at) = (Xxh3Default::new(), 0u64);
    let mut buf = alloc::vec![0; 16 << 10];
    loop {
        let most = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX).min(buf.len());
        let n = file.read_at(at, buf.get_mut(..most).unwrap_or(&mut []))?;
        if n == 0 {
            return Ok(hash.digest().max(1));
        }
        hash.update(buf.get(..n).unwrap_or(&[]));
        at = at.saturating_add(n as u64);
    }
}

/// The same of parts that follow each other.
pub(super) fn of_parts(parts: &[&[u8]]) -> u64 {
    let mut hash = Xxh3Default::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.digest().max(1)
}

/// The frame's fingerprint: `head` is the header, `trailer` runs to its very end.
pub(super) fn fingerprint(head: &[u8], index: &[u8], trailer: &[u8]) -> [u8; 16] {
    let mut hash = Xxh3Default::new();
    hash.update(head.get(..0x3e).unwrap_or(&[]));
    hash.update(head.get(0x44..0x57).unwrap_or(&[]));
    hash.update(index);
    hash.update(trailer.get(..trailer.len().saturating_sub(16)).unwrap_or(&[]));
    hash.digest128().to_be_bytes()
}

/// Whether a stored table is no larger than one for these entries. A few bytes can say they are gigabytes.
fn fits(stored: &[u8], entries: &Entries) -> bool {
    let most = entries.len().saturating_mul(8).saturating_add(HEAD as u64);
    blosc_core::Header::parse(stored).is_ok_and(|header| u64::from(header.nbytes) <= most)
}

/// The checksums kept with a super-chunk.
pub(super) struct Hashes {
    /// Whether commits write them.
    pub(super) enabled: bool,
    pub(super) state: ChecksumState,
    /// The table as stored, until it is needed.
    stored: Option<Vec<u8>>,
    /// One per entry, special ones included (as 0); `None` until needed.
    list: Option<Vec<u64>>,
    /// What the table says about header bytes 57..H.
    pub(super) metalayers: u64,
}

impl Hashes {
    /// For a new frame: on.
    pub(super) fn new() -> Hashes {
        Hashes {
            enabled: true,
            state: ChecksumState::None,
            stored: None,
            list: Some(Vec::new()),
            metalayers: UNKNOWN,
        }
    }

    /// For a frame just opened; takes the table out of the list of vlmetalayers.
    pub(super) fn opened(fingerprint_type: u8, vlmetalayers: &mut Vec<Meta>) -> Hashes {
        let at = vlmetalayers.iter().position(|meta| meta.name == CHECKSUMS_NAME.as_bytes());
        let stored = at.map(|at| vlmetalayers.remove(at).content);
        let state = match (fingerprint_type, &stored) {
            (FINGERPRINT_XXH3, Some(_)) => ChecksumState::Present,
            (_, Some(_)) => ChecksumState::Foreign,
            (0, None) => ChecksumState::None,
            (other, None) => ChecksumState::Other(other),
        };
        Hashes { enabled: stored.is_some(), state, stored, list: None, metalayers: UNKNOWN }
    }

    /// Switches checksums on, all chunks so far unknown.
    fn enable(&mut self, entries: &Entries) -> Result<(), Error> {
        if !self.enabled {
            let count = usize::try_from(entries.len()).map_err(|_| crate::error::IoKind::NoSpace)?;
            self.list = Some(alloc::vec![UNKNOWN; count]);
            self.enabled = true;
        }
        Ok(())
    }

    /// The checksums, one per entry. A table that is stale or does not fit counts as unknown.
    pub(super) fn list(
        &mut self,
        entries: &Entries,
        pool: &mut Pool,
        limits: &blosc_core::Limits,
    ) -> Result<&mut Vec<u64>, Error> {
        if self.list.is_none() {
            let table = match (&self.stored, self.state) {
                (Some(stored), ChecksumState::Present) if fits(stored, entries) => {
                    Some(meta::decode(pool, stored, limits)?)
                }
                _ => None,
            };
            let mut hashes = table.as_deref().and_then(|table| self.parse(table)).into_iter().flatten();
            let mut list = Vec::new();
            for k in 0..entries.len() {
                let special = entries.get(k).is_none_or(|raw| raw < 0);
                list.push(if special { UNKNOWN } else { hashes.next().unwrap_or(UNKNOWN) });
            }
            self.list = Some(list);
        }
        Ok(self.list.get_or_insert_default())
    }

    /// All entries changed at once to special ones.
    pub(super) fn forget(&mut self) {
        self.stored = None;
        self.list = None;
    }

    /// Reads a table; sets `metalayers` and gives the chunks' checksums.
    fn parse(&mut self, table: &[u8]) -> Option<Vec<u64>> {
        let (head, rest) = table.split_at_checked(HEAD)?;
        let (bin, head) = head.split_at_checked(5)?;
        if bin.first() != Some(&0xc6) || !head.starts_with(&MAGIC) {
            return None;
        }
        let words = |bytes: &[u8]| -> Vec<u64> {
            bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
        };
        let hashes = words(rest);
        let [metalayers, count] = words(head.get(8..)?).try_into().ok()?;
        (count == hashes.len() as u64).then(|| {
            self.metalayers = metalayers;
            hashes
        })
    }

    /// The table as a vlmetalayer, if checksums are on and there is a free slot for it.
    pub(super) fn encode(
        &mut self,
        entries: &Entries,
        metalayers: u64,
        vlmetalayers: usize,
        pool: &mut Pool,
        limits: &blosc_core::Limits,
    ) -> Result<Option<Meta>, Error> {
        if !self.enabled || vlmetalayers >= MAX_WRITTEN {
            return Ok(None);
        }
        let mut body = Vec::new();
        if matches!(entries, Entries::List(_)) {
            let list = self.list(entries, pool, limits)?;
            for (k, hash) in list.iter().enumerate() {
                if entries.get(k as u64).is_some_and(|raw| raw >= 0) {
                    body.extend(hash.to_le_bytes());
                }
            }
        }
        let count = (body.len() / 8) as u64;
        let mut table = Vec::with_capacity(body.len().saturating_add(HEAD));
        table.push(0xc6);
        table.extend((body.len().saturating_add(HEAD - 5) as u32).to_be_bytes());
        table.extend(MAGIC);
        table.extend(metalayers.to_le_bytes());
        table.extend(count.to_le_bytes());
        table.extend(body);
        // Checksums do not compress; level 0 stores them.
        let content = pool.compress(&Params::new(1).no_filter().level(0), &table).map_err(Error::Codec)?;
        self.metalayers = metalayers;
        Ok(Some(Meta { name: CHECKSUMS_NAME.as_bytes().to_vec(), content }))
    }

    /// Keeps the list in step with an edit of the entries, if it is loaded or checksums are on.
    pub(super) fn edit(
        &mut self,
        entries: &Entries,
        pool: &mut Pool,
        limits: &blosc_core::Limits,
        edit: impl FnOnce(&mut Vec<u64>),
    ) -> Result<(), Error> {
        if self.enabled {
            edit(self.list(entries, pool, limits)?);
        }
        Ok(())
    }
}

impl SuperChunk<'_> {
    /// What is known about checksums: whether they are there and still in force.
    pub fn checksum_state(&self) -> ChecksumState {
        self.hashes.state
    }

    /// Whether commits write checksums: on in new frames; in opened ones as they were.
    pub fn checksums(&self) -> bool {
        self.hashes.enabled
    }

    /// Switches checksums on or off for the commits to come. Chunks that were written without one
    /// stay without; a [`compact`](SuperChunk::compact) makes them.
    pub fn set_checksums(&mut self, on: bool) -> Result<(), Error> {
        if on {
            self.hashes.enable(&self.entries)?;
        } else if self.hashes.enabled {
            self.hashes.enabled = false;
            self.hashes.list = None;
        }
        self.dirty = true;
        Ok(())
    }

    /// Whether checksums are on but have no room: all 16 vlmetalayers are taken.
    pub fn checksums_left_out(&self) -> bool {
        self.hashes.enabled && self.vlmetalayers.len() >= MAX_WRITTEN
    }

    /// The stored checksum of chunk `k`, if there is one.
    pub fn chunk_checksum(&mut self, k: u64) -> Result<Option<u64>, Error> {
        let limits = blosc_core::Limits { output: u64::MAX, ..self.limits.chunk };
        let list = self.hashes.list(&self.entries, &mut self.pool, &limits)?;
        Ok(usize::try_from(k).ok().and_then(|k| list.get(k)).copied().filter(|hash| *hash != UNKNOWN))
    }

    /// What the table says about the metalayers; `None` if there is no usable table.
    pub(crate) fn metalayers_checksum(&mut self) -> Result<Option<u64>, Error> {
        let limits = self.chunk_limits();
        self.hashes.list(&self.entries, &mut self.pool, &limits)?;
        Ok(Some(self.hashes.metalayers).filter(|hash| *hash != UNKNOWN))
    }

    /// Where stored chunk `k` lies, how long it is, and the checksum of its bytes.
    pub(crate) fn stored_checksum(&mut self, k: u64) -> Result<(u64, u64, u64), Error> {
        let len = self.nchunks();
        let Some(Entry::Stored(entry)) = self.entry(k) else {
            return Err(Error::OutOfRange { what: "stored chunk", index: k, len });
        };
        let located = self.place.locate(entry)?;
        let at = located.at;
        let bytes = located.whole(k, &self.limits, &mut self.scratch)?;
        Ok((at, bytes.len() as u64, of(bytes)))
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
