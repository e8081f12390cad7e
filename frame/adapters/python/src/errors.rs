//! Our errors as exceptions, with our messages.

use blosc_frame::{Error, IoError, IoKind};
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

/// A fault of a chunk, or of the parameters for one.
pub fn of_chunk(error: blosc_core::Error) -> PyErr {
    use blosc_core::Error as E;
    match error {
        E::Param { .. } | E::OutputTooSmall { .. } => PyValueError::new_err(error.to_string()),
        E::OutOfRange { .. } => PyIndexError::new_err(error.to_string()),
        _ => BloscError::new_err(error.to_string()),
    }
}

/// A fault of the container at `path`, or of the parameters for one.
pub fn of_frame(error: Error, path: &str) -> PyErr {
    match error {
        Error::Io(IoError { os: Some(number), .. }) => {
            // The first two arguments choose the class: `FileNotFoundError` and its sisters.
            let text = std::io::Error::from_raw_os_error(number).to_string();
            PyOSError::new_err((number, text, path.to_owned()))
        }
        Error::Io(IoError { kind: IoKind::NotFound, .. }) => PyFileNotFoundError::new_err(path.to_owned()),
        Error::Io(IoError { kind: IoKind::AlreadyExists, .. }) => PyFileExistsError::new_err(path.to_owned()),
        Error::OutOfMemory => PyMemoryError::new_err(error.to_string()),
        Error::Param { .. } | Error::Dtype(_) => PyValueError::new_err(error.to_string()),
        Error::OutOfRange { .. } => PyIndexError::new_err(error.to_string()),
        Error::Codec(error) => of_chunk(error),
        _ => BloscError::new_err(format!("{path}: {error}")),
    }
}
