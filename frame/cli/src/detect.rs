//! Which kind of data a path holds, from its first bytes.
//!
//! ```text
//! directory with chunks.b2frame      sparse frame (an array if its metalayer says so)
//! directory with meta/ and data/     bcolz, or Blaze
//! 9e a8 "b2frame\0"                  frame (likewise)
//! "blpk"                             bloscpack
//! "{"                                Blaze: the manifest of a sharded dataset
//! anything else                      chunk
//! ```

use crate::args::Kind;
use crate::failure::Result;
use crate::source::plain::failure;
use blosc_frame::bcolz::{Flavour, flavour};
use blosc_frame::io::FsDir;
use std::path::Path;

/// The kind of the directory `path`.
pub fn directory(path: &Path) -> Result<Option<Kind>> {
    if path.join("chunks.b2frame").is_file() {
        return Ok(Some(Kind::Sframe));
    }
    let found = FsDir::open(path).map_err(blosc_frame::Error::from).and_then(|root| flavour(&root));
    Ok(found.map_err(failure(path))?.map(|flavour| match flavour {
        Flavour::Table | Flavour::Column => Kind::Bcolz,
        Flavour::Blaze => Kind::Blaze,
    }))
}

/// The kind of a file that starts with `head`.
pub fn file(head: &[u8]) -> Kind {
    if head.get(1..10) == Some(b"\xa8b2frame\0".as_slice()) {
        Kind::Frame
    } else if head.starts_with(b"blpk") {
        Kind::Bloscpack
    } else if head.starts_with(b"{") {
        Kind::Blaze
    } else {
        Kind::Chunk
    }
}

/// Whether a file that starts with `head` holds rows: a bloscpack file, or a manifest of shards.
pub fn is_rows(head: &[u8]) -> bool {
    matches!(file(head), Kind::Bloscpack | Kind::Blaze)
}
