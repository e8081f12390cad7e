//! One container, read box by box and changed in place.
//!
//! Handles have caches and scratch memory, so one serves one thread at a time. Each call takes a free one, or opens the
//! container once more: threads then read side by side, and none waits for another. Each change opens it for writing, is
//! one commit, and lets go of the lock.

use crate::buffer::Memory;
use crate::errors::of_frame;
use crate::far::{Far, FarDirectory};
use crate::save::Items;
use blosc_core::Pool;
use blosc_frame::any::{About, Container, Found, Opened};
use blosc_frame::b2nd::{Cache, NdArray, Selection, carrier};
use blosc_frame::io::Locking;
use blosc_frame::plain::{Plain, Uncompressed};
use blosc_frame::store::{Entry, Store};
use blosc_frame::{Error, IoError, IoKind, Limits, Structure};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Handles that wait for the next call, at most; more are closed again.
const KEPT: usize = 8;

/// A cache of this many bytes; without a number, of the size that every array has by default.
pub fn cache_of(bytes: Option<usize>) -> Cache {
    bytes.map_or_else(Cache::default, Cache::new)
}

/// A container that serves one thread.
enum Handle {
    /// An array of Blosc2, which decodes single blocks.
    Array(Box<NdArray<'static>>),
    /// Anything else, as rows.
    Rows(Box<(Container, Pool)>),
}

impl Handle {
    fn of(opened: Opened, threads: usize, cache: &Cache) -> Result<Handle, Error> {
        Ok(match opened {
            Opened::Array(array) => Handle::array(array, threads, cache),
            other => Handle::rows(other.into_rows()?.data, threads),
        })
    }

    fn array(mut array: Box<NdArray<'static>>, threads: usize, cache: &Cache) -> Handle {
        array.set_threads(threads);
        array.set_cache(cache.clone());
        Handle::Array(array)
    }

    fn rows(data: Container, threads: usize) -> Handle {
        Handle::Rows(Box::new((data, Pool::new(threads))))
    }

    fn read(&mut self, shape: &[u64], item: u64, ranges: &[Range<u64>], out: &mut [u8]) -> Result<(), Error> {
        match self {
            Handle::Array(array) => array.get_into(&Selection::ranges(shape, ranges)?, out),
            Handle::Rows(rows) => rows.0.read_box(&mut rows.1, (shape, item), ranges, out),
        }
    }
}

/// The answer to changing a leaf of a store that is no file of its own.
const NOT_CHANGED: Error = Error::Unsupported {
    structure: Structure::Store,
    what: "changing an array that is embedded in its store or lies in a zip file",
};

/// Where a container lies.
#[derive(Clone)]
pub enum Origin {
    /// At a path of its own.
    Path(PathBuf),
    /// In a file of fsspec.
    Far(Arc<Far>),
    /// In a directory of fsspec.
    Directory(FarDirectory),
    /// In a store, embedded in its root or a member of its zip file.
    Leaf(Arc<Store>, Entry),
}

impl Origin {
    /// What Python names: a path, a `Far`, which has a method `fetch`, or a `FarDirectory`, which has `fetch_files`.
    pub fn of(path: &Bound<'_, PyAny>) -> PyResult<Origin> {
        Ok(match path {
            far if far.hasattr("fetch")? => Origin::Far(Far::new(far)?),
            far if far.hasattr("fetch_files")? => Origin::Directory(FarDirectory::new(far)?),
            path => Origin::Path(path.extract()?),
        })
    }

    /// Looks at what it holds, be it a container or a store.
    pub fn find(&self, write: Option<Locking>) -> Result<Found, Error> {
        match self {
            Origin::Path(path) => Found::at(path, 0, write),
            Origin::Far(file) if write.is_none() => file.find(),
            Origin::Directory(far) if write.is_none() => Ok(Found::in_directory(far.name(), far.clone())),
            Origin::Far(_) | Origin::Directory(_) => Err(IoError::from(IoKind::ReadOnly).into()),
            Origin::Leaf(..) => Err(NOT_CHANGED),
        }
    }

