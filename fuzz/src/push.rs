//! Chunks that are pushed: any cutting gives what a slice gives, from any block on, and over itself.

use crate::chunks::{LIMITS, around};
use crate::primed::twice;
use crate::resources::allow;
use blosc_core::{Chunk, Decoder, Error, Header, Level, PushDecoder, PushState};
use blosc_testkit::guarded;

/// Most memory that a decoder is given.
const MEMORY: usize = 16 << 20;

/// Pushes the rest of `data` in two sizes in turn, those of its first bytes.
pub fn push(data: &[u8]) {
    let Some((&[how, first, second], bytes)) = data.split_first_chunk() else { return };
    let whole = Chunk::parse_with(bytes, &LIMITS).and_then(|chunk| {
        allow(9 * chunk.nbytes() + Decoder::work_len(&chunk));
        let mut work = vec![0x5A; Decoder::work_len(&chunk)];
        let mut out = vec![0; chunk.nbytes()];
        let typesize = u32::from(chunk.header().typesize);
        Decoder::new(Level::best(), &mut work)
            .chunk_context(around(typesize))
            .decode(&chunk, &mut out[..])?;
        Ok(out)
    });
    let typesize = bytes.get(3).map_or(1, |byte| u32::from(*byte));
    // Exactly what the header tells, and a dictionary; without room for the block starts, or with much less.
    let header = Header::parse(bytes).ok();
    let table = header.filter(|header| header.has_streams()).map_or(0, |header| 4 * header.nblocks());
    let needed = header.map_or(100, |header| PushDecoder::memory_len(&header)).min(MEMORY);
    let dictionary = if header.is_some_and(|header| header.has_dictionary()) { 4 + 32768 } else { 0 };
    let given = match how & 3 {
        0 => usize::from(how) * 16,
        1 => needed.saturating_sub(table) + dictionary,
        _ => needed + dictionary,
    };
    // A state for each block, twice: a header alone can have two million blocks of one byte come out.
    let blocks = header.map_or(0, |header| header.nblocks()).min(LIMITS.output as usize);
    allow(2 * (given + blocks * size_of::<PushState>()));
    let level = if how & 4 == 0 { Level::best() } else { Level::SCALAR };
    let sizes = [usize::from(first) + 1, usize::from(second) + 1];
    let most = header.map_or(0, |header| header.nbytes as usize).min(LIMITS.output as usize);
    let (answer, mut out, states) = twice(|before| {
        let (mut memory, mut out, mut states) = (before.bytes(given), before.bytes(most), Vec::new());
        let answer = run(&mut decoder(level, &mut memory, typesize), bytes, &sizes, &mut out, &mut states);
        // What is not decoded stays as it was.
        let out = if answer == Ok(true) { out } else { Vec::new() };
        (answer, out, states)
    });
    let mut memory = vec![0x5A; given];
    match (&answer, &whole) {
        (Ok(true), Ok(whole)) => assert!(out == *whole, "pushed bytes differ"),
        (Ok(true), Err(error)) => panic!("decoded what a slice does not: {error}"),
        // Memory, and what only a decoder of whole chunks can follow.
        (Err(Error::WorkTooSmall { .. } | Error::Unsupported(_)), _) | (_, Err(_)) => return,
        (Ok(false), Ok(_)) => panic!("wants more than the chunk"),
        (Err(error), Ok(_)) => panic!("refuses what a slice does not: {error}"),
    }
    resume(&mut decoder(level, &mut memory, typesize), bytes, &states, how, &mut out);
    let chunk = Chunk::parse_with(bytes, &LIMITS).expect("a chunk that was decoded");
    let Ok(margin) = chunk.in_place_margin() else { return };
    let (len, bytes) = (out.len() + margin, chunk.bytes());
    let over = guarded(len, |buffer| {
        let at = len - bytes.len();
        buffer[at..].copy_from_slice(bytes);
        decoder(level, &mut memory, typesize).decode_in_place(buffer, at)
    });
    assert!(over.as_ref() == whole.as_ref(), "over itself");
}

fn decoder(level: Level, memory: &mut [u8], typesize: u32) -> PushDecoder<'_> {
    PushDecoder::new(level, memory).limits(&LIMITS).chunk_context(around(typesize))
}

/// Whether the chunk came to its end.
fn run(
    decoder: &mut PushDecoder<'_>,
    bytes: &[u8],
    sizes: &[usize],
    out: &mut [u8],
    states: &mut Vec<PushState>,
) -> Result<bool, Error> {
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    while !decoder.is_done() && (!rest.is_empty() || decoder.needs() == 0) {
        let (mut piece, after) = rest.split_at(sizes.next().map_or(1, |size| *size).min(rest.len()));
        while let Some(block) = decoder.push(&mut piece)? {
            let place = out.get_mut(block.offset..).and_then(|out| out.get_mut(..block.bytes.len()));
            place.expect("a block of the decoded size").copy_from_slice(block.bytes);
            states.extend(decoder.state().filter(|_| states.len() < 1000));
        }
        assert!(piece.is_empty() || decoder.is_done(), "bytes that are not taken");
        rest = after;
    }
    Ok(decoder.is_done())
}

/// Another decoder goes on from one of the states.
fn resume(decoder: &mut PushDecoder<'_>, bytes: &[u8], states: &[PushState], how: u8, out: &mut [u8]) {
    let Some(state) = states.get(usize::from(how) % states.len().max(1)) else { return };
    let state = PushState::from_bytes(&state.to_bytes()).expect("a whole state");
    while decoder.state().is_none() {
        let from = decoder.position();
        decoder.push(&mut &bytes[from..from + decoder.needs()]).expect("the same prefix");
    }
    match decoder.resume(state) {
        Ok(()) => {}
        Err(Error::Unsupported(_)) => return, // delta
        Err(error) => panic!("{error}"),
    }
    let (truth, from) = (out.to_vec(), decoder.position());
    let done = run(decoder, &bytes[from..], &[77], out, &mut Vec::new());
    assert!(done == Ok(true) && truth == out, "resumed");
}
