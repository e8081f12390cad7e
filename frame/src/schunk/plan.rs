//! Reading without input: [`Plan`] tells which ranges of the frame are needed, and decodes from what was fetched of them.
//!
//! ```text
//! plan    chunks and blocks that are wanted -> ranges: chunks that are small or wanted whole, the heads of the others
//! take    bytes of the ranges               -> ranges: blocks whose places the heads told; none if all is there
//! finish                                    -> the items
//! ```
//! What a chunk needs is known in one place, [`Shared::load`]: a plan runs it on [`Pieces`], and what it misses is asked for.
//! The ordinary calls use the same for sources that [are far](crate::io::ReadAt::is_far).

use super::load::{Wanted, has_blocks_of};
use super::shared::Shared;
use super::store::{HEAD, Located};
use super::superchunk::SuperChunk;
use crate::cframe::index::Entry;
use crate::error::{Error, IoKind, Structure};
use crate::io::Pieces;
use crate::spare::Portable;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use blosc_core::Header as ChunkHeader;
use bytes::Bytes;
use core::ops::Range;

/// Bytes of a chunk that are not wanted and are fetched with the rest, rather than asking first where the blocks lie.
const SPARE: u64 = 64 << 10;

/// A chunk to be fetched, and what of it.
pub(crate) struct Wish {
    pub(crate) chunk: u64,
    pub(crate) part: Part,
}

impl Wish {
    /// All of a chunk.
    fn whole(chunk: u64) -> Wish {
        Wish { chunk, part: Part::Bytes(0..usize::MAX) }
    }
}

pub(crate) enum Part {
    /// Its header.
    Head,
    /// Decoded bytes.
    Bytes(Range<usize>),
    /// Blocks, where they are as large as this; else all of it.
    Blocks(u32, Vec<u32>),
}

impl Part {
    /// Which blocks that are, for [`Shared::load`].
    fn wanted<'p>(&'p self, header: &ChunkHeader) -> (impl Iterator<Item = Wanted> + use<'p>, u64) {
        let size = (header.blocksize as usize).max(1);
        let (numbers, list, count) = match self {
            Part::Blocks(own, list) if has_blocks_of(header, *own) => (0..0, &list[..], list.len() as u64),
            Part::Bytes(range) => {
                let (first, end) = (range.start / size, range.end.div_ceil(size));
                (first..end, &[][..], end.saturating_sub(first) as u64)
            }
            _ => (0..0, &[][..], u64::MAX),
        };
        let blocks = numbers.chain(list.iter().map(|block| *block as usize));
        (blocks.map(|block| Wanted { block, part: 0..usize::MAX }), count)
    }

    /// About how many of a chunk's bytes it is.
    fn bytes(&self, nbytes: u64) -> u64 {
        match self {
            Part::Head => 0,
            Part::Bytes(range) => range.len() as u64,
            Part::Blocks(size, list) => u64::from(*size).saturating_mul(list.len() as u64),
        }
        .min(nbytes)
    }
}

/// Chunks that are read in order, and what was fetched of them.
#[derive(Default)]
pub(crate) struct Ahead {
    chunks: Range<u64>,
    pieces: Option<Arc<Pieces>>,
}

impl Ahead {
    /// What was fetched of chunk `k`: with it and some that follow it if it was not there, and nothing where the frame is
    /// not far.
    pub(crate) fn to(&mut self, frame: &SuperChunk<'_>, k: u64) -> Result<Option<Arc<Pieces>>, Error> {
        if !self.chunks.contains(&k) {
            *self = Ahead { chunks: k..frame.nchunks(), pieces: None };
            let wishes = || {
                let (mut wishes, mut bytes, mut at) = (Vec::new(), 0u64, k);
                while at < self.chunks.end && bytes < Pieces::AT_ONCE {
                    // A chunk that does not lie in the frame says so when it is read.
                    if let Ok(Some((.., all))) = frame.extent(at) {
                        let most = frame.index().sizes().len_of(at).map_or(u64::MAX, u64::from);
                        bytes = bytes.saturating_add(all.min(most).max(HEAD));
                        wishes.push(Wish::whole(at));
                    }
                    at = at.saturating_add(1);
                }
                self.chunks.end = at;
                Ok(wishes)
            };
            self.pieces = frame.fetched(wishes)?.map(Arc::new);
        }
        Ok(self.pieces.clone())
    }
}

