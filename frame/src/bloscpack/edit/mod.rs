//! Changing a file: append, replace and remove bytes, resize, new metadata (docs/formats/bloscpack.md §4.1, §7).
//!
//! ```text
//! content changes from byte c on, to length N:
//!   a = first chunk touched, b = first chunk behind the change that stays where it is
//!   a ≥ old nchunks, table entries whole in one unit → in place:
//!       new chunks behind the last one → flush → header → flush → table entries → flush
//!   otherwise → new file beside the old one: chunks 0..a copied, a..b encoded, b.. copied → rename
//! ```
//! At every instant the file opens as the old or the new one. In place that is so because bytes behind the
//! last chunk are ignored, the header is one write inside one 512-byte unit, and −1 in the table means
//! "walk". The stored bytes of chunks that do not change are kept, their checksums verified on the way.
//! New metadata that must go with the data (the shape of an array) makes it a new file always.
//!
//! This module plans a change; `write.rs` carries it out.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod write;

pub use self::write::Edit;
use self::write::{NewFile, copy, encode_part, put_chunk};
use super::header::{Header, Layout};
use super::metadata::{self, MetaOptions};
use super::numpy::Numpy;
use super::reader::Bloscpack;
use super::writer::widen;
use crate::error::Error;
use crate::io::{ReadAt, Store, WriteAt};
use crate::limits::within;
use crate::plain::{Content, Piece, Plain};
use crate::value::Value;
use alloc::vec;
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

/// The unit a disk writes whole or not at all.
const UNIT: u64 = 512;

impl<S: Store> Bloscpack<S> {
    /// Adds `data` at the end; the last chunk is filled up first.
    ///
    /// # Errors
    /// [`Error::Capacity`] when the offsets table has no room for the new chunks; a wrong checksum of the last
    /// chunk; errors of the store. The file is then as it was.
    pub fn append(&mut self, pool: &mut Pool, edit: &Edit, data: &dyn ReadAt) -> Result<(), Error> {
        let len = self.nbytes();
        self.splice(pool, edit, len..len, vec![Piece::New(data, 0..data.size()?)])
    }

    /// Overwrites decoded bytes from `at` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] beyond the end, and as [`Bloscpack::append`].
    pub fn set(&mut self, pool: &mut Pool, edit: &Edit, at: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let n = data.size()?;
        self.splice(pool, edit, at..at.saturating_add(n), vec![Piece::New(data, 0..n)])
    }

    /// Removes decoded bytes; everything behind them moves up.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] beyond the end, and as [`Bloscpack::append`].
    pub fn remove(&mut self, pool: &mut Pool, edit: &Edit, range: Range<u64>) -> Result<(), Error> {
        self.splice(pool, edit, range, Vec::new())
    }

    /// Cuts off the end, or adds `fill` repeated, until there are `len` decoded bytes.
    ///
    /// # Errors
    /// As [`Bloscpack::append`].
    pub fn resize(&mut self, pool: &mut Pool, edit: &Edit, len: u64, fill: &[u8]) -> Result<(), Error> {
        let old = self.nbytes();
        let pieces = match len.checked_sub(old) {
            Some(more) if more > 0 => vec![Piece::Fill(fill, more)],
            _ => Vec::new(),
        };
        self.splice(pool, edit, len.min(old)..old, pieces)
    }

    /// Replaces decoded bytes `range` by `pieces`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a range beyond the end, and as [`Bloscpack::append`].
    pub fn splice(
        &mut self,
        pool: &mut Pool,
        edit: &Edit,
        range: Range<u64>,
        pieces: Vec<Piece<'_>>,
    ) -> Result<(), Error> {
        self.splice_with(pool, edit, range, pieces, None)
    }

    /// As [`Bloscpack::splice`], with new metadata in the same step. The section gets more room if it needs
    /// more than was reserved.
    ///
    /// # Errors
    /// As [`Bloscpack::splice`]; [`Error::Param`] for metadata of a file that has none.
    pub fn splice_with(
        &mut self,
        pool: &mut Pool,
        edit: &Edit,
        range: Range<u64>,
        pieces: Vec<Piece<'_>>,
        metadata: Option<&Value>,
    ) -> Result<(), Error> {
        self.splice_array(pool, edit, range, pieces, metadata, None)
    }

    /// As [`Bloscpack::splice_with`] for the array `fortran`, whose items are stored in Fortran order: `range` and
    /// `pieces` are bytes of the items in C order, and that is how all of them are stored afterwards.
    pub(super) fn splice_array(
        &mut self,
        pool: &mut Pool,
        edit: &Edit,
        range: Range<u64>,
        pieces: Vec<Piece<'_>>,
        metadata: Option<&Value>,
        fortran: Option<&Numpy>,
    ) -> Result<(), Error> {
        let content = Content::splice(self.nbytes(), range, pieces)?;
        if content.changed().is_empty() && metadata.is_none() {
            return Ok(());
        }
        self.check_unchanged()?;
        self.require_uniform()?;
        let mut plan = self.plan(edit, &content)?;
        if let Some(array) = fortran {
            plan.encode = 0..plan.nchunks;
            plan.fortran = Some(array.clone());
        }
        if let Some(value) = metadata {
            plan.section = Some(self.moved_section(&mut plan.header, value)?);
        }
        let done = match self.fits_in_place(&plan) {
            true => self.append_in_place(pool, edit, &content, &plan),
            false => self.rewrite(pool, edit, &content, &plan),
        };
        self.reopen_after(done)
    }

