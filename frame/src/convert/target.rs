//! Writing the new container.

use super::input::{About, Input};
use super::msgpack;
use crate::b2nd::dtype::{ByteOrder, Dtype, Kind};
use crate::b2nd::npy::NpyHeader;
use crate::b2nd::{Dims, NdArray, Spec};
use crate::bcolz::{self, CArray, CParams, CTable};
use crate::blaze::{self, Blaze, MetaSyntax};
use crate::bloscpack::{Layout, Numpy, Options, Order, Writer};
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{FsDir, ReadAt, WriteAt};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Codec, Filter, Params, Pool};
use core::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::path::Path;

/// How chunks are written, where the target does not say itself.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    /// Parameters; the item size comes from the data.
    pub params: Params,
    /// Decoded bytes per chunk; the target's own choice without it.
    pub chunk: Option<u64>,
    /// Bytes of room behind each chunk.
    pub reserve: u32,
}

/// What to write.
#[derive(Clone, Debug)]
pub enum Target {
    /// A bloscpack file; metadata of the options is replaced by that of the data.
    Bloscpack(Options),
    /// A bcolz directory.
    Bcolz(Packing),
    /// A Blaze directory, with so many chunks per super-chunk, and its syntax of metadata.
    Blaze(Packing, Option<u64>, MetaSyntax),
    /// A contiguous frame.
    Cframe(Packing),
    /// A sparse frame.
    Sframe(Packing),
    /// An array in a contiguous frame.
    B2nd(Packing),
    /// A NumPy file, not compressed.
    Npy,
}

/// The decoded bytes of an input as something to read from.
struct Decoded<'a> {
    input: &'a Input,
    pool: RefCell<&'a mut Pool>,
    /// Why reading failed, which an [`IoError`] could not say.
    failed: RefCell<Option<Error>>,
}

impl ReadAt for Decoded<'_> {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.input.plain.nbytes())
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let left = self.input.plain.nbytes().saturating_sub(offset);
        let n = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let out = buf.get_mut(..n).unwrap_or_default();
        let read = self.input.plain.read_plain(&mut self.pool.borrow_mut(), offset, out);
        read.map_err(|error| {
            self.failed.replace(Some(error));
            IoError::from(IoKind::Other)
        })?;
        Ok(n)
    }
}

impl Decoded<'_> {
    /// The reason of a failed read, in place of the bare input/output error it became.
    fn explain<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| self.failed.take().unwrap_or(error))
    }
}

/// Writes `input` as a new container at `path`, which must be free. `pool` decodes and `encoder` encodes.
/// Returns what the new container could not hold, for people.
///
/// # Errors
/// Whatever reading and writing give; what has been written of the new container is left to be removed.
pub fn convert(
    input: &Input,
    pool: &mut Pool,
    encoder: &mut Pool,
    target: &Target,
    path: &Path,
) -> Result<Vec<String>, Error> {
    let mut notes = input.about.left_out.clone();
    let decoded = Decoded { input, pool: RefCell::new(pool), failed: RefCell::new(None) };
    let done = match target {
        Target::Bloscpack(options) => to_bloscpack(&decoded, encoder, options, path, &mut notes),
        Target::Bcolz(packing) => to_bcolz(&decoded, encoder, packing, path, &mut notes),
        Target::Blaze(packing, superchunk, syntax) => {
            to_blaze(&decoded, encoder, packing, (*superchunk, *syntax), path, &mut notes)
        }
        Target::Cframe(packing) => create(path).and_then(|file| {
            to_frame(&decoded, SuperChunk::create(file, &params(packing, &input.about))?, packing, &mut notes)
        }),
        Target::Sframe(packing) => FsDir::create(path).map_err(Error::from).and_then(|dir| {
            to_frame(
                &decoded,
                SuperChunk::create_dir(dir, &params(packing, &input.about))?,
                packing,
                &mut notes,
            )
        }),
        Target::B2nd(packing) => to_b2nd(&decoded, packing, path, &mut notes),
        Target::Npy => to_npy(&decoded, path, &mut notes),
    };
    decoded.explain(done).map(|()| notes)
}

