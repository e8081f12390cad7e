//! One `Copy` error type: what went wrong, in which field, at which offset.

use crate::codec::Codec;
use crate::filter::Filter;
use core::fmt;

/// A part of a chunk, for error messages. Section numbers are those of `docs/formats/chunk.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Byte 0.
    Version,
    /// Byte 2.
    Flags,
    /// Byte 3.
    Typesize,
    /// Bytes 4–7: uncompressed size.
    Nbytes,
    /// Bytes 8–11: block size, or block count of a VL chunk.
    Blocksize,
    /// Bytes 12–15: size of the whole chunk.
    Cbytes,
    /// Bytes 16–21.
    Filters,
    /// Byte 22.
    CodecId,
    /// Byte 30.
    Flags2,
    /// Byte 31.
    Flags1,
    /// The table of block offsets.
    BlockStarts,
    /// The dictionary section.
    Dictionary,
    /// The size word before a stream.
    StreamSize,
    /// The token byte of a run.
    RunToken,
    /// The bytes of a stream.
    Stream,
    /// The value of a repeated-value chunk.
    RepeatedValue,
    /// The raw bytes of a stored chunk.
    StoredBytes,
    /// The uncompressed size before a variable-length block.
    VlBlockSize,
    /// The trailer of a lazy chunk.
    LazyTrailer,
    /// The whole header.
    Header,
}

impl Field {
    /// The field's name as `docs/formats/chunk.md` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Version => "version",
            Field::Flags => "flags",
            Field::Typesize => "typesize",
            Field::Nbytes => "nbytes",
            Field::Blocksize => "blocksize",
            Field::Cbytes => "cbytes",
            Field::Filters => "filters",
            Field::CodecId => "codec id",
            Field::Flags2 => "flags2",
            Field::Flags1 => "flags1",
            Field::BlockStarts => "block starts",
            Field::Dictionary => "dictionary",
            Field::StreamSize => "stream size",
            Field::RunToken => "run token",
            Field::Stream => "stream",
            Field::RepeatedValue => "repeated value",
            Field::StoredBytes => "stored bytes",
            Field::VlBlockSize => "VL block size",
            Field::LazyTrailer => "lazy trailer",
            Field::Header => "header",
        }
    }
}

pub use crate::codec::{CodecError, CodecErrorKind};

/// Why a chunk could not be read or written. Offsets count from the first byte of the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input ends inside `field`, which starts at `offset` and needs `needed` bytes.
    Truncated {
        /// What is cut short.
        field: Field,
        /// Where it starts.
        offset: usize,
        /// How many bytes it needs there.
        needed: usize,
    },
    /// `field` holds a value that no chunk may have.
    Invalid {
        /// Which field.
        field: Field,
        /// Where it is.
        offset: usize,
        /// The value found.
        value: i64,
    },
    /// The chunk says that a big-endian machine wrote it, whose items this reader would hand out in the
    /// wrong byte order without a word.
    BigEndian,
    /// The operation does not exist for this kind of chunk.
    Unsupported(&'static str),
    /// A compressed stream is corrupt.
    Codec {
        /// The codec that was expanding it.
        codec: Codec,
        /// Where the stream starts in the chunk.
        offset: usize,
        /// What the codec found, with its own offset inside the stream.
        error: CodecError,
    },
    /// The codec is known but this build, or this library, does not contain it.
    CodecNotBuiltIn(Codec),
    /// A filter id that is unknown or whose plugin was not supplied.
    FilterUnknown {
        /// The id found.
        id: u8,
        /// The pipeline slot, 0..=5.
        slot: u8,
    },
    /// A filter cannot run with this meta byte, typesize or block shape.
    FilterParam {
        /// The filter.
        id: u8,
        /// Its meta byte.
        meta: u8,
        /// What is wrong, for people.
        reason: &'static str,
    },
    /// A limit the caller set would be exceeded.
    Limit {
        /// Which limit.
        what: &'static str,
        /// How much would be needed.
        asked: u64,
        /// How much is allowed.
        limit: u64,
    },
    /// The destination is too small.
    OutputTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The scratch memory is too small.
    WorkTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// An item range or block index outside the chunk.
    OutOfRange {
        /// First item or block asked for.
        index: u64,
        /// One past the last that exists.
        len: u64,
    },
    /// A parameter of the caller that is not allowed.
    Param {
        /// Its name.
        name: &'static str,
        /// The value given.
        value: i64,
        /// What is allowed, for people.
        allowed: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Truncated { field, offset, needed } => write!(
                f,
                "{} at byte {offset}: needs {needed} bytes, but the chunk ends before that",
                field.name()
            ),
            Error::Invalid { field, offset, value } => {
                write!(f, "{} at byte {offset}: {value} is not allowed", field.name())
            }
            Error::BigEndian => f.write_str(
                "flags1 at byte 31: written on a big-endian machine, items are in its byte order; not supported",
            ),
            Error::Unsupported(what) => f.write_str(what),
            Error::Codec { codec, offset, error } => {
                write!(f, "{codec} stream at byte {offset}: {error}")
            }
            #[cfg(feature = "std")]
            Error::CodecNotBuiltIn(codec) if codec.is_zfp() => {
                write!(f, "codec {} ({codec}) is not built in: it needs feature `zfp` of blosc-core", codec.id())
            }
            Error::CodecNotBuiltIn(codec) => {
                write!(f, "codec {} ({codec}) is not built in", codec.id())?;
                // The ranges of docs/formats/chunk.md: names of Blosc's registry, and what every writer may choose.
                match codec.id() {
                    32..160 => f.write_str(": python-blosc2 reads it where that plugin is installed"),
                    160.. => f.write_str(": only programs that know this codec of its writer read it"),
                    _ => Ok(()),
                }
            }
            Error::FilterUnknown { id, slot } if (2..=4).contains(&id) => {
                let name = Filter::from_id(id).name();
                write!(f, "filter {id} ({name}) in slot {slot} is not built in: build with feature `formats`")
            }
            Error::FilterUnknown { id, slot } => {
                write!(f, "filter {id} in slot {slot} is not built in and no plugin was supplied for it")
            }
            Error::FilterParam { id, meta, reason } => {
                write!(f, "filter {} with meta {meta}: {reason}", Filter::from_id(id).name())
            }
            Error::Limit { what, asked, limit } => {
                write!(f, "{what}: {asked} asked, but the limit is {limit}; raise the limit to allow it")
            }
            Error::OutputTooSmall { needed, given } => {
                write!(f, "destination of {given} bytes is too small: {needed} needed")
            }
            Error::WorkTooSmall { needed, given } => {
                write!(f, "scratch of {given} bytes is too small: {needed} needed")
            }
            Error::OutOfRange { index, len } => write!(f, "{index} is out of range: there are {len}"),
            Error::Param { name, value, allowed } => {
                write!(f, "{name} = {value} is not allowed: {allowed}")
            }
        }
    }
}

impl core::error::Error for Error {}

#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    fn from(error: Error) -> std::io::Error {
        use std::io::ErrorKind;
        let kind = match error {
            Error::Truncated { .. } => ErrorKind::UnexpectedEof,
            Error::Unsupported(_) | Error::CodecNotBuiltIn(_) | Error::FilterUnknown { .. } => {
                ErrorKind::Unsupported
            }
            Error::Param { .. }
            | Error::OutOfRange { .. }
            | Error::OutputTooSmall { .. }
            | Error::WorkTooSmall { .. } => ErrorKind::InvalidInput,
            _ => ErrorKind::InvalidData,
        };
        std::io::Error::new(kind, error)
    }
}
