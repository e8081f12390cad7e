//! [`AnyRows`]: a container as rows, whatever kind it is; opened here where it is no frame.

use crate::bcolz::{CArray, CTable, Flavour};
use crate::blaze::{Blaze, Shards};
use crate::bloscpack::PackRows;
use crate::dtype::Dtype;
use crate::error::{Error, FileError, Structure};
use crate::io::{FsDir, Locking, Offset, PathFile, ReadAt, ReadOnly, Store, parent};
use crate::kind::{Found, Kind, Source};
use crate::limits::{Limits, within};
use crate::npy::NpyHeader;
use crate::plain::{Plain, Uncompressed, plain_by};
use crate::reversed::AxesReversed;
use crate::rows::Rows;
use crate::tensor::TensorMeta;
use crate::value::{TextLimits, Value};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Params, Pool};
use core::ops::{Deref, DerefMut, Range};
use std::path::Path;

/// What is known about decoded bytes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct About {
    /// Kind of container they come from.
    pub kind: &'static str,
    /// Type of the items.
    pub dtype: Option<Dtype>,
    /// Shape of the array.
    pub shape: Option<Vec<u64>>,
    /// Item size handed to Blosc.
    pub typesize: u32,
    /// User metadata or attributes.
    pub metadata: Option<Value>,
    /// What new rows are filled with, where that is not zero.
    pub fill: Option<Value>,
    /// How the chunks are written, as far as the container tells.
    pub params: Option<Params>,
    /// What the source has that no other container gets.
    pub left_out: Vec<String>,
    /// What a frame says of a tensor in it.
    pub tensor: Option<TensorMeta>,
}

/// A container as rows, whatever kind it is.
#[non_exhaustive]
pub struct AnyRows {
    /// The decoded bytes, row by row.
    pub data: Container,
    /// What is known about them.
    pub about: About,
    /// Most bytes that a single call may decode of it.
    pub(super) most: u64,
}

impl AnyRows {
    fn new(data: Container, about: About) -> AnyRows {
        AnyRows { data, about, most: u64::MAX }
    }

    /// Holds calls that decode all of it to `limits`, for a container that takes as many bytes as `size` finds.
    fn within(self, limits: &Limits, size: impl FnOnce() -> Result<u64, Error>) -> Result<AnyRows, Error> {
        // Looking at every file of a directory takes long, and is seldom necessary.
        let small = self.data.nbytes() <= limits.output;
        let most = if small { limits.output } else { limits.most(size()?) };
        Ok(AnyRows { most, ..self })
    }

    /// Whether all of it may be decoded by one call: the [limits](Limits::output) that it was opened with say so.
    ///
    /// # Errors
    /// [`Error::Limit`].
    pub fn check_limit(&self) -> Result<(), Error> {
        within("decoded bytes", self.data.nbytes(), self.most)
    }
}

/// A container by its kind, for who asks for more than rows.
#[non_exhaustive]
pub enum Container {
    /// A bloscpack file.
    Bloscpack(PackRows<Box<dyn Store + Send + Sync>>),
    /// A bcolz column.
    Column(CArray<FsDir>),
    /// A bcolz table.
    Table(CTable<FsDir>),
    /// A Blaze dataset.
    Blaze(Blaze<FsDir>),
    /// A frame, an array, or a file that is not compressed.
    Other(Box<dyn Rows + Send>),
}

impl Deref for Container {
    type Target = dyn Rows;

    fn deref(&self) -> &(dyn Rows + 'static) {
        match self {
            Container::Bloscpack(rows) => rows,
            Container::Column(rows) => rows,
            Container::Table(rows) => rows,
            Container::Blaze(rows) => rows,
            Container::Other(rows) => &**rows,
        }
    }
}

impl DerefMut for Container {
    fn deref_mut(&mut self) -> &mut (dyn Rows + 'static) {
        match self {
            Container::Bloscpack(rows) => rows,
            Container::Column(rows) => rows,
            Container::Table(rows) => rows,
            Container::Blaze(rows) => rows,
            Container::Other(rows) => &mut **rows,
        }
    }
}

plain_by!([] Container, this => (**this));

/// Items that are not compressed, which nothing here changes.
struct Unchangeable<P>(P);

plain_by!([P: Plain] Unchangeable<P>, this => this.0);

impl<P: Plain> Rows for Unchangeable<P> {
    fn row_nbytes(&self) -> u64 {
        1
    }
    fn splice(&mut self, _: &mut Pool, _: Range<u64>, _: &dyn ReadAt) -> Result<(), Error> {
        unchangeable()
    }
    fn resize(&mut self, _: &mut Pool, _: u64) -> Result<(), Error> {
        unchangeable()
    }
}

