//! A stored column: rows of it that live.

use super::cells::{Cells, Item, Part, item, to_little_endian};
use super::records::{Records, Serializer};
use super::schema::{Column, Kind, Nulls};
use crate::failure::{Failure, Result, failure};
use crate::limits::check_output;
use crate::open::{Intent, What};
use crate::readers::store::StoreReader;
use blosc_frame::b2nd::NdArray;
use blosc_frame::dtype::{ByteOrder, Dtype, Kind as Scalars, Scalar, Unit};
use blosc_frame::value::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An array of a store.
type Array = Box<NdArray<'static>>;

/// A column to be read.
pub struct ColumnReader {
    pub column: Column,
    /// Its name, for messages.
    path: PathBuf,
    values: Values,
    notnull: Option<Array>,
    /// Rows that are stored.
    rows: u64,
}

enum Values {
    Items { nd: Array, scalar: Scalar, shape: Vec<u32> },
    Utf8 { offsets: Array, bytes: Array },
    Codes { codes: Array, values: Rc<Vec<String>> },
    Records(Box<Records>),
}

/// The array that lies at `stem`.
fn array(store: &StoreReader, stem: &str) -> Result<Array> {
    match store.exact(stem, "b2nd", Intent::Read)?.what {
        What::Array(reader) => Ok(Box::new(reader.nd)),
        _ => Err(Failure::Data(format!("{stem}: an array expected"))),
    }
}

/// The values of their own lengths that lie at `stem`.
fn records(store: &StoreReader, stem: &str, extension: &str) -> Result<Records> {
    match store.exact(stem, extension, Intent::Read)?.what {
        What::Frame(reader) => Records::new(Path::new(stem), reader.frame),
        _ => Err(Failure::Data(format!("{stem}: a frame expected"))),
    }
}

/// Rows of an array, in little-endian order.
fn read(nd: &mut Array, path: &Path, rows: Range<u64>) -> Result<Vec<u8>> {
    let mut ranges: Vec<Range<u64>> = nd.shape().iter().map(|len| 0..*len).collect();
    let first = ranges.first_mut().ok_or_else(|| Failure::at(path, "has no rows"))?;
    let row = nd.geometry().nbytes().checked_div(first.end).unwrap_or(0);
    let bytes = row.saturating_mul(rows.end.saturating_sub(rows.start));
    *first = rows;
    let mut out = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
    nd.get_slice(&ranges, &mut out).map_err(failure(path))?;
    if let Dtype::Scalar(scalar) = nd.dtype() {
        to_little_endian(scalar, &mut out);
    }
    Ok(out)
}

/// `i64`s of an array of them.
fn read_ints(nd: &mut Array, path: &Path, rows: Range<u64>) -> Result<Vec<i64>> {
    let scalar = match nd.dtype() {
        Dtype::Scalar(scalar) if scalar.kind == Scalars::Int => *scalar,
        _ => return Err(Failure::at(path, "an array of integers expected")),
    };
    let bytes = read(nd, path, rows)?;
    let int = |bytes: &[u8]| match item(&scalar, bytes) {
        Some(Item::Int(n)) => n,
        _ => 0,
    };
    Ok(bytes.chunks_exact(scalar.size.max(1) as usize).map(int).collect())
}

/// The items of rows that live.
fn living<T: Clone>(items: &[T], size: usize, lives: &[bool]) -> Vec<T> {
    let rows = items.chunks_exact(size.max(1)).zip(lives).filter(|(_, lives)| **lives);
    rows.flat_map(|(row, _)| row.iter().cloned()).collect()
}

