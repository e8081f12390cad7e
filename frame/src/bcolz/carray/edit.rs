//! Changing a column: rows are spliced, resized, or overwritten within the room of their chunks.
//!
//! ```text
//! rows are added    __pending__ says how many count; new chunk files, flushed together; the last chunk, if it was not
//!                   full, by a rename; `sizes`, from which the number of rows comes, by a rename; no __pending__
//! one chunk is set  its file, by a rename
//! anything else     in a second directory with the same files, which then takes the place of the first (Tree::rewrite)
//! ```
//! Each is undone or done, wherever it stops.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::super::descriptor::{Sizes, default_item, write_json};
use super::super::quantize;
use super::super::tree::{Announced, PENDING, Tree, Uncounted, announce, discard, put, uncounted};
use super::{CArray, FILE_HEADER, chunk_name, chunk_number};
use crate::bloscpack::encode_chunk;
use crate::error::{Error, IoKind, Structure};
use crate::io::ReadAt;
use crate::limits::within;
use crate::plain::{Content, Piece, Plain};
use crate::rows::{Rows, byte_range, count, growth};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

/// Chunks that fit the files they change.
pub(in crate::bcolz) struct Fitting {
    chunks: Vec<(u64, Vec<u8>)>,
    cbytes: u64,
}

impl<T: Tree> CArray<T> {
    /// Makes new content of the column, in one step.
    fn change(&mut self, pool: &mut Pool, content: &Content<'_>) -> Result<(), Error> {
        self.check_edit(pool, Announced::read(&self.root)?)?;
        self.check_whole(content)?;
        let changed = content.changed();
        if changed.is_empty() || changed.start >= self.nbytes() {
            return self.add(pool, content);
        }
        let chunk_of = |at: u64| at.checked_div(self.geometry.chunk);
        if content.nbytes() == self.nbytes()
            && chunk_of(changed.start) == chunk_of(changed.end.saturating_sub(1))
        {
            let sizes = self.prepare(pool, content, self)?;
            // The rows are there; how many bytes they take is told for information only.
            let _ = self.commit(sizes);
            return Ok(());
        }
        self.rewrite(|new, old| {
            let sizes = new.prepare(pool, content, old)?;
            new.commit(sizes)?;
            new.tidy(pool)
        })
    }

    /// Adds rows behind those that are there.
    fn add(&mut self, pool: &mut Pool, content: &Content<'_>) -> Result<(), Error> {
        self.make_data()?;
        if content.changed().is_empty() {
            return self.commit(self.sizes.clone());
        }
        if self.durable {
            announce(&self.root, self.rows(), false)?;
        }
        let sizes = self.prepare(pool, content, self)?;
        self.commit(sizes)
    }

    /// Has `edit` change a second column that has the files of this one, which then takes its place.
    fn rewrite(&mut self, edit: impl FnOnce(&mut Self, &Self) -> Result<(), Error>) -> Result<(), Error> {
        let old = &*self;
        old.root.rewrite(|dir| {
            let mut new = CArray::open(dir, &old.limits)?.durable(false);
            new.prepare_like(old)?;
            edit(&mut new, old)
        })?;
        self.reload()
    }

    /// Takes over what the handle of another state says of new chunks, and has a directory for them.
    pub(in crate::bcolz) fn prepare_like(&mut self, other: &CArray<T>) -> Result<(), Error> {
        self.reserve = other.reserve;
        self.make_data()
    }

    /// Copy tools drop empty directories.
    fn make_data(&mut self) -> Result<(), Error> {
        if self.data.is_none() {
            self.data = Some(self.root.make("data")?);
        }
        Ok(())
    }

    /// Reads the descriptors again.
    fn reload(&mut self) -> Result<(), Error> {
        self.sizes = Sizes::read(&self.meta)?;
        if self.data.is_none() {
            self.data = Some(self.root.enter("data")?);
        }
        Ok(())
    }

    /// Before an edit: refuses rows that somebody else left, and removes what a writer left that died.
    pub(in crate::bcolz) fn check_edit(&self, pool: &mut Pool, announced: Announced) -> Result<(), Error> {
        if Sizes::read(&self.meta)? != self.sizes {
            return Err(Error::Changed { what: "meta/sizes; open the column again, then edit" });
        }
        if announced.is_of(self.rows()) {
            return self.tidy(pool);
        }
        if self.beside()?.any() { Err(uncounted(Structure::Bcolz)) } else { Ok(()) }
    }

