//! The chunks of a contiguous frame, and the room between them.
//!
//! ```text
//! 0        base                                          base+payload          top        end
//! | header | chunk | free | chunk | released | chunk | free | index, trailer | new chunks |
//! ```
//! What neither the state on disk nor the one being made refers to is *free*: a new chunk goes to the first free range
//! it fits into, the next index and trailer to the first behind the last chunk (the format wants them there), and both
//! to the end where nothing fits. What only the state on disk refers to is *released*, and free once the next state is
//! in force. So no byte of the state on disk is written over, whenever the power fails.
//!
//! The index tells where chunks start, not where they end. Their sizes are read from their headers, but only of the
//! chunks that are far from their successor, and of no more than [`LOOKS`]: see [`Contiguous::find_free`].

use super::checksum;
use super::draft::{Draft, Written};
use super::index::Index;
use super::meta::Change;
use super::once::Once;
use super::store::{ChunkStore, Located, OTHER_FILE, OTHER_STATE, Source, read_part, says};
use crate::cframe::header::{FIXED_LEN, FrameType, Header};
use crate::cframe::index::Entry;
use crate::cframe::{Opened, open_at};
use crate::error::{Error, IoError, Structure};
use crate::io::{ReadAt, Store, WriteAt};
use crate::limits::Limits;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;

/// Headers of chunks that are read at most to find free room. A read takes some microseconds, and of most frames one or
/// two are enough.
const LOOKS: usize = 256;

/// The write that puts a state in force must not be torn: it stays inside the first of these.
const SECTOR: usize = 512;

/// A contiguous frame's store, and who uses which part of it. Ranges are positions in the frame.
pub(super) struct Contiguous<'a> {
    store: Box<dyn Store + Send + Sync + 'a>,
    /// Length of the header. Entries count from here.
    base: u64,
    /// Payload bytes of the state on disk: its index starts behind them.
    payload: u64,
    /// Where what is in use ends: what fits nowhere else is written here.
    end: u64,
    /// Neither state refers to these; in ascending order, without neighbours that touch.
    free: Vec<Range<u64>>,
    /// Where chunks start that no state on disk can refer to: they were written since the last attempt to commit. From
    /// `fresh_from` on all are, and none is listed.
    fresh: BTreeSet<u64>,
    fresh_from: u64,
    /// Chunks that only the state on disk refers to, unless other entries share them.
    released: Vec<Range<u64>>,
    /// Index and trailer of the state on disk, and of states that may be on disk since a commit failed.
    rests: Vec<Range<u64>>,
    /// Stored bytes of all chunks, as far as the file and the headers of chunks tell: what they say may be wrong, so
    /// this is only what the choice to rewrite the frame goes by, and saturates.
    live: u64,
    /// Stored bytes of the largest chunk, as far as chunks were written or looked at.
    largest: u64,
    /// The chunk written last, if it is still referred to.
    recent: Range<u64>,
    /// Whether the free room of the state on disk has been looked for.
    looked: bool,
    /// In memory, the checksum of header, index and trailer as last read or written: another handle of the same bytes
    /// may have brought the header back to what it was.
    sum: u64,
}

fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// `at - from`, which becomes part of the frame: a number that is wrong would be written to it.
fn distance(at: u64, from: u64) -> Result<u64, Error> {
    at.checked_sub(from).ok_or(Error::Internal { what: "a place before the frame's chunks" })
}

/// Adds ranges, and joins those that touch or overlap.
fn join(ranges: &mut Vec<Range<u64>>, more: impl IntoIterator<Item = Range<u64>>) {
    ranges.extend(more);
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.retain(|range| range.start < range.end);
    ranges.dedup_by(|next, range| {
        let joined = next.start <= range.end;
        if joined {
            range.end = range.end.max(next.end);
        }
        joined
    });
}