    /// What errors call it.
    fn name(&self) -> String {
        match self {
            Origin::Path(path) => path.display().to_string(),
            Origin::Far(file) => file.name().to_owned(),
            Origin::Directory(far) => far.name().to_owned(),
            Origin::Leaf(store, entry) => format!("{}:{}", store.name().display(), entry.key()),
        }
    }

    /// The error of a call.
    pub fn failed(&self, error: Error) -> PyErr {
        of_frame(error, &self.name())
    }

    /// Does `work`, which opens the container and reads it. Another writer may commit meanwhile, and write where the state
    /// lay that was opened, so that what fails is done once more; of what lies far away it is not.
    pub fn twice<T>(&self, mut work: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        match work() {
            Err(_) if matches!(self, Origin::Path(_)) => work(),
            done => done,
        }
    }

    /// Opens the container, for changes with `write`. Placeholders of what lies elsewhere are refused: they are no data.
    fn open(&self, limits: &Limits, write: Option<Locking>) -> Result<Opened, Error> {
        let mut opened = match self {
            Origin::Leaf(store, entry) if write.is_none() => Opened::of_frame(store.frame(entry)?)?,
            _ => Opened::of(self.find(write)?, limits, false)?,
        };
        let carried = match &mut opened {
            Opened::Array(array) => carrier::of(array.frame_mut())?,
            Opened::Frame(frame) => carrier::of(frame)?,
            _ => None,
        };
        match carried {
            Some(carrier) if carrier.is_placeholder() => {
                let what = "reading placeholders of an object that python-blosc2 evaluates or fetches";
                Err(Error::Unsupported { structure: Structure::B2nd, what })
            }
            Some(carrier) if write.is_some() && carrier.has_records() => {
                let what = "changing the items of records by themselves";
                Err(Error::Unsupported { structure: Structure::FrameHeader, what })
            }
            _ => Ok(opened),
        }
    }
}

/// Type and shape of the items as they are shown: items of a frame have a size but no type, and where they do not fill
/// it, it holds bytes.
fn items_of(about: &About, nbytes: u64) -> (u64, Vec<u64>) {
    let typesize = u64::from(about.typesize).max(1);
    let item = match &about.dtype {
        Some(dtype) => u64::from(dtype.itemsize()),
        None if nbytes.is_multiple_of(typesize) => typesize,
        None => 1,
    };
    let shape = about.shape.clone().unwrap_or_else(|| vec![nbytes.checked_div(item).unwrap_or(0)]);
    (item, shape)
}

/// What changes while a container is open.
struct State {
    /// Handles without a call; None once it is closed.
    idle: Option<Vec<Handle>>,
    shape: Vec<u64>,
    /// How often it was changed here: a handle that was opened before a change is not kept.
    changes: u64,
}

/// A frame, array, tensor, bloscpack file, bcolz or Blaze directory, or `.npy` file.
#[pyclass(frozen, module = "blosc_frame._native")]
pub struct Source {
    origin: Origin,
    limits: Limits,
    threads: usize,
    about: About,
    item: u64,
    chunks: Option<Vec<u64>>,
    /// The cache of decoded blocks, which all handles share.
    cache: Cache,
    state: Mutex<State>,
}

impl Source {
    pub fn open(origin: Origin, limits: Limits, threads: usize, cache: Cache) -> Result<Source, Error> {
        let rows = origin.open(&limits, None)?.into_rows()?;
        let (nbytes, step) = (rows.data.nbytes(), rows.data.chunk_nbytes());
        let (item, shape) = items_of(&rows.about, nbytes);
        let (handle, chunks) = match origin.open(&limits, None)? {
            Opened::Array(array) => {
                let chunks = array.geometry().chunks().iter().map(|&n| n.into()).collect();
                (Handle::array(array, threads, &cache), Some(chunks))
            }
            _ => {
                let row = shape.iter().skip(1).fold(item, |n, &dim| n.saturating_mul(dim));
                let first = step.checked_div(row).unwrap_or(1).max(1);
                // Frames are read in steps of their own, whatever their chunks are.
                let known = rows.about.kind != "frame" && !shape.is_empty();
                let chunks = known.then(|| [&[first], shape.get(1..).unwrap_or_default()].concat());
                (Handle::rows(rows.data, threads), chunks)
            }
        };
        let state = Mutex::new(State { idle: Some(vec![handle]), shape, changes: 0 });
        Ok(Source { origin, limits, threads, about: rows.about, item, chunks, cache, state })
    }

