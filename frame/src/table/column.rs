//! A stored column: rows of it that live, as Arrow arrays.

use super::bytes::{array_of, to_little_endian};
use super::error::{Result, TableError};
use super::place::{self, Place, check_output};
use super::records::Records;
use super::schema::{Column, Kind, Nulls, scalar_type};
use super::sentinel::Sentinel;
use super::values::{self, Form};
use crate::b2nd::NdArray;
use crate::dtype::{ByteOrder, Dtype, Kind as Scalars, Scalar};
use crate::value::Value;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::builder::StringBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};
use core::ops::Range;

/// An array of a store.
type Nd = Box<NdArray<'static>>;

/// A column to be read.
pub struct ColumnReader {
    column: Column,
    field: Field,
    values: Values,
    notnull: Option<Nd>,
    sentinel: Option<Sentinel>,
    /// Rows that are stored.
    rows: u64,
}

enum Values {
    Items { nd: Nd, scalar: Scalar, shape: Vec<u32> },
    Utf8 { offsets: Nd, bytes: Nd },
    Codes { codes: Nd, texts: ArrayRef },
    Records(Box<Records>),
}

/// Rows of an array, in little-endian order.
fn read(nd: &mut Nd, about: &str, rows: Range<u64>) -> Result<Vec<u8>> {
    let mut ranges: Vec<Range<u64>> = nd.shape().iter().map(|len| 0..*len).collect();
    let first = ranges.first_mut().ok_or_else(|| TableError::data(format!("{about}: has no rows")))?;
    let row = nd.geometry().nbytes().checked_div(first.end).unwrap_or(0);
    let bytes = row.saturating_mul(rows.end.saturating_sub(rows.start));
    *first = rows;
    let mut out = alloc::vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
    nd.get_slice(&ranges, &mut out).map_err(TableError::of(about))?;
    if let Dtype::Scalar(scalar) = nd.dtype() {
        to_little_endian(scalar, &mut out);
    }
    Ok(out)
}

/// `i64`s of an array of 4 or 8 bytes each.
fn read_ints(nd: &mut Nd, about: &str, rows: Range<u64>) -> Result<Vec<i64>> {
    let size = match nd.dtype() {
        Dtype::Scalar(Scalar { kind: Scalars::Int, size: size @ (4 | 8), .. }) => *size,
        _ => return Err(TableError::data(format!("{about}: integers of 32 or 64 bits expected"))),
    };
    let bytes = read(nd, about, rows)?;
    Ok(match size {
        4 => bytes.as_chunks().0.iter().map(|item| i32::from_le_bytes(*item).into()).collect(),
        _ => bytes.as_chunks().0.iter().map(|item| i64::from_le_bytes(*item)).collect(),
    })
}

/// The items of rows that live.
fn living<T: Copy>(items: Vec<T>, size: usize, lives: &[bool]) -> Vec<T> {
    if lives.iter().all(|lives| *lives) {
        return items;
    }
    let rows = items.chunks_exact(size.max(1)).zip(lives).filter(|(_, lives)| **lives);
    rows.flat_map(|(row, _)| row.iter().copied()).collect()
}

