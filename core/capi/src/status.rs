//! Result codes.

use blosc_core::Error;
use core::ffi::CStr;

/// What a negative result means. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Status {
    /// A pointer is null where bytes are needed.
    Null = -1,
    /// The chunk ends too early.
    Truncated = -2,
    /// A header field, offset or size of the chunk is not allowed.
    Invalid = -3,
    /// A compressed stream is corrupt.
    Corrupt = -4,
    /// The chunk cannot be read here: written by a big-endian machine, or not of this kind.
    Unsupported = -5,
    /// The codec is not in this build.
    Codec = -6,
    /// A filter is unknown or cannot run with its parameters.
    Filter = -7,
    /// A limit of the caller would be exceeded.
    Limit = -8,
    /// The destination is too small.
    Output = -9,
    /// The scratch memory is too small, and there is no allocator.
    Work = -10,
    /// An item range outside the chunk.
    Range = -11,
    /// A parameter that is not allowed.
    Param = -12,
    /// The caller's allocator returned null.
    Memory = -13,
    /// Buffers overlap.
    Overlap = -14,
    /// A bug: a panic was caught.
    Internal = -15,
}

impl Status {
    const ALL: [(Status, &'static CStr); 15] = [
        (Status::Null, c"a pointer is null where bytes are needed"),
        (Status::Truncated, c"the chunk ends too early"),
        (Status::Invalid, c"a field of the chunk holds a value that is not allowed"),
        (Status::Corrupt, c"a compressed stream is corrupt"),
        (Status::Unsupported, c"chunks of this kind are not supported"),
        (Status::Codec, c"the codec is not in this build"),
        (Status::Filter, c"a filter is unknown or cannot run with its parameters"),
        (Status::Limit, c"a limit would be exceeded"),
        (Status::Output, c"the destination is too small"),
        (Status::Work, c"the scratch memory is too small and there is no allocator"),
        (Status::Range, c"items outside the chunk"),
        (Status::Param, c"a parameter is not allowed"),
        (Status::Memory, c"the allocator returned null"),
        (Status::Overlap, c"buffers overlap"),
        (Status::Internal, c"internal error"),
    ];

    /// One line of English for `code`.
    pub fn text(code: i64) -> &'static CStr {
        let known = Status::ALL.iter().find(|(status, _)| *status as i64 == code);
        match known {
            Some((_, text)) => text,
            None if code >= 0 => c"success",
            None => c"unknown error",
        }
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Status {
        match error {
            Error::Truncated { .. } => Status::Truncated,
            Error::Invalid { .. } => Status::Invalid,
            Error::Codec { .. } => Status::Corrupt,
            Error::CodecNotBuiltIn(_) => Status::Codec,
            Error::FilterUnknown { .. } | Error::FilterParam { .. } => Status::Filter,
            Error::Limit { .. } => Status::Limit,
            Error::OutputTooSmall { .. } => Status::Output,
            Error::WorkTooSmall { .. } => Status::Work,
            Error::OutOfRange { .. } => Status::Range,
            Error::Param { .. } => Status::Param,
            _ => Status::Unsupported,
        }
    }
}

/// Runs a function's body; a result becomes its number, and a panic, which would be a bug, [`Status::Internal`].
pub(crate) fn guard(body: impl FnOnce() -> Result<usize, Status>) -> i64 {
    let number = |result: Result<usize, Status>| match result {
        Ok(n) => i64::try_from(n).unwrap_or(Status::Limit as i64),
        Err(status) => status as i64,
    };
    #[cfg(feature = "std")]
    {
        // Nothing of the caller's is read again after a panic.
        std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| number(body())))
            .unwrap_or(Status::Internal as i64)
    }
    #[cfg(not(feature = "std"))]
    number(body())
}
