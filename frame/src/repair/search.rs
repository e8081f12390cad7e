//! The search of a frame that does not open, for its chunks and its index. The file is looked at through a window: a
//! large one need not fit into memory.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::made::{Known, Made};
use super::report::{Options, Order, Repaired};
use crate::cframe::CHECKSUMS_NAME;
use crate::cframe::header::{FIXED_LEN, FrameType, Header};
use crate::cframe::index::Entry;
use crate::cframe::section::Section;
use crate::cframe::trailer::{self, TAIL_LEN, Tail};
use crate::error::{Error, Structure};
use crate::io::ReadAt;
use crate::limits::{Budget, Limits, within};
use crate::schunk::SuperChunk;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Chunk, Header as ChunkHeader, Params, Pool};
use core::ops::Range;

/// Length of the header of every chunk a frame stores: shorter ones are too weak a mark to search for.
const CHUNK_HEADER: usize = 32;
/// How much of the file is read at once.
const WINDOW: usize = 1 << 18;

/// Looks through the bytes of a frame that does not open.
pub(super) fn search<'a>(
    source: &impl ReadAt,
    options: Options,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    let size = source.size()?;
    let limits = &options.limits.for_size(size);
    let mut window = Window { source, size, start: 0, bytes: Vec::new() };
    let mut known = known(&mut window, limits)?;
    let header_len = known.header.map(|header| u64::from(header.header_len));
    let mut pool = Pool::new(1);
    // The length of the header may be what is damaged.
    let start = if known.header.is_some() { FIXED_LEN as u64 } else { 0 };
    let mut found = chunks(&mut window, start, limits, &known, &mut pool)?;
    if let Some(len) = header_len.filter(|len| found.chunks.contains_key(len)) {
        // What looks like a chunk before the first one is the content of a metalayer.
        found.chunks = found.chunks.split_off(&len);
    }
    let first_at = found.chunks.keys().next().copied();
    // Entries count from the end of the header, where the first chunk lies, too.
    let mut index = None;
    for base in header_len.into_iter().chain(first_at).chain([0]) {
        index = newest_index(&mut window, &found, base, limits, &mut pool)?;
        if index.is_some() {
            break;
        }
    }
    let first = match first_at {
        Some(at) => ChunkHeader::parse(window.get(at, CHUNK_HEADER)?).ok(),
        None => None,
    };
    let own = known.header.and_then(|header| header.index_at().ok());
    let (order, trailer) = match &index {
        Some(index) if Some(index.at) == own => {
            (Order::Index, Some(index.at.saturating_add(index.len as u64)))
        }
        Some(index) => (Order::FoundIndex, Some(index.at.saturating_add(index.len as u64))),
        None => (Order::Stored, own_trailer(&mut window, known.header.as_ref())?),
    };
    let most = usize::try_from(limits.metalayers).unwrap_or(usize::MAX);
    if let Some(at) = trailer {
        known.vlmetalayers(window.get(at, most)?, limits, &mut pool);
    }
    let mut made = Made::new(known, first.as_ref(), options, order, make)?;
    match index {
        Some(index) => made.by_index(&mut window, &found, &index)?,
        None => made.as_stored(&mut window, &found, trailer.unwrap_or(u64::MAX)..u64::MAX)?,
    }
    made.finish()
}

/// An index that was found: where its chunk lies, how long that is, and what the offsets of its entries count from.
struct Index {
    at: u64,
    len: usize,
    base: u64,
    entries: Vec<Entry>,
}

/// The last index in the file all of whose entries point at chunks that were found before it.
fn newest_index(
    window: &mut Window<'_, impl ReadAt>,
    found: &Found,
    base: u64,
    limits: &Limits,
    pool: &mut Pool,
) -> Result<Option<Index>, Error> {
    for &at in found.indexes.iter().rev() {
        let len = found.chunks.get(&at).map_or(0, |chunk| chunk.len);
        if let Some(entries) = entries(window.get(at, len)?, at, base, &found.chunks, limits, pool) {
            return Ok(Some(Index { at, len, base, entries }));
        }
    }
    Ok(None)
}

