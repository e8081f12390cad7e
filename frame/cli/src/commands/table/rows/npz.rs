//! Rows of `.npz` files: a member for each column, or one member whose items have the columns as fields. `NAME.mask`, as
//! `decompress -o x.npz` writes it, says which rows of `NAME` are null.

use super::{BYTES, Field, Row, Source};
use crate::failure::{Failure, Result, failure};
use crate::readers::table::cells::{item, to_little_endian};
use crate::streams::unnamed;
use blosc_frame::dtype::{ByteOrder, Dtype, Scalar};
use blosc_frame::io::{PathFile, ReadAt};
use blosc_frame::npy::{NpyHeader, PREFIX};
use blosc_frame::value::Value;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// A member, unpacked.
struct Member {
    file: PathFile,
    /// Where its items begin.
    start: u64,
    header: NpyHeader,
}

/// A column: where its items lie in those of a member.
struct Column {
    member: usize,
    offset: usize,
    scalar: Scalar,
    /// Items in a row, of as many dimensions.
    shape: Vec<u32>,
    /// The member that says which rows are null.
    mask: Option<usize>,
}

struct Npz {
    path: PathBuf,
    members: Vec<Member>,
    columns: Vec<Column>,
    at: u64,
    rows: u64,
}

/// Opens a file. `columns` are the names of the table's.
pub fn open(path: &Path, columns: &[&str], max: u64) -> Result<(Vec<String>, Box<dyn Source>)> {
    let wrong = |what: String| Failure::at(path, what);
    let (names, members) = members(path, max)?;
    let (mut found, mut fields) = (Vec::new(), Vec::new());
    if let ([name], [member]) = (&names[..], &members[..])
        && let Dtype::Struct(items) = &member.header.dtype
    {
        for field in &items.fields {
            let offset = field.offset as usize;
            let column = column(0, offset, &field.dtype, &[])
                .map_err(|e| wrong(format!("{name}.{}: {e}", field.name)))?;
            found.push(field.name.clone());
            fields.push(column);
        }
    } else {
        let is_mask = |name: &str| {
            let of = name.strip_suffix(".mask").filter(|_| !columns.contains(&name));
            of.is_some_and(|of| names.iter().any(|name| name == of))
        };
        for (k, name) in names.iter().enumerate().filter(|(_, name)| !is_mask(name)) {
            let Some(member) = members.get(k) else { continue };
            let inner: Vec<u64> = member.header.shape.iter().skip(1).copied().collect();
            let mut column =
                column(k, 0, &member.header.dtype, &inner).map_err(|e| wrong(format!("{name}: {e}")))?;
            let mask = format!("{name}.mask");
            column.mask = names.iter().position(|name| *name == mask && is_mask(name));
            found.push(name.clone());
            fields.push(column);
        }
    }
    let length = |member: &Member| member.header.shape.first().copied();
    let rows = members.first().and_then(length).unwrap_or(0);
    for (name, member) in names.iter().zip(&members) {
        if member.header.fortran && member.header.shape.len() > 1 {
            return Err(wrong(format!("{name}: arrays in Fortran order have no rows one behind the other")));
        }
        match length(member) {
            None => return Err(wrong(format!("{name}: one item without a dimension is no column"))),
            Some(n) if n != rows => {
                let first = names.first().map_or("", String::as_str);
                return Err(wrong(format!("{name} has {n} rows, but {first} has {rows}")));
            }
            _ => {}
        }
    }
    for column in &fields {
        let mask = column.mask.and_then(|mask| members.get(mask));
        if mask.is_some_and(|mask| mask.header.dtype.itemsize() != 1 || mask.header.shape.len() != 1) {
            return Err(wrong("a .mask of one byte for each row expected".into()));
        }
    }
    Ok((found, Box::new(Npz { path: path.to_path_buf(), members, columns: fields, at: 0, rows })))
}

/// Unpacks the members; gives their names, too.
fn members(path: &Path, max: u64) -> Result<(Vec<String>, Vec<Member>)> {
    let wrong = |what: String| Failure::at(path, what);
    let file = File::open(path).map_err(Failure::io(path))?;
    let mut archive = ZipArchive::new(file).map_err(|e| wrong(e.to_string()))?;
    let (mut names, mut members, mut total) = (Vec::new(), Vec::new(), 0u64);
    for k in 0..archive.len() {
        let member = archive.by_index(k).map_err(|e| wrong(e.to_string()))?;
        let name = member.name().map_err(|e| wrong(e.to_string()))?.into_owned();
        let Some(stem) = name.strip_suffix(".npy") else {
            return Err(wrong(format!("{name} is no array, and so no column")));
        };
        let left = max.saturating_sub(total);
        let file = unnamed(&mut member.take(left.saturating_add(1)), path)?;
        let size = file.size()?;
        if size > left {
            return Err(wrong(format!("holds more than {max} bytes (--max-output BYTES)")));
        }
        total = total.saturating_add(size);
        let mut head = vec![0; PREFIX.min(usize::try_from(size).unwrap_or(0))];
        file.read_exact_at(0, &mut head)?;
        let start = NpyHeader::length(&head).map_err(failure(path))?;
        let mut head = vec![0; start.min(usize::try_from(size).unwrap_or(0))];
        file.read_exact_at(0, &mut head)?;
        let header = NpyHeader::parse(&head).map_err(|e| failure(path)(e).about(stem))?;
        let start = start as u64;
        if header.nbytes().is_none_or(|nbytes| nbytes != size.saturating_sub(start)) {
            return Err(wrong(format!("{name} is longer or shorter than its header says")));
        }
        names.push(stem.to_string());
        members.push(Member { file, start, header });
    }
    Ok((names, members))
}