impl<'a> Contiguous<'a> {
    /// A store for a frame that is not written yet.
    pub(super) fn new(store: Box<dyn Store + Send + Sync + 'a>) -> Contiguous<'a> {
        Contiguous {
            store,
            base: 0,
            payload: 0,
            end: 0,
            free: Vec::new(),
            fresh: BTreeSet::new(),
            fresh_from: 0,
            released: Vec::new(),
            rests: Vec::new(),
            live: 0,
            largest: 0,
            recent: 0..0,
            looked: true,
            sum: 0,
        }
    }

    /// The state on disk is one just opened, or written without free room.
    fn reset(&mut self, header: &Header, looked: bool) {
        self.restart(header.header_len.into());
        self.payload = if header.nbytes == 0 { 0 } else { header.cbytes };
        (self.end, self.live, self.looked) = (header.frame_len, self.payload, looked);
        self.fresh_from = self.end;
        self.rests = core::iter::once(self.base.saturating_add(self.payload)..self.end).collect();
    }

    fn note_sum(&mut self, parts: &[&[u8]]) {
        self.sum = if self.store.is_shared() { 0 } else { checksum::of_parts(parts) };
    }

    /// Everything starts behind a header of `base` bytes.
    fn restart(&mut self, base: u64) {
        (self.base, self.payload, self.end, self.fresh_from, self.live) = (base, 0, base, base, 0);
        (self.free, self.fresh, self.released) = (Vec::new(), BTreeSet::new(), Vec::new());
    }

    /// Looks for the free room of the state on disk, which `index` must be that of. `live` is what its stored chunks
    /// take, where that is known: the search ends when all free room has been found.
    ///
    /// What follows the last chunk is looked at first, as index and trailer may go there; then what follows those
    /// chunks whose successor starts farthest away.
    fn find_free(&mut self, index: &Index, live: Option<u64>) {
        let live = live.map(|live| live.min(self.payload));
        let all_free = live.map_or(self.payload, |live| self.payload.saturating_sub(live));
        let mut starts: Vec<u64> = index.entries.stored().collect();
        // Not the unstable sort: most lists are in order but for some runs.
        starts.sort();
        starts.dedup();
        let first = starts.first().copied().unwrap_or(self.payload);
        let ends = starts.iter().copied().skip(1).chain([self.payload]);
        let mut places: Vec<Range<u64>> = starts.iter().copied().zip(ends).map(|(at, end)| at..end).collect();
        let last = places.pop();
        if places.len() > LOOKS {
            places.select_nth_unstable_by_key(LOOKS, |place| core::cmp::Reverse(len(place)));
            places.truncate(LOOKS);
        }
        places.sort_unstable_by_key(|place| core::cmp::Reverse(len(place)));
        let mut found = first;
        let mut free: Vec<Range<u64>> = core::iter::once(0..first).collect();
        for place in last.into_iter().chain(places) {
            if found >= all_free {
                break;
            }
            // A chunk that cannot be read keeps its room.
            let Ok(header) = self.locate(place.start).and_then(|chunk| chunk.header(0)) else { continue };
            let end = place.start.saturating_add(header.cbytes.into());
            self.largest = self.largest.max(header.cbytes.into());
            if end < place.end {
                found = found.saturating_add(place.end.saturating_sub(end));
                free.push(end..place.end);
            }
        }
        let base = self.base;
        join(
            &mut self.free,
            free.into_iter().map(|r| r.start.saturating_add(base)..r.end.saturating_add(base)),
        );
        self.live = live.unwrap_or(self.payload.saturating_sub(found));
    }

    /// Takes `len` bytes of free room from `after` on, or of the end.
    fn allocate(&mut self, after: u64, bytes: u64) -> u64 {
        let fits = |range: &Range<u64>| range.start >= after && len(range) >= bytes;
        if let Some(range) = self.free.iter_mut().find(|range| fits(range)) {
            let at = range.start;
            range.start = at.saturating_add(bytes);
            self.free.retain(|range| range.start < range.end);
            return at;
        }
        // What is free at the very end can grow.
        let at = match self.free.pop_if(|last| last.end == self.end && last.start >= after) {
            Some(last) => last.start,
            None => self.end,
        };
        self.end = at.saturating_add(bytes);
        at
    }

    /// Writes into room that was allocated, or gives it back, with what a full disk took.
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), IoError> {
        let end = at.saturating_add(bytes.len() as u64);
        self.store.write_at(at, bytes).inspect_err(|_| {
            if end == self.end {
                self.end = at;
                let _ = self.store.truncate(at);
            } else {
                join(&mut self.free, core::iter::once(at..end));
            }
        })
    }

