//! Metalayers and vlmetalayers: small named pieces of data in header and trailer.
//!
//! Header metalayers are stored as given. Each vlmetalayer is a chunk of its own; it is decoded when asked for.

use super::meta::{Change, Meta, decode};
use super::superchunk::SuperChunk;
use crate::cframe::section;
use crate::error::Error;
use crate::limits::within;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Params;

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