fn create(path: &Path) -> Result<File, Error> {
    Ok(OpenOptions::new().read(true).write(true).create_new(true).open(path)?)
}

fn params(packing: &Packing, about: &About) -> Params {
    let item = about.dtype.as_ref().map_or(about.typesize, Dtype::itemsize).max(1);
    Params { typesize: item, ..packing.params }
}

/// The dtype, or opaque items where none is known.
fn dtype(about: &About, nbytes: u64) -> Dtype {
    match &about.dtype {
        Some(dtype) => dtype.clone(),
        None if about.typesize > 1 && nbytes.checked_rem(about.typesize.into()) == Some(0) => {
            Dtype::opaque(about.typesize)
        }
        None => Dtype::scalar(Kind::Uint, ByteOrder::None, 1),
    }
}

/// The shape in C order, of at least one dimension.
fn shape(about: &About, item: u32, nbytes: u64, notes: &mut Vec<String>) -> Vec<u64> {
    let items = nbytes.checked_div(item.into()).unwrap_or(0);
    let mut shape = about.shape.clone().unwrap_or_else(|| alloc::vec![items]);
    if about.fortran {
        notes.push("Fortran order (the array is stored transposed, its shape reversed)".into());
        shape.reverse();
    }
    shape
}

/// For targets whose first dimension is rows.
fn rows_shape(about: &About, item: u32, nbytes: u64, notes: &mut Vec<String>) -> Vec<u64> {
    let shape = shape(about, item, nbytes, notes);
    if shape.is_empty() {
        notes.push("a shape without dimensions (one row is written)".into());
        return alloc::vec![1];
    }
    shape
}

fn attributes(about: &About) -> Value {
    match &about.metadata {
        Some(value @ Value::Object(_)) => value.clone(),
        Some(other) => Value::object([("metadata", other.clone())]),
        None => Value::Object(Vec::new()),
    }
}

fn note_order(about: &About, notes: &mut Vec<String>) {
    if about.dtype.is_some() {
        notes.push("dtype".into());
    }
    if about.shape.as_ref().is_some_and(|s| s.len() != 1) {
        notes.push("shape".into());
    }
    if about.fortran {
        notes.push("Fortran order".into());
    }
}

fn to_bloscpack(
    decoded: &Decoded<'_>,
    encoder: &mut Pool,
    options: &Options,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let about = &decoded.input.about;
    let len = decoded.size()?;
    let mut options = options.clone();
    let item = about.dtype.as_ref().map_or(about.typesize, Dtype::itemsize);
    options.params.typesize = if (1..=255).contains(&item) { item } else { 1 };
    options.metadata = None;
    if matches!(options.layout, Layout::V3 | Layout::Mono) {
        options.metadata = about.metadata.clone().filter(|m| *m != Value::Null);
        if let (Some(dtype), Some(shape)) = (&about.dtype, &about.shape) {
            let order = if about.fortran { Order::F } else { Order::C };
            let numpy = Numpy { dtype: dtype.clone(), shape: shape.clone(), order };
            options = options.numpy(&numpy)?;
            if let (Some(all), Some(user)) = (&mut options.metadata, &about.metadata) {
                all.set("attributes", user.clone());
            }
        }
    } else {
        note_order(about, notes);
        if about.metadata.is_some() {
            notes.push("metadata".into());
        }
    }
    let mut writer = Writer::new(create(path)?, &options, Some(len))?;
    let step = u64::from(options.chunk_size);
    let mut buffer = Vec::new();
    let mut at = 0u64;
    while at < len {
        let n = step.min(len.saturating_sub(at));
        buffer.resize(usize::try_from(n).map_err(|_| IoKind::NoSpace)?, 0);
        decoded.read_exact_at(at, &mut buffer)?;
        writer.write(encoder, &buffer)?;
        at = at.saturating_add(n);
    }
    writer.finish(encoder).map(drop)
}