impl ColumnReader {
    /// Opens the files of a column.
    ///
    /// # Errors
    /// Files that are missing, damaged, or not what the schema says; a kind that is not known.
    pub(super) fn open(place: &dyn Place, column: &Column, max_output: u64) -> Result<ColumnReader> {
        let (about, stem) = (format!("column {}", column.name), column.stem());
        let wrong = |what: &str| TableError::data(format!("{about}: {what}"));
        let field = column.field().map_err(|why| TableError::Unable(format!("{about}: {why}")))?;
        let array = |stem: &str| place::array(place, stem).map(Box::new);
        let records = |stem: &str| Records::new(stem, place::frame(place, stem, "b2b")?);
        let values = match &column.kind {
            Kind::Utf8 => {
                let (offsets, bytes) = (array(&stem)?, array(&format!("{stem}.utf8"))?);
                if offsets.shape().len() != 1 || bytes.shape().len() != 1 || bytes.geometry().typesize() != 1
                {
                    return Err(wrong("offsets and bytes in one dimension expected"));
                }
                Values::Utf8 { offsets, bytes }
            }
            Kind::Dictionary { .. } => {
                let mut found = records(&format!("{stem}_dict"))?;
                check_output(found.nbytes(), max_output).map_err(|e| e.about(&about))?;
                let texts = found.take(0, found.rows())?;
                let texts = texts.iter().map(|text| text.as_text().map(Some)).collect::<Option<Vec<_>>>();
                let texts = texts.ok_or_else(|| wrong("its dictionary holds what is no text"))?;
                let codes = array(&stem)?;
                if codes.shape().len() != 1 {
                    return Err(wrong("codes in one dimension expected"));
                }
                Values::Codes { codes, texts: values::strings(&texts).map_err(|what| wrong(&what))? }
            }
            kind if kind.is_listed() => Values::Records(Box::new(records(&stem)?)),
            _ => items(array(&stem)?, column, &field).map_err(|what| wrong(&what))?,
        };
        let mask = format!("{stem}.notnull");
        let notnull = match column.nulls {
            Nulls::Mask => place.frame(&mask, "b2nd")?.map(|_| array(&mask)).transpose()?,
            _ => None,
        };
        if let Some(mask) = &notnull
            && (mask.shape().len() != 1 || mask.geometry().typesize() != 1)
        {
            return Err(wrong("one byte expected for each row that says whether it is null"));
        }
        let first = |nd: &Nd| nd.shape().first().copied().unwrap_or(0);
        let rows = match &values {
            Values::Items { nd, .. } | Values::Codes { codes: nd, .. } => first(nd),
            Values::Utf8 { offsets, .. } => first(offsets).saturating_sub(1),
            Values::Records(records) => records.rows(),
        };
        let mut reader =
            ColumnReader { column: column.clone(), field, values, notnull, sentinel: None, rows };
        reader.sentinel =
            Sentinel::of(column, reader.items().map(|(scalar, _)| scalar)).map_err(|what| wrong(&what))?;
        Ok(reader)
    }

    /// The column.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// Its name and type in batches.
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// Rows that are stored.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether its lists are stored as Arrow streams.
    pub(super) fn is_arrow(&self) -> bool {
        matches!(&self.values, Values::Records(records) if records.is_arrow())
    }

    /// Type and shape of the items, where they are of one size; in little-endian order, in which they are read.
    pub fn items(&self) -> Option<(Scalar, &[u32])> {
        match &self.values {
            Values::Items { scalar, shape, .. } => Some((*scalar, shape)),
            _ => None,
        }
    }

    /// Whether the items are stored in big-endian order.
    pub(super) fn is_big_endian(&self) -> bool {
        let big = |nd: &Nd| matches!(nd.dtype(), Dtype::Scalar(Scalar { order: ByteOrder::Big, .. }));
        matches!(&self.values, Values::Items { nd, .. } if big(nd))
    }

    /// Bytes of a row in memory, on average.
    pub fn row_nbytes(&self) -> u64 {
        let average = |nbytes: u64| nbytes.checked_div(self.rows.max(1)).unwrap_or(0);
        match &self.values {
            Values::Items { scalar, shape, .. } => {
                shape.iter().fold(scalar.size.into(), |n: u64, side| n.saturating_mul((*side).into()))
            }
            Values::Codes { .. } => 4,
            Values::Utf8 { bytes, .. } => average(bytes.geometry().nbytes()).saturating_add(24),
            // A value takes some 32 bytes, and at least one where it is stored.
            Values::Records(records) => average(records.nbytes()).saturating_mul(16).saturating_add(32),
        }
    }

