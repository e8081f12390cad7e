//! [`Walk`]: the chunks that a selection touches, their blocks, and the items to copy of each block.
//!
//! ```text
//! for each chunk touched                              walk()
//!   for each block of it touched                      Touched::blocks()
//!     copy the items: strided on both sides           Block::copies()
//! ```
//! An axis is cut into pieces: equally spaced items that lie in one block and go to equally spaced
//! places. Pieces are made chunk by chunk, so the memory needed does not grow with the selection.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::select::{Order, Selection, ordinal};
use super::strided::{Axis as Stride, Strides};
use crate::error::Error;
use crate::shape::{Dims, Geometry};
use alloc::vec::Vec;
use blosc_core::Special;
use core::ops::Range;

/// Equally spaced items of an axis that lie in one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    block: u32,
    /// First item in the block, and the distance to the next.
    at: u32,
    step: u32,
    len: u32,
    /// Where the first goes, and whether the next goes below it.
    place: u64,
    down: bool,
}

impl Selection {
    /// The chunks touched, in ascending order.
    pub(super) fn walk<'a>(&'a self, geometry: &'a Geometry) -> Walk<'a> {
        let mut walk = Walk { selection: self, geometry, axes: Vec::new(), started: false };
        if self.items > 0 {
            walk.axes = (0..self.axes.len()).map(|_| AxisState::default()).collect();
        } else {
            walk.started = true;
        }
        walk
    }
}

/// Progress along one axis: the chunk it is in, and the pieces taken of that chunk.
#[derive(Clone, Debug, Default)]
struct AxisState {
    chunk: u64,
    /// The `k` of the first item in the chunk after this one.
    next: u64,
    pieces: Vec<Piece>,
    /// Pieces of the same block, in order of blocks.
    groups: Vec<Range<usize>>,
}

impl AxisState {
    /// Takes the chunk that the `k`-th smallest index lies in.
    fn enter(&mut self, order: &Order, count: u64, k: u64, c: u64, b: u64) {
        self.pieces.clear();
        let index = match order {
            Order::Run { low, step, .. } => low.saturating_add(step.saturating_mul(k)),
            Order::List(sorted) => usize::try_from(k).ok().and_then(|k| sorted.get(k)).map_or(0, |p| p.0),
        };
        self.chunk = index.checked_div(c).unwrap_or(0);
        let start = self.chunk.saturating_mul(c);
        match order {
            Order::Run { low, step, down } => {
                let end = start.saturating_add(c);
                self.next = ordinal(*low, *step, end).min(count);
                let mut k = k;
                while k < self.next {
                    let r = low.saturating_add(step.saturating_mul(k)).saturating_sub(start);
                    let block = r.checked_div(b).unwrap_or(0);
                    let begin = block.saturating_mul(b);
                    let block_end = start.saturating_add(begin).saturating_add(b);
                    let next = ordinal(*low, *step, block_end).min(self.next);
                    self.pieces.push(Piece {
                        block: block as u32,
                        at: r.saturating_sub(begin) as u32,
                        // A step beyond the block belongs to a piece of one item.
                        step: u32::try_from(*step).unwrap_or(u32::MAX),
                        len: next.saturating_sub(k) as u32,
                        place: if *down { count.saturating_sub(k).saturating_sub(1) } else { k },
                        down: *down,
                    });
                    k = next.max(k.saturating_add(1));
                }
            }
            Order::List(sorted) => {
                let from = usize::try_from(k).unwrap_or(usize::MAX);
                let rest = sorted.get(from..).unwrap_or(&[]);
                let end = start.saturating_add(c);
                let n = rest.partition_point(|(index, _)| *index < end);
                self.next = k.saturating_add(n as u64);
                for (index, place) in rest.iter().take(n) {
                    let r = index.saturating_sub(start);
                    let block = r.checked_div(b).unwrap_or(0);
                    let at = r.saturating_sub(block.saturating_mul(b));
                    self.push_single(block as u32, at as u32, *place);
                }
            }
        }
        self.group();
    }