    /// Drops from the released chunks those that entries still refer to, and what they claim of the chunks behind them.
    fn settle_released(&mut self, index: &Index) {
        let released = &mut self.released;
        released.sort_unstable_by_key(|range| range.start);
        released.dedup_by_key(|range| range.start);
        if released.is_empty() {
            return;
        }
        let starts: Vec<u64> = released.iter().skip(1).map(|range| range.start).collect();
        for (range, next) in released.iter_mut().zip(starts) {
            range.end = range.end.min(next);
        }
        for start in index.entries.stored().map(|entry| entry.saturating_add(self.base)) {
            let before = released.partition_point(|range| range.start <= start).checked_sub(1);
            if let Some(range) = before.and_then(|n| released.get_mut(n)) {
                range.end = range.end.min(start);
            }
        }
        released.retain(|range| range.start < range.end);
    }

    /// Stored bytes of all chunks once the released ones are gone.
    fn live_next(&self) -> u64 {
        self.released.iter().fold(self.live, |live, range| live.saturating_sub(len(range)))
    }

    /// Writes index and trailer where neither state has anything, then the header over that of the state on disk.
    fn switch(&mut self, draft: &mut Draft<'_>) -> Result<(), Error> {
        let (base, live) = (self.base, self.live_next());
        let written = draft.assemble(live, |index, len| {
            let behind_last = index.entries.stored().max().map_or(0, |last| last.saturating_add(1));
            distance(self.allocate(base.saturating_add(behind_last), len), base)
        })?;
        let (at, end) = (base.saturating_add(written.header.cbytes), written.header.frame_len);
        self.write(at, &written.rest)?;
        // From here on the state with this index may be on disk, even if an error is reported.
        self.rests.push(at..end);
        self.fresh.clear();
        self.fresh_from = self.end;
        let mut switch = 0x0f..written.head.len().min(SECTOR);
        if draft.pending.committed.is_none() {
            // Nothing can be opened before the first bytes are there.
            self.store.write_at(FIXED_LEN as u64, written.head.get(FIXED_LEN..).unwrap_or(&[]))?;
            switch = 0..FIXED_LEN;
        }
        self.store.sync()?;
        self.store.write_at(switch.start as u64, written.head.get(switch).unwrap_or(&[]))?;
        let confirmed = self.store.sync().map_err(IoError::not_confirmed);
        self.payload = written.header.cbytes;
        // After a power failure the state before may be back: until a flush succeeds, nothing of it is free.
        if confirmed.is_ok() {
            self.in_force(end);
        }
        self.note_sum(&[&written.head, &written.rest]);
        draft.in_force = Some(written);
        Ok(confirmed?)
    }

    /// What only the state before used becomes free.
    fn free_old(&mut self) {
        self.live = self.live_next();
        self.rests.append(&mut self.released);
        join(&mut self.free, self.rests.drain(..));
    }