/// What a plan does when all is there.
pub(crate) trait Finish: Portable {
    fn run(&self, shared: Shared<'_>, out: &mut [u8]) -> Result<usize, Error>;
}

impl<F: Fn(Shared<'_>, &mut [u8]) -> Result<usize, Error> + Portable> Finish for F {
    fn run(&self, shared: Shared<'_>, out: &mut [u8]) -> Result<usize, Error> {
        self(shared, out)
    }
}

/// A read of which the caller does the input, however it likes: asynchronously, from a cache, side by side.
///
/// ```
/// use blosc_frame::SuperChunk;
/// # let mut writer = SuperChunk::memory(&blosc_core::Params::new(4))?;
/// # writer.append_data(&[7; 400])?;
/// # let file = writer.into_bytes()?;
/// let frame = SuperChunk::from_slice(&file)?;
/// let mut plan = frame.plan_items(10..20)?;
/// // Twice at most, for frames that writers make.
/// while !plan.ranges().is_empty() {
///     let fetch = |range: &std::ops::Range<u64>| file[range.start as usize..range.end as usize].to_vec();
///     let pieces: Vec<Vec<u8>> = plan.ranges().iter().map(fetch).collect();
///     plan.take(pieces)?;
/// }
/// let mut items = [0; 40];
/// plan.finish(&mut items)?;
/// assert_eq!(items, [7; 40]);
/// # Ok::<(), blosc_frame::Error>(())
/// ```
pub struct Plan<'p> {
    chunks: &'p SuperChunk<'p>,
    /// Chunks that are not complete.
    wishes: Vec<Wish>,
    pieces: Pieces,
    ranges: Vec<Range<u64>>,
    gap: u64,
    finish: Box<dyn Finish + 'p>,
}

impl Plan<'_> {
    /// This plan, with ranges joined where at most `gap` bytes lie between. Default [`Pieces::GAP`].
    ///
    /// # Errors
    /// As [`Plan::take`].
    pub fn joined(mut self, gap: u64) -> Result<Self, Error> {
        self.gap = gap;
        for wish in &self.wishes {
            self.chunks.first(wish, &self.pieces)?;
        }
        self.look()?;
        Ok(self)
    }

    /// Finds out what is missing now.
    fn look(&mut self) -> Result<(), Error> {
        let (shared, mut buf, mut failed) = (self.chunks.shared().over(Some(&self.pieces)), Vec::new(), None);
        self.wishes.retain(|Wish { chunk, part }| {
            let loaded = match part {
                Part::Head => shared.head(*chunk).map(drop),
                _ => shared.load(*chunk, |header| part.wanted(header), &mut buf).map(drop),
            };
            let missing = loaded == Err(IoKind::NotFetched.into());
            failed = failed.or(loaded.err().filter(|_| !missing));
            missing
        });
        self.ranges = self.pieces.missed(self.gap);
        failed.map_or(Ok(()), Err)
    }

    /// What is needed next, in bytes from the start of the frame: in order, and apart from each other. None where all is
    /// there. The second answer has the blocks of large chunks; a third one follows only where the blocks of a chunk lie
    /// over each other, which no writer does.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Takes the bytes of [`Plan::ranges`], a piece for each, in their order.
    ///
    /// # Errors
    /// `Param` for another number of pieces, and for one that is not as long as its range: then none of them is used, and
    /// all ranges are still needed. What can be wrong with a chunk's header and table of blocks.
    pub fn take(&mut self, pieces: impl IntoIterator<Item = impl Into<Bytes>>) -> Result<(), Error> {
        let pieces: Vec<Bytes> = pieces.into_iter().map(Into::into).collect();
        let fits = |(range, piece): (&Range<u64>, &Bytes)| {
            range.end.saturating_sub(range.start) == piece.len() as u64
        };
        let ranges = &self.ranges;
        if pieces.len() != ranges.len() || !ranges.iter().zip(&pieces).all(fits) {
            let value = i64::try_from(pieces.len()).unwrap_or(i64::MAX);
            return Err(Error::Param { name: "pieces", value, allowed: "one for each range, of its length" });
        }
        for (range, piece) in core::mem::take(&mut self.ranges).into_iter().zip(pieces) {
            self.pieces.put(range, piece)?;
        }
        self.look()
    }

    /// Decodes what was planned to the start of `out`; tells how many bytes that is.
    ///
    /// # Errors
    /// [`IoKind::NotFetched`] while there are ranges left, and what the ordinary read gives: a piece with other bytes than
    /// the frame has is an error where they are no chunk, or not of the chunk's checksum.
    pub fn finish(&self, out: &mut [u8]) -> Result<usize, Error> {
        if !self.ranges.is_empty() {
            return Err(IoKind::NotFetched.into());
        }
        self.finish.run(self.chunks.shared().over(Some(&self.pieces)), out)
    }
}

