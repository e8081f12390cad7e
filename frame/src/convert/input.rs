//! Opening anything for conversion.

use super::msgpack;
use crate::b2nd::NdArray;
use crate::b2nd::dtype::Dtype;
use crate::b2nd::npy::NpyHeader;
use crate::bcolz::{CArray, CTable};
use crate::blaze::{Blaze, is_blaze};
use crate::bloscpack::{Bloscpack, Order};
use crate::error::{Error, IoKind, Structure};
use crate::io::{FsDir, Offset, ReadAt};
use crate::limits::Limits;
use crate::plain::{Plain, check_range};
use crate::schunk::SuperChunk;
use crate::value::Value;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Pool;
use core::cell::RefCell;
use std::fs::File;
use std::path::Path;

/// What is known about decoded bytes.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Kind of container they come from.
    pub kind: &'static str,
    /// Type of the items.
    pub dtype: Option<Dtype>,
    /// Shape of the array.
    pub shape: Option<Vec<u64>>,
    /// Whether the first index runs fastest.
    pub fortran: bool,
    /// Item size handed to Blosc.
    pub typesize: u32,
    /// User metadata or attributes.
    pub metadata: Option<Value>,
    /// What the source has that no other container gets.
    pub left_out: Vec<String>,
}

/// A container opened for conversion.
pub struct Input {
    /// The decoded bytes.
    pub plain: Box<dyn Plain>,
    /// What is known about them.
    pub about: About,
}

struct FilePlain {
    file: File,
    offset: u64,
    len: u64,
}

impl Plain for FilePlain {
    fn nbytes(&self) -> u64 {
        self.len
    }
    fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.len)?;
        Ok(self.file.read_exact_at(self.offset.saturating_add(at), out)?)
    }
}

struct FramePlain(RefCell<SuperChunk<'static>>);

impl Plain for FramePlain {
    fn nbytes(&self) -> u64 {
        self.0.borrow().nbytes()
    }
    fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = check_range(at, out.len(), self.nbytes())?;
        self.0.borrow_mut().read_bytes(at..end, out).map(drop)
    }
}

/// An array in C order; reads go by whole rows of the first axis.
struct ArrayPlain {
    array: RefCell<NdArray<'static>>,
    shape: Vec<u64>,
    row: u64,
    rows_per_chunk: u64,
}

impl Plain for ArrayPlain {
    fn nbytes(&self) -> u64 {
        self.shape.first().copied().unwrap_or(1).saturating_mul(self.row)
    }
    fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = check_range(at, out.len(), self.nbytes())?;
        if out.is_empty() {
            return Ok(());
        }
        let mut array = self.array.borrow_mut();
        if self.shape.is_empty() {
            let whole = array.get_all()?;
            let start = usize::try_from(at).unwrap_or(usize::MAX);
            let part = whole.get(start..).and_then(|w| w.get(..out.len())).ok_or(IoKind::UnexpectedEnd)?;
            out.copy_from_slice(part);
            return Ok(());
        }
        let (first, last) = (at.checked_div(self.row).unwrap_or(0), end.div_ceil(self.row.max(1)));
        let mut ranges: Vec<_> = self.shape.iter().map(|&n| 0..n).collect();
        if let Some(range) = ranges.first_mut() {
            *range = first..last;
        }
        let whole = first.saturating_mul(self.row) == at && last.saturating_mul(self.row) == end;
        if whole {
            return array.get_slice(&ranges, out);
        }
        let n = last.saturating_sub(first).saturating_mul(self.row);
        let mut rows = alloc::vec![0; usize::try_from(n).map_err(|_| IoKind::NoSpace)?];
        array.get_slice(&ranges, &mut rows)?;
        let skip = usize::try_from(at.saturating_sub(first.saturating_mul(self.row))).unwrap_or(usize::MAX);
        let part = rows.get(skip..).and_then(|r| r.get(..out.len())).ok_or(IoKind::UnexpectedEnd)?;
        out.copy_from_slice(part);
        Ok(())
    }
    fn chunk_nbytes(&self) -> u64 {
        self.rows_per_chunk.saturating_mul(self.row).max(1)
    }
}

