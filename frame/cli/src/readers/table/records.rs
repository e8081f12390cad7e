//! Values of their own lengths: one MessagePack value per chunk (`ObjectArray`), or a batch of them, MessagePack or
//! Arrow, per chunk (`BatchArray`), read from the first to the last. Nothing is unpickled.

use super::from_arrow;
use crate::failure::{Failure, Result, failure};
use arrow_ipc::reader::StreamReader;
use blosc_frame::SuperChunk;
use blosc_frame::msgpack::{self, Entries};
use blosc_frame::value::Value;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Most values in an entry: each takes at least a byte.
const MOST: u32 = 1 << 24;

/// How chunks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serializer {
    /// One value per chunk.
    Single,
    /// Lists of values, a block each.
    Msgpack,
    /// Arrow streams of one column, a block each.
    Arrow,
}

/// The values of such a frame.
pub struct Records {
    path: PathBuf,
    frame: SuperChunk<'static>,
    pub serializer: Serializer,
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
    pub fn new(path: &Path, mut frame: SuperChunk<'static>) -> Result<Records> {
        let wrong = |what: &str| Failure::at(path, what);
        let single = frame.metalayer("vlarray").is_some();
        let meta = frame.metalayer(if single { "vlarray" } else { "batcharray" });
        let meta = meta.ok_or_else(|| wrong("is no ObjectArray and no BatchArray"))?;
        let meta = msgpack::to_value(meta).map_err(failure(path))?;
        let serializer = match meta.get("serializer").and_then(Value::as_text) {
            Some("msgpack") if single => Serializer::Single,
            Some("msgpack") => Serializer::Msgpack,
            Some("arrow") if !single => Serializer::Arrow,
            other => return Err(wrong(&format!("its serializer {:?} is not known", other.unwrap_or("")))),
        };
        let chunks = frame.nchunks();
        let lengths = match single {
            true => vec![1; usize::try_from(chunks).unwrap_or(usize::MAX)],
            false => batch_lengths(path, &mut frame)?,
        };
        if lengths.len() as u64 != chunks {
            return Err(wrong(&format!("has {chunks} chunks, but lengths of {} batches", lengths.len())));
        }
        let mut starts = vec![0u64];
        for length in &lengths {
            let end = starts.last().copied().unwrap_or(0).checked_add(*length);
            starts.push(end.ok_or_else(|| wrong("the lengths of its batches overflow"))?);
        }
        let block =
            meta.get("items_per_block").and_then(Value::as_u64).filter(|n| *n > 0).unwrap_or(u64::MAX);
        Ok(Records {
            path: path.to_path_buf(),
            frame,
            serializer,
            starts,
            block,
            ahead: VecDeque::new(),
            at: 0,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Rows of each chunk.
    pub fn lengths(&self) -> Vec<u64> {
        self.starts
            .windows(2)
            .map(|pair| pair.last().copied().unwrap_or(0) - pair.first().copied().unwrap_or(0))
            .collect()
    }

    /// Rows of a block, where that is known.
    pub fn block(&self) -> Option<usize> {
        usize::try_from(self.block).ok().filter(|_| self.block != u64::MAX)
    }

    /// Decoded bytes of all.
    pub fn nbytes(&self) -> u64 {
        self.frame.nbytes()
    }

    /// The frame they lie in.
    pub fn frame(&mut self) -> &mut SuperChunk<'static> {
        &mut self.frame
    }

    /// The schema of the first block, where blocks are Arrow streams.
    pub fn arrow_type(&mut self) -> Result<Option<arrow_schema::DataType>> {
        if self.serializer != Serializer::Arrow || self.rows() == 0 {
            return Ok(None);
        }
        let mut found = None;
        let first = self.starts.iter().skip(1).position(|end| *end > 0).unwrap_or(0) as u64;
        let read = self.frame.read_blocks(first, &[0], |_, block| {
            found = StreamReader::try_new(block, None).ok().map(|stream| stream.schema());
            Ok(())
        });
        read.map_err(failure(&self.path))?;
        let field = found.as_ref().and_then(|schema| schema.fields().first());
        let field = field.ok_or_else(|| Failure::at(&self.path, "its first block is no Arrow stream"))?;
        Ok(Some(field.data_type().clone()))
    }

    /// Hands the rows from `from` on to `take`, one by one, until it gives false. Rows must be asked for in order.
    ///
    /// # Errors
    /// A chunk that cannot be decoded, or has not as many rows as the description says.
    pub fn each(&mut self, from: u64, take: &mut dyn FnMut(Value) -> Result<bool>) -> Result<()> {
        if from < self.at {
            return Err(Failure::Data("rows are read forwards only".into()));
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
            let bytes = self.frame.read_chunk(chunk).map_err(failure(&self.path))?;
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
                    Serializer::Arrow => from_arrow::column(block),
                    _ => Entries::new(block, MOST).and_then(Iterator::collect).map_err(|e| e.to_string()),
                };
                match decoded {
                    Ok(decoded) => rows = decoded,
                    Err(error) => wrong = Some(error),
                }
                Ok(())
            });
        read.map_err(|e| failure(&self.path)(e).about(format_args!("chunk {chunk}")))?;
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

    fn damaged(&self, chunk: u64, what: &dyn std::fmt::Display) -> Failure {
        Failure::at(&self.path, format_args!("chunk {chunk}: {what}"))
    }
}

/// How many rows each chunk of a BatchArray has.
fn batch_lengths(path: &Path, frame: &mut SuperChunk<'static>) -> Result<Vec<u64>> {
    let content = frame.vlmetalayer("_batch_array_metadata").map_err(failure(path))?;
    // One that nothing was added to has none.
    let Some(content) = content else { return Ok(Vec::new()) };
    let value = msgpack::to_value_within(&content, MOST).map_err(failure(path))?;
    let lengths = value.get("batch_lengths").and_then(Value::as_list);
    let lengths: Option<Vec<u64>> = lengths.and_then(|list| list.iter().map(Value::as_u64).collect());
    lengths.ok_or_else(|| Failure::at(path, "_batch_array_metadata: batch_lengths expected"))
}
