//! Batches of rows as the arrays of a `.npz` file, and from them: a member for each column, or one member whose items have
//! the columns as fields. `NAME.mask` says which rows of `NAME` are null, as in a masked array of NumPy.

use super::bytes::{array_of, items as items_of, to_little_endian};
use super::column::ColumnReader;
use super::error::{Made, Result, TableError, Wrong};
use super::exact;
use super::rows::{self, Rows};
use super::schema::{Column, Kind, lists, scalar_type};
use crate::dtype::{ByteOrder, Dtype, Kind as Scalars, Scalar, Unit};
use crate::io::ReadAt;
use crate::npy::{NpyHeader, PREFIX};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Fields, TimeUnit};

/// Bytes of rows that are in memory at a time.
const BYTES: u64 = 16 << 20;

/// Whether NumPy has no items for the values of a column.
pub fn cannot_hold(column: &Column) -> bool {
    matches!(column.kind, Kind::Nested(_) | Kind::Object)
}

/// The items that a column of one size becomes, and their shape in each row.
pub fn items(reader: &ColumnReader) -> Option<(Scalar, Vec<u32>)> {
    let (scalar, shape) = reader.items()?;
    let scalar = match reader.column().kind {
        Kind::Bool => Scalar { kind: Scalars::Bool, order: ByteOrder::None, ..scalar },
        _ => scalar,
    };
    Some((scalar, shape.to_vec()))
}

/// The texts of a dictionary's codes; any other array as it is.
fn plain(array: &ArrayRef) -> ArrayRef {
    let texts = array.as_dictionary_opt::<Int32Type>().and_then(|codes| codes.downcast_dict::<StringArray>());
    texts.map_or_else(|| Arc::clone(array), |texts| Arc::new(texts.into_iter().collect::<StringArray>()))
}

/// Items in which the longest text of a column fits.
#[derive(Default)]
pub struct Width {
    most: usize,
    rows: u64,
    /// The first row that ends with a zero.
    zero: Option<u64>,
}

impl Width {
    /// Looks at the texts of a batch, or at its bytes.
    pub fn add(&mut self, array: &ArrayRef) {
        let array = plain(array);
        let mut look = |length: usize, zero: bool| {
            self.most = self.most.max(length);
            if zero {
                self.zero.get_or_insert(self.rows);
            }
            self.rows = self.rows.saturating_add(1);
        };
        match array.as_binary_opt::<i32>() {
            Some(all) => {
                all.iter().map(Option::unwrap_or_default).for_each(|b| look(b.len(), b.last() == Some(&0)))
            }
            None => {
                let texts = array.as_string_opt::<i32>().into_iter().flat_map(|texts| texts.iter());
                texts.map(Option::unwrap_or_default).for_each(|t| look(t.chars().count(), t.ends_with('\0')));
            }
        }
    }

    /// The type of the items.
    ///
    /// # Errors
    /// Why NumPy has no type for them.
    pub fn scalar(&self, column: &Column) -> core::result::Result<Scalar, String> {
        if let Some(row) = self.zero {
            return Err(format!("row {row} ends with a zero, which NumPy takes for padding"));
        }
        let (kind, order, unit) = match column.kind {
            Kind::VlBytes => (Scalars::Bytes, ByteOrder::None, 1),
            _ => (Scalars::Unicode, ByteOrder::Little, 4),
        };
        let size = u32::try_from(self.most.max(1)).ok().and_then(|width| width.checked_mul(unit));
        Ok(Scalar { kind, order, size: size.ok_or("a text is too long")? })
    }
}

/// The items of a batch; a null time is `NaT`.
///
/// # Errors
/// Values that are no such items.
pub fn bytes(array: &ArrayRef, scalar: &Scalar) -> Result<Vec<u8>> {
    let mut bytes = items_of(&plain(array), scalar).map_err(|wrong| TableError::Data(wrong.what))?;
    if let Scalars::Datetime { .. } = scalar.kind {
        let rows = bytes.chunks_exact_mut(8).enumerate();
        for (_, item) in rows.filter(|(row, _)| array.is_null(*row)) {
            item.copy_from_slice(&i64::MIN.to_le_bytes());
        }
    }
    Ok(bytes)
}

/// An array of a `.npz` file.
pub struct Member {
    name: String,
    file: Box<dyn ReadAt>,
    /// Where its items begin.
    start: u64,
    header: NpyHeader,
}

