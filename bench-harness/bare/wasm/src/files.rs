//! A file that the page has read into memory: what it holds, and its decoded bytes.
//!
//! ```text
//! .b2nd .b2frame   "b2frame" at byte 2        -> array, if it has the metalayer of one, or frame
//! .blp             "blpk" at byte 0           -> bloscpack
//! anything else                               -> chunk
//! ```
//! Every function returns the length of what is at `output()`. For errors `failed()` is 1 and that is a text.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use blosc_core::{Chunk, Pool};
use blosc_frame::b2nd::{Dtype, NdArray, show};
use blosc_frame::bloscpack::Bloscpack;
use blosc_frame::value::Value;
use blosc_frame::{Limits, SuperChunk, msgpack};

extern crate alloc;

#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Rows and columns of a preview, and items of one that has no shape.
const ROWS: u64 = 12;
const COLUMNS: u64 = 8;
const ITEMS: u64 = 64;
/// Chunks that are listed one by one.
const LISTED: u64 = 200;

static mut STATE: State = State { input: Vec::new(), output: Vec::new(), failed: false };

struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    failed: bool,
}

/// The state, for one call from the host.
fn state() -> &'static mut State {
    // SAFETY: wasm has one thread, and each exported function calls this once and returns before the next runs.
    unsafe { &mut *&raw mut STATE }
}

/// Where the host writes a file of `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    let state = state();
    state.input = vec![0; len];
    state.input.as_mut_ptr()
}

/// Where the last result lies.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    state().output.as_ptr()
}

/// 1 if the last result is the text of an error.
#[unsafe(no_mangle)]
pub extern "C" fn failed() -> i32 {
    i32::from(state().failed)
}

/// JSON that tells what the file holds, with a preview of its items.
#[unsafe(no_mangle)]
pub extern "C" fn describe() -> usize {
    finish(|bytes| Ok(about(bytes)?.to_json_compact().into_bytes()))
}

/// All decoded bytes of the file; of an array in C order.
#[unsafe(no_mangle)]
pub extern "C" fn decode() -> usize {
    finish(|bytes| match kind(bytes) {
        Kind::Frame => {
            let mut frame = SuperChunk::from_slice(bytes).map_err(text)?;
            if is_array(&frame) {
                NdArray::open(frame).and_then(|mut array| array.get_all()).map_err(text)
            } else {
                frame.read_all().map_err(text)
            }
        }
        Kind::Bloscpack => {
            let file = Bloscpack::open(bytes, &Limits::DEFAULT).map_err(text)?;
            file.read_all(&mut Pool::new(1)).map_err(text)
        }
        Kind::Chunk => blosc_core::decompress(bytes).map_err(text),
    })
}

