//! Tables as the arrays of a `.npz` file: `NAME.npy` for each column, and `NAME.mask.npy` for each that may have nulls,
//! true where a row is null, as in a masked array of NumPy. Texts have the width of the longest.

use super::Rows;
use crate::failure::{Failure, Result};
use crate::limits::check_output;
use crate::output::{Sink, spool};
use crate::readers::store::StoreReader;
use crate::readers::table::Table;
use crate::readers::table::cells::{Cells, Part};
use crate::readers::table::column::ColumnReader;
use crate::readers::table::schema::Column;
use crate::writers::npz::{finish, plain_name, start};
use blosc_frame::b2nd::Dims;
use blosc_frame::dtype::{ByteOrder, Dtype, Kind, Scalar};
use blosc_frame::npy::NpyHeader;
use std::io::Write;

/// The members that a column becomes.
pub struct Member {
    column: Column,
    scalar: Scalar,
    shape: Vec<u32>,
}

/// Looks how wide the items of each column are.
///
/// # Errors
/// What reading gives; two columns whose members would have the same name. Columns that cannot be kept go to `left_out`.
pub fn widths(
    store: &StoreReader,
    table: &mut Table,
    columns: Vec<ColumnReader>,
    range: &Rows,
    left_out: &mut Vec<String>,
) -> Result<Vec<Member>> {
    let mut members: Vec<Member> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut total = 0u64;
    for reader in columns {
        let column = reader.column.clone();
        let found = match reader.items() {
            Some((scalar, shape)) => {
                let scalar = match column.kind {
                    crate::readers::table::schema::Kind::Bool => {
                        Scalar { kind: Kind::Bool, order: ByteOrder::None, ..scalar }
                    }
                    _ => scalar,
                };
                Ok((scalar, shape.to_vec()))
            }
            None => {
                drop(reader);
                let mut reader = [ColumnReader::open(store, &column, table.max_output)?];
                longest(table, &mut reader, range)?.map(|scalar| (scalar, Vec::new()))
            }
        };
        let (scalar, shape) = match found {
            Ok(found) => found,
            Err(why) => {
                left_out.push(format!("column {}: {why}", column.name));
                continue;
            }
        };
        let mut own = vec![column.name.clone()];
        own.extend(column.is_nullable().then(|| mask(&column.name)));
        if let Some(name) = own.iter().find(|name| plain_name(name).is_none() || names.contains(*name)) {
            left_out
                .push(format!("column {}: the member {name:?} has no plain name of its own", column.name));
            continue;
        }
        names.extend(own);
        let row = shape.iter().fold(u64::from(scalar.size), |n, side| n.saturating_mul(u64::from(*side)));
        total = total.saturating_add(row.saturating_add(1).saturating_mul(range.end - range.start));
        check_output(std::path::Path::new(&column.name), total, table.max_output)?;
        members.push(Member { column, scalar, shape });
    }
    Ok(members)
}

fn mask(name: &str) -> String {
    format!("{name}.mask")
}

/// The type of items that the longest text of a column fits in, or why there is none.
fn longest(
    table: &mut Table,
    reader: &mut [ColumnReader; 1],
    range: &Rows,
) -> Result<std::result::Result<Scalar, String>> {
    let (mut width, mut kind, mut ends) = (0, Kind::Unicode, None);
    let mut seen = 0u64;
    table.each_batch(reader, range, &mut |rows, parts| {
        let Some(part) = parts.first() else { return Ok(()) };
        for row in 0..rows {
            let length = match &part.cells {
                Cells::Bytes(bytes) => {
                    kind = Kind::Bytes;
                    let bytes = bytes.get(row).map_or(&[][..], Vec::as_slice);
                    if bytes.last() == Some(&0) {
                        ends.get_or_insert(seen);
                    }
                    bytes.len()
                }
                cells => {
                    let text = text_of(cells, row);
                    if text.ends_with('\0') {
                        ends.get_or_insert(seen);
                    }
                    text.chars().count()
                }
            };
            width = length.max(width);
            seen += 1;
        }
        Ok(())
    })?;
    if let crate::readers::table::schema::Kind::VlBytes = reader[0].column.kind {
        kind = Kind::Bytes;
    }
    let unit = if kind == Kind::Unicode { 4 } else { 1 };
    Ok(match (ends, u32::try_from(width.max(1)).ok().and_then(|width| width.checked_mul(unit))) {
        (Some(row), _) => Err(format!("row {row} ends with a zero, which NumPy takes for padding")),
        (_, None) => Err("a text is too long".into()),
        (_, Some(size)) => {
            let order = if kind == Kind::Unicode { ByteOrder::Little } else { ByteOrder::None };
            Ok(Scalar { kind, order, size })
        }
    })
}

