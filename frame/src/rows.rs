//! [`Rows`]: one way to change whatever holds rows of equal size, on disk as in memory.
//!
//! ```text
//! container                      a row is                                what an edit rewrites
//! bloscpack file                 an item, or a row of its NumPy array     the chunks touched; the others are copied as stored
//! bcolz column, table            a row, a packed row                     the chunk files touched
//! Blaze directory                a row, a packed row                     the super-chunk files touched, in them the chunks
//! contiguous and sparse frame    an item                                 the chunks touched
//! b2nd array                     all items with one first index          the chunks touched
//! ```
//! [`open_any_mut`](crate::any::open_any_mut) opens any of them as this. Rows are given and taken as the
//! bytes that C-ordered memory has, and as wholes: a part of a row is refused by every container, and so is every change
//! of a container that ends with one (frames and bloscpack files of plain bytes can), but for a
//! [`resize`](Rows::resize), which drops it.
//!
//! # Example
//! ```
//! use blosc_core::Pool;
//! use blosc_frame::bcolz::{CArray, Create, FlatTree};
//! use blosc_frame::{Limits, Rows, dtype::Dtype, io::MemDir};
//!
//! let mut pool = Pool::new(1);
//! let create = Create::new(Dtype::parse("<i2").unwrap());
//! let mut column = CArray::create(FlatTree::new(MemDir::new()), &create, &Limits::DEFAULT)?;
//! column.append(&mut pool, &vec![1, 0, 2, 0, 3, 0])?;
//! column.splice(&mut pool, 1..2, &vec![7, 0, 8, 0])?;
//! let mut rows = [0; 8];
//! column.read_rows(&mut pool, 0..4, &mut rows)?;
//! assert_eq!(rows, [1, 0, 7, 0, 8, 0, 3, 0]);
//! # Ok::<(), blosc_frame::Error>(())
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Structure};
use crate::io::ReadAt;
use crate::plain::Plain;
use blosc_core::Pool;
use core::ops::Range;

/// Rows of equal size that can be replaced, added and removed.
///
/// Every method leaves the container as it was when it fails before anything had to be overwritten; what
/// a crash can leave behind is said at each implementation.
pub trait Rows: Plain {
    /// Bytes of a row.
    fn row_nbytes(&self) -> u64;

    /// Number of rows.
    fn rows(&self) -> u64 {
        self.nbytes().checked_div(self.row_nbytes()).unwrap_or(0)
    }

    /// Replaces `rows` by those in `data`, which may be more or fewer.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for rows that are not there, [`Error::Param`] when `data` is not whole rows;
    /// [`Error::Unsupported`] for a container that ends with a part of a row.
    fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error>;

    /// Cuts rows off the end, or adds rows of the fill value, until there are `rows`.
    ///
    /// # Errors
    /// Chunks that are damaged where they must be decoded; errors of the store.
    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error>;

    /// Overwrites rows within the room that their chunks have. Nothing moves and nothing is copied, but a
    /// crash in between can leave a chunk that its checksum does not match.
    ///
    /// # Errors
    /// [`Error::OutputTooSmall`] when a chunk does not fit its room; nothing has been written of its file
    /// then. [`Error::Unsupported`] for containers that reserve none.
    fn set_in_place(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let _ = (pool, row, data);
        Err(Error::Unsupported {
            structure: Structure::Chunk,
            what: "changing chunks in place (only bloscpack, bcolz and Blaze reserve room for that)",
        })
    }

    /// Sets the bytes of room left for later changes at the end of each chunk that is written from now on.
    /// Containers that reserve none ignore it.
    fn set_reserve(&mut self, bytes: u32) {
        let _ = bytes;
    }

    /// Fills `out` with these rows.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Param`] for an `out` of another size; chunks that are damaged.
    fn read_rows(&self, pool: &mut Pool, rows: Range<u64>, out: &mut [u8]) -> Result<(), Error> {
        let bytes = byte_range(self.row_nbytes(), &rows)?;
        if bytes.end.saturating_sub(bytes.start) != out.len() as u64 {
            return Err(whole_rows(out.len() as u64));
        }
        self.read_plain(pool, bytes.start, out)
    }

