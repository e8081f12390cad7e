//! Stores of arrays, and tables: what `blosc_frame.open` gives for more than one array.

use crate::errors::{of_file, of_table};
use crate::source::{Origin, Source, cache_of};
use blosc_frame::any::Opened;
use blosc_frame::b2nd::Cache;
use blosc_frame::dtype::Dtype;
use blosc_frame::store::{Leaf, Place};
use blosc_frame::table::numpy::{self, Width};
use blosc_frame::table::{self, ColumnReader, Table as Inner, TableError, ipc::ArrowWriter};
use blosc_frame::{Limits, msgpack};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// A store of python-blosc2 or a directory of arrays, or a group of one.
#[pyclass(frozen, module = "blosc_frame._native")]
pub struct Store {
    store: Arc<blosc_frame::Store>,
    threads: usize,
    /// The cache of decoded blocks, which all arrays share.
    cache: Cache,
}

/// The store at a path, or in a `Far`; None where something else is there.
#[pyfunction]
#[pyo3(signature = (path, *, threads = 1, limit = None, cache = None))]
pub fn open_store(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    threads: usize,
    limit: Option<u64>,
    cache: Option<usize>,
) -> PyResult<Option<Store>> {
    let limits = Limits::DEFAULT.output(limit.unwrap_or(Limits::DEFAULT.output));
    let origin = Origin::of(path)?;
    let open = || origin.find(None).and_then(|found| Opened::of(found, &limits, false));
    Ok(match py.detach(open).map_err(|error| origin.failed(error))? {
        Opened::Store(mut store) | Opened::Table(mut store) => {
            store.set_threads(threads);
            Some(Store { store: Arc::new(*store), threads, cache: cache_of(cache) })
        }
        _ => None,
    })
}

#[pymethods]
impl Store {
    /// How it lies on disk.
    #[getter]
    fn kind(&self) -> &'static str {
        self.store.form().name()
    }

    /// What messages call it.
    #[getter]
    fn name(&self) -> String {
        self.store.name().display().to_string()
    }

    /// Keys of what can be opened, each with what it is: arrays and frames, and tables; not what a table is made of.
    fn entries(&self) -> Vec<(String, &'static str)> {
        let opened = |leaf| matches!(leaf, Leaf::Array | Leaf::Frame | Leaf::Batches);
        let leaves = self.store.entries().iter().filter(|entry| opened(entry.leaf()));
        let leaves = leaves.filter(|entry| !self.store.in_table(entry));
        let mut all: Vec<_> = leaves.map(|entry| (entry.key().to_owned(), entry.leaf().name())).collect();
        all.extend(
            self.store.tables().iter().filter(|key| !key.is_empty()).map(|key| (key.clone(), "table")),
        );
        all.sort();
        all
    }

    /// Keys of the groups in it.
    #[getter]
    fn groups(&self) -> Vec<String> {
        self.store.groups().to_vec()
    }

    /// Whether all of it is one table.
    #[getter]
    fn is_table(&self) -> bool {
        self.store.is_table()
    }

    /// The attributes of a group, `""` being all of it: names and values as JSON, None for what is no MessagePack.
    fn attributes(&self, group: &str) -> PyResult<Vec<(String, Option<String>)>> {
        let layers = self.store.attributes(group).map_err(of_file)?;
        let json = |content: &[u8]| msgpack::to_value(content).ok().map(|value| value.to_json_compact());
        Ok(layers.into_iter().map(|(name, content)| (name, json(&content))).collect())
    }

    /// The array or frame of a key. One that is a file is opened by its path, so that it can be changed.
    fn leaf(&self, py: Python<'_>, key: &str) -> PyResult<Source> {
        let entry = self.store.get(key).ok_or_else(|| PyKeyError::new_err(key.to_owned()))?;
        let origin = match entry.place() {
            Place::Path(path) => Origin::Path(path.clone()),
            _ => Origin::Leaf(self.store.clone(), entry.clone()),
        };
        let open = || Source::open(origin.clone(), *self.store.limits(), self.threads, self.cache.clone());
        py.detach(|| origin.twice(open)).map_err(|error| origin.failed(error))
    }

    /// The group of a key; None where there is none.
    fn group(&self, key: &str) -> Option<Store> {
        let store = self.store.group(key)?;
        Some(Store { store: Arc::new(store), threads: self.threads, cache: self.cache.clone() })
    }

    /// The table that all of it is.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let name = self.name();
        let table = py.detach(|| self.store.table("")).map_err(|error| of_table(error, &name))?;
        let columns = table.schema.columns.iter();
        let columns =
            columns.map(|column| (column.name.clone(), column.type_name().to_owned(), column.is_nullable()));
        Ok(Table { name, rows: table.rows, columns: columns.collect(), table: Mutex::new(table) })
    }
}

