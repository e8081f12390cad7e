//! One chunk: what the codecs for numcodecs and Zarr are made of.

use crate::buffer::Memory;
use crate::errors::of_chunk;
use blosc_core::{Chunk, ChunkContext, Codec, Error, Header, Limits, Params, Pool, max_encoded_len};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::cell::RefCell;
use std::sync::OnceLock;

thread_local! {
    /// Scratch memory and codec contexts of this thread.
    static POOL: RefCell<Pool> = RefCell::new(Pool::new(1));
}

/// Runs `work` with a pool of `threads` threads (0: one for each core): this thread's, where it is alone.
fn with_pool<T>(threads: usize, work: impl FnOnce(&mut Pool) -> T) -> T {
    if threads == 1 { POOL.with_borrow_mut(work) } else { work(&mut Pool::new(threads)) }
}

/// Parameters as numcodecs names them, checked as those of Blosc1.
pub fn params(codec: &str, level: i64, shuffle: i64, blocksize: i64, typesize: usize) -> PyResult<Params> {
    let bad = |what: String| Err(PyValueError::new_err(what));
    let known = matches!(codec, "blosclz" | "lz4" | "lz4hc" | "snappy" | "zlib" | "zstd");
    let Some(codec) = codec.parse::<Codec>().ok().filter(|_| known) else {
        return bad(format!(
            "bad compressor or compressor not supported: {codec:?}; expected blosclz, lz4, lz4hc, snappy, zlib or zstd"
        ));
    };
    let Ok(level) = u8::try_from(level) else {
        return bad(format!("invalid level {level}; expected 0 to 9"));
    };
    if typesize < 1 {
        return bad(format!("cannot use typesize {typesize} less than 1"));
    }
    // Blosc1 has one byte for the item size; what is larger is not shuffled.
    let typesize = u32::try_from(typesize).ok().filter(|&size| size <= 255).unwrap_or(1);
    let params = Params::new(typesize).codec(codec).level(level);
    let params = match shuffle {
        0 => params.no_filter(),
        1 => params.shuffle(),
        2 => params.bitshuffle(),
        -1 if typesize == 1 => params.bitshuffle(),
        -1 => params.shuffle(),
        _ => return bad(format!("invalid shuffle argument; expected -1, 0, 1 or 2, found {shuffle}")),
    };
    // 0 and less leave the block size to the encoder, which takes one above the size of the data for that size.
    let blocksize = (blocksize > 0).then(|| u32::try_from(blocksize).unwrap_or(u32::MAX));
    params.blosc1(true).check().map_err(of_chunk)?;
    Ok(params.blocksize(blocksize))
}

/// Compresses `data` into one Blosc1 chunk, with the parameters of `numcodecs.Blosc`.
#[pyfunction]
#[pyo3(signature = (data, *, cname = "lz4", clevel = 5, shuffle = 1, blocksize = 0, typesize = None, threads = 1))]
// One parameter for each keyword.
#[expect(clippy::too_many_arguments)]
pub fn compress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    cname: &str,
    clevel: i64,
    shuffle: i64,
    blocksize: i64,
    typesize: Option<usize>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = Memory::of(data)?;
    let params = params(cname, clevel, shuffle, blocksize, typesize.unwrap_or(data.item_size()))?;
    let bytes = data.bytes();
    let params = params.c_blosc(bytes.len());
    new_bytes(py, max_encoded_len(bytes.len()), |chunk| {
        with_pool(threads, |pool| pool.compress_into(&params, ChunkContext::default(), bytes, chunk))
    })
}

/// The chunk in `bytes`, if it decodes to no more than `limit` bytes.
fn parse(bytes: &[u8], limit: Option<u64>) -> Result<Chunk<'_>, Error> {
    let output = limit.unwrap_or_else(|| Limits::plausible(bytes.len()));
    Chunk::parse_with(bytes, &Limits::DEFAULT.output(output))
}

/// New `bytes` of the length that `write` answers, which it has written of `room` bytes without the interpreter's lock.
///
/// The memory is not set before, and what was not written is given back: of a chunk that is compressed well, most of the
/// room is never paged in.
fn new_bytes<'py>(
    py: Python<'py>,
    room: usize,
    write: impl FnOnce(&mut [u8]) -> Result<usize, Error> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    if room == 0 {
        // Shared by the whole interpreter, so nothing may be written to it.
        return Ok(PyBytes::new(py, &[]));
    }
    let size = isize::try_from(room).map_err(|_| PyMemoryError::new_err(()))?;
    // SAFETY: the interpreter is attached (`py`), and a null pointer asks for bytes that are not yet set; the result is
    // a new reference or null with an exception set, as `from_owned_ptr_or_err` wants it.
    let object = unsafe {
        let raw = pyo3::ffi::PyBytes_FromStringAndSize(std::ptr::null(), size);
        Bound::from_owned_ptr_or_err(py, raw)?.cast_into_unchecked::<PyBytes>()
    };
    // SAFETY: the object holds `room` bytes at this address, and has just been made: no other reference to it exists
    // before this function returns, so writing to it is allowed (the documentation of `PyBytes_FromStringAndSize`).
    // The memory comes from a foreign allocator; encoder and decoder write it before they read it, and where they fail
    // the object is dropped.
    let out = unsafe {
        let start = pyo3::ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>();
        std::slice::from_raw_parts_mut(start, room)
    };
    let written = py.detach(|| write(out)).map_err(of_chunk)?;
    if written < room { shrunk(py, object, written) } else { Ok(object) }
}

