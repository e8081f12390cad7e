//! Blaze directories, whole or in shards.

use super::plain::{check_output, copy, failure, json, limits};
use super::{Source, one_dimension, pool};
use crate::args::Input;
use crate::failure::{Failure, Result};
use blosc_core::Pool;
use blosc_frame::any::open_shards;
use blosc_frame::blaze::{Blaze, Column, MetaSyntax};
use blosc_frame::io::FsDir;
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Rows};
use serde_json::{Value, json};
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// A Blaze dataset.
pub struct BlazeSource {
    path: PathBuf,
    set: Blaze<FsDir>,
    column: Option<String>,
    max_output: u64,
    pool: Pool,
}

impl BlazeSource {
    /// Opens a directory, or the manifest of a sharded dataset.
    pub fn new(path: &Path, max_output: u64, input: &Input) -> Result<BlazeSource> {
        let fail = failure(path);
        let limits = limits(max_output);
        let set = if path.is_dir() {
            Blaze::open(&FsDir::open(path).map_err(|e| Failure::at(path, e))?, &limits)
        } else {
            open_shards(path, &limits, input.anywhere)
        };
        let set = set.map_err(&fail)?;
        if let Some(name) = &input.column {
            set.column(name).map_err(&fail)?;
        }
        let (column, pool) = (input.column.clone(), pool(&input.run));
        Ok(BlazeSource { path: path.to_path_buf(), set, column, max_output, pool })
    }

    /// Writes rows `start..stop`, or all of them, of the dataset or of one column.
    fn write(
        &mut self,
        rows: Option<(&[u64], &[u64])>,
        out: &mut dyn Write,
        progress: &dyn Fn(u64),
    ) -> Result<()> {
        let total = self.set.rows();
        let (start, stop) = match rows {
            Some((start, stop)) => one_dimension(start, stop, total)?,
            None => (0, total),
        };
        let column;
        let (plain, row): (&dyn Plain, u64) = match &self.column {
            Some(name) => {
                column = self.set.column(name).map_err(failure(&self.path))?;
                (column, column.nbytes().checked_div(total).unwrap_or(1))
            }
            None => (&self.set, self.set.row_nbytes()),
        };
        check_output(&self.path, (stop - start).saturating_mul(row), self.max_output)?;
        copy(plain, &mut self.pool, &self.path, (start * row, stop * row), out, progress)
    }
}

impl Source for BlazeSource {
    fn info(&mut self) -> Result<Value> {
        let storage = self.set.storage();
        let columns = self.set.columns().map(|(path, column)| {
            (path.join("."), json!({"nbytes": column.nbytes(), "nchunks": column.nchunks(), "superchunks": column.nfiles()}))
        });
        Ok(json!({
            "kind": "blaze",
            "meta": if self.set.syntax() == MetaSyntax::Yaml { "yaml" } else { "json" },
            "dtype": storage.names.dtype().map_err(failure(&self.path))?.to_string(),
            "shape": self.set.shape(),
            "nbytes": self.set.nbytes(),
            "cbytes": self.set.sizes().cbytes,
            "chunklen": storage.chunklen,
            "superchunksize": storage.superchunk,
            "rows_per_superchunk": storage.superchunk.map(|n| n.saturating_mul(storage.chunklen)),
            "codec": storage.cparams.cname,
            "level": storage.cparams.clevel,
            "shuffle": storage.cparams.shuffle,
            "dflt": json(&storage.dflt),
            "attributes": json(&self.set.attrs()),
            "columns": Value::Object(columns.collect()),
        }))
    }

    fn nbytes(&self) -> Option<u64> {
        Some(self.set.nbytes())
    }

    fn decompress(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        self.write(None, out, progress)
    }

    fn slice(&mut self, start: &[u64], stop: &[u64], out: &mut dyn Write) -> Result<()> {
        self.write(Some((start, stop)), out, &|_| {})
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        self.check(true, progress)
    }

    fn verify_stored(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        self.check(false, progress)
    }

    fn slice_superchunks(&mut self, files: RangeInclusive<u64>, out: &mut dyn Write) -> Result<()> {
        let rows = match chosen(&self.set, self.column.as_deref()) {
            Some(column) => column.rows_of_files(files.clone()),
            None => self.set.rows_of_files(files.clone()),
        };
        match (rows, chosen(&self.set, self.column.as_deref())) {
            (Ok(rows), _) => self.write(Some((&[rows.start], &[rows.end])), out, &|_| {}),
            // Which rows these are cannot be told without the files before them; what they hold can.
            (Err(Error::Missing { .. }), Some(column)) => files.into_iter().try_for_each(|k| {
                let pack = column.superchunk(k).map_err(failure(&self.path))?;
                check_output(&self.path, pack.nbytes(), self.max_output)?;
                copy(&pack, &mut self.pool, &self.path, (0, pack.nbytes()), out, &|_| {})
            }),
            (Err(error), _) => Err(failure(&self.path)(error)),
        }
    }
}

/// The column that is asked for, or the only one of a dataset without names.
fn chosen<'s>(set: &'s Blaze<FsDir>, name: Option<&str>) -> Option<&'s Column<FsDir>> {
    match name {
        Some(name) => set.column(name).ok(),
        None => set.columns().next().filter(|(path, _)| path.is_empty()).map(|(_, column)| column),
    }
}

impl BlazeSource {
    fn check(&mut self, decode: bool, progress: &dyn Fn(u64)) -> Result<Value> {
        let damaged = self.set.verify(&mut self.pool, decode).map_err(failure(&self.path))?;
        progress(self.set.nbytes());
        let place = |(name, k, error)| format!("column {name:?}, super-chunk {k}: {error}");
        let damage: Vec<String> = damaged.into_iter().map(place).collect();
        let report = json!({
            "kind": "blaze", "ok": true, "decoded": decode, "nbytes": self.set.nbytes(),
            "checksums": "one per chunk in each super-chunk",
        });
        Failure::if_damaged(&self.path, report, &damage)
    }
}
