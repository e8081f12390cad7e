//! What a result may take the place of.

use crate::failure::{Failure, Result, failure};
use crate::paths::parent;
use blosc_frame::any::Kind;
use std::fs;
use std::path::Path;

/// What a result is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    File,
    Directory,
}

/// Refuses to put a result among the files of a container that is a directory, where it could take the place of one.
pub fn check_inside(name: &Path, path: &Path) -> Result<()> {
    let folder = fs::canonicalize(parent(path)).unwrap_or_default();
    // The files of a bcolz column lie one folder deeper.
    for folder in folder.ancestors().take(2).filter(|folder| folder.parent().is_some()) {
        if matches!(Kind::of_directory(folder), Ok(Kind::SparseFrame | Kind::Bcolz(_) | Kind::Blaze)) {
            let text = format!("{} is a container, in which only its own files lie", folder.display());
            return Err(Failure::Usage(format!("-o {}: {text}", name.display())));
        }
    }
    Ok(())
}

/// Refuses to replace what is at `path` by a result of this shape.
pub fn check_replace(name: &Path, path: &Path, force: bool, shape: Shape) -> Result<()> {
    let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
    let wrong = |what: &str| Err(Failure::at(name, what));
    match (meta.is_dir(), shape) {
        (true, Shape::File) => wrong("is a directory, and the result is a file"),
        (false, Shape::Directory) => wrong("is a file, and the result is a directory"),
        _ if !force => Err(Failure::Usage(format!("{} exists; --force replaces it", name.display()))),
        (true, Shape::Directory) if !is_replaceable(path).map_err(failure(name))? => {
            wrong("holds more than a container or arrays; it is not replaced")
        }
        _ => Ok(()),
    }
}

/// Whether a directory is a container, or holds nothing but arrays.
fn is_replaceable(path: &Path) -> std::result::Result<bool, blosc_frame::Error> {
    if let Kind::SparseFrame | Kind::Store | Kind::Bcolz(_) | Kind::Blaze = Kind::of_directory(path)? {
        return Ok(true);
    }
    for entry in fs::read_dir(path)? {
        let (entry, path) = entry.map(|entry| (entry.file_type(), entry.path()))?;
        let array = path.extension().is_some_and(|extension| extension == "b2nd");
        let kind = entry?;
        // A store in it would be more than an array.
        let fine = match kind.is_dir() {
            true if array => Kind::of_directory(&path)? == Kind::SparseFrame,
            true => {
                matches!(Kind::of_directory(&path)?, Kind::Arrays | Kind::Directory) && is_replaceable(&path)?
            }
            false => array && kind.is_file(),
        };
        if !fine {
            return Ok(false);
        }
    }
    Ok(true)
}