/// Where the trailer starts by what the end of the frame says, if one is there.
fn own_trailer(window: &mut Window<'_, impl ReadAt>, header: Option<&Header>) -> Result<Option<u64>, Error> {
    let len = header.map_or(window.size, |header| header.frame_len);
    let Some(at) = len.checked_sub(TAIL_LEN as u64).filter(|_| len <= window.size) else { return Ok(None) };
    let tail = window.get(at, TAIL_LEN)?.first_chunk().map(|tail| Tail::parse(tail, at, 0));
    let Some(Ok(tail)) = tail else { return Ok(None) };
    let at = len.saturating_sub(tail.trailer_len.into());
    Ok(trailer::check_start(window.get(at, 2)?).is_ok().then_some(at))
}

impl Made<'_> {
    /// Appends the chunks that an index names.
    fn by_index(
        &mut self,
        window: &mut Window<'_, impl ReadAt>,
        found: &Found,
        index: &Index,
    ) -> Result<(), Error> {
        let mut copies = BTreeMap::new();
        for entry in &index.entries {
            let done = match *entry {
                Entry::Stored(offset) if copies.contains_key(&offset) => {
                    self.out.append_shared(copies.get(&offset).copied().unwrap_or(0))
                }
                Entry::Stored(offset) => {
                    let at = index.base.saturating_add(offset);
                    let chunk = found.chunks.get(&at).copied().unwrap_or_default();
                    copies.insert(offset, self.out.nchunks());
                    self.report.unchecked = self.report.unchecked.saturating_add(u64::from(chunk.unchecked));
                    self.out.append_as_is(window.get(at, chunk.len)?)
                }
                Entry::Special(kind) => match self.next_len() {
                    0 => {
                        self.lose(0)?;
                        continue;
                    }
                    len => self.out.append_special(kind, len),
                },
            };
            if !self.appended(done)? {
                self.lose(self.next_len())?;
            }
        }
        Ok(())
    }

    /// Appends all chunks that were found, except indexes and what lies in the trailer.
    fn as_stored(
        &mut self,
        window: &mut Window<'_, impl ReadAt>,
        found: &Found,
        trailer: Range<u64>,
    ) -> Result<(), Error> {
        for (&at, chunk) in &found.chunks {
            if found.indexes.contains(&at) || trailer.contains(&at) || !self.fits(chunk.nbytes) {
                continue;
            }
            let done = self.out.append_as_is(window.get(at, chunk.len)?);
            if self.appended(done)? {
                self.report.unchecked = self.report.unchecked.saturating_add(u64::from(chunk.unchecked));
            }
        }
        Ok(())
    }
}

/// A file of which some bytes are at hand.
struct Window<'s, R> {
    source: &'s R,
    size: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl<R: ReadAt> Window<'_, R> {
    /// Bytes from `at` on, enough for a chunk's header unless the file ends.
    fn rest(&mut self, at: u64) -> Result<&[u8], Error> {
        let end = self.start.saturating_add(self.bytes.len() as u64);
        let held = usize::try_from(end.saturating_sub(at)).unwrap_or(0);
        self.get(at, if held < CHUNK_HEADER { WINDOW } else { held })
    }

    /// The `len` bytes from `at` on; fewer where the file ends.
    fn get(&mut self, at: u64, len: usize) -> Result<&[u8], Error> {
        let left = usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX);
        let len = len.min(left);
        if let Some(all) = self.source.as_slice() {
            let rest = usize::try_from(at).ok().and_then(|at| all.get(at..)).unwrap_or(&[]);
            return Ok(rest.get(..len).unwrap_or(rest));
        }
        let skip = at.checked_sub(self.start).and_then(|skip| usize::try_from(skip).ok());
        let held = skip.filter(|&skip| self.bytes.len().checked_sub(skip).is_some_and(|held| held >= len));
        let skip = match held {
            Some(skip) => skip,
            None => {
                let step = len.max(WINDOW).min(left);
                // Emptied first: a failure leaves no bytes that are not those of `start`.
                self.bytes.clear();
                self.bytes.try_reserve_exact(step).map_err(|_| Error::OutOfMemory)?;
                self.bytes.resize(step, 0);
                self.start = at;
                if let Err(error) = self.source.read_exact_at(at, &mut self.bytes) {
                    self.bytes.clear();
                    return Err(error.into());
                }
                0
            }
        };
        Ok(self.bytes.get(skip..).and_then(|rest| rest.get(..len)).unwrap_or(&[]))
    }
}

