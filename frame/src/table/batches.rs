//! [`Table`]: the rows of a table that live, batch by batch.
//!
//! ```text
//! of a .b2z file that is far    one plan for all columns: some rounds of requests, however many columns and chunks there are
//!     open     description and living rows          columns     all files that they have
//!     batches  living rows, 16 Mi at a time; then of all columns what fits into 16 MiB
//! ```

use super::column::ColumnReader;
use super::error::{Result, TableError};
use super::place::{self, Place, VALID, check_output};
use super::rows::{BATCH, batch};
use super::schema::{Column, Schema};
use crate::b2nd::NdArray;
use crate::io::{Pieces, Together};
use crate::store::Store;
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::RecordBatch;
use arrow_schema::Fields;
use core::ops::Range;

/// Most rows decoded together.
const MOST_ROWS: u64 = 1 << 16;

/// A table: [`Store::table`] opens it.
pub struct Table {
    place: Box<dyn Place>,
    /// Where its files lie together, if that is far.
    together: Option<Arc<Together>>,
    /// Its columns.
    pub schema: Schema,
    valid: NdArray<'static>,
    /// Rows that are stored.
    pub stored: u64,
    /// Rows that live.
    pub rows: u64,
    /// Where the last of them ends.
    pub last: u64,
    /// Most bytes of rows that are decoded.
    pub max_output: u64,
}

impl Store {
    /// The table that a group is, `""` being the root. Its rows are held to the store's limits.
    ///
    /// # Errors
    /// A key that is no group; and as [`Table::open`].
    pub fn table(&self, group: &str) -> Result<Table> {
        let max = self.limits().output;
        let store = self.group(group).ok_or_else(|| TableError::data(format!("has no group {group}")))?;
        let Some((store, together)) = store.together()? else { return Table::open(store, max) };
        let table = together.run(|| Table::open(store.clone(), max))??;
        Ok(Table { together: Some(together), ..table })
    }
}

impl Table {
    /// Reads the schema, and counts the rows that live. No more than `max_output` bytes of rows are decoded.
    ///
    /// # Errors
    /// A description that is missing, damaged, or of a later version; more rows than `max_output`.
    pub fn open(place: impl Place + 'static, max_output: u64) -> Result<Table> {
        let place: Box<dyn Place> = Box::new(place);
        // Both are tried before the first is looked at: what is far is fetched for both.
        let (schema, valid) = (Schema::open(&*place), place::array(&*place, VALID));
        let (schema, valid) = (schema?, valid?);
        if valid.geometry().typesize() != 1 || valid.shape().len() != 1 {
            return Err(TableError::data(format!("{VALID}: one byte for each row expected")));
        }
        let stored = valid.shape().first().copied().unwrap_or(0);
        // A byte each, and what announces more than there can be would be counted for hours.
        check_output(stored, max_output)?;
        let together = None;
        let mut table = Table { place, together, schema, valid, stored, rows: 0, last: 0, max_output };
        table.valid.want_rows(0..stored.min(Pieces::AT_ONCE));
        let mut at = 0;
        while at < stored {
            let lives = table.living(at, MOST_ROWS << 4)?;
            if let Some(last) = lives.iter().rposition(|lives| *lives) {
                table.last = at.saturating_add(last as u64).saturating_add(1);
            }
            at = at.saturating_add(lives.len() as u64);
            table.rows = table.rows.saturating_add(lives.iter().filter(|lives| **lives).count() as u64);
        }
        Ok(table)
    }

    /// Which of the stored rows from `start` on live, of at most `most` of them.
    fn living(&mut self, start: u64, most: u64) -> Result<Vec<bool>> {
        let range = start..start.saturating_add(most).min(self.stored);
        let mut bytes =
            alloc::vec![0; usize::try_from(range.end.saturating_sub(start)).unwrap_or(usize::MAX)];
        self.valid.get_slice(&[range], &mut bytes).map_err(TableError::of(VALID))?;
        Ok(bytes.iter().map(|byte| *byte != 0).collect())
    }

    /// Opens all columns that are stored.
    ///
    /// # Errors
    /// As [`Table::column`].
    pub fn columns(&self) -> Result<Vec<ColumnReader>> {
        self.columns_of(&self.schema.columns)
    }

    /// Opens some of its columns: those of a far file in as many rounds of requests as one of them takes.
    ///
    /// # Errors
    /// As [`Table::column`].
    pub fn columns_of(&self, columns: &[Column]) -> Result<Vec<ColumnReader>> {
        let one = |column| ColumnReader::open(self.place(), column, self.max_output);
        // All are tried before the first is looked at.
        let open = || columns.iter().map(one).collect::<Vec<_>>();
        let opened = match &self.together {
            Some(together) => together.run(open)?,
            None => open(),
        };
        opened.into_iter().collect()
    }

