//! An array of a Zarr store or an HDF5 file, as the commands read it.

use crate::access::Intent;
use crate::cut::Cut;
use crate::failure::{Failure, Findings, Result, failure};
use crate::limits::check_output;
use crate::readers::boxes::{self, Axis};
use crate::readers::{Items, NpyHead, Reader};
use blosc_frame::b2nd::Dims;
use blosc_frame::dtype::Dtype;
use blosc_frame::npy::NpyHeader;
use serde_json::{Value, json};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Bytes decoded at a time.
const PIECE: u64 = 64 << 20;

/// What is known about an array before any of it is decoded.
pub struct About {
    /// Items per dimension.
    pub shape: Vec<u64>,
    /// Items per dimension of a chunk; the shape where there are no chunks.
    pub chunks: Vec<u64>,
    /// Type of the items as they are read, or why they cannot be.
    pub dtype: std::result::Result<Dtype, String>,
    /// What `info` says, with `kind` first.
    pub info: Value,
}

/// An array that is read box by box.
pub trait Grid {
    /// What is known about it.
    fn about(&self) -> &About;

    /// The items from `start` on, as many per dimension as `shape` says, in C order.
    fn read(&mut self, start: &[u64], shape: &[u64]) -> std::result::Result<Vec<u8>, String>;
}

/// An array.
pub struct GridReader {
    path: PathBuf,
    grid: Box<dyn Grid>,
    max_output: u64,
}

impl GridReader {
    pub fn new(path: &Path, grid: Box<dyn Grid>, max_output: u64) -> GridReader {
        GridReader { path: path.to_path_buf(), grid, max_output }
    }

    /// This one, unless its items are to be read and cannot be.
    pub fn with(self, intent: Intent) -> Result<GridReader> {
        match self.problem().filter(|_| intent == Intent::Read) {
            Some(why) => Err(self.unable(why)),
            None => Ok(self),
        }
    }

    /// Why the items cannot be read.
    pub fn problem(&self) -> Option<&str> {
        self.grid.about().dtype.as_ref().err().map(String::as_str)
    }

    fn unable(&self, text: &str) -> Failure {
        Failure::Unable(format!("{}: {text}", self.path.display()))
    }

    fn axes(&self, cut: &Cut<'_>) -> Result<Vec<Axis>> {
        let takes = cut.takes(&self.grid.about().shape)?;
        boxes::axes(&takes).ok_or_else(|| self.unable("lists of indices are not read"))
    }
}

impl Reader for GridReader {
    fn info(&mut self) -> Result<Value> {
        Ok(self.grid.about().info.clone())
    }

    fn items(&self) -> Items {
        let about = self.grid.about();
        let dtype = about.dtype.as_ref().ok().cloned();
        let size = dtype.as_ref().map_or(0, |dtype| u64::from(dtype.itemsize()));
        Items { dtype, shape: about.shape.clone(), size }
    }

    fn read(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let axes = self.axes(cut)?;
        let item = match &self.grid.about().dtype {
            Ok(dtype) => u64::from(dtype.itemsize()),
            Err(why) => return Err(self.unable(why)),
        };
        check_output(&self.path, boxes::items(&axes).saturating_mul(item), self.max_output)?;
        let chunks = self.grid.about().chunks.clone();
        let chunk = chunks.iter().fold(item, |n, side| n.saturating_mul(*side));
        if chunk > self.max_output {
            let text = format!(
                "chunks of {chunk} bytes, above the limit of {} (--max-output BYTES)",
                self.max_output
            );
            return Err(self.unable(&text));
        }
        let (path, grid) = (&self.path, &mut self.grid);
        boxes::pieces(&axes, &chunks, item, PIECE, &mut |piece| {
            let data = guarded(|| grid.read(&piece.start, &piece.shape));
            let data = data.map_err(|text| Failure::at(path, text))?;
            let wanted = piece.shape.iter().fold(item, |n, side| n.saturating_mul(*side));
            if data.len() as u64 != wanted {
                return Err(Failure::at(
                    path,
                    format!("{} bytes of items where {wanted} are expected", data.len()),
                ));
            }
            let data = piece.select(data, usize::try_from(item).unwrap_or(usize::MAX));
            out.write_all(&data)?;
            progress(data.len() as u64);
            Ok(())
        })
    }

    fn npy_head(&mut self, cut: &Cut<'_>) -> Result<Option<NpyHead>> {
        let about = self.grid.about();
        let dtype = about.dtype.clone().map_err(|why| self.unable(&why))?;
        let sides: Vec<u64> = self.axes(cut)?.iter().map(|axis| boxes::items(&[*axis])).collect();
        let shape = Dims::new(&sides).ok_or_else(|| self.unable("has too many dimensions"))?;
        NpyHead::of(NpyHeader { dtype, fortran: false, shape }).map(Some).map_err(failure(&self.path))
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Findings> {
        let kind = self.grid.about().info["kind"].clone();
        let mut found = Findings::new(json!({"kind": kind}));
        match self.read(&Cut::ALL, &mut std::io::sink(), progress) {
            Ok(()) => {}
            Err(Failure::Data(text)) => found.damage.push(text),
            Err(Failure::Unable(text)) => found.unchecked.push(text),
            Err(failure) => return Err(failure),
        }
        Ok(found)
    }
}

/// Runs code of another crate on data that anyone may have written: a panic in it becomes an error.
///
/// # Errors
/// Errors of `work`, and that it panicked.
pub fn guarded<T>(work: impl FnOnce() -> std::result::Result<T, String>) -> std::result::Result<T, String> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(work));
    std::panic::set_hook(hook);
    done.unwrap_or_else(|_| Err("the decoder of this format stopped at bytes that it did not expect".into()))
}
