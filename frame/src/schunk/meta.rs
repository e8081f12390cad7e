//! [`Metalayers`] of a frame as they are stored, and how those of the header have changed.

use crate::cframe::header::FIXED_LEN;
use crate::cframe::section::{self, Entry, Section};
use crate::cframe::{CHECKSUMS_NAME, Opened};
use crate::error::{Error, Structure};
use crate::limits::within;
use alloc::vec::Vec;
use blosc_core::{Chunk, Pool};

/// How the header's metalayers differ from those on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    No,
    /// In content, each as long as it was.
    Content,
    /// In length: everything behind the header would move.
    Length,
}

/// A name and its content as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) name: Vec<u8>,
    pub(crate) content: Vec<u8>,
}

/// The metalayers of a header and of its trailer. The table of checksums is not among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Metalayers {
    pub(super) header: Vec<Meta>,
    pub(super) trailer: Vec<Meta>,
    /// The bytes 57..H of the header on disk, which may be in another order than ours; none before the first commit.
    pub(super) stored: Vec<u8>,
}

impl Metalayers {
    /// The metalayers of a frame just opened, and its table of checksums.
    pub(super) fn opened(opened: &Opened) -> Result<(Metalayers, Option<&[u8]>), Error> {
        let (header, mut trailer) = (list(&opened.metalayers()?), list(&opened.vlmetalayers()?));
        let at = trailer.iter().position(|entry| entry.name == CHECKSUMS_NAME.as_bytes());
        let table = at.map(|at| trailer.remove(at).content);
        let stored = opened.head.get(FIXED_LEN..).unwrap_or(&[]).to_vec();
        let copy = |e: &Entry<'_>| Meta { name: e.name.to_vec(), content: e.content.to_vec() };
        let copied = |list: Vec<Entry<'_>>| list.iter().map(copy).collect();
        Ok((Metalayers { header: copied(header), trailer: copied(trailer), stored }, table))
    }

    /// The bytes 57..H of the next header; `change` says in what it differs from the one on disk.
    pub(super) fn section(&self, change: Change) -> Result<Vec<u8>, Error> {
        if !self.stored.is_empty() && change == Change::No {
            return Ok(self.stored.clone());
        }
        section::encode(Structure::Metalayers, self.header.iter().map(Meta::pair))
    }
}

impl Meta {
    pub(super) fn pair(&self) -> (&[u8], &[u8]) {
        (&self.name, &self.content)
    }
}

/// The entries of a section; of several with the same name only the first counts.
fn list<'o>(section: &Section<'o>) -> Vec<Entry<'o>> {
    let mut list: Vec<Entry<'o>> = Vec::with_capacity(section.len());
    for entry in section.iter() {
        if list.iter().all(|before| before.name != entry.name) {
            list.push(entry);
        }
    }
    list
}

/// Decodes a vlmetalayer's content: exactly one chunk.
pub(super) fn decode(pool: &mut Pool, content: &[u8], limits: &blosc_core::Limits) -> Result<Vec<u8>, Error> {
    let in_chunk = Error::in_chunk(None, 0);
    let chunk = Chunk::parse_with(content, limits).map_err(in_chunk)?;
    let (field, len) = ("content (longer than its chunk)", content.len());
    if chunk.bytes().len() != len {
        return Err(Error::invalid(Structure::VlMetalayers, field, 0, len as i64));
    }
    within("bytes of a metalayer", chunk.nbytes() as u64, limits.output)?;
    pool.decompress(&chunk).map_err(in_chunk)
}
