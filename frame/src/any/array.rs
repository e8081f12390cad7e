//! Arrays as rows: a row is all items with one first index.
//!
//! Any run of items in C order is read as a few boxes, so that no more than what is asked for is in memory
//! however long a row is:
//! ```text
//! at the run's start, the outermost axis whose whole sub-arrays still fit   →   box   →   and on
//! ```

use crate::b2nd::NdArray;
use crate::error::{Error, IoKind};
use crate::io::ReadAt;
use crate::plain::{Plain, Uncompressed, check_range};
use crate::rows::{Rows, byte_range, count};
use crate::shape::{next_box, strides};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

/// Most bytes that are moved at a time.
const STEP: u64 = 64 << 20;

/// An array in C order. Each change is one commit, and so atomic. One that fails leaves what was committed.
pub(super) struct ArrayRows {
    array: NdArray<'static>,
}

impl ArrayRows {
    pub fn new(array: NdArray<'static>) -> ArrayRows {
        ArrayRows { array }
    }

    /// Forgets the parts of a change that failed.
    fn forget_failed(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        if result.is_err() && self.array.frame().is_dirty() {
            self.array.discard()?;
        }
        result
    }
}

impl Plain for ArrayRows {
    fn nbytes(&self) -> u64 {
        self.array.geometry().nbytes()
    }

    fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = check_range(at, out.len(), self.nbytes())?;
        let array = &self.array;
        let item = u64::from(array.geometry().typesize()).max(1);
        if out.is_empty() {
            return Ok(());
        }
        let (first, last) = (at.checked_div(item).unwrap_or(0), end.div_ceil(item));
        let skip = usize::try_from(at.saturating_sub(first.saturating_mul(item))).unwrap_or(0);
        let whole = last.saturating_sub(first).saturating_mul(item);
        let mut wider = Vec::new();
        let items = if whole == out.len() as u64 {
            &mut *out
        } else {
            wider.resize(usize::try_from(whole).map_err(|_| IoKind::OutOfMemory)?, 0);
            &mut wider
        };
        let shape = array.shape().to_vec();
        let strides = strides(&shape);
        let (mut now, mut rest) = (first, items);
        while now < last {
            let (ranges, n) = next_box(&shape, &strides, now, last);
            let len = usize::try_from(n.saturating_mul(item)).unwrap_or(usize::MAX);
            let Some((part, behind)) = core::mem::take(&mut rest).split_at_mut_checked(len) else { break };
            array.get_slice(&ranges, part)?;
            rest = behind;
            now = now.saturating_add(n);
        }
        if !wider.is_empty() {
            let part = wider.get(skip..).and_then(|w| w.get(..out.len())).ok_or(IoKind::UnexpectedEnd)?;
            out.copy_from_slice(part);
        }
        Ok(())
    }

    fn read_box(
        &self,
        _: &mut Pool,
        _: (&[u64], u64),
        ranges: &[Range<u64>],
        out: &mut [u8],
    ) -> Result<(), Error> {
        self.array.get_slice(ranges, out)
    }

    /// Whole rows of chunks along the outermost axis where those are not too much.
    fn chunk_nbytes(&self) -> u64 {
        let array = &self.array;
        let item = u64::from(array.geometry().typesize()).max(1);
        let sides = array.geometry().chunks().iter().zip(strides(array.shape()));
        let bytes = sides.map(|(&side, stride)| stride.saturating_mul(side.into()).saturating_mul(item));
        bytes.into_iter().find(|&n| (1..=STEP).contains(&n)).unwrap_or(item)
    }
}

impl Rows for ArrayRows {
    fn row_nbytes(&self) -> u64 {
        let array = &self.array;
        let item = u64::from(array.geometry().typesize());
        array.shape().iter().skip(1).fold(item, |n, &side| n.saturating_mul(side)).max(1)
    }

    fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        let result = self.replace(pool, rows, data);
        self.forget_failed(result)
    }

    fn resize(&mut self, _: &mut Pool, rows: u64) -> Result<(), Error> {
        let array = &mut self.array;
        let mut shape = array.shape().to_vec();
        if let Some(first) = shape.first_mut() {
            *first = rows;
        }
        let result = array.resize(&shape).and_then(|()| array.commit());
        self.forget_failed(result)
    }
}

impl ArrayRows {
    fn replace(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        let row = self.row_nbytes();
        let (have, asked) = (self.rows(), byte_range(row, &rows)?);
        if asked.start > asked.end || rows.end > have {
            return Err(Error::OutOfRange { what: "row", index: rows.end.max(rows.start), len: have });
        }
        let (gone, new) = (rows.end.saturating_sub(rows.start), count(row, data)?);
        let source = Uncompressed::new(data, 0, new.saturating_mul(row));
        let array = &mut self.array;
        if new == gone {
            let mut ranges: Vec<_> = array.shape().iter().map(|&side| 0..side).collect();
            if let Some(first) = ranges.first_mut() {
                *first = rows;
            }
            array.set_from(pool, &ranges, &source)?;
        } else {
            if gone > 0 {
                array.delete(0, rows.clone())?;
            }
            array.insert_from(pool, 0, rows.start, &source)?;
        }
        array.commit()
    }
}
