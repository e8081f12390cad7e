//! [`Cut`]: which items of an array, or which rows, the command line asks for.

use crate::failure::{Failure, Result};
use blosc_frame::b2nd::Take;
use std::ops::Range;

/// What `--start`, `--stop` and `--step` select, a number for each dimension; what is left out is everything.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    pub start: &'a [i64],
    pub stop: &'a [i64],
    pub step: &'a [i64],
}

impl Cut<'_> {
    /// Everything.
    pub const ALL: Cut<'static> = Cut { start: &[], stop: &[], step: &[] };

    /// Whether nothing is left out.
    pub fn is_all(&self) -> bool {
        self.start.is_empty() && self.stop.is_empty() && self.step.is_empty()
    }

    /// The selected rows of `rows`, where there is no other dimension.
    pub fn rows(&self, rows: u64) -> Result<Range<u64>> {
        if !self.step.is_empty() {
            return Err(Failure::Usage("--step: only arrays are sliced with steps".into()));
        }
        for (name, given) in [("start", self.start), ("stop", self.stop)] {
            if given.len() > 1 {
                return Err(Failure::Usage(format!(
                    "--{name} takes one number here, that of a row, or one for each dimension of an array"
                )));
            }
        }
        let (start, stop) = (from_end("start", self.start, &[rows])?, from_end("stop", self.stop, &[rows])?);
        let (start, stop) = (start.first().copied().unwrap_or(0), stop.first().copied().unwrap_or(rows));
        if start > stop || stop > rows {
            return Err(Failure::Usage(format!("items {start}..{stop} asked for, but there are {rows}")));
        }
        Ok(start..stop)
    }

    /// What is taken along each axis of an array of this shape. Axes after the last one that is named are taken whole.
    pub fn takes(&self, shape: &[u64]) -> Result<Vec<Take>> {
        for (name, n) in [("start", self.start.len()), ("stop", self.stop.len()), ("step", self.step.len())] {
            if n > shape.len() {
                one_per_dimension(name, n, shape)?;
            }
        }
        let (start, stop) = (from_end("start", self.start, shape)?, from_end("stop", self.stop, shape)?);
        let mut takes = Vec::new();
        for (axis, len) in shape.iter().enumerate() {
            let step = self.step.get(axis).copied().unwrap_or(1);
            let (from, to) = (start.get(axis).copied().unwrap_or(0), stop.get(axis).copied().unwrap_or(*len));
            if step < 0 && from > to {
                let how = "a negative --step takes the items from --start up to --stop backwards";
                return Err(Failure::Usage(format!(
                    "--start {from} --stop {to} in dimension {axis}: {how}, so give the smaller number as --start"
                )));
            }
            if from > to || to > *len {
                let text = format!("{from}..{to} asked for in dimension {axis}, which has {len} items");
                return Err(Failure::Usage(text));
            }
            if step == 0 {
                return Err(Failure::Usage(format!(
                    "--step 0 in dimension {axis}: a step must lead somewhere"
                )));
            }
            // Backwards, the same items from the last on.
            let count = (to - from).div_ceil(step.unsigned_abs());
            let first = if step < 0 { to.saturating_sub(1).max(from) } else { from };
            takes.push(Take::Run { start: first, step, count });
        }
        Ok(takes)
    }
}

/// Refuses lists that are not as long as the array's shape.
pub fn one_per_dimension(name: &str, n: usize, shape: &[u64]) -> Result<()> {
    if n == shape.len() {
        return Ok(());
    }
    let many = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let (given, ndim) = (many(n, "number"), many(shape.len(), "dimension"));
    Err(Failure::Usage(format!("--{name} has {given}, but the array has {ndim}")))
}

/// Numbers of which negative ones count from the end of their dimension.
fn from_end(name: &str, given: &[i64], shape: &[u64]) -> Result<Vec<u64>> {
    let place = |(axis, (n, len)): (usize, (&i64, &u64))| {
        u64::try_from(*n).ok().or(len.checked_sub(n.unsigned_abs())).ok_or_else(|| {
            let text = format!("--{name} {n} lies before the first of the {len} items of dimension {axis}");
            Failure::Usage(text)
        })
    };
    given.iter().zip(shape).enumerate().map(place).collect()
}

/// Refuses a range that ends before it starts.
pub fn forward(start: u64, stop: u64) -> Result<()> {
    match start > stop {
        true => Err(Failure::Usage(format!("--start {start} lies behind --stop {stop}"))),
        false => Ok(()),
    }
}
