//! Chunks that are compiled in, and the checks that firmware, kernels and wasm run on them.
//!
//! ```text
//! verify   every valid chunk decodes to the recorded SHA-256, whole and by items
//! damage   malformed chunks, truncations and mutations give an error or other bytes, and never touch the guard
//! twins    every kernel of a level does what the scalar form does
//! frames   every frame reads as recorded, by chunks and items, with its metalayers (feature `frame`)
//! ```
#![no_std]

mod damage;
#[cfg(feature = "frame")]
mod frames;
mod twins;
mod verify;

pub use damage::{Damage, Random, all as damage_all, damage, malformed};
#[cfg(feature = "frame")]
pub use frames::{FRAMES, Frame, Frames, frames};
pub use twins::{built, twins};
pub use verify::verify;

use blosc_core::{Chunk, Codec, Decoder, Error, Level, Limits, ChunkContext};
use core::fmt::Write;

/// A chunk and the SHA-256 of what it decodes to.
pub struct Fixture {
    /// File name under `core/tests/fixtures`: codec, level, typesize, size, filters. `ORIGIN.md` there says who wrote it.
    pub name: &'static str,
    /// The chunk.
    pub bytes: &'static [u8],
    /// Type size of the data, which may exceed the header's; 0 if unknown.
    pub typesize: u32,
    /// SHA-256 of the decoded bytes.
    pub sha256: [u8; 32],
}

include!(concat!(env!("OUT_DIR"), "/fixtures.rs"));

/// Bytes after the output that must stay as they are.
pub const GUARD: usize = 64;
const GUARD_BYTE: u8 = 0xC3;

/// The memory that the checks share.
pub struct Memory<'s> {
    /// Scratch of the decoder.
    pub work: &'s mut [u8],
    /// Decoded bytes, and after them [`GUARD`] bytes.
    pub out: &'s mut [u8],
    /// A chunk that is being damaged.
    pub chunk: &'s mut [u8],
}

impl Memory<'_> {
    /// Most bytes that are decoded.
    pub fn room(&self) -> usize {
        self.out.len().saturating_sub(GUARD)
    }

    /// Writes the guard.
    pub fn arm(&mut self) {
        let room = self.room();
        self.out.iter_mut().skip(room).for_each(|b| *b = GUARD_BYTE);
    }

    /// Whether the guard is as it was.
    pub fn intact(&self) -> bool {
        self.out.iter().skip(self.room()).all(|&b| b == GUARD_BYTE)
    }

    /// Copies `bytes` to the start of `chunk` and returns their length: 0, and nothing is copied, if they are longer.
    pub fn put(&mut self, bytes: &[u8]) -> usize {
        let Some(place) = self.chunk.get_mut(..bytes.len()) else { return 0 };
        place.copy_from_slice(bytes);
        bytes.len()
    }

    /// Decodes `bytes`; returns the codec and the decoded length.
    ///
    /// # Errors
    /// As the decoder's.
    pub fn decode(&mut self, level: Level, bytes: &[u8], typesize: u32) -> Result<(Codec, usize), Error> {
        let room = self.room();
        let limits = Limits::DEFAULT.output(room as u64).blocks(1024);
        let chunk = Chunk::parse_with(bytes, &limits)?;
        let out = self.out.get_mut(..room).unwrap_or_default();
        let around = ChunkContext { typesize, ..ChunkContext::default() };
        let len = Decoder::new(level, self.work).chunk_context(around).decode(&chunk, out)?;
        Ok((chunk.header().codec, len))
    }
}

/// Runs everything at `level`, and prints what came of it; returns whether all of it held.
pub fn run(level: Level, memory: &mut Memory<'_>, log: &mut impl Write) -> bool {
    let isa = level.isa();
    let held = verify(VALID, level, memory, log);
    let twins = twins(level, memory, log);
    let found = damage_all(level, memory);
    let _ = writeln!(log, "figure {isa}: {held} of {} chunks decoded to the recorded hash", VALID.len());
    let _ = writeln!(log, "figure {isa}: {} results the same as the scalar form's", twins.unwrap_or(0));
    let _ = writeln!(
        log,
        "figure {isa}: {} malformed chunks, {} refused, {} decoded, {} faults",
        found.total(),
        found.refused,
        found.decoded,
        found.faults
    );
    let all = held == VALID.len() && twins.is_some() && found.faults == 0;
    #[cfg(feature = "frame")]
    let all = all & run_frames(level, memory, log);
    all
}

/// Runs the frames at `level`, and prints what came of it; returns whether all of it held.
#[cfg(feature = "frame")]
pub fn run_frames(level: Level, memory: &mut Memory<'_>, log: &mut impl Write) -> bool {
    let Frames { held, chunks, damaged } = frames(level, memory, log);
    let _ = writeln!(
        log,
        "figure {}: {held} of {} frames with {chunks} chunks read without an allocator; {damaged} damaged ones survived",
        level.isa(),
        FRAMES.len()
    );
    held == FRAMES.len()
}
