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
use crate::cut::Cut;
use crate::failure::{Findings, Result, failure};
use blosc_core::Pool;
use blosc_frame::b2nd::Dims;
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
    /// Writes what `cut` selects, in C order; of everything all bytes there are: the last ones may be no whole row.
    /// `progress` is told how many bytes each time.
    fn read(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()>;
    /// The head of a `.npy` file of what `cut` selects; `None` where the type of the items is not known.
    fn npy_head(&mut self, cut: &Cut<'_>) -> Result<Option<NpyHead>> {
        self.items().npy_head(cut)
    }
    /// Writes all items in the order that the head of the whole says.
    fn read_npy(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        self.read(&Cut::ALL, out, progress)
    }
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

    /// The rows that `cut` selects. An item without dimensions has no rows to choose from.
    pub fn cut(&self, cut: &Cut<'_>) -> Result<Range<u64>> {
        if self.shape.is_empty() {
            cut.takes(&[])?;
        }
        cut.rows(self.rows())
    }

    /// The rows that `cut` selects; `None` for all bytes there are.
    pub fn some(&self, cut: &Cut<'_>) -> Result<Option<Range<u64>>> {
        (!cut.is_all()).then(|| self.cut(cut)).transpose()
    }

    /// The head of a `.npy` file of the rows that `cut` selects.
    pub fn npy_head(&self, cut: &Cut<'_>) -> Result<Option<NpyHead>> {
        let (rows, mut shape) = (self.cut(cut)?, self.shape.clone());
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
