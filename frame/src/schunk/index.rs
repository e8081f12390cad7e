//! [`Index`]: of each chunk where it lies, how many bytes it decodes to, and which checksum its stored bytes have.
//!
//! The three lists are as long as each other, whatever is edited; only that of checksums is empty while none is known.
//! They are changed here only.

use super::sizes::{Sizes, picked, splice};
use crate::cframe::Entries;
use crate::cframe::checksums::UNKNOWN;
use crate::cframe::header::ChunkSize;
use crate::cframe::index::{Entry, SIZE_LOST};
use crate::error::{Error, Structure};
use crate::spare::Once;
use alloc::vec::Vec;
use core::ops::Range;

/// What is known about the chunks of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) entries: Entries,
    /// [`UNKNOWN`] for special chunks, too.
    sums: Vec<u64>,
    /// What the frame or the last edit says.
    sizes: Sizes,
    /// What readers found instead.
    found: Once<Sizes>,
}

impl Index {
    /// The index of a frame without chunks.
    pub(super) fn empty(chunksize: ChunkSize) -> Index {
        Index::opened(Entries::List(Vec::new()), chunksize, 0)
    }

    /// What a frame says of its chunks.
    pub(super) fn opened(entries: Entries, chunksize: ChunkSize, total: u64) -> Index {
        let sizes = match chunksize {
            ChunkSize::Fixed(chunk) => Sizes::Regular { chunk, total },
            ChunkSize::Variable if entries.len() > 0 => Sizes::Unread { total },
            ChunkSize::Variable => Sizes::each(Vec::new()),
            ChunkSize::Unknown => Sizes::Regular { chunk: 0, total: 0 },
        };
        Index { entries, sums: Vec::new(), sizes, found: Once::new() }
    }

    /// The numbers of all chunks; none if none of them is stored.
    pub(super) fn numbers(&self) -> Range<u64> {
        0..if matches!(self.entries, Entries::Repeated(i64::MIN..0, _)) { 0 } else { self.len() }
    }

    /// Takes over the checksums of the stored chunks, in their order.
    pub(super) fn set_sums(&mut self, mut stored: impl Iterator<Item = u64>) {
        // Entries that are all the same are special ones, or a chunk that they share.
        if let Entries::List(list) = &self.entries {
            let of = |raw: &i64| if *raw < 0 { Some(UNKNOWN) } else { stored.next() };
            self.sums = list.iter().map(of).map(|sum| sum.unwrap_or(UNKNOWN)).collect();
        }
    }

