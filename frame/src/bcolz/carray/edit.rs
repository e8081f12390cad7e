//! Changing a column: rows are spliced, resized, or overwritten within the room of their chunks.
//!
//! ```text
//! prepare   encodes and writes every chunk file that changes, each put in place by a rename
//! commit    writes `sizes`, from which the number of rows comes, then removes surplus files
//! ```
//! Where rows move to higher numbers, chunks are written from the last to the first, otherwise from the first to the
//! last: the old rows that a chunk is made of are then still there.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::super::descriptor::{Sizes, default_item, write_json};
use super::super::quantize;
use super::super::tree::{Tree, discard, put, sweep};
use super::{CArray, FILE_HEADER, chunk_name, chunk_number};
use crate::bloscpack::encode_chunk;
use crate::error::{Error, IoKind};
use crate::io::ReadAt;
use crate::limits::within;
use crate::plain::{Content, Piece, Plain};
use crate::rows::{Rows, byte_range, count};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

/// Chunks that fit the files they change.
pub(in crate::bcolz) struct Fitting {
    chunks: Vec<(u64, Vec<u8>)>,
    cbytes: u64,
}

impl<T: Tree> CArray<T> {
    /// Replaces decoded bytes `range` by `pieces`; both must be whole rows.
    fn splice_bytes(
        &mut self,
        pool: &mut Pool,
        range: Range<u64>,
        pieces: Vec<Piece<'_>>,
    ) -> Result<(), Error> {
        let end = self.prepare(pool, range, pieces)?;
        self.commit(end)
    }

    /// Writes all chunk files of an edit; [`CArray::commit`] makes it count. For tables, whose columns
    /// change together.
    pub(in crate::bcolz) fn prepare(
        &mut self,
        pool: &mut Pool,
        range: Range<u64>,
        pieces: Vec<Piece<'_>>,
    ) -> Result<Sizes, Error> {
        if Sizes::read(&self.meta)? != self.sizes {
            return Err(Error::Changed { what: "meta/sizes; open the column again, then edit" });
        }
        let content = Content::splice(self.nbytes(), range.clone(), pieces)?;
        if self.data.is_none() {
            self.data = Some(self.root.make("data")?);
        }
        let atom = self.geometry.atom;
        let odd = |n: u64| n.checked_rem(atom) != Some(0);
        if odd(content.nbytes()) || odd(range.start) || odd(range.end) {
            let value = i64::try_from(content.nbytes()).unwrap_or(i64::MAX);
            return Err(Error::Param { name: "bytes", value, allowed: "whole rows" });
        }
        let rows = content.nbytes().checked_div(atom).unwrap_or(0);
        let mut sizes = self.sizes.clone();
        if let Some(first) = sizes.shape.first_mut() {
            *first = rows;
        }
        sizes.nbytes = content.nbytes();
        let changed = content.changed();
        let chunk = self.geometry.chunk;
        let needed = content.nbytes().div_ceil(chunk);
        let old_full = self.nbytes().checked_div(chunk).unwrap_or(0);
        let new_full = content.nbytes().checked_div(chunk).unwrap_or(0);
        let cut = range.end == self.nbytes() && content.nbytes() == range.start;
        let mut touched =
            changed.start.checked_div(chunk).unwrap_or(0)..changed.end.div_ceil(chunk).min(needed);
        if changed.is_empty() || cut {
            // A leftover file may hold more rows than count: cutting the end writes no chunk.
            touched = 0..0;
        }
        let full = |i: u64, full: u64| i < full;
        // Rows that move up are read from chunks behind the one being written, and the other way round.
        let down = content.nbytes() > self.nbytes();
        let mut created = Vec::new();
        let mut delta = 0i128;
        for step in touched.clone() {
            let i = if down {
                touched.end.saturating_sub(1).saturating_sub(step.saturating_sub(touched.start))
            } else {
                step
            };
            let before = if full(i, old_full) { self.load(i)?.ctbytes } else { 0 };
            let written = self.write_chunk(pool, &content, i);
            let after = match written {
                Ok(n) => n,
                Err(error) => {
                    // New files count for nothing until `sizes` says so; take them away all the same.
                    for &i in &created {
                        let _ = self.data()?.remove(&chunk_name(i));
                    }
                    return Err(error);
                }
            };
            if i >= self.nchunks() {
                created.push(i);
            }
            delta = delta.saturating_sub(before.into());
            delta = delta.saturating_add(if full(i, new_full) { after.into() } else { 0 });
        }
        for i in new_full..old_full {
            if !touched.contains(&i) {
                delta = delta.saturating_sub(self.load(i).map_or(0, |l| l.ctbytes.into()));
            }
        }
        // What another writer says all chunks take may be wrong.
        let cbytes = i128::from(sizes.cbytes).saturating_add(delta).max(0);
        sizes.cbytes = u64::try_from(cbytes).unwrap_or(u64::MAX);
        Ok(sizes)
    }