    /// Adds one item, to the last piece if it follows on there.
    fn push_single(&mut self, block: u32, at: u32, place: u64) {
        if let Some(last) = self.pieces.last_mut() {
            let follows = last.block == block
                && last.at.checked_add(last.len) == Some(at)
                && last.place.checked_add(last.len.into()) == Some(place);
            if follows {
                last.len = last.len.saturating_add(1);
                return;
            }
        }
        self.pieces.push(Piece { block, at, step: 1, len: 1, place, down: false });
    }

    fn group(&mut self) {
        self.groups.clear();
        let mut from = 0usize;
        for same in self.pieces.chunk_by(|a, b| a.block == b.block) {
            let to = from.saturating_add(same.len());
            self.groups.push(from..to);
            from = to;
        }
    }

    /// Whether the axis has moved away from the chunk of its smallest index.
    fn left_first(&self, order: &Order, c: u32) -> bool {
        let first = match order {
            Order::Run { low, .. } => *low,
            Order::List(sorted) => sorted.first().map_or(0, |p| p.0),
        };
        first.checked_div(c.into()).unwrap_or(0) != self.chunk
    }
}

/// Goes from chunk to chunk.
pub(super) struct Walk<'a> {
    selection: &'a Selection,
    geometry: &'a Geometry,
    axes: Vec<AxisState>,
    started: bool,
}

impl Walk<'_> {
    /// The next chunk touched, or `None` after the last.
    pub(super) fn next(&mut self) -> Option<Touched<'_>> {
        let ndim = self.axes.len();
        if !self.started {
            self.started = true;
            for axis in 0..ndim {
                self.enter(axis, 0);
            }
            return (self.selection.items > 0).then(|| self.touched());
        }
        // The last axis moves first.
        for axis in (0..ndim).rev() {
            let next = self.axes.get(axis)?.next;
            if next < self.selection.counts.at(axis) {
                self.enter(axis, next);
                return Some(self.touched());
            }
            self.enter(axis, 0);
        }
        None
    }

    fn enter(&mut self, axis: usize, k: u64) {
        let (c, b) = (self.geometry.chunks().at(axis), self.geometry.blocks().at(axis));
        let count = self.selection.counts.at(axis);
        if let (Some(state), Some(order)) = (self.axes.get_mut(axis), self.selection.axes.get(axis)) {
            // An axis that lies in one chunk need not be cut again and again.
            if k != 0 || state.pieces.is_empty() || state.left_first(order, c) {
                state.enter(order, count, k, c.into(), b.into());
            }
        }
    }

    fn touched(&self) -> Touched<'_> {
        let grid = self.geometry.grid().iter();
        let chunk = self
            .axes
            .iter()
            .zip(grid)
            .fold(0u64, |n, (axis, side)| n.saturating_mul(*side).saturating_add(axis.chunk));
        Touched { chunk, axes: &self.axes, counts: &self.selection.counts, geometry: self.geometry }
    }
}

/// A chunk that holds selected items.
pub(super) struct Touched<'a> {
    /// Its number.
    pub(super) chunk: u64,
    axes: &'a [AxisState],
    counts: &'a Dims<u64>,
    geometry: &'a Geometry,
}

impl<'a> Touched<'a> {
    /// How many of its blocks hold selected items.
    pub(super) fn nblocks(&self) -> u64 {
        self.axes.iter().fold(1, |n, axis| n.saturating_mul(axis.groups.len() as u64))
    }