/// Opens a container by what its first bytes or files say.
///
/// # Errors
/// [`Error::Unsupported`] for a file that is none; see [`open_raw`].
pub fn open_any(path: &Path, limits: &Limits) -> Result<Input, Error> {
    if path.is_dir() {
        let root = FsDir::open(path)?;
        if path.join("chunks.b2frame").is_file() {
            return frame(SuperChunk::open_dir(root, limits)?);
        }
        if path.join("__rootdirs__").exists() {
            return table(CTable::open(root, limits)?);
        }
        if is_blaze(&root) {
            return blaze(Blaze::open(&root, limits)?);
        }
        return carray(CArray::open(root, limits)?);
    }
    let file = File::open(path)?;
    let mut head = [0u8; 16];
    let n = ReadAt::read_at(&file, 0, &mut head)?;
    let head = head.get(..n).unwrap_or_default();
    if head.starts_with(b"blpk") {
        bloscpack(Bloscpack::open(file, limits)?)
    } else if head.starts_with(b"\x93NUMPY") {
        npy(file)
    } else if head.get(1..10) == Some(b"\xa8b2frame\0".as_slice()) {
        frame(SuperChunk::open_read(Offset::new(file, 0)?, limits)?)
    } else {
        Err(Error::Unsupported {
            structure: Structure::Directory,
            what: "a file that is no container known here",
        })
    }
}

/// Takes a file as plain items of `dtype`.
///
/// # Errors
/// [`Error::Param`] when the file does not hold whole items, or not as many as `shape` says.
pub fn open_raw(
    path: &Path,
    dtype: Option<Dtype>,
    shape: Option<Vec<u64>>,
    typesize: u32,
) -> Result<Input, Error> {
    let file = File::open(path)?;
    let len = file.size()?;
    let item = u64::from(dtype.as_ref().map_or(1, Dtype::itemsize)).max(1);
    let items =
        shape.as_ref().map_or(Some(len / item), |s| s.iter().try_fold(1u64, |n, &d| n.checked_mul(d)));
    if items.and_then(|n| n.checked_mul(item)) != Some(len) {
        let value = i64::try_from(len).unwrap_or(i64::MAX);
        return Err(Error::Param { name: "bytes", value, allowed: "as many as dtype and shape say" });
    }
    let typesize = dtype.as_ref().map_or(typesize, Dtype::itemsize);
    let about = About { kind: "bytes", dtype, shape, typesize, ..About::default() };
    Ok(Input { plain: Box::new(FilePlain { file, offset: 0, len }), about })
}

fn npy(file: File) -> Result<Input, Error> {
    let size = file.size()?;
    let mut bytes = alloc::vec![0u8; usize::try_from(size.min(66_000)).unwrap_or(0)];
    file.read_exact_at(0, &mut bytes)?;
    let header = NpyHeader::parse(&bytes)?;
    let offset = NpyHeader::length(&bytes)? as u64;
    let len = header.nbytes().unwrap_or(0);
    if offset.checked_add(len).is_none_or(|end| end > size) {
        return Err(Error::Truncated { structure: Structure::Npy, field: "items", offset, needed: len });
    }
    let about = About {
        kind: "npy",
        typesize: header.dtype.itemsize(),
        shape: Some(header.shape.to_vec()),
        fortran: header.fortran && header.shape.len() > 1,
        dtype: Some(header.dtype),
        ..About::default()
    };
    Ok(Input { plain: Box::new(FilePlain { file, offset, len }), about })
}

