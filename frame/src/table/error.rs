//! [`TableError`]: why rows were not read or written.

use crate::error::Error;
use alloc::format;
use alloc::string::{String, ToString};
use arrow_array::ArrayRef;
use core::fmt;

/// Result of everything here.
pub type Result<T> = core::result::Result<T, TableError>;

/// Why an array was not made.
pub type Made<T = ArrayRef> = core::result::Result<T, String>;

/// What is wrong with a row.
#[derive(Debug, PartialEq)]
pub struct Wrong {
    pub row: usize,
    pub what: String,
}

/// Why something was not done.
#[derive(Debug)]
#[non_exhaustive]
pub enum TableError {
    /// The data is damaged, or does not fit: what, and where.
    Data(String),
    /// What this is cannot be read or changed here, be it sound or not.
    Unable(String),
    /// What the library says of a file of the table.
    Frame {
        /// Which file or column; empty where the table as a whole is meant.
        about: String,
        /// What is wrong with it.
        error: Error,
    },
    /// A file of rows cannot be read or written.
    Io(std::io::Error),
}

impl TableError {
    pub(crate) fn data(what: impl fmt::Display) -> TableError {
        TableError::Data(what.to_string())
    }

    /// An error of a file of the table, with what it is about.
    pub(crate) fn of(about: &str) -> impl Fn(Error) -> TableError + '_ {
        move |error| TableError::Frame { about: about.into(), error }
    }

    /// This error, with what it is about before it.
    pub(crate) fn about(self, what: impl fmt::Display) -> TableError {
        match self {
            TableError::Data(text) => TableError::Data(format!("{what}: {text}")),
            TableError::Unable(text) => TableError::Unable(format!("{what}: {text}")),
            TableError::Frame { about, error } if about.is_empty() => {
                TableError::Frame { about: what.to_string(), error }
            }
            TableError::Frame { about, error } => {
                TableError::Frame { about: format!("{what}: {about}"), error }
            }
            TableError::Io(error) => TableError::Io(error),
        }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Data(text) | TableError::Unable(text) => f.write_str(text),
            TableError::Frame { about, error } if about.is_empty() => error.fmt(f),
            TableError::Frame { about, error } => write!(f, "{about}: {error}"),
            TableError::Io(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TableError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            TableError::Frame { error, .. } => Some(error),
            TableError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for TableError {
    fn from(error: Error) -> Self {
        TableError::Frame { about: String::new(), error }
    }
}

impl From<std::io::Error> for TableError {
    fn from(error: std::io::Error) -> Self {
        TableError::Io(error)
    }
}