    /// The `n`-th touched block, in ascending order.
    pub(super) fn block(&self, n: u64) -> Option<Block<'a>> {
        let mut rest = n;
        let mut groups = Dims::repeat(0usize, self.axes.len());
        for (slot, axis) in groups.iter_mut().zip(self.axes).rev() {
            let side = axis.groups.len().max(1) as u64;
            *slot = usize::try_from(rest.checked_rem(side)?).ok()?;
            rest = rest.checked_div(side)?;
        }
        if rest > 0 {
            return None;
        }
        let mut block = Block { block: 0, pieces: Vec::with_capacity(self.axes.len()) };
        for (axis, (state, group)) in self.axes.iter().zip(groups.iter()).enumerate() {
            let pieces = state.pieces.get(state.groups.get(*group)?.clone())?;
            let side = self.geometry.block_grid().at(axis);
            block.block = block.block.checked_mul(side)?.checked_add(pieces.first()?.block)?;
            block.pieces.push(pieces);
        }
        Some(block)
    }

    /// All touched blocks.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'a>> + '_ {
        (0..self.nblocks()).filter_map(|n| self.block(n))
    }

    /// Shape of the whole result.
    pub(super) fn counts(&self) -> &Dims<u64> {
        self.counts
    }
}

/// How far the last item of a piece lies behind its first.
fn reach(piece: &Piece) -> u64 {
    u64::from(piece.len).saturating_sub(1).saturating_mul(piece.step.into())
}

/// A block that holds selected items, and which.
pub(super) struct Block<'a> {
    /// Its number in the chunk.
    pub(super) block: u32,
    pieces: Vec<&'a [Piece]>,
}

impl Block<'_> {
    /// Calls `f` with the strides of each group of items: first side the block, second side a dense
    /// result of shape `counts`. Both in items of `typesize` bytes.
    pub(super) fn copies(&self, geometry: &Geometry, counts: &Dims<u64>, mut f: impl FnMut(&Strides)) {
        let mut which = Dims::repeat(0usize, self.pieces.len());
        loop {
            if let Some(strides) = self.strides(geometry, counts, &which) {
                f(&strides);
            }
            // Next combination of pieces, the last axis first.
            let mut moved = false;
            for (slot, pieces) in which.iter_mut().zip(&self.pieces).rev() {
                *slot = slot.saturating_add(1);
                if *slot < pieces.len() {
                    moved = true;
                    break;
                }
                *slot = 0;
            }
            if !moved {
                return;
            }
        }
    }

    /// Puts the value that a special chunk repeats where its items go in `out`, a dense result of shape `counts`.
    pub(super) fn fill(
        &self,
        geometry: &Geometry,
        counts: &Dims<u64>,
        value: Special,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let mut result = Ok(());
        self.copies(geometry, counts, |s| result = result.and_then(|()| s.fill(value, out)));
        result
    }

    /// The bytes of the result between the first and the last item taken.
    #[cfg(feature = "std")]
    pub(super) fn extent(&self, geometry: &Geometry, counts: &Dims<u64>) -> Range<usize> {
        let t = u64::from(geometry.typesize());
        let (mut low, mut high, mut stride) = (0u64, 0u64, t);
        for (pieces, count) in self.pieces.iter().zip(counts.iter()).rev() {
            let ends = |p: &Piece| {
                let reach = u64::from(p.len).saturating_sub(1);
                if p.down {
                    (p.place.saturating_sub(reach), p.place)
                } else {
                    (p.place, p.place.saturating_add(reach))
                }
            };
            let first = pieces.iter().map(|p| ends(p).0).min().unwrap_or(0);
            let last = pieces.iter().map(|p| ends(p).1).max().unwrap_or(0);
            low = low.saturating_add(first.saturating_mul(stride));
            high = high.saturating_add(last.saturating_mul(stride));
            stride = stride.saturating_mul(*count);
        }
        let place = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        place(low)..place(high.saturating_add(t))
    }

    /// The bytes of the block between the first and the last item taken.
    pub(super) fn span(&self, geometry: &Geometry) -> Range<usize> {
        let t = u64::from(geometry.typesize());
        let (mut low, mut high, mut stride) = (0u64, 0u64, t);
        for (pieces, side) in self.pieces.iter().zip(geometry.blocks().iter()).rev() {
            let last = |p: &Piece| u64::from(p.at).saturating_add(reach(p));
            let first = pieces.iter().map(|p| p.at).min().unwrap_or(0);
            low = low.saturating_add(stride.saturating_mul(first.into()));
            high = high.saturating_add(stride.saturating_mul(pieces.iter().map(last).max().unwrap_or(0)));
            stride = stride.saturating_mul((*side).into());
        }
        let place = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        place(low)..place(high.saturating_add(t))
    }

    /// Which bytes of the block go to which of the result, if it is one stretch on both sides.
    pub(super) fn dense(
        &self,
        geometry: &Geometry,
        counts: &Dims<u64>,
    ) -> Option<(Range<usize>, Range<usize>)> {
        if self.pieces.iter().any(|pieces| pieces.len() != 1) {
            return None;
        }
        self.strides(geometry, counts, &Dims::repeat(0, self.pieces.len()))?.dense()
    }

    fn strides(&self, geometry: &Geometry, counts: &Dims<u64>, which: &Dims<usize>) -> Option<Strides> {
        let t = i64::from(geometry.typesize());
        let mut strides = Strides::new(geometry.typesize());
        let (mut in_block, mut in_result) = (t, t);
        for (axis, (pieces, n)) in self.pieces.iter().zip(which.iter()).enumerate().rev() {
            let p = pieces.get(*n)?;
            let place = i64::try_from(p.place).ok()?.checked_mul(in_result)?;
            strides.push(Stride {
                len: p.len.into(),
                first: in_block.checked_mul(p.step.into()).filter(|_| p.len > 1).unwrap_or(0),
                second: if p.down { in_result.checked_neg()? } else { in_result },
            });
            strides.shift(in_block.checked_mul(p.at.into())?, place);
            in_block = in_block.checked_mul(geometry.blocks().at(axis).into())?;
            in_result = in_result.checked_mul(i64::try_from(counts.at(axis)).ok()?)?;
        }
        Some(strides)
    }
}