    /// Opens the container once more, which must have this shape.
    fn again(&self, shape: &[u64]) -> Result<Handle, Error> {
        let changed = Error::Changed { what: "shape of the container" };
        match self.origin.open(&self.limits, None)? {
            Opened::Array(array) if self.about.kind == "b2nd" => match array.shape()[..] == *shape {
                true => Ok(Handle::array(array, self.threads, &self.cache)),
                false => Err(changed),
            },
            opened => {
                let rows = opened.into_rows()?;
                let (item, now) = items_of(&rows.about, rows.data.nbytes());
                let same = now == shape && item == self.item && rows.about.dtype == self.about.dtype;
                if !same {
                    return Err(changed);
                }
                Ok(Handle::rows(rows.data, self.threads))
            }
        }
    }

    /// A panic between these locks cannot leave the state broken, so poison says nothing.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `Ok(false)` where it is closed.
    fn read(&self, ranges: &[Range<u64>], out: &mut [u8]) -> Result<bool, Error> {
        let (mut free, shape, changes) = {
            let mut state = self.state();
            let Some(idle) = &mut state.idle else { return Ok(false) };
            (idle.pop(), state.shape.clone(), state.changes)
        };
        let handle = self.origin.twice(|| {
            let mut handle = match free.take() {
                Some(handle) => handle,
                None => self.again(&shape)?,
            };
            handle.read(&shape, self.item, ranges, out)?;
            Ok(handle)
        })?;
        // A handle that is not kept is dropped after the lock is free.
        let mut state = self.state();
        if state.changes == changes
            && let Some(idle) = state.idle.as_mut().filter(|idle| idle.len() < KEPT)
        {
            idle.push(handle);
        }
        Ok(true)
    }

    /// Has `work` change the container, which is opened for that and must be what it was; `Ok(false)` where it is closed.
    fn change(&self, work: impl FnOnce(Opened) -> Result<(), Error>) -> Result<bool, Error> {
        let shape = match &*self.state() {
            State { idle: None, .. } => return Ok(false),
            State { shape, .. } => shape.clone(),
        };
        // Other writers are kept out from here on, and what they did before is seen.
        let opened = self.origin.open(&self.limits, Some(Locking::System))?;
        drop(self.again(&shape)?);
        let done = work(opened);
        // A change that failed left what was committed.
        let rows = self.origin.open(&self.limits, None)?.into_rows()?;
        let mut state = self.state();
        state.shape = items_of(&rows.about, rows.data.nbytes()).1;
        state.changes += 1;
        let old = state.idle.as_mut().map(std::mem::take);
        drop(state);
        drop(old);
        done.map(|()| true)
    }

    fn changed(&self, done: Result<bool, Error>) -> PyResult<()> {
        match done.map_err(|error| self.origin.failed(error))? {
            true => Ok(()),
            false => Err(PyValueError::new_err("the array is closed")),
        }
    }
}

#[pymethods]
impl Source {
    #[new]
    #[pyo3(signature = (path, *, threads = 1, limit = None, cache = None))]
    fn new(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        threads: usize,
        limit: Option<u64>,
        cache: Option<usize>,
    ) -> PyResult<Source> {
        let output = limit.unwrap_or(Limits::DEFAULT.output);
        let (origin, limits) = (Origin::of(path)?, Limits::DEFAULT.output(output));
        let cache = cache_of(cache);
        let open = || Source::open(origin.clone(), limits, threads, cache.clone());
        py.detach(|| origin.twice(open)).map_err(|error| origin.failed(error))
    }

    /// The kind of container: `frame`, `tensor`, `b2nd`, `bloscpack`, `bcolz`, `blaze` or `npy`.
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
        self.state().shape.clone()
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

    /// What the cache did: blocks taken from it, blocks decoded instead, bytes in it, and the most bytes that it keeps.
    #[getter]
    fn cache(&self) -> (u64, u64, usize, usize) {
        (self.cache.hits(), self.cache.misses(), self.cache.bytes(), self.cache.limit())
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
        let ranges = self.check_box(ranges, bytes.len())?;
        let read =
            if bytes.is_empty() { Ok(!self.closed()) } else { py.detach(|| self.read(&ranges, bytes)) };
        self.changed(read)
    }