    /// The checksums of the stored chunks, in their order.
    pub(super) fn stored_sums(&self) -> impl Iterator<Item = u64> + '_ {
        let list = if let Entries::List(list) = &self.entries { &list[..] } else { &[] };
        let sums = self.sums.iter().copied().chain(core::iter::repeat(UNKNOWN));
        list.iter().zip(sums).filter(|(raw, _)| **raw >= 0).map(|(_, sum)| sum)
    }

    /// The checksum of chunk `k`, if it is known.
    pub(super) fn sum(&self, k: u64) -> Option<u64> {
        self.sums.get(usize::try_from(k).ok()?).copied().filter(|sum| *sum != UNKNOWN)
    }

    /// Decoded bytes of all chunks.
    pub(crate) fn nbytes(&self) -> u64 {
        self.sizes.total()
    }
    /// The sizes of the chunks, as far as they are known.
    pub(super) fn sizes(&self) -> &Sizes {
        self.found.get().unwrap_or(&self.sizes)
    }
    /// The sizes, to be changed.
    fn sizes_mut(&mut self) -> &mut Sizes {
        if let Some(found) = self.found.take() {
            self.sizes = found;
        }
        &mut self.sizes
    }
    /// Number of chunks that are stored.
    pub(super) fn stored_len(&self) -> u64 {
        match &self.entries {
            Entries::Repeated(raw, n) => {
                if *raw < 0 {
                    0
                } else {
                    *n
                }
            }
            Entries::List(list) => list.iter().filter(|raw| **raw >= 0).count() as u64,
        }
    }
    /// Number of chunks.
    pub(super) fn len(&self) -> u64 {
        self.entries.len()
    }
    /// Where chunk `k` lies, or what it is filled with.
    pub(super) fn get(&self, k: u64) -> Option<Entry> {
        Entry::from_raw(self.entries.get(k)?)
    }
    /// As [`Index::get`], of a chunk that must be there.
    pub(super) fn entry(&self, k: u64) -> Result<Entry, Error> {
        let raw = self.entries.get(k).ok_or(Error::out_of_range("chunk", k, self.len()))?;
        Entry::from_raw(raw).ok_or(Error::invalid(Structure::Index, "entry", 0, raw))
    }

    /// Decoded bytes of chunk `k`; an error where no writer recorded them.
    pub(super) fn len_of(&self, k: u64) -> Result<u32, Error> {
        self.entry(k)?;
        self.sizes().len_of(k).ok_or(SIZE_LOST)
    }

    /// Learns the size of every chunk from what `read` finds in its header, where the frame does not tell them.
    pub(super) fn read_sizes(&self, read: impl Fn(u64, u64) -> Result<u32, Error>) -> Result<(), Error> {
        if matches!(self.sizes(), Sizes::Each { .. }) {
            return Ok(());
        }
        let mut lens = Vec::new();
        let count = usize::try_from(self.len()).map_err(|_| Error::OutOfMemory)?;
        lens.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
        // Millions of entries may be the same: one look at their chunk is enough.
        let mut last = None;
        for k in 0..self.len() {
            lens.push(match (self.entry(k)?, last) {
                (Entry::Special(_), _) => self.sizes.len_of(k),
                (Entry::Stored(entry), Some((same, len))) if same == entry => Some(len),
                (Entry::Stored(entry), _) => {
                    last = Some((entry, read(k, entry)?));
                    last.map(|(_, len)| len)
                }
            });
        }
        let total = self.sizes.total();
        let found = Sizes::read(lens, total).ok_or(Error::invalid(
            Structure::FrameHeader,
            "uncompressed_size (not the sum of the chunks)",
            0x1d,
            total as i64,
        ))?;
        // Another reader may have been faster, and found them to be what they are.
        let _ = self.found.set(found);
        Ok(())
    }

    /// Adds a chunk before chunk `k`, or exchanges or (without `new`) removes chunk `k`: where it lies, its checksum,
    /// its size. The sizes are read where they differ.
    pub(super) fn edit(&mut self, k: u64, old: bool, new: Option<(i64, u64, u32)>) -> Result<(), Error> {
        self.splice(k, old, new.map(|(raw, sum, _)| (raw, sum)))?;
        self.sizes_mut().edit(k, old, new.map(|(.., len)| len))
    }

    fn splice(&mut self, k: u64, old: bool, new: Option<(i64, u64)>) -> Result<(), Error> {
        let list = self.entries.list_mut()?;
        let sum = new.map(|(_, sum)| sum);
        if !self.sums.is_empty() || sum.is_some_and(|sum| sum != UNKNOWN) {
            self.sums.resize(list.len(), UNKNOWN);
            splice(&mut self.sums, k, old, sum)?;
        }
        splice(list, k, old, new.map(|(raw, _)| raw))
    }

    /// Notes where chunk `k` lies, and its checksum if that changes; it decodes to what it did.
    pub(super) fn point(&mut self, k: u64, raw: i64, sum: Option<u64>) -> Result<(), Error> {
        self.splice(k, true, Some((raw, sum.or(self.sum(k)).unwrap_or(UNKNOWN))))
    }

    /// Brings the chunks into a new order, a permutation of all of them.
    pub(super) fn reorder(&mut self, order: &[u64]) -> Result<(), Error> {
        let list = self.entries.list_mut()?;
        *list = picked(order, list);
        self.sums = picked(order, &self.sums);
        self.sizes_mut().reorder(order);
        Ok(())
    }
}
