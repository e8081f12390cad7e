//! Where results go. A file or directory appears under its name only when it is complete: it is made under a temporary
//! name and then renamed. What is no regular file, such as a device or a FIFO, is opened and written.
//!
//! ```text
//! Destination::of    before anything is touched: follows links, refuses what may not be replaced
//! Sink               bytes from first to last
//! file, made         what is not written from first to last: a frame, a directory, a zip file
//! ```
//! Temporary files go when they are dropped, or when Ctrl-C, a hangup or a request to terminate ends the program; what
//! SIGKILL leaves, the next command removes ([`NewFile`], [`NewDir`]).

use crate::args::Output;
use crate::failure::{Failure, Result, failure};
use crate::paths::{is_url, parent};
use crate::printable::{printable, printable_lines};
pub use crate::replaced::Shape;
use crate::replaced::{check_inside, check_replace};
use crate::signals::{remember, temporary};
use blosc_frame::io::{NewDir, NewFile};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tempfile::NamedTempFile;

/// Where a result goes.
#[derive(Debug)]
pub struct Destination {
    /// The name that was given, for messages.
    name: PathBuf,
    delivery: Delivery,
}

#[derive(Debug)]
enum Delivery {
    /// Our standard output.
    Stdout,
    /// A device, a FIFO, or a file that is open already, such as /dev/fd/3: written as it is.
    Open(PathBuf),
    /// A path, no symbolic link, where the result is renamed to.
    Rename(PathBuf),
}

impl Destination {
    /// Finds out where `output` leads, for a result of this shape.
    ///
    /// # Errors
    /// An output that exists and may not be replaced: without `--force`, a directory that is no container, a file by a
    /// directory or the other way round, a device by a directory.
    pub fn of(output: &Output, shape: Shape) -> Result<Destination> {
        let name = output.output.clone();
        let delivery = delivery(&name)?;
        if let Delivery::Rename(path) = &delivery {
            check_inside(&name, path)?;
            check_replace(&name, path, output.force, shape)?;
        } else if shape == Shape::Directory {
            let text = format!("{}: the result is a directory; name one with -o", name.display());
            return Err(Failure::Usage(text));
        }
        Ok(Destination { name, delivery })
    }

    /// For a new state of what is at `path`.
    ///
    /// # Errors
    /// Too many symbolic links.
    pub fn replacing(path: &Path) -> Result<Destination> {
        Ok(Destination { name: path.to_path_buf(), delivery: delivery(path)? })
    }

    /// The name that was given.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Opens what is written as it is.
    fn stream(&self) -> Result<Box<dyn Write>> {
        Ok(match &self.delivery {
            Delivery::Open(path) => {
                // A file that is open already keeps what is in it.
                let open = OpenOptions::new().write(true).append(is_descriptor(path)).open(path);
                Box::new(open.map_err(|e| Failure::at(&self.name, e))?)
            }
            _ => Box::new(io::stdout()),
        })
    }

    /// Why a write failed.
    fn failed(&self, error: &io::Error) -> Failure {
        match (error.kind(), &self.delivery) {
            (io::ErrorKind::BrokenPipe, _) => Failure::Closed,
            (_, Delivery::Stdout) => stdout_failed(error),
            _ => Failure::at(&self.name, error),
        }
    }

    /// Has `make` write a file, in any order of its bytes, which appears when that is done.
    ///
    /// # Errors
    /// Errors of `make`, and of the file system.
    pub fn file<T>(&self, make: impl FnOnce(File) -> Result<T>) -> Result<T> {
        let Delivery::Rename(path) = &self.delivery else {
            let mut file = spool()?;
            let made = make(file.try_clone()?).map_err(Failure::of_a_part)?;
            self.copy(&mut file)?;
            return Ok(made);
        };
        let mut temp = temporary_beside(path).map_err(|e| self.no_place(&e))?;
        let made = make(temp.file()?.try_clone()?).map_err(Failure::of_a_part)?;
        replace(temp, path)?;
        Ok(made)
    }

    /// Has `make` create a file or directory at a path that is free, which appears under its name when that is done.
    ///
    /// # Errors
    /// Errors of `make`, and of the file system.
    pub fn made<T>(&self, make: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let temp = self.folder()?;
        // Temporary directories are private; the result is made as an ordinary file or directory inside.
        let new = temp.path().join("new");
        let made = make(&new).map_err(Failure::of_a_part)?;
        match &self.delivery {
            Delivery::Rename(path) => {
                keep_permissions(&new, path);
                replace_dir(&new, temp)?;
            }
            _ => self.copy(&mut File::open(&new)?)?,
        }
        Ok(made)
    }

