//! [`Selection`]: which items of an array, and where each goes in a dense C-order result.
//!
//! ```text
//! per axis: a run  first, first + step, ...   (steps may be negative)  or a list of indices
//! the selection is the product of its axes, in the order given
//! ```
//! `walk.rs` goes through the chunks and blocks that a selection touches.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Error;
use crate::shape::{Dims, Geometry};
use alloc::vec::Vec;
use core::ops::Range;

/// What is taken of one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Take {
    /// `count` items: `start`, `start + step`, … All must exist; `step` may be negative.
    Run {
        /// The first index.
        start: u64,
        /// Distance to the next, not zero.
        step: i64,
        /// How many.
        count: u64,
    },
    /// These indices, in this order, repeats allowed.
    List(Vec<u64>),
}

impl Take {
    /// `range` without gaps.
    pub fn range(range: Range<u64>) -> Take {
        Take::Run { start: range.start, step: 1, count: range.end.saturating_sub(range.start) }
    }

    /// As Python's `start:stop:step` over an axis of `len` items: negative numbers count from the end
    /// and what lies outside is cut off.
    ///
    /// # Errors
    /// `Param` for a step of zero.
    pub fn slice(len: u64, start: Option<i64>, stop: Option<i64>, step: i64) -> Result<Take, Error> {
        let n = i64::try_from(len).unwrap_or(i64::MAX);
        if step == 0 {
            return Err(Error::Param { name: "step", value: 0, allowed: "not zero" });
        }
        let (low, high) = if step > 0 { (0, n) } else { (-1, n.saturating_sub(1)) };
        let place = |x: Option<i64>, default: i64| match x {
            None => default,
            Some(x) if x < 0 => x.saturating_add(n).clamp(low, high),
            Some(x) => x.clamp(low, high),
        };
        let start = place(start, if step > 0 { low } else { high });
        let stop = place(stop, if step > 0 { high } else { low });
        let span = if step > 0 { stop.saturating_sub(start) } else { start.saturating_sub(stop) };
        let count = u64::try_from(span).unwrap_or(0).div_ceil(step.unsigned_abs().max(1));
        Ok(Take::Run { start: u64::try_from(start).unwrap_or(0), step, count })
    }

    /// Where `mask` is true.
    pub fn mask(mask: &[bool]) -> Take {
        Take::List((0u64..).zip(mask).filter(|(_, set)| **set).map(|(i, _)| i).collect())
    }
}

/// One axis, resolved: the `k`-th smallest index taken, and where it goes.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// Index `low + k * step`; goes to `k`, or to `count - 1 - k`.
    Run { low: u64, step: u64, down: bool },
    /// Sorted `(index, place)` pairs.
    List(Vec<(u64, u64)>),
}

/// A checked selection of items of an array of one shape.
#[derive(Clone, Debug)]
pub struct Selection {
    pub(super) axes: Vec<Order>,
    pub(super) counts: Dims<u64>,
    pub(super) items: u64,
}

impl Selection {
    /// Checks `takes` (one per axis) against `shape`.
    ///
    /// # Errors
    /// `Param` for a wrong number of axes or a zero step, `OutOfRange` for an index that does not exist.
    pub fn new(shape: &[u64], takes: &[Take]) -> Result<Selection, Error> {
        if takes.len() != shape.len() {
            return Err(Error::Param {
                name: "selection axes",
                value: takes.len() as i64,
                allowed: "one per dimension of the array",
            });
        }
        let mut axes = Vec::with_capacity(shape.len());
        let mut counts = Dims::empty();
        for (take, len) in takes.iter().zip(shape) {
            let (order, count) = resolve(take, *len)?;
            axes.push(order);
            let _ = counts.push(count);
        }
        let zero = counts.contains(&0);
        let items = counts.iter().try_fold(1u64, |n, c| n.checked_mul((*c).max(1)));
        let items =
            items.ok_or(Error::Capacity { what: "selected items", asked: u64::MAX, most: u64::MAX })?;
        Ok(Selection { axes, counts, items: if zero { 0 } else { items } })
    }

    /// The box of these ranges.
    ///
    /// # Errors
    /// As [`Selection::new`].
    pub fn ranges(shape: &[u64], ranges: &[Range<u64>]) -> Result<Selection, Error> {
        let takes: Vec<Take> = ranges.iter().map(|r| Take::range(r.clone())).collect();
        Selection::new(shape, &takes)
    }

    /// The box of `count` items per axis from `start` on.
    ///
    /// # Errors
    /// As [`Selection::new`].
    pub fn region(shape: &[u64], start: &[u64], count: &[u64]) -> Result<Selection, Error> {
        let run = |(start, count): (&u64, &u64)| Take::Run { start: *start, step: 1, count: *count };
        let takes: Vec<Take> = start.iter().zip(count).map(run).collect();
        Selection::new(shape, &takes)
    }

