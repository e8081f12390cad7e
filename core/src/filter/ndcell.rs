//! NDCELL (id 32, docs/formats/chunk.md §3.9): the items of an n-dimensional block cell by cell.
//!
//! ```text
//! side = meta >= 1      typesize * product(blockshape) = len      side^ndim <= product(blockshape)
//! block 2 x 4, side 2:  a b c d      forward: a b e f c d g h      (a cell is a small cube; cells and
//!                       e f g h                                     their items go in C order)
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::cells::Walk;
use super::{FilterError, check_lengths};
use crate::arch::out::Out;

const STRAY: FilterError = FilterError("the block shape does not match the block's length");

/// Gathers the cells of one block, whose items are `typesize` bytes (that of the super-chunk).
///
/// # Errors
/// `src` and `out` differ in length, or `typesize`, `blockshape`, `meta` and the length do not agree
/// as above.
pub fn forward(
    typesize: u32,
    blockshape: &[u32],
    meta: u8,
    src: &[u8],
    mut out: Out<'_>,
) -> Result<(), FilterError> {
    check_lengths(src, &out)?;
    let mut walk = Walk::new(typesize, blockshape, meta, false, src.len())?;
    loop {
        while let Some((start, len)) = walk.next_row() {
            let row = src.get(start..).and_then(|s| s.get(..len)).ok_or(STRAY)?;
            let (mut place, rest) = out.split_at(len);
            place.copy_from(row);
            out = rest;
        }
        if !walk.next_cell() {
            return Ok(());
        }
    }
}

/// Scatters the cells of one block back; see [`forward`].
///
/// # Errors
/// As [`forward`].
pub fn backward(
    typesize: u32,
    blockshape: &[u32],
    meta: u8,
    src: &[u8],
    out: Out<'_>,
) -> Result<(), FilterError> {
    check_lengths(src, &out)?;
    scatter(Walk::new(typesize, blockshape, meta, false, src.len())?, src, out)
}

/// Puts the rows of `src`, in the order of `walk`, in their places.
pub(super) fn scatter(mut walk: Walk, mut src: &[u8], mut out: Out<'_>) -> Result<(), FilterError> {
    loop {
        while let Some((start, len)) = walk.next_row() {
            let (row, rest) = src.split_at_checked(len).ok_or(STRAY)?;
            out.get(start, len).ok_or(STRAY)?.copy_from(row);
            src = rest;
        }
        if !walk.next_cell() {
            return Ok(());
        }
    }
}
