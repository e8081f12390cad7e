//! Writing a planned change: new chunks behind the old ones, or a new file beside the old one.
//!
//! In place, each step is flushed before the next: chunks, header, table entries. A new file gets its header and
//! metadata, then its chunks, encoded or copied, then its table.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::super::header::Header;
use super::super::numpy::Numpy;
use super::super::reader::{Bloscpack, View};
use super::super::writer::{encode_chunk, write_table};
use crate::error::{Error, IoError, IoKind};
use crate::io::{ReadAt, Store, WriteAt};
use crate::plain::{Content, Held, Plain};
use crate::reversed::AxesReversed;
use alloc::vec;
use alloc::vec::Vec;
use blosc_core::{Params, Pool};
use core::ops::Range;

/// How changed chunks are written.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// Parameters of the chunks that are written; always as Blosc1 chunks.
    pub params: Params,
    /// Bytes of room at the end of those chunks.
    pub reserve: u32,
    /// Lay out a larger offsets table when the spare entries do not suffice, instead of refusing.
    pub grow: bool,
    /// Chunk size to start with when the file holds no data yet.
    pub chunk_size: u32,
}

impl Default for Edit {
    /// What bloscpack's command line uses: BloscLZ, level 7, items of 8 bytes.
    fn default() -> Self {
        let params = Params::new(8).level(7).blosc1(true);
        Edit { params, reserve: 0, grow: false, chunk_size: 1 << 20 }
    }
}

/// What the file will be.
pub(super) struct NewFile {
    pub(super) header: Header,
    pub(super) nchunks: u64,
    /// Chunks that are encoded anew.
    pub(super) encode: Range<u64>,
    /// New metadata as it is stored.
    pub(super) section: Option<Vec<u8>>,
    /// The array that the old data is in Fortran order; the new data is in C order.
    pub(super) fortran: Option<Numpy>,
}

impl<S: Store> Bloscpack<S> {
    /// Writes the new chunks, then the header that counts them, then their table entries.
    pub(super) fn append_in_place(
        &mut self,
        pool: &mut Pool,
        edit: &Edit,
        content: &Content<'_>,
        plan: &NewFile,
    ) -> Result<(), Error> {
        let end = match self.nchunks().checked_sub(1) {
            Some(last) => {
                // The old data must be right before anything is built upon it.
                let stored = self.view().stored(last)?;
                stored.offset.saturating_add(stored.bytes.len() as u64)
            }
            None => self.table,
        };
        let mut starts = Vec::new();
        let mut at = end;
        let mut buffer = Vec::new();
        let written = plan.encode.clone().try_for_each(|i| {
            let chunk = encode_part(pool, edit, content, &self.view(), &plan.header, i, &mut buffer)?;
            starts.push(at);
            at = put_chunk(&mut self.source, at, &plan.header, &chunk)?;
            Ok(())
        });
        if let Err(error) = written {
            // The new bytes are ignored by every reader; take them away all the same.
            let _ = self.source.truncate(self.size);
            return Err(error);
        }
        self.source.truncate(at)?;
        self.source.sync()?;
        let (bytes, n) = plan.header.encode();
        self.source.write_at(0, bytes.get(..n).unwrap_or_default())?;
        // In force from here on: without its table entries the chunks are found by walking.
        self.source.sync().map_err(IoError::not_confirmed)?;
        if plan.header.offsets {
            let first = self.table.saturating_add(plan.encode.start.saturating_mul(8));
            write_table(&mut self.source, first, &starts).and_then(|()| Ok(self.source.sync()?)).map_err(
                |error| match error {
                    Error::Io(error) => error.not_confirmed().into(),
                    error => error,
                },
            )?;
        }
        Ok(())
    }

    /// Writes a new file beside the old one, which it then replaces.
    pub(super) fn rewrite(
        &mut self,
        pool: &mut Pool,
        edit: &Edit,
        content: &Content<'_>,
        plan: &NewFile,
    ) -> Result<(), Error> {
        let (index, header, limits, size, table) =
            (&self.index, &self.header, &self.limits, self.size, self.table);
        self.source.rewrite(&mut |old, new| {
            let view = View { source: old, size, header, index, limits };
            let table = write_head(plan, old, table, new)?;
            write_edited(pool, edit, content, plan, &view, table, new)
        })
    }
}

