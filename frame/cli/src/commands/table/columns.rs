//! The files of a column, to which rows are appended.

use super::fields::New;
use crate::args::{Input, Run};
use crate::failure::{Failure, Result, failure};
use crate::open::{Intent, What, open};
use crate::readers::table::records::{Records, Serializer};
use crate::readers::table::schema::{Column, Kind, Nulls};
use blosc_core::{Params, Pool};
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::{NdArray, Spec};
use blosc_frame::dtype::Dtype;
use blosc_frame::msgpack;
use blosc_frame::value::Value;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A column that is written to.
pub struct ColumnWriter<'c> {
    column: &'c Column,
    folder: PathBuf,
    stem: String,
    values: Values,
    notnull: Option<NdArray<'static>>,
    /// Rows so far.
    rows: u64,
}

enum Values {
    Items(NdArray<'static>),
    Utf8 { offsets: NdArray<'static>, bytes: Box<NdArray<'static>>, end: i64 },
    Codes { codes: Box<NdArray<'static>>, texts: Batches, known: HashMap<String, i32>, null: i64 },
    Batches(Batches),
}

/// The path of what lies at a key of the table in `folder`.
pub fn path_of(folder: &Path, stem: &str, extension: &str) -> PathBuf {
    folder.join(format!("{}.{extension}", stem.trim_start_matches('/')))
}

/// The array at a key of the table in `folder`, to be changed.
pub fn array(folder: &Path, stem: &str) -> Result<NdArray<'static>> {
    let path = path_of(folder, stem, "b2nd");
    match open(&Input::whole(&path, None, &Run::default()), Intent::Change)?.what {
        What::Array(reader) => Ok(reader.nd),
        _ => Err(Failure::at(&path, "an array expected")),
    }
}

/// Cuts an array to as many rows, or adds rows of zeros.
pub fn cut(nd: &mut NdArray<'static>, rows: u64) -> std::result::Result<(), blosc_frame::Error> {
    let mut shape = nd.shape().to_vec();
    match shape.first_mut() {
        Some(side) if *side != rows => {
            *side = rows;
            nd.resize(&shape)
        }
        _ => Ok(()),
    }
}

impl<'c> ColumnWriter<'c> {
    /// Opens the files of a column of the table in `folder`, which has `rows` rows: what arrays hold behind them goes, and
    /// rows that they lack, of which none lives, are zeros.
    ///
    /// # Errors
    /// Those of opening and resizing.
    pub fn open(folder: &Path, column: &'c Column, rows: u64) -> Result<ColumnWriter<'c>> {
        let stem = column.stem();
        let name = PathBuf::from(format!("column {}", column.name));
        let cut_array = |stem: &str, rows: u64| -> Result<NdArray<'static>> {
            let mut nd = array(folder, stem)?;
            cut(&mut nd, rows).map_err(failure(&name))?;
            Ok(nd)
        };
        let values = match &column.kind {
            Kind::Utf8 => {
                let mut offsets = array(folder, &stem)?;
                let stored = offsets.shape().first().copied().unwrap_or(0).saturating_sub(1).min(rows);
                let mut last = [0; 8];
                offsets.get_item(&[stored], &mut last).map_err(failure(&name))?;
                // Rows that have been deleted and are not there any more are empty.
                cut(&mut offsets, stored.saturating_add(1)).map_err(failure(&name))?;
                let gone = usize::try_from(rows.saturating_sub(stored)).unwrap_or(usize::MAX);
                offsets.append(0, &last.repeat(gone)).map_err(failure(&name))?;
                let end = i64::from_le_bytes(last);
                // Without text there is a byte that nothing refers to.
                let bytes = cut_array(&format!("{stem}.utf8"), u64::try_from(end).unwrap_or(0))?;
                Values::Utf8 { offsets, bytes: Box::new(bytes), end }
            }
            Kind::Dictionary { null_code } => {
                let texts = Batches::open(&path_of(folder, &format!("{stem}_dict"), "b2b"), column)?;
                Values::Codes {
                    codes: Box::new(cut_array(&stem, rows)?),
                    texts,
                    known: HashMap::new(),
                    null: *null_code,
                }
            }
            Kind::VlString | Kind::VlBytes | Kind::Nested(_) | Kind::Object => {
                Values::Batches(Batches::open(&path_of(folder, &stem, "b2b"), column)?)
            }
            _ => Values::Items(cut_array(&stem, rows)?),
        };
        let mask = format!("{stem}.notnull");
        let notnull = match column.nulls == Nulls::Mask && path_of(folder, &mask, "b2nd").exists() {
            true => Some(cut_array(&mask, rows)?),
            false => None,
        };
        let mut writer = ColumnWriter { column, folder: folder.to_path_buf(), stem, values, notnull, rows };
        writer.learn_texts()?;
        Ok(writer)
    }

