//! Rows of equal size: bloscpack files, bcolz and Blaze directories, NumPy files.

use super::boxes::{self, Axis};
use super::{Items, NpyHead, Reader, bcolz, blaze, bloscpack, copy, pool};
use crate::args::Input;
use crate::cut::Cut;
use crate::failure::{Failure, Findings, Result, asked, failure};
use crate::limits::check_output;
use crate::output::notice;
use crate::streams::unnamed_of;
use crate::trailing::Trailing;
use blosc_core::Pool;
use blosc_frame::any::{AnyRows, Container, Found, Kind, open_found};
use blosc_frame::b2nd::{Dims, Dtype};
use blosc_frame::bloscpack::{Numpy, Order};
use blosc_frame::npy::NpyHeader;
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Limits, Rows};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

/// Bytes of rows that the library puts into C order at a time.
const HELD: u64 = 64 << 20;

/// A container of rows.
pub struct RowsReader {
    path: PathBuf,
    /// The container, for who changes it.
    pub opened: AnyRows,
    column: Option<String>,
    max_output: u64,
    pool: Pool,
}

impl RowsReader {
    /// A column that is asked for must be there.
    pub fn new(path: &Path, opened: AnyRows, input: &Input, max_output: u64) -> Result<RowsReader> {
        let (column, pool) = (input.column.first().cloned(), pool(&input.run));
        let reader = RowsReader { path: path.to_path_buf(), opened, column, max_output, pool };
        view(&reader.opened, reader.column.as_deref()).map_err(failure(path))?;
        Ok(reader)
    }

    /// Prepares for reading many rows. Those of an array in Fortran order are spread over all chunks, which would be
    /// decoded again for each [`HELD`] bytes of rows: a larger array is decoded once, to a file without a name, in which
    /// zeros take no room; unless `--max-output` forbids as much.
    ///
    /// # Errors
    /// Chunks that cannot be decoded, and no room for the file.
    pub fn prepare(&mut self) -> Result<()> {
        let RowsReader { opened, pool, path, max_output, .. } = self;
        let Container::Bloscpack(rows) = &opened.data else { return Ok(()) };
        let fortran = |numpy: &&Numpy| numpy.order == Order::F && numpy.shape.len() > 1;
        let (pack, numpy, path) = (rows.pack(), rows.numpy().filter(fortran), path.as_path());
        let (Some(numpy), true) = (numpy, (HELD..=*max_output).contains(&pack.nbytes())) else {
            return Ok(());
        };
        let Some(shape) = Dims::new(&numpy.shape) else { return Ok(()) };
        let header = NpyHeader { dtype: numpy.dtype.clone(), fortran: true, shape }.to_bytes()?;
        let file = unnamed_of(path, &mut |file| {
            file.write_all(&header)?;
            copy(pack, pool, path, 0..pack.nbytes(), &mut Holes(file), &|_| {})?;
            // Holes at the end are no part of the file yet.
            Ok(file.set_len(pack.nbytes() + header.len() as u64)?)
        })?;
        let items = Found::of(path, file, 0).and_then(|found| open_found(found, &Limits::NONE, false));
        opened.data = items.map_err(failure(path))?.data;
        Ok(())
    }

