//! One `Copy` error type for every container: which structure, which field, at which offset.
//!
//! Offsets count from the first byte of the container (the frame, not the file it lies in).
//! `std::io::Error` is reduced to an [`IoError`], which keeps its kind and the system's number, so
//! that errors can be copied, compared and built without `std`.

mod io;

use core::fmt;

pub use io::{IoError, IoKind};

/// A part of a container, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Structure {
    /// The first 87 bytes of a Blosc2 frame.
    FrameHeader,
    /// The metalayers section of a frame header.
    Metalayers,
    /// The offsets index of a frame.
    Index,
    /// The trailer of a frame.
    Trailer,
    /// The variable-length metalayers in a frame's trailer.
    VlMetalayers,
    /// A chunk stored in a container.
    Chunk,
    /// A sparse frame's directory.
    Directory,
    /// A chunk file of a sparse frame.
    ChunkFile,
    /// The `b2nd` metalayer.
    B2nd,
    /// A bloscpack header.
    BloscpackHeader,
    /// Bloscpack metadata section.
    BloscpackMetadata,
    /// The bloscpack offsets section.
    BloscpackOffsets,
    /// A bloscpack chunk and its checksum.
    BloscpackChunk,
    /// A bcolz root directory and its descriptor files.
    Bcolz,
    /// A Blaze root directory and its descriptor files, or a manifest of its shards.
    Blaze,
    /// A MessagePack value.
    Msgpack,
    /// A NumPy `.npy` file.
    Npy,
    /// The checksum table of a frame.
    Checksums,
    /// The sidecar lock file.
    Lock,
    /// A store of several frames.
    Store,
    /// A zip file and its directory.
    Zip,
    /// The description of a packed tensor.
    Tensor,
}

