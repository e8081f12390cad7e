//! Chunks, with sizes that fit where they are meant to.

use crate::field;
use arbitrary::{Result, Unstructured};

/// Fields of a chunk header: offset and width.
pub const CHUNK_FIELDS: [(usize, usize); 11] =
    [(0, 1), (1, 1), (2, 1), (3, 1), (4, 4), (8, 4), (12, 4), (16, 6), (24, 6), (30, 1), (31, 1)];

fn word(chunk: &[u8], at: usize) -> Option<usize> {
    usize::try_from(i32::from_le_bytes(*chunk.get(at..)?.first_chunk()?)).ok()
}

/// Whether the first bytes may be those of a chunk: a version, an item size, and sizes that are not negative.
pub fn is_chunk(bytes: &[u8]) -> bool {
    let sizes = [4, 8, 12].map(|at| word(bytes, at));
    bytes.len() >= 16 && bytes[0] <= 6 && bytes[3] > 0 && sizes.iter().all(Option::is_some)
}

/// Where the table of block starts begins, and how many there are: none in a chunk without streams.
fn table(chunk: &[u8]) -> Option<(usize, usize)> {
    let header = if chunk[2] & 5 == 5 { 32 } else { 16 };
    let (nbytes, block) = (word(chunk, 4)?, word(chunk, 8)?);
    let extended = header == 32 && chunk.len() >= 32;
    let variable = extended && chunk[30] & 1 != 0;
    let plain = chunk[2] & 2 != 0 || extended && chunk[31] & 0x70 != 0;
    let count = if variable { block } else { nbytes.div_ceil(block.max(1)) };
    (!plain && count > 0 && count <= chunk.len() / 4).then_some((header, count))
}

/// Where the length of the stream stands that the byte at `at` belongs to, and that length.
fn stream(chunk: &[u8], header: usize, count: usize, at: usize) -> Option<(usize, usize)> {
    let starts = (0..count).filter_map(|k| word(chunk, header + 4 * k));
    let mut place = starts.filter(|start| *start <= at).max()?;
    while place < at {
        // A run has no length, and a byte more than its value unless that is 0.
        let len = i32::from_le_bytes(*chunk.get(place..)?.first_chunk()?);
        let next = place + 4 + usize::try_from(len).unwrap_or(1);
        if len > 0 && (place + 4..next).contains(&at) {
            return Some((place, len as usize));
        }
        place = next;
    }
    None
}

/// Changes a chunk; its header afterwards mostly says how long it is.
pub fn change(u: &mut Unstructured<'_>, chunk: &mut Vec<u8>) -> Result<()> {
    let start = |u: &mut Unstructured<'_>, chunk: &[u8]| -> Result<Option<(usize, usize)>> {
        let Some((header, count)) = table(chunk) else { return Ok(None) };
        let place = header + 4 * u.choose_index(count)?;
        Ok(word(chunk, place).map(|start| (place, start)))
    };
    match u.int_in_range(0..=5)? {
        0 | 1 => {
            let (at, width) = *u.choose(&CHUNK_FIELDS)?;
            return field(u, chunk, at, width);
        }
        2 => start(u, chunk)?.map_or(Ok(()), |(place, _)| field(u, chunk, place, 4))?,
        // The length of a block's first stream.
        3 => start(u, chunk)?.map_or(Ok(()), |(_, start)| field(u, chunk, start, 4))?,
        4 => {
            let at = u.choose_index(chunk.len())?;
            field(u, chunk, at, 1)?;
        }
        _ => {
            // Longer or shorter somewhere in the streams: the one around it has another length, later blocks move along.
            let (header, count) = table(chunk).unwrap_or((16, 0));
            let at = u.int_in_range((header + 4 * count).min(chunk.len())..=chunk.len())?;
            let around = stream(chunk, header, count, at);
            let end = (at + u.int_in_range(0..=6)?).min(chunk.len());
            let new: &[u8] = if u.arbitrary()? { u.bytes(3)? } else { &[] };
            chunk.splice(at..end, new.iter().copied());
            let moved = |number: usize| ((number + new.len()).saturating_sub(end - at) as i32).to_le_bytes();
            for place in (0..count).map(|k| header + 4 * k) {
                if let Some(start) = word(chunk, place).filter(|start| *start > at) {
                    chunk[place..place + 4].copy_from_slice(&moved(start));
                }
            }
            if let Some((place, len)) = around {
                chunk[place..place + 4].copy_from_slice(&moved(len));
            }
        }
    }
    let len = chunk.len() as u32;
    if !u.ratio(1, 8)? && chunk.len() >= 16 {
        chunk[12..16].copy_from_slice(&len.to_le_bytes());
    }
    Ok(())
}