    /// A private directory, beside the path where there is one. Dropped, it goes with all that is in it.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn folder(&self) -> Result<NewDir> {
        match &self.delivery {
            Delivery::Rename(path) => temporary_dir(path).map_err(|e| self.no_place(&e)),
            _ => temporary_dir(&std::env::temp_dir().join("output")).map_err(|e| no_spool(&e)),
        }
    }

    fn copy(&self, file: &mut File) -> Result<()> {
        file.rewind()?;
        let mut out = self.stream()?;
        io::copy(file, &mut out).and_then(|_| out.flush()).map_err(|e| self.failed(&e))
    }

    /// Why nothing can be made beside the path, without the temporary name that the error speaks of.
    fn no_place(&self, error: &io::Error) -> Failure {
        // Where the name is a link, beside what it leads to.
        let path = match &self.delivery {
            Delivery::Rename(path) => path,
            _ => &self.name,
        };
        let text = match parent(path) {
            folder if folder.is_dir() => {
                format!("nothing can be written in {}: {}", folder.display(), error.kind())
            }
            folder => format!("there is no directory {}", folder.display()),
        };
        Failure::at(&self.name, text)
    }
}

/// Where a name leads.
fn delivery(name: &Path) -> Result<Delivery> {
    if is_url(name) {
        return Err(Failure::Usage(format!("-o: {} is a URL; results are written to files", name.display())));
    }
    let mut path = name.to_path_buf();
    // As many links as Linux follows.
    for _ in 0..40 {
        if ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|stdout| path == Path::new(stdout))
        {
            return Ok(Delivery::Stdout);
        }
        if is_descriptor(&path) {
            return Ok(Delivery::Open(path));
        }
        let Ok(meta) = fs::symlink_metadata(&path) else { return Ok(Delivery::Rename(path)) };
        if !meta.is_symlink() {
            let replaced = meta.is_file() || meta.is_dir();
            return Ok(if replaced { Delivery::Rename(path) } else { Delivery::Open(path) });
        }
        let target = fs::read_link(&path).map_err(|e| Failure::at(name, e))?;
        path = parent(&path).join(target);
    }
    Err(Failure::at(name, "too many symbolic links"))
}

/// Whether a path names a file by the number under which it is open.
fn is_descriptor(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let number = match text.strip_prefix("/dev/") {
        Some(device) => device.strip_prefix("fd/").or((device == "stderr").then_some("2")),
        None => {
            text.strip_prefix("/proc/").and_then(|rest| rest.split_once("/fd/")).map(|(_, number)| number)
        }
    };
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// A destination being written from first to last byte. Dropped before [`finish`](Sink::finish), it leaves nothing
/// behind.
pub struct Sink {
    destination: Destination,
    out: Out,
    /// The first write that failed. Whoever hands decoded bytes over takes it for a failure of what it reads.
    failed: Option<Failure>,
}

enum Out {
    Stream(BufWriter<Box<dyn Write>>),
    /// A file under a temporary name beside its place.
    File(BufWriter<Unnamed>, PathBuf),
}

/// A temporary file whose errors leave its name out, which means nothing to the user.
pub struct Unnamed(NewFile);

impl Write for Unnamed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.file().map_err(blosc_frame::Error::from)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.file().map_err(blosc_frame::Error::from)?.flush()
    }
}

impl Sink {
    /// Opens the destination.
    ///
    /// # Errors
    /// As [`Destination::of`], and errors of the file system.
    pub fn create(output: &Output) -> Result<Sink> {
        let destination = Destination::of(output, Shape::File)?;
        let out = match &destination.delivery {
            Delivery::Rename(path) => {
                let temp = temporary_beside(path).map_err(|e| destination.no_place(&e))?;
                Out::File(BufWriter::with_capacity(1 << 20, Unnamed(temp)), path.clone())
            }
            _ => Out::Stream(BufWriter::new(destination.stream()?)),
        };
        Ok(Sink { destination, out, failed: None })
    }

    /// What filling it came to: what failed first, here or there.
    ///
    /// # Errors
    /// A write that failed before, else what `result` says.
    pub fn filled(&mut self, result: Result<()>) -> Result<()> {
        match self.failed.take() {
            Some(failure) => Err(failure),
            None => result,
        }
    }