impl ColumnReader {
    /// Opens the files of a column of `store`.
    ///
    /// # Errors
    /// Files that are missing, damaged, or not what the schema says; a kind that is not known.
    pub fn open(store: &StoreReader, column: &Column, max_output: u64) -> Result<ColumnReader> {
        let stem = column.stem();
        let path = PathBuf::from(format!("column {}", column.name));
        let wrong = |what: String| Failure::at(&path, what);
        let values = match &column.kind {
            Kind::Items | Kind::Bool | Kind::Timestamp { .. } => items(array(store, &stem)?, column, &path)?,
            Kind::Utf8 => {
                let (offsets, bytes) = (array(store, &stem)?, array(store, &format!("{stem}.utf8"))?);
                if offsets.shape().len() != 1 || bytes.shape().len() != 1 || bytes.geometry().typesize() != 1
                {
                    return Err(wrong("offsets and bytes in one dimension expected".into()));
                }
                Values::Utf8 { offsets, bytes }
            }
            Kind::Dictionary { .. } => {
                let mut texts = records(store, &format!("{stem}_dict"), "b2b")?;
                check_output(&path, texts.nbytes(), max_output)?;
                let mut values = Vec::new();
                texts.each(0, &mut |value| match value {
                    Value::Text(text) => {
                        values.push(text);
                        Ok(true)
                    }
                    _ => Err(wrong("its dictionary holds what is no text".into())),
                })?;
                let codes = array(store, &stem)?;
                if codes.shape().len() != 1 {
                    return Err(wrong("codes in one dimension expected".into()));
                }
                Values::Codes { codes, values: Rc::new(values) }
            }
            Kind::VlString | Kind::VlBytes | Kind::Nested(_) | Kind::Object => {
                Values::Records(Box::new(records(store, &stem, column.extension())?))
            }
            Kind::Unknown(kind) => {
                let text = format!("column {}: its kind {kind:?} is not known", column.name);
                return Err(Failure::Unable(text));
            }
        };
        let mask = format!("{stem}.notnull");
        let notnull = match column.nulls == Nulls::Mask && store.has(&mask, "b2nd") {
            true => Some(array(store, &mask)?),
            false => None,
        };
        let first = |nd: &Array| nd.shape().first().copied().unwrap_or(0);
        let rows = match &values {
            Values::Items { nd, .. } | Values::Codes { codes: nd, .. } => first(nd),
            Values::Utf8 { offsets, .. } => first(offsets).saturating_sub(1),
            Values::Records(records) => records.rows(),
        };
        if let Some(mask) = &notnull
            && (mask.shape().len() != 1 || mask.geometry().typesize() != 1)
        {
            return Err(wrong("one byte expected for each row that says whether it is null".into()));
        }
        Ok(ColumnReader { column: column.clone(), path, values, notnull, rows })
    }

    /// Rows that are stored.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How values of their own lengths are written.
    pub fn serializer(&self) -> Option<Serializer> {
        match &self.values {
            Values::Records(records) => Some(records.serializer),
            _ => None,
        }
    }

