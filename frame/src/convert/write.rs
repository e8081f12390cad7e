//! Writing each kind of container from decoded bytes.

use super::decoded::Decoded;
use crate::any::About;
use crate::b2nd::{Dims, NdArray, Spec};
use crate::bcolz::{self, CArray, CParams, CTable};
use crate::blaze::{self, Blaze, MetaSyntax};
use crate::bloscpack::{Layout, Numpy, Options, Order, Writer};
use crate::dtype::{ByteOrder, Dtype, Kind};
use crate::error::{Error, Structure};
use crate::io::{FsDir, ReadAt, WriteAt};
use crate::limits::Limits;
use crate::msgpack;
use crate::npy::NpyHeader;
use crate::rows::Rows;
use crate::schunk::SuperChunk;
use crate::tensor;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Codec, Filter, Params, Pool};
use std::fs::{File, OpenOptions};
use std::path::Path;

/// How chunks are written, where the target does not say itself.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Packing {
    /// Parameters; the item size comes from the data.
    pub params: Params,
    /// Decoded bytes per chunk; the target's own choice without it.
    pub chunk: Option<u64>,
    /// Bytes of room behind each chunk.
    pub reserve: u32,
}

impl Packing {
    /// Chunks of the target's own size, made with `params`, without room behind them.
    pub const fn new(params: Params) -> Packing {
        Packing { params, chunk: None, reserve: 0 }
    }

    /// Sets the decoded bytes per chunk; `None` is the target's own choice.
    pub const fn chunk(mut self, bytes: Option<u64>) -> Packing {
        self.chunk = bytes;
        self
    }

    /// Sets the bytes of room behind each chunk.
    pub const fn reserve(mut self, bytes: u32) -> Packing {
        self.reserve = bytes;
        self
    }
}

/// How an array is cut into chunks and blocks; their shapes are chosen from its shape where left out.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Cut {
    /// Shape of the chunks.
    pub chunks: Option<Vec<u32>>,
    /// Shape of the blocks.
    pub blocks: Option<Vec<u32>>,
    /// Whether the chunks are files of their own, in a directory.
    pub sparse: bool,
}

impl Cut {
    /// Sets the shapes of the chunks and of the blocks.
    pub fn shapes(mut self, chunks: Option<Vec<u32>>, blocks: Option<Vec<u32>>) -> Cut {
        (self.chunks, self.blocks) = (chunks, blocks);
        self
    }

    /// Sets whether the chunks are files of their own.
    pub fn sparse(mut self, sparse: bool) -> Cut {
        self.sparse = sparse;
        self
    }
}

/// One conversion.
pub(super) struct Conversion<'a> {
    pub from: &'a Decoded<'a>,
    pub about: &'a About,
    pub encoder: &'a mut Pool,
    pub notes: Vec<String>,
}

pub(super) fn create(path: &Path) -> Result<File, Error> {
    Ok(OpenOptions::new().read(true).write(true).create_new(true).open(path)?)
}

/// What a container of Blosc1 chunks can hold of these parameters.
pub fn blosc1_params(params: &Params) -> Params {
    let codec = match params.codec {
        codec @ (Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc | Codec::Zlib | Codec::Zstd) => codec,
        _ => Codec::Lz4,
    };
    let found = |filter| params.filters.iter().any(|slot| slot.filter == filter);
    let plain = Params::new(params.typesize).blosc1(true).codec(codec).level(params.level);
    match (found(Filter::BitShuffle), found(Filter::Shuffle)) {
        (true, _) => plain.bitshuffle(),
        (false, true) => plain.shuffle(),
        (false, false) => plain.no_filter(),
    }
}

/// The parameters as bcolz names them.
fn cparams(params: &Params) -> Result<CParams, Error> {
    let kept = blosc1_params(params);
    if kept.codec != params.codec {
        return Err(Error::Param { name: "codec", value: 0, allowed: "one that Blosc1 has" });
    }
    let other = |filter| !matches!(filter, Filter::None | Filter::Shuffle | Filter::BitShuffle);
    if params.filters.iter().any(|slot| other(slot.filter)) {
        return Err(Error::Param { name: "filters", value: 0, allowed: "shuffle or bitshuffle" });
    }
    let shuffle = kept.filters.iter().fold(0, |found, slot| match slot.filter {
        Filter::Shuffle => 1,
        Filter::BitShuffle => 2,
        _ => found,
    });
    Ok(CParams { clevel: params.level, shuffle, cname: kept.codec.name().into(), quantize: 0 })
}

/// Bytes of a row: items of `dtype` in the shape of a row.
fn atom(dtype: &Dtype, row: &[u64]) -> u64 {
    row.iter().fold(u64::from(dtype.itemsize()), |n, &dim| n.saturating_mul(dim))
}

/// What targets that are made of rows need to know.
struct RowLayout {
    dtype: Dtype,
    rows: u64,
    row: Vec<u64>,
    chunklen: Option<u64>,
}

