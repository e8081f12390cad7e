//! What can be read: one file per kind, all behind [`Source`].

pub mod array;
mod bcolz;
mod blaze;
mod bloscpack;
mod chunk;
pub mod frame;
pub mod plain;
mod store;

use crate::args::{Input, Kind, Run};
use crate::detect;
use crate::failure::{Failure, Result};
use clap::ValueEnum;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::RangeInclusive;
use std::path::Path;

/// Something that decodes to bytes.
pub trait Source {
    /// Everything there is to say, as a JSON object; `kind` comes first.
    fn info(&mut self) -> Result<Value>;
    /// Decoded size in bytes, if known beforehand.
    fn nbytes(&self) -> Option<u64>;
    /// Writes all decoded bytes, telling `progress` how many each time.
    fn decompress(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()>;
    /// Writes the items from `start` to `stop`, one number per dimension.
    fn slice(&mut self, start: &[u64], stop: &[u64], out: &mut dyn Write) -> Result<()>;
    /// The same, taking every `step`-th item. Only arrays can.
    fn slice_steps(&mut self, _: &[u64], _: &[u64], _: &[i64], _: &mut dyn Write) -> Result<()> {
        Err(Failure::Usage("--step: only arrays are sliced with steps".into()))
    }
    /// The header of a `.npy` file of that slice; `None` for what is no array and is written raw.
    fn npy_header(&mut self, _: &[u64], _: &[u64], _: &[i64]) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
    /// Writes the items in the order that the header of the whole array says.
    fn decompress_npy(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        self.decompress(out, progress)
    }
    /// Items per dimension, of arrays.
    fn sides(&self) -> Option<Vec<u64>> {
        None
    }
    /// Hands every array there is to `f`, with its name as the member of a `.npz` file.
    fn each_array(&mut self, _: &mut dyn FnMut(&str, &mut dyn Source) -> Result<()>) -> Result<()> {
        Err(Failure::Usage("-o: a .npz file holds arrays, and the input is none".into()))
    }
    /// Decodes everything, checks every checksum, and says what was checked as a JSON object.
    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value>;
    /// Checks the checksums of what is stored and decodes nothing.
    fn verify_stored(&mut self, _: &dyn Fn(u64)) -> Result<Value> {
        Err(Failure::Usage(
            "--quick: only bloscpack files and Blaze directories have checksums for that".into(),
        ))
    }
    /// Writes what these super-chunk files hold. Only Blaze directories have any.
    fn slice_superchunks(&mut self, _: RangeInclusive<u64>, _: &mut dyn Write) -> Result<()> {
        Err(Failure::Usage("--superchunks: only Blaze directories have super-chunks".into()))
    }
}

/// Opens what `input` names.
pub fn open(input: &Input) -> Result<Box<dyn Source>> {
    let path = input.input.as_path();
    if path.is_dir() {
        if input.offset != 0 {
            return Err(Failure::Usage(format!("--offset: {} is a directory and has none", path.display())));
        }
        if input.kind.is_none() && store::is_directory(path) {
            return Ok(Box::new(store::StoreSource::directory("b2d store", input)?));
        }
        let kind = match input.kind {
            Some(kind) => Some(kind),
            None => detect::directory(path)?,
        };
        if kind.is_none() && store::has_arrays(path) {
            return Ok(Box::new(store::StoreSource::directory("directory of arrays", input)?));
        }
        let kind = kind.ok_or_else(|| {
            Failure::at(
                path,
                "a directory, but neither a sparse frame nor a bcolz or Blaze root, nor are arrays in it",
            )
        })?;
        return match kind {
            Kind::Bcolz => {
                Ok(Box::new(bcolz::BcolzSource::new(path, max_output(input, directory_size(path)), input)?))
            }
            Kind::Blaze => {
                Ok(Box::new(blaze::BlazeSource::new(path, max_output(input, directory_size(path)), input)?))
            }
            Kind::Sframe | Kind::B2nd => array::or_frame(frame::FrameSource::open_dir(path, input)?, input),
            other => Err(other_place(path, other)),
        };
    }
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock();
        (&mut stdin).take(64).read_to_end(&mut bytes)?;
        let kind = input.kind.unwrap_or_else(|| detect::file(&bytes));
        if kind == Kind::Bloscpack && input.offset == 0 {
            let whole = io::Cursor::new(bytes).chain(stdin);
            let max = max_output(input, 1 << 40);
            return Ok(Box::new(bloscpack::PipeSource::new(path, whole, max, &input.run)?));
        }
        stdin.read_to_end(&mut bytes)?;
        return open_bytes(path, bytes, input);
    }
    let mut file = File::open(path).map_err(|e| Failure::at(path, e))?;
    let size = file.metadata().map_err(|e| Failure::at(path, e))?.len();
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(input.offset)).map_err(|e| Failure::at(path, e))?;
    (&mut file).take(64).read_to_end(&mut head).map_err(|e| Failure::at(path, e))?;
    if input.kind.is_none() && input.offset == 0 && store::is_zip(&head) {
        return Ok(Box::new(store::StoreSource::zip(input, file)?));
    }
    match input.kind.unwrap_or_else(|| detect::file(&head)) {
        Kind::Chunk => {
            file.seek(SeekFrom::Start(0)).map_err(|e| Failure::at(path, e))?;
            let mut bytes = Vec::new();
            file.take(size).read_to_end(&mut bytes).map_err(|e| Failure::at(path, e))?;
            open_bytes(path, bytes, input)
        }
        Kind::Bloscpack => {
            let max = max_output(input, size);
            Ok(Box::new(bloscpack::open(path, file, input.offset, max, &input.run)?))
        }
        Kind::Frame | Kind::B2nd => array::or_frame(frame::FrameSource::open(path, file, input)?, input),
        // A manifest of shards, whose data lies elsewhere.
        Kind::Blaze => Ok(Box::new(blaze::BlazeSource::new(path, max_output(input, 1 << 40), input)?)),
        other => Err(other_place(path, other)),
    }
}