    /// Writes all decoded bytes in the order in which they are stored. That of a bloscpack file of an array may be
    /// Fortran order, which is said.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_stored(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let Container::Bloscpack(rows) = &self.opened.data else {
            return self.read(&Cut::ALL, out, progress);
        };
        if rows.numpy().is_some_and(|numpy| numpy.order == Order::F && numpy.shape.len() > 1) {
            let what = "the bytes are those of an array in Fortran order, as it is stored";
            notice(format_args!(
                "{}: {what}; -o NAME.npy or convert give its items in C order",
                self.path.display()
            ));
        }
        let pack = rows.pack();
        check_output(&self.path, pack.nbytes(), self.max_output)?;
        copy(pack, &mut self.pool, &self.path, 0..pack.nbytes(), out, progress)
    }

    /// Whether `cut` names axes, and not rows alone.
    fn has_axes(&self, cut: &Cut<'_>) -> bool {
        let axes = self.items().shape.len();
        let most = [cut.start.len(), cut.stop.len(), cut.step.len()].into_iter().max().unwrap_or(0);
        most > 1 && most <= axes || axes > 0 && !cut.step.is_empty()
    }

    fn axes(&self, cut: &Cut<'_>) -> Result<Vec<Axis>> {
        boxes::axes(&cut.takes(&self.items().shape)?)
            .ok_or_else(|| Failure::at(&self.path, "is not cut at single indices"))
    }

    /// Writes the items that `cut` selects by axis, in C order.
    fn read_axes(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let (axes, item) = (self.axes(cut)?, self.items().size);
        check_output(&self.path, boxes::items(&axes).saturating_mul(item), self.max_output)?;
        self.prepare()?;
        let (plain, items) = view(&self.opened, self.column.as_deref()).map_err(failure(&self.path))?;
        let (pool, path) = (&mut self.pool, self.path.as_path());
        boxes::pieces(&axes, &[], item, HELD, &mut |piece| {
            let sides = piece.start.iter().zip(&piece.shape);
            let ranges: Vec<Range<u64>> = sides.map(|(start, side)| *start..start + side).collect();
            let nbytes = piece.shape.iter().fold(item, |n, side| n.saturating_mul(*side));
            let mut data = vec![0; usize::try_from(nbytes).unwrap_or(usize::MAX)];
            plain.read_box(pool, (&items.shape, item), &ranges, &mut data).map_err(failure(path))?;
            let data = piece.select(data, usize::try_from(item).unwrap_or(usize::MAX));
            out.write_all(&data)?;
            progress(data.len() as u64);
            Ok(())
        })
    }

    /// Writes these rows, or all bytes there are.
    fn read_rows(
        &mut self,
        rows: Option<Range<u64>>,
        out: &mut dyn Write,
        progress: &dyn Fn(u64),
    ) -> Result<()> {
        let asked = |rows: &Range<u64>| (rows.end - rows.start).saturating_mul(self.items().row());
        if rows.as_ref().is_none_or(|rows| asked(rows) > HELD) {
            self.prepare()?;
        }
        let (plain, items) = view(&self.opened, self.column.as_deref()).map_err(failure(&self.path))?;
        let row = items.row();
        let bytes = rows.map_or(0..plain.nbytes(), |rows| rows.start * row..rows.end * row);
        check_output(&self.path, bytes.end - bytes.start, self.max_output)?;
        copy(plain, &mut self.pool, &self.path, bytes, out, progress)
    }

    /// What lies behind the last chunk of a bloscpack file.
    pub fn trailing(&self) -> Result<Option<Trailing>> {
        let Container::Bloscpack(pack) = &self.opened.data else { return Ok(None) };
        let end = pack.pack().end().map_err(failure(&self.path))?;
        Trailing::of(Kind::Bloscpack, pack.pack().source(), 0, end)
    }

    /// Checks every checksum, and unless `quick` decodes everything.
    pub fn verify(&mut self, quick: bool, progress: &dyn Fn(u64)) -> Result<Findings> {
        let RowsReader { opened, pool, path, column, .. } = self;
        let nbytes = opened.data.nbytes();
        if !quick {
            opened.check_limit().map_err(failure(path))?;
        }
        let found = match &opened.data {
            Container::Bloscpack(pack) => bloscpack::verify(pack.pack(), pool, !quick),
            Container::Blaze(set) => blaze::verify(set, column.as_deref(), pool, !quick),
            _ if quick => {
                let which = "only bloscpack files and Blaze directories have checksums for that";
                return Err(Failure::Usage(format!("--quick: {which}")));
            }
            Container::Column(column) => bcolz::verify_column(column, pool),
            Container::Table(table) => match column {
                Some(name) => table.column(name).and_then(|column| bcolz::verify_column(column, pool)),
                None => bcolz::verify_table(table, pool),
            },
            _ => Ok(Findings::new(json!({"kind": opened.about.kind, "nbytes": nbytes, "checksums": "none"}))),
        };
        progress(nbytes);
        found.map_err(failure(path))
    }

    /// Writes what these super-chunk files hold. Only Blaze directories have any.
    pub fn read_superchunks(&mut self, files: RangeInclusive<u64>, out: &mut dyn Write) -> Result<()> {
        let Container::Blaze(set) = &self.opened.data else {
            return Err(Failure::Usage("--superchunks: only Blaze directories have super-chunks".into()));
        };
        let column = blaze::chosen(set, self.column.as_deref());
        let rows = match column {
            Some(column) => column.rows_of_files(files.clone()),
            None => set.rows_of_files(files.clone()),
        };
        match (rows, column) {
            (Ok(rows), _) => self.read_rows(Some(rows), out, &|_| {}),
            // Which rows these are cannot be told without the files before them; what they hold can.
            (Err(Error::Missing { .. }), Some(column)) => files.into_iter().try_for_each(|k| {
                let pack = column.superchunk(k).map_err(failure(&self.path))?;
                check_output(&self.path, pack.nbytes(), self.max_output)?;
                copy(&pack, &mut self.pool, &self.path, 0..pack.nbytes(), out, &|_| {})
            }),
            (Err(error), _) => Err(asked(error).about(self.path.display())),
        }
    }
}

