//! What is compressed: real arrays, seeded ones, and files of the user.

pub mod corpus;
pub mod generate;
pub mod shapes;
mod sized;

use std::borrow::Cow;

/// Where an array comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Measured by somebody; see [`corpus`].
    Real,
    /// Made here from a fixed seed; see [`generate`].
    Seeded,
    /// A file named on the command line.
    User,
}

/// A named array of fixed-size items.
#[derive(Clone, Debug)]
pub struct Data {
    /// Name as printed in results; says so when the array was made larger (see [`Data::sized`]).
    pub name: String,
    /// NumPy's short name of the item type, such as `f4`.
    pub dtype: &'static str,
    /// Bytes of one item.
    pub typesize: usize,
    /// Where it comes from.
    pub origin: Origin,
    /// The items, little-endian.
    pub bytes: Cow<'static, [u8]>,
}

impl Data {
    /// A file of items of type `dtype` (`f4`, `i8`, `u2` …).
    pub fn from_file(path: &std::path::Path, dtype: &str) -> Result<Data, String> {
        let (dtype, typesize) = parse_dtype(dtype)?;
        let mut bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        bytes.truncate(bytes.len() - bytes.len() % typesize);
        if bytes.is_empty() {
            return Err(format!("{}: holds no item of {typesize} bytes", path.display()));
        }
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Data { name, dtype, typesize, origin: Origin::User, bytes: Cow::Owned(bytes) })
    }
}

/// Every real array at its own size, and every seeded one at 64 KiB.
pub fn everything() -> Vec<Data> {
    let real = corpus::REAL.iter().map(corpus::Real::array);
    real.chain(generate::SEEDED.iter().map(|s| s.array(64 << 10))).collect()
}

/// Short names of item types: a letter, and the bytes of an item.
const DTYPES: [&str; 12] = ["u1", "i1", "S1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"];

/// Bytes of an item of one of the [`DTYPES`].
fn typesize(dtype: &str) -> usize {
    dtype.bytes().next_back().map_or(1, |digit| usize::from(digit - b'0'))
}

/// The canonical name and the size of a NumPy short type name.
pub fn parse_dtype(name: &str) -> Result<(&'static str, usize), String> {
    let short = name.trim_start_matches(['<', '|', '=']);
    let known = DTYPES.into_iter().find(|known| *known == short);
    let found = known.map(|name| (name, typesize(name)));
    found.ok_or_else(|| format!("{name}: not one of {}", DTYPES.join(" ")))
}
