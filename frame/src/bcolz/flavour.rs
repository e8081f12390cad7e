//! Which of the directory layouts a root has (docs/formats/bcolz.md §7, detection order).

use super::tree::Tree;
use crate::error::{Error, Structure};

/// The layout of a root directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// A ctable: columns in directories of their own.
    Table,
    /// A carray: one column, a chunk per file.
    Column,
    /// The Blaze layout: super-chunks.
    Blaze,
}

/// Tells the layout of `root`; `None` for a directory that has none of them.
///
/// # Errors
/// [`Error::Unsupported`] for chunk files of both carray and Blaze in one directory.
pub fn flavour<T: Tree>(root: &T) -> Result<Option<Flavour>, Error> {
    let has = |dir: &T, name: &str| dir.open(name, false).is_ok();
    if has(root, "__rootdirs__") {
        return Ok(Some(Flavour::Table));
    }
    let (Ok(meta), data) = (root.enter("meta"), root.enter("data").ok()) else { return Ok(None) };
    let chunks = |name| data.as_ref().is_some_and(|data| has(data, name));
    let columns = || {
        data.as_ref().is_some_and(|d| d.list().is_ok_and(|names| names.iter().any(|n| d.enter(n).is_ok())))
    };
    match (chunks("__0.blp"), chunks("__1__.bin")) {
        (true, true) => {
            let what = "chunk files of bcolz and of Blaze in one directory";
            Err(Error::Unsupported { structure: Structure::Bcolz, what })
        }
        (true, false) => Ok(Some(Flavour::Column)),
        (false, true) => Ok(Some(Flavour::Blaze)),
        (false, false) if has(root, "__attrs__") && !has(&meta, "attributes") && !columns() => {
            Ok(Some(Flavour::Column))
        }
        (false, false) => Ok((has(&meta, "storage") || has(&meta, "sizes")).then_some(Flavour::Blaze)),
    }
}