    /// Adds rows at the end.
    ///
    /// # Errors
    /// As [`Rows::splice`].
    fn append(&mut self, pool: &mut Pool, data: &dyn ReadAt) -> Result<(), Error> {
        let rows = self.rows();
        self.splice(pool, rows..rows, data)
    }

    /// Adds rows before row `at`.
    ///
    /// # Errors
    /// As [`Rows::splice`].
    fn insert(&mut self, pool: &mut Pool, at: u64, data: &dyn ReadAt) -> Result<(), Error> {
        check_rows(self.rows(), at..at)?;
        self.splice(pool, at..at, data)
    }

    /// Overwrites rows from `row` on.
    ///
    /// # Errors
    /// As [`Rows::splice`].
    fn set(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let rows = row..row.saturating_add(count(self.row_nbytes(), data)?);
        check_rows(self.rows(), rows.clone())?;
        self.splice(pool, rows, data)
    }

    /// Removes rows; those behind them move up.
    ///
    /// # Errors
    /// As [`Rows::splice`].
    fn remove(&mut self, pool: &mut Pool, rows: Range<u64>) -> Result<(), Error> {
        check_rows(self.rows(), rows.clone())?;
        self.splice(pool, rows, &[0u8; 0].as_slice())
    }

    /// Takes `rows` rows off the end.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for more rows than there are, and as [`Rows::resize`]; as [`Rows::splice`] for a container
    /// that ends with a part of a row.
    fn trim(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        check_end(self.nbytes(), self.row_nbytes())?;
        match self.rows().checked_sub(rows) {
            Some(left) => self.resize(pool, left),
            None => Err(Error::OutOfRange { what: "row", index: rows, len: self.rows() }),
        }
    }
}

/// Refuses rows that are not there, in rows and not in bytes of them.
pub(crate) fn check_rows(len: u64, rows: Range<u64>) -> Result<(), Error> {
    match rows.start > len || rows.end > len {
        true => Err(Error::OutOfRange { what: "row", index: rows.start.max(rows.end), len }),
        false => Ok(()),
    }
}

fn whole_rows(bytes: u64) -> Error {
    let value = i64::try_from(bytes).unwrap_or(i64::MAX);
    Error::Param { name: "bytes", value, allowed: "whole rows" }
}

/// Refuses a container of `nbytes` bytes that ends with a part of a row: what follows it would be out of step.
pub(crate) fn check_end(nbytes: u64, row: u64) -> Result<(), Error> {
    match nbytes.checked_rem(row) {
        None | Some(0) => Ok(()),
        Some(_) => Err(Error::Unsupported {
            structure: Structure::Chunk,
            what: "changing the rows of a container that ends with a part of one",
        }),
    }
}

/// How many rows of `row` bytes `data` is.
pub(crate) fn count(row: u64, data: &dyn ReadAt) -> Result<u64, Error> {
    if row == 0 {
        // A row more would leave no trace in the bytes.
        return Err(Error::Unsupported { structure: Structure::Chunk, what: "changing rows without items" });
    }
    let size = data.size()?;
    let count = size.checked_div(row).filter(|n| n.checked_mul(row) == Some(size));
    count.ok_or(whole_rows(size))
}

/// The bytes that rows of `row` bytes take.
pub(crate) fn byte_range(row: u64, rows: &Range<u64>) -> Result<Range<u64>, Error> {
    let most = u64::MAX.checked_div(row).unwrap_or(0);
    let out = Error::Capacity { what: "rows", asked: rows.end.max(rows.start), most };
    let at = |n: u64| n.checked_mul(row).ok_or(out);
    Ok(at(rows.start)?..at(rows.end)?)
}

/// Which bytes must be replaced in `old` bytes to have `rows` rows, and how many bytes are added.
#[cfg(all(feature = "std", feature = "classic"))]
pub(crate) fn growth(old: u64, row: u64, rows: u64) -> Result<(Range<u64>, u64), Error> {
    let new = byte_range(row, &(0..rows))?.end;
    Ok((new.min(old)..old, new.saturating_sub(old)))
}
