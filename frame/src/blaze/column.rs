//! One column: its chunks in super-chunk files, in one directory or several.
//!
//! `superchunks.rs` says which file holds a chunk. An edit writes whole files, each put in place by a rename, as
//! `dataset.rs` says; only `set_in_place` writes over chunks where they are.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::storage::{Storage, invalid, typesize};
use super::superchunks::{Files, default_superchunk, file_name, file_number};
use crate::bcolz::{Tree, Uncounted, discard};
use crate::bloscpack::{Bloscpack, Edit, Options, Spare, Stored, Writer, encode_chunk};
use crate::dtype::Dtype;
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{Fill, ReadAt, WriteAt, filled};
use crate::limits::{Limits, within};
use crate::plain::{Content, Plain, check_range, over_chunks, side_by_side};
use alloc::boxed::Box;
use alloc::vec::Vec;
use blosc_core::{Params, Pool};
use core::cell::RefCell;
use core::ops::{Range, RangeInclusive};

type File = Box<dyn WriteAt + Send + Sync>;

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
    files: Files,
    limits: Limits,
    open: RefCell<Option<(u64, Bloscpack<File>)>>,
    pub(super) params: Params,
    pub(super) reserve: u32,
    pub(super) durable: bool,
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
            files: Files {
                starts: alloc::vec![0],
                per: storage.superchunk.unwrap_or_else(|| default_superchunk(chunk)),
                unknown: None,
            },
            limits: *limits,
            open: RefCell::new(None),
            params,
            reserve: 0,
            durable: true,
        };
        if storage.superchunk.is_none() {
            column.count()?;
        }
        Ok(column)
    }

    /// Asks each file how many chunks it has, until there are enough.
    fn count(&mut self) -> Result<(), Error> {
        let needed = self.nchunks();
        let (mut total, mut k, mut starts, mut most) = (0u64, 1u64, Vec::new(), 0u64);
        while total < needed {
            let n = match self.superchunk(k) {
                Ok(pack) => pack.nchunks(),
                // A worker that has some of the files reads those by themselves.
                Err(error @ Error::Missing { .. }) => {
                    self.files.unknown = Some((total, error));
                    break;
                }
                Err(error) => return Err(error),
            };
            if n == 0 {
                return invalid("nchunks of a super-chunk", 0);
            }
            starts.push(total);
            most = most.max(n);
            total = total.saturating_add(n);
            k = k.saturating_add(1);
        }
        if most > 0 {
            self.files.starts = starts;
            self.files.per = most;
        }
        Ok(())
    }

    /// Number of chunks.
    pub fn nchunks(&self) -> u64 {
        self.rows.saturating_mul(self.row).div_ceil(self.chunk.max(1))
    }

    /// Number of super-chunk files.
    pub fn nfiles(&self) -> u64 {
        self.files.count(self.nchunks())
    }

    /// The rows that super-chunk files `files`, counted from 1, hold.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for files that are none of the dataset; where no super-chunk size is written
    /// down, [`Error::Missing`] for the first file of which the count would have to be known.
    pub fn rows_of_files(&self, files: RangeInclusive<u64>) -> Result<Range<u64>, Error> {
        let (first, last) = (*files.start(), *files.end());
        let mut chunks = self.files.chunks(first).start..self.files.chunks(last).end;
        if let Some((unknown, error)) = self.files.unknown {
            if self.files.chunks(last).start >= unknown {
                return Err(error);
            }
            chunks.end = chunks.end.min(unknown);
        }
        let len = self.nfiles();
        if first == 0 || first > last || last > len {
            return Err(Error::OutOfRange { what: "super-chunk", index: last, len });
        }
        let rows = self.chunk.checked_div(self.row).unwrap_or(0);
        Ok(chunks.start.saturating_mul(rows).min(self.rows)..chunks.end.saturating_mul(rows).min(self.rows))
    }

    /// Refuses rows that take more chunks than the limits allow: no command could open the dataset again.
    pub(super) fn check_growth(&self, rows: u64) -> Result<(), Error> {
        let chunklen = self.chunk.checked_div(self.row).unwrap_or(1).max(1);
        within("chunks", rows.div_ceil(chunklen), self.limits.chunks)
    }

    fn dir(&self, k: u64) -> Result<&T, Error> {
        let part = self.parts.iter().find(|part| part.files.contains(&k));
        let missing = Error::Missing { structure: Structure::Blaze, what: "super-chunk", number: k };
        part.map(|part| &part.dir).ok_or(missing)
    }

    /// Opens super-chunk `k`, from 1 on, by itself, and checks that its chunks are those of this dataset.
    ///
    /// # Errors
    /// [`Error::Missing`] for a file that is not here; what opening it gives; chunks of another size than the dataset's.
    pub fn superchunk(&self, k: u64) -> Result<Bloscpack<File>, Error> {
        let file = match self.dir(k)?.open(&file_name(k), false) {
            Err(e) if e.kind == IoKind::NotFound => {
                return Err(Error::Missing { structure: Structure::Blaze, what: "super-chunk", number: k });
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

    /// Reads chunk `i`, which must have `end` decoded bytes.
    fn load(&self, i: u64, end: usize) -> Result<Stored, Error> {
        self.files.check(i)?;
        let k = self.files.of(i);
        let mut open = self.open.borrow_mut();
        if open.as_ref().is_none_or(|(held, _)| *held != k) {
            *open = Some((k, self.superchunk(k)?));
        }
        let Some((_, pack)) = open.as_ref() else { return Err(IoKind::NotFound.into()) };
        self.bytes_of_chunk(pack, i, end as u64)?;
        pack.read_stored(i.saturating_sub(self.files.chunks(k).start))
    }

    /// Which decoded bytes of its super-chunk are chunk `i`; refused if the chunk lies elsewhere or has fewer than `needed`.
    fn bytes_of_chunk(&self, pack: &Bloscpack<File>, i: u64, needed: u64) -> Result<Range<u64>, Error> {
        let local = i.saturating_sub(self.files.chunks(self.files.of(i)).start);
        let bytes = pack.chunk_range(local);
        if bytes.start != local.saturating_mul(self.chunk) {
            return invalid("chunk of a super-chunk", i64::try_from(i).unwrap_or(i64::MAX));
        }
        if bytes.end.saturating_sub(bytes.start) < needed {
            return invalid("rows of the last chunk", i64::try_from(i).unwrap_or(i64::MAX));
        }
        Ok(bytes)
    }

    /// Bytes the files take that this many rows need.
    pub(super) fn stored_bytes(&self, rows: u64) -> u64 {
        let size = |k: u64| {
            self.dir(k).ok().and_then(|d| d.open(&file_name(k), false).ok()).and_then(|f| f.size().ok())
        };
        let chunks = rows.saturating_mul(self.row).div_ceil(self.chunk.max(1));
        (1..=self.files.count(chunks)).map(|k| size(k).unwrap_or(0)).fold(0, u64::saturating_add)
    }

    /// Writes every super-chunk that `content` touches, whose old rows are those of `old`; the new number of rows counts
    /// once it is written.
    pub(super) fn prepare(
        &self,
        pool: &mut Pool,
        content: &Content<'_>,
        old: &Column<T>,
    ) -> Result<(), Error> {
        old.files.check(u64::MAX)?;
        self.open.replace(None);
        let (changed, needed) = (content.changed(), content.nbytes().div_ceil(self.chunk));
        let touched =
            changed.start.checked_div(self.chunk).unwrap_or(0)..changed.end.div_ceil(self.chunk).min(needed);
        if changed.is_empty() || touched.is_empty() {
            return Ok(());
        }
        let files = self.files.of(touched.start)..=self.files.of(touched.end.saturating_sub(1));
        // The file that is there comes last: until then nothing that shows is changed.
        for k in files.rev() {
            if let Err(error) = self.write_file(pool, content, old, (k, &touched)) {
                // Files beyond the old ones count for nothing; take them away all the same.
                for k in old.nfiles().saturating_add(1)..=self.files.of(touched.end.saturating_sub(1)) {
                    let _ = self.dir(k)?.remove(&file_name(k));
                }
                return Err(error);
            }
        }
        // Where a file is open, some systems do not let its directory be renamed.
        self.open.replace(None);
        old.open.replace(None);
        Ok(())
    }

    fn write_file(
        &self,
        pool: &mut Pool,
        content: &Content<'_>,
        source: &Column<T>,
        (k, touched): (u64, &Range<u64>),
    ) -> Result<(), Error> {
        let chunks = self.files.chunks(k);
        let start = chunks.start.saturating_mul(self.chunk);
        let end = chunks.end.saturating_mul(self.chunk).min(content.nbytes());
        let options = self.options();
        let old = match source.nfiles() >= k {
            true => Some(source.superchunk(k)?),
            false => None,
        };
        let (mut plain, mut room) = (Vec::new(), Vec::new());
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
                        plain.resize(usize::try_from(n).map_err(|_| IoKind::OutOfMemory)?, 0);
                        content.read(pool, source, at, &mut plain)?;
                        let chunk =
                            encode_chunk((&mut *pool, &mut room), &self.params, &plain, self.reserve)?;
                        writer.write_encoded(&chunk, nbytes)?;
                    }
                }
                at = at.saturating_add(n);
            }
            writer.finish(pool).map(drop)
        };
        self.replace_file(k, &mut fill)
    }

    fn replace_file(&self, k: u64, fill: &mut Fill<'_>) -> Result<(), Error> {
        let dir = self.dir(k)?;
        if self.durable {
            return dir.replace(&file_name(k), fill).map_err(Error::of_a_part);
        }
        let (temp, mut file) = dir.create_temp(&file_name(k))?;
        let written = fill(&mut file);
        drop(file);
        written.and_then(|()| Ok(dir.rename(&temp, &file_name(k))?)).inspect_err(|_| {
            let _ = dir.remove(&temp);
        })
    }

    /// Whether new content lies in one file that is there, with as many rows as before.
    pub(super) fn in_one_file(&self, content: &Content<'_>) -> bool {
        let file = |at: u64| self.files.of(at.checked_div(self.chunk).unwrap_or(0));
        let changed = content.changed();
        content.nbytes() == self.nbytes() && file(changed.start) == file(changed.end.saturating_sub(1))
    }

    /// What lies in the directories beside the rows that count.
    pub(super) fn beside(&self) -> Result<Uncounted, Error> {
        let (mut found, files) = (Uncounted::default(), self.nfiles());
        for part in &self.parts {
            let names = part.dir.list()?;
            let more = names.iter().filter(|name| file_number(name).is_some_and(|k| k > files)).count();
            found.files = found.files.saturating_add(more as u64);
        }
        // A file that cannot be read is for `verify` to report.
        let mut k = files.max(1);
        while let Ok(pack) = self.superchunk(k) {
            let chunks = self.files.chunks(k);
            let bytes = pack.nchunks().checked_sub(1).map_or(0, |last| pack.chunk_range(last).end);
            let counted = self.nbytes().saturating_sub(chunks.start.saturating_mul(self.chunk)).min(bytes);
            let more = bytes.saturating_sub(counted).checked_div(self.row).unwrap_or(0);
            found.rows = found.rows.saturating_add(more);
            if pack.nchunks() < chunks.end.saturating_sub(chunks.start) {
                break;
            }
            k = k.saturating_add(1);
        }
        Ok(found)
    }

    /// Removes what lies in the directories beside the rows that count.
    pub(super) fn tidy(&self, pool: &mut Pool) -> Result<(), Error> {
        let k = self.nfiles();
        for part in &self.parts {
            for name in part.dir.list()?.iter().filter(|name| file_number(name).is_some_and(|n| n > k)) {
                discard(&part.dir, name)?;
            }
        }
        // The rows count already: a file that cannot be read is for whoever reads it to report.
        let Ok(last) = self.superchunk(k) else { return Ok(()) };
        let counted = self.nbytes().saturating_sub(self.files.chunks(k).start.saturating_mul(self.chunk));
        let bytes = last.nchunks().checked_sub(1).map_or(0, |last_chunk| last.chunk_range(last_chunk).end);
        if k == 0 || bytes <= counted {
            return Ok(());
        }
        drop(last);
        self.open.replace(None);
        let content = Content::splice(self.nbytes(), 0..0, Vec::new())?;
        self.write_file(pool, &content, self, (k, &(0..0)))?;
        self.open.replace(None);
        Ok(())
    }

    /// How super-chunk files are written. Chunks are within [`MAX_BUFFER`](crate::bloscpack::MAX_BUFFER), as opening checks.
    fn options(&self) -> Options {
        Options {
            chunk_size: u32::try_from(self.chunk).unwrap_or(u32::MAX),
            params: self.params,
            spare: Spare::Chunks(0),
            fixed_chunk_size: true,
            ..Options::default()
        }
    }

    /// Overwrites bytes from `at` on within the room of their chunks, or only finds out whether they fit.
    pub(super) fn set_in_place(
        &mut self,
        pool: &mut Pool,
        at: u64,
        data: &dyn ReadAt,
        only_try: bool,
    ) -> Result<(), Error> {
        self.open.replace(None);
        let end = at.saturating_add(data.size()?);
        if end > self.nbytes() {
            return Err(Error::OutOfRange { what: "byte", index: end, len: self.nbytes() });
        }
        let edit = Edit { params: self.params, ..Edit::default() };
        let mut now = at;
        while now < end {
            let i = now.checked_div(self.chunk).unwrap_or(0);
            self.files.check(i)?;
            let k = self.files.of(i);
            let chunks = self.files.chunks(k);
            let start = chunks.start.saturating_mul(self.chunk);
            let stop = end.min(chunks.end.saturating_mul(self.chunk));
            let part = Section { data, range: now.saturating_sub(at)..stop.saturating_sub(at) };
            let file = self.dir(k)?.open(&file_name(k), !only_try)?;
            let mut pack = Bloscpack::open(file, &self.limits)?;
            let local = now.saturating_sub(start);
            match only_try {
                true => drop(pack.fit(pool, &edit, local, &part)?),
                false => pack.set_in_place(pool, &edit, local, &part)?,
            }
            now = stop;
        }
        Ok(())
    }

    /// Checks whether the rows can be read: their super-chunks are there, with all of their chunks, checksums right, and
    /// with `decode` streams too. Chunks behind the last row, which an append that was cut off leaves, are no damage.
    ///
    /// Each super-chunk that fails is named once.
    ///
    /// # Errors
    /// Only what keeps the directory from being read at all.
    pub fn verify(&self, pool: &mut Pool, decode: bool) -> Result<Vec<(u64, Error)>, Error> {
        let mut damaged = Vec::new();
        for k in 1..=self.nfiles() {
            match self.verify_superchunk(pool, k, decode) {
                Ok(()) => {}
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

    fn verify_superchunk(&self, pool: &mut Pool, k: u64, decode: bool) -> Result<(), Error> {
        let pack = self.superchunk(k)?;
        let chunks = self.files.chunks(k);
        let end = chunks.end.min(self.nchunks());
        for i in chunks.start..end {
            let needed = self.nbytes().saturating_sub(i.saturating_mul(self.chunk)).min(self.chunk);
            self.bytes_of_chunk(&pack, i, needed)?;
        }
        let needed = end.saturating_sub(chunks.start);
        let report = pack.verify(pool, decode)?;
        report.damaged.into_iter().find(|(i, _)| *i < needed).map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl<T: Tree> Plain for Column<T> {
    fn nbytes(&self) -> u64 {
        self.rows.saturating_mul(self.row)
    }
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.nbytes())?;
        let all = (out.len(), self.chunk);
        let parts = over_chunks(self.chunk, at, out)
            .map(|(i, range, out)| self.load(i, range.end).map(|stored| (stored, range, out)));
        side_by_side(pool, all, parts, |pool, (stored, range, out)| stored.decode(pool, range, out))
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
        self.data.read_at(self.range.start.saturating_add(offset), filled(buf, self.size()?, offset))
    }
}
