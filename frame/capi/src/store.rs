//! Files of frames as users of the C library expect them.
//!
//! ```text
//! InPlace     a frame is changed where it lies, nothing is flushed; several handles may have one frame
//! CallerFile  a file behind the functions of `blosc2_register_io_cb`, opened for each access
//! CallerDir   a sparse frame whose files are such files
//! ```

use crate::io::BackEnd;
use blosc_frame::io::{Directory, Fill, FsDir, Locking, PathFile, ReadAt, Refill, Store, WriteAt};
use blosc_frame::{Error, IoError, IoKind};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// A store whose commits overwrite the state before, without flushes.
pub struct InPlace<S>(pub S);

impl InPlace<PathFile> {
    /// A file to read and write, or to read where it may not be written or `write` is not set.
    pub fn open(path: &str, write: bool) -> Result<InPlace<PathFile>, IoError> {
        match PathFile::open_rw_with(path, Locking::None) {
            Ok(file) if write => Ok(InPlace(file)),
            _ => Ok(InPlace(PathFile::open(path)?)),
        }
    }

    /// A new file, or an old one that is emptied.
    pub fn create(path: &str) -> Result<InPlace<PathFile>, IoError> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        Ok(InPlace(PathFile::open_rw_with(path, Locking::None)?))
    }
}

impl<S: ReadAt> ReadAt for InPlace<S> {
    fn size(&self) -> Result<u64, IoError> {
        self.0.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        self.0.read_at(offset, buf)
    }
}

impl<S: WriteAt> WriteAt for InPlace<S> {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        self.0.write_at(offset, data)
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        self.0.truncate(len)
    }
    fn sync(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

impl<S: Store> Store for InPlace<S> {
    fn replace(&mut self, fill: &mut Fill<'_>) -> Result<(), Error> {
        self.rewrite(&mut |_, new| fill(new))
    }
    fn rewrite(&mut self, fill: &mut Refill<'_>) -> Result<(), Error> {
        let mut new = Vec::new();
        fill(&self.0, &mut new)?;
        self.0.write_at(0, &new)?;
        Ok(self.0.truncate(new.len() as u64)?)
    }
    fn is_shared(&self) -> bool {
        false
    }
    fn is_current(&self) -> Result<bool, IoError> {
        self.0.is_current()
    }
    fn follow(&mut self) -> Result<(), IoError> {
        self.0.follow()
    }
}

impl InPlace<FsDir> {
    /// A directory to read and write.
    pub fn open_dir(path: &str) -> Result<InPlace<FsDir>, IoError> {
        Ok(InPlace(FsDir::open_rw_with(path, Locking::None)?))
    }
}

impl<D: Directory> Directory for InPlace<D> {
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Ok(Box::new(InPlace(self.0.open(name, write)?)))
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Ok(Box::new(InPlace(self.0.create(name)?)))
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        self.0.rename(from, to)
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        self.0.remove(name)
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        self.0.list()
    }
    fn sync(&self) -> Result<(), IoError> {
        Ok(())
    }
    fn is_current(&self) -> Result<bool, IoError> {
        self.0.is_current()
    }
}

/// Makes room for a sparse frame at `path`: a new directory, or an old one whose frame is removed.
pub fn empty_dir(path: &str) -> Result<(), IoError> {
    if let Err(error) = fs::create_dir(path)
        && !Path::new(path).is_dir()
    {
        return Err(error.into());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == "chunks.b2frame" || name.ends_with(".chunk") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// A file that the caller's functions read and write. C-Blosc2 opens and closes it around each access, and so do we.
pub struct CallerFile {
    pub path: PathBuf,
    pub back_end: BackEnd,
}

impl CallerFile {
    /// Creates the file, or empties it.
    pub fn create(path: PathBuf, back_end: BackEnd) -> Result<CallerFile, IoError> {
        back_end.open(&path, c"wb")?;
        Ok(CallerFile { path, back_end })
    }
}

impl ReadAt for CallerFile {
    fn size(&self) -> Result<u64, IoError> {
        self.back_end.open(&self.path, c"rb")?.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let stream = self.back_end.open(&self.path, c"rb")?;
        let rest = stream.size()?.saturating_sub(offset);
        let n = usize::try_from(rest).unwrap_or(usize::MAX).min(buf.len());
        stream.read(offset, buf.get_mut(..n).unwrap_or(&mut []))?;
        Ok(n)
    }
}

impl WriteAt for CallerFile {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        self.back_end.open(&self.path, c"rb+")?.write(offset, data)
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        self.back_end.open(&self.path, c"rb+")?.truncate(len)
    }
    fn sync(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

impl Store for CallerFile {
    /// [`InPlace`] replaces what is in the file.
    fn replace(&mut self, _: &mut Fill<'_>) -> Result<(), Error> {
        Err(Error::NotAtomic { why: "the file is behind functions that cannot rename it" })
    }
}

/// The files of a sparse frame behind the caller's functions; names are those of the file system.
pub struct CallerDir {
    pub path: PathBuf,
    pub back_end: BackEnd,
}

impl Directory for CallerDir {
    fn open(&self, name: &str, _write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        let path = self.path.join(name);
        // The caller's function need not tell that there is no such file.
        if !path.exists() {
            return Err(IoKind::NotFound.into());
        }
        Ok(Box::new(CallerFile { path, back_end: self.back_end }))
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Ok(Box::new(CallerFile::create(self.path.join(name), self.back_end)?))
    }
    fn rename(&self, _: &str, _: &str) -> Result<(), IoError> {
        Err(IoKind::Other.into())
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        Ok(fs::remove_file(self.path.join(name))?)
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        let names = fs::read_dir(&self.path)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.collect())
    }
    fn sync(&self) -> Result<(), IoError> {
        Ok(())
    }
    /// The file is emptied and filled: the interface has no function that renames.
    fn replace(&self, name: &str, fill: &mut Fill<'_>) -> Result<(), Error> {
        let mut new = Vec::new();
        fill(&mut new)?;
        let mut file = CallerFile::create(self.path.join(name), self.back_end)?;
        file.write_at(0, &new)?;
        Ok(file.truncate(new.len() as u64)?)
    }
}