/// Where in a C-order array of `shape` the chunk lies, if it lies there as it is stored.
pub(super) fn contiguous(
    touched: &Touched<'_>,
    geometry: &Geometry,
    shape: &Dims<u64>,
) -> Option<Range<usize>> {
    if touched.nblocks() != u64::from(geometry.nblocks()) {
        return None;
    }
    let mut whole: Option<Range<usize>> = None;
    for block in touched.blocks() {
        let (from, range) = block.dense(geometry, shape)?;
        if from != (0..geometry.block_bytes() as usize) {
            return None;
        }
        whole = match whole {
            None => Some(range),
            Some(before) if before.end == range.start => Some(before.start..range.end),
            Some(_) => return None,
        };
    }
    whole
}

/// Copies the touched items from `data`, a C-order array of `shape`, into their blocks.
pub(super) fn scatter(
    touched: &Touched<'_>,
    geometry: &Geometry,
    shape: &Dims<u64>,
    data: &[u8],
    chunk: &mut [u8],
) {
    let size = geometry.block_bytes() as usize;
    for block in touched.blocks() {
        let start = (block.block as usize).saturating_mul(size);
        let to = chunk.get_mut(start..start.saturating_add(size)).unwrap_or(&mut []);
        block.copies(geometry, shape, |s| s.scatter(to, data));
    }
}

/// Copies the touched items of a decoded chunk to a C-order array of `shape`.
pub(super) fn gather(
    touched: &Touched<'_>,
    geometry: &Geometry,
    shape: &Dims<u64>,
    chunk: &[u8],
    out: &mut [u8],
) {
    let size = geometry.block_bytes() as usize;
    for block in touched.blocks() {
        let start = (block.block as usize).saturating_mul(size);
        let from = chunk.get(start..start.saturating_add(size)).unwrap_or(&[]);
        block.copies(geometry, shape, |s| s.gather(from, out, 0));
    }
}