    /// Has a far source fetch what stored rows need. What is wrong is for who reads them.
    pub(super) fn want(&mut self, rows: Range<u64>) {
        let rows = rows.start..rows.end.min(self.rows);
        if let Some(mask) = &self.notnull {
            mask.want_rows(rows.clone());
        }
        match &mut self.values {
            Values::Items { nd, .. } | Values::Codes { codes: nd, .. } => nd.want_rows(rows),
            Values::Utf8 { offsets, bytes } => {
                offsets.want_rows(rows.start..rows.end.saturating_add(1));
                let mut at = |row: u64| read_ints(offsets, "", row..row.saturating_add(1)).ok()?.pop();
                if let (Some(from), Some(to)) = (at(rows.start), at(rows.end)) {
                    bytes.want_rows(from.cast_unsigned()..to.cast_unsigned());
                }
            }
            Values::Records(records) => records.want(&rows),
        }
    }

    /// Reads stored rows from `start` on, as far as they live. Batches must be read in order.
    ///
    /// # Errors
    /// Data that cannot be decoded; rows that live and are not there.
    pub fn read(&mut self, start: u64, lives: &[bool]) -> Result<ArrayRef> {
        let last = lives.iter().rposition(|lives| *lives).map_or(0, |last| last.saturating_add(1));
        let (lives, end) = (lives.get(..last).unwrap_or(lives), start.saturating_add(last as u64));
        let about = format!("column {}", self.column.name);
        let wrong = |what: String| TableError::data(format!("{about}: {what}"));
        if end > self.rows {
            let row = end.saturating_sub(1);
            let text = "lives: the table was not closed by its writer";
            return Err(wrong(format!("has {} rows, but row {row} of the table {text}", self.rows)));
        }
        let range = start..end;
        let mask = match &mut self.notnull {
            None => None,
            Some(mask) => {
                let valid = living(read(mask, &about, range.clone())?, 1, lives);
                Some(valid.iter().map(|valid| *valid != 0).collect::<Vec<bool>>())
            }
        };
        match &mut self.values {
            Values::Items { nd, scalar, shape } => {
                let row = shape.iter().fold(scalar.size as usize, |n, side| n.saturating_mul(*side as usize));
                let bytes = living(read(nd, &about, range)?, row, lives);
                let valid = mask.or_else(|| {
                    let sentinel = self.sentinel.as_ref()?;
                    Some(bytes.chunks_exact(row.max(1)).map(|item| !sentinel.is(item)).collect())
                });
                let valid = valid.filter(|valid| valid.contains(&false)).map(NullBuffer::from);
                array_of(bytes, scalar, shape, self.field.data_type(), valid).map_err(wrong)
            }
            Values::Codes { codes, texts } => {
                let codes = living(read_ints(codes, &about, range)?, 1, lives);
                let (most, null) = (texts.len() as i64, null_code(&self.column));
                let code = |code: i64| match code {
                    code if code == null && self.column.nulls != Nulls::None => Ok(None),
                    code if code == null => Err("has null codes, but its schema allows no nulls".to_string()),
                    code if (0..most).contains(&code) => Ok(Some(code as i32)),
                    code => Err(format!("code {code}, but its dictionary has {most} texts")),
                };
                let keys = codes
                    .into_iter()
                    .map(code)
                    .collect::<core::result::Result<Vec<_>, String>>()
                    .map_err(wrong)?;
                let array = DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), Arc::clone(texts));
                Ok(Arc::new(array.map_err(TableError::data)?))
            }
            Values::Utf8 { offsets, bytes } => {
                utf8(offsets, bytes, &about, range, lives, mask.as_deref(), self.sentinel.as_ref())
            }
            Values::Records(records) => {
                let found = records.take(start, last as u64)?;
                let found: Vec<Value> =
                    found.into_iter().zip(lives).filter(|(_, lives)| **lives).map(|(v, _)| v).collect();
                values::rows(&found, &self.field, Form::Stored).map_err(|wrong| {
                    TableError::data(format!("{about}: {}, though it lies in a column of such", wrong.what))
                })
            }
        }
    }
}