    /// What lies in the directory beside the rows that count. Of a writer that is at work, or died while it added rows,
    /// [`CArray::uncounted`] knows nothing.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn uncounted(&self) -> Result<Uncounted, Error> {
        match Announced::read(&self.root)?.is_of(self.rows()) {
            true => Ok(Uncounted::default()),
            false => self.beside(),
        }
    }

    /// What lies in the directory beside the rows that count, whoever left it.
    pub(in crate::bcolz) fn beside(&self) -> Result<Uncounted, Error> {
        let mut found = Uncounted::default();
        let Some(data) = &self.data else { return Ok(found) };
        let chunks = self.nchunks();
        let names = data.list()?;
        found.files = names.iter().filter(|n| chunk_number(n).is_some_and(|i| i >= chunks)).count() as u64;
        // A chunk that cannot be read is for `verify` to report.
        let mut i = chunks.saturating_sub(1);
        while let Ok(loaded) = self.load(i) {
            let more = loaded.nbytes.saturating_sub(self.chunk_len(i));
            found.rows = found.rows.saturating_add(more.checked_div(self.geometry.atom).unwrap_or(0));
            if loaded.nbytes < self.geometry.chunk {
                break;
            }
            i = i.saturating_add(1);
        }
        Ok(found)
    }

    /// Removes what lies in the directory beside the rows that count.
    pub(in crate::bcolz) fn tidy(&self, pool: &mut Pool) -> Result<(), Error> {
        let (Some(data), chunks) = (&self.data, self.nchunks()) else { return Ok(()) };
        for name in data.list()?.iter().filter(|n| chunk_number(n).is_some_and(|i| i >= chunks)) {
            discard(data, name)?;
        }
        let last = chunks.saturating_sub(1);
        if self.load(last).is_ok_and(|loaded| loaded.nbytes > self.chunk_len(last)) {
            let content = Content::splice(self.nbytes(), 0..0, Vec::new())?;
            let tools = (pool, &mut Vec::new(), &mut Vec::new());
            self.write_chunk(&self.encode(tools, &content, self, last)?, last)?;
        }
        discard(&self.root, PENDING)
    }

    /// Has `rows` rows count, of those that are on disk, and removes the others.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for more rows than are there; chunks that are damaged.
    pub fn settle(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.rewrite(|new, _| new.settle_here(pool, rows))
    }

    /// As [`CArray::settle`], in a column that no reader has opened.
    pub(in crate::bcolz) fn settle_here(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        let most = self.rows().saturating_add(self.beside()?.rows);
        if rows > most {
            return Err(Error::OutOfRange { what: "row", index: rows, len: most });
        }
        self.check_growth(rows)?;
        let first = self.nchunks().saturating_sub(1);
        self.assume_rows(rows);
        let mut plain = Vec::new();
        for i in first..self.nchunks() {
            let n = usize::try_from(self.chunk_len(i)).map_err(|_| IoKind::OutOfMemory)?;
            plain.resize(n, 0);
            self.load(i)?.decode(pool, &self.limits, 0..n, &mut plain)?;
        }
        self.write_sizes()?;
        self.tidy(pool)
    }

    fn check_whole(&self, content: &Content<'_>) -> Result<(), Error> {
        let (changed, atom) = (content.changed(), self.geometry.atom);
        let odd = |n: u64| n.checked_rem(atom) != Some(0);
        if odd(content.nbytes()) || odd(changed.start) || odd(changed.end) {
            let value = i64::try_from(content.nbytes()).unwrap_or(i64::MAX);
            return Err(Error::Param { name: "bytes", value, allowed: "whole rows" });
        }
        Ok(())
    }

    /// Writes all chunk files of an edit, whose old rows are those of `old`; [`CArray::commit`] makes it count. For tables,
    /// whose columns change together. New files are flushed together, where each step waits for the disk.
    pub(in crate::bcolz) fn prepare(
        &self,
        pool: &mut Pool,
        content: &Content<'_>,
        old: &CArray<T>,
    ) -> Result<Sizes, Error> {
        let (chunk, changed) = (self.geometry.chunk, content.changed());
        let full = |nbytes: u64| nbytes.checked_div(chunk).unwrap_or(0);
        let (old_full, new_full) = (full(old.nbytes()), full(content.nbytes()));
        let end = changed.end.div_ceil(chunk).min(content.nbytes().div_ceil(chunk));
        let touched = if changed.is_empty() { 0..0 } else { full(changed.start)..end };
        let mut delta = 0i128;
        for i in touched.start..touched.end.min(old_full).max(touched.start) {
            delta = delta.saturating_sub(old.load(i)?.ctbytes.into());
        }
        for i in new_full.max(touched.end)..old_full {
            delta = delta.saturating_sub(old.load(i).map_or(0, |l| l.ctbytes.into()));
        }
        let (mut created, mut plain, mut room) = (Vec::new(), Vec::new(), Vec::new());
        // Those that are there come last: until then nothing that shows is changed.
        let (there, new) =
            (touched.start..old.nchunks().min(touched.end), old.nchunks().max(touched.start)..touched.end);
        let mut written = || {
            for i in new.clone() {
                let encoded = self.encode((&mut *pool, &mut plain, &mut room), content, old, i)?;
                created.push(chunk_name(i));
                self.create_chunk(&encoded, i)?;
                delta = delta.saturating_add(if i < new_full { encoded.len() as i128 } else { 0 });
            }
            if self.durable && !created.is_empty() {
                self.data()?.sync_files(&created)?;
            }
            for i in there.clone() {
                let encoded = self.encode((&mut *pool, &mut plain, &mut room), content, old, i)?;
                self.write_chunk(&encoded, i)?;
                delta = delta.saturating_add(if i < new_full { encoded.len() as i128 } else { 0 });
            }
            Ok(())
        };
        let done: Result<(), Error> = written();
        if done.is_err() {
            // They count for nothing until `sizes` says so; they go all the same.
            for name in &created {
                let _ = self.data()?.remove(name);
            }
        }
        done?;
        let mut sizes = old.sizes.clone();
        if let Some(first) = sizes.shape.first_mut() {
            *first = content.nbytes().checked_div(self.geometry.atom).unwrap_or(0);
        }
        sizes.nbytes = content.nbytes();
        // What another writer says all chunks take may be wrong.
        let cbytes = i128::from(sizes.cbytes).saturating_add(delta).max(0);
        sizes.cbytes = u64::try_from(cbytes).unwrap_or(u64::MAX);
        Ok(sizes)
    }

    /// Makes an edit count.
    pub(in crate::bcolz) fn commit(&mut self, sizes: Sizes) -> Result<(), Error> {
        let created = self.durable && self.fresh;
        if created {
            write_json(&self.meta, "storage", &self.storage.to_value(), true)?;
            write_json(&self.root, "__attrs__", &self.attrs, true)?;
            self.fresh = false;
        }
        if sizes != self.sizes || created {
            write_json(&self.meta, "sizes", &sizes.to_value(), self.durable)?;
            self.sizes = sizes;
        }
        // Where it stays, it says how many rows there were.
        let _ = discard(&self.root, PENDING);
        Ok(())
    }

    /// Encodes the chunks that new rows from `row` on change, and checks that each fits its file.
    pub(in crate::bcolz) fn fit(
        &self,
        pool: &mut Pool,
        row: u64,
        data: &dyn ReadAt,
    ) -> Result<Fitting, Error> {
        let atom = self.geometry.atom;
        let n = count(atom, data)?;
        let range = byte_range(atom, &(row..row.saturating_add(n)))?;
        let pieces = alloc::vec![Piece::New(data, 0..range.end.saturating_sub(range.start))];
        let content = Content::splice(self.nbytes(), range.clone(), pieces)?;
        let chunk = self.geometry.chunk;
        let full = self.nbytes().checked_div(chunk).unwrap_or(0);
        let (mut chunks, mut cbytes) = (Vec::new(), i128::from(self.sizes.cbytes));
        let (mut plain, mut room) = (Vec::new(), Vec::new());
        if n == 0 {
            return Ok(Fitting { chunks, cbytes: self.sizes.cbytes });
        }
        for i in range.start.checked_div(chunk).unwrap_or(0)..range.end.div_ceil(chunk) {
            let before = self.load(i)?.ctbytes;
            let given = self.data()?.open(&chunk_name(i), false)?.size()?.saturating_sub(FILE_HEADER);
            let encoded = self.encode((&mut *pool, &mut plain, &mut room), &content, self, i)?;
            let needed = encoded.len() as u64;
            if needed > given {
                return Err(Error::OutputTooSmall { needed, given });
            }
            if i < full {
                cbytes = cbytes.saturating_add(needed.into()).saturating_sub(before.into());
            }
            chunks.push((i, encoded));
        }
        Ok(Fitting { chunks, cbytes: u64::try_from(cbytes).unwrap_or(0) })
    }

    /// Writes chunks over those that are there.
    pub(in crate::bcolz) fn put_fitting(&mut self, fitting: Fitting) -> Result<(), Error> {
        for (i, encoded) in fitting.chunks {
            let mut file = self.data()?.open(&chunk_name(i), true)?;
            file.write_at(FILE_HEADER, &encoded)?;
            file.sync()?;
        }
        self.commit(Sizes { cbytes: fitting.cbytes, ..self.sizes.clone() })
    }

    /// Takes another number of rows as true: that of an edit of a table which had reached its last step.
    pub(in crate::bcolz) fn assume_rows(&mut self, rows: u64) {
        self.sizes.nbytes = rows.saturating_mul(self.geometry.atom);
        if let Some(first) = self.sizes.shape.first_mut() {
            *first = rows;
        }
    }

    /// Writes `sizes` as they are taken to be.
    pub(in crate::bcolz) fn write_sizes(&self) -> Result<(), Error> {
        write_json(&self.meta, "sizes", &self.sizes.to_value(), self.durable)
    }

    /// Encodes chunk `i` of the new content, whose old rows are those of `old`.
    fn encode(
        &self,
        (pool, plain, room): (&mut Pool, &mut Vec<u8>, &mut Vec<u8>),
        content: &Content<'_>,
        old: &CArray<T>,
        i: u64,
    ) -> Result<Vec<u8>, Error> {
        let at = i.saturating_mul(self.geometry.chunk);
        let n = content.nbytes().saturating_sub(at).min(self.geometry.chunk);
        plain.resize(usize::try_from(n).map_err(|_| IoKind::OutOfMemory)?, 0);
        content.read(pool, old, at, plain)?;
        quantize::apply(&self.storage, plain);
        let params = self.storage.cparams.params(self.storage.typesize())?;
        encode_chunk((pool, room), &params, plain, 0)
    }

    /// The file of an encoded chunk.
    fn chunk_file(&self, chunk: &[u8]) -> Vec<u8> {
        let mut file = Vec::with_capacity(chunk.len().saturating_add(16));
        file.extend_from_slice(b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0");
        file.extend_from_slice(chunk);
        file.resize(file.len().saturating_add(usize::try_from(self.reserve).unwrap_or(0)), 0);
        file
    }

    /// Writes the file of a new chunk.
    fn create_chunk(&self, chunk: &[u8], i: u64) -> Result<(), Error> {
        Ok(self.data()?.create(&chunk_name(i))?.write_at(0, &self.chunk_file(chunk))?)
    }

    /// Puts the file of a chunk in place of the one that is there.
    fn write_chunk(&self, chunk: &[u8], i: u64) -> Result<(), Error> {
        put(self.data()?, &chunk_name(i), &self.chunk_file(chunk), self.durable)
    }
}

