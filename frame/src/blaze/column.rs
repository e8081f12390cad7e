//! One column: its chunks in super-chunk files, in one directory or several.
//!
//! ```text
//! chunk i, superchunksize known:  file i div s + 1, chunk i mod s      otherwise: by the counts in the files
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::storage::{Storage, invalid, typesize};
use crate::b2nd::dtype::Dtype;
use crate::bcolz::Tree;
use crate::bloscpack::{Bloscpack, Edit, Options, Spare, Writer, encode_chunk};
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{ReadAt, WriteAt};
use crate::limits::Limits;
use crate::plain::{Content, Plain, check_range, over_chunks};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Params, Pool};
use core::cell::RefCell;
use core::ops::{Range, RangeInclusive};

type File = Box<dyn WriteAt + Send>;

/// Super-chunk files of a column that lie in one directory.
pub(super) struct Part<T> {
    pub files: RangeInclusive<u64>,
    pub dir: T,
}

/// The chunks of one column.
pub struct Column<T> {
    parts: Vec<Part<T>>,
    pub(super) dtype: Dtype,
    pub(super) row: u64,
    chunk: u64,
    pub(super) rows: u64,
    per_file: Option<u64>,
    /// Chunks before each file, where files differ.
    before: Vec<u64>,
    limits: Limits,
    open: RefCell<Option<(u64, Bloscpack<File>)>>,
    pub(super) params: Params,
    pub(super) reserve: u32,
    pub(super) durable: bool,
}

pub(super) fn file_name(k: u64) -> String {
    format!("__{k}__.bin")
}

impl<T: Tree> Column<T> {
    pub(super) fn open(
        parts: Vec<Part<T>>,
        storage: &Storage,
        dtype: Dtype,
        shape: &[u64],
        limits: &Limits,
    ) -> Result<Column<T>, Error> {
        let rows = shape.first().copied().unwrap_or(0);
        let inner = shape.get(1..).unwrap_or_default();
        let row = inner.iter().try_fold(u64::from(dtype.itemsize()), |n, &dim| n.checked_mul(dim));
        let Some(row) = row.filter(|&row| row > 0) else { return invalid("shape (size of a row)", 0) };
        let chunk =
            storage.chunklen.checked_mul(row).filter(|&n| n > 0 && n <= crate::bloscpack::MAX_BUFFER.into());
        let Some(chunk) = chunk else {
            return invalid("chunklen", i64::try_from(storage.chunklen).unwrap_or(i64::MAX));
        };
        if rows.checked_mul(row).is_none_or(|n| n > i64::MAX as u64) {
            return invalid("shape", i64::try_from(rows).unwrap_or(i64::MAX));
        }
        // An unknown codec does not keep anyone from reading.
        let params = storage.cparams.params(typesize(&dtype)).unwrap_or(Params::new(1));
        let mut column = Column {
            parts,
            dtype,
            row,
            chunk,
            rows,
            per_file: storage.superchunk,
            before: Vec::new(),
            limits: *limits,
            open: RefCell::new(None),
            params,
            reserve: 0,
            durable: true,
        };
        if column.per_file.is_none() {
            column.count()?;
        }
        Ok(column)
    }

    /// Asks each file how many chunks it has, until there are enough.
    fn count(&mut self) -> Result<(), Error> {
        let needed = self.nchunks();
        let (mut total, mut k) = (0u64, 1u64);
        self.before.push(0);
        while total < needed {
            let n = self.file(k)?.nchunks();
            if n == 0 {
                return invalid("nchunks of a super-chunk", 0);
            }
            total = total.saturating_add(n);
            self.before.push(total);
            k = k.saturating_add(1);
        }
        Ok(())
    }

    /// Number of chunks.
    pub fn nchunks(&self) -> u64 {
        self.rows.saturating_mul(self.row).div_ceil(self.chunk.max(1))
    }

    /// Number of super-chunk files.
    pub fn nfiles(&self) -> u64 {
        match self.per_file {
            Some(n) => self.nchunks().div_ceil(n.max(1)),
            None => (self.before.len() as u64).saturating_sub(1),
        }
    }

    /// The rows that super-chunk file `k`, from 1 on, holds.
    pub fn rows_of_file(&self, k: u64) -> Range<u64> {
        let chunks = self.chunks_of_file(k);
        let rows = self.chunk.checked_div(self.row).unwrap_or(0);
        chunks.start.saturating_mul(rows).min(self.rows)..chunks.end.saturating_mul(rows).min(self.rows)
    }

    fn chunks_of_file(&self, k: u64) -> Range<u64> {
        let k0 = k.saturating_sub(1);
        match self.per_file {
            Some(n) => {
                let start = k0.saturating_mul(n);
                start..start.saturating_add(n)
            }
            None => {
                let at = |i: u64| usize::try_from(i).ok().and_then(|i| self.before.get(i)).copied();
                at(k0).unwrap_or(0)..at(k).unwrap_or(0)
            }
        }
    }

