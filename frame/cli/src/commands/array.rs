//! Changing arrays in place: `set`, `resize`, `append`, `insert`, `delete`, each one atomic step.

use crate::args::{Append, Delete, Insert, Resize, Set};
use crate::cut::{forward, one_per_dimension};
use crate::failure::{Failure, Result, asked, failure, sized};
use crate::items::NewItems;
use crate::readers::Items;
use blosc_core::Pool;
use blosc_frame::Error;
use blosc_frame::b2nd::{Dims, NdArray, Selection};
use blosc_frame::io::ReadAt;
use blosc_frame::plain::Uncompressed;
use std::path::Path;

/// Items that are read as they are needed.
type Source = Uncompressed<Box<dyn ReadAt>>;

/// Refuses items that are not the array's, and gives the shape they have.
fn check(nd: &NdArray<'_>, new: &NewItems) -> Result<Option<Dims<u64>>> {
    let dtype = nd.opaque().is_none().then(|| nd.dtype());
    new.check(dtype, nd.geometry().typesize().into())?;
    Ok(new.items.as_ref().and_then(|Items { shape, .. }| Dims::new(shape)))
}

/// Refuses items of another shape than `wanted`, but for axes of one item, and of another number. Where that is the
/// shape of a range, the range is wrong; else the items are.
fn part(nd: &NdArray<'_>, new: NewItems, args: &Set, wanted: &Dims<u64>) -> Result<Source> {
    let wrong = |text: String| match args.part.cut().is_all() {
        true => Failure::at(&args.input, text),
        false => Failure::Usage(format!("{}: {text}", args.input.display())),
    };
    let shape = check(nd, &new)?;
    let sides = |shape: &Dims<u64>| shape.iter().copied().filter(|n| *n != 1).collect::<Vec<_>>();
    if let Some(shape) = shape.filter(|shape| sides(shape) != sides(wanted)) {
        return Err(wrong(format!("items of shape {shape}, but the part to be set has {wanted}")));
    }
    let size = wanted.iter().fold(u64::from(nd.geometry().typesize()), |n, s| n.saturating_mul(*s));
    let data = new.at(size)?;
    let len = data.size()?;
    if len != size {
        return Err(wrong(format!("{len} bytes, but the part to be set, of shape {wanted}, takes {size}")));
    }
    Ok(Uncompressed::new(data, 0, len))
}

/// Rows along `axis`, or one row without that axis.
fn rows(nd: &NdArray<'_>, new: NewItems, input: &Path, axis: usize) -> Result<Source> {
    let len = nd.shape().len() as u64;
    if axis as u64 >= len {
        return Err(asked(Error::OutOfRange { what: "axis", index: axis as u64, len }));
    }
    let shape = check(nd, &new)?;
    let mut row = nd.shape().to_vec();
    row.remove(axis);
    let row = Dims::new(&row).unwrap_or_else(Dims::empty);
    let fits = |shape: &Dims<u64>| {
        let others = shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, n)| *n);
        *shape == row || (shape.len() == nd.shape().len() && others.eq(row.iter().copied()))
    };
    if let Some(shape) = shape.filter(|shape| !fits(shape)) {
        let text = format!("items of shape {shape}, but rows of dimension {axis} of the array have {row}");
        return Err(Failure::at(input, text));
    }
    let data = new.at(u64::MAX)?;
    let len = data.size()?;
    let size = row.iter().fold(u64::from(nd.geometry().typesize()), |n, s| n.saturating_mul(*s));
    if size > 0 && !len.is_multiple_of(size) {
        let text = format!("{len} bytes are no whole number of rows of shape {row}, {size} bytes each");
        return Err(Failure::at(input, text));
    }
    Ok(Uncompressed::new(data, 0, len))
}

/// What a change of the array at `path` came to.
fn commit(nd: &mut NdArray<'_>, path: &Path, changed: std::result::Result<(), Error>) -> Result<()> {
    changed.map_err(|error| sized(error).about(path.display()))?;
    nd.commit().map_err(failure(path))
}

/// `blosc set`.
pub fn set(nd: &mut NdArray<'_>, new: NewItems, args: &Set) -> Result<()> {
    let takes = args.part.cut().takes(nd.shape())?;
    let selection = Selection::new(nd.shape(), &takes).map_err(asked)?;
    let source = part(nd, new, args, selection.shape())?;
    let changed = nd.set_selection_from(&mut Pool::new(1), &selection, &source);
    commit(nd, &args.array, changed)
}

/// `blosc resize`.
pub fn resize(nd: &mut NdArray<'_>, args: &Resize) -> Result<()> {
    one_per_dimension("shape", args.shape.len(), nd.shape())?;
    let changed = nd.resize(&args.shape);
    commit(nd, &args.array, changed)
}

/// `blosc append` to an array.
pub fn append(nd: &mut NdArray<'_>, new: NewItems, args: &Append) -> Result<()> {
    let axis = args.axis.unwrap_or(0);
    let source = rows(nd, new, &args.input, axis)?;
    let end = nd.shape().at(axis);
    let changed = nd.insert_from(&mut Pool::new(1), axis, end, &source);
    commit(nd, &args.frame, changed)
}

/// `blosc insert`.
pub fn insert(nd: &mut NdArray<'_>, new: NewItems, args: &Insert) -> Result<()> {
    let source = rows(nd, new, &args.input, args.axis)?;
    let changed = nd.insert_from(&mut Pool::new(1), args.axis, args.at, &source);
    commit(nd, &args.array, changed)
}

/// `blosc delete`.
pub fn delete(nd: &mut NdArray<'_>, args: &Delete) -> Result<()> {
    forward(args.start, args.stop)?;
    let changed = nd.delete(args.axis, args.start..args.stop);
    commit(nd, &args.array, changed)
}