impl<T: Tree> CArray<T> {
    /// Refuses rows that take more chunks than the limits allow: no command could open the column again.
    pub(in super::super) fn check_growth(&self, rows: u64) -> Result<(), Error> {
        within("chunks", rows.div_ceil(self.storage.chunklen.max(1)), self.limits.chunks)
    }
}

impl<T: Tree> Rows for CArray<T> {
    fn row_nbytes(&self) -> u64 {
        self.geometry.atom
    }

    fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        let n = count(self.geometry.atom, data)?.saturating_mul(self.geometry.atom);
        let range = byte_range(self.geometry.atom, &rows)?;
        let content = Content::splice(self.nbytes(), range, alloc::vec![Piece::New(data, 0..n)])?;
        self.change(pool, &content)
    }

    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.check_growth(rows)?;
        let (range, more) = growth(self.nbytes(), self.geometry.atom, rows)?;
        let item = default_item(&self.storage.dtype, &self.storage.dflt);
        let content = Content::splice(self.nbytes(), range, alloc::vec![Piece::Fill(&item, more)])?;
        self.change(pool, &content)
    }

    fn set_reserve(&mut self, bytes: u32) {
        self.reserve = bytes;
    }

    /// The room is what the file has behind its chunk: bytes that bcolz never reads.
    fn set_in_place(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let fitting = self.fit(pool, row, data)?;
        self.put_fitting(fitting)
    }
}