    /// An error if another writer was here since this handle last read or wrote the file.
    pub(super) fn check_unchanged(&self) -> Result<(), Error> {
        let current = self.source.is_current()? && self.source.size()? == self.size;
        let mut head = [0u8; 40];
        let n = usize::try_from(self.size).unwrap_or(usize::MAX).min(head.len());
        let head = head.get_mut(..n).unwrap_or_default();
        if current {
            self.source.read_exact_at(0, head)?;
            let found = Header::detect(head, Some(self.size))?;
            if (found.nchunks, found.last_chunk) == (self.header.nchunks, self.header.last_chunk) {
                return Ok(());
            }
        }
        Err(Error::Changed { what: "the file; open it again, then edit" })
    }

    /// Whether only new chunks are added, and every write of the switch lies in one unit.
    fn fits_in_place(&self, plan: &NewFile) -> bool {
        let old = self.nchunks();
        let growing = plan.encode.start >= old && plan.nchunks > old && self.nbytes() > 0;
        let same_table = plan.header.table_len() == self.header.table_len();
        let known = self.header.nchunks.is_some();
        let whole = !plan.header.offsets
            || (self.index.from_table
                && plan.encode.clone().all(|i| {
                    let at = self.table.saturating_add(i.saturating_mul(8));
                    at.checked_rem(UNIT).is_some_and(|at| at <= UNIT.saturating_sub(8))
                }));
        growing && same_table && known && whole && plan.section.is_none()
    }

    /// The metadata of a file that is written anew, so that its room can change.
    fn moved_section(&self, header: &mut Header, value: &Value) -> Result<Vec<u8>, Error> {
        match (self.meta_header, header.layout) {
            (Some(meta), _) => {
                let (checksum, codec) = (meta.checksum, meta.codec);
                let options = MetaOptions { checksum, codec, ..MetaOptions::default() };
                metadata::rebuild(&meta, value, &options).or_else(|_| Ok(metadata::build(value, &options)?.1))
            }
            (None, Layout::Mono) => {
                let text = value.to_json().into_bytes();
                let (asked, limit) = (text.len() as u64, i32::MAX as u64);
                let too_long = Error::Capacity { what: "bytes of metadata", asked, most: limit };
                header.meta_size =
                    u32::try_from(asked).ok().filter(|&n| u64::from(n) <= limit).ok_or(too_long)?;
                Ok(text)
            }
            (None, _) => {
                Err(Error::Param { name: "metadata", value: 0, allowed: "only in files that have some" })
            }
        }
    }

    /// Says whether [`Bloscpack::set_metadata`] would be refused, without changing anything.
    ///
    /// # Errors
    /// As [`Bloscpack::set_metadata`].
    pub fn check_metadata(&self, value: &Value, options: &MetaOptions) -> Result<(), Error> {
        self.new_section(value, options).map(drop)
    }

    fn new_section(&self, value: &Value, options: &MetaOptions) -> Result<Vec<u8>, Error> {
        let refuse = |allowed| Err(Error::Param { name: "metadata", value: 0, allowed });
        let Some(meta) = self.meta_header else {
            return refuse("only v3 files that have metadata can get new metadata");
        };
        if self.metadata.as_ref() == Some(value) {
            return refuse("something else than what is there");
        }
        if *value == Value::Null {
            return refuse("anything but null");
        }
        metadata::rebuild(&meta, value, options)
    }

    /// Replaces the metadata of a v3 file in place.
    ///
    /// # Errors
    /// [`Error::Param`] when there is no section or nothing would change, [`Error::Capacity`] when the new text
    /// does not fit into the room that was reserved. The file is then as it was.
    pub fn set_metadata(&mut self, value: &Value, options: &MetaOptions) -> Result<(), Error> {
        self.check_unchanged()?;
        let section = self.new_section(value, options)?;
        let start = self.header.layout.header_len() as u64;
        let end = start.saturating_add(section.len() as u64);
        let size = self.size;
        let replaced = match end <= UNIT {
            true => Err(Error::NotAtomic { why: "it need not be" }),
            false => self.source.rewrite(&mut |old, new| {
                copy(old, 0..start, new, 0)?;
                new.write_at(start, &section)?;
                copy(old, end..size, new, end)
            }),
        };
        let done = match replaced {
            // In one unit, or in a store without rename: the section has a checksum, and the data is not touched.
            Err(Error::NotAtomic { .. }) => {
                self.source.write_at(start, &section)?;
                self.source.sync().map_err(|error| error.not_confirmed().into())
            }
            other => other,
        };
        self.reopen_after(done)
    }
}

