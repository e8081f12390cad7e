//! [`Failure`]: one line for people, and the exit status for scripts.
//!
//! ```text
//! 0  all of it is done
//! 1  the data: a file is damaged, is of another kind, does not fit to another file, or is not there
//! 2  the command line: an option that does not apply, or a number (a count, position, range or size) that cannot be
//!    right for the file at hand, be the file as sound as it may
//! 3  `verify` cannot tell
//! 4  all of it is done, but the system did not confirm that it is on disk: doing it again would do it twice
//! ```
//! Whether a failure is about the data or about the command line is decided where a value comes from, not by its
//! type: what reading gives goes through [`failure`], what the library says to a value from the command line through
//! [`asked`] or [`sized`].

use blosc_core::Error as ChunkError;
use blosc_frame::error::Structure;
use blosc_frame::{Error, FileError, IoError, IoKind};
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// The data is bad, or a file cannot be written: status 1.
    Data(String),
    /// The data cannot be read here, be it good or bad: a codec that is not built in, a limit, a file that is not
    /// there. Status 1, and 3 of `verify`.
    Unable(String),
    /// Data was verified: the report, what to say of it, and the status, 1 for damage and 3 where it cannot be told.
    Verified(Value, String, u8),
    /// The command line asks for something that makes no sense: status 2.
    Usage(String),
    /// All of it is done, but the last flush failed, for this reason: status 4.
    Unconfirmed(String),
    /// Whoever read our output has had enough (`blosc info X | head -1`): no message, status 0.
    Closed,
}

/// Result of everything here.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure of the data at `path`.
    pub fn at(path: &Path, what: impl fmt::Display) -> Failure {
        Failure::Data(format!("{}: {what}", path.display()))
    }

    /// What the system says to reading `path`.
    pub fn io(path: &Path) -> impl Fn(std::io::Error) -> Failure + '_ {
        move |error| failure(path)(error.into())
    }

    /// This failure, where what is done is only a part of what was asked for.
    pub fn of_a_part(self) -> Failure {
        match self {
            Failure::Unconfirmed(text) => Failure::Data(text),
            failure => failure,
        }
    }

    /// This failure, with what it is about before it.
    pub fn about(self, what: impl fmt::Display) -> Failure {
        match self {
            Failure::Data(text) => Failure::Data(format!("{what}: {text}")),
            Failure::Unable(text) => Failure::Unable(format!("{what}: {text}")),
            Failure::Verified(report, text, status) => {
                Failure::Verified(report, format!("{what}: {text}"), status)
            }
            Failure::Usage(text) => Failure::Usage(format!("{what}: {text}")),
            Failure::Unconfirmed(text) => Failure::Unconfirmed(format!("{what}: {text}")),
            Failure::Closed => Failure::Closed,
        }
    }

    /// What verifying came to, of data that cannot even be opened, too: the report, what to say, and the status.
    pub fn verified(self) -> (Value, String, u8) {
        let (verdict, list, text, status) = match self {
            Failure::Verified(report, text, status) => return (report, text, status),
            Failure::Unable(text) => ("cannot tell", "unchecked", text, 3),
            failure => ("damaged", "damage", failure.to_string(), 1),
        };
        (json!({"ok": false, "verdict": verdict, list: [text]}), format!("{verdict}: {text}"), status)
    }

    /// The process's exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Closed => 0,
            Failure::Data(_) | Failure::Unable(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Verified(_, _, status) => *status,
            Failure::Unconfirmed(_) => 4,
        }
    }
}

/// What verifying found.
#[derive(Debug, Default)]
pub struct Findings {
    /// What was verified, as a JSON object.
    pub report: Value,
    /// What is wrong, and where.
    pub damage: Vec<String>,
    /// What could not be checked, and why.
    pub unchecked: Vec<String>,
}

impl Findings {
    /// Nothing but this report.
    pub fn new(report: Value) -> Findings {
        Findings { report, ..Findings::default() }
    }

    /// Adds what was found at `place`.
    pub fn add(&mut self, place: impl fmt::Display, error: &Error) {
        let list = if error.leaves_open() { &mut self.unchecked } else { &mut self.damage };
        list.push(format!("{place}{error}"));
    }