    /// Opens one of its columns.
    ///
    /// # Errors
    /// Files that are missing, damaged, or not what the schema says; a kind that is not known.
    pub fn column(&self, column: &Column) -> Result<ColumnReader> {
        let mut opened = self.columns_of(core::slice::from_ref(column))?;
        opened.pop().ok_or_else(|| TableError::data("has no such column"))
    }

    /// Where its files lie.
    pub(super) fn place(&self) -> &dyn Place {
        &*self.place
    }

    /// The rows that live, of which `range` are wanted, batch by batch, in the columns given.
    pub fn batches<'t>(&'t mut self, columns: &'t mut [ColumnReader], range: Range<u64>) -> Batches<'t> {
        let row = columns.iter().fold(1u64, |n, column| n.saturating_add(column.row_nbytes()));
        let step = BATCH.checked_div(row).unwrap_or(1).clamp(1, MOST_ROWS);
        let fields: Fields = columns.iter().map(|column| column.field().clone()).collect();
        let schema = Arc::new(arrow_schema::Schema::new(fields));
        // Batches begin where blocks do, whose lengths are powers of two, mostly.
        let step = 1u64 << step.ilog2();
        Batches { table: self, columns, schema, range, row, step, at: 0, seen: 0, total: 0, fetched: 0 }
    }

    /// What keeps the rows from being read, column by column; nothing where all can be read.
    pub fn verify(&mut self) -> Vec<TableError> {
        let (columns, all) = (self.schema.columns.clone(), 0..self.rows);
        let read = columns.iter().map(|column| {
            let mut reader = [self.column(column)?];
            self.batches(&mut reader, all.clone()).try_for_each(|batch| batch.map(drop))
        });
        read.filter_map(Result::err).collect()
    }
}

/// Batches of the rows of a table.
pub struct Batches<'t> {
    table: &'t mut Table,
    columns: &'t mut [ColumnReader],
    schema: Arc<arrow_schema::Schema>,
    range: Range<u64>,
    /// Bytes of a row, and rows decoded together.
    row: u64,
    step: u64,
    at: u64,
    seen: u64,
    total: u64,
    /// Where the rows end that were fetched.
    fetched: u64,
}

impl Batches<'_> {
    /// The columns of every batch.
    pub fn schema(&self) -> &Arc<arrow_schema::Schema> {
        &self.schema
    }

    /// Has a far source fetch which rows live from `at` on, and what the columns need of those that are wanted.
    fn fetch(&mut self, at: u64) -> Result<()> {
        let Some(together) = self.table.together.clone() else {
            self.fetched = u64::MAX;
            return Ok(());
        };
        together.trim();
        let (mut from, mut to) = (None, at.saturating_add(Pieces::AT_ONCE).min(self.table.stored));
        together.run(|| self.table.valid.want_rows(at..to))?;
        // Whole batches.
        let batches = Pieces::AT_ONCE.checked_div(self.row.saturating_mul(self.step)).unwrap_or(0).max(1);
        let mut seen = self.seen;
        for (row, lives) in (at..).zip(self.table.living(at, to.saturating_sub(at))?) {
            if row >= to || seen >= self.range.end {
                to = row;
                break;
            }
            if from.is_none() && lives && self.range.contains(&seen) {
                let skipped = row.saturating_sub(at).checked_div(self.step).unwrap_or(0);
                let end = skipped.saturating_add(batches).saturating_mul(self.step).saturating_add(at);
                (from, to) = (Some(row), to.min(end));
            }
            seen = seen.saturating_add(u64::from(lives));
        }
        if let Some(from) = from {
            together.run(|| self.columns.iter_mut().for_each(|column| column.want(from..to)))?;
        }
        self.fetched = to;
        Ok(())
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        while self.at < self.table.stored && self.seen < self.range.end {
            let at = self.at;
            if at >= self.fetched {
                self.fetch(at)?;
            }
            let mut lives = self.table.living(at, self.step)?;
            for lives in lives.iter_mut().filter(|lives| **lives) {
                *lives = self.range.contains(&self.seen);
                self.seen = self.seen.saturating_add(1);
            }
            self.at = at.saturating_add(self.step);
            let rows = lives.iter().filter(|lives| **lives).count();
            if rows > 0 {
                self.total = self.total.saturating_add((rows as u64).saturating_mul(self.row));
                check_output(self.total, self.table.max_output)?;
                let arrays = self.columns.iter_mut().map(|column| column.read(at, &lives));
                return batch(&self.schema, arrays.collect::<Result<_>>()?).map(Some);
            }
        }
        Ok(None)
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
