//! Stores in memory: `Vec<u8>`, `Bytes`, and a directory of vectors.

use super::traits::{Fill, ReadAt, Refill, Store, WriteAt, forward_read};
use crate::error::{Error, IoError, IoKind};
use alloc::vec::Vec;

impl ReadAt for Vec<u8> {
    forward_read!(this => &this[..]);
}

impl WriteAt for Vec<u8> {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        let start = usize::try_from(offset).map_err(|_| IoKind::OutOfMemory)?;
        let end = start.checked_add(data.len()).ok_or(IoKind::OutOfMemory)?;
        if end > self.len() {
            self.try_reserve(end.saturating_sub(self.len())).map_err(|_| IoKind::OutOfMemory)?;
            self.resize(end, 0);
        }
        self.get_mut(start..end).ok_or(IoKind::OutOfMemory)?.copy_from_slice(data);
        Ok(())
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        let len = usize::try_from(len).map_err(|_| IoKind::OutOfMemory)?;
        self.try_reserve(len.saturating_sub(self.len())).map_err(|_| IoKind::OutOfMemory)?;
        self.resize(len, 0);
        Ok(())
    }
    fn sync(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

impl Store for Vec<u8> {
    fn replace(&mut self, fill: &mut Fill<'_>) -> Result<(), Error> {
        self.rewrite(&mut |_, new| fill(new))
    }
    fn rewrite(&mut self, fill: &mut Refill<'_>) -> Result<(), Error> {
        let mut new = Vec::new();
        fill(&*self, &mut new)?;
        *self = new;
        Ok(())
    }
    fn is_shared(&self) -> bool {
        false
    }
}

impl ReadAt for bytes::Bytes {
    forward_read!(this => &this[..]);
}

#[cfg(feature = "std")]
pub use dir::MemDir;

#[cfg(feature = "std")]
mod dir {
    use super::*;
    use crate::io::dir::{Directory, check_name};
    use alloc::boxed::Box;
    use alloc::collections::BTreeMap;
    use alloc::string::String;
    use std::sync::{Arc, Mutex, PoisonError};

    type Shared = Arc<Mutex<Vec<u8>>>;

    /// A directory in memory. Clones share the files; handles stay valid after a rename or removal,
    /// as they do on POSIX systems.
    #[derive(Clone, Debug, Default)]
    pub struct MemDir {
        files: Arc<Mutex<BTreeMap<String, Shared>>>,
    }

    impl MemDir {
        /// An empty directory.
        pub fn new() -> MemDir {
            MemDir::default()
        }
        /// The content of one file.
        pub fn get(&self, name: &str) -> Option<Vec<u8>> {
            let file = lock(&self.files).get(name).cloned()?;
            let content = lock(&file).clone();
            Some(content)
        }
        /// Creates or replaces one file.
        pub fn put(&self, name: &str, content: Vec<u8>) {
            lock(&self.files).insert(name.into(), Arc::new(Mutex::new(content)));
        }
    }

    /// Poisoning cannot leave the plain bytes inside in a bad state.
    fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    struct MemFile(Shared);

    impl ReadAt for MemFile {
        fn size(&self) -> Result<u64, IoError> {
            lock(&self.0).size()
        }
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
            lock(&self.0).read_at(offset, buf)
        }
    }

    impl WriteAt for MemFile {
        fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
            lock(&self.0).write_at(offset, data)
        }
        fn truncate(&mut self, len: u64) -> Result<(), IoError> {
            WriteAt::truncate(&mut *lock(&self.0), len)
        }
        fn sync(&mut self) -> Result<(), IoError> {
            Ok(())
        }
    }

    impl Directory for MemDir {
        fn open(&self, name: &str, _write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
            check_name(name)?;
            let file = lock(&self.files).get(name).cloned().ok_or(IoKind::NotFound)?;
            Ok(Box::new(MemFile(file)))
        }
        fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
            check_name(name)?;
            let mut files = lock(&self.files);
            if files.contains_key(name) {
                return Err(IoKind::AlreadyExists.into());
            }
            let file = Shared::default();
            files.insert(name.into(), file.clone());
            Ok(Box::new(MemFile(file)))
        }
        fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
            check_name(from)?;
            check_name(to)?;
            let mut files = lock(&self.files);
            let file = files.remove(from).ok_or(IoKind::NotFound)?;
            files.insert(to.into(), file);
            Ok(())
        }
        fn remove(&self, name: &str) -> Result<(), IoError> {
            check_name(name)?;
            lock(&self.files).remove(name).map(drop).ok_or(IoKind::NotFound.into())
        }
        fn list(&self) -> Result<Vec<String>, IoError> {
            Ok(lock(&self.files).keys().cloned().collect())
        }
        fn sync(&self) -> Result<(), IoError> {
            Ok(())
        }
    }
}
