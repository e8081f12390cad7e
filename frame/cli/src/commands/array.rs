//! Changing arrays in place: `set`, `resize`, `append`, `insert`, `delete`, each one atomic step; and
//! `convert`, which copies them.

use crate::access::{Access, check_frame};
use crate::args::{Append, Convert, Delete, Insert, Kind, Resize, Set};
use crate::failure::{Failure, Result};
use crate::source::array::{one_per_dimension, takes};
use crate::source::plain::{failure, limits};
use crate::{source, target};
use blosc_frame::b2nd::{Dims, NdArray, Selection};
use blosc_frame::io::{FsDir, Offset};
use blosc_frame::{Error, SuperChunk};
use std::fs::File;
use std::io::Read;
use std::path::Path;

fn open(path: &Path, access: &Access, threads: usize) -> Result<NdArray<'static>> {
    let mut nd = NdArray::open(access.open(path)?).map_err(failure(path))?;
    nd.set_threads(threads);
    Ok(nd)
}

/// Whether the frame that a command shall change is an array.
pub fn is_array(path: &Path, access: &Access) -> Result<bool> {
    Ok(access.open(path)?.metalayer("b2nd").is_some())
}

/// The items of `input` in C order, and their shape: a `.npy` file, which must be of the array's type, or raw
/// bytes, whose shape nobody knows.
fn items(nd: &NdArray<'_>, input: &Path) -> Result<(Vec<u8>, Option<Dims<u64>>)> {
    let (mut data, _) = target::open_plain(input)?;
    if input.extension().is_some_and(|e| e == "npy") {
        let items = target::array::items(input, data, None, None)?;
        if items.header.dtype != *nd.dtype() {
            let text = format!("items of {}, but the array has {}", items.header.dtype, nd.dtype());
            return Err(Failure::at(input, text));
        }
        let shape = items.header.shape;
        return Ok((items.read(input)?, Some(shape)));
    }
    let mut bytes = Vec::new();
    data.read_to_end(&mut bytes).map_err(|e| Failure::at(input, e))?;
    Ok((bytes, None))
}

/// The items of `input`, which must be of the shape `wanted` but for axes of one item.
fn part(nd: &NdArray<'_>, input: &Path, wanted: &Dims<u64>) -> Result<Vec<u8>> {
    let (data, shape) = items(nd, input)?;
    let sides = |shape: &Dims<u64>| shape.iter().copied().filter(|n| *n != 1).collect::<Vec<_>>();
    if let Some(shape) = shape.filter(|shape| sides(shape) != sides(wanted)) {
        let text = format!("items of shape {shape}, but the part to be set has {wanted}");
        return Err(Failure::at(input, text));
    }
    let size = wanted.iter().fold(u64::from(nd.geometry().typesize()), |n, s| n.saturating_mul(*s));
    if data.len() as u64 != size {
        let text = format!("{} bytes, but the part to be set, of shape {wanted}, takes {size}", data.len());
        return Err(Failure::at(input, text));
    }
    Ok(data)
}

/// The items of `input`, which must be rows along `axis`, or one row without that axis.
fn rows(nd: &NdArray<'_>, input: &Path, axis: usize) -> Result<Vec<u8>> {
    let len = nd.shape().len() as u64;
    if axis as u64 >= len {
        return Err(Error::OutOfRange { what: "axis", index: axis as u64, len }.into());
    }
    let (data, shape) = items(nd, input)?;
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
    let size = row.iter().fold(u64::from(nd.geometry().typesize()), |n, s| n.saturating_mul(*s));
    if size > 0 && !(data.len() as u64).is_multiple_of(size) {
        let text =
            format!("{} bytes are no whole number of rows of shape {row}, {size} bytes each", data.len());
        return Err(Failure::at(input, text));
    }
    Ok(data)
}

/// `blosc set`.
pub fn set(args: &Set) -> Result<()> {
    let mut lock = args.access.lock(&args.array)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.array, &args.access, args.run.threads)?;
    let start = source::from_end("start", &args.start, Some(nd.shape()))?;
    let stop = source::from_end("stop", &args.stop, Some(nd.shape()))?;
    let selection = Selection::new(nd.shape(), &takes(nd.shape(), &start, &stop, &args.step)?)?;
    let data = part(&nd, &args.input, selection.shape())?;
    nd.set(&selection, &data).and_then(|()| nd.commit()).map_err(failure(&args.array))
}

/// `blosc resize`.
pub fn resize(args: &Resize) -> Result<()> {
    let mut lock = args.access.lock(&args.array)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.array, &args.access, 1)?;
    one_per_dimension("shape", args.shape.len(), nd.shape())?;
    nd.resize(&args.shape).and_then(|()| nd.commit()).map_err(failure(&args.array))
}

/// `blosc append` to an array.
pub fn append(args: &Append) -> Result<()> {
    let mut lock = args.access.lock(&args.frame)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.frame, &args.access, args.threads)?;
    let axis = args.axis.unwrap_or(0);
    let data = rows(&nd, &args.input, axis)?;
    nd.append(axis, &data).and_then(|()| nd.commit()).map_err(failure(&args.frame))
}

/// `blosc insert`.
pub fn insert(args: &Insert) -> Result<()> {
    let mut lock = args.access.lock(&args.array)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.array, &args.access, args.run.threads)?;
    let data = rows(&nd, &args.input, args.axis)?;
    nd.insert(args.axis, args.at, &data).and_then(|()| nd.commit()).map_err(failure(&args.array))
}

/// `blosc delete`.
pub fn delete(args: &Delete) -> Result<()> {
    let mut lock = args.access.lock(&args.array)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.array, &args.access, 1)?;
    super::forward(args.start, args.stop)?;
    nd.delete(args.axis, args.start..args.stop).and_then(|()| nd.commit()).map_err(failure(&args.array))
}

/// `blosc convert`.
pub fn convert(args: &Convert) -> Result<()> {
    let path = args.input.input.as_path();
    if !matches!(args.input.kind, None | Some(Kind::B2nd)) {
        return Err(Failure::Usage("convert copies arrays; for other kinds decompress and compress".into()));
    }
    let max = source::max_output(&args.input, u64::MAX / 256);
    check_frame(path, args.input.offset)?;
    let open = || match path.is_dir() {
        true => SuperChunk::open_dir(FsDir::open(path)?, &limits(max)),
        false => SuperChunk::open_read(Offset::new(File::open(path)?, args.input.offset)?, &limits(max)),
    };
    let mut nd = open().and_then(NdArray::open).map_err(failure(path))?;
    nd.set_threads(args.input.run.threads);
    let mut params = nd.frame().params();
    params.codec = args.codec.unwrap_or(params.codec);
    params.level = args.level.unwrap_or(params.level);
    params.filters = args.filters.map_or(params.filters, |list| list.0);
    if args.codec.is_some() {
        params.codec_meta = 0;
    }
    // Without other shapes the chunks keep theirs.
    let mut parts = args.parts.clone();
    if parts.chunks.is_none() && parts.blocks.is_none() {
        parts.chunks = Some(nd.geometry().chunks().to_vec());
        parts.blocks = Some(nd.geometry().blocks().to_vec());
    }
    let spec = target::array::spec(nd.shape(), nd.dtype().clone(), &params, &parts)?;
    spec.params().check()?;
    target::array::create(&args.output, &spec, parts.sparse, |mut frame| {
        frame.set_threads(args.input.run.threads);
        let mut copy = NdArray::copy(frame, &spec, &mut nd).map_err(failure(path))?;
        Ok(copy.commit()?)
    })
}
