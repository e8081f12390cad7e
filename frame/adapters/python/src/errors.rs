//! Our errors as exceptions, with our messages.

use crate::far;
use blosc_frame::table::TableError;
use blosc_frame::{Error, FileError, IoError, IoKind};
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIndexError, PyMemoryError, PyOSError, PyRuntimeError,
    PyValueError,
};
use pyo3::prelude::*;

pyo3::create_exception!(
    blosc_frame,
    BloscError,
    PyRuntimeError,
    "Data that is no valid Blosc data, that goes beyond a limit, or that this package cannot handle."
);

/// What is wrong, in words of Python.
fn text(error: blosc_core::Error) -> String {
    use blosc_core::Error as E;
    // What only a plugin of C-Blosc2 can do.
    let missing = |what: String| {
        format!(
            "{what} is not in this package; blosc2 reads it where its plugin is installed (pip install blosc2)"
        )
    };
    match error {
        E::Limit { what, asked, limit } => over(what, asked, limit),
        E::CodecNotBuiltIn(codec) => missing(format!("codec {} ({codec})", codec.id())),
        E::FilterUnknown { id, slot } => missing(format!("filter {id} in slot {slot}")),
        _ => error.to_string(),
    }
}

fn over(what: &str, asked: u64, limit: u64) -> String {
    format!("{what}: {asked}, but the limit is {limit}; limit= raises it")
}

/// A fault of a chunk, or of the parameters for one.
pub fn of_chunk(error: blosc_core::Error) -> PyErr {
    use blosc_core::Error as E;
    match error {
        E::Param { .. } | E::OutputTooSmall { .. } => PyValueError::new_err(text(error)),
        E::OutOfRange { .. } => PyIndexError::new_err(text(error)),
        _ => BloscError::new_err(text(error)),
    }
}

/// A fault of the container at `path`, or of the parameters for one; what Python raised where its file was read.
pub fn of_frame(error: Error, path: &str) -> PyErr {
    match error {
        Error::Io(IoError { os: Some(number), .. }) => far::raised(number).unwrap_or_else(|| {
            // The first two arguments choose the class: `FileNotFoundError` and its sisters.
            let text = std::io::Error::from_raw_os_error(number).to_string();
            PyOSError::new_err((number, text, path.to_owned()))
        }),
        Error::Io(IoError { kind: IoKind::NotFound, .. }) => PyFileNotFoundError::new_err(path.to_owned()),
        Error::Io(IoError { kind: IoKind::AlreadyExists, .. }) => PyFileExistsError::new_err(path.to_owned()),
        Error::OutOfMemory => PyMemoryError::new_err(error.to_string()),
        Error::Param { .. } | Error::Dtype(_) => PyValueError::new_err(error.to_string()),
        Error::OutOfRange { .. } => PyIndexError::new_err(error.to_string()),
        Error::Codec(error) => of_chunk(error),
        Error::Chunk { chunk, offset, error } => {
            let number = chunk.map_or(String::new(), |chunk| format!(" {chunk}"));
            BloscError::new_err(format!("{path}: chunk{number} at byte {offset}: {}", text(error)))
        }
        Error::Limit { what, asked, limit } => {
            BloscError::new_err(format!("{path}: {}", over(what, asked, limit)))
        }
        _ => BloscError::new_err(format!("{path}: {error}")),
    }
}

/// A fault of the container that the error names.
pub fn of_file(error: FileError) -> PyErr {
    of_frame(error.error, &error.path.display().to_string())
}

/// A fault of the table `name`.
pub fn of_table(error: TableError, name: &str) -> PyErr {
    match error {
        TableError::Frame { about, error } if about.is_empty() => of_frame(error, name),
        TableError::Frame { about, error } => of_frame(error, &format!("{name}: {about}")),
        other => BloscError::new_err(format!("{name}: {other}")),
    }
}
