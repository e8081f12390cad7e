//! Files and directories of the operating system. Positioned reads and writes, no shared cursor.

use super::{Directory, Fill, ReadAt, Refill, Store, WriteAt, check_name};
use crate::error::{Error, IoError, IoKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[cfg(unix)]
fn read_some(file: &File, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}
#[cfg(unix)]
fn write_some(file: &File, data: &[u8], offset: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, data, offset)
}
#[cfg(windows)]
fn read_some(file: &File, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}
#[cfg(windows)]
fn write_some(file: &File, data: &[u8], offset: u64) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, data, offset)
}
/// WASI and others have no positioned calls in stable `std`: seek a second handle's cursor.
#[cfg(not(any(unix, windows)))]
fn read_some(mut file: &File, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read(buf)
}
#[cfg(not(any(unix, windows)))]
fn write_some(mut file: &File, data: &[u8], offset: u64) -> std::io::Result<usize> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(offset))?;
    file.write(data)
}

impl ReadAt for File {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.metadata()?.len())
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        loop {
            match read_some(self, buf, offset) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                result => return Ok(result?),
            }
        }
    }
}

impl WriteAt for File {
    fn write_at(&mut self, mut offset: u64, mut data: &[u8]) -> Result<(), IoError> {
        while !data.is_empty() {
            match write_some(self, data, offset) {
                Ok(0) => return Err(IoKind::NoSpace.into()),
                Ok(n) => {
                    data = data.get(n..).ok_or(IoKind::Other)?;
                    offset = offset.checked_add(n as u64).ok_or(IoKind::NoSpace)?;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        Ok(self.set_len(len)?)
    }
    fn sync(&mut self) -> Result<(), IoError> {
        Ok(self.sync_data()?)
    }
}

impl Store for File {
    /// A bare handle has no name to rename over.
    fn replace(&mut self, _: &mut Fill<'_>) -> Result<(), Error> {
        Err(Error::NotAtomic { why: "a bare file handle cannot be replaced; open the frame by its path" })
    }
}

/// Whether `path` names the open file.
#[cfg(unix)]
fn names(path: &Path, file: &File) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let here = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (here.dev(), here.ino())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}
/// Elsewhere stable `std` does not tell, and an open file is not replaced so easily.
#[cfg(not(unix))]
fn names(_: &Path, _: &File) -> std::io::Result<bool> {
    Ok(true)
}

fn sync_directory(path: &Path) -> Result<(), IoError> {
    // Only POSIX systems can flush a directory; Windows orders renames by itself.
    if cfg!(unix) {
        File::open(path)?.sync_all()?;
    }
    Ok(())
}

/// A file known by its path: replaced by temporary file, flush, rename and directory flush.
#[derive(Debug)]
pub struct PathFile {
    path: PathBuf,
    file: File,
    writable: bool,
    /// Whether the file's name may still be lost in a power failure.
    new: bool,
}

impl PathFile {
    /// Opens an existing file for reading only.
    pub fn open(path: impl Into<PathBuf>) -> Result<PathFile, IoError> {
        let path = std::path::absolute(path.into())?;
        Ok(PathFile { file: File::open(&path)?, path, writable: false, new: false })
    }
    /// Opens an existing file for reading and writing. Where the path is a symbolic link, what it leads to is
    /// replaced, not the link.
    pub fn open_rw(path: impl Into<PathBuf>) -> Result<PathFile, IoError> {
        let mut path = std::path::absolute(path.into())?;
        if std::fs::symlink_metadata(&path)?.is_symlink() {
            path = std::fs::canonicalize(path)?;
        }
        Ok(PathFile {
            file: OpenOptions::new().read(true).write(true).open(&path)?,
            path,
            writable: true,
            new: false,
        })
    }
    /// Creates a new file; fails if there is one.
    pub fn create_new(path: impl Into<PathBuf>) -> Result<PathFile, IoError> {
        let path = std::path::absolute(path.into())?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        Ok(PathFile { file, path, writable: true, new: true })
    }
    /// The path it was opened by, made absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The open handle.
    pub fn file(&self) -> &File {
        &self.file
    }
    fn parent(&self) -> &Path {
        match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }
    fn create_temp(&self) -> Result<(PathBuf, File), IoError> {
        let name = self.path.file_name().ok_or(IoKind::Name)?;
        for number in 0..10_000u32 {
            let mut temp = OsString::from(".");
            temp.push(name);
            temp.push(alloc::format!(".tmp{}-{number}", std::process::id()));
            let temp = self.parent().join(temp);
            match OpenOptions::new().read(true).write(true).create_new(true).open(&temp) {
                Ok(file) => return Ok((temp, file)),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e.into()),
            }
        }
        Err(IoKind::AlreadyExists.into())
    }
}

impl ReadAt for PathFile {
    fn size(&self) -> Result<u64, IoError> {
        self.file.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        ReadAt::read_at(&self.file, offset, buf)
    }
}

impl WriteAt for PathFile {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        if !self.writable {
            return Err(IoKind::ReadOnly.into());
        }
        WriteAt::write_at(&mut self.file, offset, data)
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        if !self.writable {
            return Err(IoKind::ReadOnly.into());
        }
        self.file.truncate(len)
    }
    fn sync(&mut self) -> Result<(), IoError> {
        self.file.sync()?;
        if self.new {
            sync_directory(self.parent())?;
            self.new = false;
        }
        Ok(())
    }
}