fn unchangeable() -> Result<(), Error> {
    Err(Error::Unsupported { structure: Structure::Npy, what: "changing a file that is not compressed" })
}

pub(super) fn unknown() -> Error {
    Error::Unsupported { structure: Structure::Directory, what: "a path that is no container known here" }
}

/// Opens what was found, if it is rows and no frame, as [`open_found`](super::open_found) says.
pub(super) fn open_rows(found: Found, limits: &Limits, anywhere: bool) -> Result<AnyRows, Error> {
    let Found { kind, offset, .. } = found;
    let path = found.path.clone();
    let Some(file) = found.file else {
        return open_directory(found, limits)?.within(limits, || directory_size(&path));
    };
    let size = file.size()?;
    let opened = match kind {
        Kind::Bloscpack => {
            let store: Box<dyn Store + Send + Sync> = match offset {
                0 => file.into_store(),
                _ => Box::new(ReadOnly(Offset::new(file, offset)?)),
            };
            bloscpack(PackRows::open(store, limits)?)
        }
        Kind::Npy => npy(Offset::new(file, offset)?),
        Kind::Shards => {
            // The data of a manifest lies elsewhere.
            let shards = open_shards(&found.path, &file, limits, anywhere, found.write)?;
            return blaze(shards)?.within(limits, || Ok(1 << 40));
        }
        _ => Err(unknown()),
    }?;
    opened.within(limits, || Ok(size))
}

/// Bytes of all files in a directory and in those below it.
fn directory_size(path: &Path) -> Result<u64, Error> {
    let mut size = 0u64;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let more = match entry.file_type()? {
            kind if kind.is_dir() => directory_size(&entry.path())?,
            kind if kind.is_file() => entry.metadata()?.len(),
            _ => 0,
        };
        size = size.saturating_add(more);
    }
    Ok(size)
}

fn open_directory(found: Found, limits: &Limits) -> Result<AnyRows, Error> {
    match found.kind {
        Kind::Bcolz(Flavour::Table) => table(CTable::open(found.directory()?, limits)?),
        Kind::Bcolz(_) => carray(CArray::open(found.directory()?, limits)?),
        Kind::Blaze => blaze(Blaze::open(&found.directory()?, limits)?),
        _ => Err(unknown()),
    }
}

/// Opens the dataset that the manifest `file` describes, which lies at `path`.
fn open_shards(
    path: &Path,
    file: &Source,
    limits: &Limits,
    anywhere: bool,
    write: Option<Locking>,
) -> Result<Blaze<FsDir>, Error> {
    let (size, limit) = (file.size()?, TextLimits::JSON.bytes as u64);
    within("bytes of a manifest", size, limit)?;
    let mut text = alloc::vec![0; usize::try_from(size).unwrap_or(0)];
    file.read_exact_at(0, &mut text)?;
    let base = parent(path);
    let shards = Shards::parse(&text, anywhere)?;
    match write {
        Some(locking) => shards.open_rw(base, limits, locking),
        None => shards.open(base, limits),
    }
}

/// Takes a file as plain items of `dtype`.
///
/// # Errors
/// [`Error::Param`] when the file does not hold whole items, or another number than `shape` needs.
pub fn open_raw(
    path: impl AsRef<Path>,
    dtype: Option<Dtype>,
    shape: Option<Vec<u64>>,
    typesize: u32,
) -> Result<AnyRows, FileError> {
    let path = path.as_ref();
    of_raw(PathFile::open(path)?, dtype, shape, typesize).map_err(FileError::at(path))
}

/// Takes bytes, of memory for example, as plain items of `dtype`.
///
/// # Errors
/// As [`open_raw`].
pub fn of_raw(
    source: impl ReadAt + Send + 'static,
    dtype: Option<Dtype>,
    shape: Option<Vec<u64>>,
    typesize: u32,
) -> Result<AnyRows, Error> {
    let len = source.size()?;
    let item = u64::from(dtype.as_ref().map_or(1, Dtype::itemsize)).max(1);
    let items =
        shape.as_ref().map_or(Some(len / item), |s| s.iter().try_fold(1u64, |n, &d| n.checked_mul(d)));
    if items.and_then(|n| n.checked_mul(item)) != Some(len) {
        let value = i64::try_from(len).unwrap_or(i64::MAX);
        return Err(Error::Param {
            name: "bytes",
            value,
            allowed: "the number of bytes that dtype and shape need",
        });
    }
    let typesize = dtype.as_ref().map_or(typesize, Dtype::itemsize);
    let about = About { kind: "bytes", dtype, shape, typesize, ..About::default() };
    Ok(AnyRows::new(Container::Other(Box::new(Unchangeable(Uncompressed::new(source, 0, len)))), about))
}