    fn file_of_chunk(&self, i: u64) -> u64 {
        match self.per_file {
            Some(n) => i.checked_div(n).unwrap_or(0).saturating_add(1),
            None => self.before.partition_point(|&before| before <= i) as u64,
        }
    }

    fn dir(&self, k: u64) -> Result<&T, Error> {
        let part = self.parts.iter().find(|part| part.files.contains(&k));
        let missing = Error::Missing { structure: Structure::Bcolz, what: "super-chunk", number: k };
        part.map(|part| &part.dir).ok_or(missing)
    }

    /// Opens super-chunk `k` and checks that its chunks are those of this dataset.
    fn file(&self, k: u64) -> Result<Bloscpack<File>, Error> {
        let file = match self.dir(k)?.open(&file_name(k), false) {
            Err(e) if e.kind == IoKind::NotFound => {
                return Err(Error::Missing { structure: Structure::Bcolz, what: "super-chunk", number: k });
            }
            other => other?,
        };
        let pack = Bloscpack::open(file, &self.limits)?;
        let size = pack.header().chunk_size.map(u64::from);
        let short = pack.nchunks() == 1 && size.is_some_and(|n| n <= self.chunk);
        if size.is_some_and(|n| n != self.chunk) && !short {
            return invalid(
                "chunk-size of a super-chunk",
                i64::try_from(size.unwrap_or(0)).unwrap_or(i64::MAX),
            );
        }
        Ok(pack)
    }

    fn read_part(&self, pool: &mut Pool, i: u64, range: Range<usize>, out: &mut [u8]) -> Result<(), Error> {
        let k = self.file_of_chunk(i);
        let mut open = self.open.borrow_mut();
        if open.as_ref().is_none_or(|(held, _)| *held != k) {
            *open = Some((k, self.file(k)?));
        }
        let Some((_, pack)) = open.as_ref() else { return Err(IoKind::NotFound.into()) };
        let local = i.saturating_sub(self.chunks_of_file(k).start);
        let plain = pack.chunk_range(local);
        if plain.start != local.saturating_mul(self.chunk) {
            return invalid("chunk of a super-chunk", i64::try_from(i).unwrap_or(i64::MAX));
        }
        if plain.end.saturating_sub(plain.start) < range.end as u64 {
            return invalid("rows of the last chunk", i64::try_from(i).unwrap_or(i64::MAX));
        }
        pack.read_plain(pool, plain.start.saturating_add(range.start as u64), out)
    }

    /// Bytes the files take that this many rows need.
    pub(super) fn stored_bytes(&self, rows: u64) -> u64 {
        let size = |k: u64| {
            self.dir(k).ok().and_then(|d| d.open(&file_name(k), false).ok()).and_then(|f| f.size().ok())
        };
        let chunks = rows.saturating_mul(self.row).div_ceil(self.chunk.max(1));
        let files = self.per_file.map_or(self.nfiles(), |n| chunks.div_ceil(n.max(1)));
        (1..=files).map(|k| size(k).unwrap_or(0)).fold(0, u64::saturating_add)
    }

    /// Writes every super-chunk that `content` touches; the new number of rows counts once
    /// [`Column::commit`] is called.
    pub(super) fn prepare(&mut self, pool: &mut Pool, content: &Content<'_>) -> Result<(), Error> {
        let Some(per_file) = self.per_file else {
            return Err(Error::Unsupported {
                structure: Structure::Bcolz,
                what: "changing a dataset whose storage has no superchunksize",
            });
        };
        self.open.replace(None);
        let changed = content.changed();
        let needed = content.nbytes().div_ceil(self.chunk);
        if changed.is_empty() || changed.start >= content.nbytes() {
            // Cutting the end off: the last chunk may hold more rows than count.
            return Ok(());
        }
        let touched =
            changed.start.checked_div(self.chunk).unwrap_or(0)..changed.end.div_ceil(self.chunk).min(needed);
        let first = touched.start.checked_div(per_file).unwrap_or(0).saturating_add(1);
        let last = touched.end.saturating_sub(1).checked_div(per_file).unwrap_or(0).saturating_add(1);
        // Rows that move are read from files that have not been replaced yet.
        let files: Vec<u64> = match content.nbytes() > self.nbytes() {
            true => (first..=last).rev().collect(),
            false => (first..=last).collect(),
        };
        let old_files = self.nfiles();
        for (done, &k) in files.iter().enumerate() {
            if let Err(error) = self.write_file(pool, content, k, &touched) {
                // Files beyond the old ones count for nothing; take them away all the same.
                for &k in files.iter().take(done).filter(|&&k| k > old_files) {
                    let _ = self.dir(k)?.remove(&file_name(k));
                }
                return Err(error);
            }
        }
        self.open.replace(None);
        Ok(())
    }

