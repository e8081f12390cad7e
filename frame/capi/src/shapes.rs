//! Numbers of items as the library has them: C has them signed.

use crate::error::*;
use blosc_frame::b2nd::{Geometry, Layout, MAX_CHUNK_BYTES, Selection};

/// Numbers of items or places, none of which may be negative.
pub fn unsigned(list: &[i64]) -> Result<Vec<u64>> {
    list.iter().map(|&n| u64::try_from(n).map_err(|_| INVALID_PARAM)).collect()
}

/// Sides of chunks or blocks, none of which may be negative.
pub fn sides(list: &[i32]) -> Result<Vec<u32>> {
    list.iter().map(|&n| u32::try_from(n).map_err(|_| INVALID_PARAM)).collect()
}

/// How far it is from each number of `low` to that of `high`.
pub fn lengths(low: &[u64], high: &[u64]) -> Result<Vec<u64>> {
    low.iter().zip(high).map(|(a, b)| b.checked_sub(*a).ok_or(INVALID_PARAM)).collect()
}

/// Items `start` to `stop` of an array of this shape.
pub fn select(shape: &[u64], start: &[u64], stop: &[u64]) -> Result<Selection> {
    let ranges: Vec<_> = start.iter().zip(stop).map(|(a, b)| *a..*b).collect();
    if ranges.iter().zip(shape).any(|(range, side)| range.start > range.end || range.end > *side) {
        return Err(INVALID_PARAM);
    }
    Ok(Selection::ranges(shape, &ranges)?)
}

/// How an array is cut. With the padding of its chunks it must have a number of items that the interface can tell.
pub fn geometry(shape: &[u64], chunks: &[u32], blocks: &[u32], typesize: u32) -> Result<Geometry> {
    let up = |n: u64, unit: u32| match unit {
        0 => 0,
        unit => u128::from(n.div_ceil(unit.into())) * u128::from(unit),
    };
    let padded = shape.iter().zip(chunks).fold(1u128, |n, (&s, &c)| n.saturating_mul(up(s, c)));
    let sides = chunks.iter().zip(blocks);
    let chunk = sides.fold(u128::from(typesize), |n, (&c, &b)| n.saturating_mul(up(c.into(), b)));
    if padded > i64::MAX as u128 {
        return Err(INVALID_PARAM);
    }
    if chunk > u128::from(MAX_CHUNK_BYTES) {
        return Err(MAX_BUFSIZE_EXCEEDED);
    }
    Geometry::new(shape, chunks, blocks, typesize).map_err(|_| INVALID_PARAM)
}

/// The layout in the content of a metalayer. C has a type for all items: where none is stored, it is that of strings.
///
/// C-Blosc2 opens an array whose chunks are too large to be decoded, and refuses to read it. Here its layout has items of
/// one byte, another size than those of its frame, for which `slices::Chunks` refuses it.
pub fn layout(content: &[u8], typesize: u32) -> Result<Layout> {
    let parse = |typesize| Layout::parse("b2nd", content, typesize);
    let stored = parse(typesize).or_else(|_| parse(1)).map_err(|_| DATA)?;
    let cut = stored.geometry();
    let of = |typesize| geometry(cut.shape(), cut.chunks(), cut.blocks(), typesize);
    let cut = of(typesize).or_else(|code| if code == MAX_BUFSIZE_EXCEEDED { of(1) } else { Err(code) })?;
    let text = match stored.dtype_text() {
        std::borrow::Cow::Owned(_) => return Err(DATA),
        std::borrow::Cow::Borrowed("") => format!("|S{typesize}"),
        std::borrow::Cow::Borrowed(text) => text.to_owned(),
    };
    Ok(Layout::described(cut, stored.dtype_format().unwrap_or(0), text.as_bytes()))
}
