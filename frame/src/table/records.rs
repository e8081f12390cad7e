//! Values of their own lengths: one MessagePack value per chunk (`ObjectArray`), or a batch of them, MessagePack or
//! Arrow, per chunk (`BatchArray`), read from the first to the last. Nothing is unpickled.

use super::error::{Made, Result, TableError};
use super::exact;
use super::place::vlmeta;
use super::rows;
use super::schema::Column;
use super::values::{self, Form};
use crate::msgpack::{self, Entries};
use crate::schunk::SuperChunk;
use crate::value::Value;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, Field};
use core::ops::Range;

/// Most values in an entry: each takes at least a byte.
const MOST: u32 = 1 << 24;

/// How chunks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Serializer {
    /// One value per chunk.
    Single,
    /// Lists of values, a block each.
    Msgpack,
    /// Arrow streams of one column, a block each.
    Arrow,
}

/// The values of such a frame.
pub struct Records {
    about: String,
    frame: SuperChunk<'static>,
    serializer: Serializer,
    /// Rows before each chunk; the last is their number.
    starts: Vec<u64>,
    /// Rows of a block.
    block: u64,
    /// The rows that have been decoded, the first of which is number `at`.
    ahead: VecDeque<Value>,
    at: u64,
}

impl Records {
    /// Whether a frame holds such values.
    pub fn are_in(frame: &SuperChunk<'_>) -> bool {
        ["vlarray", "batcharray"].iter().any(|name| frame.metalayer(name).is_some())
    }