    fn write_file(
        &self,
        pool: &mut Pool,
        content: &Content<'_>,
        k: u64,
        touched: &Range<u64>,
    ) -> Result<(), Error> {
        let chunks = self.chunks_of_file(k);
        let start = chunks.start.saturating_mul(self.chunk);
        let end = chunks.end.saturating_mul(self.chunk).min(content.nbytes());
        let options = Options {
            chunk_size: u32::try_from(self.chunk).unwrap_or(u32::MAX),
            params: self.params,
            spare: Spare::Chunks(0),
            fixed_chunk_size: true,
            ..Options::default()
        };
        let old = match self.nfiles() >= k {
            true => Some(self.file(k)?),
            false => None,
        };
        let mut plain = Vec::new();
        let mut fill = |file: &mut dyn WriteAt| {
            let mut writer = Writer::new(file, &options, Some(end.saturating_sub(start)))?;
            let mut at = start;
            for i in chunks.clone().take_while(|i| i.saturating_mul(self.chunk) < end) {
                let n = end.saturating_sub(at).min(self.chunk);
                let nbytes = u32::try_from(n).unwrap_or(u32::MAX);
                let local = i.saturating_sub(chunks.start);
                let kept = old.as_ref().filter(|old| {
                    let range = old.chunk_range(local);
                    !touched.contains(&i)
                        && local < old.nchunks()
                        && range.end.saturating_sub(range.start) == n
                });
                match kept {
                    Some(old) => writer.write_encoded(&old.chunk_bytes(local)?, nbytes)?,
                    None => {
                        plain.resize(usize::try_from(n).map_err(|_| IoKind::NoSpace)?, 0);
                        content.read(pool, self, at, &mut plain)?;
                        let chunk = encode_chunk(pool, &self.params, &plain, self.reserve)?;
                        writer.write_encoded(&chunk, nbytes)?;
                    }
                }
                at = at.saturating_add(n);
            }
            writer.finish(pool).map(drop)
        };
        let dir = self.dir(k)?;
        if self.durable {
            return dir.replace(&file_name(k), &mut fill);
        }
        let (temp, mut file) = dir.create_temp(&file_name(k))?;
        let written = fill(&mut file);
        drop(file);
        written.and_then(|()| Ok(dir.rename(&temp, &file_name(k))?)).inspect_err(|_| {
            let _ = dir.remove(&temp);
        })
    }

    /// Makes the new number of rows count and removes files that hold none of them.
    pub(super) fn commit(&mut self, rows: u64) -> Result<(), Error> {
        let before = self.nfiles();
        self.rows = rows;
        for k in self.nfiles().saturating_add(1)..=before {
            match self.dir(k)?.remove(&file_name(k)) {
                Err(e) if e.kind != IoKind::NotFound => return Err(e.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Overwrites bytes from `at` on within the room of their chunks; not atomic.
    pub(super) fn set_in_place(&mut self, pool: &mut Pool, at: u64, data: &dyn ReadAt) -> Result<(), Error> {
        self.open.replace(None);
        let end = at.saturating_add(data.size()?);
        if end > self.nbytes() {
            return Err(Error::OutOfRange { what: "byte", index: end, len: self.nbytes() });
        }
        let edit = Edit { params: self.params, ..Edit::default() };
        let mut now = at;
        while now < end {
            let k = self.file_of_chunk(now.checked_div(self.chunk).unwrap_or(0));
            let chunks = self.chunks_of_file(k);
            let start = chunks.start.saturating_mul(self.chunk);
            let stop = end.min(chunks.end.saturating_mul(self.chunk));
            let part = Section { data, range: now.saturating_sub(at)..stop.saturating_sub(at) };
            let file = self.dir(k)?.open(&file_name(k), true)?;
            let mut pack = Bloscpack::open(file, &self.limits)?;
            pack.set_in_place(pool, &edit, now.saturating_sub(start), &part)?;
            now = stop;
        }
        Ok(())
    }

    /// Checks every super-chunk that is here; missing ones are named.
    pub fn verify(&self, pool: &mut Pool) -> Result<Vec<(u64, Error)>, Error> {
        let mut damaged = Vec::new();
        for k in 1..=self.nfiles() {
            let found = self.file(k).and_then(|pack| pack.verify(pool, true));
            match found {
                Ok(report) => damaged.extend(report.damaged.first().map(|(_, error)| (k, *error))),
                Err(error @ Error::Missing { .. }) => {
                    // A count that lies would go on like this for ever.
                    damaged.push((k, error));
                    break;
                }
                Err(error) => damaged.push((k, error)),
            }
        }
        Ok(damaged)
    }
}

impl<T: Tree> Plain for Column<T> {
    fn nbytes(&self) -> u64 {
        self.rows.saturating_mul(self.row)
    }
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.nbytes())?;
        over_chunks(self.chunk, at, out, &mut |i, range, out| self.read_part(pool, i, range, out))
    }
    fn chunk_nbytes(&self) -> u64 {
        self.chunk
    }
}

/// Bytes `range` of a source.
struct Section<'a> {
    data: &'a dyn ReadAt,
    range: Range<u64>,
}

impl ReadAt for Section<'_> {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.range.end.saturating_sub(self.range.start))
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let left = usize::try_from(self.size()?.saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = left.min(buf.len());
        self.data.read_at(self.range.start.saturating_add(offset), buf.get_mut(..n).unwrap_or_default())
    }
}