    /// Makes the file appear under its name.
    ///
    /// # Errors
    /// Errors of the file system, and of writes before.
    pub fn finish(mut self) -> Result<()> {
        let flushed = self.flush().map_err(Failure::from);
        self.filled(flushed)?;
        match self.out {
            Out::Stream(_) => Ok(()),
            Out::File(out, path) => {
                let file = out.into_inner().map_err(|e| Failure::at(&path, e.error()))?;
                replace(file.0, &path)
            }
        }
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|e| {
            if e.kind() != io::ErrorKind::Interrupted {
                let failure = self.destination.failed(e);
                self.failed.get_or_insert(failure);
            }
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.out {
            Out::Stream(out) => out.write(bytes),
            Out::File(out, _) => out.write(bytes),
        };
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.out {
            Out::Stream(out) => out.flush(),
            Out::File(out, _) => out.flush(),
        };
        self.note(flushed)
    }
}

/// Writes what is kept back for standard output: it is not said when the program ends.
///
/// # Errors
/// A full device.
pub fn flush_stdout() -> Result<()> {
    io::stdout().flush().map_err(|e| stdout_failed(&e))
}

/// Why standard output cannot be written.
pub fn stdout_failed(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Data(format!("standard output: {error}")),
    }
}

/// A file without a name, for what has to be known whole before it can be written or read.
///
/// # Errors
/// There is no directory for temporary files, or no room in it.
pub fn spool() -> Result<File> {
    tempfile::tempfile().map_err(|e| no_spool(&e))
}

/// A spool that has a name, for what opens files itself.
///
/// # Errors
/// As [`spool`].
pub fn spool_named() -> Result<NamedTempFile> {
    let file = tempfile::Builder::new().prefix(".blosc-").tempfile().map_err(|e| no_spool(&e))?;
    remember(file.path());
    Ok(file)
}

/// Why no temporary file can be made.
fn no_spool(error: &io::Error) -> Failure {
    let folder = std::env::temp_dir();
    let why = if folder.is_dir() { error.kind().to_string() } else { "there is no such directory".into() };
    Failure::Data(format!(
        "no temporary file can be made in {} (set TMPDIR to another): {why}",
        folder.display()
    ))
}

/// A file under a temporary name beside `path`; dropped, it leaves nothing behind.
fn temporary_beside(path: &Path) -> io::Result<NewFile> {
    let file = NewFile::create(path).map_err(blosc_frame::Error::from)?;
    remember(file.temporary());
    Ok(file)
}

/// Makes a temporary file appear as `path`.
fn replace(file: NewFile, path: &Path) -> Result<()> {
    keep_permissions(file.temporary(), path);
    file.finish().map_err(|e| failure(path)(e.into()))?;
    Ok(())
}

/// Gives `new` the permissions and, where we may, the owner of what it is about to replace.
fn keep_permissions(new: &Path, old: &Path) {
    if let Ok(old) = fs::metadata(old) {
        let _ = blosc_frame::io::keep_permissions(new, &old);
    }
}

/// Makes `new`, a directory or file in `temp`, appear in the place that `temp` was made for.
fn replace_dir(new: &Path, temp: NewDir) -> Result<()> {
    let path = temp.place().to_path_buf();
    // A signal waits until this is done: it would take what is put aside.
    let _temporary = temporary();
    temp.finish(new).map_err(|e| failure(&path)(e.into()))
}

/// A private directory beside `path`, to make something in.
fn temporary_dir(path: &Path) -> io::Result<NewDir> {
    let dir = NewDir::create(path).map_err(blosc_frame::Error::from)?;
    remember(dir.path());
    Ok(dir)
}

/// Says something about what was done, on standard error.
pub fn notice(text: impl std::fmt::Display) {
    eprintln!("blosc: {}", printable(&text.to_string()));
}

/// Prints a mistake, which is `status`, or a text that was asked for.
pub fn say(error: &clap::Error, status: u8) -> ExitCode {
    if error.use_stderr() {
        eprint!("{}", printable_lines(&error.render().to_string()));
        return ExitCode::from(status);
    }
    let printed = error.print().map_err(|e| stdout_failed(&e)).and_then(|()| flush_stdout());
    printed.map_or_else(
        |failure| {
            notice(&failure);
            ExitCode::from(failure.status())
        },
        |()| ExitCode::SUCCESS,
    )
}