impl<'a> SuperChunk<'a> {
    /// A plan to read bytes `range` of all that is in the frame.
    ///
    /// # Errors
    /// `OutOfRange`; `Unsupported` for sparse frames, and for frames of variable chunks of which nothing has been read that
    /// needs the chunks' sizes ([`SuperChunk::plan_sizes`] is the plan for that).
    pub fn plan_bytes(&self, range: Range<u64>) -> Result<Plan<'_>, Error> {
        if range.start > range.end || range.end > self.nbytes() {
            return Err(Error::out_of_range("byte", range.end, self.nbytes()));
        }
        self.plan(self.wishes(range.clone())?, move |shared: Shared<'_>, out: &mut [u8]| {
            let out = self.room(&range, out)?;
            self.bytes_of(shared, range.clone(), out)
        })
    }

    /// A plan to read items `range` of all that is in the frame.
    ///
    /// # Errors
    /// As [`SuperChunk::plan_bytes`].
    pub fn plan_items(&self, range: Range<u64>) -> Result<Plan<'_>, Error> {
        self.plan_bytes(self.bytes_of_items(range)?)
    }

    /// A plan to decode chunk `k`.
    ///
    /// # Errors
    /// As [`SuperChunk::plan_bytes`].
    pub fn plan_chunk(&self, k: u64) -> Result<Plan<'_>, Error> {
        self.index().entry(k)?;
        self.plan([Wish::whole(k)].into(), move |shared: Shared<'_>, out: &mut [u8]| {
            self.decode_chunk(shared, k, 0, |_| Ok(out))
        })
    }

    /// A plan to learn the sizes of all chunks, which frames of variable chunks do not tell; it reads no items.
    ///
    /// # Errors
    /// `Unsupported` for sparse frames.
    pub fn plan_sizes(&self) -> Result<Plan<'_>, Error> {
        self.plan(self.heads(), move |shared: Shared<'_>, _: &mut [u8]| self.sizes_of(shared).map(|()| 0))
    }

    /// Begins with all of small chunks, and with the heads of others.
    pub(crate) fn plan<'p>(&'p self, wishes: Vec<Wish>, finish: impl Finish + 'p) -> Result<Plan<'p>, Error> {
        if self.is_sparse() {
            let what = "a plan of a sparse frame, whose chunks are files of their own: open_dir fetches them from \
                        directories that are far";
            return Err(Error::Unsupported { structure: Structure::Directory, what });
        }
        let (pieces, finish) = (Pieces::new(self.container_bytes()?), Box::new(finish));
        Plan { chunks: self, wishes, pieces, ranges: Vec::new(), gap: 0, finish }.joined(Pieces::GAP)
    }

    /// Whether it lies in a source that [is far](crate::io::ReadAt::is_far), or in such a directory.
    pub fn is_far(&self) -> bool {
        self.store.is_far()
    }

    /// Has a far source, which keeps what it fetches, fetch chunks. What is wrong is for who reads them.
    #[cfg(feature = "table")]
    pub(crate) fn want_chunks(&self, chunks: Range<u64>) {
        let _ = self.fetched(|| Ok(chunks.map(Wish::whole).collect()));
    }

    /// What is wished of a frame that is far, fetched; `None` for others.
    pub(crate) fn fetched(
        &self,
        wishes: impl FnOnce() -> Result<Vec<Wish>, Error>,
    ) -> Result<Option<Pieces>, Error> {
        if !self.is_far() {
            return Ok(None);
        }
        let wishes = wishes()?;
        let Some(source) = self.store.far() else { return Ok(self.files(&wishes)) };
        let mut plan = self.plan(wishes, |_: Shared<'_>, _: &mut [u8]| Ok(0))?;
        while !plan.ranges.is_empty() {
            plan.pieces.fetch(source, &plan.ranges)?;
            // What is wrong with a chunk is found once more by who reads it.
            let _ = plan.look();
        }
        Ok(Some(plan.pieces))
    }

    /// The files of chunks, whole, up to the limit on memory; what lies beyond that, and heads, are read one by one.
    fn files(&self, wishes: &[Wish]) -> Option<Pieces> {
        let (mut entries, mut left) = (Vec::new(), self.limits().memory);
        for Wish { chunk, .. } in wishes.iter().filter(|wish| !matches!(wish.part, Part::Head)) {
            let Some(Entry::Stored(entry)) = self.index().get(*chunk) else { continue };
            left = left.saturating_sub(self.index().sizes().len_of(*chunk).map_or(SPARE, u64::from));
            entries.extend((left > 0).then_some(entry));
        }
        let most = self.limits().chunk.output.saturating_add(SPARE);
        if entries.is_empty() { None } else { self.store.files(entries, most) }
    }

    pub(super) fn heads(&self) -> Vec<Wish> {
        self.index().numbers().map(|chunk| Wish { chunk, part: Part::Head }).collect()
    }

    /// The parts of chunks that hold these bytes.
    pub(super) fn wishes(&self, range: Range<u64>) -> Result<Vec<Wish>, Error> {
        let (mut at, mut wishes) = (range.start, Vec::new());
        while at < range.end {
            let (chunk, span) = self.index().sizes().find(at).ok_or(Error::Unsupported {
                structure: Structure::Index,
                what: "a plan before the sizes of the chunks are known",
            })?;
            let within = |at: u64| usize::try_from(at.saturating_sub(span.start)).unwrap_or(usize::MAX);
            wishes.push(Wish { chunk, part: Part::Bytes(within(at)..within(range.end.min(span.end))) });
            at = span.end;
        }
        Ok(wishes)
    }

    /// Where chunk `k` lies, if it is stored, and at most how many bytes it takes. Where it ends is not known for certain:
    /// most begin where the one before them ends.
    fn extent(&self, k: u64) -> Result<Option<(u64, u64, u64)>, Error> {
        const NEXT: u64 = 16;
        let Entry::Stored(entry) = self.index().entry(k)? else { return Ok(None) };
        // How long the file of a chunk is shows when it is there.
        if self.is_sparse() {
            return Ok(Some((0, u64::MAX, u64::MAX)));
        }
        let Located { at, limit, .. } = self.store.locate(entry)?;
        let next = (k.saturating_add(1)..k.saturating_add(NEXT)).find_map(|k| match self.index().get(k)? {
            Entry::Stored(next) => next.checked_sub(entry).filter(|room| *room > 0),
            Entry::Special(_) => None,
        });
        Ok(Some((at, limit, next.unwrap_or(limit).min(limit))))
    }

    /// Wants of the pieces what a chunk needs first: all of it if little of that is not wanted, else what tells where the
    /// blocks lie.
    fn first(&self, wish: &Wish, pieces: &Pieces) -> Result<(), Error> {
        let Some((at, limit, all)) = self.extent(wish.chunk)? else { return Ok(()) };
        let nbytes = self.index().sizes().len_of(wish.chunk).unwrap_or(0).max(1);
        let (wanted, total) = (wish.part.bytes(nbytes.into()), u64::from(nbytes));
        let unwanted = all.saturating_mul(total.saturating_sub(wanted)).checked_div(total).unwrap_or(0);
        let blocksize = match &wish.part {
            Part::Blocks(size, _) => *size,
            _ => self.header().blocksize,
        };
        let table = nbytes.checked_div(blocksize).unwrap_or(0).saturating_mul(4).saturating_add(40);
        let len = match &wish.part {
            Part::Head => 32,
            // No chunk takes more than its bytes and a header; what is longer has something else behind it.
            _ if all <= total.saturating_add(SPARE) && unwanted <= SPARE => all.max(HEAD),
            _ => HEAD.max(table.into()),
        };
        pieces.want(at..at.saturating_add(len.min(limit)));
        Ok(())
    }
}
