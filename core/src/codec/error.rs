//! [`CodecError`]: what is wrong with a compressed stream, and where.

use core::fmt;

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
