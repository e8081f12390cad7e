//! One container, open for reading.
//!
//! Handles have caches and scratch memory, so one serves one thread at a time. Each call takes a free one, or opens the
//! container once more: threads then read side by side, and none waits for another.

use crate::buffer::Memory;
use crate::errors::of_frame;
use blosc_core::Pool;
use blosc_frame::any::{About, AnyRows, Container, Found, Kind};
use blosc_frame::b2nd::{NdArray, Selection};
use blosc_frame::io::{FsDir, PathFile};
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Limits, SuperChunk, open_any};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Handles that wait for the next call, at most; more are closed again.
const KEPT: usize = 8;

/// A container that serves one thread.
enum Handle {
    /// An array of Blosc2, which decodes single blocks.
    Array(Box<NdArray<'static>>),
    /// Anything else, as rows.
    Rows(Box<Container>, Pool),
}

impl Handle {
    fn read(&mut self, shape: &[u64], item: u64, ranges: &[Range<u64>], out: &mut [u8]) -> Result<(), Error> {
        match self {
            Handle::Array(array) => array.get_into(&Selection::ranges(shape, ranges)?, out),
            Handle::Rows(data, pool) => data.read_box(pool, (shape, item), ranges, out),
        }
    }
}

/// A frame, array, bloscpack file, bcolz or Blaze directory, or `.npy` file.
#[pyclass(frozen, module = "blosc_frame._native")]
pub struct Source {
    path: PathBuf,
    limits: Limits,
    threads: usize,
    about: About,
    shape: Vec<u64>,
    item: u64,
    chunks: Option<Vec<u64>>,
    /// None once it is closed.
    idle: Mutex<Option<Vec<Handle>>>,
}

fn open_array(path: &Path, kind: Kind, limits: &Limits, threads: usize) -> Result<NdArray<'static>, Error> {
    let frame = match kind {
        Kind::SparseFrame => SuperChunk::open_dir(FsDir::open(path)?, limits)?,
        _ => SuperChunk::open_read(PathFile::open(path)?, limits)?,
    };
    let mut array = NdArray::open(frame)?;
    array.set_threads(threads);
    Ok(array)
}

impl Source {
    fn open(path: PathBuf, limits: Limits, threads: usize) -> Result<Source, Error> {
        let opened = open_any(&path, &limits)?;
        let (nbytes, rows) = (opened.data.nbytes(), opened.data.chunk_nbytes());
        let AnyRows { data, about, .. } = opened;
        let typesize = u64::from(about.typesize).max(1);
        // Items of a frame have a size but no type: where they do not fill it, it holds bytes.
        let item = match &about.dtype {
            Some(dtype) => u64::from(dtype.itemsize()),
            None if nbytes.is_multiple_of(typesize) => typesize,
            None => 1,
        };
        let shape = match &about.shape {
            Some(shape) => shape.clone(),
            None => vec![nbytes.checked_div(item).unwrap_or(0)],
        };
        let (handle, chunks) = if about.kind == "b2nd" {
            let kind = Found::at(&path, 0, None)?.kind;
            let array = open_array(&path, kind, &limits, threads)?;
            let chunks = array.geometry().chunks().iter().map(|&n| n.into()).collect();
            (Handle::Array(Box::new(array)), Some(chunks))
        } else {
            let row = shape.iter().skip(1).fold(item, |n, &dim| n.saturating_mul(dim));
            let first = rows.checked_div(row).unwrap_or(1).max(1);
            // Frames are read in steps of their own, whatever their chunks are.
            let known = about.kind != "frame" && !shape.is_empty();
            let chunks = known.then(|| [&[first], shape.get(1..).unwrap_or_default()].concat());
            (Handle::Rows(Box::new(data), Pool::new(threads)), chunks)
        };
        Ok(Source { path, limits, threads, about, shape, item, chunks, idle: Mutex::new(Some(vec![handle])) })
    }

