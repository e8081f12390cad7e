//! Decoding of chunks without streams: stored or special ones.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::arch::out::Out;
use crate::chunk::header::Special;
use crate::chunk::view::Chunk;
use crate::error::Error;
use crate::filter::blocksplit::Stores;

/// Decoded bytes from `start` on of a chunk without streams: stored or special.
pub(crate) fn copy_plain(chunk: &Chunk<'_>, start: usize, mut out: Out<'_>) -> Result<(), Error> {
    match chunk.header().special() {
        Some(Special::Zeros | Special::Uninit) => out.fill(0),
        Some(Special::Nan | Special::Value) => fill_repeated(chunk.repeated_value(), start, out),
        None => {
            let end = start.saturating_add(out.len());
            let bytes = chunk.stored_bytes()?.get(start..end);
            let bytes = bytes.ok_or(Error::OutOfRange { index: end as u64, len: chunk.nbytes() as u64 })?;
            copy_stored(bytes, out);
        }
    }
    Ok(())
}

/// Copies in pieces of a size at which C libraries copy fastest, unless the destination is too large for the caches.
fn copy_stored(bytes: &[u8], mut out: Out<'_>) {
    const PIECE: usize = 128 << 10;
    if Stores::for_len(bytes.len()) == Stores::Streaming {
        out.copy_from(bytes);
        return;
    }
    let mut at = 0usize;
    for piece in bytes.chunks(PIECE) {
        if let Some(mut place) = out.get(at, piece.len()) {
            at = at.saturating_add(place.copy_from(piece));
        }
    }
}

/// Fills `out` with `value` over and over, beginning `start` bytes into the repetition.
fn fill_repeated(value: &[u8], start: usize, mut out: Out<'_>) {
    if let [byte] = value {
        return out.fill(*byte);
    }
    let (mut at, mut skip) = (0usize, start.checked_rem(value.len()).unwrap_or(0));
    while let Some(mut place) = out.get(at, out.len().saturating_sub(at)) {
        let copied = place.copy_from(value.get(skip..).unwrap_or(&[]));
        if copied == 0 {
            return;
        }
        at = at.saturating_add(copied);
        skip = 0;
    }
}