fn npy(file: Offset<Source>) -> Result<AnyRows, Error> {
    let size = file.size()?;
    let mut bytes = alloc::vec![0u8; usize::try_from(size.min(66_000)).unwrap_or(0)];
    file.read_exact_at(0, &mut bytes)?;
    let header = NpyHeader::parse(&bytes)?;
    let offset = NpyHeader::length(&bytes)? as u64;
    let len = header.nbytes().unwrap_or(0);
    if offset.checked_add(len).is_none_or(|end| end > size) {
        return Err(Error::Truncated { structure: Structure::Npy, field: "items", offset, needed: len });
    }
    let items = Uncompressed::new(file, offset, len);
    let data: Box<dyn Rows + Send> = match header.fortran && header.shape.len() > 1 {
        true => Box::new(Unchangeable(AxesReversed::new(items, &header.shape, header.dtype.itemsize())?)),
        false => Box::new(Unchangeable(items)),
    };
    let about = About {
        kind: "npy",
        typesize: header.dtype.itemsize(),
        shape: Some(header.shape.to_vec()),
        dtype: Some(header.dtype),
        ..About::default()
    };
    Ok(AnyRows::new(Container::Other(data), about))
}

fn bloscpack(pack: PackRows<Box<dyn Store + Send + Sync>>) -> Result<AnyRows, Error> {
    let numpy = pack.numpy().cloned();
    let mut metadata = pack.pack().metadata().cloned();
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
        typesize: pack.pack().header().typesize.max(1).into(),
        shape: numpy.as_ref().map(|n| n.shape.clone()),
        dtype: numpy.map(|n| n.dtype),
        metadata,
        // A damaged last chunk is for whoever reads it to report.
        params: pack.params().ok(),
        ..About::default()
    };
    Ok(AnyRows::new(Container::Bloscpack(pack), about))
}

fn attributes(attrs: &Value) -> Option<Value> {
    (attrs.as_object() != Some(&[])).then(|| attrs.clone())
}

fn carray(column: CArray<FsDir>) -> Result<AnyRows, Error> {
    let about = About {
        kind: "bcolz",
        typesize: column.storage().typesize(),
        dtype: Some(column.storage().dtype.clone()),
        shape: Some(column.shape().to_vec()),
        metadata: attributes(column.attrs()),
        fill: fill(&column.storage().dflt),
        params: column.storage().cparams.params(1).ok(),
        ..About::default()
    };
    Ok(AnyRows::new(Container::Column(column), about))
}

fn table(table: CTable<FsDir>) -> Result<AnyRows, Error> {
    let mut left_out = Vec::new();
    for (name, column) in table.columns() {
        if attributes(column.attrs()).is_some() {
            left_out.push(alloc::format!("attributes of column {name}"));
        }
    }
    let fills = table.columns().map(|(_, column)| column.storage().dflt.clone());
    let fill = fill(&Value::List(fills.collect()));
    let about = About {
        kind: "bcolz",
        typesize: u32::try_from(table.row_nbytes()).unwrap_or(1),
        dtype: Some(table.dtype()?),
        shape: Some(alloc::vec![table.rows()]),
        metadata: attributes(table.attrs()),
        fill,
        params: table.columns().next().and_then(|(_, column)| column.storage().cparams.params(1).ok()),
        left_out,
        ..About::default()
    };
    Ok(AnyRows::new(Container::Table(table), about))
}

/// A fill value worth telling about: not zero, nothing or empty throughout.
fn fill(value: &Value) -> Option<Value> {
    fn is_zero(value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(false) => true,
            Value::Text(text) => text.is_empty(),
            Value::List(items) | Value::Tuple(items) => items.iter().all(is_zero),
            Value::Object(pairs) => pairs.iter().all(|(_, value)| is_zero(value)),
            other => other.as_f64() == Some(0.0),
        }
    }
    (!is_zero(value)).then(|| value.clone())
}

fn blaze(set: Blaze<FsDir>) -> Result<AnyRows, Error> {
    let dtype = set.storage().names.dtype()?;
    let about = About {
        kind: "blaze",
        typesize: dtype.itemsize(),
        dtype: Some(dtype),
        shape: Some(set.shape().to_vec()),
        metadata: attributes(&set.attrs()),
        left_out: set.extras()?,
        fill: fill(&set.storage().dflt),
        params: set.storage().cparams.params(1).ok(),
        ..About::default()
    };
    Ok(AnyRows::new(Container::Blaze(set), about))
}
