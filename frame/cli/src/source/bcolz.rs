//! bcolz directories: a column, or a table as packed rows.

use super::plain::{check_output, copy, failure, json, limits};
use super::{Source, one_dimension, pool};
use crate::args::Input;
use crate::failure::{Failure, Result};
use blosc_core::Pool;
use blosc_frame::Rows;
use blosc_frame::bcolz::{CArray, CTable, numpy_name};
use blosc_frame::io::FsDir;
use blosc_frame::plain::Plain;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

enum Container {
    Column(CArray<FsDir>),
    Table(CTable<FsDir>, Option<String>),
}

/// A bcolz root directory.
pub struct BcolzSource {
    path: PathBuf,
    container: Container,
    max_output: u64,
    pool: Pool,
}

impl BcolzSource {
    /// Opens the directory `path`.
    pub fn new(path: &Path, max_output: u64, input: &Input) -> Result<BcolzSource> {
        let fail = failure(path);
        let root = FsDir::open(path).map_err(|e| Failure::at(path, e))?;
        let limits = limits(max_output);
        let container = if path.join("__rootdirs__").exists() {
            let table = CTable::open(root, &limits).map_err(&fail)?;
            if let Some(name) = &input.column {
                table.column(name).map_err(&fail)?;
            }
            Container::Table(table, input.column.clone())
        } else if input.column.is_some() {
            return Err(Failure::Usage("--column: this is a single column, not a table".into()));
        } else {
            Container::Column(CArray::open(root, &limits).map_err(&fail)?)
        };
        Ok(BcolzSource { path: path.to_path_buf(), container, max_output, pool: pool(&input.run) })
    }

    /// What is to be read, the bytes of a row and the number of rows.
    fn rows(&self) -> Result<(&dyn Plain, u64, u64)> {
        Ok(match &self.container {
            Container::Column(column) => (column, column.row_nbytes(), column.rows()),
            Container::Table(table, None) => (table, table.row_nbytes(), table.rows()),
            Container::Table(table, Some(name)) => {
                let column = table.column(name).map_err(failure(&self.path))?;
                (column, column.row_nbytes(), column.rows())
            }
        })
    }
}

/// What a column's descriptors say.
fn column_info(column: &CArray<FsDir>) -> Value {
    let storage = column.storage();
    json!({
        "dtype": numpy_name(&storage.dtype), "shape": column.shape(), "nbytes": column.nbytes(),
        "cbytes": column.sizes().cbytes, "chunklen": storage.chunklen, "expectedlen": storage.expectedlen,
        "nchunks": column.nchunks(), "codec": storage.cparams.cname, "level": storage.cparams.clevel,
        "shuffle": storage.cparams.shuffle, "quantize": storage.cparams.quantize, "dflt": json(&storage.dflt),
        "attributes": json(column.attrs()),
    })
}

impl BcolzSource {
    /// What contradicts the data although nothing needs it.
    fn notes(&self) -> Vec<String> {
        let of = |name: &str, column: &CArray<FsDir>| {
            let (told, nbytes) = (column.sizes().nbytes, column.nbytes());
            (told != nbytes).then(|| format!("{name}: sizes says {told} bytes, there are {nbytes}"))
        };
        match &self.container {
            Container::Column(column) => of("column", column).into_iter().collect(),
            Container::Table(table, _) => {
                table.columns().filter_map(|(name, column)| of(name, column)).collect()
            }
        }
    }
}

impl Source for BcolzSource {
    fn info(&mut self) -> Result<Value> {
        Ok(match &self.container {
            Container::Column(column) => {
                let mut info = json!({"kind": "bcolz", "layout": "carray"});
                if let (Value::Object(info), Value::Object(more)) = (&mut info, column_info(column)) {
                    info.extend(more);
                }
                info
            }
            Container::Table(table, _) => {
                let columns = table.columns().map(|(name, column)| (name.into(), column_info(column)));
                json!({
                    "kind": "bcolz", "layout": "ctable", "rows": table.rows(), "nbytes": table.nbytes(),
                    "row_nbytes": table.row_nbytes(),
                    "dtype": table.dtype().map_err(failure(&self.path))?.to_string(),
                    "attributes": json(table.attrs()),
                    "columns": Value::Object(columns.collect()),
                })
            }
        })
    }

    fn nbytes(&self) -> Option<u64> {
        self.rows().ok().map(|(plain, _, _)| plain.nbytes())
    }

    fn decompress(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let mut pool = std::mem::replace(&mut self.pool, Pool::new(1));
        let (plain, _, _) = self.rows()?;
        check_output(&self.path, plain.nbytes(), self.max_output)?;
        let done = copy(plain, &mut pool, &self.path, (0, plain.nbytes()), out, progress);
        self.pool = pool;
        done
    }

    fn slice(&mut self, start: &[u64], stop: &[u64], out: &mut dyn Write) -> Result<()> {
        let mut pool = std::mem::replace(&mut self.pool, Pool::new(1));
        let (plain, row, rows) = self.rows()?;
        let (start, stop) = one_dimension(start, stop, rows)?;
        check_output(&self.path, (stop - start) * row, self.max_output)?;
        let done = copy(plain, &mut pool, &self.path, (start * row, stop * row), out, &|_| {});
        self.pool = pool;
        done
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        let fail = failure(&self.path);
        let damaged: Vec<String> = match &self.container {
            Container::Column(column) => {
                let found = column.verify(&mut self.pool).map_err(&fail)?;
                found.into_iter().map(|(i, e)| format!("chunk {i}: {e}")).collect()
            }
            Container::Table(table, _) => {
                let found = table.verify(&mut self.pool).map_err(&fail)?;
                found.into_iter().map(|(name, i, e)| format!("column {name}, chunk {i}: {e}")).collect()
            }
        };
        let nbytes = self.nbytes();
        progress(nbytes.unwrap_or(0));
        let report = json!({
            "kind": "bcolz", "ok": true, "nbytes": nbytes, "checksums": "bcolz stores none; chunks are decoded",
            "notes": self.notes(),
        });
        Failure::if_damaged(&self.path, report, &damaged)
    }
}
