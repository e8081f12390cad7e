//! Edits of a dataset.
//!
//! ```text
//! rows are added    meta/__pending__ says how many count; super-chunk files, each by a rename; `sizes`, from which the
//!                   number of rows comes, by a rename; no __pending__
//! one file is set   by a rename
//! anything else     in a second directory with the same files, which then takes the place of the first (Tree::rewrite)
//! ```
//! Each is undone or done, wherever it stops. What lies in shards is only added to, or set in one file.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::super::storage::{dflt_of, sizes_value};
use super::{Blaze, read, write};
use crate::bcolz::{Announced, PENDING, Sizes, Tree, Uncounted, announce, default_item, discard, uncounted};
use crate::error::{Error, Structure};
use crate::io::ReadAt;
use crate::packed::{ColumnRange, Strided};
use crate::plain::{Content, Piece, Plain};
use crate::rows::{Rows, count, growth};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

impl<T: Tree + Clone> Blaze<T> {
    /// Before an edit: an error if another writer was here since this handle last read or wrote the dataset; refuses rows
    /// that somebody else left, and removes what a writer left that died.
    fn check_edit(&self, pool: &mut Pool) -> Result<(), Error> {
        let found = read(&self.meta, "sizes")?.map(|(sizes, _)| Sizes::from_value(&sizes)).transpose()?;
        if found.as_ref() != Some(&self.sizes) {
            return Err(Error::Changed { what: "meta/sizes; open the dataset again, then edit" });
        }
        if Announced::read(&self.meta)?.is_of(self.rows()) {
            return self.tidy(pool);
        }
        if self.beside()?.any() { Err(uncounted(Structure::Blaze)) } else { Ok(()) }
    }

    /// What lies in the directory beside the rows that count: as many rows as all columns have, and all files. Of a writer
    /// that is at work, or died while it added rows, this knows nothing.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn uncounted(&self) -> Result<Uncounted, Error> {
        match Announced::read(&self.meta)?.is_of(self.rows()) {
            true => Ok(Uncounted::default()),
            false => self.beside(),
        }
    }

    fn beside(&self) -> Result<Uncounted, Error> {
        let all = self.columns.iter().map(|(_, column)| column.beside());
        Ok(Uncounted::of_all(all.collect::<Result<_, _>>()?))
    }

    /// Removes what lies in the directory beside the rows that count.
    fn tidy(&self, pool: &mut Pool) -> Result<(), Error> {
        self.columns.iter().try_for_each(|(_, column)| column.tidy(pool))?;
        discard(&self.meta, PENDING)
    }

    /// Has `rows` rows count, of those that are on disk, and removes the others.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for more rows than are there; super-chunks that are damaged.
    pub fn settle(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        let most = self.rows().saturating_add(self.beside()?.rows);
        if rows > most {
            return Err(Error::OutOfRange { what: "row", index: rows, len: most });
        }
        self.columns.iter().try_for_each(|(_, column)| column.check_growth(rows))?;
        let limits = self.limits;
        self.whole()?.rewrite(|dir| {
            Blaze::open(&dir, &limits)?.durable(false).commit(rows)?;
            // With those rows it may have more files.
            let new = Blaze::open(&dir, &limits)?.durable(false);
            match new.verify(pool, true)?.pop() {
                Some((_, _, error)) => Err(error),
                None => new.tidy(pool),
            }
        })?;
        self.reload()
    }

    fn whole(&self) -> Result<&T, Error> {
        let why = "the dataset lies in several directories, where rows can only be added, or set in one file; convert it";
        self.root.as_ref().ok_or(Error::NotAtomic { why })
    }

    /// Opens what the directory holds now.
    fn reload(&mut self) -> Result<(), Error> {
        let mut new = Blaze::open(self.whole()?, &self.limits)?.durable(self.durable);
        for ((_, new), (_, old)) in new.columns.iter_mut().zip(&self.columns) {
            new.reserve = old.reserve;
        }
        *self = new;
        Ok(())
    }

    /// Makes new content of the columns, one for each, in one step.
    fn change(&mut self, pool: &mut Pool, rows: u64, contents: &[Content<'_>]) -> Result<(), Error> {
        let all = || self.columns.iter().map(|(_, column)| column).zip(contents);
        let adds = all().all(|(column, content)| content.changed().start >= column.nbytes());
        let one = self.columns.len() == 1 && all().all(|(column, content)| column.in_one_file(content));
        if adds || one || all().all(|(_, content)| content.changed().is_empty()) {
            if self.durable && !one {
                announce(&self.meta, self.rows(), false)?;
            }
            all().try_for_each(|(column, content)| column.prepare(pool, content, column))?;
            let done = self.commit(rows);
            // Where rows were set, they are there; how many bytes they take is told for information only.
            return if adds { done } else { Ok(()) };
        }
        let limits = self.limits;
        self.whole()?.rewrite(|dir| {
            let mut new = Blaze::open(&dir, &limits)?.durable(false);
            for (((_, new), (_, old)), content) in new.columns.iter_mut().zip(&self.columns).zip(contents) {
                new.reserve = old.reserve;
                new.prepare(pool, content, old)?;
            }
            new.commit(rows)?;
            new.tidy(pool)
        })?;
        self.reload()
    }

    /// Makes the new number of rows count.
    fn commit(&mut self, rows: u64) -> Result<(), Error> {
        if let Some(first) = self.sizes.shape.first_mut() {
            *first = rows;
        }
        self.sizes.nbytes = rows.saturating_mul(self.row_nbytes());
        self.sizes.cbytes =
            self.columns.iter().fold(0, |n, (_, column)| n.saturating_add(column.stored_bytes(rows)));
        if self.durable && self.fresh {
            let storage = self.storage.to_value(&self.sizes.shape, self.syntax);
            write(&self.meta, "storage", &storage, self.syntax, true)?;
            write(&self.meta, "attributes", &self.attrs, self.syntax, true)?;
            self.fresh = false;
        }
        write(&self.meta, "sizes", &sizes_value(&self.sizes, self.syntax), self.syntax, self.durable)?;
        self.columns.iter_mut().for_each(|(_, column)| column.rows = rows);
        // Where it stays, it says how many rows there were.
        let _ = discard(&self.meta, PENDING);
        Ok(())
    }
}

