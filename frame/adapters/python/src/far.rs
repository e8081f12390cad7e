//! Files and directories of fsspec's file systems as sources of bytes. The module `blosc_frame._far` of Python asks for them.

use blosc_frame::any::{Found, Source};
use blosc_frame::io::{Directory, Part, ReadAt, ReadOnly, WriteAt, check_name};
use blosc_frame::{Error, IoError, IoKind};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A file that a `Far` of Python reads.
pub struct Far {
    file: Py<PyAny>,
    size: u64,
    name: String,
}

/// What Python raised in reads that fail, of this process, and the numbers that stand for it in the library's errors.
static RAISED: Mutex<(i32, VecDeque<(i32, PyErr)>)> = Mutex::new((0, VecDeque::new()));
/// Exceptions that wait, at most. Those of reads that the library does without are never asked for.
const WAITING: usize = 64;

/// The library's error for what Python raised. Its number is below zero, where no system has any, and the error's own, so
/// that each of several reads that fail at once gives what Python raised for it.
fn keep(error: PyErr) -> IoError {
    let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    raised.0 = raised.0.checked_sub(1).unwrap_or(-1);
    let number = raised.0;
    raised.1.push_back((number, error));
    let oldest = if raised.1.len() > WAITING { raised.1.pop_front() } else { None };
    // To drop an exception may run Python, which may read.
    drop(raised);
    drop(oldest);
    IoError { kind: IoKind::Other, os: Some(number) }
}

/// What Python raised, by its number in the library's error.
pub fn raised(number: i32) -> Option<PyErr> {
    let raised = &mut RAISED.lock().unwrap_or_else(PoisonError::into_inner).1;
    let at = raised.iter().position(|(kept, _)| *kept == number)?;
    raised.remove(at).map(|(_, error)| error)
}

impl Far {
    /// The file of a `Far` of Python, by its attributes `size` and `name` and its method `fetch`.
    pub fn new(file: &Bound<'_, PyAny>) -> PyResult<Arc<Far>> {
        Far::of(file).map(Arc::new)
    }

    fn of(file: &Bound<'_, PyAny>) -> PyResult<Far> {
        let (size, name) = (file.getattr("size")?.extract()?, file.getattr("name")?.extract()?);
        Ok(Far { file: file.clone().unbind(), size, name })
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Looks at what it holds.
    pub fn find(self: &Arc<Far>) -> Result<Found, Error> {
        Found::of(&self.name, Source::Other(self.clone()), 0)
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
        let fetched = Python::attach(fetch).map_err(keep)?;
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
}

impl FarDirectory {
    /// The directory of a `FarDirectory` of Python, by its attribute `name` and its methods.
    pub fn new(directory: &Bound<'_, PyAny>) -> PyResult<FarDirectory> {
        let name = directory.getattr("name")?.extract()?;
        Ok(FarDirectory { directory: Arc::new(directory.clone().unbind()), name })
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls Python. That there is no such file is for the library to say.
    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, IoError> {
        Python::attach(|py| {
            work(self.directory.bind(py)).map_err(|error| {
                match error.is_instance_of::<PyFileNotFoundError>(py) {
                    true => IoKind::NotFound.into(),
                    false => keep(error),
                }
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
        let file = self.call(|directory| Far::of(&directory.call_method1("open_file", (name,))?))?;
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
