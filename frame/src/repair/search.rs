//! The search of a frame that does not open, for its chunks and its index. The file is looked at through a window: a
//! large one need not fit into memory.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{Known, Order, Repaired, finish};
use crate::cframe::CHECKSUMS_NAME;
use crate::cframe::header::{ChunkSize, FIXED_LEN, FrameType, Header};
use crate::cframe::index::Entry;
use crate::cframe::section::Section;
use crate::cframe::trailer;
use crate::error::{Error, Structure};
use crate::io::ReadAt;
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Chunk, Header as ChunkHeader, Params, Pool};

/// Most bytes that are read of candidates and decoded in the search, per byte of the file, where that is more than the
/// limit of output: bounds the work on hostile files.
const WORK_PER_BYTE: u64 = 64;
/// Length of the header of every chunk a frame stores: shorter ones are too weak a mark to search for.
const CHUNK_HEADER: usize = 32;
/// How much of the file is read at once.
const WINDOW: usize = 1 << 18;

/// Looks through the bytes of a frame that does not open.
pub(super) fn search<'a>(
    source: &impl ReadAt,
    limits: &Limits,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    let limits = &limits.for_size(source.size()?);
    let mut window = Window { source, size: source.size()?, start: 0, bytes: Vec::new() };
    let mut known = known(&mut window, limits)?;
    let start = known.header.map_or(0, |header| u64::from(header.header_len));
    let mut pool = Pool::new(1);
    let Found { chunks, indexes } = chunks(&mut window, start, limits, &mut pool)?;
    let base = known.header.map(|header| u64::from(header.header_len));
    let base = base.or(chunks.keys().next().copied()).unwrap_or(0);
    let mut index = None;
    for &at in indexes.iter().rev() {
        let bytes = window.get(at, chunks.get(&at).copied().unwrap_or(0))?;
        if let Some(entries) = entries(bytes, at, base, &chunks, limits, &mut pool) {
            index = Some((at, entries));
            break;
        }
    }
    let first = match chunks.keys().next() {
        Some(&at) => ChunkHeader::parse(window.get(at, CHUNK_HEADER)?).ok(),
        None => None,
    };
    let mut out = make(&known.params(first.as_ref()))?;
    out.set_limits(limits);
    let order = if index.is_some() { Order::FoundIndex } else { Order::Stored };
    let mut report = known.start(&mut out, limits, order)?;
    match index {
        Some((at, entries)) => {
            let end = at.saturating_add(chunks.get(&at).copied().unwrap_or(0) as u64);
            let most = usize::try_from(limits.metalayers).unwrap_or(usize::MAX);
            known.vlmetalayers = vlmetalayers(window.get(end, most)?, limits, &mut pool);
            for entry in &entries {
                match *entry {
                    Entry::Stored(offset) => {
                        let at = base.saturating_add(offset);
                        if let Some(&len) = chunks.get(&at) {
                            out.append_chunk(window.get(at, len)?)?;
                        }
                    }
                    Entry::Special(kind) => {
                        if let ChunkSize::Fixed(c) = out.chunksize()
                            && u64::from(c) <= limits.chunk.output
                        {
                            out.fill_special(kind, u64::from(c))?;
                        }
                    }
                }
            }
            report.kept = out.nchunks();
            report.missing = (entries.len() as u64).saturating_sub(out.nchunks());
        }
        None => {
            for (&at, &len) in chunks.iter().filter(|(at, _)| !indexes.contains(at)) {
                out.append_chunk(window.get(at, len)?)?;
                report.kept = report.kept.saturating_add(1);
            }
        }
    }
    finish(known, report, out)
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

/// Chunks by where they lie, and which of them may be an index.
struct Found {
    chunks: BTreeMap<u64, usize>,
    indexes: Vec<u64>,
}

/// Finds all chunks from `at` on whose every block decodes.
fn chunks(
    window: &mut Window<'_, impl ReadAt>,
    mut at: u64,
    limits: &Limits,
    pool: &mut Pool,
) -> Result<Found, Error> {
    let mut found = Found { chunks: BTreeMap::new(), indexes: Vec::new() };
    let most = window.size.saturating_mul(WORK_PER_BYTE).max(limits.output);
    let mut work = most;
    let mut spend = |cost: u64| match work.checked_sub(cost) {
        Some(left) => {
            work = left;
            Ok(())
        }
        None => Err(Error::Limit { what: "bytes decoded in the search", asked: cost, limit: most }),
    };
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
        spend(table as u64)?;
        let sound = sound_table(window.get(at, table)?, &header) && {
            spend(u64::from(header.nbytes).saturating_add(u64::from(header.cbytes)))?;
            let chunk = Chunk::parse_with(window.get(at, header.cbytes as usize)?, &limits.chunk);
            chunk.is_ok_and(|chunk| pool.decompress(&chunk).is_ok())
        };
        if !sound {
            at = at.saturating_add(1);
            continue;
        }
        if found.chunks.len() as u64 >= limits.chunks {
            let asked = limits.chunks.saturating_add(1);
            return Err(Error::Limit { what: "chunks", asked, limit: limits.chunks });
        }
        let end = at.saturating_add(u64::from(header.cbytes));
        if header.typesize == 8 && window.get(end, 3)? == [0x94, 0x01, 0x93] {
            found.indexes.push(at);
        }
        found.chunks.insert(at, header.cbytes as usize);
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
    let table = if header.has_streams() { header.nblocks().saturating_mul(4) } else { 0 };
    let table = table.saturating_add(CHUNK_HEADER);
    Ok((table <= header.cbytes as usize).then_some((header, table)))
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
    found: &BTreeMap<u64, usize>,
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
    raw.iter().map(|raw| Entry::from_raw(i64::from_le_bytes(*raw)).filter(valid)).collect()
}

/// The vlmetalayers of the trailer at the start of `bytes`, as far as they decode.
fn vlmetalayers(bytes: &[u8], limits: &Limits, pool: &mut Pool) -> Vec<(String, Vec<u8>)> {
    // Not `parse`: what lies behind the section is no part of it, or not there.
    let section =
        trailer::check_start(bytes).and_then(|()| Section::parse(bytes, 2, Structure::VlMetalayers));
    let Ok(section) = section else { return Vec::new() };
    let limits = limits.chunk.output(limits.metalayer);
    let mut decode = |content| pool.decompress(&Chunk::parse_with(content, &limits).ok()?).ok();
    let names = section.iter().filter(|entry| entry.name != CHECKSUMS_NAME.as_bytes());
    let pairs: Vec<_> = names.map(|e| (String::from_utf8_lossy(e.name).into_owned(), e.content)).collect();
    pairs.into_iter().filter_map(|(name, content)| Some((name, decode(content)?))).collect()
}