impl Conversion<'_> {
    fn len(&self) -> Result<u64, Error> {
        Ok(self.from.size()?)
    }

    fn note(&mut self, what: impl Into<String>) {
        self.notes.push(what.into());
    }

    /// Parameters for items of this input's size.
    pub fn params(&self, packing: &Packing) -> Params {
        let item = self.about.dtype.as_ref().map_or(self.about.typesize, Dtype::itemsize).max(1);
        packing.params.typesize(item)
    }

    /// The dtype, or opaque items where none is known.
    fn dtype(&self) -> Result<Dtype, Error> {
        Ok(match &self.about.dtype {
            Some(dtype) => dtype.clone(),
            None if self.about.typesize > 1 && self.len()?.is_multiple_of(self.about.typesize.into()) => {
                Dtype::opaque(self.about.typesize)
            }
            None => Dtype::scalar(Kind::Uint, ByteOrder::None, 1),
        })
    }

    /// The shape of the array; of other data, the number of items.
    fn shape(&self, item: u32) -> Result<Vec<u64>, Error> {
        let items = self.len()?.checked_div(item.into()).unwrap_or(0);
        Ok(self.about.shape.clone().unwrap_or_else(|| alloc::vec![items]))
    }

    fn rows(&mut self, structure: Structure, packing: &Packing) -> Result<RowLayout, Error> {
        let dtype = self.dtype()?;
        let mut shape = self.shape(dtype.itemsize())?;
        if shape.is_empty() {
            self.note("a shape without dimensions (one row is written)");
            shape.push(1);
        }
        let (rows, row) = (shape.remove(0), shape);
        if atom(&dtype, &row) == 0 {
            return Err(Error::Unsupported { structure, what: "rows without items" });
        }
        let chunklen = packing.chunk.map(|chunk| chunk.checked_div(atom(&dtype, &row)).unwrap_or(1).max(1));
        Ok(RowLayout { dtype, rows, row, chunklen })
    }

    fn attributes(&self) -> Value {
        match &self.about.metadata {
            Some(value @ Value::Object(_)) => value.clone(),
            Some(other) => Value::object([("metadata", other.clone())]),
            None => Value::Object(Vec::new()),
        }
    }

    /// Says what is lost where only bytes are kept.
    fn note_array(&mut self) {
        if self.about.dtype.is_some() {
            self.note("dtype");
        }
        if self.about.shape.as_ref().is_some_and(|s| s.len() != 1) {
            self.note("shape");
        }
    }

    fn note_fill(&mut self) {
        if self.about.fill.is_some() {
            self.note("the fill value of new rows");
        }
    }

    fn note_metadata(&mut self) {
        if self.about.metadata.is_some() {
            self.note("metadata");
        }
    }

    pub fn bloscpack(&mut self, options: &Options, path: &Path) -> Result<(), Error> {
        let about = self.about;
        let mut options = options.clone();
        let item = about.dtype.as_ref().map_or(about.typesize, Dtype::itemsize);
        options.params.typesize = if (1..=255).contains(&item) { item } else { 1 };
        options.metadata = None;
        self.note_fill();
        if matches!(options.layout, Layout::V3 | Layout::Mono) {
            options.metadata = about.metadata.clone().filter(|m| *m != Value::Null);
            if let (Some(dtype), Some(shape)) = (&about.dtype, &about.shape) {
                let numpy = Numpy { dtype: dtype.clone(), shape: shape.clone(), order: Order::C };
                options = options.numpy(&numpy)?;
                if let (Some(all), Some(user)) = (&mut options.metadata, &about.metadata) {
                    all.set("attributes", user.clone());
                }
            }
        } else {
            self.note_array();
            self.note_metadata();
        }
        let mut writer = Writer::new(create(path)?, &options, Some(self.len()?))?;
        let encoder = &mut *self.encoder;
        self.from.each(options.chunk_size.into(), &mut |_, piece| writer.write(encoder, piece))?;
        writer.finish(self.encoder).map(drop)
    }

    pub fn bcolz(&mut self, packing: &Packing, path: &Path) -> Result<(), Error> {
        let layout = self.rows(Structure::Bcolz, packing)?;
        let cparams = cparams(&packing.params)?;
        let limits = Limits::NONE;
        let fill = |name: &str, i: usize| {
            let fill = self.about.fill.as_ref()?;
            fill.get(name).or_else(|| fill.as_list()?.get(i)).or(Some(fill)).cloned()
        };
        let of = |dtype: Dtype, row: Vec<u64>, dflt| bcolz::Create {
            chunklen: packing.chunk.map(|chunk| chunk.checked_div(atom(&dtype, &row)).unwrap_or(1).max(1)),
            row,
            expectedlen: layout.rows,
            cparams: cparams.clone(),
            dflt,
            ..bcolz::Create::new(dtype)
        };
        let nested = "nested records, which bcolz itself cannot reopen";
        match &layout.dtype {
            Dtype::Struct(record) if layout.row.is_empty() => {
                let (mut columns, mut notes) = (Vec::new(), Vec::new());
                for (i, field) in record.fields.iter().enumerate() {
                    let (item, row) = match &field.dtype {
                        Dtype::Array { item, shape } => {
                            ((**item).clone(), shape.iter().map(|&n| n.into()).collect())
                        }
                        other => (other.clone(), Vec::new()),
                    };
                    if field.title.is_some() {
                        notes.push(alloc::format!("the title of column {}", field.name));
                    }
                    if matches!(item, Dtype::Struct(_)) {
                        notes.push(alloc::format!("column {}: {nested}", field.name));
                    }
                    columns.push((field.name.clone(), of(item, row, fill(&field.name, i))));
                }
                let attrs = self.attributes();
                self.notes.extend(notes);
                let table = CTable::create(FsDir::create(path)?, &columns, attrs, &limits)?;
                table.durable(false).reserve(packing.reserve).append(self.encoder, self.from)
            }
            dtype => {
                let records = matches!(dtype, Dtype::Struct(_));
                let attrs = self.attributes();
                let create = of(dtype.clone(), layout.row.clone(), self.about.fill.clone());
                if records {
                    self.note(nested);
                }
                let column =
                    CArray::create(FsDir::create(path)?, &bcolz::Create { attrs, ..create }, &limits)?;
                column.durable(false).reserve(packing.reserve).append(self.encoder, self.from)
            }
        }
    }

    pub fn blaze(
        &mut self,
        packing: &Packing,
        superchunk: Option<u64>,
        syntax: MetaSyntax,
        path: &Path,
    ) -> Result<(), Error> {
        let RowLayout { dtype, rows, row, chunklen } = self.rows(Structure::Blaze, packing)?;
        if has_titles(&dtype) {
            self.note("titles of fields");
        }
        let create = blaze::Create {
            row,
            chunklen,
            superchunk,
            expectedlen: rows,
            cparams: cparams(&packing.params)?,
            dflt: self.about.fill.clone(),
            attrs: self.attributes(),
            syntax,
            ..blaze::Create::new(&dtype)
        };
        let set = Blaze::create(&FsDir::create(path)?, &create, &Limits::NONE)?;
        set.durable(false).reserve(packing.reserve).append(self.encoder, self.from)
    }

    fn put_metadata(&mut self, frame: &mut SuperChunk<'_>) {
        let Value::Object(pairs) = self.attributes() else { return };
        for (name, value) in pairs {
            // A frame has 16 of them, with names of 31 bytes at most.
            if frame.set_vlmetalayer(&name, &msgpack::from_value(&value)).is_err() {
                self.note(alloc::format!("metadata {name} (no room among the vlmetalayers)"));
            }
        }
    }

    pub fn frame(&mut self, mut frame: SuperChunk<'_>, packing: &Packing) -> Result<(), Error> {
        match &self.about.tensor {
            Some(meta) => frame.set_vlmetalayer(tensor::NAME, &meta.to_bytes())?,
            None => self.note_array(),
        }
        self.note_fill();
        if let Some(chunk) = packing.chunk {
            frame.set_chunksize(u32::try_from(chunk).unwrap_or(u32::MAX))?;
        }
        self.put_metadata(&mut frame);
        // Whole chunks: one that is filled up is encoded again.
        let chunk = packing.chunk.unwrap_or(1).max(1);
        let step = self.from.step().max(1 << 20).div_ceil(chunk).saturating_mul(chunk);
        self.from.each(step, &mut |_, piece| frame.append(piece))?;
        frame.commit()
    }

    pub fn b2nd(&mut self, packing: &Packing, cut: &Cut, path: &Path) -> Result<(), Error> {
        let dtype = self.dtype()?;
        let shape = self.shape(dtype.itemsize())?;
        self.note_fill();
        let mut spec = Spec::new(&shape, dtype)?.params_from(&self.params(packing));
        if let Some(chunks) = &cut.chunks {
            spec = spec.chunks(chunks)?;
        }
        if let Some(blocks) = &cut.blocks {
            spec = spec.blocks(blocks)?;
        }
        let frame = match cut.sparse {
            true => SuperChunk::create_dir(FsDir::create(path)?, &spec.params())?,
            false => SuperChunk::create(create(path)?, &spec.params())?,
        };
        let mut array = self.from.with(|data, pool| NdArray::from_plain(frame, &spec, pool, data))?;
        self.put_metadata(array.frame_mut());
        array.frame_mut().commit()
    }

    pub fn npy(&mut self, path: &Path) -> Result<(), Error> {
        self.note_metadata();
        self.note_fill();
        let dtype = self.dtype()?;
        let shape = self.shape(dtype.itemsize())?;
        let too_many = Error::Unsupported { structure: Structure::Npy, what: "that many dimensions" };
        let header = NpyHeader { dtype, fortran: false, shape: Dims::new(&shape).ok_or(too_many)? };
        let mut file = create(path)?;
        let head = header.to_bytes()?;
        file.write_at(0, &head)?;
        self.from.each(self.from.step(), &mut |at, piece| {
            Ok(file.write_at((head.len() as u64).saturating_add(at), piece)?)
        })
    }
}

fn has_titles(dtype: &Dtype) -> bool {
    match dtype {
        Dtype::Struct(record) => record.fields.iter().any(|f| f.title.is_some() || has_titles(&f.dtype)),
        Dtype::Array { item, .. } => has_titles(item),
        _ => false,
    }
}
