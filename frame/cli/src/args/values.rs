//! Values of options: what they may be, and how they are read.

use blosc_core::arch::level::Isa;
use blosc_core::{Codec, Filter, FilterSlot, Level};
use blosc_frame::bloscpack::Checksum;
use clap::ValueEnum;

/// `--layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PackLayout {
    /// bloscpack 0.1
    V1,
    /// bloscpack 0.2
    V2,
    /// bloscpack 0.3 and later
    V3,
    /// The monolithic header of the Blaze proposal
    Blaze,
}

/// `--meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MetaKind {
    /// As the Blaze document has it
    Json,
    /// As the bcolz proposal has it
    Yaml,
}

/// Kinds of data that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// One bare chunk
    Chunk,
    /// A contiguous frame (.b2frame)
    Frame,
    /// A sparse frame: a directory of chunk files
    Sframe,
    /// An N-dimensional array (.b2nd), contiguous or sparse
    B2nd,
    /// A bloscpack file (.blp)
    Bloscpack,
    /// A bcolz root directory
    Bcolz,
    /// A Blaze directory
    Blaze,
}

/// Kinds of data that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One bare chunk
    Chunk,
    /// A contiguous frame
    B2frame,
    /// A sparse frame
    Sframe,
    /// An N-dimensional array
    B2nd,
    /// A bloscpack file
    Bloscpack,
    /// A bcolz root directory
    Bcolz,
    /// A Blaze directory
    Blaze,
    /// A NumPy file, not compressed (not by `compress`)
    Npy,
    /// A NumPy file of one or more arrays, not compressed (not by `compress`)
    Npz,
    /// A tree store of python-blosc2 in a zip file
    B2z,
    /// A tree store of python-blosc2: a directory
    B2d,
    /// A store of python-blosc2 in one frame
    B2e,
    /// Rows of a table as comma-separated values
    Csv,
    /// Rows of a table, or values of their own lengths, as a JSON value a line
    Jsonl,
    /// Rows of a table, or values of their own lengths, as an Arrow file
    Arrow,
    /// A directory of arrays
    #[value(skip)]
    Arrays,
    /// Decoded bytes and nothing else
    #[value(skip)]
    Plain,
}

/// The options that were given on the command line, by their names with `_`.
#[derive(Clone, Debug, Default)]
pub struct Explicit(pub Vec<String>);

impl Explicit {
    /// Their names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// `--split`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SplitMode {
    /// Where it pays
    Auto,
    /// Every full block
    Always,
    /// No block
    Never,
    /// As auto; readable by the oldest Blosc2
    Forward,
}

/// Filters in their slots: a lone one goes to the last, as every Blosc2 writer does it.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline(pub [FilterSlot; 6]);

pub(super) fn filters(list: &str) -> Result<Pipeline, String> {
    let list = list.split(',').map(filter).collect::<Result<Vec<_>, _>>()?;
    let mut slots = [FilterSlot::NONE; 6];
    let first = slots.len().checked_sub(list.len()).ok_or("a pipeline has at most six filters")?;
    for (slot, filter) in slots.iter_mut().skip(first).zip(list) {
        *slot = filter;
    }
    Ok(Pipeline(slots))
}

pub(super) fn checksum(name: &str) -> Result<Checksum, String> {
    let all = "None, adler32, crc32, md5, sha1, sha224, sha256, sha384 or sha512";
    Checksum::from_name(name).ok_or_else(|| format!("unknown checksum {name:?}: {all}"))
}

pub(super) fn codec(name: &str) -> Result<Codec, String> {
    name.parse().ok().filter(|codec| *codec != Codec::Snappy).ok_or_else(|| {
        format!(
            "unknown codec {name:?}: blosclz, lz4, lz4hc, zlib, zstd, ndlz, zfp_acc, zfp_prec or zfp_rate"
        )
    })
}

/// A parameter byte, which some codecs and filters take to have a sign.
pub(super) fn meta(text: &str) -> Result<u8, String> {
    let number = text.parse::<i16>().ok().filter(|n| (-128..=255).contains(n));
    number.map(|n| n as u8).ok_or_else(|| format!("{text:?} is not a parameter: -128 to 255"))
}

fn filter(text: &str) -> Result<FilterSlot, String> {
    let (name, meta) = text.split_once(':').unwrap_or((text, "0"));
    let meta = self::meta(meta)?;
    [
        Filter::None,
        Filter::Shuffle,
        Filter::BitShuffle,
        Filter::Delta,
        Filter::TruncPrec,
        Filter::ByteDelta,
        Filter::IntTrunc,
        Filter::NdCell,
        Filter::NdMean,
    ]
    .into_iter()
    .find(|f| f.name() == name)
    .map(|filter| FilterSlot::new(filter, meta))
    .ok_or_else(|| {
        format!(
            "unknown filter {name:?}: none, shuffle, bitshuffle, delta, trunc_prec, bytedelta, int_trunc, ndcell or ndmean"
        )
    })
}

/// `3` or `3-5`.
pub(super) fn files(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number =
        |s: &str| s.parse().map_err(|_| format!("{text:?} is no range of super-chunks, such as 3-5"));
    Ok((number(first)?, number(last)?))
}

/// What `--isa` takes.
pub(super) fn isa_help() -> String {
    let names: Vec<&str> =
        Isa::ALL.iter().flat_map(|i| [i.name()].into_iter().chain(i.aliases().iter().copied())).collect();
    format!("Use these kernels only: {}", names.join(", "))
}

pub(super) fn level(name: &str) -> Result<Level, String> {
    let isa: Isa = name.parse().map_err(|e| format!("{name:?}: {e}"))?;
    Level::new(isa).ok_or_else(|| format!("this machine has no {name}"))
}

/// Bytes, with an optional suffix K, M or G (powers of 1024).
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "B" => 1u64,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        other => return Err(format!("unknown unit {other:?}: K, M or G")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("{text:?} is not a number of bytes"))?;
    number.checked_mul(unit).ok_or_else(|| format!("{text} is too large"))
}

/// `--max-output`: bytes, or `none`, which [`limits`](crate::limits::limits) takes for "no limit of any kind".
pub fn most(text: &str) -> Result<u64, String> {
    if text == "none" { Ok(u64::MAX) } else { size(text) }
}

/// Bytes, at least one.
pub fn some(text: &str) -> Result<u64, String> {
    size(text).and_then(|n| if n > 0 { Ok(n) } else { Err("at least 1".into()) })
}
