//! Repairing a contiguous or sparse frame: whatever chunks can still be found go into a new frame.
//!
//! ```text
//! 1  the frame opens             its index is used; chunks that do not decode are replaced
//! 2  it does not open            the payload is searched for chunks, and for an index among them:
//!                                a chunk of 8-byte items that all point at chunks found, with a trailer
//! 3  an index was found          the newest one gives the order (an older state of the frame, perhaps)
//! 4  none was found              the chunks come in the order they are stored in
//! ```
//! A lost chunk of known size becomes one of "never written", so that what follows keeps its place; one whose size
//! nothing tells is counted as missing.
//! The frame itself is never written to.

use crate::cframe::header::{ChunkSize, FIXED_LEN, FrameType, Header};
use crate::cframe::index::Entry;
use crate::cframe::section::Section;
use crate::cframe::trailer;
use crate::error::{Error, IoKind, Structure};
use crate::io::{Directory, ReadAt};
use crate::limits::Limits;
use crate::schunk::{CHECKSUMS_NAME, SuperChunk};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Chunk, Params, Pool, Special};

/// Where the order of the chunks was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The frame's own index.
    Index,
    /// An index found in the payload: that of the newest state still there.
    FoundIndex,
    /// The order in which the chunks are stored.
    Stored,
}

/// What a repair found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Where the order of the chunks comes from.
    pub order: Order,
    /// Chunks taken over.
    pub kept: u64,
    /// Chunks that are there but do not decode, and chunks an index names that are not there: by their
    /// number in the new frame.
    pub lost: Vec<u64>,
    /// How many chunks the header announces, or an index names, beyond those in the new frame: never found, or
    /// damaged or of special values and of a size that nothing tells.
    pub missing: u64,
    /// Whether parameters and metalayers were read from the header.
    pub header: bool,
    /// Whether vlmetalayers were read from a trailer.
    pub vlmetalayers: bool,
}

/// Most bytes that are decoded in the search, per byte of the file, where that is more than the limit of output: bounds
/// the work on hostile files.
const WORK_PER_BYTE: u64 = 64;

/// Saves what can be saved of a contiguous frame in `source`. `make` is given parameters and gives the
/// new, empty frame, which is committed at the end.
pub fn repair<'a>(
    source: &(impl ReadAt + Sync),
    limits: &Limits,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    if let Ok(frame) = SuperChunk::open_read(Borrowed(source), limits) {
        return rescue(frame, limits, make);
    }
    search(source, limits, make)
}

/// Saves what can be saved of a sparse frame in `dir`. If its index file is damaged, the chunk files
/// come in the order of their numbers.
pub fn repair_dir<'a>(
    dir: &(impl Directory + Clone + Send + Sync + 'static),
    limits: &Limits,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    if let Ok(frame) = SuperChunk::open_dir(dir.clone(), limits) {
        return rescue(frame, limits, make);
    }
    let index = dir.read("chunks.b2frame", 1 << 31).unwrap_or_default();
    let known = Known::read(&index, FrameType::Sparse);
    let mut files: Vec<String> = dir.list()?;
    files.retain(|name| name.len() == 14 && name.ends_with(".chunk"));
    files.sort_unstable();
    let mut out = make(&known.params(None))?;
    let mut report = known.start(&mut out, limits, Order::Stored)?;
    let mut pool = Pool::new(1);
    for name in files {
        let bytes = dir.read(&name, 1 << 31)?;
        match usable(&bytes, limits, &mut pool) {
            Some(chunk) => {
                out.append_chunk(chunk)?;
                report.kept = report.kept.saturating_add(1);
            }
            None => report.lost.push(out.nchunks()),
        }
    }
    finish(known, report, out)
}

/// A reference that can be shared by a frame opened for reading.
struct Borrowed<'s, R>(&'s R);

impl<R: ReadAt> ReadAt for Borrowed<'_, R> {
    fn size(&self) -> Result<u64, crate::error::IoError> {
        self.0.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, crate::error::IoError> {
        self.0.read_at(offset, buf)
    }
}

