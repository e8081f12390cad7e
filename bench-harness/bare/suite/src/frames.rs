//! Whole frames in memory or flash, read by `blosc_frame::cframe::view` without an allocator.

use crate::{GUARD, Memory, Random};
use blosc_core::{Chunk, Decoder, Level};
use blosc_frame::cframe::view::{View, ViewChunk};
use blosc_frame::{Error, Limits};
use core::fmt::Write;
use sha2::{Digest, Sha256};

/// A frame and what it holds.
pub struct Frame {
    /// File name under `frame/tests/fixtures`.
    pub name: &'static str,
    /// The frame.
    pub bytes: &'static [u8],
    /// SHA-256 of its chunks, decoded, one after the other.
    pub sha256: [u8; 32],
    /// Names and contents of its metalayers.
    pub metalayers: &'static [(&'static str, &'static [u8])],
    /// Names and decoded contents of its variable-length metalayers.
    pub vlmetalayers: &'static [(&'static str, &'static [u8])],
}

include!(concat!(env!("OUT_DIR"), "/frames.rs"));

/// Damaged variants made of each frame.
const MUTATIONS: usize = 24;

/// What came of the frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    /// Frames whose metalayers, chunks and items are as recorded.
    pub held: usize,
    /// Chunks in them.
    pub chunks: u64,
    /// Damaged frames that were opened and read through, whatever came of it.
    pub damaged: u32,
}

/// Reads every frame through; failures are told to `log`.
pub fn frames(level: Level, memory: &mut Memory<'_>, log: &mut impl Write) -> Frames {
    memory.arm();
    let mut found = Frames::default();
    for frame in FRAMES {
        match read(frame, level, memory) {
            Ok(chunks) => {
                found.held += 1;
                found.chunks += chunks;
            }
            Err(what) => {
                let _ = writeln!(log, "FAILED: {} at {}: {what}", frame.name, level.isa());
            }
        }
        found.damaged += damage(frame.bytes, level, memory);
    }
    if !memory.intact() {
        let _ = writeln!(log, "FAILED: a frame was decoded past the end of the output");
        found.held = 0;
    }
    found
}

/// Opens `frame` and compares all of it; returns the number of chunks.
fn read(frame: &Frame, level: Level, memory: &mut Memory<'_>) -> Result<u64, &'static str> {
    let view = View::open(frame.bytes, &Limits::DEFAULT).map_err(|_| "was not opened")?;
    for (name, content) in frame.metalayers {
        if view.metalayers().get(name) != Some(*content) {
            return Err("a metalayer differs");
        }
    }
    for (name, content) in frame.vlmetalayers {
        let stored = view.vlmetalayers().get(name).ok_or("a vlmetalayer is missing")?;
        let chunk = Chunk::parse(stored).map_err(|_| "a vlmetalayer is no chunk")?;
        let len = Decoder::new(level, memory.work).decode(&chunk, &mut *memory.out);
        if len.ok().and_then(|len| memory.out.get(..len)) != Some(*content) {
            return Err("a vlmetalayer differs");
        }
    }
    memory.arm();
    let room = memory.room();
    let mut hash = Sha256::new();
    for k in 0..view.nchunks() {
        let out = memory.out.get_mut(..room).ok_or("no room")?;
        let len = view.decode_chunk(k, level, memory.work, out).map_err(|_| "a chunk was refused")?;
        let whole = out.get(..len).ok_or("a chunk is longer than its room")?;
        hash.update(whole);
        // The last item by itself.
        let size = view.header().typesize as usize;
        let last = len.checked_div(size).unwrap_or(0).saturating_sub(1);
        let item = memory.chunk.get_mut(..size.min(len)).ok_or("no room for an item")?;
        let got = view
            .decode_items(k, last..last + 1, level, memory.work, item)
            .map_err(|_| "items were refused")?;
        if len >= size && (got != size || whole.get(last * size..last * size + size) != Some(&*item)) {
            return Err("an item differs");
        }
    }
    if hash.finalize()[..] == frame.sha256 { Ok(view.nchunks()) } else { Err("wrong hash") }
}

/// Truncations and mutations of a frame; returns how many were read.
fn damage(bytes: &[u8], level: Level, memory: &mut Memory<'_>) -> u32 {
    let Some(copy) = memory.chunk.get_mut(..bytes.len()) else { return 0 };
    copy.copy_from_slice(bytes);
    let mut random = Random(bytes.len() as u32);
    for round in 0..MUTATIONS {
        let len = if round % 4 == 0 { random.below(bytes.len()) } else { bytes.len() };
        // Half of the damage goes to the header, which is read first.
        let at = random.below(if round % 2 == 0 { 87.min(bytes.len()) } else { bytes.len() });
        let new = random.next() as u8;
        let Some(byte) = copy.get_mut(at) else { continue };
        let old = core::mem::replace(byte, new);
        let end = memory.out.len().saturating_sub(GUARD);
        // An error is as good as data: what counts is that this returns, and writes nothing outside.
        let _ = walk(copy.get(..len).unwrap_or_default(), level, memory.work, memory.out.get_mut(..end));
        if let Some(byte) = copy.get_mut(at) {
            *byte = old;
        }
    }
    MUTATIONS as u32
}

fn walk(frame: &[u8], level: Level, work: &mut [u8], out: Option<&mut [u8]>) -> Result<(), Error> {
    let view = View::open(frame, &Limits::DEFAULT)?;
    let out = out.unwrap_or_default();
    for k in 0..view.nchunks().min(32) {
        if let ViewChunk::Stored(chunk) = view.chunk(k, level, work)?
            && chunk.nbytes() > out.len()
        {
            continue;
        }
        view.decode_chunk(k, level, work, out)?;
    }
    Ok(())
}