fn finish(work: impl FnOnce(&[u8]) -> Result<Vec<u8>, String>) -> usize {
    let state = state();
    let result = work(&state.input);
    state.failed = result.is_err();
    state.output = result.unwrap_or_else(String::into_bytes);
    state.output.len()
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

enum Kind {
    Frame,
    Bloscpack,
    Chunk,
}

fn kind(bytes: &[u8]) -> Kind {
    if bytes.get(2..9) == Some(b"b2frame") {
        Kind::Frame
    } else if bytes.starts_with(b"blpk") {
        Kind::Bloscpack
    } else {
        Kind::Chunk
    }
}

fn is_array(frame: &SuperChunk<'_>) -> bool {
    frame.metalayer("b2nd").is_some() || frame.metalayer("caterva").is_some()
}

fn about(bytes: &[u8]) -> Result<Value, String> {
    match kind(bytes) {
        Kind::Frame => {
            let mut frame = SuperChunk::from_slice(bytes).map_err(text)?;
            let mut about = frame_about(&mut frame, bytes.len())?;
            if is_array(&frame) {
                array_about(NdArray::open(frame).map_err(text)?, &mut about)?;
            } else {
                let size = u64::from(frame.typesize());
                let mut items = vec![0; usize::try_from(frame.nbytes().min(ITEMS * size)).unwrap_or(0)];
                let count = (items.len() as u64).checked_div(size).unwrap_or(0);
                items.truncate(usize::try_from(count * size).unwrap_or(0));
                frame.read_items(0..count, &mut items).map_err(text)?;
                preview(&mut about, &[count], size, None, &items);
            }
            Ok(about)
        }
        Kind::Bloscpack => bloscpack_about(bytes),
        Kind::Chunk => chunk_about(bytes),
    }
}

fn list(numbers: impl IntoIterator<Item = u64>) -> Value {
    Value::List(numbers.into_iter().map(Value::int).collect())
}

/// The items to show, as text, and the shape they lie in. Items without a type are shown as hexadecimal digits.
fn preview(about: &mut Value, shape: &[u64], size: u64, dtype: Option<&Dtype>, bytes: &[u8]) {
    let size = usize::try_from(size).unwrap_or(1).max(1);
    let hex = |item: &[u8]| item.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let items =
        bytes.chunks_exact(size).map(|item| Value::text(dtype.map_or_else(|| hex(item), |d| show(d, item))));
    about.set(
        "preview",
        Value::object([("shape", list(shape.iter().copied())), ("items", Value::List(items.collect()))]),
    );
}

fn params(about: &mut Value, params: &blosc_core::Params) {
    let filters = params.filters.iter().filter(|slot| slot.filter.id() != 0);
    about.set("codec", Value::text(params.codec.name()));
    about.set("filters", Value::List(filters.map(|slot| Value::text(slot.filter.name())).collect()));
}

/// One row of the list of chunks.
fn row(at: u64, nbytes: u64, stored: Value) -> Value {
    Value::object([("chunk", Value::int(at)), ("nbytes", Value::int(nbytes)), ("stored", stored)])
}

fn frame_about(frame: &mut SuperChunk<'_>, file: usize) -> Result<Value, String> {
    let mut about = Value::object([
        ("kind", Value::text("contiguous frame")),
        ("file bytes", Value::int(file as u64)),
        ("decoded bytes", Value::int(frame.nbytes())),
        ("typesize", Value::int(frame.typesize())),
        ("chunks", Value::int(frame.nchunks())),
    ]);
    params(&mut about, &frame.params());
    let mut metalayers = Vec::new();
    for name in frame.metalayer_names().collect::<Vec<_>>() {
        let content = frame.metalayer(&name).unwrap_or_default().to_owned();
        metalayers.push(metalayer(name, &content));
    }
    about.set("metalayers", Value::List(metalayers));
    let mut variable = Vec::new();
    for name in frame.vlmetalayer_names().collect::<Vec<_>>() {
        let content = frame.vlmetalayer(&name).map_err(text)?.unwrap_or_default();
        variable.push(metalayer(name, &content));
    }
    about.set("vlmetalayers", Value::List(variable));
    let mut rows = Vec::new();
    for k in 0..frame.nchunks().min(LISTED) {
        let stored = match frame.special(k) {
            Some(special) => Value::text(format!("{special:?}").to_lowercase()),
            None => frame.chunk_header(k).map_err(text)?.map_or(Value::Null, |h| Value::int(h.cbytes)),
        };
        rows.push(row(k, frame.chunk_nbytes(k).map_err(text)?.into(), stored));
    }
    about.set("list", Value::List(rows));
    Ok(about)
}

fn metalayer(name: String, content: &[u8]) -> Value {
    let shown = content.get(..64).unwrap_or(content);
    let value =
        msgpack::to_value(content).unwrap_or_else(|_| Value::text(format!("{}", shown.escape_ascii())));
    Value::object([
        ("name", Value::text(name)),
        ("bytes", Value::int(content.len() as u64)),
        ("value", value),
    ])
}

fn array_about(mut array: NdArray<'_>, about: &mut Value) -> Result<(), String> {
    let shape: Vec<u64> = array.shape().to_vec();
    about.set("kind", Value::text("array"));
    about.set("dtype", Value::text(array.dtype_text()));
    about.set("shape", list(shape.iter().copied()));
    about.set("chunkshape", list(array.geometry().chunks().iter().map(|&n| n.into())));
    about.set("blockshape", list(array.geometry().blocks().iter().map(|&n| n.into())));
    // The first corner of the last two axes.
    let ndim = shape.len();
    let shown: Vec<u64> = shape
        .iter()
        .enumerate()
        .map(|(axis, &len)| match ndim - axis {
            1 if ndim == 1 => len.min(ITEMS),
            1 => len.min(COLUMNS),
            2 => len.min(ROWS),
            _ => len.min(1),
        })
        .collect();
    let items = shown.iter().product::<u64>() * u64::from(array.frame().typesize());
    let mut bytes = vec![0; usize::try_from(items).map_err(text)?];
    let ranges: Vec<_> = shown.iter().map(|&n| 0..n).collect();
    array.get_slice(&ranges, &mut bytes).map_err(text)?;
    let size = array.frame().typesize().into();
    let dtype = array.opaque().is_none().then(|| array.dtype());
    preview(about, shown.get(ndim.saturating_sub(2)..).unwrap_or(&shown), size, dtype, &bytes);
    Ok(())
}

fn bloscpack_about(bytes: &[u8]) -> Result<Value, String> {
    use blosc_frame::plain::Plain;
    let file = Bloscpack::open(bytes, &Limits::DEFAULT).map_err(text)?;
    let numpy = file.numpy().map_err(text)?;
    let nbytes = Plain::nbytes(&file);
    let mut about = Value::object([
        ("kind", Value::text("bloscpack")),
        ("file bytes", Value::int(bytes.len() as u64)),
        ("decoded bytes", Value::int(nbytes)),
        ("chunks", Value::int(file.nchunks())),
    ]);
    let mut size = 1;
    if let Some(numpy) = &numpy {
        about.set("dtype", Value::text(numpy.dtype.to_string()));
        about.set("shape", list(numpy.shape.iter().copied()));
        size = nbytes.checked_div(numpy.shape.iter().product()).unwrap_or(1).max(1);
    }
    if let Some(metadata) = file.metadata() {
        about.set("metadata", metadata.clone());
    }
    let mut rows = Vec::new();
    for k in 0..file.nchunks().min(LISTED) {
        let range = file.chunk_range(k);
        rows.push(row(
            k,
            range.end - range.start,
            Value::int(file.chunk_bytes(k).map_err(text)?.len() as u64),
        ));
    }
    if let Some(chunk) = file.chunk_bytes(0).ok().filter(|_| file.nchunks() > 0) {
        about.set("codec", Value::text(Chunk::parse(&chunk).map_err(text)?.header().codec.name()));
    }
    about.set("list", Value::List(rows));
    let shown = (nbytes / size).min(ITEMS);
    let mut items = vec![0; usize::try_from(shown * size).map_err(text)?];
    file.read_plain(&mut Pool::new(1), 0, &mut items).map_err(text)?;
    preview(&mut about, &[shown], size, numpy.as_ref().map(|n| &n.dtype), &items);
    Ok(about)
}

fn chunk_about(bytes: &[u8]) -> Result<Value, String> {
    let chunk = Chunk::parse(bytes).map_err(text)?;
    let header = chunk.header();
    let mut about = Value::object([
        ("kind", Value::text("chunk")),
        ("file bytes", Value::int(bytes.len() as u64)),
        ("decoded bytes", Value::int(chunk.nbytes() as u64)),
        ("typesize", Value::int(header.typesize)),
        ("blocks", Value::int(chunk.nblocks() as u64)),
        ("codec", Value::text(header.codec.name())),
    ]);
    let filters = header.filters.iter().filter(|slot| slot.filter.id() != 0);
    about.set("filters", Value::List(filters.map(|slot| Value::text(slot.filter.name())).collect()));
    let size = u64::from(header.typesize);
    let shown = (chunk.nbytes() as u64 / size).min(ITEMS);
    let mut items = vec![0; usize::try_from(shown * size).map_err(text)?];
    let range = 0..items.len();
    Pool::new(1).get_bytes(&chunk, Default::default(), range, &mut items).map_err(text)?;
    preview(&mut about, &[shown], size, None, &items);
    Ok(about)
}
