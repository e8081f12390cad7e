//! Source and destination memory whose offsets within a page change from round to round.
//!
//! A store followed by a load 4096 bytes further looks like a dependency to many CPUs, so a kernel's
//! speed depends on where two buffers happen to lie. Each round takes another pair of offsets.
//!
//! All arenas of a run lie in the same memory, in huge pages where the system grants them, and each visit takes another
//! part of it. Pages come from anywhere, and which of them a buffer gets decides which sets of a cache it fills: over
//! one place, a copy of 256 KiB differed by 6 % from process to process. Over thirty, all processes meet good ones.

use memmap2::MmapMut;
use std::cell::{Cell, OnceCell};

const PAGE: usize = 4096;
/// Size of a huge page.
const HUGE: usize = 2 << 20;
/// Offsets in bytes from a page boundary: (source, destination). Whole cache lines.
const PLACES: [(usize, usize); 7] =
    [(0, 64), (64, 2112), (1024, 512), (192, 3072), (2048, 128), (640, 1728), (3008, 0)];

/// What is written beyond this many bytes is taken not to fit the caches.
const LARGE: usize = 16 << 20;

/// Bytes of each of the two buffers at least, so that small ones have many places.
const LEAST: usize = 32 << 20;
/// Between the places of two visits: neither a power of two nor a part of a page.
const STEP: usize = (1 << 20) + 9 * PAGE;

/// Bytes that are read to push others out of the caches.
const WASH: usize = 128 << 20;

thread_local! {
    static WATER: OnceCell<Vec<u8>> = const { OnceCell::new() };
    /// The buffers of the last arena, for the next one: see the head of the file.
    static SPARE: Cell<Option<(MmapMut, MmapMut)>> = const { Cell::new(None) };
}

/// Has the caches write back what is in them. One candidate's stores may leave a whole cache of bytes still to be
/// written to memory, another's none; without this the next one would pay for it.
pub fn wash_caches() {
    WATER.with(|water| {
        let lines = water.get_or_init(|| vec![1; WASH]).chunks(64);
        std::hint::black_box(lines.map(|line| u64::from(line[0])).sum::<u64>());
    });
}

/// The two buffers of a comparison.
pub struct Arena {
    source: MmapMut,
    target: MmapMut,
    len: usize,
    room: usize,
    /// Where the parts of this visit begin.
    base: (usize, usize),
    at: (usize, usize),
}

impl Arena {
    /// Holds a copy of `source` and `room` bytes to write to, in the place of this visit; every page is touched.
    ///
    /// # Errors
    /// One line, where the system has no memory for it.
    pub fn new(source: &[u8], room: usize, visit: usize) -> Result<Arena, String> {
        let (from, to) = (source.len() + 2 * PAGE, room + 2 * PAGE);
        let spare = SPARE.take().filter(|(a, b)| a.len() >= from && b.len() >= to);
        let (source_pages, target_pages) = match spare {
            Some(both) => both,
            None => (pages(from.max(LEAST), 0x5A)?, pages(to.max(LEAST), 0xA5)?),
        };
        let base = (place(visit, source_pages.len() - from), place(visit, target_pages.len() - to));
        let (len, at) = (source.len(), (base.0, base.1));
        let mut arena = Arena { source: source_pages, target: target_pages, len, room, base, at };
        arena.source[arena.at.0..arena.at.0 + source.len()].copy_from_slice(source);
        Ok(arena)
    }

    /// Leaves its memory to the next one.
    pub fn hand_over(self) {
        SPARE.set(Some((self.source, self.target)));
    }

    /// Moves both buffers to the offsets of `round`.
    pub fn place(&mut self, round: usize) {
        let (source, target) = PLACES[round % PLACES.len()];
        let to = self.base.0 + source;
        if to != self.at.0 {
            self.source.copy_within(self.at.0..self.at.0 + self.len, to);
        }
        self.at = (to, self.base.1 + target);
    }

    /// Overwrites the destination, so that stale bytes cannot pass for a result.
    pub fn overwrite(&mut self) {
        let start = self.base.1;
        self.target[start..start + self.room + 2 * PAGE].fill(0xA5);
    }

    /// What a candidate reads and writes.
    pub fn split(&mut self) -> (&[u8], &mut [u8]) {
        (&self.source[self.at.0..self.at.0 + self.len], &mut self.target[self.at.1..self.at.1 + self.room])
    }

    /// Whether what is written here does not fit the caches.
    pub fn is_large(&self) -> bool {
        self.room >= LARGE
    }

    /// The first `n` bytes of the destination.
    pub fn written(&self, n: usize) -> Option<&[u8]> {
        (n <= self.room).then(|| &self.target[self.at.1..self.at.1 + n])
    }
}

/// At least this many bytes of memory, each of them written to.
fn pages(len: usize, byte: u8) -> Result<MmapMut, String> {
    let len = len.next_multiple_of(HUGE);
    let mut map = MmapMut::map_anon(len).map_err(|e| format!("no {len} bytes of memory: {e}"))?;
    // A kernel without huge pages refuses, and small ones do.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    map.fill(byte);
    Ok(map)
}

/// Where a visit's part begins: mappings begin at a page, and so does each part. `spare` bytes are left beside it.
fn place(visit: usize, spare: usize) -> usize {
    let places = spare / STEP + 1;
    visit % places * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_take_places_of_their_own_within_the_memory() {
        let places: std::collections::BTreeSet<usize> = (0..100).map(|visit| place(visit, LEAST)).collect();
        assert!(places.len() > 25 && places.iter().all(|at| *at <= LEAST && at % PAGE == 0));
        assert_eq!(place(7, STEP - 1), 0);
    }

    #[test]
    fn source_survives_every_move() {
        let bytes = crate::data::generate::random_bytes(10_000);
        let mut arena = Arena::new(&bytes, 77, 3).unwrap();
        for round in 0..20 {
            arena.place(round);
            let (src, dst) = arena.split();
            assert_eq!(src, bytes);
            assert_eq!(dst.len(), 77);
            assert_eq!(src.as_ptr().align_offset(64), 0);
        }
        assert!(arena.written(78).is_none());
    }
}