impl<T: Tree + Clone> Rows for Blaze<T> {
    fn row_nbytes(&self) -> u64 {
        self.columns.iter().fold(0, |n, (_, column)| n.saturating_add(column.row))
    }

    fn rows(&self) -> u64 {
        self.sizes.rows()
    }

    fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        self.check_edit(pool)?;
        let row = self.row_nbytes();
        let count = count(row, data)?;
        let column_ranges = self.column_ranges();
        let strided = |range: &ColumnRange| Strided { data, row, range: *range, rows: count };
        let sources: Vec<_> = column_ranges.iter().map(strided).collect();
        let mut contents = Vec::new();
        for (((_, column), place), source) in self.columns.iter().zip(&column_ranges).zip(&sources) {
            let pieces = alloc::vec![Piece::New(source, 0..count.saturating_mul(place.len))];
            let range = rows.start.saturating_mul(place.len)..rows.end.saturating_mul(place.len);
            contents.push(Content::splice(column.nbytes(), range, pieces)?);
        }
        let gone = rows.end.saturating_sub(rows.start);
        self.change(pool, self.rows().saturating_sub(gone).saturating_add(count), &contents)
    }

    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.check_edit(pool)?;
        let (mut items, mut ranges) = (Vec::new(), Vec::new());
        for (path, column) in &self.columns {
            column.check_growth(rows)?;
            ranges.push(growth(column.nbytes(), column.row, rows)?);
            items.push(default_item(&column.dtype, dflt_of(&self.storage.names, &self.storage.dflt, path)));
        }
        let mut contents = Vec::new();
        for (((_, column), (range, more)), item) in self.columns.iter().zip(ranges).zip(&items) {
            contents.push(Content::splice(column.nbytes(), range, alloc::vec![Piece::Fill(item, more)])?);
        }
        self.change(pool, rows, &contents)
    }

    fn set_reserve(&mut self, bytes: u32) {
        self.columns.iter_mut().for_each(|(_, column)| column.reserve = bytes);
    }

    fn set_in_place(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let bytes = self.row_nbytes();
        let rows = count(bytes, data)?;
        let column_ranges = self.column_ranges();
        // All of them must fit before any is written.
        for only_try in [true, false] {
            for ((_, column), &place) in self.columns.iter_mut().zip(&column_ranges) {
                let source = Strided { data, row: bytes, range: place, rows };
                column.set_in_place(pool, row.saturating_mul(place.len), &source, only_try)?;
            }
        }
        Ok(())
    }
}