    /// The state being made is in force and ends at `end`: what only the one before it used is free, and what lies behind
    /// the frame is cut off if that is easy.
    fn in_force(&mut self, end: u64) {
        self.free_old();
        let at = self.base.saturating_add(self.payload);
        // The new index and trailer are among what was pinned.
        for range in &mut self.free {
            range.end = range.end.min(at);
        }
        self.free.retain(|range| range.start < range.end);
        self.rests = core::iter::once(at..end).collect();
        (self.end, self.fresh_from) = (end, end);
        if self.store.size().is_ok_and(|size| size > end) {
            let _ = self.store.truncate(end);
        }
    }

    /// Where only one state is needed (see [`Store::is_shared`]): the chunks written behind the old index and trailer move
    /// down over them, so that chunks follow each other as C-Blosc2 writes them.
    fn move_down(&mut self, index: &mut Index) -> Result<(), Error> {
        self.free_old();
        let rest = self.base.saturating_add(self.payload);
        let Some(hole) = self.free.iter().position(|range| range.contains(&rest)) else {
            return Err(Error::Internal { what: "the old index is in no free range" });
        };
        let hole = self.free.remove(hole);
        let by = len(&hole);
        copy_down(&mut *self.store, hole.end..self.end, hole.start)?;
        for range in self.free.iter_mut().filter(|range| range.start >= hole.end) {
            *range = range.start.saturating_sub(by)..range.end.saturating_sub(by);
        }
        for k in index.numbers() {
            let Entry::Stored(offset) = index.entry(k)? else { continue };
            if self.base.saturating_add(offset) >= hole.end {
                index.point(k, distance(offset, by)? as i64, None)?;
            }
        }
        self.end = distance(self.end, by)?;
        self.fresh.clear();
        Ok(())
    }

    /// Whether so much is free that the frame is worth writing anew: above half of what its parts take, and two of the
    /// largest chunk, and index and trailer once more. A frame of which only one chunk changes, again and again, has up
    /// to two old versions of it.
    fn is_loose(&self) -> bool {
        let rest = self.end.saturating_sub(self.base).saturating_sub(self.payload);
        let garbage = self.payload.saturating_sub(self.live);
        let used = self.end.saturating_sub(garbage);
        let most = (used / 2).saturating_add(self.largest.saturating_mul(2)).saturating_add(rest);
        garbage > most
    }

    /// Writes the frame anew through [`Store::rewrite`]: the chunks in their order, nothing between them. `check`
    /// compares chunks with their checksums and makes missing ones.
    fn rewrite(&mut self, draft: &mut Draft<'_>, check: bool) -> Result<(), Error> {
        let (base, before, mut outcome) = (self.base, draft.index.clone(), None);
        let result = self.store.rewrite(&mut |old, new| {
            outcome = Some(write_anew(draft, base, check, old, new)?);
            Ok(())
        });
        // The new file may be in place although an error is reported: then its state is the one to go on with.
        let in_place = |written: &Written| result.is_ok() || self.changed(&written.header, true) == Ok(None);
        match outcome.filter(in_place) {
            Some(written) => {
                self.reset(&written.header, true);
                self.note_sum(&[&written.head, &written.rest]);
                draft.in_force = Some(written);
            }
            None => {
                *draft.index = before;
                return result.and(Err(Error::Internal { what: "a store that was replaced by nothing" }));
            }
        }
        result
    }
}