impl Store for PathFile {
    fn replace(&mut self, fill: &mut Fill<'_>) -> Result<(), Error> {
        self.rewrite(&mut |_, new| fill(new))
    }
    fn rewrite(&mut self, fill: &mut Refill<'_>) -> Result<(), Error> {
        if !self.writable {
            return Err(IoKind::ReadOnly.into());
        }
        let (temp, mut file) = self.create_temp()?;
        let done = (|| {
            // Before there is anything in it that not everybody may read.
            file.set_permissions(self.file.metadata()?.permissions())?;
            fill(&self.file, &mut file)?;
            file.sync_all()?;
            Ok(std::fs::rename(&temp, &self.path)?)
        })();
        done.inspect_err(|_: &Error| {
            let _ = std::fs::remove_file(&temp);
        })?;
        self.file = file;
        Ok(sync_directory(self.parent())?)
    }
    fn is_current(&self) -> Result<bool, IoError> {
        Ok(names(&self.path, &self.file)?)
    }
    fn follow(&mut self) -> Result<(), IoError> {
        if !self.is_current()? {
            self.file = OpenOptions::new().read(true).write(self.writable).open(&self.path)?;
        }
        Ok(())
    }
}

/// A directory of the file system.
#[derive(Clone, Debug)]
pub struct FsDir {
    path: PathBuf,
}

impl FsDir {
    /// Opens an existing directory.
    pub fn open(path: impl Into<PathBuf>) -> Result<FsDir, IoError> {
        let path = path.into();
        if std::fs::metadata(&path)?.is_dir() { Ok(FsDir { path }) } else { Err(IoKind::NotFound.into()) }
    }
    /// Creates a new directory; fails if there is anything of that name.
    pub fn create(path: impl Into<PathBuf>) -> Result<FsDir, IoError> {
        let path = path.into();
        std::fs::create_dir(&path)?;
        Ok(FsDir { path })
    }
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
    fn join(&self, name: &str) -> Result<PathBuf, IoError> {
        check_name(name)?;
        Ok(self.path.join(name))
    }
    /// Opens a directory inside this one.
    pub fn subdirectory(&self, name: &str) -> Result<FsDir, IoError> {
        let path = self.join(name)?;
        if std::fs::symlink_metadata(&path)?.is_dir() {
            Ok(FsDir { path })
        } else {
            Err(IoKind::NotFound.into())
        }
    }
    /// Creates a directory inside this one.
    pub fn create_subdirectory(&self, name: &str) -> Result<FsDir, IoError> {
        FsDir::create(self.join(name)?)
    }
}

impl Directory for FsDir {
    /// Symbolic links are refused: they could lead outside the directory.
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        let path = self.join(name)?;
        let kind = std::fs::symlink_metadata(&path)?.file_type();
        if kind.is_symlink() {
            return Err(IoKind::PermissionDenied.into());
        }
        if !kind.is_file() {
            return Err(IoKind::NotFound.into());
        }
        Ok(Box::new(OpenOptions::new().read(true).write(write).open(path)?))
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Ok(Box::new(OpenOptions::new().read(true).write(true).create_new(true).open(self.join(name)?)?))
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        Ok(std::fs::rename(self.join(from)?, self.join(to)?)?)
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        Ok(std::fs::remove_file(self.join(name)?)?)
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }
    fn sync(&self) -> Result<(), IoError> {
        sync_directory(&self.path)
    }
}