/// What header and metalayers still tell.
fn known(window: &mut Window<'_, impl ReadAt>, limits: &Limits) -> Result<Known, Error> {
    let header = window.get(0, FIXED_LEN)?.first_chunk().and_then(|fixed| Header::parse(fixed).ok());
    let len = header.map_or(0, |header| u64::from(header.header_len)).min(limits.metalayers);
    let head = window.get(0, usize::try_from(len).unwrap_or(usize::MAX))?;
    Ok(Known::read(head, FrameType::Contiguous))
}

/// A chunk that was found.
#[derive(Clone, Copy, Default)]
struct Place {
    len: usize,
    nbytes: u32,
    /// Whether it cannot be decoded here.
    unchecked: bool,
}

/// Chunks by where they lie, and which of them may be an index.
struct Found {
    chunks: BTreeMap<u64, Place>,
    indexes: Vec<u64>,
}

/// Finds all chunks from `at` on whose every block decodes, or would do so with another codec.
fn chunks(
    window: &mut Window<'_, impl ReadAt>,
    mut at: u64,
    limits: &Limits,
    known: &Known,
    pool: &mut Pool,
) -> Result<Found, Error> {
    let mut found = Found { chunks: BTreeMap::new(), indexes: Vec::new() };
    let mut around = None;
    let mut budget: Budget = limits.budget(window.size);
    loop {
        let bytes = window.rest(at)?;
        let Some(skip) = bytes.windows(CHUNK_HEADER).position(looks_like_chunk) else {
            // The end of the window may be the beginning of one.
            let passed = bytes.len().saturating_sub(CHUNK_HEADER.saturating_sub(1)) as u64;
            at = at.saturating_add(passed);
            if passed == 0 {
                return Ok(found);
            }
            continue;
        };
        at = at.saturating_add(skip as u64);
        let Some((header, table)) = candidate(window, at, limits)? else {
            at = at.saturating_add(1);
            continue;
        };
        budget.spend(table as u64)?;
        let mut decoded = None;
        if sound_table(window.get(at, table)?, &header) {
            budget.spend(u64::from(header.nbytes).saturating_add(u64::from(header.cbytes)))?;
            let bytes = window.get(at, header.cbytes as usize)?;
            let chunk = Chunk::parse_with(bytes, &limits.chunk);
            // The first chunk tells the typesize of a frame without a header.
            let candidate = known.around(header.typesize.into());
            let context = around.as_ref().unwrap_or(&candidate).context();
            decoded = match chunk.and_then(|chunk| pool.decompress_in(&chunk, context)).map_err(Error::Codec)
            {
                Ok(_) => Some(true),
                Err(error) if error.leaves_open() && looks_whole(bytes) => Some(false),
                Err(_) => None,
            };
        }
        let Some(decoded) = decoded else {
            at = at.saturating_add(1);
            continue;
        };
        within("chunks", (found.chunks.len() as u64).saturating_add(1), limits.chunks)?;
        let end = at.saturating_add(u64::from(header.cbytes));
        if header.typesize == 8 && window.get(end, 3)? == [0x94, 0x01, 0x93] {
            found.indexes.push(at);
        }
        around.get_or_insert_with(|| known.around(header.typesize.into()));
        let place = Place { len: header.cbytes as usize, nbytes: header.nbytes, unchecked: !decoded };
        found.chunks.insert(at, place);
        at = end;
    }
}

/// The first bytes of a chunk with a header of 32 bytes, of a version that frames hold.
fn looks_like_chunk(bytes: &[u8]) -> bool {
    matches!(bytes, [2..=6, 1, flags, 1..=255, ..] if flags & 5 == 5)
}

/// The header at `at`, if it is plausible and the chunk would end within the file, and the length of header and table.
/// Bare special chunks are not stored in frames.
fn candidate(
    window: &mut Window<'_, impl ReadAt>,
    at: u64,
    limits: &Limits,
) -> Result<Option<(ChunkHeader, usize)>, Error> {
    let left = window.size.saturating_sub(at);
    let Ok(header) = ChunkHeader::parse(window.get(at, CHUNK_HEADER)?) else { return Ok(None) };
    let bare = header.cbytes as usize == CHUNK_HEADER && header.nbytes > 0;
    if bare || u64::from(header.cbytes) > left || limits.chunk.check(&header).is_err() {
        return Ok(None);
    }
    let table = table_len(&header);
    Ok((table <= header.cbytes as usize).then_some((header, table)))
}

