//! Verifying a frame: its checksums, and whether every chunk decodes; to the chunk and the block.
//!
//! ```text
//! fingerprint in force    header, index and trailer are what was written
//! table in force          each chunk's stored bytes are what was written
//! always                  every chunk decodes to its declared size, in every block
//! ```
//! A frame that another writer has changed since its checksums were made is [`Verdict::Foreign`]:
//! neither damaged nor known to be intact, as long as everything decodes.

use crate::cframe::Opened;
use crate::cframe::index::Entry;
use crate::error::{Error, Structure};
use crate::io::Pieces;
use crate::schunk::{Ahead, ChecksumState, Once, SuperChunk};
use alloc::string::String;
use alloc::vec::Vec;

/// What is wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The chunk; `None` for header, index or trailer.
    pub chunk: Option<u64>,
    /// The first block of it that does not decode, if its bytes differ but some still decode.
    pub block: Option<u64>,
    /// What was found.
    pub error: Error,
}

/// The result in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Everything is covered by a checksum, and everything matches.
    Intact,
    /// Everything decodes, but not everything has a checksum.
    Readable,
    /// Everything decodes; a writer without checksums has edited the frame since they were made.
    Foreign,
    /// Something does not match or does not decode.
    Damaged,
    /// Nothing is known to be damaged, but not everything could be read here: a codec or a filter is not built in, or the
    /// checksums are of a form that is not known.
    CannotTell,
}

/// What verifying found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What is known from the trailer.
    pub checksums: ChecksumState,
    /// Number of chunks.
    pub chunks: u64,
    /// Decoded bytes.
    pub nbytes: u64,
    /// Chunks whose checksum matched, special chunks included.
    pub matched: u64,
    /// Whether the header metalayers were written together with the checksums.
    pub metalayers_covered: bool,
    /// Bytes of the frame that nothing refers to.
    pub garbage: u64,
    /// Everything that is wrong, and what could not be read here: [`Error::leaves_open`] tells them apart.
    pub damage: Vec<Damage>,
    /// Files of a sparse frame that nothing refers to: left by a writer that died, or new ones of one at work.
    pub strays: Vec<String>,
    /// The largest number of a chunk file, where C-Blosc2 refuses the frame for it; compacting gives others.
    pub number_too_high: Option<u32>,
}

impl Report {
    /// The result in one word.
    pub fn verdict(&self) -> Verdict {
        match self.checksums {
            _ if self.damage.iter().any(|damage| !damage.error.leaves_open()) => Verdict::Damaged,
            _ if !self.damage.is_empty() => Verdict::CannotTell,
            ChecksumState::Foreign => Verdict::Foreign,
            ChecksumState::Present if !self.metalayers_covered => Verdict::Foreign,
            ChecksumState::Present if self.matched == self.chunks => Verdict::Intact,
            _ => Verdict::Readable,
        }
    }
}