/// The frame opens: copies it, replacing what does not decode.
fn rescue<'a>(
    mut frame: SuperChunk<'_>,
    limits: &Limits,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    let mut out = make(&frame.params())?;
    if let ChunkSize::Fixed(c) = frame.chunksize() {
        // Chunks of that size could neither be read nor be filled in for those lost.
        if u64::from(c) > limits.chunk.output {
            let (asked, limit) = (c.into(), limits.chunk.output);
            return Err(Error::Limit { what: "bytes of a chunk", asked, limit });
        }
        out.set_chunksize(c)?;
    }
    for name in frame.metalayer_names().collect::<Vec<_>>() {
        out.set_metalayer(&name, frame.metalayer(&name).unwrap_or(&[]))?;
    }
    let mut vlmetalayers = true;
    for name in frame.vlmetalayer_names().collect::<Vec<_>>() {
        match frame.vlmetalayer(&name) {
            Ok(content) => out.set_vlmetalayer(&name, &content.unwrap_or_default())?,
            Err(_) => vlmetalayers = false,
        }
    }
    let mut report =
        Repaired { order: Order::Index, kept: 0, lost: Vec::new(), missing: 0, header: true, vlmetalayers };
    let typesize = frame.typesize();
    for k in 0..frame.nchunks() {
        let sound = frame.chunk_is_sound(k);
        if sound && out.append_copy(&mut frame, k).is_ok() {
            report.kept = report.kept.saturating_add(1);
            continue;
        }
        let declared = match frame.chunksize() {
            ChunkSize::Fixed(c) => {
                let left = frame.nbytes().saturating_sub(k.saturating_mul(u64::from(c)));
                u32::try_from(left).unwrap_or(c).min(c)
            }
            _ => frame.chunk_nbytes(k).unwrap_or(0),
        };
        match declared.checked_rem(typesize).and_then(|part| declared.checked_sub(part)) {
            Some(whole @ 1..) => {
                report.lost.push(out.nchunks());
                out.append_special(Special::Uninit, whole)?;
            }
            _ => report.missing = report.missing.saturating_add(1),
        }
    }
    out.commit()?;
    Ok((report, out))
}

/// What header and trailer still tell of a frame that does not open.
struct Known {
    header: Option<Header>,
    metalayers: Vec<(String, Vec<u8>)>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
}

impl Known {
    fn read(head: &[u8], frame_type: FrameType) -> Known {
        let header = head.first_chunk().and_then(|fixed| Header::parse(fixed).ok());
        let header = header.filter(|header| header.frame_type == frame_type);
        let section = header
            .and_then(|header| head.get(..header.header_len as usize))
            .and_then(|head| Section::parse(head, FIXED_LEN, Structure::Metalayers).ok());
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let metalayers = section.iter().flat_map(Section::iter);
        let metalayers = metalayers.map(|entry| (text(entry.name), entry.content.to_vec())).collect();
        Known { header, metalayers, vlmetalayers: Vec::new() }
    }

    /// Parameters of the new frame; without a header, those of the first chunk.
    fn params(&self, first: Option<&Chunk<'_>>) -> Params {
        match (self.header, first) {
            (Some(header), _) => header.params(),
            (None, Some(chunk)) => Params::new(u32::from(chunk.header().typesize)),
            (None, None) => Params::new(1),
        }
    }

    fn start(&self, out: &mut SuperChunk<'_>, limits: &Limits, order: Order) -> Result<Repaired, Error> {
        for (name, content) in &self.metalayers {
            out.set_metalayer(name, content)?;
        }
        // A size beyond the limits is part of the damage.
        match self.header.map(|header| header.chunksize) {
            Some(ChunkSize::Fixed(c)) if u64::from(c) <= limits.chunk.output => out.set_chunksize(c)?,
            _ => {}
        }
        Ok(Repaired {
            order,
            kept: 0,
            lost: Vec::new(),
            missing: 0,
            header: self.header.is_some(),
            vlmetalayers: false,
        })
    }
}

fn finish<'a>(
    known: Known,
    mut report: Repaired,
    mut out: SuperChunk<'a>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    for (name, content) in &known.vlmetalayers {
        out.set_vlmetalayer(name, content)?;
        report.vlmetalayers = true;
    }
    if let Some(promised) = known.header.and_then(|header| header.nchunks()) {
        report.missing = report.missing.max(promised.saturating_sub(out.nchunks()));
    }
    out.commit()?;
    Ok((report, out))
}

/// The chunk at the start of `bytes`, if every block of it decodes.
fn usable<'b>(bytes: &'b [u8], limits: &Limits, pool: &mut Pool) -> Option<&'b [u8]> {
    let chunk = Chunk::parse_with(bytes, &limits.chunk).ok()?;
    let fine = chunk.nbytes() == 0 || pool.decompress(&chunk).is_ok();
    (fine && chunk.header().cbytes >= 32).then(|| chunk.bytes())
}