/// A file in which zeros are left out.
struct Holes<'f>(&'f mut File);

impl Write for Holes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let page = bytes.get(..4096).unwrap_or(bytes);
        match page.iter().all(|byte| *byte == 0) {
            true => self.0.seek_relative(page.len() as i64)?,
            false => self.0.write_all(page)?,
        }
        Ok(page.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What is to be read: everything, or one column of a table.
fn view<'o>(opened: &'o AnyRows, column: Option<&str>) -> std::result::Result<(&'o dyn Plain, Items), Error> {
    let AnyRows { data, about, .. } = opened;
    Ok(match (data, column) {
        (Container::Table(table), Some(name)) => {
            let column = table.column(name)?;
            let (dtype, shape) = (column.storage().dtype.clone(), column.shape().to_vec());
            let size = dtype.itemsize().into();
            (column, Items { dtype: Some(dtype), shape, size })
        }
        (Container::Blaze(set), Some(name)) => {
            let (column, rows) = (set.column(name)?, set.rows());
            match column_dtype(&set.storage().names.dtype()?, name) {
                Some(dtype) => {
                    let size = dtype.itemsize().into();
                    let shape = set.shape().to_vec();
                    (column, Items { dtype: Some(dtype), shape, size })
                }
                None => {
                    let size = column.nbytes().checked_div(rows).unwrap_or(1);
                    (column, Items { dtype: None, shape: vec![rows], size })
                }
            }
        }
        _ => {
            let size = about.dtype.as_ref().map_or(about.typesize, |dtype| dtype.itemsize()).max(1).into();
            let shape = about.shape.clone().unwrap_or_else(|| vec![data.nbytes() / size]);
            (data, Items { dtype: about.dtype.clone(), shape, size })
        }
    })
}

/// The type of the column at `path` in records of `dtype`, such as `position.x`.
fn column_dtype(dtype: &Dtype, path: &str) -> Option<Dtype> {
    let field = |dtype: Dtype, name: &str| match dtype {
        Dtype::Struct(record) => {
            record.fields.iter().find(|field| field.name == name).map(|field| field.dtype.clone())
        }
        _ => None,
    };
    path.split('.').try_fold(dtype.clone(), field)
}

impl Reader for RowsReader {
    fn info(&mut self) -> Result<Value> {
        let about = &self.opened.about;
        match &self.opened.data {
            Container::Bloscpack(pack) => bloscpack::info(pack.pack()),
            Container::Column(column) => bcolz::column_info(column, &self.path),
            Container::Table(table) => match &self.column {
                Some(name) => table.column(name).and_then(|c| bcolz::column_info(c, &self.path.join(name))),
                None => bcolz::table_info(table, &self.path),
            },
            Container::Blaze(set) => blaze::info(set, self.column.as_deref()),
            data => {
                let dtype = about.dtype.as_ref().map(ToString::to_string);
                return Ok(json!({
                    "kind": about.kind, "dtype": dtype, "shape": about.shape, "nbytes": data.nbytes(),
                }));
            }
        }
        .map_err(failure(&self.path))
    }

    fn items(&self) -> Items {
        let none = Items { dtype: None, shape: vec![0], size: 1 };
        view(&self.opened, self.column.as_deref()).map_or(none, |(_, items)| items)
    }

    fn read(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        if self.has_axes(cut) {
            return self.read_axes(cut, out, progress);
        }
        let rows = self.items().some(cut)?;
        self.read_rows(rows, out, progress)
    }

    fn npy_head(&mut self, cut: &Cut<'_>) -> Result<Option<NpyHead>> {
        if !self.has_axes(cut) {
            return self.items().npy_head(cut);
        }
        let sides: Vec<u64> = self.axes(cut)?.iter().map(|axis| boxes::items(&[*axis])).collect();
        let (Some(dtype), Some(shape)) = (self.items().dtype, Dims::new(&sides)) else { return Ok(None) };
        Ok(Some(NpyHead::of(NpyHeader { dtype, fortran: false, shape })?))
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Findings> {
        RowsReader::verify(self, false, progress)
    }
}
