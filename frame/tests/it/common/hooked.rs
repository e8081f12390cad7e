//! [`Hooked`]: a directory in memory that tells of reads and may refuse writes.

use blosc_frame::IoError;
use blosc_frame::io::{Directory, MemDir, ReadAt, WriteAt};
use std::ops::Range;
use std::sync::Arc;

/// What is done at each read and write of a file.
pub trait Hooks {
    /// These bytes of the file were read.
    fn read(&self, name: &str, bytes: Range<u64>) {
        let _ = (name, bytes);
    }
    /// The file is about to be written, with `len` bytes; an error keeps it from that.
    fn write(&self, len: usize) -> Result<(), IoError> {
        let _ = len;
        Ok(())
    }
}

/// A directory in memory, with hooks.
pub struct Hooked<H> {
    dir: MemDir,
    pub hooks: Arc<H>,
}

impl<H> Clone for Hooked<H> {
    fn clone(&self) -> Hooked<H> {
        Hooked { dir: self.dir.clone(), hooks: self.hooks.clone() }
    }
}

struct HookedFile<H> {
    file: Box<dyn WriteAt + Send + Sync>,
    name: String,
    hooks: Arc<H>,
}

impl<H: Hooks + Send + Sync + 'static> Hooked<H> {
    pub fn new(hooks: H) -> Hooked<H> {
        Hooked { dir: MemDir::new(), hooks: Arc::new(hooks) }
    }

    fn file(
        &self,
        name: &str,
        file: Box<dyn WriteAt + Send + Sync>,
    ) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Ok(Box::new(HookedFile { file, name: name.into(), hooks: self.hooks.clone() }))
    }
}

impl<H: Hooks + Send + Sync + 'static> Directory for Hooked<H> {
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        self.file(name, self.dir.open(name, write)?)
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        self.file(name, self.dir.create(name)?)
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        self.dir.rename(from, to)
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        self.dir.remove(name)
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        self.dir.list()
    }
    fn sync(&self) -> Result<(), IoError> {
        self.dir.sync()
    }
}

impl<H: Hooks> ReadAt for HookedFile<H> {
    fn size(&self) -> Result<u64, IoError> {
        self.file.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let n = self.file.read_at(offset, buf)?;
        self.hooks.read(&self.name, offset..offset + n as u64);
        Ok(n)
    }
}

impl<H: Hooks> WriteAt for HookedFile<H> {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        self.hooks.write(data.len())?;
        self.file.write_at(offset, data)
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        self.file.truncate(len)
    }
    fn sync(&mut self) -> Result<(), IoError> {
        self.file.sync()
    }
}
