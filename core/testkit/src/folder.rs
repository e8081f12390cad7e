//! A temporary folder of a test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A new folder, removed with all it holds when this value goes, also when its test fails.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A folder that no other test and no other process uses; `name` only helps people to recognise it.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn new(name: &str) -> Folder {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("blosc-{name}-{process}-{number}"));
        let _ = std::fs::remove_dir_all(&path); // of an earlier process of this number
        std::fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Folder(path)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// The path of `name` in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file into it.
    ///
    /// # Panics
    /// If that fails.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// The bytes of a file in it.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names in it, sorted.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("a readable folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::Folder;

    #[test]
    fn it_is_new_and_goes() {
        let (a, b) = (Folder::new("kit"), Folder::new("kit"));
        a.write("x", b"y");
        assert_eq!((a.read("x"), a.names(), b.names()), (b"y".to_vec(), vec!["x".to_string()], Vec::new()));
        let path = a.root().to_owned();
        drop(a);
        assert!(!path.exists());
    }
}
