//! Metalayers and vlmetalayers: small named pieces of data in header and trailer.
//!
//! Header metalayers are stored as given. Each vlmetalayer is a chunk of its own; it is decoded when asked for.

use super::SuperChunk;
use super::commit::Change;
use crate::cframe::header::FIXED_LEN;
use crate::cframe::section::{self, Entry, Section};
use crate::cframe::{CHECKSUMS_NAME, Opened};
use crate::error::{Error, Structure};
use crate::limits::within;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Chunk, Params, Pool};

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

/// Sets or adds an entry.
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
        let (asked, most) = (list.len().saturating_add(1) as u64, most as u64);
        let what = match most == section::MAX_WRITTEN as u64 {
            true => "metalayers",
            false => "metalayers beside the table of checksums",
        };
        return Err(Error::Capacity { what, asked, most });
    }
    list.push(Meta { name: name.as_bytes().to_vec(), content });
    Ok(Change::Length)
}

impl SuperChunk<'_> {
    /// The names of the metalayers, in their order.
    pub fn metalayer_names(&self) -> impl Iterator<Item = String> + '_ {
        names(&self.metalayers.header)
    }

    /// The content of a metalayer.
    pub fn metalayer(&self, name: &str) -> Option<&[u8]> {
        find(&self.metalayers.header, name).map(|meta| &*meta.content)
    }

    /// Adds or changes a metalayer. Where the header's length changes, the next commit rewrites the
    /// whole frame; add metalayers first.
    ///
    /// # Errors
    /// A 17th metalayer, a name above 31 bytes or with NUL, content of 1 GiB or more or above [`Limits::metalayer`].
    ///
    /// [`Limits::metalayer`]: crate::Limits::metalayer
    pub fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<(), Error> {
        within("bytes of a metalayer", content.len() as u64, self.limits.metalayer)?;
        let change = put(&mut self.metalayers.header, name, content.to_vec(), section::MAX_WRITTEN)?;
        self.pending.metalayers = self.pending.metalayers.max(change);
        Ok(())
    }

    /// Removes a metalayer; tells whether it was there.
    pub fn remove_metalayer(&mut self, name: &str) -> bool {
        let Some(at) = position(&self.metalayers.header, name) else { return false };
        self.metalayers.header.remove(at);
        self.pending.metalayers = Change::Length;
        true
    }

    /// The names of the vlmetalayers, in their order; the checksum table is not among them.
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = String> + '_ {
        names(&self.metalayers.trailer)
    }

    /// The decoded content of a vlmetalayer.
    ///
    /// # Errors
    /// [`Error::Chunk`] for a content that does not decode, [`Error::Limit`].
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(meta) = find(&self.metalayers.trailer, name) else { return Ok(None) };
        let limits = self.limits.chunk.output(self.limits.metalayer);
        self.reading(|_, pool, _| decode(pool, &meta.content, &limits)).map(Some)
    }

    /// What is wrong with each vlmetalayer that does not decode, whatever its name.
    pub(crate) fn bad_vlmetalayers(&self) -> Vec<Error> {
        let limits = self.limits.chunk.output(self.limits.metalayer);
        let contents = self.metalayers.trailer.iter().map(|meta| &meta.content);
        self.reading(|_, pool, _| {
            contents.filter_map(|content| decode(pool, content, &limits).err()).collect()
        })
    }

    /// The content of a vlmetalayer as it is stored: a chunk.
    pub fn vlmetalayer_chunk(&self, name: &str) -> Option<&[u8]> {
        find(&self.metalayers.trailer, name).map(|meta| &*meta.content)
    }

    /// Adds or changes a vlmetalayer.
    ///
    /// # Errors
    /// A 17th vlmetalayer, or a 16th where one is the table of checksums (see
    /// [`set_checksums`](SuperChunk::set_checksums)); a name above 31 bytes or with NUL, content of 1 GiB or more or
    /// above [`Limits::metalayer`].
    ///
    /// [`Limits::metalayer`]: crate::Limits::metalayer
    pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<(), Error> {
        section::check_entry(name, content)?;
        within("bytes of a metalayer", content.len() as u64, self.limits.metalayer)?;
        let most = section::MAX_WRITTEN.saturating_sub(usize::from(self.checksums()));
        let chunk =
            self.tools.own().0.compress(&Params::new(1).no_filter(), content).map_err(Error::Codec)?;
        put(&mut self.metalayers.trailer, name, chunk, most)?;
        self.pending.frame = true;
        Ok(())
    }

    /// Removes a vlmetalayer; tells whether it was there.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> bool {
        let Some(at) = position(&self.metalayers.trailer, name) else { return false };
        self.metalayers.trailer.remove(at);
        self.pending.frame = true;
        true
    }
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
