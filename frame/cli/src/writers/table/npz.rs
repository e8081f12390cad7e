//! Tables as the arrays of a `.npz` file: `NAME.npy` for each column, and `NAME.mask.npy` for each that may have nulls,
//! true where a row is null, as in a masked array of NumPy. Texts have the width of the longest.

use super::Source;
use crate::failure::{Failure, Result};
use crate::limits::check_output;
use crate::output::{Sink, spool};
use crate::paths::plain_name;
use crate::writers::npz::{finish, start};
use blosc_frame::b2nd::Dims;
use blosc_frame::dtype::{ByteOrder, Dtype, Kind, Scalar};
use blosc_frame::npy::NpyHeader;
use blosc_frame::table::numpy::{self, Width};
use blosc_frame::table::{Column, ColumnReader};
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
    source: &mut Source<'_>,
    columns: Vec<ColumnReader>,
    left_out: &mut Vec<String>,
) -> Result<Vec<Member>> {
    let mut members: Vec<Member> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut total = 0u64;
    for reader in columns {
        let column = reader.column().clone();
        let found = match numpy::items(&reader) {
            Some(found) => Ok(found),
            None => {
                let mut width = Width::default();
                source.each(reader, &mut |array| {
                    width.add(array);
                    Ok(())
                })?;
                width.scalar(&column).map(|scalar| (scalar, Vec::new()))
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
        total = total.saturating_add(row.saturating_add(1).saturating_mul(source.rows()));
        check_output(source.path, total, source.table.max_output)?;
        members.push(Member { column, scalar, shape });
    }
    Ok(members)
}

fn mask(name: &str) -> String {
    format!("{name}.mask")
}

/// Writes the members.
///
/// # Errors
/// What reading and writing give.
pub fn write(source: &mut Source<'_>, members: &[Member], sink: &mut Sink) -> Result<()> {
    let mut archive = zip::ZipWriter::new(spool()?);
    let rows = source.rows();
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
        let reader = source.column(column)?;
        source.each(reader, &mut |array| {
            nulls.extend((0..array.len()).map(|row| u8::from(array.is_null(row))));
            Ok(archive.write_all(&numpy::bytes(array, scalar)?)?)
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