    /// Replaces the items of a box, in one commit. Of what is no b2nd array, it must be whole rows. With `fill`, the items
    /// that are there come into `data` first, and `fill` is called to change some: no other writer comes between.
    #[pyo3(signature = (ranges, data, fill = None))]
    fn write_box(
        &self,
        py: Python<'_>,
        ranges: Vec<(u64, u64)>,
        data: &Bound<'_, PyAny>,
        fill: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let mut data = Items(Memory::of(data)?);
        let nbytes = data.0.bytes().len();
        let ranges = self.check_box(ranges, nbytes)?;
        if fill.is_some() {
            data.0.bytes_mut()?;
        }
        if nbytes == 0 {
            return self.changed(Ok(!self.closed()));
        }
        let shape = self.state().shape.clone();
        let mut raised = None;
        let work = |opened: Opened| {
            let mut handle = Handle::of(opened, self.threads, &self.cache)?;
            if let Some(fill) = fill {
                if let Ok(bytes) = data.0.bytes_mut() {
                    handle.read(&shape, self.item, &ranges, bytes)?;
                }
                raised = Python::attach(|py| fill.call0(py).err());
                if raised.is_some() {
                    return Ok(());
                }
            }
            match handle {
                Handle::Array(mut array) => {
                    let source = Uncompressed::new(&data, 0, nbytes as u64);
                    array.set_from(&mut Pool::new(self.threads), &ranges, &source)?;
                    array.commit()
                }
                Handle::Rows(mut rows) => {
                    let first = ranges.first().map_or(0, |range| range.start);
                    let (rows, pool) = &mut *rows;
                    rows.set(pool, first, &data)
                }
            }
        };
        let done = py.detach(|| self.change(work));
        self.changed(done)?;
        raised.map_or(Ok(()), Err)
    }

    /// Adds rows along the first axis, in one commit.
    fn append(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Items(Memory::of(data)?);
        let work = |opened: Opened| opened.into_rows()?.data.append(&mut Pool::new(self.threads), &data);
        let done = py.detach(|| self.change(work));
        self.changed(done)
    }

    /// Changes the shape, in one commit: of what is no b2nd array the number of rows.
    fn resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        let old = self.state().shape.clone();
        if shape.len() != old.len() {
            return Err(PyValueError::new_err(format!(
                "{} sides were given, and the array has {} dimensions",
                shape.len(),
                old.len()
            )));
        }
        if self.about.kind != "b2nd" && shape.get(1..) != old.get(1..) {
            return Err(PyValueError::new_err("only the first side of this container can change"));
        }
        let work = |opened: Opened| match opened {
            Opened::Array(mut array) => {
                array.resize(&shape)?;
                array.commit()
            }
            other => {
                let rows = shape.first().copied().unwrap_or(0);
                other.into_rows()?.data.resize(&mut Pool::new(self.threads), rows)
            }
        };
        let done = py.detach(|| self.change(work));
        self.changed(done)
    }

    /// Closes the files. Reads that run meanwhile are finished.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let idle = self.state().idle.take();
            drop(idle);
        });
    }

    #[getter]
    fn closed(&self) -> bool {
        self.state().idle.is_none()
    }
}

impl Source {
    /// The ranges of a box of the array, whose items are so many bytes.
    fn check_box(&self, ranges: Vec<(u64, u64)>, nbytes: usize) -> PyResult<Vec<Range<u64>>> {
        let shape = self.state().shape.clone();
        let outside = |(range, &len): (&(u64, u64), &u64)| range.0 > range.1 || range.1 > len;
        if ranges.len() != shape.len() || ranges.iter().zip(&shape).any(outside) {
            return Err(PyValueError::new_err("the ranges are not a box of the array"));
        }
        let ranges: Vec<Range<u64>> = ranges.into_iter().map(|(start, stop)| start..stop).collect();
        let volume = ranges.iter().fold(self.item, |n, range| n.saturating_mul(range.end - range.start));
        match volume == nbytes as u64 {
            true => Ok(ranges),
            false => Err(PyValueError::new_err("the memory has not the size of the box")),
        }
    }
}