fn bloscpack(pack: Bloscpack<File>) -> Result<Input, Error> {
    let numpy = pack.numpy()?;
    let mut metadata = pack.metadata().cloned();
    if numpy.is_some()
        && let Some(Value::Object(pairs)) = &mut metadata
    {
        // The convention's own keys describe the array; what else there is belongs to the user.
        pairs.retain(|(name, _)| !matches!(name.as_str(), "dtype" | "shape" | "order" | "container"));
        metadata = match pairs.as_slice() {
            [] => None,
            [(name, value)] if name == "attributes" => Some(value.clone()),
            _ => metadata,
        };
    }
    let about = About {
        kind: "bloscpack",
        typesize: pack.header().typesize.max(1).into(),
        fortran: numpy.as_ref().is_some_and(|n| n.order == Order::F && n.shape.len() > 1),
        shape: numpy.as_ref().map(|n| n.shape.clone()),
        dtype: numpy.map(|n| n.dtype),
        metadata,
        ..About::default()
    };
    Ok(Input { plain: Box::new(pack), about })
}

fn attributes(attrs: &Value) -> Option<Value> {
    (attrs.as_object() != Some(&[])).then(|| attrs.clone())
}

fn carray(column: CArray<FsDir>) -> Result<Input, Error> {
    let about = About {
        kind: "bcolz",
        typesize: column.storage().typesize(),
        dtype: Some(column.storage().dtype.clone()),
        shape: Some(column.shape().to_vec()),
        metadata: attributes(column.attrs()),
        ..About::default()
    };
    Ok(Input { plain: Box::new(column), about })
}

fn table(table: CTable<FsDir>) -> Result<Input, Error> {
    let mut left_out = Vec::new();
    for (name, column) in table.columns() {
        if attributes(column.attrs()).is_some() {
            left_out.push(alloc::format!("attributes of column {name}"));
        }
    }
    let about = About {
        kind: "bcolz",
        typesize: u32::try_from(table.row_nbytes()).unwrap_or(1),
        dtype: Some(table.dtype()?),
        shape: Some(alloc::vec![table.rows()]),
        metadata: attributes(table.attrs()),
        left_out,
        ..About::default()
    };
    Ok(Input { plain: Box::new(table), about })
}

fn blaze(set: Blaze<FsDir>) -> Result<Input, Error> {
    let dtype = set.storage().names.dtype()?;
    let about = About {
        kind: "blaze",
        typesize: dtype.itemsize(),
        dtype: Some(dtype),
        shape: Some(set.shape().to_vec()),
        metadata: attributes(&set.attrs()),
        ..About::default()
    };
    Ok(Input { plain: Box::new(set), about })
}

fn frame(mut frame: SuperChunk<'static>) -> Result<Input, Error> {
    let mut left_out = Vec::new();
    let mut pairs = Vec::new();
    let names: Vec<String> = frame.vlmetalayer_names().collect();
    for name in names.iter().filter(|name| *name != crate::schunk::CHECKSUMS_NAME) {
        let content = frame.vlmetalayer(name)?.unwrap_or_default();
        match msgpack::read(&content) {
            Some(value) => pairs.push((name.clone(), value)),
            None => left_out.push(alloc::format!("vlmetalayer {name} (no MessagePack that JSON could say)")),
        }
    }
    let is_array = frame.metalayer("b2nd").is_some();
    for name in frame.metalayer_names().filter(|name| name != "b2nd") {
        left_out.push(alloc::format!("metalayer {name}"));
    }
    let metadata = (!pairs.is_empty()).then_some(Value::Object(pairs));
    let kind = if is_array { "b2nd" } else { "frame" };
    let mut about = About { kind, typesize: frame.typesize(), metadata, left_out, ..About::default() };
    if !is_array {
        return Ok(Input { plain: Box::new(FramePlain(RefCell::new(frame))), about });
    }
    let array = NdArray::open(frame)?;
    let shape = array.shape().to_vec();
    let item = u64::from(array.geometry().typesize());
    let row = shape.iter().skip(1).fold(item, |n, &dim| n.saturating_mul(dim));
    about.dtype = Some(array.dtype().clone());
    about.shape = Some(shape.clone());
    let rows_per_chunk = u64::from(array.geometry().chunks().first().copied().unwrap_or(1)).max(1);
    let plain = ArrayPlain { array: RefCell::new(array), shape, row, rows_per_chunk };
    Ok(Input { plain: Box::new(plain), about })
}
