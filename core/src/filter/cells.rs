//! The walk ndcell and ndmean share: a block of items as a grid of small cells.
//!
//! ```text
//! block 4 x 5, side 2:   0 0 1 1 2      cells in C order; the items of a cell in C order; so each
//!                        0 0 1 1 2      row of a cell is a run of bytes of the block, and a cell is
//!                        3 3 4 4 5      the list of its rows. Cells at the far border are cut short.
//!                        3 3 4 4 5
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::FilterError;

/// Most dimensions an array has.
const MAX_DIMS: usize = 8;

const SHAPE_AND_LENGTH: FilterError = FilterError("the block shape does not match the block's length");

/// One dimension: constant geometry, then the position of the walk.
#[derive(Clone, Copy, Default)]
struct Axis {
    /// Items of the block along this axis.
    shape: usize,
    /// Items of a full cell along this axis.
    side: usize,
    /// Bytes from one item to the next along this axis.
    stride: usize,
    /// First item of the present cell.
    cell: usize,
    /// Item within the cell.
    at: usize,
}

impl Axis {
    /// Items of the present cell along this axis.
    fn extent(&self) -> usize {
        self.side.min(self.shape.saturating_sub(self.cell))
    }
}

/// A position in the walk, and the geometry it walks.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    axes: [Axis; MAX_DIMS],
    done: bool,
    row_done: bool,
}

impl Walk {
    /// A walk over a block of `len` bytes, whose items are `typesize` bytes and whose cells have
    /// `side` items in each dimension (fewer where `clamp` is set and the block is smaller).
    ///
    /// # Errors
    /// 0 or more than 8 dimensions, a dimension or typesize of 0, a shape that does not give `len`,
    /// a cell larger than the block, or sides that clamping makes unequal.
    pub(super) fn new(
        typesize: u32,
        blockshape: &[u32],
        side: u8,
        clamp: bool,
        len: usize,
    ) -> Result<Walk, FilterError> {
        if blockshape.is_empty() || blockshape.len() > MAX_DIMS {
            return Err(FilterError("it needs the block shape of an array of 1 to 8 dimensions"));
        }
        // Dimensions are taken from the innermost outwards, so that strides build up.
        let mut axes = [Axis { shape: 1, side: 1, ..Axis::default() }; MAX_DIMS];
        let (mut stride, mut cell_items) = (u64::from(typesize), 1u64);
        for (axis, &shape) in axes.iter_mut().rev().zip(blockshape.iter().rev()) {
            let side = if clamp { shape.min(u32::from(side)) } else { u32::from(side) };
            cell_items = cell_items.saturating_mul(u64::from(side));
            *axis = Axis {
                shape: usize::try_from(shape).map_err(|_| SHAPE_AND_LENGTH)?,
                side: usize::try_from(side).map_err(|_| SHAPE_AND_LENGTH)?,
                stride: usize::try_from(stride).map_err(|_| SHAPE_AND_LENGTH)?,
                ..Axis::default()
            };
            stride = stride.checked_mul(u64::from(shape)).ok_or(SHAPE_AND_LENGTH)?;
        }
        // A zero among the factors makes the product 0, so it never equals a block's length.
        if len == 0 || u64::try_from(len) != Ok(stride) {
            return Err(SHAPE_AND_LENGTH);
        }
        let items = stride.checked_div(u64::from(typesize)).ok_or(SHAPE_AND_LENGTH)?;
        if cell_items == 0 || cell_items > items {
            return Err(FilterError("a cell holds more items than the block, or none"));
        }
        let mut sides = axes.iter().rev().take(blockshape.len()).map(|a| a.side);
        let first = sides.next();
        if sides.any(|s| Some(s) != first) {
            return Err(FilterError("a block narrower than the cell in some dimensions only"));
        }
        Ok(Walk { axes, done: false, row_done: false })
    }

    /// Offset and length in the block of the next row of the present cell, in bytes; `None` after
    /// its last row.
    pub(super) fn next_row(&mut self) -> Option<(usize, usize)> {
        if self.row_done || self.done {
            return None;
        }
        let mut start = 0usize;
        for axis in &self.axes {
            start = start.wrapping_add(axis.cell.wrapping_add(axis.at).wrapping_mul(axis.stride));
        }
        let len = self.axes.last().map_or(0, |a| a.extent().wrapping_mul(a.stride));
        self.row_done = true;
        for axis in self.axes.iter_mut().rev().skip(1) {
            axis.at = axis.at.wrapping_add(1);
            if axis.at < axis.extent() {
                self.row_done = false;
                break;
            }
            axis.at = 0;
        }
        Some((start, len))
    }

    /// Goes on to the next cell; `false` after the last.
    pub(super) fn next_cell(&mut self) -> bool {
        self.row_done = false;
        self.done = true;
        for axis in self.axes.iter_mut().rev() {
            axis.at = 0;
            axis.cell = axis.cell.saturating_add(axis.side);
            if axis.cell < axis.shape {
                self.done = false;
                break;
            }
            axis.cell = 0;
        }
        !self.done
    }
}