/// Looks through the bytes of a frame that does not open.
fn search<'a>(
    source: &impl ReadAt,
    limits: &Limits,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    let owned;
    let bytes = match source.as_slice() {
        Some(bytes) => bytes,
        None => {
            let size = usize::try_from(source.size()?).map_err(|_| IoKind::NoSpace)?;
            let mut buffer = Vec::new();
            buffer.try_reserve_exact(size).map_err(|_| IoKind::NoSpace)?;
            buffer.resize(size, 0);
            source.read_exact_at(0, &mut buffer)?;
            owned = buffer;
            &owned[..]
        }
    };
    let mut known = Known::read(bytes, FrameType::Contiguous);
    let start = known.header.map_or(0, |header| header.header_len as usize);
    let mut pool = Pool::new(1);
    let most = (bytes.len() as u64).saturating_mul(WORK_PER_BYTE).max(limits.output);
    let mut work = most;
    let mut found: BTreeMap<usize, usize> = BTreeMap::new();
    let mut indexes = Vec::new();
    let mut at = start;
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= 32) {
        let Some(chunk) = candidate(rest, limits) else {
            at = at.saturating_add(1);
            continue;
        };
        let cost = (chunk.nbytes() as u64).saturating_add(u64::from(chunk.header().cbytes));
        work = work.checked_sub(cost).ok_or(Error::Limit {
            what: "bytes decoded in the search",
            asked: cost,
            limit: most,
        })?;
        if pool.decompress(&chunk).is_err() {
            at = at.saturating_add(1);
            continue;
        }
        let len = chunk.bytes().len();
        let after = rest.get(len..).unwrap_or(&[]);
        if chunk.header().typesize == 8 && after.starts_with(&[0x94, 0x01, 0x93]) {
            indexes.push(at);
        }
        found.insert(at, len);
        at = at.saturating_add(len);
    }
    let base = known.header.map(|header| u64::from(header.header_len));
    let base = base.or(found.keys().next().map(|first| *first as u64)).unwrap_or(0);
    let index = indexes
        .iter()
        .rev()
        .find_map(|at| Some((*at, entries(bytes, *at, base, &found, limits, &mut pool)?)));
    let first = found.keys().next().and_then(|at| Chunk::parse_with(bytes.get(*at..)?, &limits.chunk).ok());
    let mut out = make(&known.params(first.as_ref()))?;
    let order = if index.is_some() { Order::FoundIndex } else { Order::Stored };
    let mut report = known.start(&mut out, limits, order)?;
    let chunk_at = |at: usize| found.get(&at).and_then(|len| bytes.get(at..at.saturating_add(*len)));
    match index {
        Some((index_at, entries)) => {
            let trailer = found.get(&index_at).and_then(|len| bytes.get(index_at.saturating_add(*len)..));
            known.vlmetalayers =
                trailer.map_or(Vec::new(), |trailer| vlmetalayers(trailer, limits, &mut pool));
            for entry in &entries {
                match *entry {
                    Entry::Stored(offset) => {
                        let at = usize::try_from(base.saturating_add(offset)).unwrap_or(usize::MAX);
                        if let Some(chunk) = chunk_at(at) {
                            out.append_chunk(chunk)?;
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
            for at in found.keys().filter(|at| !indexes.contains(at)) {
                if let Some(chunk) = chunk_at(*at) {
                    out.append_chunk(chunk)?;
                    report.kept = report.kept.saturating_add(1);
                }
            }
        }
    }
    finish(known, report, out)
}

/// A chunk whose header and offsets are plausible. Bare special chunks are not stored in frames, and
/// 16-byte headers are too weak a mark to search for.
fn candidate<'b>(bytes: &'b [u8], limits: &Limits) -> Option<Chunk<'b>> {
    match bytes {
        [2..=6, 1, flags, 1..=255, ..] if flags & 5 == 5 => {}
        _ => return None,
    }
    let chunk = Chunk::parse_with(bytes, &limits.chunk).ok()?;
    let bare = chunk.header().cbytes == 32 && chunk.nbytes() > 0;
    (!bare).then_some(chunk)
}

/// The entries of the index at `at`, if they all point at chunks that were found before it.
fn entries(
    bytes: &[u8],
    at: usize,
    base: u64,
    found: &BTreeMap<usize, usize>,
    limits: &Limits,
    pool: &mut Pool,
) -> Option<Vec<Entry>> {
    let chunk = Chunk::parse_with(bytes.get(at..)?, &limits.chunk).ok()?;
    let raw = pool.decompress(&chunk).ok()?;
    let (raw, rest) = raw.as_chunks::<8>();
    let valid = |entry: &Entry| match *entry {
        Entry::Stored(offset) => {
            usize::try_from(base.saturating_add(offset)).is_ok_and(|to| to < at && found.contains_key(&to))
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
    // `parse` wants to know the end; the section itself tells where its contents lie.
    let mut padded = bytes.to_vec();
    padded.extend([0; trailer::TAIL_LEN]);
    let Ok(section) = trailer::parse(&padded) else { return Vec::new() };
    let limits = blosc_core::Limits { output: limits.metalayer, ..limits.chunk };
    let decode = |content| pool.decompress(&Chunk::parse_with(content, &limits).ok()?).ok();
    let names = section.iter().filter(|entry| entry.name != CHECKSUMS_NAME.as_bytes());
    let pairs: Vec<_> = names.map(|e| (String::from_utf8_lossy(e.name).into_owned(), e.content)).collect();
    let mut decode = decode;
    pairs.into_iter().filter_map(|(name, content)| Some((name, decode(content)?))).collect()
}
