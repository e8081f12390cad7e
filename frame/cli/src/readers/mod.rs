//! What can be read: one file per kind. [`Reader`] is what all kinds but stores have in common.

pub mod array;
pub mod bcolz;
mod blaze;
mod bloscpack;
pub mod boxes;
pub mod chunk;
#[cfg_attr(not(any(feature = "zarr", feature = "hdf5")), expect(dead_code))]
pub mod engines;
pub mod frame;
pub mod rows;
pub mod rows_of_files;
pub mod store;
pub mod table;

use crate::args::Run;
use crate::failure::{Failure, Findings, Result, failure};
use blosc_core::Pool;
use blosc_frame::b2nd::{Dims, Take};
use blosc_frame::dtype::{Dtype, Repack};
use blosc_frame::npy::NpyHeader;
use blosc_frame::plain::Plain;
use serde_json::Value;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

/// Something that decodes to items.
pub trait Reader {
    /// Everything there is to say, as a JSON object; `kind` comes first.
    fn info(&mut self) -> Result<Value>;
    /// What the items are.
    fn items(&self) -> Items;
    /// Writes these rows, or all bytes there are: the last ones may be no whole row. `progress` is told how many bytes
    /// each time.
    fn read(&mut self, rows: Option<Range<u64>>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()>;
    /// Decodes everything and checks every checksum.
    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Findings>;
}

/// What a container's items are.
#[derive(Clone, Debug)]
pub struct Items {
    /// Their type, where it is known.
    pub dtype: Option<Dtype>,
    /// Items per dimension, rows first.
    pub shape: Vec<u64>,
    /// Bytes of an item.
    pub size: u64,
}

impl Items {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Bytes of a row.
    pub fn row(&self) -> u64 {
        self.shape.iter().skip(1).fold(self.size, |n, side| n.saturating_mul(*side))
    }

    /// Bytes of all.
    pub fn nbytes(&self) -> u64 {
        self.rows().saturating_mul(self.row())
    }

    /// The head of a `.npy` file of these rows.
    pub fn npy_head(&self, rows: &Range<u64>) -> Result<Option<NpyHead>> {
        let mut shape = self.shape.clone();
        if let Some(first) = shape.first_mut() {
            *first = rows.end - rows.start;
        }
        let (Some(dtype), Some(shape)) = (self.dtype.clone(), Dims::new(&shape)) else { return Ok(None) };
        Ok(Some(NpyHead::of(NpyHeader { dtype, fortran: false, shape })?))
    }
}

/// How a `.npy` file of items begins.
pub struct NpyHead {
    /// The header.
    pub bytes: Vec<u8>,
    /// How the items are packed, where no header can describe them as they are.
    pub repack: Option<Repack>,
}

impl NpyHead {
    /// The head of a file of these items.
    ///
    /// # Errors
    /// A type that no header can describe.
    pub fn of(mut header: NpyHeader) -> std::result::Result<NpyHead, blosc_frame::Error> {
        let repack = Repack::of_descr(&header.dtype)?;
        if let Some(repack) = &repack {
            header.dtype = repack.dtype().clone();
        }
        Ok(NpyHead { bytes: header.to_bytes()?, repack })
    }
}

/// What `--start`, `--stop` and `--step` select, one number per dimension; what is left out is everything.
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

    /// Of `rows` rows, which are all the dimensions there are.
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

    /// Of the rows of `items`. An item without dimensions has no rows to choose from.
    pub fn rows_of(&self, items: &Items) -> Result<Range<u64>> {
        if items.shape.is_empty() {
            self.takes(&[])?;
        }
        self.rows(items.rows())
    }

    /// Of an array of this shape.
    pub fn takes(&self, shape: &[u64]) -> Result<Vec<Take>> {
        for (name, n) in [("start", self.start.len()), ("stop", self.stop.len()), ("step", self.step.len())] {
            if n > 0 {
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

/// A pool for this run.
pub fn pool(run: &Run) -> Pool {
    Pool::new(run.threads).level(run.level())
}

/// Writes decoded bytes `range`, one chunk's worth at a time.
fn copy(
    plain: &dyn Plain,
    pool: &mut Pool,
    path: &Path,
    range: Range<u64>,
    out: &mut dyn Write,
    progress: &dyn Fn(u64),
) -> Result<()> {
    let (mut at, stop) = (range.start, range.end);
    let step = plain.chunk_nbytes().max(1);
    // Zeroed by the system when first touched: a header that lies about its chunks costs no memory.
    let mut buffer = vec![0; usize::try_from(step.min(stop.saturating_sub(at))).unwrap_or(usize::MAX)];
    while at < stop {
        // Reads end where chunks end, so that each is read once.
        let n = (step - at % step).min(stop - at);
        let data = &mut buffer[..n as usize];
        plain.read_plain(pool, at, data).map_err(failure(path))?;
        out.write_all(data)?;
        progress(n);
        at += n;
    }
    Ok(())
}
