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
//! chunks that are far from their successor, and of no more than [`LOOKS`]: see [`Contiguous::look`].

use super::place::{Located, Source};
use crate::cframe::Entries;
use crate::error::{Error, IoError, Structure};
use crate::io::{ReadAt, Store, WriteAt};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// Headers of chunks that are read at most to find free room. A read takes some microseconds, and of most frames one or
/// two are enough.
const LOOKS: usize = 256;

/// A contiguous frame's store, and who uses which part of it. Ranges are positions in the frame.
pub(crate) struct Contiguous<'a> {
    pub(super) store: Box<dyn Store + Send + Sync + 'a>,
    /// Length of the header. Entries count from here.
    pub(super) base: u64,
    /// Payload bytes of the state on disk: its index starts behind them.
    pub(super) payload: u64,
    /// Where what is in use ends: what fits nowhere else is written here.
    pub(super) end: u64,
    /// `end` when the state on disk was written: the length of its frame.
    top: u64,
    /// Neither state refers to these; in ascending order, without neighbours that touch.
    free: Vec<Range<u64>>,
    /// The free ranges when the state on disk was written: it refers to nothing in them.
    unused: Vec<Range<u64>>,
    /// Chunks that only the state on disk refers to, unless other entries share them.
    released: Vec<Range<u64>>,
    /// Index and trailer of the state on disk, and of states that may be on disk since a commit failed.
    rests: Vec<Range<u64>>,
    /// Stored bytes of all chunks.
    pub(super) live: u64,
    /// Stored bytes of the largest chunk, as far as chunks were written or looked at.
    largest: u64,
    /// The chunk written last, if it is still referred to.
    recent: Range<u64>,
    /// Whether the free room of the state on disk has been looked for.
    looked: bool,
}

fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
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

/// The entries of stored chunks.
fn stored(entries: &Entries) -> impl Iterator<Item = u64> + '_ {
    let (same, list) = match entries {
        Entries::Repeated(raw, n) => (Some(*raw).filter(|_| *n > 0), &[][..]),
        Entries::List(list) => (None, &list[..]),
    };
    same.into_iter().chain(list.iter().copied()).filter_map(|raw| u64::try_from(raw).ok())
}