impl Structure {
    /// The name used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Structure::FrameHeader => "frame header",
            Structure::Metalayers => "metalayers",
            Structure::Index => "chunk index",
            Structure::Trailer => "frame trailer",
            Structure::VlMetalayers => "vlmetalayers",
            Structure::Chunk => "chunk",
            Structure::Directory => "frame directory",
            Structure::ChunkFile => "chunk file",
            Structure::B2nd => "b2nd metalayer",
            Structure::BloscpackHeader => "bloscpack header",
            Structure::BloscpackMetadata => "bloscpack metadata",
            Structure::BloscpackOffsets => "bloscpack offsets",
            Structure::BloscpackChunk => "bloscpack chunk",
            Structure::Bcolz => "bcolz directory",
            Structure::Blaze => "Blaze directory",
            Structure::Msgpack => "MessagePack value",
            Structure::Npy => "npy file",
            Structure::Checksums => "checksum table",
            Structure::Lock => "lock file",
            Structure::Store => "store",
            Structure::Zip => "zip file",
            Structure::Tensor => "packed tensor",
        }
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a container could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// `field` holds a value that is not allowed there.
    Invalid {
        /// Which structure.
        structure: Structure,
        /// The field's name in `docs/formats`.
        field: &'static str,
        /// Where it is, from the start of the container.
        offset: u64,
        /// The value found.
        value: i64,
    },
    /// The input ends inside `field`.
    Truncated {
        /// Which structure.
        structure: Structure,
        /// The field's name in `docs/formats`.
        field: &'static str,
        /// Where it starts, from the start of the container.
        offset: u64,
        /// How many bytes it needs there.
        needed: u64,
    },
    /// A chunk is malformed.
    Chunk {
        /// Its number in the container; `None` for a chunk that has none (an index, a metalayer).
        chunk: Option<u64>,
        /// Where it starts in the container.
        offset: u64,
        /// What is wrong in it, with its own offset.
        error: blosc_core::Error,
    },
    /// Encoding or decoding failed for a reason that lies in the parameters, not in the container.
    Codec(blosc_core::Error),
    /// A descriptive text (JSON, YAML, a dtype) is malformed.
    #[cfg(feature = "alloc")]
    Text {
        /// Which structure it belongs to.
        structure: Structure,
        /// The text's name in `docs/formats`.
        field: &'static str,
        /// Where it starts, from the start of the container or file.
        offset: u64,
        /// What is wrong, and at which byte of the text.
        error: crate::value::TextError,
    },
    /// A file of a directory that must be there is not.
    Missing {
        /// Which structure.
        structure: Structure,
        /// What the file holds.
        what: &'static str,
        /// The number in its name.
        number: u64,
    },
    /// A checksum does not match.
    Checksum {
        /// What the checksum covers.
        structure: Structure,
        /// The chunk's number, where it covers one.
        chunk: Option<u64>,
        /// Where the covered bytes start.
        offset: u64,
    },
    /// More than the format can hold, or than the file has room for: no limit that could be raised.
    Capacity {
        /// What there is too much of.
        what: &'static str,
        /// How much there would be.
        asked: u64,
        /// How much there can be.
        most: u64,
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
    /// An index or range outside what exists.
    OutOfRange {
        /// What is being counted.
        what: &'static str,
        /// The first one asked for.
        index: u64,
        /// How many there are.
        len: u64,
    },
    /// The destination is too small.
    OutputTooSmall {
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        given: u64,
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
    /// A metalayer, column or other named thing that is not there.
    NoSuchName {
        /// What was looked for.
        what: &'static str,
    },
    /// The container is of a kind, or has a feature, that cannot be handled.
    Unsupported {
        /// Which structure.
        structure: Structure,
        /// The feature, for people.
        what: &'static str,
    },
    /// The change cannot be made in one atomic step on this store; see [`crate::io::Store`].
    NotAtomic {
        /// Why, for people.
        why: &'static str,
    },
    /// Someone else changed the container since it was opened.
    Changed {
        /// What differs.
        what: &'static str,
    },
    /// The text that describes an array's items is not a dtype that can be read.
    #[cfg(feature = "alloc")]
    Dtype(crate::dtype::DtypeError),
    /// The items of an array are not of the type that was asked for.
    #[cfg(feature = "alloc")]
    ItemType {
        /// The dtype of the items; `None` where they have fields or are arrays themselves.
        found: Option<crate::dtype::Scalar>,
        /// The Rust type that was asked for.
        asked: &'static str,
    },
    /// No chunk of what was to be repaired can be kept.
    NothingKept,
    /// There is not as much memory as was asked for within the limits.
    OutOfMemory,
    /// What cannot be: a defect of this library, to be reported. Nothing was changed for it.
    Internal {
        /// What was found.
        what: &'static str,
    },
    /// Reading or writing bytes failed.
    Io(IoError),
}

impl Error {
    /// Whether this error leaves open if the data is good: nothing is known to be damaged, but something could not be
    /// read here. A codec that is not built in, a limit, a file that the system does not give are such reasons.
    pub fn leaves_open(&self) -> bool {
        use blosc_core::Error as Core;
        match self {
            Error::Unsupported { .. } | Error::Limit { .. } | Error::OutOfMemory => true,
            Error::Io(IoError { kind, .. }) => !matches!(kind, IoKind::UnexpectedEnd | IoKind::Damaged),
            Error::Chunk { error, .. } | Error::Codec(error) => matches!(
                error,
                Core::CodecNotBuiltIn(_)
                    | Core::FilterUnknown { .. }
                    | Core::FilterParam { .. }
                    | Core::BigEndian
                    | Core::Unsupported(_)
                    | Core::Limit { .. }
            ),
            _ => false,
        }
    }

    /// Whether the change that failed is in force all the same: [`IoKind::NotConfirmed`].
    pub const fn is_in_force(&self) -> bool {
        matches!(self, Error::Io(IoError { kind: IoKind::NotConfirmed, .. }))
    }

    /// This error, where what is in force is only a part of a change.
    #[cfg(feature = "std")]
    pub(crate) fn of_a_part(self) -> Error {
        match self {
            Error::Io(IoError { kind: IoKind::NotConfirmed, os }) => {
                IoError { kind: IoKind::Other, os }.into()
            }
            error => error,
        }
    }

    /// What makes a decoder's error one of chunk `chunk`, which starts at `offset` of the container.
    pub(crate) fn in_chunk(chunk: Option<u64>, offset: u64) -> impl Fn(blosc_core::Error) -> Error + Copy {
        move |error| Error::Chunk { chunk, offset, error }
    }

    pub(crate) const fn invalid(structure: Structure, field: &'static str, offset: u64, value: i64) -> Error {
        Error::Invalid { structure, field, offset, value }
    }

    pub(crate) const fn truncated(
        structure: Structure,
        field: &'static str,
        offset: u64,
        needed: u64,
    ) -> Error {
        Error::Truncated { structure, field, offset, needed }
    }

    pub(crate) const fn param(name: &'static str, value: i64, allowed: &'static str) -> Error {
        Error::Param { name, value, allowed }
    }

    pub(crate) const fn out_of_range(what: &'static str, index: u64, len: u64) -> Error {
        Error::OutOfRange { what, index, len }
    }
}

/// The first `len` bytes of a caller's output.
pub(crate) fn destination(out: &mut [u8], len: usize) -> Result<&mut [u8], Error> {
    let given = out.len() as u64;
    out.get_mut(..len).ok_or(Error::OutputTooSmall { needed: len as u64, given })
}

#[cfg(feature = "alloc")]
impl From<crate::dtype::DtypeError> for Error {
    fn from(error: crate::dtype::DtypeError) -> Error {
        Error::Dtype(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Invalid { structure, field, offset, value } => {
                write!(f, "{structure}: {field} at byte {offset}: {value} is not allowed")
            }
            Error::Truncated { structure, field, offset, needed } => {
                write!(
                    f,
                    "{structure}: {field} at byte {offset}: needs {needed} bytes, but the input ends before that"
                )
            }
            Error::Chunk { chunk: Some(chunk), offset, error } => {
                write!(f, "chunk {chunk} (at byte {offset}): {error}")
            }
            Error::Chunk { chunk: None, offset, error } => write!(f, "chunk at byte {offset}: {error}"),
            Error::Codec(error) => error.fmt(f),
            #[cfg(feature = "alloc")]
            Error::Text { structure, field, offset, error } => {
                write!(f, "{structure}: {field} at byte {offset}: {error}")
            }
            Error::Missing { structure, what, number } => {
                write!(f, "{structure}: the file of {what} {number} is missing")
            }
            Error::Checksum { structure, chunk: Some(chunk), offset } => {
                write!(f, "{structure} {chunk} (at byte {offset}): checksum does not match")
            }
            Error::Checksum { structure, chunk: None, offset } => {
                write!(f, "{structure} (at byte {offset}): checksum does not match")
            }
            Error::Capacity { what, asked, most } => {
                write!(f, "{what}: {asked} are too many: {most} at most")
            }
            Error::Limit { what, asked, limit } => {
                write!(f, "{what}: {asked} asked, but the limit is {limit}; raise the limit to allow it")
            }
            Error::OutOfRange { what, index, len } => {
                write!(f, "{what} {index} is out of range: there are {len}")
            }
            Error::OutputTooSmall { needed, given } => {
                write!(f, "destination of {given} bytes is too small: {needed} needed")
            }
            Error::Param { name, value, allowed } => write!(f, "{name} = {value} is not allowed: {allowed}"),
            Error::NoSuchName { what } => write!(f, "there is no such {what}"),
            Error::Unsupported { structure, what } => write!(f, "{structure}: {what} is not supported"),
            Error::NotAtomic { why } => write!(f, "cannot be done in one atomic step: {why}"),
            Error::Changed { what } => write!(f, "changed by someone else while open: {what}"),
            #[cfg(feature = "alloc")]
            Error::Dtype(error) => error.fmt(f),
            #[cfg(feature = "alloc")]
            Error::ItemType { found: Some(found), asked } => {
                write!(f, "the items are of dtype {found} and cannot be read or written as {asked}")
            }
            #[cfg(feature = "alloc")]
            Error::ItemType { found: None, asked } => {
                write!(f, "the items have a structured dtype and cannot be read or written as {asked}")
            }
            Error::NothingKept => f.write_str("nothing can be kept: there is no chunk in it that is whole"),
            Error::OutOfMemory => f.write_str("not enough memory"),
            Error::Internal { what } => write!(f, "{what}: a defect of this program; please report it"),
            Error::Io(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

/// What went wrong with the file at a path: the error of calls that take a path and do everything with it.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileError {
    /// The path as it was given.
    pub path: std::path::PathBuf,
    /// What went wrong.
    pub error: Error,
}

#[cfg(feature = "std")]
impl FileError {
    /// Adds the path to an error.
    pub(crate) fn at(path: impl Into<std::path::PathBuf>) -> impl Fn(Error) -> FileError {
        let path = path.into();
        move |error| FileError { path: path.clone(), error }
    }
}

#[cfg(feature = "std")]
impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

#[cfg(feature = "std")]
impl core::error::Error for FileError {}

#[cfg(feature = "std")]
impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        error.error
    }
}

#[cfg(feature = "std")]
impl From<FileError> for IoError {
    /// Without the path; what went wrong inside the file has no number of the system.
    fn from(error: FileError) -> IoError {
        match error.error {
            Error::Io(error) => error,
            _ => IoKind::Other.into(),
        }
    }
}

#[cfg(feature = "std")]
impl From<FileError> for std::io::Error {
    fn from(error: FileError) -> std::io::Error {
        std::io::Error::new(std::io::Error::from(error.error).kind(), error)
    }
}

impl From<IoKind> for Error {
    fn from(kind: IoKind) -> Error {
        IoError::new(kind).into()
    }
}

impl From<IoError> for Error {
    fn from(error: IoError) -> Error {
        if error.kind == IoKind::OutOfMemory { Error::OutOfMemory } else { Error::Io(error) }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for IoError {
    fn from(error: std::io::Error) -> IoError {
        use std::io::ErrorKind as K;
        // What became a `std::io::Error` on its way through one of its traits.
        if let Some(Error::Io(error)) = error.get_ref().and_then(|error| error.downcast_ref()) {
            return *error;
        }
        let kind = match error.kind() {
            K::NotFound => IoKind::NotFound,
            K::AlreadyExists => IoKind::AlreadyExists,
            K::PermissionDenied => IoKind::PermissionDenied,
            K::UnexpectedEof => IoKind::UnexpectedEnd,
            K::StorageFull | K::QuotaExceeded | K::FileTooLarge => IoKind::NoSpace,
            K::ReadOnlyFilesystem => IoKind::ReadOnly,
            K::OutOfMemory => IoKind::OutOfMemory,
            _ => IoKind::Other,
        };
        IoError { kind, os: error.raw_os_error() }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        IoError::from(error).into()
    }
}

#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    fn from(error: Error) -> std::io::Error {
        match error {
            // The system's number alone would not tell what is in force.
            Error::Io(IoError { os: Some(number), kind }) if kind != IoKind::NotConfirmed => {
                std::io::Error::from_raw_os_error(number)
            }
            error => std::io::Error::other(error),
        }
    }
}