/// Bytes the files of a container take, for the default of `--max-output`.
pub fn directory_size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => directory_size(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |m| m.len()),
        _ => 0,
    };
    entries.flatten().map(size).sum()
}

/// Opens data that is in memory.
fn open_bytes(path: &Path, mut bytes: Vec<u8>, input: &Input) -> Result<Box<dyn Source>> {
    let offset = usize::try_from(input.offset).ok().filter(|&o| o <= bytes.len()).ok_or_else(|| {
        Failure::Usage(format!("--offset {} is past the end of {}", input.offset, path.display()))
    })?;
    bytes.drain(..offset);
    match input.kind.unwrap_or_else(|| detect::file(&bytes)) {
        Kind::Chunk => {
            let max = max_output(input, bytes.len() as u64);
            let npy = bytes.starts_with(b"\x93NUMPY");
            let chunk = chunk::ChunkSource::new(path, bytes, max, &input.run);
            Ok(Box::new(chunk.map_err(|failure| match (failure, input.kind) {
                (Failure::Data(_), None) if npy => {
                    Failure::at(path, "a NumPy file, not compressed; `blosc compress` makes an array of it")
                }
                (Failure::Data(text), None) => {
                    Failure::Data(format!("{text} (read as a bare chunk: it begins like nothing else known)"))
                }
                (failure, _) => failure,
            })?))
        }
        Kind::Bloscpack => {
            let max = max_output(input, bytes.len() as u64);
            Ok(Box::new(bloscpack::BloscpackSource::new(path, bytes, 0, max, &input.run)?))
        }
        Kind::Frame | Kind::B2nd => {
            let whole = Input { offset: 0, ..input.clone() };
            array::or_frame(frame::FrameSource::open(path, bytes, &whole)?, input)
        }
        other => Err(other_place(path, other)),
    }
}

/// The answer to `--as` a kind that lies in files where there is a directory, or the other way round.
fn other_place(path: &Path, kind: Kind) -> Failure {
    let name = kind.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default();
    let what = if path.is_dir() { "no directory, and this is one" } else { "a directory, and this is none" };
    Failure::Usage(format!("--as {name}: {}: that is {what}", path.display()))
}

/// Most bytes to decode to: what `--max-output` says, else 1 GiB, or 256 times the file if that is more.
pub fn max_output(input: &Input, stored: u64) -> u64 {
    input.max_output.unwrap_or_else(|| max_by_size(stored))
}

/// The default of `--max-output` for data that takes `stored` bytes; never what `none` stands for.
pub fn max_by_size(stored: u64) -> u64 {
    stored.saturating_mul(256).clamp(1 << 30, u64::MAX - 1)
}

/// A pool for this run.
pub fn pool(run: &Run) -> blosc_core::Pool {
    blosc_core::Pool::new(run.threads).level(run.level())
}

/// Numbers of which negative ones count from the end of `sides`, which only arrays have.
pub fn from_end(name: &str, given: &[i64], sides: Option<&[u64]>) -> Result<Vec<u64>> {
    let place = |(axis, n): (usize, &i64)| {
        if let Ok(n) = u64::try_from(*n) {
            return Ok(n);
        }
        let Some(sides) = sides else {
            return Err(Failure::Usage(format!("--{name} {n}: only arrays are counted from the end")));
        };
        // Too many numbers are for the caller to refuse.
        let len = sides.get(axis).copied().unwrap_or(u64::MAX);
        let before = || format!("--{name} {n} lies before the first of the {len} items of dimension {axis}");
        len.checked_sub(n.unsigned_abs()).ok_or_else(|| Failure::Usage(before()))
    };
    given.iter().enumerate().map(place).collect()
}

/// `--start` and `--stop` of data with one dimension of `items` items; left out they mean all of it.
pub fn one_dimension(start: &[u64], stop: &[u64], items: u64) -> Result<(u64, u64)> {
    let one = |name, given: &[u64], default| match *given {
        [] => Ok(default),
        [value] => Ok(value),
        _ => Err(Failure::Usage(format!("--{name} takes one number here: the data has one dimension"))),
    };
    let (start, stop) = (one("start", start, 0)?, one("stop", stop, items)?);
    if start > stop || stop > items {
        return Err(Failure::Usage(format!("items {start}..{stop} asked for, but there are {items}")));
    }
    Ok((start, stop))
}