/// A column of items of this type, in rows of this shape.
fn column(member: usize, offset: usize, dtype: &Dtype, inner: &[u64]) -> std::result::Result<Column, String> {
    let (dtype, more) = match dtype {
        Dtype::Array { item, shape } => (&**item, shape.clone()),
        other => (other, Vec::new()),
    };
    let Dtype::Scalar(scalar) = dtype else {
        return Err(format!("items of type {dtype} are no column"));
    };
    let inner = inner.iter().map(|side| u32::try_from(*side)).collect::<std::result::Result<Vec<_>, _>>();
    let shape = [inner.map_err(|_| "its rows are too large")?, more].concat();
    Ok(Column { member, offset, scalar: *scalar, shape, mask: None })
}

impl Source for Npz {
    fn rows(&mut self, most: usize) -> Result<Vec<Row>> {
        let item = |member: &Member| -> u64 {
            let inner = member.header.shape.iter().skip(1);
            inner.fold(member.header.dtype.itemsize().into(), |n: u64, side| n.saturating_mul(*side))
        };
        let row = self.members.iter().fold(1u64, |n, member| n.saturating_add(item(member)));
        let most = (BYTES as u64).checked_div(row).unwrap_or(1).clamp(1, most as u64);
        let count = most.min(self.rows.saturating_sub(self.at));
        let mut data = Vec::new();
        for member in &self.members {
            let size = item(member);
            let mut bytes = vec![0; usize::try_from(count.saturating_mul(size)).unwrap_or(usize::MAX)];
            member
                .file
                .read_exact_at(member.start.saturating_add(self.at.saturating_mul(size)), &mut bytes)?;
            data.push((usize::try_from(size).unwrap_or(usize::MAX), bytes));
        }
        self.at = self.at.saturating_add(count);
        let rows = 0..usize::try_from(count).unwrap_or(0);
        let row = |row: usize| {
            let fields = self.columns.iter().map(|column| column.field(&data, row));
            fields.collect::<std::result::Result<Row, String>>().map_err(|what| Failure::at(&self.path, what))
        };
        rows.map(row).collect()
    }
}

impl Column {
    /// The field in row `row` of the members' bytes.
    fn field(&self, data: &[(usize, Vec<u8>)], row: usize) -> std::result::Result<Field, String> {
        let part = |member: usize| -> Option<&[u8]> {
            let (size, bytes) = data.get(member)?;
            let start = row.checked_mul(*size)?;
            bytes.get(start..start.checked_add(*size)?)
        };
        if self.mask.and_then(part).is_some_and(|byte| byte != [0]) {
            return Ok(Field::Null);
        }
        let size = self.scalar.size as usize;
        let items = self.shape.iter().fold(1usize, |n, side| n.saturating_mul(*side as usize));
        let end = self.offset.saturating_add(items.saturating_mul(size));
        let bytes = part(self.member).and_then(|bytes| bytes.get(self.offset..end));
        let mut bytes = bytes.ok_or("items that lie outside their rows")?.to_vec();
        to_little_endian(&self.scalar, &mut bytes);
        let scalar = match self.scalar.order {
            ByteOrder::Big => Scalar { order: ByteOrder::Little, ..self.scalar },
            _ => self.scalar,
        };
        let one =
            |bytes: &[u8]| item(&scalar, bytes).ok_or(format!("items of type {} are no column", self.scalar));
        if self.shape.is_empty() {
            return one(&bytes).map(Field::of_item);
        }
        let json = |bytes: &[u8]| match Field::of_item(one(bytes)?) {
            Field::Bool(b) => Ok(Value::Bool(b)),
            Field::Number(n) => Ok(Value::Number(n)),
            Field::Text(text) => Ok(Value::Text(text)),
            Field::Nested(value) => Ok(value),
            _ => Err(format!("lists of type {} are no column", self.scalar)),
        };
        let flat = bytes.chunks_exact(size.max(1)).map(json).collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(Field::Nested(nest(&flat, &self.shape)))
    }
}

/// Items as lists of lists.
fn nest(items: &[Value], shape: &[u32]) -> Value {
    match shape.split_first() {
        Some((side, inner)) if !inner.is_empty() => {
            let size = inner.iter().fold(1usize, |n, side| n.saturating_mul(*side as usize));
            let part = |k: usize| items.get(k.saturating_mul(size)..k.saturating_add(1).saturating_mul(size));
            Value::List((0..*side as usize).map(|k| nest(part(k).unwrap_or_default(), inner)).collect())
        }
        _ => Value::List(items.to_vec()),
    }
}
