//! [`Sample`]: some pieces of the data that advice is about.

use crate::any::{AnyRows, open_any, open_raw};
use crate::dtype::Dtype;
use crate::error::Error;
use crate::limits::Limits;
use crate::plain::Plain;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use blosc_core::Pool;
use std::path::Path;

/// Bytes of a piece: about what a chunk holds.
const PIECE: u64 = 512 << 10;
/// Pieces of a large file, evenly spread over it.
const PIECES: u64 = 3;

/// Pieces of a file's items, and what is known of it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The file.
    pub path: String,
    /// Bytes of items, which are compressed one piece at a time.
    pub pieces: Vec<Vec<u8>>,
    /// Bytes of an item.
    pub typesize: u32,
    /// Bytes of all items of the file.
    pub total: u64,
    /// How the file is compressed by the command `blosc`.
    pub command: Verb,
    /// Whether the file holds an array of known type and shape.
    pub is_array: bool,
}

/// How a file becomes a compressed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A NumPy file.
    CompressArray,
    /// A file of bytes.
    CompressBytes,
    /// A container becomes another one.
    Convert,
}

impl Sample {
    /// Reads pieces of a container, of a NumPy file, or of a file of plain items: those of `dtype`, or of `typesize`
    /// bytes.
    ///
    /// # Errors
    /// Errors of opening and reading; [`Error::Param`] for a file without items, or a type that is none.
    pub fn of(path: &Path, dtype: Option<&str>, typesize: Option<u32>) -> Result<Sample, Error> {
        let given = match dtype {
            Some(name) => Some(parse_dtype(name)?.itemsize()),
            None => typesize,
        };
        let (opened, command) = match open_any(path, &Limits::default()).map_err(Error::from) {
            Ok(opened) if opened.about.kind == "npy" => (opened, Verb::CompressArray),
            Ok(opened) => (opened, Verb::Convert),
            Err(Error::Unsupported { .. }) => (open_raw(path, None, None, 1)?, Verb::CompressBytes),
            Err(error) => return Err(error),
        };
        Sample::of_rows(path, &opened, command, given)
    }

    /// Reads pieces of what is open, such as a leaf of a store. `path` is what the advice calls it, `command` is how it is
    /// compressed, and `typesize` takes the place of the size of its items.
    ///
    /// # Errors
    /// Errors of reading; [`Error::Param`] where there are no items.
    pub fn of_rows(
        path: &Path,
        opened: &AnyRows,
        command: Verb,
        typesize: Option<u32>,
    ) -> Result<Sample, Error> {
        let typesize = typesize.unwrap_or(opened.about.typesize).max(1);
        let item = u64::from(typesize);
        let whole = opened.data.nbytes();
        let total = whole.saturating_sub(whole.checked_rem(item).unwrap_or(0));
        if total == 0 {
            return Err(Error::Param { name: "bytes", value: 0, allowed: "at least one item" });
        }
        let starts = |n: u64| (total / PIECES).saturating_mul(n) / item * item;
        let count = if total <= PIECE { 1 } else { PIECES };
        let len = PIECE.max(item) / item * item;
        let mut pool = Pool::new(1);
        let mut pieces = Vec::new();
        for start in (0..count).map(starts) {
            let len = usize::try_from(len.min(total.saturating_sub(start))).unwrap_or(0);
            let mut piece = alloc::vec![0; len];
            opened.data.read_plain(&mut pool, start, &mut piece)?;
            pieces.push(piece);
        }
        let is_array = opened.about.shape.is_some() && opened.about.dtype.is_some();
        Ok(Sample { path: path.display().to_string(), pieces, typesize, total, command, is_array })
    }

    /// Bytes of all pieces.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A NumPy type, such as `<f4` or, of the usual byte order, `f4`.
///
/// # Errors
/// A name that no type has.
pub fn parse_dtype(name: &str) -> Result<Dtype, Error> {
    let usual = alloc::format!("<{name}");
    Ok(Dtype::parse(if name.starts_with(|c: char| c.is_ascii_alphabetic()) { &usual } else { name })?)
}