impl<'a> Contiguous<'a> {
    /// A store for a frame that is not written yet.
    pub(super) fn new(store: Box<dyn Store + Send + Sync + 'a>) -> Contiguous<'a> {
        Contiguous {
            store,
            base: 0,
            payload: 0,
            end: 0,
            top: 0,
            free: Vec::new(),
            unused: Vec::new(),
            released: Vec::new(),
            rests: Vec::new(),
            live: 0,
            largest: 0,
            recent: 0..0,
            looked: true,
        }
    }

    /// The state on disk is one just opened, or written without free room.
    pub(super) fn opened(&mut self, base: u64, payload: u64, end: u64, looked: bool) {
        (self.base, self.payload, self.end, self.top) = (base, payload, end, end);
        (self.live, self.looked) = (payload, looked);
        (self.free, self.unused, self.released) = (Vec::new(), Vec::new(), Vec::new());
        self.rests = core::iter::once(base.saturating_add(payload)..end).collect();
    }

    /// The first chunk of a new frame, or none: everything starts behind a header of `base` bytes.
    pub(super) fn start(&mut self, base: u64) {
        (self.base, self.payload, self.end, self.live) = (base, 0, base, 0);
        (self.free, self.unused, self.released) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// Finds the chunk of a stored entry.
    pub(super) fn locate(&self, entry: u64) -> Located<'_> {
        let at = self.base.saturating_add(entry);
        let stop = if entry < self.payload { self.base.saturating_add(self.payload) } else { self.end };
        Located::new(Source::Shared(&*self.store), at, stop.saturating_sub(at), Structure::Chunk)
    }

    /// Looks for the free room of the state on disk, which `entries` must be those of. `live` is what its stored chunks
    /// take, where that is known: the search ends when all free room has been found.
    ///
    /// What follows the last chunk is looked at first, as index and trailer may go there; then what follows those
    /// chunks whose successor starts farthest away.
    pub(super) fn look(&mut self, entries: &Entries, live: Option<u64>) {
        if core::mem::replace(&mut self.looked, true) {
            return;
        }
        let live = live.map(|live| live.min(self.payload));
        let all_free = live.map_or(self.payload, |live| self.payload.saturating_sub(live));
        let mut starts: Vec<u64> = stored(entries).collect();
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
            let Ok(header) = self.locate(place.start).header(0) else { continue };
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
        self.unused = self.free.clone();
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
    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), IoError> {
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

    /// Writes a new chunk; the state on disk is not touched. Returns its raw entry.
    pub(super) fn add(&mut self, chunk: &[u8]) -> Result<i64, Error> {
        let size = chunk.len() as u64;
        let at = self.allocate(0, size);
        self.write(at, chunk)?;
        self.live = self.live.saturating_add(size);
        self.largest = self.largest.max(size);
        self.recent = at..at.saturating_add(size);
        Ok(at.saturating_sub(self.base) as i64)
    }

    /// An entry of the state being made no longer refers to this chunk.
    pub(super) fn release(&mut self, entry: u64, cbytes: u64) {
        let start = self.base.saturating_add(entry);
        let range = start..start.saturating_add(cbytes).min(self.end);
        if self.recent.contains(&start) {
            self.recent = 0..0;
        }
        if cbytes >= self.largest {
            self.largest = len(&self.recent);
        }
        if start >= self.top || self.unused.iter().any(|unused| unused.contains(&start)) {
            // Written since the last commit: no other entry and no state on disk has it.
            self.live = self.live.saturating_sub(len(&range));
            join(&mut self.free, [range]);
        } else {
            self.released.push(range);
        }
    }

    /// Drops from the released chunks those that entries still refer to, and what they claim of the chunks behind them.
    pub(super) fn settle_released(&mut self, entries: &Entries) {
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
        for start in stored(entries).map(|entry| entry.saturating_add(self.base)) {
            let before = released.partition_point(|range| range.start <= start).checked_sub(1);
            if let Some(range) = before.and_then(|n| released.get_mut(n)) {
                range.end = range.end.min(start);
            }
        }
        released.retain(|range| range.start < range.end);
    }

    /// Stored bytes of all chunks once the released ones are gone.
    pub(super) fn live_next(&self) -> u64 {
        self.released.iter().fold(self.live, |live, range| live.saturating_sub(len(range)))
    }

    /// Takes room for index and trailer behind all chunks.
    pub(super) fn allocate_rest(&mut self, entries: &Entries, bytes: u64) -> u64 {
        let last = stored(entries).max().map_or(0, |last| last.saturating_add(1));
        self.allocate(self.base.saturating_add(last), bytes)
    }

    /// From here on a state with its index in this range may be on disk: nothing of it is written over.
    pub(super) fn pin(&mut self, at: u64, end: u64) {
        self.rests.push(at..end);
        (self.unused, self.top) = (self.free.clone(), self.end);
    }

    /// Puts the state just written in force by a write to the header, at `offset`.
    pub(super) fn switch(&mut self, offset: u64, header: &[u8]) -> Result<(), IoError> {
        self.store.sync()?;
        self.store.write_at(offset, header)?;
        self.store.sync()
    }

    /// The state being made is in force, its index at `at`: what only the one before it used is free, and what lies
    /// behind the frame is cut off if that is easy.
    pub(super) fn in_force(&mut self, at: u64, end: u64) {
        self.live = self.live_next();
        let old = core::mem::take(&mut self.released).into_iter().chain(core::mem::take(&mut self.rests));
        join(&mut self.free, old);
        // The new index and trailer are among what was pinned.
        for range in &mut self.free {
            range.end = range.end.min(at);
        }
        self.free.retain(|range| range.start < range.end);
        self.rests = core::iter::once(at..end).collect();
        self.payload = at.saturating_sub(self.base);
        (self.end, self.top) = (end, end);
        self.unused = self.free.clone();
        if self.store.size().is_ok_and(|size| size > end) {
            let _ = self.store.truncate(end);
        }
    }

    /// Whether so much is free that the frame is worth writing anew: above half of what its parts take, and two of the
    /// largest chunk, and index and trailer once more. A frame of which only one chunk changes, again and again, has up
    /// to two old versions of it.
    pub(super) fn is_loose(&self) -> bool {
        let rest = self.end.saturating_sub(self.base).saturating_sub(self.payload);
        let garbage = self.payload.saturating_sub(self.live);
        let used = self.end.saturating_sub(garbage);
        let most = (used / 2).saturating_add(self.largest.saturating_mul(2)).saturating_add(rest);
        garbage > most
    }

    /// Where no reader needs the state before (in memory): the chunks written behind it move down over its index and
    /// trailer. Gives where the moved ones were and how far they moved.
    pub(super) fn close_up(&mut self) -> Result<(u64, u64), Error> {
        self.live = self.live_next();
        let old = core::mem::take(&mut self.released).into_iter().chain(core::mem::take(&mut self.rests));
        join(&mut self.free, old);
        let hole = self.free.iter().position(|range| range.contains(&self.base.saturating_add(self.payload)));
        let Some(hole) = hole.map(|n| self.free.remove(n)) else {
            return Err(Error::Internal { what: "the old index is in no free range" });
        };
        let by = len(&hole);
        copy_down(&mut *self.store, hole.end..self.end, hole.start)?;
        for range in self.free.iter_mut().filter(|range| range.start >= hole.end) {
            *range = range.start.saturating_sub(by)..range.end.saturating_sub(by);
        }
        self.end = self.end.saturating_sub(by);
        self.top = self.end;
        Ok((hole.end, by))
    }
}

/// Moves bytes down to `to`.
fn copy_down<S: ReadAt + WriteAt + ?Sized>(
    store: &mut S,
    from: Range<u64>,
    mut to: u64,
) -> Result<(), Error> {
    let mut buf = alloc::vec![0; len(&from).min(1 << 20) as usize];
    let mut from = from;
    while from.start < from.end {
        let part = buf.get_mut(..len(&from).min(1 << 20) as usize).unwrap_or(&mut []);
        store.read_exact_at(from.start, part)?;
        store.write_at(to, part)?;
        let n = part.len() as u64;
        (from.start, to) = (from.start.saturating_add(n), to.saturating_add(n));
    }
    Ok(())
}