/// `_PyBytes_Resize`: documented for extensions, but not in the stable ABI, so it is looked up.
type Resize = unsafe extern "C" fn(*mut *mut pyo3::ffi::PyObject, pyo3::ffi::Py_ssize_t) -> core::ffi::c_int;

#[cfg(unix)]
fn resize() -> Option<Resize> {
    // SAFETY: the name is a C string, and `RTLD_DEFAULT` is where a process looks up names.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_PyBytes_Resize".as_ptr()) };
    // SAFETY: a function of this name has this type in every CPython.
    (!found.is_null()).then(|| unsafe { core::mem::transmute::<*mut core::ffi::c_void, Resize>(found) })
}

#[cfg(not(unix))]
fn resize() -> Option<Resize> {
    None
}

/// The first `len` bytes of `object`, which nothing else refers to: in its own memory where the interpreter lends a hand,
/// else copied.
fn shrunk<'py>(py: Python<'py>, object: Bound<'py, PyBytes>, len: usize) -> PyResult<Bound<'py, PyBytes>> {
    static RESIZE: OnceLock<Option<Resize>> = OnceLock::new();
    let Some(resize) = RESIZE.get_or_init(resize) else {
        return Ok(PyBytes::new(py, object.as_bytes().get(..len).unwrap_or_default()));
    };
    let size = isize::try_from(len).map_err(|_| PyMemoryError::new_err(()))?;
    let mut raw = object.into_ptr();
    // SAFETY: the interpreter is attached (`py`), and `raw` is the one reference to the object, as `_PyBytes_Resize` wants
    // it. The call leaves a reference to the resized object in `raw`, or null with an exception set.
    unsafe {
        resize(&mut raw, size);
        Ok(Bound::from_owned_ptr_or_err(py, raw)?.cast_into_unchecked::<PyBytes>())
    }
}

/// Where decoded bytes go: the caller's memory, or new `bytes`.
fn decode_to<'py>(
    py: Python<'py>,
    out: Option<Bound<'py, PyAny>>,
    len: usize,
    decode: impl FnOnce(&mut [u8]) -> Result<usize, Error> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(out) = out else { return Ok(new_bytes(py, len, decode)?.into_any()) };
    let mut memory = Memory::of(&out)?;
    let bytes = memory.bytes_mut()?;
    let given = bytes.len();
    let Some(bytes) = bytes.get_mut(..len) else {
        return Err(PyValueError::new_err(format!(
            "destination buffer too small; expected at least {len}, got {given}"
        )));
    };
    py.detach(|| decode(bytes)).map_err(of_chunk)?;
    Ok(out)
}

/// Decompresses a chunk into `out`, or into new `bytes`. A chunk of more than `limit` bytes is refused before memory is
/// reserved for it; without a limit, 256 MiB or 256 times the size of the chunk are allowed. Several `threads` (0: one
/// for each core) decode the blocks of a chunk of 256 KiB or more side by side.
#[pyfunction]
#[pyo3(signature = (chunk, out = None, *, limit = None, threads = 1))]
pub fn decompress<'py>(
    py: Python<'py>,
    chunk: &Bound<'py, PyAny>,
    out: Option<Bound<'py, PyAny>>,
    limit: Option<u64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let memory = Memory::of(chunk)?;
    let chunk =
        parse(memory.bytes(), if out.is_some() { Some(u64::MAX) } else { limit }).map_err(of_chunk)?;
    decode_to(py, out, chunk.nbytes(), |bytes| {
        with_pool(threads, |pool| pool.decompress_into(&chunk, ChunkContext::default(), bytes))
    })
}

/// Decompresses bytes `start` to `stop` of what a chunk holds, decoding only the blocks that they touch.
#[pyfunction]
#[pyo3(signature = (chunk, start, stop, out = None))]
pub fn decompress_range<'py>(
    py: Python<'py>,
    chunk: &Bound<'py, PyAny>,
    start: usize,
    stop: usize,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let memory = Memory::of(chunk)?;
    let chunk = parse(memory.bytes(), Some(u64::MAX)).map_err(of_chunk)?;
    let outside = Error::OutOfRange { index: start.max(stop) as u64, len: chunk.nbytes() as u64 };
    let len = stop.checked_sub(start).filter(|_| stop <= chunk.nbytes()).ok_or_else(|| of_chunk(outside))?;
    decode_to(py, out, len, |bytes| {
        with_pool(1, |pool| pool.get_bytes(&chunk, ChunkContext::default(), start..stop, bytes))
    })
}

/// What the header of a chunk says.
#[pyfunction]
pub fn chunk_info<'py>(py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let memory = Memory::of(chunk)?;
    let header = Header::parse(memory.bytes()).map_err(of_chunk)?;
    let info = PyDict::new(py);
    info.set_item("nbytes", header.nbytes)?;
    info.set_item("cbytes", header.cbytes)?;
    info.set_item("blocksize", header.blocksize)?;
    info.set_item("typesize", header.typesize)?;
    info.set_item("codec", header.codec.name())?;
    let filters = header.filters.iter().filter(|slot| slot.filter != blosc_core::Filter::None);
    info.set_item("filters", filters.map(|slot| slot.filter.name()).collect::<Vec<_>>())?;
    Ok(info)
}