/// Whether the bytes of a chunk that cannot be decoded here look whole: its blocks lie inside of it, one of them right
/// after the table of where they start, as every writer has it.
pub(super) fn looks_whole(bytes: &[u8]) -> bool {
    let Ok(header) = ChunkHeader::parse(bytes) else { return false };
    let table = table_len(&header);
    bytes.len() == header.cbytes as usize
        && bytes.get(..table).is_some_and(|bytes| sound_table(bytes, &header))
}

/// Length of a chunk's header and of the table of where its blocks start.
fn table_len(header: &ChunkHeader) -> usize {
    let table = if header.has_streams() { header.nblocks().saturating_mul(4) } else { 0 };
    table.saturating_add(CHUNK_HEADER)
}

/// Whether the table of where blocks start, at the end of `bytes`, is one of a chunk of this header: all lie inside, and
/// one right after the table (and the dictionary), as every writer has it. What only looks like a chunk ends here, before
/// more of it is read.
fn sound_table(bytes: &[u8], header: &ChunkHeader) -> bool {
    let (starts, _) = bytes.get(CHUNK_HEADER..).unwrap_or(&[]).as_chunks::<4>();
    let starts = starts.iter().map(|start| u32::from_le_bytes(*start));
    let end = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let inside = starts.clone().all(|start| end <= start && start < header.cbytes);
    // C-Blosc2 may store a block size that is no multiple of the typesize: then the table is longer
    // (docs/formats/chunk.md, appendix B1).
    let other = header.has_dictionary() || header.blocksize.checked_rem(header.typesize.into()) != Some(0);
    inside && (other || starts.min().unwrap_or(end) == end)
}

/// The entries of the index at `at`, if they all point at chunks that were found before it.
fn entries(
    bytes: &[u8],
    at: u64,
    base: u64,
    found: &BTreeMap<u64, Place>,
    limits: &Limits,
    pool: &mut Pool,
) -> Option<Vec<Entry>> {
    let chunk = Chunk::parse_with(bytes, &limits.chunk).ok()?;
    let raw = pool.decompress(&chunk).ok()?;
    let (raw, rest) = raw.as_chunks::<8>();
    let valid = |entry: &Entry| match *entry {
        Entry::Stored(offset) => {
            let to = base.saturating_add(offset);
            to < at && found.contains_key(&to)
        }
        Entry::Special(_) => true,
    };
    if raw.is_empty() || !rest.is_empty() {
        return None;
    }
    // One chunk under all numbers, where other chunks are there that nothing names: the index is damaged.
    let one = raw.len() > 1 && raw.iter().all(|entry| raw.first() == Some(entry));
    if one && found.len() > 2 && raw.first().is_some_and(|raw| i64::from_le_bytes(*raw) >= 0) {
        return None;
    }
    raw.iter().map(|raw| Entry::from_raw(i64::from_le_bytes(*raw)).filter(valid)).collect()
}

impl Known {
    /// Takes over the vlmetalayers of the trailer at the start of `bytes`, as far as they decode.
    fn vlmetalayers(&mut self, bytes: &[u8], limits: &Limits, pool: &mut Pool) {
        // Not `parse`: what lies behind the section is no part of it, or not there.
        let section =
            trailer::check_start(bytes).and_then(|()| Section::parse(bytes, 2, Structure::VlMetalayers));
        let Ok(section) = section else { return };
        let limits = limits.chunk.output(limits.metalayer);
        let mut layers = Vec::new();
        for entry in section.iter().filter(|entry| entry.name != CHECKSUMS_NAME.as_bytes()) {
            let name = String::from_utf8_lossy(entry.name).into_owned();
            match Chunk::parse_with(entry.content, &limits).and_then(|chunk| pool.decompress(&chunk)) {
                Ok(content) => layers.push((name, content)),
                Err(_) => self.dropped.push(name),
            }
        }
        self.vlmetalayers = Some(layers);
    }
}
