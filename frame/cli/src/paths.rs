//! What a path or a name is, before anything is opened.

use crate::failure::{Failure, Result};
use crate::printable::printable;
use std::path::{Path, PathBuf};

/// Store and key, where `path` is no path but names a leaf of a store, as `STORE:/KEY`; the store may be a URL.
pub fn leaf(path: &Path) -> Option<(PathBuf, String)> {
    let (store, key) = path.to_str()?.rsplit_once(":/")?;
    let store = PathBuf::from(store);
    let is_leaf = if is_url(path) { is_url(&store) } else { !path.exists() && store.exists() };
    is_leaf.then(|| (store, format!("/{key}")))
}

/// Whether `path` is a URL, such as `s3://BUCKET/KEY`, and no file has that name.
pub fn is_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://"));
    scheme.is_some_and(|(scheme, _)| scheme.bytes().all(|b| b.is_ascii_alphanumeric())) && !path.exists()
}

/// Whether `path` is a directory, or a URL that ends in a slash, which stands for one.
pub fn is_directory(path: &Path) -> bool {
    path.is_dir() || (is_url(path) && path.as_os_str().as_encoded_bytes().ends_with(b"/"))
}

/// The directory that `path` is in.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether `path` names no file or directory but standard input, a FIFO, a device.
///
/// # Errors
/// A path that is not there, and a URL: who reads those asks [`is_url`] first.
pub fn is_stream(path: &Path) -> Result<bool> {
    if is_url(path) {
        return Err(Failure::Usage(format!("{}: a URL is not taken here, only a file", path.display())));
    }
    if path == Path::new("-") {
        return Ok(true);
    }
    let kind = std::fs::metadata(path).map_err(Failure::io(path))?.file_type();
    Ok(!kind.is_file() && !kind.is_dir())
}

/// A member's name if it stays inside its directory on every system and says nothing to a terminal.
pub fn plain_name(name: &str) -> Option<&str> {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.contains(['\\', ':'])
            && printable(part) == part
            && !part.contains('\n')
    };
    name.split('/').all(plain).then_some(name)
}