    /// Opens the container once more, which must be what it was.
    fn again(&self) -> Result<Handle, Error> {
        let changed = Error::Changed { what: "shape of the container" };
        if self.about.kind == "b2nd" {
            let kind = Found::at(&self.path, 0, None)?.kind;
            let array = open_array(&self.path, kind, &self.limits, self.threads)?;
            return if array.shape()[..] == self.shape[..] {
                Ok(Handle::Array(Box::new(array)))
            } else {
                Err(changed)
            };
        }
        let opened = open_any(&self.path, &self.limits)?;
        let same = opened.about.shape == self.about.shape && opened.about.dtype == self.about.dtype;
        let items = self.shape.iter().fold(self.item, |n, &dim| n.saturating_mul(dim));
        if !same || opened.data.nbytes() != items {
            return Err(changed);
        }
        Ok(Handle::Rows(Box::new(opened.data), Pool::new(self.threads)))
    }

    /// A panic between these locks cannot leave the list broken, so poison says nothing.
    fn idle(&self) -> MutexGuard<'_, Option<Vec<Handle>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `Ok(false)` where it is closed.
    fn read(&self, ranges: &[Range<u64>], out: &mut [u8]) -> Result<bool, Error> {
        let Some(free) = self.idle().as_mut().map(Vec::pop) else { return Ok(false) };
        let mut handle = match free {
            Some(handle) => handle,
            None => self.again()?,
        };
        handle.read(&self.shape, self.item, ranges, out)?;
        // A handle that is not kept is dropped after the lock is free.
        if let Some(idle) = self.idle().as_mut().filter(|idle| idle.len() < KEPT) {
            idle.push(handle);
        }
        Ok(true)
    }
}

#[pymethods]
impl Source {
    #[new]
    #[pyo3(signature = (path, *, threads = 1, limit = None))]
    fn new(py: Python<'_>, path: PathBuf, threads: usize, limit: Option<u64>) -> PyResult<Source> {
        let output = limit.unwrap_or(Limits::DEFAULT.output);
        let limits = Limits::DEFAULT.output(output);
        let shown = path.display().to_string();
        py.detach(|| Source::open(path, limits, threads)).map_err(|error| of_frame(error, &shown))
    }

    /// The kind of container: `frame`, `b2nd`, `bloscpack`, `bcolz`, `blaze` or `npy`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.about.kind
    }

    /// The type of the items, as the header of a `.npy` file describes it; None where the container does not say.
    #[getter]
    fn descr(&self) -> PyResult<Option<String>> {
        let text = self.about.dtype.as_ref().map(|dtype| dtype.to_descr());
        text.transpose().map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Bytes of an item.
    #[getter]
    fn itemsize(&self) -> u64 {
        self.item
    }

    #[getter]
    fn shape(&self) -> Vec<u64> {
        self.shape.clone()
    }

    /// Shape of the chunks; None for frames and for arrays without dimensions.
    #[getter]
    fn chunks(&self) -> Option<Vec<u64>> {
        self.chunks.clone()
    }

    /// Metadata or attributes as JSON; None where there are none.
    #[getter]
    fn metadata(&self) -> Option<String> {
        self.about.metadata.as_ref().map(|value| value.to_json_compact())
    }

    /// The most bytes that a read may return.
    #[getter]
    fn limit(&self) -> u64 {
        self.limits.output
    }

    /// Fills `out` with the items of a box: a start and a stop for each axis.
    fn read_box(&self, py: Python<'_>, ranges: Vec<(u64, u64)>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut memory = Memory::of(out)?;
        let bytes = memory.bytes_mut()?;
        let outside = |(range, &len): (&(u64, u64), &u64)| range.0 > range.1 || range.1 > len;
        if ranges.len() != self.shape.len() || ranges.iter().zip(&self.shape).any(outside) {
            return Err(PyValueError::new_err("the ranges are not a box of the array"));
        }
        let ranges: Vec<Range<u64>> = ranges.into_iter().map(|(start, stop)| start..stop).collect();
        let volume = ranges.iter().fold(self.item, |n, range| n.saturating_mul(range.end - range.start));
        if volume != bytes.len() as u64 {
            return Err(PyValueError::new_err("the destination has not the size of the box"));
        }
        let read = if volume == 0 { Ok(!self.closed()) } else { py.detach(|| self.read(&ranges, bytes)) };
        match read.map_err(|error| of_frame(error, &self.path.display().to_string()))? {
            true => Ok(()),
            false => Err(PyValueError::new_err("the array is closed")),
        }
    }

    /// Closes the files. Reads that run meanwhile are finished.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.idle().take()));
    }

    #[getter]
    fn closed(&self) -> bool {
        self.idle().is_none()
    }
}