/// A column as NumPy has it: name, type, shape, items, and a byte for each row that says whether it is null.
type Column<'py> = (String, String, Vec<u64>, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);

/// A table.
#[pyclass(frozen, module = "blosc_frame._native")]
pub struct Table {
    name: String,
    /// Rows that live.
    #[pyo3(get)]
    rows: u64,
    /// Name and type of each column, and whether it may have nulls.
    #[pyo3(get)]
    columns: Vec<(String, String, bool)>,
    table: Mutex<Inner>,
}

impl Table {
    /// Runs `work` on the table and its columns called `names`, without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        names: &[String],
        work: impl FnOnce(&mut Inner, Vec<ColumnReader>) -> table::Result<T> + Send,
    ) -> PyResult<T> {
        if let Some(name) = names.iter().find(|name| !self.columns.iter().any(|column| column.0 == **name)) {
            return Err(PyKeyError::new_err(name.clone()));
        }
        let done = py.detach(|| {
            let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
            let named = |name: &String| table.schema.columns.iter().find(|column| column.name == *name);
            let columns: Vec<_> = names.iter().filter_map(named).cloned().collect();
            let readers = table.columns_of(&columns)?;
            work(&mut table, readers)
        });
        done.map_err(|error| of_table(error, &self.name))
    }
}

#[pymethods]
impl Table {
    /// Rows `start` to `stop` of these columns as an Arrow file.
    fn arrow<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        start: u64,
        stop: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let file = self.with(py, &names, |table, mut readers| {
            let mut batches = table.batches(&mut readers, start..stop);
            let mut file = Vec::new();
            let mut writer = ArrowWriter::new(&batches.schema().clone(), &mut file)?;
            batches.try_for_each(|batch| writer.write(&batch?))?;
            writer.finish()?;
            Ok(file)
        })?;
        Ok(PyBytes::new(py, &file))
    }

    /// Rows `start` to `stop` of columns as NumPy has them.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        start: u64,
        stop: u64,
    ) -> PyResult<Vec<Column<'py>>> {
        let made = self.with(py, &names, |table, mut readers| {
            let mut all = Vec::new();
            for reader in &readers {
                let column = reader.column();
                if numpy::cannot_hold(column) {
                    let what =
                        format!("column {}: {}: NumPy has no such items", column.name, column.type_name());
                    return Err(TableError::Unable(what));
                }
                let items = numpy::items(reader);
                all.push((column.clone(), items, Width::default(), Vec::new()));
            }
            for batch in table.batches(&mut readers, start..stop) {
                let batch = batch?;
                for ((.., width, arrays), array) in all.iter_mut().zip(batch.columns()) {
                    width.add(array);
                    arrays.push(array.clone());
                }
            }
            let made = all.into_iter().map(|(column, items, width, arrays)| {
                let unfit = |why| TableError::Unable(format!("column {}: {why}", column.name));
                let (scalar, sides) = match items {
                    Some(items) => items,
                    None => (width.scalar(&column).map_err(unfit)?, Vec::new()),
                };
                let (mut bytes, mut nulls) = (Vec::new(), Vec::new());
                for array in &arrays {
                    bytes.extend(numpy::bytes(array, &scalar)?);
                    let rows = 0..table::arrow_array::Array::len(array);
                    nulls.extend(rows.map(|row| u8::from(table::arrow_array::Array::is_null(array, row))));
                }
                Ok((scalar, sides, bytes, nulls))
            });
            made.collect::<table::Result<Vec<_>>>()
        })?;
        let arrays = names.into_iter().zip(made).map(|(name, (scalar, sides, bytes, nulls))| {
            let descr = Dtype::Scalar(scalar).to_descr().map_err(|e| PyValueError::new_err(e.to_string()))?;
            let rows = nulls.len() as u64;
            let shape = [rows].into_iter().chain(sides.into_iter().map(u64::from)).collect();
            let nullable = self.columns.iter().any(|column| column.0 == name && column.2);
            let nulls = nullable.then(|| PyBytes::new(py, &nulls));
            Ok((name, descr, shape, PyBytes::new(py, &bytes), nulls))
        });
        arrays.collect()
    }
}
