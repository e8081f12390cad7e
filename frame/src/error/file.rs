//! [`FileError`]: an error and the path of the file that it is about.

use super::Error;
use core::fmt;

/// What went wrong with the file at a path: the error of calls that take a path and do everything with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileError {
    /// The path as it was given.
    pub path: std::path::PathBuf,
    /// What went wrong.
    pub error: Error,
}

impl FileError {
    /// Adds the path to an error.
    pub(crate) fn at(path: impl Into<std::path::PathBuf>) -> impl Fn(Error) -> FileError {
        let path = path.into();
        move |error| FileError { path: path.clone(), error }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl core::error::Error for FileError {}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        error.error
    }
}

impl From<FileError> for super::IoError {
    /// Without the path; what went wrong inside the file has no number of the system.
    fn from(error: FileError) -> super::IoError {
        match error.error {
            Error::Io(error) => error,
            _ => super::IoKind::Other.into(),
        }
    }
}

impl From<FileError> for std::io::Error {
    fn from(error: FileError) -> std::io::Error {
        std::io::Error::new(std::io::Error::from(error.error).kind(), error)
    }
}
