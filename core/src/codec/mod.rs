//! Codecs: a file or folder each, and the registry of their ids (docs/formats/chunk.md §2.12–2.13).
//!
//! Every decoder has the shape `decode(src, out, ..) -> Result<(), CodecError>`: it must fill `out`
//! exactly, read nothing outside `src`, and allocate nothing. Every encoder has the shape
//! `encode(src, dst, .., work) -> Option<usize>`: `None` means "does not fit `dst`", and the caller
//! stores the bytes.

#[cfg(feature = "blosclz")]
pub mod blosclz;
pub mod context;
pub mod dispatch;
#[cfg(any(feature = "lz4", feature = "zlib"))]
mod history;
#[cfg(feature = "lz4")]
pub mod lz4;
#[cfg(feature = "lz4")]
pub mod lz4hc;
#[cfg(any(feature = "blosclz", feature = "lz4", feature = "snappy", feature = "zlib"))]
pub(crate) mod matcher;
#[cfg(feature = "plugins")]
pub mod ndlz;
pub(crate) mod room;
#[cfg(any(feature = "lz4", feature = "zlib"))]
mod search;
#[cfg(feature = "snappy")]
pub mod snappy;
#[cfg(feature = "zlib")]
pub mod zlib;
#[cfg(all(feature = "std", feature = "zlib"))]
mod zlib_host;
#[cfg(feature = "zstd")]
pub mod zstd;
#[cfg(feature = "zstd-c")]
pub mod zstd_c;

pub use dispatch::decode_work_len;

use core::fmt;

/// A codec by its registered id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// Id 0.
    BloscLz,
    /// Id 1.
    Lz4,
    /// Id 2; the same bitstream as LZ4.
    Lz4Hc,
    /// Id 3; chunks of Blosc1 only.
    Snappy,
    /// Id 4.
    Zlib,
    /// Id 5.
    Zstd,
    /// Id 32.
    Ndlz,
    /// Any other id.
    Other(u8),
}

impl Codec {
    /// Format 5, written by alphas of C-Blosc2 only; nobody reads it any more.
    pub(crate) const LIZARD: Codec = Codec::Other(6);
    /// Format 7, "defined by the super-chunk", which no writer uses.
    pub(crate) const UNDEFINED: Codec = Codec::Other(7);
    /// Format 6 without a codec id of 32 or more.
    pub(crate) const INVALID: Codec = Codec::Other(31);

    /// The codec with this registered id.
    pub const fn from_id(id: u8) -> Codec {
        match id {
            0 => Codec::BloscLz,
            1 => Codec::Lz4,
            2 => Codec::Lz4Hc,
            3 => Codec::Snappy,
            4 => Codec::Zlib,
            5 => Codec::Zstd,
            32 => Codec::Ndlz,
            id => Codec::Other(id),
        }
    }

    /// The registered id.
    pub const fn id(self) -> u8 {
        match self {
            Codec::BloscLz => 0,
            Codec::Lz4 => 1,
            Codec::Lz4Hc => 2,
            Codec::Snappy => 3,
            Codec::Zlib => 4,
            Codec::Zstd => 5,
            Codec::Ndlz => 32,
            Codec::Other(id) => id,
        }
    }

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Codec::BloscLz => "blosclz",
            Codec::Lz4 => "lz4",
            Codec::Lz4Hc => "lz4hc",
            Codec::Snappy => "snappy",
            Codec::Zlib => "zlib",
            Codec::Zstd => "zstd",
            Codec::Ndlz => "ndlz",
            Codec::Other(id) => match id {
                6 => "lizard",
                7 => "codec of the super-chunk",
                31 => "invalid codec id",
                33 => "zfp, fixed accuracy",
                34 => "zfp, fixed precision",
                35 => "zfp, fixed rate",
                36 => "openhtj2k",
                37 => "grok",
                38 => "openzl",
                39 => "j2k",
                40 => "htj2k",
                160.. => "user codec",
                _ => "unknown",
            },
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is wrong with a compressed stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecErrorKind {
    /// The stream ends in the middle of something.
    Truncated,
    /// It expands to more bytes than the block holds.
    TooLong,
    /// It expands to fewer bytes than the block holds.
    TooShort,
    /// A match reaches back before the first byte.
    Distance,
    /// A code, table or header field is not valid.
    Corrupt,
    /// A checksum does not match.
    Checksum,
    /// Input is left over after the end.
    TrailingBytes,
    /// It was made with a dictionary that is not there.
    Dictionary,
    /// The scratch memory given is too small.
    Work,
}

/// A corrupt stream: what, and where in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodecError {
    /// What is wrong.
    pub kind: CodecErrorKind,
    /// Offset in the compressed stream, as near as the codec can tell.
    pub offset: usize,
}

impl CodecErrorKind {
    /// This kind at `offset`.
    #[inline]
    pub const fn at(self, offset: usize) -> CodecError {
        CodecError { kind: self, offset }
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            CodecErrorKind::Truncated => "ends too early",
            CodecErrorKind::TooLong => "expands to more bytes than its block holds",
            CodecErrorKind::TooShort => "expands to fewer bytes than its block holds",
            CodecErrorKind::Distance => "refers to bytes before its start",
            CodecErrorKind::Corrupt => "holds an invalid code or header",
            CodecErrorKind::Checksum => "fails its checksum",
            CodecErrorKind::TrailingBytes => "goes on after its end",
            CodecErrorKind::Dictionary => "needs a dictionary that is not there",
            CodecErrorKind::Work => "needs more scratch memory than it was given",
        };
        write!(f, "{what} (byte {} of the stream)", self.offset)
    }
}
