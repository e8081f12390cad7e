//! Files of fsspec's file systems as sources of bytes. The module `blosc_frame._far` of Python asks for them.

use blosc_frame::any::{Found, Source};
use blosc_frame::io::{Part, ReadAt};
use blosc_frame::{Error, IoError, IoKind};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// A file that a `Far` of Python reads.
pub struct Far {
    file: Py<PyAny>,
    size: u64,
    name: String,
    /// What Python raised when a read failed; the library's error does not say it.
    raised: Mutex<Option<PyErr>>,
}

impl Far {
    /// The file of a `Far` of Python, by its attributes `size` and `name` and its method `fetch`.
    pub fn new(file: &Bound<'_, PyAny>) -> PyResult<Arc<Far>> {
        let (size, name) = (file.getattr("size")?.extract()?, file.getattr("name")?.extract()?);
        Ok(Arc::new(Far { file: file.clone().unbind(), size, name, raised: Mutex::default() }))
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
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
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
