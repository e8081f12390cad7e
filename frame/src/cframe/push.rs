//! A chunk of a frame whose bytes arrive in pieces, without an allocator.
//!
//! ```text
//! receive header, then index and trailer        View::open_apart(..)?.verified()?
//! for each chunk k                              view.push_chunk(k, ..)?
//!     receive from position() on                push(&mut bytes)? -> blocks, until is_done()
//! ```
//! The index and the table of checksums lie at the end of a frame, so a device that is to check what it receives asks for
//! the end first. Its memory is header, index and trailer (16 bytes a chunk and a few hundred), and that of a [`PushDecoder`].
//!
//! ```
//! # use blosc_frame::SuperChunk;
//! # let mut writer = SuperChunk::memory(&blosc_core::Params::new(4).blocksize(Some(1024)))?;
//! # let image: Vec<u8> = (0..10_000u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
//! # for part in image.chunks(16_384) { writer.append(part)?; }
//! # let frame = writer.into_bytes()?;
//! # let receive = |at: u64, len: usize| &frame[at as usize..][..len];
//! # let mut flash = vec![0; image.len()];
//! use blosc_core::{Level, PushDecoder};
//! use blosc_frame::{Limits, cframe::{header::Header, view::View}};
//!
//! let header = Header::parse(receive(0, 87).first_chunk().unwrap())?;
//! let head = receive(0, header.header_len as usize);
//! let rest = receive(header.index_at()?, (header.frame_len - header.index_at()?) as usize);
//! let view = View::open_apart(head, rest, &Limits::DEFAULT)?.verified()?;
//!
//! let mut memory = [0; PushDecoder::memory_max(1024, 4, 16)];
//! let mut written = 0;
//! for k in 0..view.nchunks() {
//!     let mut chunk = view.push_chunk(k, Level::SCALAR, &mut memory)?;
//!     while !chunk.is_done() {
//!         let mut piece = receive(chunk.position(), chunk.needs().min(64));
//!         while let Some(block) = chunk.push(&mut piece)? {
//!             flash[written + block.offset..][..block.bytes.len()].copy_from_slice(block.bytes);
//!         }
//!     }
//!     written += chunk.decoded();                                  // now it counts: its checksum is right
//! }
//! assert_eq!(flash, image);
//! # Ok::<(), blosc_frame::Error>(())
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::checksums::Sum;
use super::index::Entry;
use super::view::View;
use crate::error::{Error, Structure};
use blosc_core::chunk::{Block, EXTENDED_HEADER, special};
use blosc_core::{Level, PushDecoder, PushState, Special};

/// A chunk that is being pushed: a [`PushDecoder`], and the checksum of what it has taken.
pub struct PushChunk<'w> {
    decoder: PushDecoder<'w>,
    /// Its number, and where it starts in the frame.
    number: u64,
    start: u64,
    /// The chunk that a special entry of the index stands for.
    own: Option<[u8; EXTENDED_HEADER]>,
    /// The checksum that it must have and the one that it has so far, until they have been compared.
    sum: Option<(u64, Sum)>,
}

impl View<'_> {
    /// Chunk `k`, to be pushed. `memory` is also the scratch for the index: [`View::index_work_len`] bytes at least, and what the
    /// chunk takes of [`PushDecoder::memory_max`].
    ///
    /// # Errors
    /// As [`View::entry`]; of a view that is [verified](View::verified), `Unsupported` for a chunk without a checksum.
    pub fn push_chunk<'w>(&self, k: u64, level: Level, memory: &'w mut [u8]) -> Result<PushChunk<'w>, Error> {
        let header = self.header();
        let (start, own, sum) = match self.entry(k, level, memory)? {
            Entry::Stored(offset) => {
                let start = offset.saturating_add(header.header_len.into());
                (start, None, self.sum(k, level, memory)?.map(|sum| (sum, Sum::new())))
            }
            Entry::Special(kind) => {
                let len = self.special_len(k)?;
                let chunk = match kind {
                    Special::Nan => special::nans(header.typesize, len),
                    _ => special::zeros(1, len),
                };
                (0, Some(chunk.map_err(Error::in_chunk(Some(k), header.index_at()?))?), None)
            }
        };
        let decoder = PushDecoder::new(level, memory).limits(&self.limits.chunk);
        Ok(PushChunk { decoder, number: k, start, own, sum })
    }
}

impl PushChunk<'_> {
    /// Offset in the frame of the next byte to be pushed.
    pub fn position(&self) -> u64 {
        self.start.saturating_add(self.decoder.position() as u64)
    }

    /// How many bytes it takes before something can happen, at least; 0 for special chunks, which have none, and while blocks
    /// wait for another [`push`](Self::push).
    pub fn needs(&self) -> usize {
        if self.own.is_some() { 0 } else { self.decoder.needs() }
    }

    /// Whether all of the chunk has come out and its checksum, if the view is verified, is right. Before that, what has come out
    /// must not count.
    pub fn is_done(&self) -> bool {
        self.decoder.is_done() && self.sum.is_none()
    }

    /// Decoded bytes that have come out.
    pub fn decoded(&self) -> usize {
        self.decoder.state().map_or(0, |state| state.decoded())
    }

    /// Takes bytes from the front of `bytes` and returns the next block, as [`PushDecoder::push`]. Call it, with no bytes at the
    /// end, until [`is_done`](Self::is_done).
    ///
    /// # Errors
    /// As [`PushDecoder::push`], and [`Error::Checksum`] after the last byte of a chunk that is not what was written.
    pub fn push(&mut self, bytes: &mut &[u8]) -> Result<Option<Block<'_>>, Error> {
        let in_chunk = Error::in_chunk(Some(self.number), self.start);
        if self.decoder.is_done() {
            return match self.sum.take() {
                Some((sum, seen)) if sum != seen.get() => {
                    let (chunk, offset) = (Some(self.number), self.start);
                    self.sum = Some((sum, seen));
                    Err(Error::Checksum { structure: Structure::Chunk, chunk, offset })
                }
                _ => Ok(None),
            };
        }
        if let Some(own) = &self.own {
            let mut rest = own.get(self.decoder.position()..).unwrap_or(&[]);
            return self.decoder.push(&mut rest).map_err(in_chunk);
        }
        let given = *bytes;
        let block = self.decoder.push(bytes);
        if let Some((_, seen)) = &mut self.sum {
            let taken = given.len().saturating_sub(bytes.len());
            seen.add(given.get(..taken).unwrap_or(&[]));
        }
        block.map_err(in_chunk)
    }

    /// The state after the last block that came out; see [`PushDecoder::state`].
    pub fn state(&self) -> Option<PushState> {
        self.decoder.state()
    }

    /// Goes on within the chunk; see [`PushDecoder::resume`].
    ///
    /// # Errors
    /// As that, and `Unsupported` of a verified view: the checksum is of all bytes of a chunk, so push it again from its start.
    pub fn resume(&mut self, state: PushState) -> Result<(), Error> {
        if self.sum.is_some() {
            let what = "going on within a chunk that is to be verified: push it again from its start";
            return Err(Error::Unsupported { structure: Structure::Checksums, what });
        }
        self.decoder.resume(state).map_err(Error::in_chunk(Some(self.number), self.start))
    }
}