impl SuperChunk<'_> {
    /// Reads and decodes everything and compares it with the checksums. `progress` is told the decoded
    /// bytes of each chunk. Changes that are not committed are not part of it. A chunk that several entries share is
    /// decoded once.
    ///
    /// # Errors
    /// Only what prevents the frame from being read at all; damage is reported. [`Error::Limit`] where more would have
    /// to be decoded than [`Limits::output`](crate::Limits::output) allows.
    pub fn verify(&mut self, mut progress: impl FnMut(u64)) -> Result<Report, Error> {
        let opened = self.reopen()?;
        let mut report = Report {
            checksums: self.checksum_state(),
            chunks: self.nchunks(),
            nbytes: self.nbytes(),
            matched: 0,
            metalayers_covered: false,
            garbage: 0,
            damage: Vec::new(),
            strays: self.strays()?,
            number_too_high: if self.is_sparse() { self.number_too_high() } else { None },
        };
        self.verify_frame(&opened, &mut report)?;
        let mut stored = Vec::new();
        let mut sum = Some(0u64);
        let mut budget = self.limits().budget(self.container_bytes()?);
        let (mut checked, mut ahead) = (Once::new(self.index())?, Ahead::default());
        for k in 0..self.nchunks() {
            let (entry, known) = (self.entry(k), self.chunk_checksum(k));
            let found = match checked.get(entry) {
                // Told once.
                Some((before, Err(_))) if before == known => continue,
                Some((before, found)) if before == known => found,
                _ => {
                    // Where fetching fails, each chunk tells what is wrong with it.
                    let pieces = ahead.to(self, k).ok().flatten();
                    let header = self.shared().over(pieces.as_deref()).head(k);
                    budget.spend(header.ok().flatten().map_or(0, |header| header.nbytes).into())?;
                    self.verify_chunk(k, pieces.as_deref(), &mut stored)
                }
            };
            checked.note(entry, (known, found));
            match found {
                Ok((len, matched)) => {
                    report.matched = report.matched.saturating_add(u64::from(matched));
                    sum = sum.and_then(|sum| sum.checked_add(len));
                    progress(len);
                }
                Err(damage) => {
                    sum = None;
                    report.damage.push(damage);
                }
            }
        }
        if sum.is_some_and(|sum| sum != self.nbytes()) {
            report.damage.push(Damage {
                chunk: None,
                block: None,
                error: Error::Invalid {
                    structure: Structure::FrameHeader,
                    field: "uncompressed_size (not the sum of the chunks)",
                    offset: 0x1d,
                    value: self.nbytes() as i64,
                },
            });
        }
        if !self.is_sparse() {
            stored.sort_unstable();
            stored.dedup();
            let used = stored.iter().fold(0u64, |sum, (_, len)| sum.saturating_add(*len));
            report.garbage = opened.header.cbytes.saturating_sub(used);
        }
        Ok(report)
    }

    /// What is wrong with chunk `k`, if it does not decode or match its checksum.
    /// A table of checksums that is damaged itself says nothing of the chunk.
    pub(crate) fn check_stored(&mut self, k: u64) -> Result<(), Error> {
        let verify = self.checksum_state() != ChecksumState::Damaged;
        self.verifying(verify, |frame| frame.check_chunk(k))
    }

    fn verify_frame(&mut self, opened: &Opened, report: &mut Report) -> Result<(), Error> {
        let checksum = |structure, offset| Damage {
            chunk: None,
            block: None,
            error: Error::Checksum { structure, chunk: None, offset },
        };
        let trailer_at = opened.header.frame_len.saturating_sub(u64::from(opened.tail.trailer_len));
        match self.checksum_state() {
            ChecksumState::Present => {
                if !opened.fingerprint_matches() {
                    report.damage.push(checksum(Structure::FrameHeader, 0));
                }
                let Some(expected) = self.metalayers_checksum() else {
                    report.damage.push(checksum(Structure::Checksums, trailer_at));
                    return Ok(());
                };
                report.metalayers_covered = opened.header.threads == [0, 0];
                if report.metalayers_covered && expected != opened.metalayers_checksum() {
                    report.damage.push(checksum(Structure::Metalayers, 0x57));
                }
            }
            // Whoever rewrites a trailer without checksums leaves type 0 and zeros, nothing else.
            ChecksumState::Damaged => report.damage.push(checksum(Structure::Checksums, trailer_at)),
            state if state.unknown().is_some() => {
                let error = state.unknown();
                report.damage.extend(error.map(|error| Damage { chunk: None, block: None, error }));
            }
            ChecksumState::Foreign if self.fingerprint() != (0, [0; 16]) => {
                report.damage.push(checksum(Structure::Trailer, trailer_at));
            }
            _ => {}
        }
        for error in self.bad_vlmetalayers() {
            report.damage.push(Damage { chunk: None, block: None, error });
        }
        Ok(())
    }

    /// Checks one chunk: decoded length, and whether a checksum covered it.
    fn verify_chunk(
        &mut self,
        k: u64,
        pieces: Option<&Pieces>,
        stored: &mut Vec<(u64, u64)>,
    ) -> Result<(u64, bool), Damage> {
        let damage = |block, error| Damage { chunk: Some(k), block, error };
        if self.special(k).is_some() {
            let len = self.chunk_nbytes(k).map_err(|error| damage(None, error))?;
            let mut first = [0; 8];
            let n = (len as usize).min(8);
            let first = first.get_mut(..n).unwrap_or(&mut []);
            self.read_chunk_bytes(k, 0..n, first).map_err(|error| damage(None, error))?;
            return Ok((u64::from(len), true));
        }
        let header = self.shared().over(pieces).head(k).map_err(|error| damage(None, error))?;
        if let (Some(Entry::Stored(entry)), Some(header)) = (self.entry(k), header) {
            stored.push((entry, header.cbytes.into()));
        }
        let verify = self.checksum_state() != ChecksumState::Damaged;
        let mut data = Vec::new();
        match self.verifying(verify, |frame| frame.read_chunk_to(frame.shared().over(pieces), k, &mut data)) {
            Ok(()) => Ok((data.len() as u64, self.chunk_checksum(k).is_some())),
            Err(error) => {
                let block = self.verifying(false, |frame| frame.first_bad_block(k));
                Err(damage(block, error))
            }
        }
    }

    fn first_bad_block(&mut self, k: u64) -> Option<u64> {
        let blocks = self.chunk_header(k).ok()??.nblocks();
        (0..blocks).find(|block| self.read_blocks(k, &[*block], |_, _| Ok(())).is_err()).map(|b| b as u64)
    }
}