impl Member {
    /// Reads the header of the member `name`, which is `file`.
    ///
    /// # Errors
    /// A file that is no array, or has more or fewer bytes than its header says.
    pub fn new(name: &str, file: Box<dyn ReadAt>) -> Result<Member> {
        let failed = |error| TableError::of(name)(error);
        let Some(stem) = name.strip_suffix(".npy") else {
            return Err(TableError::Data(format!("{name} is no array, and so no column")));
        };
        let size = file.size().map_err(|e| failed(e.into()))?;
        let head = |length: usize| {
            let mut head = alloc::vec![0; length.min(usize::try_from(size).unwrap_or(usize::MAX))];
            file.read_exact_at(0, &mut head).map_err(|e| failed(e.into())).map(|()| head)
        };
        let start = NpyHeader::length(&head(PREFIX)?).map_err(failed)?;
        let header = NpyHeader::parse(&head(start)?).map_err(failed)?;
        let start = start as u64;
        if header.nbytes().is_none_or(|nbytes| Some(nbytes) != size.checked_sub(start)) {
            return Err(TableError::Data(format!("{name} is longer or shorter than its header says")));
        }
        Ok(Member { name: stem.to_string(), file, start, header })
    }

    /// Bytes of a row.
    fn row(&self) -> u64 {
        let inner = self.header.shape.iter().skip(1);
        inner.fold(self.header.dtype.itemsize().into(), |n: u64, side| n.saturating_mul(*side))
    }
}

/// A column: where its items lie in those of a member.
struct Part {
    member: usize,
    offset: usize,
    scalar: Scalar,
    /// Items in a row, of as many dimensions.
    shape: Vec<u32>,
    /// The member that says which rows are null.
    mask: Option<usize>,
}

impl Part {
    /// A column of items of this type, in rows of this shape.
    fn new(member: usize, offset: usize, dtype: &Dtype, inner: &[u64]) -> Made<Part> {
        let (dtype, more) = match dtype {
            Dtype::Array { item, shape } => (&**item, shape.clone()),
            other => (other, Vec::new()),
        };
        let Dtype::Scalar(scalar) = dtype else {
            return Err(format!("items of type {dtype} are no column"));
        };
        let inner: Option<Vec<u32>> = inner.iter().map(|side| u32::try_from(*side).ok()).collect();
        let shape = [inner.ok_or("its rows are too large")?, more].concat();
        Ok(Part { member, offset, scalar: *scalar, shape, mask: None })
    }

    /// The rows of this column in those of the members.
    fn array(&self, data: &[(usize, Vec<u8>)], to: &Field) -> core::result::Result<ArrayRef, Wrong> {
        let (made, from) = self.read(data, to).map_err(|what| Wrong { row: 0, what })?;
        exact::fit(&made, &from, to)
    }

    /// As [`Part::array`], of the type that the items have.
    fn read(&self, data: &[(usize, Vec<u8>)], to: &Field) -> Made<(ArrayRef, Field)> {
        let member = |at: usize| data.get(at).map(|(row, bytes)| bytes.chunks_exact((*row).max(1)));
        let count = self.shape.iter().fold(1usize, |n, side| n.saturating_mul(*side as usize));
        let end = count.saturating_mul(self.scalar.size as usize).saturating_add(self.offset);
        let mut bytes = Vec::new();
        for row in member(self.member).into_iter().flatten() {
            bytes.extend_from_slice(row.get(self.offset..end).ok_or("items that lie outside their rows")?);
        }
        to_little_endian(&self.scalar, &mut bytes);
        let order = if self.scalar.order == ByteOrder::Big { ByteOrder::Little } else { self.scalar.order };
        let scalar = Scalar { order, ..self.scalar };
        let item = match scalar.kind {
            Scalars::Datetime { unit, count: 1 } if self.shape.is_empty() => times(&mut bytes, unit, to)?,
            _ => scalar_type(&scalar).map_err(|_| format!("items of type {scalar} are no column"))?,
        };
        let mut valid: Option<Vec<bool>> =
            self.mask.and_then(member).map(|rows| rows.map(|byte| byte == [0]).collect());
        if let DataType::Timestamp(..) = item {
            let nat = i64::MIN.to_le_bytes();
            let there = bytes.chunks_exact(8).map(|item| item != nat);
            valid = Some(
                there
                    .enumerate()
                    .map(|(row, is)| is && valid.as_ref().is_none_or(|v| v.get(row) == Some(&true)))
                    .collect(),
            );
        }
        let from = Field::new(to.name(), lists(item, &self.shape)?, true);
        let made = array_of(bytes, &scalar, &self.shape, from.data_type(), valid.map(Into::into))?;
        Ok((made, from))
    }
}

/// The type of times in these units, which become seconds where they are longer. NumPy's times have no zone: they are those
/// of the column.
fn times(bytes: &mut [u8], unit: Unit, to: &Field) -> Made<DataType> {
    let (in_units, seconds) = match unit {
        Unit::Day => (TimeUnit::Second, 86_400),
        Unit::Hour => (TimeUnit::Second, 3_600),
        Unit::Minute => (TimeUnit::Second, 60),
        Unit::Second => (TimeUnit::Second, 1),
        Unit::Milli => (TimeUnit::Millisecond, 1),
        Unit::Micro => (TimeUnit::Microsecond, 1),
        Unit::Nano => (TimeUnit::Nanosecond, 1),
        other => return Err(format!("times in {} are no column", other.name())),
    };
    for item in bytes.as_chunks_mut::<8>().0.iter_mut().filter(|_| seconds > 1) {
        let count = i64::from_le_bytes(*item);
        if count != i64::MIN {
            let count: Option<i64> = count.checked_mul(seconds);
            *item = count.ok_or("a time is too far from 1970")?.to_le_bytes();
        }
    }
    let zone = match to.data_type() {
        DataType::Timestamp(_, zone) => zone.clone(),
        _ => None,
    };
    Ok(DataType::Timestamp(in_units, zone))
}

