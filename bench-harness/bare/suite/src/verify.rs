//! Valid chunks against their recorded hashes.

use crate::{Fixture, Memory};
use blosc_core::{Chunk, ChunkContext, Decoder, Error, Level, PushDecoder};
use core::fmt::Write;
use sha2::{Digest, Sha256};

/// Decodes each of `fixtures` whole and checks the hash, then decodes some of its items by themselves, then pushes it in pieces;
/// returns how many held. Failures are told to `log`.
pub fn verify(fixtures: &[Fixture], level: Level, memory: &mut Memory<'_>, log: &mut impl Write) -> usize {
    memory.arm();
    let mut held = 0;
    for fixture in fixtures {
        let fault = match memory.decode(level, fixture.bytes, fixture.typesize) {
            Ok((_, len)) => match memory.out.get(..len) {
                Some(data) if Sha256::digest(data)[..] == fixture.sha256 => {
                    items(fixture, level, memory, len).or_else(|| pushed(fixture, level, memory))
                }
                _ => Some("wrong hash"),
            },
            Err(error) => {
                let _ = writeln!(log, "{}: {error}", fixture.name);
                Some("refused")
            }
        };
        match fault {
            None => held += 1,
            Some(fault) => {
                let _ = writeln!(log, "FAILED: {} at {}: {fault}", fixture.name, level.isa());
            }
        }
    }
    if !memory.intact() {
        let _ = writeln!(log, "FAILED: something was written after the output at {}", level.isa());
        return 0;
    }
    held
}

/// The middle third of the items, against the chunk decoded whole.
fn items(fixture: &Fixture, level: Level, memory: &mut Memory<'_>, len: usize) -> Option<&'static str> {
    let chunk = Chunk::parse(fixture.bytes).ok()?;
    let size = usize::from(chunk.header().typesize);
    let count = len.checked_div(size).unwrap_or(0);
    let range = count / 3..count - count / 3;
    let around = ChunkContext { typesize: fixture.typesize, ..ChunkContext::default() };
    let mut decoder = Decoder::new(level, memory.work).chunk_context(around);
    let Ok(got) = decoder.get_items(&chunk, range.clone(), &mut *memory.chunk) else {
        return Some("items were refused");
    };
    let whole = memory.out.get(range.start * size..range.end * size);
    (whole != memory.chunk.get(..got)).then_some("items differ from the whole")
}

/// The chunk in pieces of 61 bytes, against the chunk decoded whole. Chunks that only a decoder of whole chunks can follow, and those for
/// which there is too little memory, must say so.
fn pushed(fixture: &Fixture, level: Level, memory: &mut Memory<'_>) -> Option<&'static str> {
    let around = ChunkContext { typesize: fixture.typesize, ..ChunkContext::default() };
    let mut decoder = PushDecoder::new(level, memory.work).chunk_context(around);
    for mut piece in fixture.bytes.chunks(61) {
        loop {
            match decoder.push(&mut piece) {
                Ok(None) => break,
                Ok(Some(block)) => {
                    let whole = memory.out.get(block.offset..).and_then(|out| out.get(..block.bytes.len()));
                    if whole != Some(block.bytes) {
                        return Some("a pushed block differs from the whole");
                    }
                }
                Err(Error::Unsupported(_) | Error::WorkTooSmall { .. }) => return None,
                Err(_) => return Some("was refused in pieces"),
            }
        }
    }
    (!decoder.is_done()).then_some("wants more than the chunk")
}
