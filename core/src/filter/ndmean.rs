//! NDMEAN (id 33, docs/formats/chunk.md §3.10): every item of an n-dimensional cell becomes the cell's mean.
//!
//! Lossy; the cells are gathered as NDCELL does, with a side of `min(meta, blockshape[d])`, and
//! scattered again the same way. Items are little-endian f32 or f64, summed in C order in their own
//! type. Which NaN an addition gives depends on the CPU, so it is said here: the first NaN of the cell,
//! made quiet, or FFC0… where infinities cancel (what x86 does).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::cells::Walk;
use super::ndcell::scatter;
use super::{FilterError, check_lengths};
use crate::arch::out::Out;

const STRAY: FilterError = FilterError("the block shape does not match the block's length");

/// Replaces and gathers the cells of one block of floats of `typesize` bytes.
///
/// # Errors
/// `src` and `out` differ in length; the typesize is not 4 or 8; `meta` is not 1 to 127; the block
/// shape does not give the block's length; or it is narrower than `meta` in some dimensions only.
pub fn forward(
    typesize: u32,
    blockshape: &[u32],
    meta: u8,
    src: &[u8],
    out: Out<'_>,
) -> Result<(), FilterError> {
    let walk = walk(typesize, blockshape, meta, src, &out)?;
    macro_rules! of_floats {
        ($float:ty, $quiet:expr, $cancelled:expr) => {
            means(walk, src, out, |items| {
                let (mut sum, mut count, mut nan) = (0.0, 0.0, None);
                items.for_each(|item| {
                    let value = <$float>::from_le_bytes(item);
                    (sum, count) = (sum + value, count + 1.0);
                    if sum.is_nan() && nan.is_none() {
                        nan = Some(if value.is_nan() { value.to_bits() | $quiet } else { $cancelled });
                    }
                });
                nan.unwrap_or((sum / count).to_bits()).to_le_bytes()
            })
        };
    }
    match typesize {
        4 => of_floats!(f32, 1 << 22, 0xFFC0_0000),
        8 => of_floats!(f64, 1 << 51, 0xFFF8 << 48),
        _ => Err(FilterError("ndmean works on floats: the typesize must be 4 or 8")),
    }
}

/// Scatters the cells of one block back; see [`forward`]. Any typesize will do.
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
    scatter(walk(typesize, blockshape, meta, src, &out)?, src, out)
}

fn walk(typesize: u32, blockshape: &[u32], meta: u8, src: &[u8], out: &Out<'_>) -> Result<Walk, FilterError> {
    check_lengths(src, out)?;
    if !(1..=127).contains(&meta) {
        return Err(FilterError("the cell side, meta, must be 1 to 127"));
    }
    Walk::new(typesize, blockshape, meta, true, src.len())
}

/// Writes, for each cell, its mean as often as it has items.
fn means<const T: usize>(
    mut walk: Walk,
    src: &[u8],
    mut out: Out<'_>,
    mean: impl Fn(&mut dyn Iterator<Item = [u8; T]>) -> [u8; T],
) -> Result<(), FilterError> {
    loop {
        let (mut rows, mut bytes) = (walk, 0usize);
        let items = core::iter::from_fn(|| rows.next_row()).filter_map(|(start, len)| {
            bytes = bytes.saturating_add(len);
            src.get(start..).and_then(|s| s.get(..len))
        });
        let value = mean(&mut items.flat_map(|row| row.as_chunks::<T>().0.iter().copied()));
        while bytes != 0 {
            let (mut place, rest) = out.split_at(T);
            place.copy_from(&value);
            out = rest;
            bytes = bytes.checked_sub(T).ok_or(STRAY)?;
        }
        if !walk.next_cell() {
            return Ok(());
        }
    }
}