/// The rows of the arrays of a `.npz` file.
pub struct NpzReader {
    members: Vec<Member>,
    names: Vec<String>,
    columns: Vec<Part>,
    at: u64,
    last: u64,
    rows: u64,
}

impl NpzReader {
    /// Looks which columns the members are. A member that is called as one of `columns` is no mask.
    ///
    /// # Errors
    /// Members of different lengths; items that are no column.
    pub fn new(members: Vec<Member>, columns: &[String]) -> Result<NpzReader> {
        let wrong = |what: String| TableError::Data(what);
        let (mut names, mut parts) = (Vec::new(), Vec::new());
        if let [member] = &members[..]
            && let Dtype::Struct(items) = &member.header.dtype
        {
            for field in &items.fields {
                let part = Part::new(0, field.offset as usize, &field.dtype, &[]);
                parts.push(part.map_err(|e| wrong(format!("{}.{}: {e}", member.name, field.name)))?);
                names.push(field.name.clone());
            }
        } else {
            let named = |name: &str| members.iter().position(|member| member.name == name);
            let is_mask = |name: &str| {
                name.strip_suffix(".mask").is_some_and(|of| named(of).is_some())
                    && !columns.iter().any(|column| column == name)
            };
            for (k, Member { name, header, .. }) in
                members.iter().enumerate().filter(|(_, m)| !is_mask(&m.name))
            {
                let inner: Vec<u64> = header.shape.iter().skip(1).copied().collect();
                let mut part =
                    Part::new(k, 0, &header.dtype, &inner).map_err(|e| wrong(format!("{name}: {e}")))?;
                part.mask =
                    Some(format!("{name}.mask")).filter(|mask| is_mask(mask)).and_then(|mask| named(&mask));
                names.push(name.clone());
                parts.push(part);
            }
        }
        let length = |member: &Member| member.header.shape.first().copied();
        let rows = members.first().and_then(length).unwrap_or(0);
        for member in &members {
            let name = &member.name;
            if member.header.fortran && member.header.shape.len() > 1 {
                return Err(wrong(format!(
                    "{name}: arrays in Fortran order have no rows one behind the other"
                )));
            }
            match length(member) {
                None => return Err(wrong(format!("{name}: one item without a dimension is no column"))),
                Some(n) if n != rows => {
                    let first = members.first().map_or("", |member| member.name.as_str());
                    return Err(wrong(format!("{name} has {n} rows, but {first} has {rows}")));
                }
                _ => {}
            }
        }
        for mask in parts.iter().filter_map(|part| members.get(part.mask?)) {
            if mask.header.dtype.itemsize() != 1 || mask.header.shape.len() != 1 {
                return Err(wrong("a .mask of one byte for each row expected".into()));
            }
        }
        Ok(NpzReader { members, names, columns: parts, at: 0, last: 0, rows })
    }
}

impl Rows for NpzReader {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn next(&mut self, fields: &Fields) -> Result<Option<RecordBatch>> {
        let row = self.members.iter().fold(1u64, |n, member| n.saturating_add(member.row()));
        let count =
            BYTES.checked_div(row).unwrap_or(1).clamp(1, 1 << 16).min(self.rows.saturating_sub(self.at));
        if count == 0 {
            return Ok(None);
        }
        let mut data = Vec::new();
        for member in &self.members {
            let size = member.row();
            let mut bytes = alloc::vec![0; usize::try_from(count.saturating_mul(size)).unwrap_or(usize::MAX)];
            let start = member.start.saturating_add(self.at.saturating_mul(size));
            let read = member.file.read_exact_at(start, &mut bytes);
            read.map_err(|e| TableError::of(&member.name)(e.into()))?;
            data.push((usize::try_from(size).unwrap_or(usize::MAX), bytes));
        }
        (self.last, self.at) = (self.at, self.at.saturating_add(count));
        rows::read_batch(fields, &|row| self.place(row), &mut |field| {
            let part = self.names.iter().position(|name| name == field.name());
            Ok(part.and_then(|at| self.columns.get(at)).map(|part| part.array(&data, field)))
        })
        .map(Some)
    }

    fn place(&self, row: usize) -> String {
        format!("row {}", self.last.saturating_add(row as u64).saturating_add(1))
    }
}
