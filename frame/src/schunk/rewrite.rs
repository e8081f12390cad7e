//! Bytes of a contiguous frame that are written once more: all of them into a new store, or some nearer to the start.

use super::commit::{Draft, Written};
use super::copy::Once;
use super::store::{Located, Source};
use crate::cframe::index::Entry;
use crate::error::{Error, Structure};
use crate::io::{ReadAt, WriteAt};
use crate::limits::Limits;
use alloc::vec::Vec;
use core::ops::Range;

/// Moves bytes down to `to`.
pub(super) fn copy_down<S: ReadAt + WriteAt + ?Sized>(
    store: &mut S,
    mut from: Range<u64>,
    mut to: u64,
) -> Result<(), Error> {
    let mut buf = Vec::new();
    while from.start < from.end {
        let n = from.end.saturating_sub(from.start).min(1 << 20);
        buf.resize(n as usize, 0);
        store.read_exact_at(from.start, &mut buf)?;
        store.write_at(to, &buf)?;
        (from.start, to) = (from.start.saturating_add(n), to.saturating_add(n));
    }
    Ok(())
}

/// Writes a frame's header, its chunks in their order, index and trailer.
pub(super) fn write_anew(
    draft: &mut Draft<'_>,
    base: u64,
    check: bool,
    old: &dyn ReadAt,
    new: &mut dyn WriteAt,
) -> Result<Written, Error> {
    let start = draft.header_len();
    let (size, mut at, mut buf) = (old.size()?, start, Vec::new());
    let mut written = Once::new(draft.index)?;
    for k in draft.index.numbers() {
        let entry = draft.index.entry(k)?;
        let Entry::Stored(offset) = entry else { continue };
        // An entry that shares the bytes of one before it.
        if let Some((raw, sum)) = written.get(Some(entry))
            && (!check || draft.index.sum(k).is_none_or(|known| Some(known) == sum))
        {
            draft.index.point(k, raw, sum)?;
            continue;
        }
        let from = base.saturating_add(offset);
        let located = Located::new(Source::Shared(old), from, size.saturating_sub(from), Structure::Chunk);
        let known = draft.index.sum(k).filter(|_| check);
        let chunk = located.held_to(known).whole(k, &Limits::NONE, &mut buf)?;
        new.write_at(at, chunk)?;
        let missing = (check && known.is_none()).then(|| draft.checksums.of_chunk(chunk));
        let raw = at.saturating_sub(start) as i64;
        draft.index.point(k, raw, missing)?;
        written.note(Some(entry), (raw, draft.index.sum(k)));
        at = at.saturating_add(chunk.len() as u64);
    }
    let cbytes = at.saturating_sub(start);
    let written = draft.assemble(cbytes, |_, _| Ok(cbytes))?;
    new.write_at(at, &written.rest)?;
    new.write_at(0, &written.head)?;
    Ok(written)
}