impl ChunkStore for Contiguous<'_> {
    fn open(&self, limits: &Limits) -> Result<Opened, Error> {
        open_at(&*self.store, FrameType::Contiguous, limits)
    }

    fn opened(&mut self, opened: &Opened, _: &Index) {
        self.reset(&opened.header, false);
        self.note_sum(&[&opened.head, &opened.index, &opened.trailer]);
    }

    fn locate(&self, entry: u64) -> Result<Located<'_>, Error> {
        let at = self.base.saturating_add(entry);
        let stop = if entry < self.payload { self.base.saturating_add(self.payload) } else { self.end };
        Ok(Located::new(Source::Shared(&self.store), at, stop.saturating_sub(at), Structure::Chunk))
    }

    fn start(&mut self, header_len: u64) {
        if self.end == 0 {
            self.restart(header_len);
        }
    }

    fn look(&mut self, index: &Index, live: Option<u64>) {
        if !core::mem::replace(&mut self.looked, true) {
            self.find_free(index, live);
        }
    }

    fn add(&mut self, chunk: &[u8]) -> Result<i64, Error> {
        let size = chunk.len() as u64;
        let at = self.allocate(0, size);
        self.write(at, chunk)?;
        self.live = self.live.saturating_add(size);
        self.largest = self.largest.max(size);
        self.recent = at..at.saturating_add(size);
        if at < self.fresh_from {
            self.fresh.insert(at);
        }
        Ok(distance(at, self.base)? as i64)
    }

    fn release(&mut self, entry: u64, cbytes: u64) {
        let start = self.base.saturating_add(entry);
        let range = start..start.saturating_add(cbytes).min(self.end);
        if self.recent.contains(&start) {
            self.recent = 0..0;
        }
        if cbytes >= self.largest {
            self.largest = len(&self.recent);
        }
        if start >= self.fresh_from || self.fresh.remove(&start) {
            self.live = self.live.saturating_sub(len(&range));
            join(&mut self.free, [range]);
        } else {
            self.released.push(range);
        }
    }

    fn commit(&mut self, draft: &mut Draft<'_>) -> Result<(), Error> {
        self.settle_released(draft.index);
        let (header_len, chunks) = (draft.header_len(), draft.index.len());
        if draft.pending.committed.is_none() && (chunks == 0 || self.end == 0) {
            self.restart(header_len);
        }
        // The first state of a frame may be written in any order: its first bytes come last.
        let is_first = draft.pending.committed.is_none();
        let one_write = draft.pending.metalayers == Change::No || header_len <= SECTOR as u64;
        if header_len != self.base || !is_first && (chunks == 0 || !one_write) {
            return self.rewrite(draft, false);
        }
        if !self.store.is_shared() && !is_first {
            self.move_down(draft.index)?;
        }
        self.switch(draft)?;
        if self.is_loose() {
            // The commit is done: where this cannot be, on a bare file handle or a full disk, the frame only stays as
            // large as it is.
            let _ = self.rewrite(draft, false);
        }
        Ok(())
    }

    fn compact(&mut self, draft: &mut Draft<'_>) -> Result<(), Error> {
        self.rewrite(draft, true)
    }

    fn discard(&mut self, committed: Option<&Header>) {
        if committed.is_none() {
            self.restart(0);
        }
        let _ = self.store.truncate(committed.map_or(0, |header| header.frame_len));
    }

    fn follow(&mut self) -> Result<(), IoError> {
        self.store.follow()
    }

    fn changed(&self, committed: &Header, _: bool) -> Result<Option<&'static str>, Error> {
        if !self.store.is_current()? {
            return Ok(Some(OTHER_FILE));
        }
        let mut same = says(&*self.store, committed)?;
        if same && !self.store.is_shared() {
            let head = u64::from(committed.header_len);
            let payload = if committed.nbytes == 0 { 0 } else { committed.cbytes };
            let mut bytes = Vec::new();
            read_part(&*self.store, 0..head, &mut bytes)?;
            read_part(&*self.store, head.saturating_add(payload)..committed.frame_len, &mut bytes)?;
            same = checksum::of(&bytes) == self.sum;
        }
        Ok((!same).then_some(OTHER_STATE))
    }

    fn size(&self) -> Result<u64, Error> {
        Ok(self.store.size()?)
    }

    fn far(&self) -> Option<&dyn ReadAt> {
        self.store.is_far().then_some(&self.store as &dyn ReadAt)
    }

    fn as_slice(&self) -> Option<&[u8]> {
        self.store.as_slice()
    }
}

/// Moves bytes down to `to`.
fn copy_down<S: ReadAt + WriteAt + ?Sized>(
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
fn write_anew(
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
