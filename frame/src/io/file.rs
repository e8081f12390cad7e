//! Files of the operating system. Positioned reads and writes, no shared cursor.

use super::lock::{Claim, Locking, Sidecar};
use super::new_file::{NewFile, sweep, sync_directory};
use super::path::{follow_link, names, parent};
use super::traits::{Fill, Part, ReadAt, Refill, Store, WriteAt};
use crate::error::{Error, FileError, IoError, IoKind};
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
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        if parts.len() > 1 {
            parts.iter().for_each(|(offset, buf)| will_need(self, *offset, buf.len()));
        }
        parts.iter_mut().try_for_each(|(offset, buf)| self.read_exact_at(*offset, buf))
    }
}

/// Tells the system that these bytes are about to be read. It is advice only, so it does not matter whether it is taken.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn will_need(file: &File, offset: u64, len: usize) {
    let _ = rustix::fs::fadvise(
        file,
        offset,
        core::num::NonZeroU64::new(len as u64),
        rustix::fs::Advice::WillNeed,
    );
}
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn will_need(_: &File, _: u64, _: usize) {}

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

/// A file known by its path: replaced as [`NewFile`] says. Opened for writing, it is locked meanwhile.
#[derive(Debug)]
pub struct PathFile {
    path: PathBuf,
    file: File,
    writable: bool,
    /// Whether the file's name may still be lost in a power failure.
    new: bool,
    claim: Option<Claim>,
}

/// Does something with the file at `path`, which an error names.
fn at<T>(path: &Path, work: impl FnOnce() -> Result<T, IoError>) -> Result<T, FileError> {
    work().map_err(|error| FileError { path: path.to_path_buf(), error: error.into() })
}

impl PathFile {
    /// Opens an existing file for reading only. It waits for no lock.
    ///
    /// # Errors
    /// Errors of the file system, with the path.
    pub fn open(path: impl AsRef<Path>) -> Result<PathFile, FileError> {
        at(path.as_ref(), || {
            let path = std::path::absolute(&path)?;
            Ok(PathFile { file: File::open(&path)?, path, writable: false, new: false, claim: None })
        })
    }
    /// Opens an existing file for reading and writing, and keeps other writers out until it is dropped. Where the
    /// path is a symbolic link, what it leads to is replaced, not the link.
    ///
    /// It waits while another process holds the lock.
    ///
    /// # Errors
    /// [`IoKind::Locked`] where this process has the file open for writing already: it would wait for itself.
    /// [`IoKind::NoLocks`] where the file system knows none. Those of the file system. They name the path.
    pub fn open_rw(path: impl AsRef<Path>) -> Result<PathFile, FileError> {
        PathFile::open_rw_with(path, Locking::System)
    }
    /// As [`PathFile::open_rw`], with another way to keep other writers out, or none.
    ///
    /// # Errors
    /// Errors of the file system, also where it knows no locks.
    pub fn open_rw_with(path: impl AsRef<Path>, locking: Locking) -> Result<PathFile, FileError> {
        let given = path.as_ref();
        at(given, || {
            let path = follow_link(given)?;
            let open = || OpenOptions::new().read(true).write(true).open(&path);
            let (file, claim) = match locking {
                Locking::None => (open()?, None),
                _ => {
                    let sidecar = Sidecar::of(given, locking)?;
                    let (file, claim) = Claim::take(&path, sidecar, open)?;
                    let _ = sweep(&path);
                    (file, Some(claim))
                }
            };
            Ok(PathFile { file, path, writable: true, new: false, claim })
        })
    }
    /// Creates a new file; fails if there is one. It is locked as by [`PathFile::open_rw`], where the file system knows
    /// locks.
    ///
    /// # Errors
    /// Errors of the file system, with the path.
    pub fn create_new(path: impl AsRef<Path>) -> Result<PathFile, FileError> {
        let path = path.as_ref();
        at(path, || Ok(OpenOptions::new().write(true).create_new(true).open(path).map(drop)?))?;
        let opened = PathFile::open_rw(path).or_else(|error| match error.error {
            // No other process can have opened it yet.
            Error::Io(IoError { kind: IoKind::NoLocks, .. }) => PathFile::open_rw_with(path, Locking::None),
            _ => Err(error),
        });
        let file = opened.inspect_err(|_| {
            let _ = std::fs::remove_file(path);
        })?;
        Ok(PathFile { new: true, ..file })
    }
    /// Creates a file, or empties the one that is there once no other writer holds it. It is locked as by
    /// [`PathFile::open_rw`].
    ///
    /// ```
    /// use blosc_core::Params;
    /// use blosc_frame::{SuperChunk, io::PathFile};
    /// # let folder = std::env::temp_dir().join(format!("blosc-create-{}", std::process::id()));
    /// # std::fs::create_dir(&folder)?;
    /// # let path = folder.join("x.b2frame");
    /// for value in 0..2 {
    ///     let mut frame = SuperChunk::create(PathFile::create(&path)?, &Params::new(8))?;
    ///     frame.append(&[value; 800])?;
    ///     frame.commit()?;
    /// }
    /// # let frame = SuperChunk::open_read(PathFile::open(&path)?, &blosc_frame::Limits::DEFAULT)?;
    /// # assert_eq!((frame.nbytes(), std::fs::read_dir(&folder)?.count()), (800, 1));
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of the file system, with the path.
    pub fn create(path: impl AsRef<Path>) -> Result<PathFile, FileError> {
        let path = path.as_ref();
        match PathFile::create_new(path) {
            Err(FileError { error: Error::Io(IoError { kind: IoKind::AlreadyExists, .. }), .. }) => {
                let mut file = PathFile::open_rw(path)?;
                at(path, || file.truncate(0))?;
                Ok(file)
            }
            done => done,
        }
    }
    /// The path it was opened by, made absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The open handle.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl ReadAt for PathFile {
    super::traits::forward_read!(this => &this.file);
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
            sync_directory(parent(&self.path))?;
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
        let mut new = NewFile::beside(self.path.clone())?;
        fill(&self.file, new.file()?)?;
        let (file, folder) = new.rename()?;
        self.file = file;
        // The new file is in force from here on, whatever fails.
        match &mut self.claim {
            Some(claim) => claim.pass_on(&self.file, &self.path).map_err(IoError::not_confirmed)?,
            // No other writer is to be kept out; where the system knows no locks, there is none to let go of.
            None => drop(self.file.unlock()),
        }
        Ok(folder.confirm()?)
    }
    fn is_current(&self) -> Result<bool, IoError> {
        Ok(names(&self.path, &self.file)?)
    }
    fn follow(&mut self) -> Result<(), IoError> {
        if !self.is_current()? {
            let open = || OpenOptions::new().read(true).write(self.writable).open(&self.path);
            self.file = match self.claim.take() {
                None => open()?,
                Some(claim) => {
                    let (file, claim) = Claim::take(&self.path, claim.sidecar, open)?;
                    self.claim = Some(claim);
                    file
                }
            };
        }
        Ok(())
    }
}
