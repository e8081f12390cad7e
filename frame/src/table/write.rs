//! The files of a column, to which rows are appended.

use super::encode::New;
use super::error::{Result, TableError};
use super::place::{self, Folder};
use super::records::Records;
use super::schema::{Column, Kind, Nulls};
use crate::b2nd::{NdArray, Spec};
use crate::dtype::Dtype;
use crate::error::Error;
use crate::msgpack;
use crate::schunk::SuperChunk;
use crate::value::Value;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Codec, Params, Pool};
use std::collections::HashMap;

/// A column that is written to.
pub struct ColumnWriter<'c> {
    column: &'c Column,
    folder: &'c Folder,
    /// Its name, for messages, and its key.
    about: String,
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

/// Cuts an array to as many rows, or adds rows of zeros.
pub fn cut(nd: &mut NdArray<'static>, rows: u64) -> core::result::Result<(), Error> {
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
    /// Errors of opening and resizing.
    pub fn open(folder: &'c Folder, column: &'c Column, rows: u64) -> Result<ColumnWriter<'c>> {
        let (about, stem) = (format!("column {}", column.name), column.stem());
        let failed = |error| TableError::of(&about)(error);
        let cut_array = |stem: &str, rows: u64| -> Result<NdArray<'static>> {
            let mut nd = place::array(folder, stem)?;
            cut(&mut nd, rows).map_err(failed)?;
            Ok(nd)
        };
        let values = match &column.kind {
            Kind::Utf8 => {
                let mut offsets = place::array(folder, &stem)?;
                let stored = offsets.shape().first().copied().unwrap_or(0).saturating_sub(1).min(rows);
                let mut last = [0; 8];
                offsets.get_item(&[stored], &mut last).map_err(failed)?;
                // Rows that have been deleted and are not there any more are empty.
                cut(&mut offsets, stored.saturating_add(1)).map_err(failed)?;
                let gone = usize::try_from(rows.saturating_sub(stored)).unwrap_or(usize::MAX);
                offsets.append(0, &last.repeat(gone)).map_err(failed)?;
                let end = i64::from_le_bytes(last);
                // Without text there is a byte that nothing refers to.
                let bytes = cut_array(&format!("{stem}.utf8"), u64::try_from(end).unwrap_or(0))?;
                Values::Utf8 { offsets, bytes: Box::new(bytes), end }
            }
            Kind::Dictionary { null_code } => {
                let texts = Batches::open(folder, &format!("{stem}_dict"), column)?;
                Values::Codes {
                    codes: Box::new(cut_array(&stem, rows)?),
                    texts,
                    known: HashMap::new(),
                    null: *null_code,
                }
            }
            kind if kind.is_listed() => Values::Batches(Batches::open(folder, &stem, column)?),
            _ => Values::Items(cut_array(&stem, rows)?),
        };
        let mask = format!("{stem}.notnull");
        let notnull = match column.nulls == Nulls::Mask && folder.has(&mask, "b2nd") {
            true => Some(cut_array(&mask, rows)?),
            false => None,
        };
        let mut writer = ColumnWriter { column, folder, about, stem, values, notnull, rows };
        writer.learn_texts()?;
        Ok(writer)
    }

    /// Reads the texts of a dictionary, so that each is stored once.
    fn learn_texts(&mut self) -> Result<()> {
        let Values::Codes { texts, known, .. } = &mut self.values else { return Ok(()) };
        let mut records = Records::new(&texts.stem, place::frame(self.folder, &texts.stem, "b2b")?)?;
        for value in records.take(0, records.rows())? {
            if let (Value::Text(text), Ok(code)) = (value, i32::try_from(known.len())) {
                known.entry(text).or_insert(code);
            }
        }
        Ok(())
    }

    /// Appends rows.
    ///
    /// # Errors
    /// Errors of the files; more texts in a dictionary than codes.
    pub fn append(&mut self, new: New) -> Result<()> {
        let about = self.about.clone();
        let what = TableError::of(&about);
        self.append_nulls(&new.nulls)?;
        match &mut self.values {
            Values::Items(nd) => nd.append(0, &new.bytes).map_err(&what)?,
            Values::Utf8 { offsets, bytes, end } => {
                bytes.append(0, &new.bytes).map_err(&what)?;
                let ends = new.ends.iter().map(|at| end.saturating_add(*at as i64).to_le_bytes());
                offsets.append(0, &ends.collect::<Vec<_>>().concat()).map_err(&what)?;
                *end = end.saturating_add(new.bytes.len() as i64);
            }
            Values::Codes { codes, texts, known, null } => {
                let (mut start, mut bytes, mut fresh) = (0, Vec::new(), Vec::new());
                for (end, is_null) in new.ends.iter().zip(&new.nulls) {
                    let text = new.bytes.get(start..*end).unwrap_or_default();
                    let text = String::from_utf8_lossy(text).into_owned();
                    start = *end;
                    let next = i32::try_from(known.len())
                        .map_err(|_| TableError::data(format!("{about}: has more texts than codes")))?;
                    let code = match is_null {
                        true => i32::try_from(*null).unwrap_or(-1),
                        false => *known.entry(text).or_insert_with_key(|text| {
                            fresh.push(Value::text(text));
                            next
                        }),
                    };
                    bytes.extend(code.to_le_bytes());
                }
                codes.append(0, &bytes).map_err(&what)?;
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
        let key = format!("{}.notnull", self.stem);
        let failed = |error| TableError::of(&key)(error);
        let mut mask = match self.notnull.take() {
            Some(mask) => mask,
            // The first nulls of the column.
            None => {
                let dtype = Dtype::parse("|b1").unwrap_or(Dtype::opaque(1));
                let all = self.rows.saturating_add(nulls.len() as u64).max(ROOM);
                let spec = Spec::new(&[all], dtype).map_err(failed)?.params_from(&packed(1));
                // The header says the size of blocks: python-blosc2 compresses with it what it appends.
                let frame = self.folder.create(&key, "b2nd", &spec.params())?;
                let mut mask = NdArray::full(frame, &spec, &[1]).map_err(failed)?;
                cut(&mut mask, self.rows).map_err(failed)?;
                mask
            }
        };
        let valid: Vec<u8> = nulls.iter().map(|null| u8::from(!null)).collect();
        mask.append(0, &valid).map_err(failed)?;
        self.notnull = Some(mask);
        Ok(())
    }

    /// Writes what is not written yet.
    ///
    /// # Errors
    /// Errors of the files.
    pub fn finish(mut self) -> Result<()> {
        let about = self.about.clone();
        let what = TableError::of(&about);
        match &mut self.values {
            Values::Items(nd) => nd.commit().map_err(&what)?,
            Values::Utf8 { offsets, bytes, .. } => {
                if bytes.shape().iter().all(|len| *len == 0) {
                    bytes.resize(&[1]).map_err(&what)?;
                }
                bytes.commit().map_err(&what)?;
                offsets.commit().map_err(&what)?;
            }
            Values::Codes { codes, texts, .. } => {
                codes.commit().map_err(&what)?;
                texts.finish()?;
            }
            Values::Batches(batches) => batches.finish()?,
        }
        match &mut self.notnull {
            Some(mask) => mask.commit().map_err(&what),
            None => Ok(()),
        }
    }
}

/// Values of their own lengths, a batch in each chunk or one alone.
struct Batches {
    stem: String,
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

/// Rows that new arrays have room for, as python-blosc2 makes them. Nothing is stored for them.
pub(super) const ROOM: u64 = 1 << 20;

/// How new files are compressed: as python-blosc2 does it.
pub(super) fn packed(typesize: u32) -> Params {
    Params::new(typesize).codec(Codec::Zstd).level(5).shuffle()
}

impl Batches {
    fn open(folder: &Folder, stem: &str, column: &Column) -> Result<Batches> {
        let records = Records::new(stem, place::frame(folder, stem, "b2b")?)?;
        let (lengths, block, single) = (records.lengths(), records.block(), records.is_single());
        let spec =
            |name: &str| column.spec.get(name).or(column.spec.get("value_type").and_then(|of| of.get(name)));
        let batch = spec("batch_rows").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        drop(records);
        let (stem, frame) = (stem.into(), place::frame(folder, stem, "b2b")?);
        let batch = batch.filter(|n| *n > 0).unwrap_or(2048);
        Ok(Batches { stem, frame, single, lengths, block, batch, pool: Pool::new(0) })
    }

    fn append(&mut self, values: &[Value]) -> Result<()> {
        let what = TableError::of(&self.stem);
        if self.single {
            let mut all = values.iter();
            return all
                .try_for_each(|value| self.frame.append_data(&msgpack::from_value(value)).map_err(&what));
        }
        for batch in values.chunks(self.batch) {
            let block = match self.block {
                Some(block) => block,
                None => {
                    let content = self.frame.metalayer(META).unwrap_or_default();
                    let mut meta = msgpack::to_value(content).map_err(&what)?;
                    meta.set("items_per_block", Value::int(batch.len() as u64));
                    self.frame.set_metalayer(META, &msgpack::from_value(&meta)).map_err(&what)?;
                    *self.block.insert(batch.len())
                }
            };
            let list = |values: &[Value]| msgpack::from_value(&Value::List(values.to_vec()));
            let blocks: Vec<Vec<u8>> = batch.chunks(block).map(list).collect();
            let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
            let params = self.frame.params();
            let chunk = self.pool.compress_vl(&params, Default::default(), &blocks);
            let chunk = chunk.map_err(|error| what(Error::Codec(error)))?;
            self.frame.append_chunk(&chunk).map_err(&what)?;
            self.lengths.push(batch.len() as u64);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let what = TableError::of(&self.stem);
        if !self.single && !self.lengths.is_empty() {
            let lengths = self.lengths.iter().map(|n| Value::int(*n)).collect();
            let content = Value::object([("batch_lengths", Value::List(lengths))]);
            self.frame.set_vlmetalayer(LENGTHS, &msgpack::from_value(&content)).map_err(&what)?;
        }
        self.frame.commit().map_err(&what)
    }
}
