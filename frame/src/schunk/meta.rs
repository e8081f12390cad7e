//! Metalayers and vlmetalayers: small named pieces of data in header and trailer.
//!
//! Header metalayers are stored as given. Each vlmetalayer is a chunk of its own; it is decoded when asked for.

use super::{Change, SuperChunk};
use crate::cframe::section::{self, Section};
use crate::error::{Error, IoKind};
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Chunk, Params};

/// A name and its content as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) name: Vec<u8>,
    pub(crate) content: Vec<u8>,
}

/// The entries of a section; of several with the same name only the first counts.
pub(super) fn list(section: &Section<'_>) -> Vec<Meta> {
    let mut list: Vec<Meta> = Vec::with_capacity(section.len());
    for entry in section.iter() {
        if list.iter().all(|meta| meta.name != entry.name) {
            list.push(Meta { name: entry.name.to_vec(), content: entry.content.to_vec() });
        }
    }
    list
}

/// The pairs that [`section::encode`] takes.
pub(super) fn pairs(list: &[Meta]) -> impl Iterator<Item = (&[u8], &[u8])> + Clone {
    list.iter().map(|meta| (&*meta.name, &*meta.content))
}

fn find<'m>(list: &'m [Meta], name: &str) -> Option<&'m Meta> {
    list.iter().find(|meta| meta.name == name.as_bytes())
}

fn names(list: &[Meta]) -> impl Iterator<Item = String> + '_ {
    list.iter().map(|meta| String::from_utf8_lossy(&meta.name).into_owned())
}

/// Sets or adds an entry; `most` bounds how many there may be.
fn put(list: &mut Vec<Meta>, name: &str, content: Vec<u8>, most: usize) -> Result<Change, Error> {
    section::check_entry(name, &content)?;
    if let Some(meta) = list.iter_mut().find(|meta| meta.name == name.as_bytes()) {
        let change = match () {
            () if meta.content == content => Change::No,
            () if meta.content.len() == content.len() => Change::Content,
            () => Change::Length,
        };
        meta.content = content;
        return Ok(change);
    }
    if list.len() >= most {
        let asked = list.len().saturating_add(1) as u64;
        return Err(Error::Limit { what: "metalayers", asked, limit: most as u64 });
    }
    list.push(Meta { name: name.as_bytes().to_vec(), content });
    Ok(Change::Length)
}

impl SuperChunk<'_> {
    /// The names of the metalayers, in their order.
    pub fn metalayer_names(&self) -> impl Iterator<Item = String> + '_ {
        names(&self.metalayers)
    }

    /// The content of a metalayer.
    pub fn metalayer(&self, name: &str) -> Option<&[u8]> {
        find(&self.metalayers, name).map(|meta| &*meta.content)
    }

    /// Adds or changes a metalayer. Where the header's length changes, the next commit rewrites the
    /// whole frame; add metalayers first.
    ///
    /// # Errors
    /// A 17th metalayer, a name above 31 bytes or with NUL, content of 1 GiB or more.
    pub fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<(), Error> {
        let change = put(&mut self.metalayers, name, content.to_vec(), section::MAX_WRITTEN)?;
        self.metalayers_changed = self.metalayers_changed.max(change);
        Ok(())
    }

    /// Removes a metalayer; tells whether it was there.
    pub fn remove_metalayer(&mut self, name: &str) -> bool {
        let before = self.metalayers.len();
        self.metalayers.retain(|meta| meta.name != name.as_bytes());
        let removed = self.metalayers.len() != before;
        if removed {
            self.metalayers_changed = Change::Length;
        }
        removed
    }

    /// The names of the vlmetalayers, in their order; the checksum table is not among them.
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = String> + '_ {
        names(&self.vlmetalayers)
    }

    /// The decoded content of a vlmetalayer.
    pub fn vlmetalayer(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(meta) = find(&self.vlmetalayers, name) else { return Ok(None) };
        let limits = blosc_core::Limits { output: self.limits.metalayer, ..self.limits.chunk };
        decode(&mut self.pool, &meta.content, &limits).map(Some)
    }

    /// Adds or changes a vlmetalayer.
    ///
    /// # Errors
    /// A 17th vlmetalayer, a name above 31 bytes or with NUL, content of 1 GiB or more.
    pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<(), Error> {
        section::check_entry(name, content)?;
        let chunk = self.pool.compress(&Params::new(1).no_filter(), content).map_err(Error::Codec)?;
        put(&mut self.vlmetalayers, name, chunk, section::MAX_WRITTEN)?;
        self.dirty = true;
        Ok(())
    }

    /// Removes a vlmetalayer; tells whether it was there.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> bool {
        let before = self.vlmetalayers.len();
        self.vlmetalayers.retain(|meta| meta.name != name.as_bytes());
        let removed = self.vlmetalayers.len() != before;
        self.dirty |= removed;
        removed
    }
}

/// Decodes a vlmetalayer's content: exactly one chunk.
pub(super) fn decode(
    pool: &mut blosc_core::Pool,
    content: &[u8],
    limits: &blosc_core::Limits,
) -> Result<Vec<u8>, Error> {
    let in_chunk = |error| Error::Chunk { chunk: None, offset: 0, error };
    let chunk = Chunk::parse_with(content, limits).map_err(in_chunk)?;
    if chunk.bytes().len() != content.len() {
        return Err(Error::Invalid {
            structure: crate::error::Structure::VlMetalayers,
            field: "content (longer than its chunk)",
            offset: 0,
            value: content.len() as i64,
        });
    }
    if chunk.nbytes() as u64 > limits.output {
        return Err(IoKind::NoSpace.into());
    }
    pool.decompress(&chunk).map_err(in_chunk)
}