fn cparams(params: &Params) -> CParams {
    let slots = params.filters.iter().map(|slot| slot.filter);
    let shuffle = slots.fold(0, |found, filter| match filter {
        Filter::Shuffle => 1,
        Filter::BitShuffle => 2,
        _ => found,
    });
    let codec = if params.codec == Codec::Ndlz { Codec::Lz4 } else { params.codec };
    CParams { clevel: params.level, shuffle, cname: codec.name().into(), quantize: 0 }
}

fn to_bcolz(
    decoded: &Decoded<'_>,
    encoder: &mut Pool,
    packing: &Packing,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let about = &decoded.input.about;
    let (limits, len) = (Limits::NONE, decoded.size()?);
    let dtype = dtype(about, len);
    let shape = rows_shape(about, dtype.itemsize(), len, notes);
    let rows = shape.first().copied().unwrap_or(0);
    let chunklen = |row: u64| packing.chunk.map(|chunk| chunk.checked_div(row).unwrap_or(1).max(1));
    let root = FsDir::create(path)?;
    let of = |dtype: Dtype, row: Vec<u64>| {
        let atom = row.iter().fold(u64::from(dtype.itemsize()), |n, &dim| n.saturating_mul(dim));
        bcolz::Create {
            row,
            chunklen: chunklen(atom),
            expectedlen: rows,
            cparams: cparams(&packing.params),
            ..bcolz::Create::new(dtype)
        }
    };
    match &dtype {
        Dtype::Struct(record) if shape.len() == 1 => {
            let padded = record.fields.iter().fold(0u32, |n, f| n.saturating_add(f.dtype.itemsize()));
            if padded != record.itemsize {
                return Err(Error::Unsupported {
                    structure: Structure::Bcolz,
                    what: "records with padding or overlaps",
                });
            }
            let mut columns = Vec::new();
            for field in &record.fields {
                let (item, row) = match &field.dtype {
                    Dtype::Array { item, shape } => {
                        ((**item).clone(), shape.iter().map(|&n| n.into()).collect())
                    }
                    other => (other.clone(), Vec::new()),
                };
                if matches!(item, Dtype::Struct(_)) {
                    notes.push(alloc::format!(
                        "column {}: nested records, which bcolz itself cannot reopen",
                        field.name
                    ));
                }
                columns.push((field.name.clone(), of(item, row)));
            }
            let table = CTable::create(root, &columns, attributes(about), &limits)?;
            table.durable(false).reserve(packing.reserve).append(encoder, decoded)
        }
        _ => {
            let row = shape.get(1..).unwrap_or_default().to_vec();
            let create = bcolz::Create { attrs: attributes(about), ..of(dtype, row) };
            let column = CArray::create(root, &create, &limits)?;
            column.durable(false).reserve(packing.reserve).append(encoder, decoded)
        }
    }
}

fn to_blaze(
    decoded: &Decoded<'_>,
    encoder: &mut Pool,
    packing: &Packing,
    (superchunk, syntax): (Option<u64>, MetaSyntax),
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let about = &decoded.input.about;
    let len = decoded.size()?;
    let dtype = dtype(about, len);
    let shape = rows_shape(about, dtype.itemsize(), len, notes);
    let row = shape.get(1..).unwrap_or_default().to_vec();
    let atom = row.iter().fold(u64::from(dtype.itemsize()), |n, &dim| n.saturating_mul(dim));
    let create = blaze::Create {
        row,
        chunklen: packing.chunk.map(|chunk| chunk.checked_div(atom).unwrap_or(1).max(1)),
        superchunk,
        expectedlen: shape.first().copied().unwrap_or(0),
        cparams: cparams(&packing.params),
        attrs: attributes(about),
        syntax,
        ..blaze::Create::new(&dtype)
    };
    if create.names.dtype()?.itemsize() != dtype.itemsize() {
        return Err(Error::Unsupported {
            structure: Structure::Bcolz,
            what: "records with padding or overlaps",
        });
    }
    let set = Blaze::create(&FsDir::create(path)?, &create, &Limits::NONE)?;
    set.durable(false).reserve(packing.reserve).append(encoder, decoded)
}

