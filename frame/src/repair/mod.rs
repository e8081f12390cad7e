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
//! The frame itself is never written to. What cannot be written to the new frame, or lies beyond the limits, ends the
//! repair with an error: a chunk counts as lost only when it is the chunk that is damaged.

mod search;

use crate::cframe::header::{ChunkSize, FIXED_LEN, FrameType, Header};
use crate::cframe::section::Section;
use crate::error::{Error, IoKind, Structure};
use crate::io::{Directory, ReadAt};
use crate::limits::Limits;
use crate::schunk::{INDEX_NAME, SuperChunk, resize};
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Chunk, Header as ChunkHeader, Params, Pool, Special};

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
#[non_exhaustive]
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

/// Saves what can be saved of a contiguous frame in `source`. `make` is given parameters and gives the
/// new, empty frame, which is committed at the end, and has the limits from then on.
///
/// # Errors
/// Those of reading what tells where the chunks are and of writing the new frame; [`Error::Limit`] where more would
/// have to be decoded than the limits allow.
pub fn repair<'a>(
    source: &(impl ReadAt + Sync),
    limits: &Limits,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    if let Ok(frame) = SuperChunk::open_read(Borrowed(source), limits) {
        return rescue(frame, limits, make);
    }
    search::search(source, limits, make)
}

/// Saves what can be saved of a sparse frame in `dir`. If its index file is damaged, the chunk files
/// come in the order of their numbers.
///
/// # Errors
/// As [`repair`].
pub fn repair_dir<'a>(
    dir: &(impl Directory + Clone + Send + Sync + 'static),
    limits: &Limits,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    if let Ok(frame) = SuperChunk::open_dir(dir.clone(), limits) {
        return rescue(frame, limits, make);
    }
    let head = dir.open(INDEX_NAME, false).map_err(Error::from).and_then(|index| {
        let mut head = alloc::vec![0; usize::try_from(index.size()?.min(limits.metalayers)).unwrap_or(0)];
        index.read_exact_at(0, &mut head)?;
        Ok(head)
    });
    let known = Known::read(&head.unwrap_or_default(), FrameType::Sparse);
    let mut files: Vec<String> = dir.list()?;
    files.retain(|name| name.len() == 14 && name.ends_with(".chunk"));
    files.sort_unstable();
    let mut out = make(&known.params(None))?;
    out.set_limits(limits);
    let mut report = known.start(&mut out, limits, Order::Stored)?;
    let mut pool = Pool::new(1);
    for name in files {
        match chunk_file(dir, &name, limits, &mut pool) {
            Ok(chunk) => {
                out.append_chunk(&chunk)?;
                report.kept = report.kept.saturating_add(1);
            }
            Err(error) if is_of_the_caller(&error) => return Err(error),
            Err(_) => report.lost.push(out.nchunks()),
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
    out.set_limits(limits);
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
        match frame.check_stored(k) {
            Ok(()) => match out.append_copy(&mut frame, k) {
                Ok(()) => {
                    report.kept = report.kept.saturating_add(1);
                    continue;
                }
                // Blocks of another kind than those of the chunks before, or an empty chunk and none before.
                Err(Error::Param { .. }) => {}
                Err(error) => return Err(error),
            },
            Err(error) if is_of_the_caller(&error) => return Err(error),
            Err(_) => {}
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
    fn params(&self, first: Option<&ChunkHeader>) -> Params {
        match (self.header, first) {
            (Some(header), _) => header.params(),
            (None, Some(chunk)) => Params::new(u32::from(chunk.typesize)),
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

/// Whether an error says nothing of the chunk, but that the caller has no memory for it or does not allow it so much.
fn is_of_the_caller(error: &Error) -> bool {
    use blosc_core::Error as Core;
    matches!(
        error,
        Error::Limit { .. }
            | Error::OutOfMemory
            | Error::Codec(Core::Limit { .. })
            | Error::Chunk { error: Core::Limit { .. }, .. }
    )
}

/// The chunk in a file of its own, every block of which decodes. Its header says where it ends.
fn chunk_file(dir: &impl Directory, name: &str, limits: &Limits, pool: &mut Pool) -> Result<Vec<u8>, Error> {
    let file = dir.open(name, false)?;
    let mut head = [0; 32];
    file.read_exact_at(0, &mut head)?;
    let header = ChunkHeader::parse(&head).map_err(Error::Codec)?;
    if u64::from(header.cbytes) > file.size()? || header.cbytes < 32 {
        return Err(IoKind::UnexpectedEnd.into());
    }
    let limits = limits.for_size(file.size()?);
    limits.chunk.check(&header).map_err(Error::Codec)?;
    let mut bytes = Vec::new();
    resize(&mut bytes, header.cbytes as usize)?;
    file.read_exact_at(0, &mut bytes)?;
    let chunk = Chunk::parse_with(&bytes, &limits.chunk).map_err(Error::Codec)?;
    if chunk.nbytes() > 0 {
        pool.decompress(&chunk).map_err(Error::Codec)?;
    }
    Ok(bytes)
}