    /// The report with a verdict: `intact`, `damaged`, or `cannot tell`.
    ///
    /// # Errors
    /// [`Failure::Verified`] for every verdict but the first.
    pub fn verdict(self, path: &Path) -> Result<Value> {
        let Findings { mut report, damage, unchecked } = self;
        let (verdict, status) = match (damage.is_empty(), unchecked.is_empty()) {
            (false, _) => ("damaged", 1),
            (true, false) => ("cannot tell", 3),
            (true, true) => ("intact", 0),
        };
        if let Value::Object(report) = &mut report {
            report.insert("ok".into(), (status == 0).into());
            report.insert("verdict".into(), verdict.into());
            for (name, list) in [("damage", &damage), ("unchecked", &unchecked)] {
                if !list.is_empty() {
                    report.insert(name.into(), list.as_slice().into());
                }
            }
        }
        let all: Vec<_> = damage.into_iter().chain(unchecked).collect();
        let Some((first, rest)) = all.split_first() else { return Ok(report) };
        let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
        Err(Failure::Verified(report, format!("{}: {verdict}: {first}{more}", path.display()), status))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Data(text)
            | Failure::Unable(text)
            | Failure::Verified(_, text, _)
            | Failure::Usage(text) => f.write_str(text),
            Failure::Unconfirmed(text) => {
                write!(f, "written, but the system did not confirm that it is on disk: {text}")
            }
            Failure::Closed => f.write_str("the reader of our output closed it"),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => match error.get_ref().and_then(|error| error.downcast_ref::<Error>()) {
                Some(error) => Failure::from(*error),
                None => Failure::Data(error.to_string()),
            },
        }
    }
}

impl From<ChunkError> for Failure {
    fn from(error: ChunkError) -> Self {
        Failure::from(Error::Codec(error))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = match error {
            Error::Io(IoError { kind: IoKind::NotConfirmed, os }) => {
                IoError { kind: IoKind::Other, os }.to_string()
            }
            Error::Chunk { error: ChunkError::Limit { .. }, .. }
            | Error::Codec(ChunkError::Limit { .. })
            | Error::Limit { what: "bytes of a chunk" | "bytes of output" | "decoded bytes", .. } => {
                format!("{error} (--max-output BYTES)")
            }
            Error::Io(IoError { kind: IoKind::Limit, .. }) => format!("{error} (--max-output BYTES)"),
            Error::Io(IoError { kind: IoKind::NoLocks, .. }) => {
                format!("{error} (--no-lock writes without one: make sure that nobody else writes meanwhile)")
            }
            Error::Limit { .. } => {
                format!("{error} (--max-output none lifts all limits: for input you trust)")
            }
            Error::Checksum { structure: Structure::Checksums, .. } => {
                format!("{error} (--no-verify reads the chunks all the same, repair makes a new table)")
            }
            _ => error.to_string(),
        };
        match error.is_in_force() {
            true => Failure::Unconfirmed(text),
            false if error.leaves_open() => Failure::Unable(text),
            false => Failure::Data(text),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        failure(&error.path)(error.error)
    }
}

impl From<IoError> for Failure {
    fn from(error: IoError) -> Self {
        Failure::from(Error::from(error))
    }
}

/// Names the file an error is about.
pub fn failure(path: &Path) -> impl Fn(Error) -> Failure + '_ {
    move |error| Failure::from(error).about(path.display())
}

/// What the library says to values from the command line: a mistake there, unless it is about something else.
pub fn asked(error: impl Into<Error>) -> Failure {
    match error.into() {
        error @ (Error::Param { .. }
        | Error::NoSuchName { .. }
        | Error::OutOfRange { .. }
        | Error::Dtype(_)) => Failure::Usage(error.to_string()),
        error => error.into(),
    }
}

/// [`asked`], for counts and sizes: those that are too large for what the file can hold are a mistake, too.
pub fn sized(error: impl Into<Error>) -> Failure {
    match error.into() {
        error @ Error::Capacity { .. } => Failure::Usage(error.to_string()),
        // No chunk is read for its number: it is that of the chunks there would be.
        error @ Error::Limit { what: "chunks", .. } => Failure::Usage(Failure::from(error).to_string()),
        error => asked(error),
    }
}

/// [`asked`], for parameters of chunks, of which nothing has been read.
pub fn params(error: ChunkError) -> Failure {
    match error {
        ChunkError::Param { .. } | ChunkError::FilterParam { .. } => Failure::Usage(error.to_string()),
        error => error.into(),
    }
}

/// Names the file an error of copying is about: `to` if there is no room to write, else `from`.
pub fn copying<'p>(from: &'p Path, to: &'p Path) -> impl Fn(Error) -> Failure + 'p {
    move |error| match error {
        Error::Io(IoError { kind: IoKind::NoSpace | IoKind::ReadOnly, .. }) => failure(to)(error),
        _ => failure(from)(error),
    }
}
