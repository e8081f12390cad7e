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

/// The entry called `name`, or else the first that [`names`] shows as `name`.
fn position(list: &[Meta], name: &str) -> Option<usize> {
    list.iter()
        .position(|meta| meta.name == name.as_bytes())
        .or_else(|| list.iter().position(|meta| String::from_utf8_lossy(&meta.name) == name))
}

fn find<'m>(list: &'m [Meta], name: &str) -> Option<&'m Meta> {
    list.get(position(list, name)?)
}

/// Other writers' names need not be UTF-8; what is not is shown as U+FFFD.
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
        return Err(Error::Capacity { what: "metalayers", asked, most: most as u64 });
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
        let Some(at) = position(&self.metalayers, name) else { return false };
        self.metalayers.remove(at);
        self.metalayers_changed = Change::Length;
        true
    }

    /// The names of the vlmetalayers, in their order; the checksum table is not among them.
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = String> + '_ {
        names(&self.vlmetalayers)
    }

    /// The decoded content of a vlmetalayer.
    pub fn vlmetalayer(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(meta) = find(&self.vlmetalayers, name) else { return Ok(None) };
        let limits = self.limits.chunk.output(self.limits.metalayer);
        decode(&mut self.pool, &meta.content, &limits).map(Some)
    }

    /// What is wrong with each vlmetalayer that does not decode, whatever its name.
    pub(crate) fn bad_vlmetalayers(&mut self) -> Vec<Error> {
        let limits = self.limits.chunk.output(self.limits.metalayer);
        let contents = self.vlmetalayers.iter().map(|meta| &meta.content);
        contents.filter_map(|content| decode(&mut self.pool, content, &limits).err()).collect()
    }

    /// The content of a vlmetalayer as it is stored: a chunk.
    pub fn vlmetalayer_chunk(&self, name: &str) -> Option<&[u8]> {
        find(&self.vlmetalayers, name).map(|meta| &*meta.content)
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
        let Some(at) = position(&self.vlmetalayers, name) else { return false };
        self.vlmetalayers.remove(at);
        self.dirty = true;
        true
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    /// Swaps the last letter of a name for a byte that is not UTF-8.
    fn spoil(frame: &mut [u8], name: &[u8]) {
        let at = frame.windows(name.len()).position(|w| w == name).unwrap();
        frame[at + name.len() - 1] = 0xff;
    }

    #[test]
    fn names_that_are_not_utf8_are_found_as_they_are_shown() {
        let mut sc = SuperChunk::memory(&Params::new(1));
        sc.set_checksums(false);
        sc.set_metalayer("mm", b"1").unwrap();
        sc.set_vlmetalayer("vv", b"2").unwrap();
        let mut frame = sc.into_bytes().unwrap();
        spoil(&mut frame, b"mm");
        spoil(&mut frame, b"vv");
        let mut sc = SuperChunk::from_bytes(frame, &Limits::DEFAULT).unwrap();
        let (m, v) = (sc.metalayer_names().next().unwrap(), sc.vlmetalayer_names().next().unwrap());
        assert_eq!((&*m, &*v), ("m\u{fffd}", "v\u{fffd}"));
        assert_eq!(sc.metalayer(&m), Some(&b"1"[..]));
        assert_eq!(sc.vlmetalayer(&v), Ok(Some(b"2".to_vec())));
        assert!(sc.bad_vlmetalayers().is_empty());
        sc.vlmetalayers[0].content.truncate(3);
        assert_eq!(sc.bad_vlmetalayers().len(), 1);
        assert!(sc.remove_metalayer(&m) && sc.remove_vlmetalayer(&v));
        assert_eq!(sc.metalayer_names().count() + sc.vlmetalayer_names().count(), 0);
    }
}