fn put_metadata(frame: &mut SuperChunk<'_>, about: &About, notes: &mut Vec<String>) {
    let Value::Object(pairs) = attributes(about) else { return };
    for (name, value) in pairs {
        // A frame has 16 of them, with names of 31 bytes at most.
        if frame.set_vlmetalayer(&name, &msgpack::write(&value)).is_err() {
            notes.push(alloc::format!("metadata {name} (no room among the vlmetalayers)"));
        }
    }
}

fn to_frame(
    decoded: &Decoded<'_>,
    mut frame: SuperChunk<'_>,
    packing: &Packing,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let about = &decoded.input.about;
    note_order(about, notes);
    if let Some(chunk) = packing.chunk {
        frame.set_chunksize(u32::try_from(chunk).unwrap_or(u32::MAX))?;
    }
    put_metadata(&mut frame, about, notes);
    let len = decoded.size()?;
    let step = decoded.input.plain.chunk_nbytes().clamp(1 << 20, 64 << 20);
    let mut buffer = Vec::new();
    let mut at = 0u64;
    while at < len {
        let n = step.min(len.saturating_sub(at));
        buffer.resize(usize::try_from(n).map_err(|_| IoKind::NoSpace)?, 0);
        decoded.read_exact_at(at, &mut buffer)?;
        frame.append(&buffer)?;
        at = at.saturating_add(n);
    }
    frame.commit()
}

fn to_b2nd(
    decoded: &Decoded<'_>,
    packing: &Packing,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let about = &decoded.input.about;
    let len = decoded.size()?;
    let dtype = dtype(about, len);
    let shape = shape(about, dtype.itemsize(), len, notes);
    let spec = Spec::new(&shape, dtype)?.params_from(&params(packing, about));
    let frame = SuperChunk::create(create(path)?, &spec.params())?;
    let mut at = 0u64;
    let mut array = NdArray::from_stream(frame, &spec, |buffer| {
        decoded.read_exact_at(at, buffer)?;
        at = at.saturating_add(buffer.len() as u64);
        Ok(())
    })?;
    put_metadata(array.frame_mut(), about, notes);
    array.frame_mut().commit()
}

fn to_npy(decoded: &Decoded<'_>, path: &Path, notes: &mut Vec<String>) -> Result<(), Error> {
    let about = &decoded.input.about;
    if about.metadata.is_some() {
        notes.push("metadata".into());
    }
    let len = decoded.size()?;
    let dtype = dtype(about, len);
    let items = len.checked_div(dtype.itemsize().into()).unwrap_or(0);
    let shape = about.shape.clone().unwrap_or_else(|| alloc::vec![items]);
    let too_many = Error::Unsupported { structure: Structure::Npy, what: "that many dimensions" };
    let header = NpyHeader { dtype, fortran: about.fortran, shape: Dims::new(&shape).ok_or(too_many)? };
    let mut file = create(path)?;
    let head = header.to_bytes()?;
    file.write_at(0, &head)?;
    let step = decoded.input.plain.chunk_nbytes().max(1);
    let mut buffer = Vec::new();
    let mut at = 0u64;
    while at < len {
        let n = step.min(len.saturating_sub(at));
        buffer.resize(usize::try_from(n).map_err(|_| IoKind::NoSpace)?, 0);
        decoded.read_exact_at(at, &mut buffer)?;
        file.write_at((head.len() as u64).saturating_add(at), &buffer)?;
        at = at.saturating_add(n);
    }
    Ok(())
}
