//! Files that appear only when complete, as [`NewFile`] and [`NewDir`] say. Temporary ones go when they are dropped, or
//! when Ctrl-C, a hangup or a request to terminate ends the program; what SIGKILL leaves, the next command removes.

use crate::args::Output;
use crate::failure::{Failure, Result};
use blosc_frame::IoError;
use blosc_frame::io::{NewDir, NewFile, sync_directory, sync_tree};
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A destination being written. Dropped before [`finish`](Sink::finish), it leaves nothing behind.
pub struct Sink {
    place: Place,
    /// The first write that failed. Whoever hands decoded bytes over takes it for a failure of what it reads.
    failed: Option<Failure>,
}

enum Place {
    Stdout(BufWriter<io::Stdout>),
    /// A file under a temporary name beside its place.
    File(BufWriter<Unnamed>, PathBuf),
}

/// A temporary file whose errors do not speak of its name: nobody knows that.
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
    /// Opens the destination; refuses to replace a file unless `--force` was given.
    pub fn create(output: &Output) -> Result<Sink> {
        let path = output.output.as_path();
        let place = if path == Path::new("-") {
            Place::Stdout(BufWriter::new(io::stdout()))
        } else {
            let file = BufWriter::with_capacity(1 << 20, Unnamed(temporary(output)?));
            Place::File(file, path.to_path_buf())
        };
        Ok(Sink { place, failed: None })
    }

    /// What filling it came to: what failed first, here or there.
    pub fn filled(&mut self, result: Result<()>) -> Result<()> {
        match self.failed.take() {
            Some(failure) => Err(failure),
            None => result,
        }
    }

    /// Makes the file appear under its name.
    pub fn finish(mut self) -> Result<()> {
        let flushed = self.flush().map_err(Failure::from);
        self.filled(flushed)?;
        match self.place {
            Place::Stdout(_) => Ok(()),
            Place::File(out, path) => {
                let file = out.into_inner().map_err(|e| Failure::at(&path, e.error()))?;
                replace(file.0)
            }
        }
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|e| {
            if e.kind() != io::ErrorKind::Interrupted {
                let failure = match &self.place {
                    Place::Stdout(_) => stdout_failed(e),
                    Place::File(_, path) => Failure::at(path, e),
                };
                self.failed.get_or_insert(failure);
            }
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.place {
            Place::Stdout(out) => out.write(bytes),
            Place::File(out, _) => out.write(bytes),
        };
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.place {
            Place::Stdout(out) => out.flush(),
            Place::File(out, _) => out.flush(),
        };
        self.note(flushed)
    }
}

/// Why standard output cannot be written.
pub fn stdout_failed(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Data(format!("standard output: {error}")),
    }
}

/// What to remove when a signal ends the program: temporary files and directories, and files whose names begin so.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static BEGINNINGS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Ends the program when a signal asks for it, without leaving temporary files.
pub fn clean_up_on_signals() {
    // Where that cannot be had, a signal ends the program all the same. Signals that are ignored from the start, as by
    // `nohup` and of jobs in the background, stay so; then the others do not clean up either.
    let _ = ctrlc::try_set_handler(|| {
        // Held to the end, so that nothing half removed is renamed into place.
        let temporary = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &*temporary {
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        }
        for beginning in &*BEGINNINGS.lock().unwrap_or_else(PoisonError::into_inner) {
            remove_beginning(beginning);
        }
        std::process::exit(130);
    });
}

fn remove_beginning(path: &Path) {
    let Some(name) = path.file_name().map(|name| name.as_encoded_bytes()) else { return };
    for entry in fs::read_dir(parent(path)).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(name) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn remember(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
}

/// Remembers what the library calls the files by which it replaces `path`.
pub fn remember_replacing(path: &Path) {
    // A link is not replaced, but what it leads to.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if let Some(name) = path.file_name() {
        let mut start = OsString::from(".");
        start.push(name);
        start.push(format!(".tmp{}-", std::process::id()));
        BEGINNINGS.lock().unwrap_or_else(PoisonError::into_inner).push(path.with_file_name(start));
    }
}

/// A file beside the output's place, to be renamed when it is complete.
pub fn temporary(output: &Output) -> Result<NewFile> {
    check_free(output)?;
    temporary_beside(&output.output)
}

/// A file under a temporary name beside `path`; dropped, it leaves nothing behind.
pub fn temporary_beside(path: &Path) -> Result<NewFile> {
    let file = NewFile::create(path).map_err(|e| no_place(path, e))?;
    remember(file.temporary());
    Ok(file)
}

/// Makes a temporary file appear in its place.
pub fn replace(file: NewFile) -> Result<()> {
    let path = file.path().to_path_buf();
    file.finish().map_err(|e| Failure::at(&path, e))?;
    Ok(())
}

/// Makes `new`, a directory or file in `temp`, appear in the place that `temp` was made for. A directory that is there
/// changes places with it in one step. Where the system cannot do that, it is put aside first: the next command puts it
/// back if this one does not come to the second step.
pub fn replace_dir(new: &Path, temp: NewDir) -> Result<()> {
    let path = &temp.place().to_path_buf();
    let failed = |e: io::Error| Failure::at(path, e);
    // A signal waits until this is done: it would take what is put aside.
    let mut temporary = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    sync_tree(new).map_err(|e| Failure::at(path, e))?;
    if !path.is_dir() {
        fs::rename(new, path).map_err(failed)?;
    } else if exchange(new, path).is_err() {
        let old = temp.path().join(blosc_frame::io::OLD);
        fs::rename(path, &old).map_err(failed)?;
        if let Err(error) = fs::rename(new, path) {
            let Err(why) = fs::rename(&old, path) else { return Err(failed(error)) };
            temporary.retain(|path| path != temp.path());
            let kept = temp.keep().join(blosc_frame::io::OLD);
            let kept = format!("what was there cannot be put back ({why}) and is {}", kept.display());
            return Err(Failure::at(path, format_args!("{error}; {kept}")));
        }
    }
    sync_directory(parent(path)).map_err(|e| Failure::at(path, e))
}

/// Has two directories change places.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Other systems cannot.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A private directory beside `path`, to make something in.
pub fn temporary_dir(path: &Path) -> Result<NewDir> {
    let dir = NewDir::create(path).map_err(|e| no_place(path, e))?;
    remember(dir.path());
    Ok(dir)
}

/// Why nothing can be made beside `path`.
fn no_place(path: &Path, error: IoError) -> Failure {
    match parent(path) {
        // Without the temporary name that the error speaks of.
        folder if folder.is_dir() => {
            Failure::at(path, format_args!("nothing can be written in {}: {error}", folder.display()))
        }
        folder => Failure::at(path, format_args!("there is no directory {}", folder.display())),
    }
}

/// The directory that `path` is in.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses an output that exists, unless `--force` was given.
pub fn check_free(output: &Output) -> Result<()> {
    if !output.force && fs::symlink_metadata(&output.output).is_ok() {
        return Err(Failure::Usage(format!("{} exists; --force replaces it", output.output.display())));
    }
    Ok(())
}
