//! What the LZ encoders share: tables of positions in caller memory.

/// A table of positions modulo 65536, all zero at first.
///
/// What it answers is a guess that the caller compares: an entry may be older than 65536 bytes, or never
/// have been written. `CELLS` is a power of two.
#[cfg(any(feature = "blosclz", feature = "lz4", feature = "snappy"))]
pub(super) struct Table<'a, const CELLS: usize>(&'a mut [[u8; 2]; CELLS]);

#[cfg(any(feature = "blosclz", feature = "lz4", feature = "snappy"))]
impl<'a, const CELLS: usize> Table<'a, CELLS> {
    /// Bytes it needs.
    pub(super) const BYTES: usize = 2 * CELLS;
    /// Bits of the hashes: the table has `1 << BITS` cells.
    #[cfg(feature = "blosclz")]
    pub(super) const BITS: u32 = CELLS.trailing_zeros();

    /// The table at the start of `work`, and the rest; `None` where `work` is too short.
    #[inline]
    pub(super) fn new(work: &'a mut [u8]) -> Option<(Self, &'a mut [u8])> {
        let (head, rest) = work.split_at_mut_checked(Self::BYTES)?;
        head.fill(0);
        Some((Table(head.as_chunks_mut().0.try_into().ok()?), rest))
    }

    /// The latest position under `hash`, modulo 65536; `position` replaces it.
    #[inline(always)]
    pub(super) fn swap(&mut self, hash: usize, position: usize) -> u16 {
        match self.0.get_mut(hash) {
            Some(cell) => u16::from_le_bytes(core::mem::replace(cell, (position as u16).to_le_bytes())),
            None => 0,
        }
    }
}

/// What both tables do.
#[cfg(feature = "blosclz")]
pub(super) trait Positions {
    /// Bits of the hashes: the table has `1 << BITS` cells.
    const BITS: u32;
    /// The latest position under `hash`; `position` replaces it.
    fn swap(&mut self, hash: usize, position: usize) -> usize;
}

#[cfg(feature = "blosclz")]
impl<const CELLS: usize> Positions for Table<'_, CELLS> {
    const BITS: u32 = Table::<'_, CELLS>::BITS;

    #[inline(always)]
    fn swap(&mut self, hash: usize, position: usize) -> usize {
        usize::from(Table::swap(self, hash, position))
    }
}

#[cfg(feature = "blosclz")]
impl<const CELLS: usize> Positions for WideTable<'_, CELLS> {
    const BITS: u32 = CELLS.trailing_zeros();

    #[inline(always)]
    fn swap(&mut self, hash: usize, position: usize) -> usize {
        WideTable::swap(self, hash, position)
    }
}

/// A table of positions below 4 GiB, all zero at first; its answers are guesses too. `CELLS` is a power of two.
#[cfg(any(feature = "blosclz", feature = "lz4"))]
pub(super) struct WideTable<'a, const CELLS: usize>(&'a mut [[u8; 4]; CELLS]);

#[cfg(any(feature = "blosclz", feature = "lz4"))]
impl<'a, const CELLS: usize> WideTable<'a, CELLS> {
    /// Bytes it needs.
    pub(super) const BYTES: usize = 4 * CELLS;

    /// The table at the start of `work`; `None` where `work` is too short.
    #[inline]
    pub(super) fn new(work: &'a mut [u8]) -> Option<Self> {
        let table = work.get_mut(..Self::BYTES)?;
        table.fill(0);
        Some(WideTable(table.as_chunks_mut().0.try_into().ok()?))
    }

    /// Forgets every position.
    #[cfg(feature = "lz4")]
    pub(super) fn empty(&mut self) {
        self.0.fill([0; 4]);
    }

    /// The latest position under `hash`; `position` replaces it.
    #[inline(always)]
    pub(super) fn swap(&mut self, hash: usize, position: usize) -> usize {
        match self.0.get_mut(hash) {
            Some(cell) => {
                u32::from_le_bytes(core::mem::replace(cell, (position as u32).to_le_bytes())) as usize
            }
            None => 0,
        }
    }
}

/// The position below `p` that is `low` modulo 65536; `FAR` where `p` may be 65536 or more.
///
/// It is 65536 below `p` where the two agree, and wraps around where that does not exist.
#[cfg(any(feature = "lz4", feature = "snappy", feature = "zlib"))]
#[inline(always)]
pub(super) fn nearest<const FAR: bool>(low: u16, p: usize) -> usize {
    if FAR {
        p.wrapping_sub(usize::from((p as u16).wrapping_sub(low).wrapping_sub(1)) + 1)
    } else {
        usize::from(low)
    }
}
