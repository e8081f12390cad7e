//! [`IoError`]: what the system, or a store, said to a read, a write or a flush.

use core::fmt;

/// Kinds of input/output failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IoKind {
    /// There is no such file.
    NotFound,
    /// The file exists already.
    AlreadyExists,
    /// Not permitted by the system.
    PermissionDenied,
    /// The store was opened for reading only.
    ReadOnly,
    /// The file ends before the bytes asked for.
    UnexpectedEnd,
    /// No room on the device.
    NoSpace,
    /// No room in memory; as an [`Error`](crate::Error) it is `OutOfMemory`.
    OutOfMemory,
    /// This process has the file open for writing already, and keeps other writers out.
    Locked,
    /// The lock file of C-Blosc2 (`.b2lock`) is a link or a directory, or not permitted.
    LockFile,
    /// The file system knows no locks, and a writer was to keep other writers out.
    NoLocks,
    /// All is written and in force, for whoever opens the container now, but the system did not confirm that it will
    /// survive a power failure: the last flush failed. Nothing is left to be done again; to append once more would
    /// append twice.
    NotConfirmed,
    /// Another directory has taken the place of the one that was opened for reading: what is read from it now is of
    /// another state.
    Changed,
    /// What it lies in is larger than the limits allow.
    Limit,
    /// A name that is not a single, plain path component.
    Name,
    /// What the bytes lie in, as frames do that are embedded in another one, is damaged.
    Damaged,
    /// These bytes have not been fetched yet, and [`Pieces`](crate::io::Pieces) read nothing themselves.
    NotFetched,
    /// Stopped by a fault-injecting store.
    Injected,
    /// Anything else; see the system's number.
    Other,
}

/// A failed read, write or directory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoError {
    /// What kind of failure.
    pub kind: IoKind,
    /// The system's error number, where there is one.
    pub os: Option<i32>,
}

impl IoError {
    /// An error of this kind without a system number.
    pub const fn new(kind: IoKind) -> IoError {
        IoError { kind, os: None }
    }

    /// This failure, as that of the last flush of something that is in force.
    #[cfg(feature = "alloc")]
    pub(crate) const fn not_confirmed(self) -> IoError {
        IoError { kind: IoKind::NotConfirmed, os: self.os }
    }
}

impl From<IoKind> for IoError {
    fn from(kind: IoKind) -> IoError {
        IoError::new(kind)
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            IoKind::NotConfirmed => {
                f.write_str("written, but the system did not confirm that it is on disk")?;
                if self.os.is_none() {
                    return Ok(());
                }
                f.write_str(": ")?;
            }
            IoKind::NoLocks => return f.write_str("the file system knows no locks"),
            _ => {}
        }
        #[cfg(feature = "std")]
        if let Some(number) = self.os {
            return write!(f, "{}", std::io::Error::from_raw_os_error(number));
        }
        let what = match self.kind {
            IoKind::NotFound => "no such file",
            IoKind::AlreadyExists => "the file exists already",
            IoKind::PermissionDenied => "permission denied",
            IoKind::ReadOnly => "opened for reading only",
            IoKind::UnexpectedEnd => "the file ends too early",
            IoKind::NoSpace => "no space left",
            IoKind::OutOfMemory => "not enough memory",
            IoKind::Locked => "this process has it open for writing already",
            IoKind::LockFile => {
                "its lock file (NAME.b2lock, in a directory .b2lock) is a link or a directory, or not permitted"
            }
            IoKind::Changed => "a writer has put something else in its place meanwhile; open it again",
            IoKind::Limit => "what it lies in is larger than the limits allow",
            IoKind::Name => "not a plain file name",
            IoKind::Damaged => "what it lies in is damaged",
            IoKind::NotFetched => "these bytes have not been fetched",
            IoKind::Injected => "stopped by fault injection",
            IoKind::NoLocks | IoKind::NotConfirmed | IoKind::Other => "input/output error",
        };
        f.write_str(what)
    }
}

impl core::error::Error for IoError {}
