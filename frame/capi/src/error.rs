//! Result codes of C-Blosc2, and the guard that no panic passes.

use blosc_core::Error as Core;
use blosc_frame::{Error as Frame, IoError, IoKind};
use core::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A negative result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub c_int);

pub type Result<T> = core::result::Result<T, Code>;

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)+) => {
        // The list is the interface's, whole.
        $(#[allow(dead_code)] pub const $name: Code = Code($number);)+
        const TEXTS: &[(c_int, &CStr)] = &[$(($number, $text)),+];
    };
}

codes! {
    FAILURE = -1, c"Generic failure";
    STREAM = -2, c"Bad stream";
    DATA = -3, c"Invalid data";
    MEMORY_ALLOC = -4, c"Memory alloc/realloc failure";
    READ_BUFFER = -5, c"Not enough space to read";
    WRITE_BUFFER = -6, c"Not enough space to write";
    CODEC_SUPPORT = -7, c"Codec not supported";
    CODEC_PARAM = -8, c"Invalid parameter supplied to codec";
    CODEC_DICT = -9, c"Codec dictionary error";
    VERSION_SUPPORT = -10, c"Version not supported";
    INVALID_HEADER = -11, c"Invalid value in header";
    INVALID_PARAM = -12, c"Invalid parameter supplied to function";
    FILE_READ = -13, c"File read failure";
    FILE_WRITE = -14, c"File write failure";
    FILE_OPEN = -15, c"File open failure";
    NOT_FOUND = -16, c"Not found";
    RUN_LENGTH = -17, c"Bad run length encoding";
    FILTER_PIPELINE = -18, c"Filter pipeline error";
    CHUNK_INSERT = -19, c"Chunk insert failure";
    CHUNK_APPEND = -20, c"Chunk append failure";
    CHUNK_UPDATE = -21, c"Chunk update failure";
    TWO_GB_LIMIT = -22, c"Sizes larger than 2gb not supported";
    SCHUNK_COPY = -23, c"Super-chunk copy failure";
    FRAME_TYPE = -24, c"Wrong type for frame";
    FILE_TRUNCATE = -25, c"File truncate failure";
    THREAD_CREATE = -26, c"Thread or thread context creation failure";
    POSTFILTER = -27, c"Postfilter failure";
    FRAME_SPECIAL = -28, c"Special frame failure";
    SCHUNK_SPECIAL = -29, c"Special super-chunk failure";
    PLUGIN_IO = -30, c"IO plugin error";
    FILE_REMOVE = -31, c"Remove file failure";
    NULL_POINTER = -32, c"Pointer is null";
    INVALID_INDEX = -33, c"Invalid index";
    METALAYER_NOT_FOUND = -34, c"Metalayer has not been found";
    MAX_BUFSIZE_EXCEEDED = -35, c"Maximum buffersize exceeded";
    TUNER = -36, c"Tuner failure";
    LOCK = -37, c"Lock failure";
}

/// One line of English for a result.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_error_string(error_code: c_int) -> *const c_char {
    let known = TEXTS.iter().find(|(number, _)| *number == error_code);
    match known {
        Some((_, text)) => text.as_ptr(),
        None if error_code == 0 => c"Success".as_ptr(),
        None => c"Unknown error".as_ptr(),
    }
}

impl From<Core> for Code {
    fn from(error: Core) -> Code {
        match error {
            Core::Truncated { .. } => READ_BUFFER,
            Core::Invalid { .. } => INVALID_HEADER,
            Core::Codec { .. } => DATA,
            Core::CodecNotBuiltIn(_) => CODEC_SUPPORT,
            Core::FilterUnknown { .. } | Core::FilterParam { .. } => FILTER_PIPELINE,
            Core::Limit { .. } => MEMORY_ALLOC,
            Core::OutputTooSmall { .. } => WRITE_BUFFER,
            Core::OutOfRange { .. } | Core::Unsupported(_) => INVALID_PARAM,
            Core::Param { name, .. } => match name {
                "typesize" | "blocksize" => INVALID_PARAM,
                "nbytes" => MAX_BUFSIZE_EXCEEDED,
                _ => CODEC_PARAM,
            },
            _ => FAILURE,
        }
    }
}

impl From<Frame> for Code {
    fn from(error: Frame) -> Code {
        match error {
            Frame::Chunk { error, .. } | Frame::Codec(error) => error.into(),
            Frame::Io(error) => match error.kind {
                IoKind::NotFound => FILE_OPEN,
                IoKind::UnexpectedEnd => FILE_READ,
                IoKind::NoSpace => MEMORY_ALLOC,
                _ => FILE_WRITE,
            },
            Frame::OutputTooSmall { .. } => WRITE_BUFFER,
            Frame::OutOfRange { .. } => INVALID_INDEX,
            Frame::Limit { .. } | Frame::Capacity { .. } | Frame::OutOfMemory => MEMORY_ALLOC,
            Frame::Param { .. } => INVALID_PARAM,
            Frame::Invalid { .. } | Frame::Truncated { .. } => INVALID_HEADER,
            _ => FAILURE,
        }
    }
}

impl From<IoError> for Code {
    fn from(error: IoError) -> Code {
        Frame::from(error).into()
    }
}

/// Runs a function's body. An error, or a panic, which would be a bug, becomes what `failed` makes of its code.
pub fn guard<T>(failed: impl Fn(Code) -> T, body: impl FnOnce() -> Result<T>) -> T {
    // After a panic nothing of the caller's is read again in this call.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(code)) => failed(code),
        Err(_) => {
            #[cfg(any(test, feature = "calls"))]
            PANICS.set(PANICS.get() + 1);
            failed(FAILURE)
        }
    }
}

#[cfg(any(test, feature = "calls"))]
thread_local! {
    /// How many panics became codes on this thread.
    pub static PANICS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// [`guard`] for functions that return `int`.
pub fn int(body: impl FnOnce() -> Result<c_int>) -> c_int {
    guard(|code| code.0, body)
}

/// [`guard`] for functions that return `int64_t`.
pub fn long(body: impl FnOnce() -> Result<i64>) -> i64 {
    guard(|code| i64::from(code.0), body)
}

/// [`guard`] for functions that return a pointer, null for an error.
pub fn pointer<T>(body: impl FnOnce() -> Result<*mut T>) -> *mut T {
    guard(|_| core::ptr::null_mut(), body)
}

/// A size as an `int`.
pub fn size(n: usize) -> Result<c_int> {
    c_int::try_from(n).map_err(|_| MAX_BUFSIZE_EXCEEDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code() {
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(int(|| panic!("a bug")), -1);
        assert!(pointer::<u8>(|| panic!("a bug")).is_null());
        let _ = std::panic::take_hook();
        assert_eq!(int(|| Err(LOCK)), -37);
    }
}