/// Encodes chunk `i` of the new content.
pub(super) fn encode_part(
    pool: &mut Pool,
    edit: &Edit,
    content: &Content<'_>,
    old: &dyn Plain,
    header: &Header,
    i: u64,
    buffer: &mut Vec<u8>,
) -> Result<Vec<u8>, Error> {
    let step = u64::from(header.chunk_size.unwrap_or(0));
    let at = i.saturating_mul(step);
    let n = content.nbytes().saturating_sub(at).min(step);
    buffer.resize(usize::try_from(n).map_err(|_| IoKind::OutOfMemory)?, 0);
    content.read(pool, old, at, buffer)?;
    encode_chunk((pool, &mut Vec::new()), &edit.params, buffer, edit.reserve)
}

/// Writes a chunk and its digest; returns where they end.
pub(super) fn put_chunk<W: WriteAt + ?Sized>(
    sink: &mut W,
    at: u64,
    header: &Header,
    chunk: &[u8],
) -> Result<u64, Error> {
    sink.write_at(at, chunk)?;
    let digest_at = at.saturating_add(chunk.len() as u64);
    let digest = header.checksum.digest(chunk);
    sink.write_at(digest_at, digest.as_ref())?;
    Ok(digest_at.saturating_add(digest.as_ref().len() as u64))
}

/// Writes header and metadata of the new file; returns where its table starts.
fn write_head(plan: &NewFile, old: &dyn ReadAt, table: u64, new: &mut dyn WriteAt) -> Result<u64, Error> {
    let (bytes, n) = plan.header.encode();
    new.write_at(0, bytes.get(..n).unwrap_or_default())?;
    match &plan.section {
        Some(section) => {
            new.write_at(n as u64, section)?;
            Ok((n as u64).saturating_add(section.len() as u64))
        }
        None => {
            copy(old, n as u64..table, new, n as u64)?;
            Ok(table)
        }
    }
}

/// Writes chunks and table of the new file.
fn write_edited(
    pool: &mut Pool,
    edit: &Edit,
    content: &Content<'_>,
    plan: &NewFile,
    old: &View<'_>,
    table: u64,
    new: &mut dyn WriteAt,
) -> Result<(), Error> {
    let entries = plan.header.table_len();
    let mut at = table.saturating_add(entries.saturating_mul(8));
    let mut starts = Vec::new();
    let mut buffer = Vec::new();
    let in_c_order;
    let plain: &dyn Plain = match &plan.fortran {
        Some(array) => {
            in_c_order = Held::new(AxesReversed::new(old, &array.shape, array.dtype.itemsize())?);
            &in_c_order
        }
        None => old,
    };
    for i in 0..plan.nchunks {
        starts.push(at);
        if plan.encode.contains(&i) {
            let chunk = encode_part(pool, edit, content, plain, &plan.header, i, &mut buffer)?;
            at = put_chunk(new, at, &plan.header, &chunk)?;
        } else {
            let stored = old.stored(i)?;
            new.write_at(at, &stored.bytes)?;
            at = at.saturating_add(stored.bytes.len() as u64);
        }
    }
    if plan.header.offsets {
        let used = starts.len() as u64;
        write_table(new, table, &starts)?;
        let mut spare = table.saturating_add(used.saturating_mul(8));
        let mut left = entries.saturating_sub(used).saturating_mul(8);
        while left > 0 {
            let n = left.min(65536);
            new.write_at(spare, &vec![0xff; usize::try_from(n).unwrap_or(0)])?;
            spare = spare.saturating_add(n);
            left = left.saturating_sub(n);
        }
    }
    Ok(())
}

/// Copies bytes `range` of `from` to `to` of `sink`.
pub(super) fn copy(
    from: &dyn ReadAt,
    range: Range<u64>,
    sink: &mut dyn WriteAt,
    mut to: u64,
) -> Result<(), Error> {
    let mut at = range.start;
    let mut buffer = vec![0; 1 << 16];
    while at < range.end {
        let n = usize::try_from(range.end.saturating_sub(at)).unwrap_or(usize::MAX).min(buffer.len());
        let now = buffer.get_mut(..n).unwrap_or_default();
        from.read_exact_at(at, now)?;
        sink.write_at(to, now)?;
        at = at.saturating_add(n as u64);
        to = to.saturating_add(n as u64);
    }
    Ok(())
}
