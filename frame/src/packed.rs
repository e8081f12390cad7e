//! Packed rows: the columns of a table side by side, one row after the other.
//!
//! [`Strided`] reads a column of packed rows, [`read`] puts packed rows together from columns, and [`Repacked`] packs
//! records whose fields lie elsewhere.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::dtype::Repack;
use crate::error::{Error, IoError, IoKind};
use crate::io::ReadAt;
use crate::plain::{Plain, check_range};
use alloc::vec;
use alloc::vec::Vec;
use blosc_core::Pool;

/// Where a column's bytes lie in a packed row.
#[derive(Clone, Copy)]
pub(crate) struct ColumnRange {
    /// Offset in the row.
    pub at: u64,
    /// Bytes of the column.
    pub len: u64,
}

/// The ranges of columns of these sizes.
pub(crate) fn column_ranges(sizes: impl Iterator<Item = u64>) -> Vec<ColumnRange> {
    let mut at = 0u64;
    let range = |len: u64| {
        let range = ColumnRange { at, len };
        at = at.saturating_add(len);
        range
    };
    sizes.map(range).collect()
}

/// The bytes of one column in packed rows.
pub(crate) struct Strided<'a> {
    /// Packed rows.
    pub data: &'a dyn ReadAt,
    /// Bytes of a row.
    pub row: u64,
    /// Where the column lies in it.
    pub range: ColumnRange,
    /// How many rows there are.
    pub rows: u64,
}

impl ReadAt for Strided<'_> {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.rows.saturating_mul(self.range.len))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let (Some(first), Some(skip)) =
            (offset.checked_div(self.range.len), offset.checked_rem(self.range.len))
        else {
            return Ok(0);
        };
        if self.range.len == self.row {
            return self.data.read_at(offset, buf);
        }
        // Whole packed rows are read together, about 64 KiB of them.
        let last = offset.saturating_add(buf.len() as u64).div_ceil(self.range.len).min(self.rows);
        let most = (1u64 << 16).checked_div(self.row).unwrap_or(1).max(1);
        let rows = last.saturating_sub(first).min(most);
        let mut packed =
            vec![0u8; usize::try_from(rows.saturating_mul(self.row)).map_err(|_| IoKind::OutOfMemory)?];
        self.data.read_exact_at(first.saturating_mul(self.row), &mut packed)?;
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (at, len, mut n) = (size(self.range.at), size(self.range.len), 0usize);
        let mut start = at.saturating_add(size(skip));
        for row in packed.chunks_exact(size(self.row).max(1)) {
            let from = row.get(start..at.saturating_add(len)).unwrap_or_default();
            for (to, from) in buf.get_mut(n..).unwrap_or_default().iter_mut().zip(from) {
                *to = *from;
                n = n.saturating_add(1);
            }
            start = at;
        }
        Ok(n)
    }
}

/// Fills `out` with packed rows of `row` bytes from byte `at` on.
pub(crate) fn read(
    columns: &[&dyn Plain],
    column_ranges: &[ColumnRange],
    row: u64,
    pool: &mut Pool,
    at: u64,
    out: &mut [u8],
) -> Result<(), Error> {
    let end = at.saturating_add(out.len() as u64);
    let Some(first) = at.checked_div(row) else { return Ok(()) };
    let last = end.div_ceil(row);
    let size = |n: u64| usize::try_from(n).map_err(|_| Error::OutOfMemory);
    let rows = last.saturating_sub(first);
    let mut packed = vec![0u8; size(rows.saturating_mul(row))?];
    let mut items = Vec::new();
    for (column, range) in columns.iter().zip(column_ranges) {
        items.resize(size(rows.saturating_mul(range.len))?, 0);
        column.read_plain(pool, first.saturating_mul(range.len), &mut items)?;
        let (start, len) = (size(range.at)?, size(range.len)?.max(1));
        for (to, from) in packed.chunks_exact_mut(size(row)?).zip(items.chunks_exact(len)) {
            if let Some(to) = to.get_mut(start..start.saturating_add(len)) {
                to.copy_from_slice(from);
            }
        }
    }
    let skip = size(at.saturating_sub(first.saturating_mul(row)))?;
    if let Some(from) = packed.get(skip..skip.saturating_add(out.len())) {
        out.copy_from_slice(from);
    }
    Ok(())
}

/// Decoded records, packed as they are read.
pub(crate) struct Repacked<'a> {
    /// The records as they are stored.
    pub data: &'a dyn Plain,
    /// How they are packed.
    pub repack: &'a Repack,
}

impl Repacked<'_> {
    /// So many bytes of packed items as bytes of stored ones.
    fn stored(&self, bytes: u64) -> u64 {
        let (stored, packed) = (self.repack.unpacked() as u64, self.repack.packed() as u64);
        bytes.checked_div(packed).unwrap_or(0).saturating_mul(stored)
    }
}

impl Plain for Repacked<'_> {
    fn nbytes(&self) -> u64 {
        let (stored, packed) = (self.repack.unpacked() as u64, self.repack.packed() as u64);
        self.data.nbytes().checked_div(stored).unwrap_or(0).saturating_mul(packed)
    }

    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let (end, size) = (check_range(at, out.len(), self.nbytes())?, self.repack.packed() as u64);
        let first = at.checked_div(size).unwrap_or(0).saturating_mul(size);
        let last = end.checked_next_multiple_of(size).unwrap_or(end);
        let bytes = |n: u64| usize::try_from(n).map_err(|_| Error::OutOfMemory);
        let (from, to) = (self.stored(first), self.stored(last));
        let mut stored = vec![0; bytes(to.saturating_sub(from))?];
        self.data.read_plain(pool, from, &mut stored)?;
        if last.saturating_sub(first) == out.len() as u64 {
            self.repack.items(&stored, out);
            return Ok(());
        }
        let mut packed = vec![0; bytes(last.saturating_sub(first))?];
        self.repack.items(&stored, &mut packed);
        let skip = bytes(at.saturating_sub(first))?;
        let part = packed.get(skip..skip.saturating_add(out.len())).ok_or(IoKind::UnexpectedEnd)?;
        out.copy_from_slice(part);
        Ok(())
    }

    fn chunk_nbytes(&self) -> u64 {
        let stored = self.data.chunk_nbytes().checked_div(self.repack.unpacked() as u64).unwrap_or(1);
        stored.max(1).saturating_mul(self.repack.packed() as u64).max(1)
    }
}
