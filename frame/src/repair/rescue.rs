//! A frame that opens: its chunks are copied, and what does not decode is replaced.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::made::{Known, Made};
use super::report::{Options, Order, Repaired, is_of_the_caller};
use super::search::looks_whole;
use crate::cframe::Entries;
use crate::cframe::header::ChunkSize;
use crate::cframe::index::Entry;
use crate::error::{Error, IoError};
use crate::limits::{Budget, within};
use crate::schunk::{ChecksumState, Once, RawChunk, SuperChunk};
use alloc::vec::Vec;
use blosc_core::{Header as ChunkHeader, Params};

/// What the system says of a sector that cannot be read.
const EIO: i32 = 5;

/// What has become of a chunk.
#[derive(Clone, Copy)]
enum Fate {
    /// It is the chunk of this number in the new frame.
    Kept(u64),
    /// As [`Fate::Kept`], without having been decoded.
    Unchecked(u64),
    /// It decodes, but is not the chunk that a checksum was made of, which may be damaged itself.
    Doubted,
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
    let mut known = Known {
        header: Some(*frame.header()),
        all: true,
        metalayers: Vec::new(),
        vlmetalayers: None,
        dropped: Vec::new(),
    };
    for name in frame.metalayer_names().collect::<Vec<_>>() {
        let content = frame.metalayer(&name).unwrap_or(&[]).to_vec();
        known.metalayers.push((name, content));
    }
    let mut layers = Vec::new();
    for name in frame.vlmetalayer_names().collect::<Vec<_>>() {
        match frame.vlmetalayer(&name) {
            Ok(content) => layers.push((name, content.unwrap_or_default())),
            Err(Error::OutOfMemory) => return Err(Error::OutOfMemory),
            Err(_) => known.dropped.push(name),
        }
    }
    known.vlmetalayers = Some(layers);
    let mut made = Made::new(known, None, options, Order::Index, make)?;
    // Where header, index or trailer are damaged, a checksum that does not match may be the one that is wrong.
    let trusted = is_what_was_written(&frame)?;
    made.report.intact = trusted;
    let (mut fates, mut places) = (Once::new(frame.index())?, Places::new());
    for k in 0..frame.nchunks() {
        let entry = frame.entry(k);
        let sum = frame.chunk_checksum(k);
        let fate = match fates.get(entry).filter(|(other, _)| *other == sum) {
            Some((_, fate @ (Fate::Kept(copy) | Fate::Unchecked(copy)))) => {
                let done = made.out.append_shared(copy);
                if made.appended(done)? { fate } else { Fate::Lost }
            }
            Some((_, fate)) => fate,
            None => copy(&mut frame, (k, trusted), &mut made, &mut budget)?,
        };
        fates.note(entry, (sum, fate));
        match fate {
            Fate::Kept(_) => {}
            Fate::Unchecked(_) => made.report.unchecked = made.report.unchecked.saturating_add(1),
            Fate::Lost | Fate::Doubted => {
                let len = declared(&mut frame, k);
                match places.unnamed(&mut frame, k, len, &mut budget)? {
                    Some(chunk) => {
                        let done = made.out.append_as_is(&chunk);
                        match made.appended(done)? {
                            true => made.report.placed = made.report.placed.saturating_add(1),
                            false => made.lose(len)?,
                        }
                        continue;
                    }
                    None if matches!(fate, Fate::Doubted) => {
                        let done = frame.verifying(false, |frame| made.out.append_copy(frame, k));
                        match made.appended(done)? {
                            true => made.report.unchecked = made.report.unchecked.saturating_add(1),
                            false => made.lose(len)?,
                        }
                    }
                    None => made.lose(len)?,
                }
            }
        }
        places.passed(&frame, entry);
    }
    made.finish()
}

/// Whether header, index and trailer are those that the fingerprint was made of; also where there is none of ours.
fn is_what_was_written(frame: &SuperChunk<'_>) -> Result<bool, Error> {
    let covered = matches!(frame.checksum_state(), ChecksumState::Present | ChecksumState::Damaged);
    Ok(!covered || frame.reopen()?.fingerprint_matches())
}

/// Whether the index may tell where the chunks lie. One that names the same chunk for all, in a frame whose fingerprint
/// says that something is damaged, does not.
pub(super) fn has_usable_index(frame: &SuperChunk<'_>) -> Result<bool, Error> {
    let one = matches!(frame.index().entries, Entries::Repeated(0.., 2..));
    Ok(!one || is_what_was_written(frame)?)
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

    /// The chunk of `len` bytes that lies behind the last one, if no entry names it. It is chunk `k` if it has its
    /// checksum; without one, if the entry of chunk `k` leads to no such chunk: else it may be an older state of it.
    fn unnamed(
        &mut self,
        frame: &mut SuperChunk<'_>,
        k: u64,
        len: u32,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some(next) = self.next else { return Ok(None) };
        let sum = frame.chunk_checksum(k);
        if sum.is_none() && frame.chunk_header(k).is_ok_and(|header| header.is_some_and(|h| h.nbytes == len))
        {
            return Ok(None);
        }
        let named = self.named.get_or_insert_with(|| {
            let mut named: Vec<u64> = frame.index().entries.stored().collect();
            named.sort_unstable();
            named
        });
        if named.binary_search(&next).is_ok() {
            return Ok(None);
        }
        let chunk = frame.chunk_at(next, len, sum);
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
    (k, trusted): (u64, bool),
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
        Err(Error::Checksum { .. }) if !trusted => {
            match frame.verifying(false, |frame| frame.check_chunk(k)) {
                Ok(()) => return Ok(Fate::Doubted),
                Err(_) => return Ok(Fate::Lost),
            }
        }
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

/// Whether all bytes of a chunk are there: its checksum says so, or without one the places of its blocks, if other chunks or
/// the frame's header name the same codec and filters.
fn is_whole(frame: &mut SuperChunk<'_>, k: u64) -> bool {
    let covered = frame.chunk_checksum(k).is_some();
    let looks = frame.verifying(covered, |frame| match frame.raw_chunk(k, &mut Vec::new()) {
        Ok(RawChunk::Stored(bytes)) => covered || looks_whole(bytes),
        _ => false,
    });
    looks && (covered || has_kin(frame, k))
}

/// Whether a chunk was made as its neighbours were, or as the header says.
fn has_kin(frame: &SuperChunk<'_>, k: u64) -> bool {
    /// Byte 31 of a chunk: a big-endian machine wrote it.
    const BIG_ENDIAN: u8 = 0x02;
    let header = |k: u64| frame.chunk_header(k).ok().flatten();
    let Some(own) = header(k) else { return false };
    let kin = |other: ChunkHeader| {
        let pipeline = (own.codec, own.filters) == (other.codec, other.filters);
        pipeline && own.flags1 & BIG_ENDIAN == other.flags1 & BIG_ENDIAN
    };
    let params = frame.params();
    let by_header =
        own.flags1 & BIG_ENDIAN == 0 && (own.codec, own.filters) == (params.codec, params.filters);
    let neighbours = [k.checked_sub(1), k.checked_add(1)];
    by_header || frame.nchunks() == 1 || neighbours.into_iter().flatten().filter_map(header).any(kin)
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