    /// Everything.
    pub fn all(shape: &[u64]) -> Selection {
        Selection {
            axes: shape.iter().map(|_| Order::Run { low: 0, step: 1, down: false }).collect(),
            counts: Dims::new(shape).unwrap_or_else(Dims::empty),
            items: shape.iter().fold(1, |n, s| n.saturating_mul(*s)),
        }
    }

    /// Shape of the result.
    pub fn shape(&self) -> &Dims<u64> {
        &self.counts
    }

    /// Number of items of the result.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Whether the selection takes all items of the box from `start` on, `count` per axis.
    pub(super) fn covers(&self, start: &[u64], count: &[u64]) -> bool {
        let mut axes = self.axes.iter().zip(self.counts.iter()).zip(start.iter().zip(count));
        axes.all(|((order, taken), (start, count))| match order {
            Order::Run { low, step: 1, .. } => {
                low <= start && low.saturating_add(*taken) >= start.saturating_add(*count)
            }
            _ => *count == 0,
        })
    }

    /// About how many blocks hold selected items.
    pub(super) fn nblocks(&self, geometry: &Geometry) -> u64 {
        let axes = self.axes.iter().zip(self.counts.iter()).zip(geometry.blocks().iter());
        axes.fold(1, |n, ((order, count), side)| {
            let span = match order {
                Order::Run { step, .. } => step.saturating_mul(count.saturating_sub(1)),
                Order::List(sorted) => match (sorted.first(), sorted.last()) {
                    (Some(first), Some(last)) => last.0.saturating_sub(first.0),
                    _ => 0,
                },
            };
            let blocks = span.checked_div((*side).into()).unwrap_or(0).saturating_add(1);
            n.saturating_mul(blocks.min(*count))
        })
    }

    /// These items in at most about `most` parts that have no chunk in common and whose results follow
    /// each other. None if that is not possible.
    #[cfg(feature = "std")]
    pub(super) fn cut(&self, geometry: &Geometry, most: u64) -> Vec<Selection> {
        let mut parts = Vec::new();
        let axis = self.counts.iter().position(|n| *n > 1).filter(|_| self.items > 0).unwrap_or(usize::MAX);
        let Some(Order::Run { low, step, down: false }) = self.axes.get(axis) else { return parts };
        let (c, count) = (u64::from(geometry.chunks().at(axis)).max(1), self.counts.at(axis));
        let span = step.saturating_mul(count);
        // Whole chunks along the axis.
        let side = c.saturating_mul(span.div_ceil(c).div_ceil(most.max(1)).max(1));
        let mut k = 0u64;
        while k < count {
            let index = low.saturating_add(step.saturating_mul(k));
            let end = (index.checked_div(c).unwrap_or(0).saturating_mul(c)).saturating_add(side);
            let next = ordinal(*low, *step, end).clamp(k.saturating_add(1), count);
            let mut part = self.clone();
            let len = next.saturating_sub(k);
            if let (Some(order), Some(n)) = (part.axes.get_mut(axis), part.counts.get_mut(axis)) {
                *order = Order::Run { low: index, step: *step, down: false };
                *n = len;
            }
            part.items = self.items.checked_div(count).unwrap_or(0).saturating_mul(len);
            parts.push(part);
            k = next;
        }
        parts
    }
}

fn resolve(take: &Take, len: u64) -> Result<(Order, u64), Error> {
    let outside = |index: u64| Error::OutOfRange { what: "index", index, len };
    match take {
        Take::Run { step: 0, .. } => Err(Error::Param { name: "step", value: 0, allowed: "not zero" }),
        Take::Run { start, step, count } => {
            let Some(last) = count.checked_sub(1) else {
                return Ok((Order::Run { low: 0, step: 1, down: false }, 0));
            };
            let stride = step.unsigned_abs();
            let span = stride.checked_mul(last).ok_or(outside(u64::MAX))?;
            let (low, high) = if *step > 0 {
                (*start, start.checked_add(span).ok_or(outside(u64::MAX))?)
            } else {
                (start.checked_sub(span).ok_or(outside(u64::MAX))?, *start)
            };
            if high >= len {
                return Err(outside(high));
            }
            Ok((Order::Run { low, step: stride, down: *step < 0 && last > 0 }, *count))
        }
        Take::List(list) => {
            let mut sorted: Vec<(u64, u64)> = list.iter().copied().zip(0u64..).collect();
            sorted.sort_unstable();
            match sorted.last() {
                Some((index, _)) if *index >= len => Err(outside(*index)),
                _ => Ok((Order::List(sorted), list.len() as u64)),
            }
        }
    }
}

/// The smallest `k` with `low + k * step >= bound`.
pub(super) fn ordinal(low: u64, step: u64, bound: u64) -> u64 {
    bound.saturating_sub(low).div_ceil(step.max(1))
}
