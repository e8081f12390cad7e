//! A frame that opens: its chunks are copied, and what does not decode is replaced.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::made::{Known, Made};
use super::{Options, Order, Repaired, is_of_the_caller, looks_whole};
use crate::cframe::header::ChunkSize;
use crate::cframe::index::Entry;
use crate::error::{Error, IoError};
use crate::limits::{Budget, within};
use crate::schunk::{Once, RawChunk, SuperChunk};
use alloc::vec::Vec;
use blosc_core::Params;

/// What the system says of a sector that cannot be read.
const EIO: i32 = 5;

/// What has become of a chunk.
#[derive(Clone, Copy)]
enum Fate {
    /// It is the chunk of this number in the new frame.
    Kept(u64),
    /// As [`Fate::Kept`], without having been decoded.
    Unchecked(u64),
    Lost,
}

pub(super) fn rescue<'a>(
    mut frame: SuperChunk<'_>,
    options: Options,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    let limits = options.limits;
    if let ChunkSize::Fixed(c) = frame.chunksize() {
        // Chunks of that size could neither be read nor be filled in for those lost.
        within("bytes of a chunk", c.into(), limits.chunk.output)?;
    }
    let mut budget = frame.limits().budget(frame.container_bytes()?);
    let mut known =
        Known { header: Some(*frame.header()), all: true, metalayers: Vec::new(), vlmetalayers: None, dropped: Vec::new() };
    for name in frame.metalayer_names().collect::<Vec<_>>() {
        let content = frame.metalayer(&name).unwrap_or(&[]).to_vec();
        known.metalayers.push((name, content));
    }
    let mut layers = Vec::new();
    for name in frame.vlmetalayer_names().collect::<Vec<_>>() {
        match frame.vlmetalayer(&name) {
            Ok(content) => layers.push((name, content.unwrap_or_default())),
            Err(error) if is_of_the_caller(&error) => return Err(error),
            Err(_) => known.dropped.push(name),
        }
    }
    known.vlmetalayers = Some(layers);
    let mut made = Made::new(known, None, options, Order::Index, make)?;
    let (mut fates, mut places) = (Once::new(frame.index())?, Places::new());
    for k in 0..frame.nchunks() {
        let entry = frame.entry(k);
        let fate = match fates.get(entry) {
            Some(fate @ (Fate::Kept(copy) | Fate::Unchecked(copy))) => {
                let done = made.out.append_shared(copy);
                if made.appended(done)? { fate } else { Fate::Lost }
            }
            Some(Fate::Lost) => Fate::Lost,
            None => copy(&mut frame, k, &mut made, &mut budget)?,
        };
        fates.note(entry, fate);
        match fate {
            Fate::Kept(_) => {}
            Fate::Unchecked(_) => made.report.unchecked = made.report.unchecked.saturating_add(1),
            Fate::Lost => {
                let len = declared(&mut frame, k);
                match places.unnamed(&mut frame, len, &mut budget)? {
                    Some(chunk) => {
                        let done = made.out.append_as_is(&chunk);
                        made.appended(done)?;
                        made.report.placed = made.report.placed.saturating_add(1);
                    }
                    None => made.lose(len)?,
                }
            }
        }
        places.passed(&frame, entry);
    }
    made.finish()
}

/// Where chunks lie, to find one whose entry is damaged: it follows the chunk before it, and no entry names it.
struct Places {
    /// The entry of a chunk that follows the last one.
    next: Option<u64>,
    /// All entries in ascending order, once they matter.
    named: Option<Vec<u64>>,
}

impl Places {
    fn new() -> Places {
        Places { next: Some(0), named: None }
    }

    /// The chunk of `len` bytes that lies behind the last one, if no entry names it.
    fn unnamed(
        &mut self,
        frame: &mut SuperChunk<'_>,
        len: u32,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some(next) = self.next else { return Ok(None) };
        let named = self.named.get_or_insert_with(|| {
            let mut named: Vec<u64> = frame.index().entries.stored().collect();
            named.sort_unstable();
            named
        });
        if named.binary_search(&next).is_ok() {
            return Ok(None);
        }
        let chunk = frame.chunk_at(next, len);
        if chunk.is_some() {
            budget.spend(len.into())?;
            self.next = frame.entry_behind(next).ok();
        }
        Ok(chunk)
    }

    /// Goes on behind the chunk of this entry, if it tells where it ends.
    fn passed(&mut self, frame: &SuperChunk<'_>, entry: Option<Entry>) {
        if let Some(Entry::Stored(entry)) = entry
            && let Ok(next) = frame.entry_behind(entry)
        {
            self.next = Some(next);
        }
    }
}

/// Copies chunk `k`, if it decodes or could do so elsewhere.
fn copy(
    frame: &mut SuperChunk<'_>,
    k: u64,
    made: &mut Made<'_>,
    budget: &mut Budget,
) -> Result<Fate, Error> {
    if let Ok(Some(header)) = frame.chunk_header(k) {
        let most = if let ChunkSize::Fixed(c) = frame.chunksize() { c.into() } else { frame.nbytes() };
        if u64::from(header.nbytes) > most || !made.fits(header.nbytes) {
            return Ok(Fate::Lost);
        }
        budget.spend(header.nbytes.into())?;
    }
    let number = made.out.nchunks();
    let fate = match frame.check_stored(k) {
        Ok(()) => Fate::Kept(number),
        Err(error) if is_of_the_caller(&error) => return Err(error),
        // A place of the disk that cannot be read is damage.
        Err(Error::Io(IoError { os: Some(EIO), .. })) => return Ok(Fate::Lost),
        Err(error) if error.leaves_open() => match is_whole(frame, k) {
            true => Fate::Unchecked(number),
            false => return Err(error),
        },
        Err(_) => return Ok(Fate::Lost),
    };
    let done = frame.verifying(false, |frame| made.out.append_copy(frame, k));
    Ok(if made.appended(done)? { fate } else { Fate::Lost })
}

/// Whether all bytes of a chunk are there: its checksum says so, or without one the places of its blocks.
fn is_whole(frame: &mut SuperChunk<'_>, k: u64) -> bool {
    let covered = frame.chunk_checksum(k).is_some();
    frame.verifying(covered, |frame| match frame.raw_chunk(k) {
        Ok(RawChunk::Stored(bytes)) => covered || looks_whole(bytes),
        _ => false,
    })
}

/// What the frame says of the size of chunk `k`; 0 where nothing does.
fn declared(frame: &mut SuperChunk<'_>, k: u64) -> u32 {
    match frame.chunksize() {
        ChunkSize::Fixed(c) => {
            let left = frame.nbytes().saturating_sub(k.saturating_mul(u64::from(c)));
            u32::try_from(left).unwrap_or(c).min(c)
        }
        _ => frame.chunk_nbytes(k).unwrap_or(0),
    }
}