/// The text of a row; a null has none.
fn text_of(cells: &Cells, row: usize) -> &str {
    match cells {
        Cells::Text(texts) => texts.get(row).map_or("", String::as_str),
        Cells::Codes { codes, values } => {
            let code = codes.get(row).and_then(|code| usize::try_from(*code).ok());
            code.and_then(|code| values.get(code)).map_or("", String::as_str)
        }
        _ => "",
    }
}

/// Writes the members.
///
/// # Errors
/// What reading and writing give.
pub fn write(
    store: &StoreReader,
    table: &mut Table,
    members: &[Member],
    range: &Rows,
    sink: &mut Sink,
) -> Result<()> {
    let mut archive = zip::ZipWriter::new(spool()?);
    let rows = range.end - range.start;
    let head = |scalar: Scalar, shape: &[u32]| -> Result<(Vec<u8>, bool)> {
        let shape: Vec<u64> = [rows].into_iter().chain(shape.iter().map(|side| u64::from(*side))).collect();
        let bytes = shape.iter().fold(u64::from(scalar.size), |n, side| n.saturating_mul(*side));
        let shape = Dims::new(&shape).ok_or_else(|| Failure::Data("rows of too many dimensions".into()))?;
        let header = NpyHeader { dtype: Dtype::Scalar(scalar), fortran: false, shape };
        Ok((header.to_bytes()?, bytes > u64::from(u32::MAX) - (1 << 20)))
    };
    for Member { column, scalar, shape } in members {
        let (header, large) = head(*scalar, shape)?;
        start(&mut archive, &column.name, large)?;
        archive.write_all(&header)?;
        let mut nulls = Vec::new();
        let mut reader = [ColumnReader::open(store, column, table.max_output)?];
        table.each_batch(&mut reader, range, &mut |rows, parts| {
            let Some(part) = parts.first() else { return Ok(()) };
            nulls.extend((0..rows).map(|row| u8::from(part.is_null(row))));
            Ok(archive.write_all(&items(part, rows, scalar))?)
        })?;
        if column.is_nullable() {
            let (header, large) = head(Scalar { kind: Kind::Bool, order: ByteOrder::None, size: 1 }, &[])?;
            start(&mut archive, &mask(&column.name), large)?;
            archive.write_all(&header)?;
            archive.write_all(&nulls)?;
        }
    }
    finish(archive, sink)
}

/// The items of a batch.
fn items(part: &Part, rows: usize, scalar: &Scalar) -> Vec<u8> {
    let size = scalar.size as usize;
    let mut out = Vec::new();
    match &part.cells {
        Cells::Items { bytes, .. } if matches!(scalar.kind, Kind::Datetime { .. }) => {
            for (row, item) in bytes.chunks_exact(size.max(1)).enumerate() {
                match part.is_null(row) {
                    // NumPy's word for no time.
                    true => out.extend(i64::MIN.to_le_bytes()),
                    false => out.extend_from_slice(item),
                }
            }
        }
        Cells::Items { bytes, .. } => out.extend_from_slice(bytes),
        Cells::Bytes(all) => {
            for bytes in all {
                let end = out.len() + size;
                out.extend_from_slice(bytes);
                out.resize(end, 0);
            }
        }
        cells => {
            for row in 0..rows {
                let end = out.len() + size;
                if !part.is_null(row) {
                    out.extend(text_of(cells, row).chars().flat_map(|c| u32::from(c).to_le_bytes()));
                }
                out.resize(end, 0);
            }
        }
    }
    out
}
