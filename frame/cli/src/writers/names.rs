//! The output's name where `-o` gives none.
//!
//! ```text
//! compress    x.bin -> x.bin.b2frame    x.npy -> x.b2nd    x.npz -> x (a directory of arrays)
//! decompress  x.bin.b2frame -> x.bin    x.b2nd -> x.npy    x.b2z -> x.npz
//!             st.b2z:/g/a -> a.npy    https://HOST/g/a.b2nd -> a.npy
//! both        standard input -> standard output, if that is no terminal
//! ```

use super::choice::EXTENSIONS;
use super::is;
use crate::args::{Compress, Decompress, Format};
use crate::failure::{Failure, Result};
use crate::opened::Holds;
use crate::paths::{is_stream, is_url, leaf};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// The name of what is compressed.
///
/// # Errors
/// A kind of output that no extension tells; bytes on a terminal.
pub fn compressed(args: &Compress) -> Result<PathBuf> {
    let path = args.input.as_path();
    if is_stream(path)? {
        return standard_output();
    }
    let numpy = !args.plain && (is(path, "npy") || is(path, "npz"));
    let made = args.dtype.is_some() || args.shape.is_some();
    let extension = match args.format {
        Some(format) => extension(format).ok_or_else(unnamed)?,
        None if numpy && is(path, "npz") => "",
        None if numpy || made => "b2nd",
        None => "b2frame",
    };
    if numpy { Ok(path.with_extension(extension)) } else { with(path, extension) }
}

/// The name of what is decompressed.
///
/// # Errors
/// An input that is called like no Blosc file, tables and values, which can be several kinds of files; bytes on a
/// terminal.
pub fn decompressed(args: &Decompress, holds: Holds) -> Result<PathBuf> {
    let mut path = args.input.input.as_path();
    let elsewhere = leaf(path).map(|(_, key)| PathBuf::from(key)).or(is_url(path).then(|| path.into()));
    if let Some(key) = &elsewhere {
        path = key.file_name().map_or(key, Path::new);
    } else if is_stream(path)? {
        return standard_output();
    }
    let known = EXTENSIONS.iter().find(|known| is(path, known.0));
    if matches!(known, Some((_, Format::Npy | Format::Npz))) {
        return Err(unnamed());
    }
    let stem = known.map_or_else(|| path.to_path_buf(), |_| path.with_extension(""));
    let extension = match (args.format, holds) {
        (Some(format), _) => extension(format).ok_or_else(unnamed)?,
        (None, Holds::Table) => {
            return Err(name_one("the input is a table: name a .csv, .jsonl, .arrow or .npz file"));
        }
        (None, Holds::Records) => return Err(name_one("the input has values: name a .jsonl or .arrow file")),
        (None, Holds::Array) if !args.plain => "npy",
        (None, Holds::Arrays) => "npz",
        (None, _) if known.is_some() => return Ok(stem),
        (None, _) => return Err(unnamed()),
    };
    with(&stem, extension)
}

/// `path` with one extension more.
fn with(path: &Path, extension: &str) -> Result<PathBuf> {
    let mut name = path.file_name().ok_or_else(unnamed)?.to_os_string();
    name.push(".");
    name.push(extension);
    Ok(path.with_file_name(name))
}

fn extension(format: Format) -> Option<&'static str> {
    EXTENSIONS.iter().find(|known| known.1 == format).map(|known| known.0)
}

fn standard_output() -> Result<PathBuf> {
    match io::stdout().is_terminal() {
        true => Err(name_one(
            "standard output is a terminal: name the file to write (- writes there all the same)",
        )),
        false => Ok("-".into()),
    }
}

fn unnamed() -> Failure {
    name_one("name the file to write")
}

fn name_one(why: &str) -> Failure {
    Failure::Usage(format!("-o: {why}"))
}