    /// Reads the texts of a dictionary, so that each is stored once.
    fn learn_texts(&mut self) -> Result<()> {
        let Values::Codes { texts, known, .. } = &mut self.values else { return Ok(()) };
        records(&texts.path)?.each(0, &mut |value| {
            if let (Value::Text(text), Ok(code)) = (value, i32::try_from(known.len())) {
                known.entry(text).or_insert(code);
            }
            Ok(true)
        })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// Those of the files; more texts in a dictionary than codes.
    pub fn append(&mut self, new: New) -> Result<()> {
        let name = PathBuf::from(format!("column {}", self.column.name));
        let what = |error| failure(&name)(error);
        self.append_nulls(&new.nulls)?;
        match &mut self.values {
            Values::Items(nd) => nd.append(0, &new.bytes).map_err(what)?,
            Values::Utf8 { offsets, bytes, end } => {
                bytes.append(0, &new.bytes).map_err(what)?;
                let ends = new.ends.iter().map(|at| end.saturating_add(*at as i64).to_le_bytes());
                offsets.append(0, &ends.collect::<Vec<_>>().concat()).map_err(what)?;
                *end = end.saturating_add(new.bytes.len() as i64);
            }
            Values::Codes { codes, texts, known, null } => {
                let (mut start, mut bytes, mut fresh) = (0, Vec::new(), Vec::new());
                for (end, is_null) in new.ends.iter().zip(&new.nulls) {
                    let text = new.bytes.get(start..*end).unwrap_or_default();
                    let text = String::from_utf8_lossy(text).into_owned();
                    start = *end;
                    let next = i32::try_from(known.len())
                        .map_err(|_| Failure::at(&name, "has more texts than codes"))?;
                    let code = match is_null {
                        true => i32::try_from(*null).unwrap_or(-1),
                        false => *known.entry(text).or_insert_with_key(|text| {
                            fresh.push(Value::text(text));
                            next
                        }),
                    };
                    bytes.extend(code.to_le_bytes());
                }
                codes.append(0, &bytes).map_err(what)?;
                texts.append(&fresh)?;
            }
            Values::Batches(batches) => batches.append(&new.values)?,
        }
        self.rows = self.rows.saturating_add(new.nulls.len() as u64);
        Ok(())
    }

    /// Notes which rows are null, where an array says so.
    fn append_nulls(&mut self, nulls: &[bool]) -> Result<()> {
        if self.column.nulls != Nulls::Mask || (self.notnull.is_none() && !nulls.contains(&true)) {
            return Ok(());
        }
        let path = path_of(&self.folder, &format!("{}.notnull", self.stem), "b2nd");
        let mut mask = match self.notnull.take() {
            Some(mask) => mask,
            // The first nulls of the column.
            None => {
                let file = File::options().read(true).write(true).create_new(true).open(&path);
                let file = file.map_err(|e| Failure::at(&path, e))?;
                let frame = SuperChunk::create(file, &Params::new(1)).map_err(failure(&path))?;
                let dtype = Dtype::parse("|b1").unwrap_or(Dtype::opaque(1));
                // Made for the rows that follow, too: an array without rows has no chunks to add any to.
                let all = self.rows.saturating_add(nulls.len() as u64);
                let spec = Spec::new(&[all], dtype).map_err(failure(&path))?;
                let mut mask = NdArray::full(frame, &spec, &[1]).map_err(failure(&path))?;
                cut(&mut mask, self.rows).map_err(failure(&path))?;
                mask
            }
        };
        let valid: Vec<u8> = nulls.iter().map(|null| u8::from(!null)).collect();
        mask.append(0, &valid).map_err(failure(&path))?;
        self.notnull = Some(mask);
        Ok(())
    }

    /// Writes what is not written yet.
    ///
    /// # Errors
    /// Those of the files.
    pub fn finish(mut self) -> Result<()> {
        let name = PathBuf::from(format!("column {}", self.column.name));
        let what = |error| failure(&name)(error);
        match &mut self.values {
            Values::Items(nd) => nd.commit().map_err(what)?,
            Values::Utf8 { offsets, bytes, .. } => {
                if bytes.shape().iter().all(|len| *len == 0) {
                    bytes.resize(&[1]).map_err(what)?;
                }
                bytes.commit().map_err(what)?;
                offsets.commit().map_err(what)?;
            }
            Values::Codes { codes, texts, .. } => {
                codes.commit().map_err(what)?;
                texts.finish()?;
            }
            Values::Batches(batches) => batches.finish()?,
        }
        match &mut self.notnull {
            Some(mask) => mask.commit().map_err(what),
            None => Ok(()),
        }
    }
}

/// Values of their own lengths, a batch in each chunk or one alone.
struct Batches {
    path: PathBuf,
    frame: SuperChunk<'static>,
    /// One value in each chunk.
    single: bool,
    /// Rows in each chunk.
    lengths: Vec<u64>,
    /// Rows of a block; none before the first batch.
    block: Option<usize>,
    /// Most rows of a batch.
    batch: usize,
    pool: Pool,
}

/// What says how many rows each chunk has.
const LENGTHS: &str = "_batch_array_metadata";
/// What says how many rows a block has.
const META: &str = "batcharray";

fn frame(path: &Path) -> Result<SuperChunk<'static>> {
    match open(&Input::whole(path, None, &Run::default()), Intent::Maintain)?.what {
        What::Frame(reader) => Ok(reader.frame),
        _ => Err(Failure::at(path, "a frame expected")),
    }
}

/// The values that are there.
fn records(path: &Path) -> Result<Records> {
    match open(&Input::whole(path, None, &Run::default()), Intent::Read)?.what {
        What::Frame(reader) => Records::new(path, reader.frame),
        _ => Err(Failure::at(path, "a frame expected")),
    }
}

impl Batches {
    fn open(path: &Path, column: &Column) -> Result<Batches> {
        let records = records(path)?;
        let (lengths, block) = (records.lengths(), records.block());
        let single = records.serializer == Serializer::Single;
        let spec =
            |name: &str| column.spec.get(name).or(column.spec.get("value_type").and_then(|of| of.get(name)));
        let batch = spec("batch_rows").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        drop(records);
        let (path, frame) = (path.to_path_buf(), frame(path)?);
        let batch = batch.filter(|n| *n > 0).unwrap_or(2048);
        Ok(Batches { path, frame, single, lengths, block, batch, pool: Pool::new(0) })
    }

