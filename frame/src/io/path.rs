//! What a path names: the folder that it is in, the file that a link leads to, a file that stays the same while it is opened.

use crate::error::{IoError, IoKind};
use std::fs::{File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The path with a last component that is no symbolic link.
pub(super) fn follow_link(path: &Path) -> Result<PathBuf, IoError> {
    let path = std::path::absolute(path)?;
    match std::fs::symlink_metadata(&path) {
        Ok(there) if there.is_symlink() => Ok(std::fs::canonicalize(path)?),
        _ => Ok(path),
    }
}

/// The directory that `path` is in.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
pub(super) fn names(path: &Path, file: &File) -> std::io::Result<bool> {
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
pub(super) fn open_no_link(path: &Path, write: bool, mut between: impl FnMut()) -> Result<File, IoError> {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::io::ReadAt;
    use std::os::unix::fs::symlink;

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
}
