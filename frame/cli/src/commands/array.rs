//! Changing arrays in place: `set`, `resize`, `append`, `insert`, `delete`, each one atomic step; and
//! `convert`, which copies them.

use crate::access::Access;
use crate::args::{Append, Convert, Delete, Insert, Kind, Resize, Set, slots};
use crate::failure::{Failure, Result};
use crate::source::array::takes;
use crate::source::plain::{failure, limits};
use crate::{source, target};
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::{NdArray, Selection};
use blosc_frame::io::{FsDir, Offset};
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

/// The items of `input` in C order: a `.npy` file, which must be of the array's type, or raw bytes. The
/// shape may differ where it means the same items.
fn items(nd: &NdArray<'_>, input: &Path) -> Result<Vec<u8>> {
    let (mut data, _) = target::open_plain(input)?;
    if input.extension().is_some_and(|e| e == "npy") {
        let items = target::array::items(input, data, None, None)?;
        if items.header.dtype != *nd.dtype() {
            let text = format!("items of {}, but the array has {}", items.header.dtype, nd.dtype());
            return Err(Failure::at(input, text));
        }
        return items.read(input);
    }
    let mut bytes = Vec::new();
    data.read_to_end(&mut bytes).map_err(|e| Failure::at(input, e))?;
    Ok(bytes)
}

/// `blosc set`.
pub fn set(args: &Set) -> Result<()> {
    let mut lock = args.access.lock(&args.array)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.array, &args.access, args.run.threads)?;
    let data = items(&nd, &args.input)?;
    let selection = Selection::new(nd.shape(), &takes(nd.shape(), &args.start, &args.stop, &args.step)?)?;
    nd.set(&selection, &data).and_then(|()| nd.commit()).map_err(failure(&args.array))
}

/// `blosc resize`.
pub fn resize(args: &Resize) -> Result<()> {
    let mut lock = args.access.lock(&args.array)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.array, &args.access, 1)?;
    nd.resize(&args.shape).and_then(|()| nd.commit()).map_err(failure(&args.array))
}

/// `blosc append` to an array.
pub fn append(args: &Append) -> Result<()> {
    let mut lock = args.access.lock(&args.frame)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.frame, &args.access, args.threads)?;
    let data = items(&nd, &args.input)?;
    let axis = args.axis.unwrap_or(0);
    nd.append(axis, &data).and_then(|()| nd.commit()).map_err(failure(&args.frame))
}

/// `blosc insert`.
pub fn insert(args: &Insert) -> Result<()> {
    let mut lock = args.access.lock(&args.array)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.array, &args.access, args.run.threads)?;
    let data = items(&nd, &args.input)?;
    nd.insert(args.axis, args.at, &data).and_then(|()| nd.commit()).map_err(failure(&args.array))
}

/// `blosc delete`.
pub fn delete(args: &Delete) -> Result<()> {
    let mut lock = args.access.lock(&args.array)?;
    let _held = lock.hold()?;
    let mut nd = open(&args.array, &args.access, 1)?;
    nd.delete(args.axis, args.start..args.stop).and_then(|()| nd.commit()).map_err(failure(&args.array))
}

/// `blosc convert`.
pub fn convert(args: &Convert) -> Result<()> {
    let path = args.input.input.as_path();
    if !matches!(args.input.kind, None | Some(Kind::B2nd)) {
        return Err(Failure::Usage("convert copies arrays; for other kinds decompress and compress".into()));
    }
    let max = source::max_output(&args.input, u64::MAX / 256);
    let open = || match path.is_dir() {
        true => SuperChunk::open_dir(FsDir::open(path)?, &limits(max)),
        false => SuperChunk::open_read(Offset::new(File::open(path)?, args.input.offset)?, &limits(max)),
    };
    let mut nd = open().and_then(NdArray::open).map_err(failure(path))?;
    nd.set_threads(args.input.run.threads);
    let mut params = nd.frame().params();
    params.codec = args.codec.unwrap_or(params.codec);
    params.level = args.level.unwrap_or(params.level);
    params.filters = args.filters.as_deref().map_or(params.filters, slots);
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
