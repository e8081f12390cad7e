//! Files and directories of the operating system. Positioned reads and writes, no shared cursor.

use super::{Directory, Fill, ReadAt, Refill, Store, WriteAt, check_name};
use crate::error::{Error, IoError, IoKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
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

/// Whether both are of the same file.
#[cfg(unix)]
fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}
/// Elsewhere stable `std` does not tell, and an open file is not replaced so easily.
#[cfg(not(unix))]
fn same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Whether `path` names the open file.
fn names(path: &Path, file: &File) -> std::io::Result<bool> {
    if !cfg!(unix) {
        return Ok(true);
    }
    match std::fs::metadata(path) {
        Ok(there) => Ok(same_file(&there, &file.metadata()?)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Opens the file that `path` names, which is no symbolic link. `between` is for tests: what others do meanwhile.
fn open_no_link(path: &Path, write: bool, mut between: impl FnMut()) -> Result<File, IoError> {
    // A name may come to stand for another file between looking and opening: a writer replaced the file, or somebody
    // put a link there. Only a file that was seen under its name is handed out.
    for _ in 0..100 {
        let seen = std::fs::symlink_metadata(path)?;
        if seen.is_symlink() {
            return Err(IoKind::PermissionDenied.into());
        }
        if !seen.is_file() {
            return Err(IoKind::NotFound.into());
        }
        between();
        let file = OpenOptions::new().read(true).write(write).open(path)?;
        if same_file(&seen, &file.metadata()?) {
            return Ok(file);
        }
    }
    Err(IoKind::PermissionDenied.into())
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
        Ok(Box::new(open_no_link(&self.join(name)?, write, || ())?))
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
    fn copy_permissions(&self, from: &str, to: &str) -> Result<(), IoError> {
        match open_no_link(&self.join(from)?, false, || ()) {
            Ok(from) => {
                let to = open_no_link(&self.join(to)?, true, || ())?;
                Ok(to.set_permissions(from.metadata()?.permissions())?)
            }
            Err(e) if e.kind == IoKind::NotFound => Ok(()),
            Err(e) => Err(e),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::vec::Vec;

    /// A new directory, and one file beside it that must not be reached from inside.
    fn place(name: &str) -> (PathBuf, PathBuf) {
        let path = std::env::temp_dir().join(alloc::format!("blosc-frame-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("in")).unwrap();
        std::fs::write(path.join("outside"), b"outside").unwrap();
        (path.join("in"), path.join("outside"))
    }

    #[test]
    fn a_link_put_in_the_place_of_a_file_while_it_is_opened_is_not_followed() {
        let (dir, outside) = place("link");
        let file = dir.join("file");
        std::fs::write(&file, b"inside").unwrap();
        let swap = || {
            std::fs::remove_file(&file).unwrap();
            symlink(&outside, &file).unwrap();
        };
        let error = open_no_link(&file, true, swap).map(drop).unwrap_err();
        assert_eq!(error.kind, IoKind::PermissionDenied);
        // A swap to and fro, so that each look sees a file and each opening the link.
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, b"inside").unwrap();
        let error = open_no_link(&file, false, || {
            let _ = std::fs::rename(&file, dir.join("kept"));
            symlink(&outside, &file).unwrap();
        });
        assert_eq!(error.map(drop).unwrap_err().kind, IoKind::PermissionDenied);
        std::fs::remove_dir_all(dir.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_file_that_a_writer_replaces_while_it_is_opened_opens_all_the_same() {
        let (dir, _) = place("replaced");
        let file = dir.join("file");
        std::fs::write(&file, b"old").unwrap();
        let mut left = 3;
        let opened = open_no_link(&file, false, || {
            if left > 0 {
                left -= 1;
                std::fs::write(dir.join("new"), b"new").unwrap();
                std::fs::rename(dir.join("new"), &file).unwrap();
            }
        });
        let mut content = [0; 3];
        opened.unwrap().read_exact_at(0, &mut content).unwrap();
        assert_eq!(&content, b"new");
        std::fs::remove_dir_all(dir.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        let (path, _) = place("mode");
        let dir = FsDir::open(&path).unwrap();
        let mode = |name: &str| std::fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o7777;
        for wanted in [0o600, 0o664, 0o640] {
            std::fs::write(path.join("index"), b"old").unwrap();
            std::fs::set_permissions(path.join("index"), std::fs::Permissions::from_mode(wanted)).unwrap();
            let mut seen = Vec::new();
            dir.replace("index", &mut |file| {
                // Before anything is in it.
                seen.extend(dir.list()?.iter().filter(|name| *name != "index").map(|name| mode(name)));
                Ok(file.write_at(0, b"new")?)
            })
            .unwrap();
            assert_eq!((mode("index"), seen), (wanted, Vec::from([wanted])));
            assert_eq!(std::fs::read(path.join("index")).unwrap(), b"new");
        }
        // A new one is like any new file.
        std::fs::write(path.join("plain"), b"").unwrap();
        dir.replace("fresh", &mut |file| Ok(file.write_at(0, b"new")?)).unwrap();
        assert_eq!(mode("fresh"), mode("plain"));
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
