//! Files and directories of fsspec's file systems as sources of bytes. The module `blosc_frame._far` of Python asks for them.

use blosc_frame::any::{Found, Source};
use blosc_frame::io::{Directory, Part, ReadAt, ReadOnly, WriteAt, check_name};
use blosc_frame::{Error, IoError, IoKind};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// A file that a `Far` of Python reads.
pub struct Far {
    file: Py<PyAny>,
    size: u64,
    name: String,
    raised: Raised,
}

/// What Python raised when a read failed; the library's error does not say it.
type Raised = Arc<Mutex<Option<PyErr>>>;

fn keep(raised: &Raised, error: PyErr) {
    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
}

impl Far {
    /// The file of a `Far` of Python, by its attributes `size` and `name` and its method `fetch`.
    pub fn new(file: &Bound<'_, PyAny>) -> PyResult<Arc<Far>> {
        Far::of(file, Raised::default()).map(Arc::new)
    }

    fn of(file: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Far> {
        let (size, name) = (file.getattr("size")?.extract()?, file.getattr("name")?.extract()?);
        Ok(Far { file: file.clone().unbind(), size, name, raised })
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Looks at what it holds.
    pub fn find(self: &Arc<Far>) -> Result<Found, Error> {
        Found::of(&self.name, Source::Other(self.clone()), 0)
    }

    /// What Python raised since the last call.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ReadAt for Far {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.size)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = left.min(buf.len());
        self.read_ranges(&mut [(offset, &mut buf[..n])])?;
        Ok(n)
    }

    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        let mut ranges = Vec::with_capacity(parts.len());
        for (offset, buf) in parts.iter() {
            let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.size);
            ranges.push((*offset, end.ok_or(IoKind::UnexpectedEnd)?));
        }
        let fetch = |py: Python<'_>| -> PyResult<Vec<PyBackedBytes>> {
            self.file.call_method1(py, "fetch", (ranges,))?.extract(py)
        };
        let fetched = Python::attach(fetch).map_err(|error| {
            keep(&self.raised, error);
            IoKind::Other
        })?;
        let fits = |((_, buf), bytes): (&Part<'_>, &PyBackedBytes)| buf.len() == bytes.len();
        if parts.len() != fetched.len() || !parts.iter().zip(&fetched).all(fits) {
            return Err(IoKind::UnexpectedEnd.into());
        }
        parts.iter_mut().zip(&fetched).for_each(|((_, buf), bytes)| buf.copy_from_slice(bytes));
        Ok(())
    }

    fn is_far(&self) -> bool {
        true
    }
}

/// A directory that a `FarDirectory` of Python reads; clones are the same.
#[derive(Clone)]
pub struct FarDirectory {
    directory: Arc<Py<PyAny>>,
    name: String,
    raised: Raised,
}

impl FarDirectory {
    /// The directory of a `FarDirectory` of Python, by its attribute `name` and its methods.
    pub fn new(directory: &Bound<'_, PyAny>) -> PyResult<FarDirectory> {
        let name = directory.getattr("name")?.extract()?;
        Ok(FarDirectory { directory: Arc::new(directory.clone().unbind()), name, raised: Raised::default() })
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What Python raised since the last call.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Calls Python. That there is no such file is for the library to say.
    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, IoError> {
        Python::attach(|py| {
            work(self.directory.bind(py)).map_err(|error| {
                if error.is_instance_of::<PyFileNotFoundError>(py) {
                    return IoKind::NotFound.into();
                }
                keep(&self.raised, error);
                IoKind::Other.into()
            })
        })
    }
}

impl Directory for FarDirectory {
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        check_name(name)?;
        if write {
            return Err(IoKind::ReadOnly.into());
        }
        let file = self
            .call(|directory| Far::of(&directory.call_method1("open_file", (name,))?, self.raised.clone()))?;
        Ok(Box::new(ReadOnly(file)))
    }
    fn read_files(&self, names: &[String], limit: u64) -> Vec<Result<Vec<u8>, Error>> {
        let named = names.iter().try_for_each(|name| check_name(name));
        let fetched = named.and_then(|()| {
            self.call(|directory| -> PyResult<Vec<Option<PyBackedBytes>>> {
                directory.call_method1("fetch_files", (names.to_vec(), limit))?.extract()
            })
        });
        match fetched {
            Ok(files) if files.len() == names.len() => {
                let file =
                    |file: Option<PyBackedBytes>| Ok(file.ok_or(IoError::from(IoKind::Other))?.to_vec());
                files.into_iter().map(file).collect()
            }
            Ok(_) => names.iter().map(|_| Err(IoError::from(IoKind::Other).into())).collect(),
            Err(error) => names.iter().map(|_| Err(error.into())).collect(),
        }
    }
    fn is_far(&self) -> bool {
        true
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        self.call(|directory| directory.call_method0("names")?.extract())
    }
    fn create(&self, _: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn rename(&self, _: &str, _: &str) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn remove(&self, _: &str) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
    fn sync(&self) -> Result<(), IoError> {
        Err(IoKind::ReadOnly.into())
    }
}