impl<S: WriteAt> Bloscpack<S> {
    /// Takes over the state that a change has put in force, if it has.
    fn reopen_after(&mut self, done: Result<(), Error>) -> Result<(), Error> {
        if !done.as_ref().map_or_else(Error::is_in_force, |()| true) {
            return done;
        }
        let fresh = Bloscpack::open(&self.source, &self.limits)?;
        let (size, header, index) = (fresh.size, fresh.header, fresh.index);
        let (meta_header, metadata, table) = (fresh.meta_header, fresh.metadata, fresh.table);
        (self.size, self.header, self.index) = (size, header, index);
        (self.meta_header, self.metadata, self.table) = (meta_header, metadata, table);
        done
    }

    /// Files without a chunk size (v0, v1) get the size of their first chunk, if all others agree.
    fn require_uniform(&mut self) -> Result<(), Error> {
        let Some(plains) = &self.index.plains else { return Ok(()) };
        let mut sizes = plains.windows(2).filter_map(|w| match w {
            [start, end] => end.checked_sub(*start),
            _ => None,
        });
        let first = sizes.next().unwrap_or(0);
        let known = self.header.chunk_size.map_or(first, u64::from);
        let mut before = first;
        let uniform = sizes.all(|n| core::mem::replace(&mut before, n) == known) && before <= known;
        let Some(size) = u32::try_from(known).ok().filter(|_| uniform) else {
            return Err(Error::Unsupported {
                structure: crate::error::Structure::BloscpackChunk,
                what: "changing a file whose chunks have different sizes",
            });
        };
        self.header.chunk_size = Some(size);
        Ok(())
    }

    fn plan(&self, edit: &Edit, content: &Content<'_>) -> Result<NewFile, Error> {
        let old = self.nchunks();
        let mut header = self.header;
        let fresh = self.nbytes() == 0;
        let size = match header.chunk_size {
            Some(n) if n > 0 && !fresh => n,
            // Nothing to be compatible with: start over with a sensible size.
            _ => u32::try_from(content.nbytes().min(edit.chunk_size.max(1).into())).unwrap_or(u32::MAX),
        };
        let step = u64::from(size.max(1));
        let nchunks = content.nbytes().div_ceil(step).max(1);
        within("chunks", nchunks, self.limits.chunks.max(old))?;
        let last = content.nbytes().saturating_sub(nchunks.saturating_sub(1).saturating_mul(step));
        if header.layout == Layout::V3 && header.offsets {
            let entries = old.saturating_add(header.max_app);
            header.max_app = match entries.checked_sub(nchunks) {
                Some(left) => left,
                None if edit.grow || fresh => nchunks.saturating_mul(10),
                None => {
                    let (asked, limit) = (nchunks, entries);
                    return Err(Error::Capacity { what: "chunks in the offsets table", asked, most: limit });
                }
            };
        }
        // What the others keep to themselves (v0, v1) stays out of their headers when they are written.
        header.chunk_size = Some(size);
        header.last_chunk = u32::try_from(last).ok();
        header.nchunks = Some(nchunks);
        let changed = content.changed();
        let start = changed.start.checked_div(step).unwrap_or(0);
        let end = if fresh { nchunks } else { changed.end.div_ceil(step).min(nchunks) };
        let start = if fresh { 0 } else { start };
        Ok(NewFile { header, nchunks, encode: start..end.max(start), section: None, fortran: None })
    }

    /// Overwrites decoded bytes within the room their chunks have (§7.1). Not atomic: a crash in between
    /// leaves a chunk whose checksum does not match.
    ///
    /// # Errors
    /// [`Error::OutputTooSmall`] when a chunk does not fit any more; nothing has been written then.
    pub fn set_in_place(
        &mut self,
        pool: &mut Pool,
        edit: &Edit,
        at: u64,
        data: &dyn ReadAt,
    ) -> Result<(), Error> {
        for (offset, chunk) in self.fit(pool, edit, at, data)? {
            put_chunk(&mut self.source, offset, &self.header, &chunk)?;
        }
        let done = self.source.sync().map_err(|error| error.not_confirmed().into());
        self.reopen_after(done)
    }

    /// Encodes the chunks that new bytes from `at` on change, each as long as the one in its place; returns
    /// where they belong.
    pub(crate) fn fit(
        &mut self,
        pool: &mut Pool,
        edit: &Edit,
        at: u64,
        data: &dyn ReadAt,
    ) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        let n = data.size()?;
        let content = Content::splice(self.nbytes(), at..at.saturating_add(n), vec![Piece::New(data, 0..n)])?;
        let mut fitting = Vec::new();
        if n == 0 {
            return Ok(fitting);
        }
        self.require_uniform()?;
        let plan = self.plan(edit, &content)?;
        let mut buffer = Vec::new();
        for i in plan.encode {
            let slot = self.view().stored(i)?;
            let mut chunk = encode_part(pool, edit, &content, &self.view(), &self.header, i, &mut buffer)?;
            let needed = chunk.len() as u64;
            let given = slot.chunk().len() as u64;
            if !widen(&mut chunk, given) {
                return Err(Error::OutputTooSmall { needed, given });
            }
            fitting.push((slot.offset, chunk));
        }
        Ok(fitting)
    }
}
