//! [`AxesReversed`]: an array read with its axes in reverse order, in bounded memory.
//!
//! ```text
//! stored   C order of the shape (c, b, a), which is Fortran order of the shape (a, b, c)
//! read     C order of the shape (a, b, c)
//!
//! for each box of the items asked for (at most 64 MiB):
//!     read its runs as they are stored                 runs that lie close together are read at once
//!     move its items, square by square
//! ```
//! Rows that are read together lie in runs of as many items. A compressed source decodes each of its chunks once
//! for every 64 MiB of rows.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, IoError, IoKind};
use crate::io::{ReadAt, filled};
use crate::limits::resize;
use crate::plain::{MOST_HELD, Plain, Uncompressed, Window, check_range};
use crate::shape::{next_box, reverse_axes, strides};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::cell::RefCell;
use core::ops::Range;

/// An array in Fortran order, read in C order; or the other way round.
pub struct AxesReversed<P> {
    source: P,
    /// As it is read.
    shape: Vec<u64>,
    strides: Vec<u64>,
    item: u64,
    /// The items of a box as they are stored; kept, so that its pages are made once.
    items: RefCell<Vec<u8>>,
    /// What was read last, for readers of a few bytes at a time.
    window: RefCell<Window>,
}

impl<P: Plain> AxesReversed<P> {
    /// Items of `item` bytes which `source` has in Fortran order of `shape`, read in C order of it.
    ///
    /// # Errors
    /// [`Error::Param`] when `source` is not as long as the shape demands.
    pub fn new(source: P, shape: &[u64], item: u32) -> Result<AxesReversed<P>, Error> {
        let bytes = shape.iter().try_fold(u64::from(item), |n, &side| n.checked_mul(side));
        if bytes != Some(source.nbytes()) {
            let value = i64::try_from(source.nbytes()).unwrap_or(i64::MAX);
            return Err(Error::Param {
                name: "bytes",
                value,
                allowed: "the number of bytes that dtype and shape need",
            });
        }
        let (shape, strides, item) = (shape.to_vec(), strides(shape), item.into());
        let window = RefCell::new(Window::new(rows_held(&strides, item)));
        Ok(AxesReversed { source, shape, strides, item, items: RefCell::default(), window })
    }
}

impl<P: Plain> Plain for AxesReversed<P> {
    fn nbytes(&self) -> u64 {
        self.source.nbytes()
    }

    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = check_range(at, out.len(), self.nbytes())?;
        if out.is_empty() {
            return Ok(());
        }
        let item = self.item.max(1);
        let (first, last) = (at.checked_div(item).unwrap_or(0), end.div_ceil(item));
        let whole = last.saturating_sub(first).saturating_mul(item);
        if whole != out.len() as u64 {
            // Parts of items: all that they are parts of is read.
            let mut wider = Vec::new();
            resize(&mut wider, whole)?;
            let start = first.saturating_mul(item);
            self.read_plain(pool, start, &mut wider)?;
            let skip = usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
            let part = wider.get(skip..).and_then(|w| w.get(..out.len())).ok_or(IoKind::UnexpectedEnd)?;
            out.copy_from_slice(part);
            return Ok(());
        }
        let most = MOST_HELD.checked_div(item).unwrap_or(1).max(1);
        let (mut now, mut rest) = (first, out);
        while now < last {
            let (ranges, n) = next_box(&self.shape, &self.strides, now, last.min(now.saturating_add(most)));
            let len = usize::try_from(n.saturating_mul(item)).unwrap_or(usize::MAX);
            let Some((part, behind)) = core::mem::take(&mut rest).split_at_mut_checked(len) else { break };
            self.read_box(pool, (&self.shape, item), &ranges, part)?;
            rest = behind;
            now = now.saturating_add(n);
        }
        Ok(())
    }

    /// As many whole rows as are held at a time.
    fn chunk_nbytes(&self) -> u64 {
        rows_held(&self.strides, self.item)
    }

    fn read_box(
        &self,
        pool: &mut Pool,
        (shape, item): (&[u64], u64),
        ranges: &[Range<u64>],
        out: &mut [u8],
    ) -> Result<(), Error> {
        if shape != self.shape || item != self.item || ranges.len() != shape.len() {
            return Err(Error::Param { name: "shape", value: 0, allowed: "that of the array" });
        }
        let stored: Vec<u64> = shape.iter().rev().copied().collect();
        let turned: Vec<Range<u64>> = ranges.iter().rev().cloned().collect();
        let sides: Vec<u64> = ranges.iter().map(|r| r.end.saturating_sub(r.start)).collect();
        let mut items = self.items.borrow_mut();
        resize(&mut items, out.len())?;
        self.source.read_box(pool, (&stored, item), &turned, &mut items)?;
        reverse_axes(&items, &sides, usize::try_from(item).map_err(|_| IoKind::OutOfMemory)?, out)
    }
}

/// Bytes of the whole rows that are held at a time.
fn rows_held(strides: &[u64], item: u64) -> u64 {
    let row = strides.first().copied().unwrap_or(1).saturating_mul(item).max(1);
    MOST_HELD.checked_div(row).unwrap_or(0).saturating_mul(row).max(row).min(MOST_HELD)
}

/// What is not compressed is read without a pool. Small reads that follow each other read a box once.
impl<R: ReadAt> ReadAt for AxesReversed<Uncompressed<R>> {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.nbytes())
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let out = filled(buf, self.nbytes(), offset);
        let n = out.len();
        let read = &mut |at, out: &mut [u8]| self.read_plain(&mut Pool::new(1), at, out);
        self.window.borrow_mut().read(self.nbytes(), offset, out, read).map(|()| n).map_err(|error| {
            match error {
                Error::Io(error) => error,
                Error::OutOfMemory => IoKind::OutOfMemory.into(),
                _ => IoKind::Other.into(),
            }
        })
    }
}
