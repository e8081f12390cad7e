//! Memory of Python as a new container.

use crate::buffer::Memory;
use crate::chunk::params;
use crate::errors::{of_chunk, of_frame};
use blosc_core::Pool;
use blosc_frame::any::of_raw;
use blosc_frame::bloscpack::Options;
use blosc_frame::convert::{Cut, Packing, Target, blosc1_params, convert};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::ReadAt;
use blosc_frame::value::{TextLimits, Value};
use blosc_frame::{Error, IoError, IoKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// The items of an array in C order, in memory of Python.
pub struct Items(pub Memory);

impl ReadAt for Items {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.0.bytes().len() as u64)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        self.0.bytes().read_at(offset, buf)
    }
    fn as_slice(&self) -> Option<&[u8]> {
        Some(self.0.bytes())
    }
}

/// How to write, as keywords of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct How {
    format: String,
    codec: String,
    level: i64,
    shuffle: i64,
    chunks: Option<Vec<u32>>,
    blocks: Option<Vec<u32>>,
    chunk_nbytes: Option<u64>,
    sparse: bool,
    metadata: Option<String>,
    threads: usize,
}

fn target(how: &How, item: u32) -> PyResult<Target> {
    let cut = how.chunks.is_some() || how.blocks.is_some();
    if cut && how.format != "b2nd" {
        return Err(PyValueError::new_err("chunks and blocks are for b2nd; others take chunk_nbytes"));
    }
    if how.chunk_nbytes.is_some() && matches!(&*how.format, "b2nd" | "npy") {
        return Err(PyValueError::new_err("chunk_nbytes is not for b2nd, which takes chunks, nor for npy"));
    }
    if how.sparse && !matches!(&*how.format, "b2nd" | "frame") {
        return Err(PyValueError::new_err("sparse is for b2nd and frame"));
    }
    let item_size = usize::try_from(item).unwrap_or(usize::MAX).max(1);
    let params = params(&how.codec, how.level, how.shuffle, 0, item_size)?;
    params.check().map_err(of_chunk)?;
    let packing = Packing::new(params).chunk(how.chunk_nbytes);
    Ok(match &*how.format {
        "b2nd" => Target::B2nd(
            packing,
            Cut::default().shapes(how.chunks.clone(), how.blocks.clone()).sparse(how.sparse),
        ),
        "frame" if how.sparse => Target::Sframe(packing),
        "frame" => Target::Cframe(packing),
        "bcolz" => Target::Bcolz(packing),
        "npy" => Target::Npy,
        "bloscpack" => {
            let defaults = Options { params: blosc1_params(&params), ..Options::default() };
            let chunk_size = how.chunk_nbytes.map_or(Ok(defaults.chunk_size), u32::try_from);
            let chunk_size = chunk_size.map_err(|_| PyValueError::new_err("chunk_nbytes is too large"))?;
            Target::Bloscpack(Options { chunk_size, ..defaults })
        }
        other => {
            let known = "b2nd, frame, bloscpack, bcolz or npy";
            return Err(PyValueError::new_err(format!("unknown format {other:?}; expected {known}")));
        }
    })
}

/// Takes away what a failed write has left behind. A name that was there before is not ours.
fn clean_up(path: &Path, error: Error) -> Error {
    if !matches!(error, Error::Io(IoError { kind: IoKind::AlreadyExists, .. })) {
        // What cannot be removed stays; the first error tells more.
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    error
}

/// Writes the bytes of `data`, items in C order, to the new container `path`. Returns what it cannot hold.
#[pyfunction]
pub fn save(
    py: Python<'_>,
    path: PathBuf,
    data: &Bound<'_, PyAny>,
    descr: &str,
    shape: Vec<u64>,
    how: How,
) -> PyResult<Vec<String>> {
    let shown = path.display().to_string();
    let fail = |error: Error| of_frame(error, &shown);
    let dtype = Dtype::parse_descr(descr).map_err(|error| fail(error.into()))?;
    let metadata =
        how.metadata.as_ref().map(|text| Value::parse_json(text.as_bytes(), &TextLimits::JSON)).transpose();
    let metadata = metadata.map_err(|error| PyValueError::new_err(format!("metadata: {error}")))?;
    let typesize = dtype.itemsize();
    let target = target(&how, typesize)?;
    if path.symlink_metadata().is_ok() {
        return Err(fail(IoKind::AlreadyExists.into()));
    }
    let mut input = of_raw(Items(Memory::of(data)?), Some(dtype), Some(shape), typesize).map_err(fail)?;
    input.about.metadata = metadata;
    let done = py.detach(move || {
        let (mut pool, mut encoder) = (Pool::new(1), Pool::new(how.threads));
        convert(&input, &mut pool, &mut encoder, &target, &path).map_err(|error| clean_up(&path, error))
    });
    done.map_err(fail)
}
