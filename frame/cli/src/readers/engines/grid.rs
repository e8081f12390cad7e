//! An array of a Zarr store or an HDF5 file, as the commands read it.

use super::boxes::{self, Axis};
use super::{Grid, guarded};
use crate::failure::{Failure, Findings, Result, failure};
use crate::limits::check_output;
use crate::open::Intent;
use crate::readers::{Cut, Items, NpyHead, Reader};
use blosc_frame::b2nd::Dims;
use blosc_frame::npy::NpyHeader;
use serde_json::{Value, json};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes decoded at a time.
const PIECE: u64 = 64 << 20;

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

    /// Writes what `cut` selects, in C order.
    pub fn slice(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
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

    /// The head of a `.npy` file of what `cut` selects.
    pub fn npy_head(&self, cut: &Cut<'_>) -> Result<NpyHead> {
        let about = self.grid.about();
        let dtype = about.dtype.clone().map_err(|why| self.unable(&why))?;
        let sides: Vec<u64> = self.axes(cut)?.iter().map(|axis| boxes::items(&[*axis])).collect();
        let shape = Dims::new(&sides).ok_or_else(|| self.unable("has too many dimensions"))?;
        NpyHead::of(NpyHeader { dtype, fortran: false, shape }).map_err(failure(&self.path))
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

    fn read(&mut self, rows: Option<Range<u64>>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let Some(rows) = rows else { return self.slice(&Cut::ALL, out, progress) };
        let bound = |n: &u64| i64::try_from(*n).unwrap_or(i64::MAX);
        let mut stop: Vec<i64> = self.grid.about().shape.iter().map(bound).collect();
        let mut start = vec![0; stop.len()];
        if let (Some(first), Some(last)) = (start.first_mut(), stop.first_mut()) {
            (*first, *last) = (bound(&rows.start), bound(&rows.end));
        }
        self.slice(&Cut { start: &start, stop: &stop, step: &[] }, out, progress)
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Findings> {
        let kind = self.grid.about().info["kind"].clone();
        let mut found = Findings::new(json!({"kind": kind}));
        match self.slice(&Cut::ALL, &mut std::io::sink(), progress) {
            Ok(()) => {}
            Err(Failure::Data(text)) => found.damage.push(text),
            Err(Failure::Unable(text)) => found.unchecked.push(text),
            Err(failure) => return Err(failure),
        }
        Ok(found)
    }
}