    /// Makes an edit count: `sizes`, then surplus files.
    pub(in crate::bcolz) fn commit(&mut self, sizes: Sizes) -> Result<(), Error> {
        let created = self.durable && self.fresh;
        if sizes == self.sizes && !created {
            return Ok(());
        }
        let before = self.nchunks();
        if created {
            write_json(&self.meta, "storage", &self.storage.to_value(), true)?;
            write_json(&self.root, "__attrs__", &self.attrs, true)?;
            self.fresh = false;
        }
        write_json(&self.meta, "sizes", &sizes.to_value(), self.durable)?;
        self.sizes = sizes;
        let chunks = self.nchunks();
        for i in chunks..before {
            discard(self.data()?, &chunk_name(i))?;
        }
        if self.durable && !self.swept {
            sweep(&self.root, &|_| false)?;
            sweep(&self.meta, &|_| false)?;
            if let Some(data) = &self.data {
                sweep(data, &|name| chunk_number(name).is_some_and(|i| i >= chunks))?;
            }
            self.swept = true;
        }
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
        if n == 0 {
            return Ok(Fitting { chunks, cbytes: self.sizes.cbytes });
        }
        for i in range.start.checked_div(chunk).unwrap_or(0)..range.end.div_ceil(chunk) {
            let before = self.load(i)?.ctbytes;
            let given = self.data()?.open(&chunk_name(i), false)?.size()?.saturating_sub(FILE_HEADER);
            let encoded = self.encode(pool, &content, i)?;
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

    /// Encodes chunk `i` of the new content.
    fn encode(&self, pool: &mut Pool, content: &Content<'_>, i: u64) -> Result<Vec<u8>, Error> {
        let at = i.saturating_mul(self.geometry.chunk);
        let n = content.nbytes().saturating_sub(at).min(self.geometry.chunk);
        let mut plain = alloc::vec![0; usize::try_from(n).map_err(|_| IoKind::OutOfMemory)?];
        content.read(pool, self, at, &mut plain)?;
        quantize::apply(&self.storage, &mut plain);
        let params = self.storage.cparams.params(self.storage.typesize())?;
        encode_chunk(pool, &params, &plain, 0)
    }

    fn write_chunk(&self, pool: &mut Pool, content: &Content<'_>, i: u64) -> Result<u64, Error> {
        let chunk = self.encode(pool, content, i)?;
        let mut file = Vec::with_capacity(chunk.len().saturating_add(16));
        file.extend_from_slice(b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0");
        file.extend_from_slice(&chunk);
        file.resize(file.len().saturating_add(usize::try_from(self.reserve).unwrap_or(0)), 0);
        put(self.data()?, &chunk_name(i), &file, self.durable)?;
        Ok(chunk.len() as u64)
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
        self.splice_bytes(pool, range, alloc::vec![Piece::New(data, 0..n)])
    }

    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.check_growth(rows)?;
        let (range, more) = growth(self.nbytes(), self.geometry.atom, rows)?;
        let item = default_item(&self.storage.dtype, &self.storage.dflt);
        self.splice_bytes(pool, range, alloc::vec![Piece::Fill(&item, more)])
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

/// Which bytes must be replaced in `old` bytes to have `rows` rows, and how many bytes are added.
pub(crate) fn growth(old: u64, row: u64, rows: u64) -> Result<(Range<u64>, u64), Error> {
    match rows.checked_mul(row) {
        Some(new) => Ok((new.min(old)..old, new.saturating_sub(old))),
        None => {
            Err(Error::Capacity { what: "rows", asked: rows, most: u64::MAX.checked_div(row).unwrap_or(0) })
        }
    }
}
