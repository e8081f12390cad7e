//! Which kind of data a path holds, from its first bytes.
//!
//! ```text
//! directory with chunks.b2frame      sparse frame (an array if its metalayer says so)
//! directory with meta/ and data/     bcolz, or Blaze
//! 9e a8 "b2frame\0"                  frame (likewise)
//! "blpk"                             bloscpack
//! anything else                      chunk
//! ```

use crate::args::Kind;
use std::path::Path;

/// The kind of the directory `path`.
pub fn directory(path: &Path) -> Option<Kind> {
    if path.join("chunks.b2frame").is_file() {
        Some(Kind::Sframe)
    } else if path.join("meta").is_dir() && is_blaze(path) {
        Some(Kind::Blaze)
    } else if path.join("meta").is_dir() || path.join("__rootdirs__").is_file() {
        Some(Kind::Bcolz)
    } else {
        None
    }
}

fn is_blaze(path: &Path) -> bool {
    blosc_frame::io::FsDir::open(path).is_ok_and(|root| blosc_frame::blaze::is_blaze(&root))
}

/// The kind of a file that starts with `head`.
pub fn file(head: &[u8]) -> Kind {
    if head.get(1..10) == Some(b"\xa8b2frame\0".as_slice()) {
        Kind::Frame
    } else if head.starts_with(b"blpk") {
        Kind::Bloscpack
    } else {
        Kind::Chunk
    }
}