    /// Looks how many rows there are.
    ///
    /// # Errors
    /// A frame that is neither of the two, or whose description is damaged.
    pub fn new(about: &str, frame: SuperChunk<'static>) -> Result<Records> {
        let wrong = |what: &str| TableError::data(format!("{about}: {what}"));
        let single = frame.metalayer("vlarray").is_some();
        let meta = frame.metalayer(if single { "vlarray" } else { "batcharray" });
        let meta = meta.ok_or_else(|| wrong("is no ObjectArray and no BatchArray"))?;
        let meta = msgpack::to_value(meta).map_err(TableError::of(about))?;
        let serializer = match meta.get("serializer").and_then(Value::as_text) {
            Some("msgpack") if single => Serializer::Single,
            Some("msgpack") => Serializer::Msgpack,
            Some("arrow") if !single => Serializer::Arrow,
            other => return Err(wrong(&format!("its serializer {:?} is not known", other.unwrap_or("")))),
        };
        let chunks = frame.nchunks();
        let lengths = match single {
            true => alloc::vec![1; usize::try_from(chunks).unwrap_or(usize::MAX)],
            false => batch_lengths(about, &frame)?,
        };
        if lengths.len() as u64 != chunks {
            return Err(wrong(&format!("has {chunks} chunks, but lengths of {} batches", lengths.len())));
        }
        let mut starts = alloc::vec![0u64];
        for length in &lengths {
            let end = starts.last().copied().unwrap_or(0).checked_add(*length);
            starts.push(end.ok_or_else(|| wrong("the lengths of its batches overflow"))?);
        }
        let block =
            meta.get("items_per_block").and_then(Value::as_u64).filter(|n| *n > 0).unwrap_or(u64::MAX);
        Ok(Records { about: about.into(), frame, serializer, starts, block, ahead: VecDeque::new(), at: 0 })
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Rows of each chunk.
    pub(super) fn lengths(&self) -> Vec<u64> {
        self.starts
            .windows(2)
            .map(|pair| pair.last().copied().unwrap_or(0).saturating_sub(pair.first().copied().unwrap_or(0)))
            .collect()
    }

    /// Rows of a block, where that is known.
    pub(super) fn block(&self) -> Option<usize> {
        usize::try_from(self.block).ok().filter(|_| self.block != u64::MAX)
    }

    /// Decoded bytes of all.
    pub fn nbytes(&self) -> u64 {
        self.frame.nbytes()
    }

    /// Whether each chunk has one value.
    pub(super) fn is_single(&self) -> bool {
        self.serializer == Serializer::Single
    }

    /// Whether they are stored as Arrow streams.
    pub(super) fn is_arrow(&self) -> bool {
        self.serializer == Serializer::Arrow
    }

    /// The only column of values that stand alone, from what they say of themselves.
    ///
    /// # Errors
    /// A first block that is no Arrow stream, where blocks are such.
    pub fn field(&mut self) -> Result<Field> {
        if let Some(data_type) = self.arrow_type()? {
            return Ok(Field::new("value", data_type, true));
        }
        let meta = |name: &str| self.frame.metalayer(name).and_then(|meta| msgpack::to_value(meta).ok());
        let scalar = meta("ctable_varlen_scalar");
        let kind = scalar.as_ref().and_then(|meta| meta.get("py_type")).and_then(Value::as_text);
        let mut spec = match (meta("listarray"), kind) {
            (Some(spec), _) => spec,
            (_, Some("str")) => Value::object([("kind", Value::text("vlstring"))]),
            (_, Some("bytes")) => Value::object([("kind", Value::text("vlbytes"))]),
            _ => Value::object([("kind", Value::text("object"))]),
        };
        spec.set("name", Value::text("value"));
        spec.set("nullable", Value::Bool(true));
        let column =
            Column::new(&spec).ok_or_else(|| TableError::data("what its values are cannot be told"))?;
        column.field().map_err(|why| TableError::data(format!("{}: {why}", self.about)))
    }

    /// The values of `range` in batches of one column, as [`Records::field`] says.
    pub fn batches<'r>(
        &'r mut self,
        field: &Field,
        range: Range<u64>,
    ) -> impl Iterator<Item = Result<RecordBatch>> + 'r {
        let average = self.nbytes().checked_div(self.rows().max(1)).unwrap_or(0);
        let row = average.saturating_mul(16).saturating_add(32);
        let step = rows::BATCH.checked_div(row).unwrap_or(1).clamp(1, 1 << 16);
        let schema = Arc::new(arrow_schema::Schema::new(alloc::vec![field.clone()]));
        let mut at = range.start;
        core::iter::from_fn(move || {
            let rows = step.min(range.end.saturating_sub(at));
            let start = at;
            at = at.saturating_add(rows);
            let read = |records: &mut Self| {
                let found = records.take(start, rows)?;
                let made = values::rows(&found, schema.field(0), Form::Stored);
                let made =
                    made.map_err(|wrong| TableError::data(format!("{}: {}", records.about, wrong.what)))?;
                rows::batch(&schema, alloc::vec![made])
            };
            (rows > 0).then(|| read(self))
        })
    }

    /// Has a far source fetch what rows need.
    pub(super) fn want(&self, rows: &Range<u64>) {
        let first = self.starts.partition_point(|start| *start <= rows.start).saturating_sub(1);
        let end = self.starts.partition_point(|start| *start < rows.end);
        self.frame.want_chunks(first as u64..(end as u64).min(self.frame.nchunks()));
    }

    /// The values of `count` rows from `start` on. Rows must be asked for in order.
    ///
    /// # Errors
    /// As [`Records::each`].
    pub(super) fn take(&mut self, start: u64, count: u64) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        if count > 0 {
            self.each(start, &mut |value| {
                values.push(value);
                Ok((values.len() as u64) < count)
            })?;
        }
        Ok(values)
    }

    /// The type of the first block, where blocks are Arrow streams.
    fn arrow_type(&mut self) -> Result<Option<DataType>> {
        if self.serializer != Serializer::Arrow || self.rows() == 0 {
            return Ok(None);
        }
        let mut found = None;
        let first = self.starts.iter().skip(1).position(|end| *end > 0).unwrap_or(0) as u64;
        let read = self.frame.read_blocks(first, &[0], |_, block| {
            found = StreamReader::try_new(block, None).ok().map(|stream| stream.schema());
            Ok(())
        });
        read.map_err(TableError::of(&self.about))?;
        let field = found.as_ref().and_then(|schema| schema.fields().first());
        let field = field
            .ok_or_else(|| TableError::data(format!("{}: its first block is no Arrow stream", self.about)))?;
        Ok(Some(field.data_type().clone()))
    }

    /// Hands the rows from `from` on to `take`, one by one, until it gives false. Rows must be asked for in order.
    ///
    /// # Errors
    /// A chunk that cannot be decoded, or has not as many rows as the description says.
    fn each(&mut self, from: u64, take: &mut dyn FnMut(Value) -> Result<bool>) -> Result<()> {
        if from < self.at {
            return Err(TableError::data("rows are read forwards only"));
        }
        while self.at < self.rows() {
            if self.at.saturating_add(self.ahead.len() as u64) <= from {
                self.at = self.at.saturating_add(self.ahead.len() as u64);
                self.ahead.clear();
                self.load(from)?;
                continue;
            }
            let skip = from.saturating_sub(self.at);
            self.ahead.drain(..skip as usize);
            self.at = self.at.saturating_add(skip);
            while let Some(value) = self.ahead.pop_front() {
                self.at = self.at.saturating_add(1);
                if !take(value)? {
                    return Ok(());
                }
            }
            if self.at < self.rows() {
                self.load(self.at)?;
            }
        }
        Ok(())
    }

    /// Decodes the block that row `row` lies in.
    fn load(&mut self, row: u64) -> Result<()> {
        let k = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        let start = self.starts.get(k).copied().unwrap_or(0);
        let end = self.starts.get(k + 1).copied().unwrap_or(start);
        let chunk = k as u64;
        if self.serializer == Serializer::Single {
            let bytes = self.frame.read_chunk(chunk).map_err(TableError::of(&self.about))?;
            let value = msgpack::to_value_within(&bytes, MOST);
            self.ahead.push_back(value.map_err(|e| self.damaged(chunk, &e))?);
            self.at = start;
            return Ok(());
        }
        let block = (row - start).checked_div(self.block).unwrap_or(0);
        let first = start.saturating_add(block.saturating_mul(self.block));
        let wanted = self.block.min(end.saturating_sub(first));
        let (mut rows, mut wrong, serializer) = (VecDeque::new(), None, self.serializer);
        let read =
            self.frame.read_blocks(chunk, &[usize::try_from(block).unwrap_or(usize::MAX)], |_, block| {
                let decoded = match serializer {
                    Serializer::Arrow => streamed(block),
                    _ => Entries::new(block, MOST).and_then(Iterator::collect).map_err(|e| e.to_string()),
                };
                match decoded {
                    Ok(decoded) => rows = decoded,
                    Err(error) => wrong = Some(error),
                }
                Ok(())
            });
        read.map_err(|e| TableError::from(e).about(format_args!("{}: chunk {chunk}", self.about)))?;
        if let Some(error) = wrong {
            return Err(self.damaged(chunk, &error));
        }
        if rows.len() as u64 != wanted {
            let text = format!("block {block} has {} rows, {wanted} expected", rows.len());
            return Err(self.damaged(chunk, &text));
        }
        (self.ahead, self.at) = (rows, first);
        Ok(())
    }

    fn damaged(&self, chunk: u64, what: &dyn core::fmt::Display) -> TableError {
        TableError::data(format_args!("{}: chunk {chunk}: {what}", self.about))
    }
}

/// The rows of the only column of an Arrow stream.
fn streamed(stream: &[u8]) -> Made<VecDeque<Value>> {
    let reader = StreamReader::try_new(stream, None).map_err(|e| e.to_string())?;
    let mut rows = VecDeque::new();
    for batch in reader {
        let batch = batch.map_err(|e| e.to_string())?;
        let [column] = batch.columns() else { return Err("an Arrow stream of one column expected".into()) };
        for row in 0..column.len() {
            rows.push_back(exact::stored(column, row)?);
        }
    }
    Ok(rows)
}

/// How many rows each chunk of a BatchArray has. One that nothing was added to does not say it.
fn batch_lengths(about: &str, frame: &SuperChunk<'static>) -> Result<Vec<u64>> {
    let Some(value) = vlmeta(frame, "_batch_array_metadata", about)? else { return Ok(Vec::new()) };
    let lengths = value.get("batch_lengths").and_then(Value::as_list);
    let lengths: Option<Vec<u64>> = lengths.and_then(|list| list.iter().map(Value::as_u64).collect());
    lengths.ok_or_else(|| TableError::data(format!("{about}: _batch_array_metadata: batch_lengths expected")))
}
