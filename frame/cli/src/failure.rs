//! [`Failure`]: one line for people, and the exit status for scripts.

use serde_json::{Value, json};
use std::fmt;
use std::path::Path;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// The data is bad or unsupported, or a file cannot be read or written: status 1.
    Data(String),
    /// Data was verified and is damaged: the report, with `ok` false, and what to say of it. Status 1.
    Damaged(Value, String),
    /// The command line asks for something that makes no sense: status 2.
    Usage(String),
    /// Whoever read our output has had enough (`blosc info X | head -1`): no message, status 0.
    Closed,
}

/// Result of everything here.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A data failure about `path`.
    pub fn at(path: &Path, what: impl fmt::Display) -> Failure {
        Failure::Data(format!("{}: {what}", path.display()))
    }

    /// Data at `path` that is damaged: `report` says what was verified and each of `damage` what is wrong where. None
    /// of it is no failure.
    pub fn if_damaged(path: &Path, mut report: Value, damage: &[String]) -> Result<Value> {
        let more = match damage.len() {
            0 | 1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        if let Value::Object(report) = &mut report {
            report.insert("ok".into(), damage.is_empty().into());
            if !damage.is_empty() {
                report.insert("damage".into(), damage.into());
            }
        }
        match damage.first() {
            None => Ok(report),
            Some(first) => {
                let text = format!("{}: damaged: {first}{more}", path.display());
                Err(Failure::Damaged(report, text))
            }
        }
    }

    /// What verifying came to, as a report; `None` if it is about the command line.
    pub fn report(&self) -> Option<Value> {
        match self {
            Failure::Damaged(report, _) => Some(report.clone()),
            Failure::Data(text) => Some(json!({"ok": false, "damage": [text]})),
            Failure::Usage(_) | Failure::Closed => None,
        }
    }

    /// This failure, with what it is about before it.
    pub fn about(self, what: impl fmt::Display) -> Failure {
        match self {
            Failure::Data(text) => Failure::Data(format!("{what}: {text}")),
            Failure::Damaged(report, text) => Failure::Damaged(report, format!("{what}: {text}")),
            Failure::Usage(text) => Failure::Usage(format!("{what}: {text}")),
            Failure::Closed => Failure::Closed,
        }
    }

    /// The process's exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Closed => 0,
            Failure::Data(_) | Failure::Damaged(..) => 1,
            Failure::Usage(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Data(text) | Failure::Damaged(_, text) | Failure::Usage(text) => f.write_str(text),
            Failure::Closed => f.write_str("the reader of our output closed it"),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Data(error.to_string()),
        }
    }
}

impl From<blosc_core::Error> for Failure {
    fn from(error: blosc_core::Error) -> Self {
        match error {
            blosc_core::Error::Param { .. } | blosc_core::Error::FilterParam { .. } => {
                Failure::Usage(error.to_string())
            }
            blosc_core::Error::Limit { .. } => limit(error),
            _ => Failure::Data(error.to_string()),
        }
    }
}

impl From<blosc_frame::Error> for Failure {
    fn from(error: blosc_frame::Error) -> Self {
        use blosc_frame::Error as E;
        match error {
            E::Chunk { error: blosc_core::Error::Limit { .. }, .. } => limit(error),
            E::Limit {
                what: "bytes of a chunk" | "bytes of output" | "bytes decoded in the search", ..
            } => limit(error),
            E::Limit { .. } => {
                Failure::Data(format!("{error} (--max-output none lifts all limits: for input you trust)"))
            }
            E::Codec(error) => Failure::from(error),
            E::Param { .. } | E::NoSuchName { .. } | E::OutOfRange { .. } => {
                Failure::Usage(error.to_string())
            }
            _ => Failure::Data(error.to_string()),
        }
    }
}

/// The answer to something larger than `--max-output`.
fn limit(error: impl fmt::Display) -> Failure {
    Failure::Data(format!("{error} (--max-output BYTES)"))
}

impl From<blosc_frame::IoError> for Failure {
    fn from(error: blosc_frame::IoError) -> Self {
        Failure::from(blosc_frame::Error::from(error))
    }
}
