//! Files that appear only when complete: written under a temporary name, then renamed.

use crate::args::Output;
use crate::failure::{Failure, Result};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// A destination being written. Dropped before [`finish`](Sink::finish), it leaves nothing behind.
pub enum Sink {
    /// Standard output.
    Stdout(BufWriter<io::Stdout>),
    /// A file under a temporary name beside its place.
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Sink {
    /// Opens the destination; refuses to replace a file unless `--force` was given.
    pub fn create(output: &Output) -> Result<Sink> {
        let path = output.output.as_path();
        if path == Path::new("-") {
            return Ok(Sink::Stdout(BufWriter::new(io::stdout())));
        }
        let file = temporary(output)?;
        Ok(Sink::File(BufWriter::with_capacity(1 << 20, file), path.to_path_buf()))
    }

    /// Makes the file appear under its name.
    pub fn finish(self) -> Result<()> {
        match self {
            Sink::Stdout(mut out) => Ok(out.flush()?),
            Sink::File(out, path) => {
                let file = out.into_inner().map_err(|e| Failure::at(&path, e.error()))?;
                replace(file, &path)
            }
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout(out) => out.write(bytes),
            Sink::File(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.flush(),
            Sink::File(out, _) => out.flush(),
        }
    }
}

/// A file beside the output's place, to be renamed when it is complete.
pub fn temporary(output: &Output) -> Result<NamedTempFile> {
    check_free(output)?;
    temporary_beside(&output.output)
}

/// A file under a temporary name beside `path`; dropped, it leaves nothing behind.
pub fn temporary_beside(path: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(".blosc-").permissions_like_new_files();
    builder.tempfile_in(parent(path)).map_err(|e| no_place(path, &e))
}

/// Makes a temporary file appear as `path`.
pub fn replace(file: NamedTempFile, path: &Path) -> Result<()> {
    file.persist(path).map_err(|e| Failure::at(path, e.error))?;
    Ok(())
}

/// Makes `new`, a directory or file in `temp`, appear as `path`. A directory that is there is put aside first, and
/// back if that fails.
pub fn replace_dir(new: &Path, path: &Path, temp: &TempDir) -> Result<()> {
    let old = temp.path().join("old");
    let aside = path.is_dir();
    if aside {
        fs::rename(path, &old).map_err(|e| Failure::at(path, e))?;
    }
    fs::rename(new, path).map_err(|e| {
        if aside {
            let _ = fs::rename(&old, path);
        }
        Failure::at(path, e)
    })
}

/// A private directory beside `path`, to make something in.
pub fn temporary_dir(path: &Path) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".blosc-").tempdir_in(parent(path)).map_err(|e| no_place(path, &e))
}

/// Why nothing can be made beside `path`.
fn no_place(path: &Path, error: &io::Error) -> Failure {
    match parent(path) {
        folder if folder.is_dir() => Failure::at(path, error),
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

/// Temporary files are private; a result should have the permissions any new file gets.
trait NewFilePermissions {
    fn permissions_like_new_files(&mut self) -> &mut Self;
}

impl NewFilePermissions for tempfile::Builder<'_, '_> {
    #[cfg(unix)]
    fn permissions_like_new_files(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        self.permissions(fs::Permissions::from_mode(0o666))
    }

    #[cfg(not(unix))]
    fn permissions_like_new_files(&mut self) -> &mut Self {
        self
    }
}