    /// The type of the items as it is stored; `None` of text.
    pub fn stored_items(&self) -> Option<Scalar> {
        match (&self.values, self.items()) {
            (Values::Items { nd, .. }, Some((scalar, _))) => match nd.dtype() {
                Dtype::Scalar(stored) => Some(Scalar { order: stored.order, ..scalar }),
                _ => None,
            },
            _ => None,
        }
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

    /// Type and shape of the items, where they are of one size.
    pub fn items(&self) -> Option<(Scalar, &[u32])> {
        match &self.values {
            Values::Items { scalar, shape, .. } => Some((*scalar, shape)),
            _ => None,
        }
    }

    /// The texts of a dictionary.
    pub fn dictionary(&self) -> Option<&Rc<Vec<String>>> {
        match &self.values {
            Values::Codes { values, .. } => Some(values),
            _ => None,
        }
    }

    /// Reads stored rows from `start` on, as far as they live. Batches must be read in order.
    ///
    /// # Errors
    /// Data that cannot be decoded; rows that live and are not there.
    pub fn read(&mut self, start: u64, lives: &[bool]) -> Result<Part> {
        let last = lives.iter().rposition(|lives| *lives).map_or(0, |last| last + 1);
        let (lives, end) = (lives.get(..last).unwrap_or(lives), start.saturating_add(last as u64));
        if end > self.rows {
            let text = format!(
                "has {} rows, but row {} of the table lives: the table was not closed by its writer",
                self.rows,
                end.saturating_sub(1)
            );
            return Err(Failure::at(&self.path, text));
        }
        let path = self.path.as_path();
        let range = start..end;
        let cells = match &mut self.values {
            Values::Items { nd, scalar, shape } => {
                let row = shape.iter().fold(scalar.size as usize, |n, side| n.saturating_mul(*side as usize));
                let bytes = living(&read(nd, path, range.clone())?, row, lives);
                Cells::Items { scalar: *scalar, shape: shape.clone(), bytes }
            }
            Values::Codes { codes, values } => {
                let codes = living(&read_ints(codes, path, range.clone())?, 1, lives);
                let most = values.len() as i64;
                let null = match self.column.kind {
                    Kind::Dictionary { null_code } => null_code,
                    _ => -1,
                };
                let code = |code: i64| match code {
                    code if code == null => Ok(-1),
                    code if (0..most).contains(&code) => Ok(code as i32),
                    code => {
                        Err(Failure::at(path, format!("code {code}, but its dictionary has {most} texts")))
                    }
                };
                let codes: Vec<i32> = codes.into_iter().map(code).collect::<Result<_>>()?;
                Cells::Codes { codes, values: Rc::clone(values) }
            }
            Values::Utf8 { offsets, bytes } => utf8(offsets, bytes, path, range.clone(), lives)?,
            Values::Records(records) => values(records, &self.column, path, start, lives)?,
        };
        let nulls = self.nulls(&cells, range, lives)?;
        let path = self.path.as_path();
        Ok(Part { cells: finish(cells, &self.column, nulls.as_deref(), path)?, nulls })
    }

    /// Which of the rows that live are null.
    fn nulls(&mut self, cells: &Cells, range: Range<u64>, lives: &[bool]) -> Result<Option<Vec<bool>>> {
        Ok(match (&self.column.nulls, cells) {
            (Nulls::None, Cells::Values(values)) if values.contains(&Value::Null) => {
                Some(values.iter().map(|value| *value == Value::Null).collect())
            }
            (Nulls::None, Cells::Codes { codes, .. }) if codes.iter().any(|code| *code < 0) => {
                return Err(Failure::at(&self.path, "has null codes, but its schema allows no nulls"));
            }
            (Nulls::None, _) => None,
            (Nulls::Mask, _) => {
                let count = lives.iter().filter(|lives| **lives).count();
                let Some(mask) = &mut self.notnull else { return Ok(Some(vec![false; count])) };
                let valid = living(&read(mask, &self.path, range)?, 1, lives);
                Some(valid.iter().map(|valid| *valid == 0).collect())
            }
            (Nulls::Native, Cells::Codes { codes, .. }) => Some(codes.iter().map(|code| *code < 0).collect()),
            (Nulls::Native, Cells::Values(values)) => {
                Some(values.iter().map(|value| *value == Value::Null).collect())
            }
            (Nulls::Sentinel(sentinel), Cells::Text(texts)) => {
                let sentinel = sentinel.as_text();
                Some(texts.iter().map(|text| Some(text.as_str()) == sentinel).collect())
            }
            (Nulls::Sentinel(sentinel), Cells::Items { scalar, shape, bytes }) => {
                if !shape.is_empty() {
                    return Err(Failure::at(&self.path, "arrays in place of nulls are not known"));
                }
                let rows = bytes.chunks_exact(scalar.size.max(1) as usize);
                Some(
                    rows.map(|row| item(scalar, row).is_some_and(|item| is_sentinel(&item, sentinel)))
                        .collect(),
                )
            }
            _ => None,
        })
    }
}

/// Whether the bytes of an item or text are the value that stands for null.
pub fn is_null_value(bytes: &[u8], column: &Column, scalar: Option<&Scalar>, sentinel: &Value) -> bool {
    match scalar {
        _ if column.kind == Kind::Bool => false,
        Some(scalar) => item(scalar, bytes).is_some_and(|item| is_sentinel(&item, sentinel)),
        None => sentinel.as_text().map(str::as_bytes) == Some(bytes),
    }
}

/// Whether an item is the value that stands for null.
fn is_sentinel(item: &Item, sentinel: &Value) -> bool {
    match item {
        Item::Int(n) | Item::Time(n, _) => sentinel.as_i64() == Some(*n),
        Item::Uint(n) => sentinel.as_u64() == Some(*n),
        Item::Bool(_) | Item::Complex(..) => false,
        Item::Single(x) => is_float(f64::from(*x), sentinel.as_f64().map(|x| f64::from(x as f32))),
        Item::Float(x) => is_float(*x, sentinel.as_f64()),
        Item::Text(text) => sentinel.as_text() == Some(text),
        Item::Bytes(bytes) => match sentinel.get("base64").and_then(Value::as_text) {
            Some(text) => super::base64::decode(text).is_some_and(|sentinel| sentinel == *bytes),
            None => sentinel.as_text().map(str::as_bytes) == Some(bytes),
        },
    }
}

fn is_float(x: f64, sentinel: Option<f64>) -> bool {
    sentinel.is_some_and(|sentinel| x == sentinel || (x.is_nan() && sentinel.is_nan()))
}

/// What an array of items holds.
fn items(nd: Array, column: &Column, path: &Path) -> Result<Values> {
    let (Dtype::Scalar(scalar), None) = (nd.dtype().clone(), nd.opaque()) else {
        return Err(Failure::at(path, format!("items of type {} are not known", nd.dtype_text())));
    };
    let little = match scalar.order {
        ByteOrder::Big => ByteOrder::Little,
        order => order,
    };
    let mut scalar = Scalar { order: little, ..scalar };
    match &column.kind {
        Kind::Timestamp { unit, .. } if scalar.kind == Scalars::Int && scalar.size == 8 => {
            let units = [Unit::Second, Unit::Milli, Unit::Micro, Unit::Nano];
            let unit = units.into_iter().find(|u| u.name() == unit);
            let unit = unit.ok_or_else(|| Failure::at(path, "the unit of its times is not known"))?;
            scalar.kind = Scalars::Datetime { unit, count: 1 };
        }
        Kind::Timestamp { .. } => return Err(Failure::at(path, "times of 64 bits expected")),
        Kind::Bool if scalar.size != 1 => return Err(Failure::at(path, "items of one byte expected")),
        _ => {}
    }
    let shape =
        nd.shape().iter().skip(1).map(|side| u32::try_from(*side)).collect::<std::result::Result<_, _>>();
    let shape: Vec<u32> = shape.map_err(|_| Failure::at(path, "its rows are too large"))?;
    if nd.shape().is_empty() || (!shape.is_empty() && column.type_name() != "ndarray") {
        return Err(Failure::at(path, format!("shape {:?} is not that of a column", nd.shape())));
    }
    Ok(Values::Items { nd, scalar, shape })
}

/// Texts between offsets.
fn utf8(
    offsets: &mut Array,
    bytes: &mut Array,
    path: &Path,
    range: Range<u64>,
    lives: &[bool],
) -> Result<Cells> {
    if range.is_empty() {
        return Ok(Cells::Text(Vec::new()));
    }
    let ends = read_ints(offsets, path, range.start..range.end.saturating_add(1))?;
    let wrong = |what: &str| Failure::at(path, what);
    let (first, last) = match (ends.first(), ends.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => return Err(wrong("offsets expected")),
    };
    let size = bytes.shape().first().copied().unwrap_or(0);
    let whole = u64::try_from(first).ok().zip(u64::try_from(last).ok());
    let (from, to) = whole
        .filter(|(from, to)| from <= to && *to <= size)
        .ok_or_else(|| wrong(&format!("texts from byte {first} to {last} expected, but there are {size}")))?;
    let bytes = read(bytes, path, from..to)?;
    let mut texts = Vec::new();
    for ((start, end), lives) in ends.iter().zip(ends.iter().skip(1)).zip(lives) {
        let [start, end] = [start, end].map(|end| usize::try_from(end.wrapping_sub(first)));
        let text = start.ok().zip(end.ok()).and_then(|(start, end)| bytes.get(start..end));
        let text = text.ok_or_else(|| wrong("offsets that do not ascend"))?;
        if *lives {
            texts.push(str::from_utf8(text).map_err(|_| wrong("text that is no UTF-8"))?.to_string());
        }
    }
    Ok(Cells::Text(texts))
}

/// Values of their own lengths.
fn values(records: &mut Records, column: &Column, path: &Path, start: u64, lives: &[bool]) -> Result<Cells> {
    let (mut values, mut at) = (Vec::new(), 0);
    if !lives.is_empty() {
        records.each(start, &mut |value| {
            if lives.get(at).copied().unwrap_or(false) {
                values.push(value);
            }
            at += 1;
            Ok(at < lives.len())
        })?;
    }
    let typed = |value: &Value| match &column.kind {
        Kind::VlString => matches!(value, Value::Text(_) | Value::Null),
        Kind::VlBytes => *value == Value::Null || super::cells::bytes_of(value).is_some(),
        _ => true,
    };
    match values.iter().all(typed) {
        true => Ok(Cells::Values(values)),
        false => Err(Failure::at(path, format!("a value that is no {}", column.type_name()))),
    }
}

/// Cells of the type that the schema says, once it is known which are null.
fn finish(cells: Cells, column: &Column, nulls: Option<&[bool]>, path: &Path) -> Result<Cells> {
    let null = |row: usize| nulls.is_some_and(|nulls| nulls.get(row).copied().unwrap_or(false));
    Ok(match (cells, &column.kind) {
        (Cells::Items { mut scalar, shape, mut bytes }, Kind::Bool) => {
            for (row, byte) in bytes.iter_mut().enumerate() {
                match (*byte, null(row)) {
                    (_, true) => *byte = 0,
                    (0 | 1, _) => {}
                    (other, _) => return Err(Failure::at(path, format!("{other}, which is no truth value"))),
                }
            }
            (scalar.kind, scalar.order) = (Scalars::Bool, ByteOrder::None);
            Cells::Items { scalar, shape, bytes }
        }
        (Cells::Values(values), Kind::VlString) => Cells::Text(
            values.into_iter().map(|value| value.as_text().unwrap_or_default().to_string()).collect(),
        ),
        (Cells::Values(values), Kind::VlBytes) => Cells::Bytes(
            values.iter().map(|value| super::cells::bytes_of(value).unwrap_or_default()).collect(),
        ),
        (cells, _) => cells,
    })
}