/// The code that stands for null.
fn null_code(column: &Column) -> i64 {
    match column.kind {
        Kind::Dictionary { null_code } => null_code,
        _ => -1,
    }
}

/// What an array of items holds.
fn items(nd: Nd, column: &Column, field: &Field) -> core::result::Result<Values, String> {
    let (Dtype::Scalar(scalar), None) = (nd.dtype().clone(), nd.opaque()) else {
        return Err(format!("items of type {} are not known", nd.dtype_text()));
    };
    let order = if scalar.order == ByteOrder::Big { ByteOrder::Little } else { scalar.order };
    let mut scalar = Scalar { order, ..scalar };
    let shape: Option<Vec<u32>> = nd.shape().iter().skip(1).map(|side| u32::try_from(*side).ok()).collect();
    let shape = shape.ok_or("its rows are too large")?;
    if nd.shape().is_empty() || (!shape.is_empty() && column.type_name() != "ndarray") {
        return Err(format!("shape {:?} is not that of a column", nd.shape()));
    }
    let mut leaf = field.data_type();
    for side in &shape {
        leaf = match leaf {
            DataType::FixedSizeList(inner, n) if i64::from(*n) == i64::from(*side) => inner.data_type(),
            _ => return Err(format!("rows of shape {shape:?} are not those of its schema")),
        };
    }
    let fits = match (leaf, scalar.kind, scalar.size) {
        (DataType::Boolean, Scalars::Bool | Scalars::Uint | Scalars::Int, 1) => true,
        (DataType::Timestamp(unit, _), Scalars::Int, 8) => {
            scalar.kind = Scalars::Datetime { unit: values::unit(*unit), count: 1 };
            true
        }
        _ => scalar_type(&scalar).as_ref() == Ok(leaf),
    };
    match fits {
        true => Ok(Values::Items { nd, scalar, shape }),
        false => Err(format!("items of type {scalar} are not those of its schema")),
    }
}

/// Texts between offsets.
fn utf8(
    offsets: &mut Nd,
    bytes: &mut Nd,
    about: &str,
    range: Range<u64>,
    lives: &[bool],
    mask: Option<&[bool]>,
    sentinel: Option<&Sentinel>,
) -> Result<ArrayRef> {
    let mut texts = StringBuilder::new();
    if range.is_empty() {
        return Ok(Arc::new(texts.finish()));
    }
    let wrong = |what: &str| TableError::data(format!("{about}: {what}"));
    let ends = read_ints(offsets, about, range.start..range.end.saturating_add(1))?;
    let (first, last) = ends.first().copied().zip(ends.last().copied()).unwrap_or((0, 0));
    let size = bytes.shape().first().copied().unwrap_or(0);
    let whole = u64::try_from(first).ok().zip(u64::try_from(last).ok());
    let (from, to) = whole
        .filter(|(from, to)| from <= to && *to <= size && to.saturating_sub(*from) <= i32::MAX as u64)
        .ok_or_else(|| wrong(&format!("texts from byte {first} to {last} expected, but there are {size}")))?;
    let bytes = read(bytes, about, from..to)?;
    let rows = ends.iter().zip(ends.iter().skip(1)).zip(lives).filter(|(_, lives)| **lives);
    for (row, ((start, end), _)) in rows.enumerate() {
        let [start, end] = [start, end].map(|end| usize::try_from(end.wrapping_sub(first)));
        let text = start.ok().zip(end.ok()).and_then(|(start, end)| bytes.get(start..end));
        let text = text.ok_or_else(|| wrong("offsets that do not ascend"))?;
        let null = match mask {
            Some(mask) => !mask.get(row).copied().unwrap_or(true),
            None => sentinel.is_some_and(|sentinel| sentinel.is(text)),
        };
        match null {
            true => texts.append_null(),
            false => texts.append_value(str::from_utf8(text).map_err(|_| wrong("text that is no UTF-8"))?),
        }
    }
    Ok(Arc::new(texts.finish()))
}