    fn append(&mut self, values: &[Value]) -> Result<()> {
        let what = |error| failure(&self.path)(error);
        if self.single {
            return values.iter().try_for_each(|value| {
                self.frame.append_data(&msgpack::from_value(value)).map_err(failure(&self.path))
            });
        }
        for batch in values.chunks(self.batch) {
            let block = match self.block {
                Some(block) => block,
                None => {
                    let content = self.frame.metalayer(META).unwrap_or_default();
                    let mut meta = msgpack::to_value(content).map_err(what)?;
                    meta.set("items_per_block", Value::int(batch.len() as u64));
                    self.frame.set_metalayer(META, &msgpack::from_value(&meta)).map_err(what)?;
                    *self.block.insert(batch.len())
                }
            };
            let list = |values: &[Value]| msgpack::from_value(&Value::List(values.to_vec()));
            let blocks: Vec<Vec<u8>> = batch.chunks(block).map(list).collect();
            let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
            let params = self.frame.params();
            let chunk = self.pool.compress_vl(&params, Default::default(), &blocks);
            let chunk = chunk.map_err(|error| what(blosc_frame::Error::Codec(error)))?;
            self.frame.append_chunk(&chunk).map_err(what)?;
            self.lengths.push(batch.len() as u64);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let what = |error| failure(&self.path)(error);
        if !self.single && !self.lengths.is_empty() {
            let lengths = self.lengths.iter().map(|n| Value::int(*n)).collect();
            let content = Value::object([("batch_lengths", Value::List(lengths))]);
            self.frame.set_vlmetalayer(LENGTHS, &msgpack::from_value(&content)).map_err(what)?;
        }
        self.frame.commit().map_err(what)
    }
}
