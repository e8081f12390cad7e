//! Changing the shape. Only whole chunks appear and disappear; the others are never moved, only their
//! entries are put into another order.
//!
//! ```text
//! order[new chunk] = old chunk that has its items, or a new chunk of zeros
//! append the new chunks; reorder; delete from the end what nothing refers to; write the shape
//! ```
//! Unlike the reference's, edges are kept clean: what lies beyond a new end is set to zero, when an axis
//! shrinks and again when it grows (files of others may hold old data there).

use super::array::ArrayOn;
use super::defaults::{Caches, default_parts};
use super::room::{check_len, zeroed};
use super::select::{Selection, Take};
use super::walk::{gather, scatter};
use crate::error::{Error, IoKind};
use crate::schunk::SuperChunk;
use crate::shape::Dims;
use crate::shape::Geometry;
use alloc::vec::Vec;
use blosc_core::Special;
use core::borrow::BorrowMut;
use core::ops::Range;

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// Changes the shape. Items that stay keep their index; new ones are zero.
    ///
    /// # Errors
    /// Another number of axes, sizes beyond the format's limits, growing an array whose chunks have no
    /// size.
    pub fn resize(&mut self, shape: &[u64]) -> Result<(), Error> {
        self.resize_with(shape, true)
    }

    /// `clean` is false where the caller sets all new items itself.
    fn resize_with(&mut self, shape: &[u64], clean: bool) -> Result<(), Error> {
        self.choose_parts(shape)?;
        let new = self.layout.geometry.with_shape(shape)?;
        let old = self.layout.geometry;
        let kept = old.shape().map_with(new.shape(), u64::min);
        let inside = old.with_shape(&kept)?;
        self.rearrange(&inside, |position| Some(*position))?;
        self.clean_edges(&inside, |axis| {
            let s = kept.at(axis);
            s < old.shape().at(axis) || (clean && s < new.shape().at(axis))
        })?;
        self.rearrange(&new, |position| {
            let exists = position.iter().zip(inside.grid().iter()).all(|(p, n)| p < n);
            exists.then_some(*position)
        })
    }

    /// Changes the shape inside the axes, as `b2nd_resize` of C-Blosc2 does: the items of each axis that come, as zeros, or go
    /// begin at index `start`. Where that is not the end of the axis they are whole chunks: no item changes its place in a chunk.
    ///
    /// # Errors
    /// `Param` for another number of axes and for places that are not so; and as [`ArrayOn::resize`].
    pub fn resize_at(&mut self, shape: &[u64], start: &[u64]) -> Result<(), Error> {
        let old = self.layout.geometry;
        let axes = || old.shape().iter().zip(shape).zip(start).enumerate();
        if shape.len() != old.ndim() || start.len() != old.ndim() {
            let value = shape.len() as i64;
            return Err(Error::Param { name: "ndim", value, allowed: "that of the array" });
        }
        for (axis, ((before, now), at)) in axes() {
            let (unit, end) = (u64::from(old.chunks().at(axis)).max(1), *before.min(now));
            let whole = at.is_multiple_of(unit) && before.abs_diff(*now).is_multiple_of(unit);
            if now != before && (*at > end || (*at < end && !whole)) {
                let allowed = "the end of the axis, or where a chunk begins if whole chunks come or go";
                return Err(Error::Param { name: "start", value: i64::try_from(*at).unwrap_or(-1), allowed });
            }
        }
        for (axis, ((before, now), at)) in axes() {
            if now < before {
                self.delete(axis, *at..at.saturating_add(before.saturating_sub(*now)))?;
            } else if at < before && now > before {
                self.open_gap(axis, *at, now.saturating_sub(*before))?;
            } else if now > before {
                let mut longer = *self.shape();
                longer.iter_mut().skip(axis).take(1).for_each(|side| *side = *now);
                self.resize(&longer)?;
            }
        }
        Ok(())
    }

    /// Chooses chunks and blocks for an array that was made with an axis of no items, where chunks have none either,
    /// before it grows to `shape`. It is likely to grow on.
    fn choose_parts(&mut self, shape: &[u64]) -> Result<(), Error> {
        let old = self.layout.geometry;
        let sides = old.chunks().iter().zip(old.blocks().iter()).map(|(c, b)| *c.min(b));
        let grows: Vec<bool> = sides.zip(shape).map(|(side, n)| side == 0 && *n > 0).collect();
        if shape.contains(&0) || !grows.contains(&true) {
            return Ok(());
        }
        let roomy: Vec<u64> =
            shape.iter().zip(grows).map(|(n, grows)| if grows { (*n).max(1 << 20) } else { *n }).collect();
        let (chunks, blocks) = default_parts(&roomy, old.typesize(), None, None, &Caches::default());
        let new = Geometry::asked(old.shape(), &chunks, &blocks, old.typesize())?;
        self.edit().set_blocksize(new.block_bytes());
        self.store_layout(self.layout.with_geometry(new))
    }

    /// Appends `data`, which has the array's shape but for `axis`, at the end of that axis.
    ///
    /// # Errors
    /// Data that is no whole number of rows, and as [`ArrayOn::resize`] and [`ArrayOn::set`].
    pub fn append(&mut self, axis: usize, data: &[u8]) -> Result<(), Error> {
        let end = self.side(axis)?;
        self.insert(axis, end, data)
    }

    /// Inserts `data`, which has the array's shape but for `axis`, before index `at` of that axis. Where
    /// `at` and the number of rows are multiples of the chunk's side, no other item is touched.
    ///
    /// # Errors
    /// As [`ArrayOn::append`], and `OutOfRange` for an index beyond the end.
    pub fn insert(&mut self, axis: usize, at: u64, data: &[u8]) -> Result<(), Error> {
        let rows = self.make_room(axis, at, data.len() as u64)?;
        if rows == 0 {
            return Ok(());
        }
        let new = self.along(axis, at..at.saturating_add(rows))?;
        self.set(&new, data)
    }

    /// Makes room for `bytes` bytes of whole rows before index `at`; what they hold is not defined. Gives their number.
    pub(super) fn make_room(&mut self, axis: usize, at: u64, bytes: u64) -> Result<u64, Error> {
        let len = self.side(axis)?;
        let row = self.row_bytes(axis)?;
        let rows = bytes.checked_div(row).unwrap_or(0);
        check_len(rows.saturating_mul(row), usize::try_from(bytes).unwrap_or(usize::MAX))?;
        if at > len {
            return Err(Error::OutOfRange { what: "index", index: at, len });
        }
        if rows > 0 {
            self.open_gap(axis, at, rows)?;
        }
        Ok(rows)
    }

    /// Makes room for `rows` rows before index `at`; what they hold is not defined.
    fn open_gap(&mut self, axis: usize, at: u64, rows: u64) -> Result<(), Error> {
        let len = self.side(axis)?;
        let c = u64::from(self.layout.geometry.chunks().at(axis)).max(1);
        let mut shape = *self.shape();
        if let Some(side) = shape.get_mut(axis) {
            let (what, asked, most) = ("rows", rows, u64::MAX.saturating_sub(*side));
            *side = side.checked_add(rows).ok_or(Error::Capacity { what, asked, most })?;
        }
        if at < len && at.is_multiple_of(c) && rows.is_multiple_of(c) {
            let new = self.layout.geometry.with_shape(&shape)?;
            let gap = at / c..at.saturating_add(rows) / c;
            return self.rearrange(&new, |position| {
                let mut from = *position;
                let p = from.get_mut(axis)?;
                if gap.contains(p) {
                    return None;
                }
                if *p >= gap.end {
                    *p = p.saturating_sub(gap.end.saturating_sub(gap.start));
                }
                Some(from)
            });
        }
        self.resize_with(&shape, false)?;
        // Rows move towards the end, the last first.
        let step = self.shift_step(axis, c);
        let mut end = len;
        while end > at {
            let start = end.saturating_sub(step).max(at);
            self.move_rows(axis, start..end, start.saturating_add(rows))?;
            end = start;
        }
        Ok(())
    }

    /// Deletes `rows` of `axis`. Where they begin and end with a chunk, no other item is touched.
    ///
    /// # Errors
    /// `OutOfRange` for rows that do not exist, and as [`ArrayOn::resize`].
    pub fn delete(&mut self, axis: usize, rows: Range<u64>) -> Result<(), Error> {
        let len = self.side(axis)?;
        let c = u64::from(self.layout.geometry.chunks().at(axis)).max(1);
        if rows.start > rows.end || rows.end > len {
            return Err(Error::OutOfRange { what: "index", index: rows.end, len });
        }
        let gone = rows.end.saturating_sub(rows.start);
        let mut shape = *self.shape();
        if let Some(side) = shape.get_mut(axis) {
            *side = side.saturating_sub(gone);
        }
        if rows.start.is_multiple_of(c) && gone.is_multiple_of(c) && rows.end < len {
            let new = self.layout.geometry.with_shape(&shape)?;
            return self.rearrange(&new, |position| {
                let mut from = *position;
                let p = from.get_mut(axis)?;
                if *p >= rows.start / c {
                    *p = p.saturating_add(gone / c);
                }
                Some(from)
            });
        }
        let step = self.shift_step(axis, c);
        let mut start = rows.end;
        while start < len {
            let end = start.saturating_add(step).min(len);
            self.move_rows(axis, start..end, start.saturating_sub(gone))?;
            start = end;
        }
        self.resize(&shape)
    }

    /// Adds an axis of one item before axis `axis`. No chunk changes.
    ///
    /// # Errors
    /// A 17th axis, or one that leaves a hole. The metalayer grows, so the next commit rewrites the frame.
    pub fn expand_dims(&mut self, axis: usize) -> Result<(), Error> {
        let ndim = self.shape().len();
        if axis > ndim {
            return Err(Error::OutOfRange { what: "axis", index: axis as u64, len: ndim as u64 });
        }
        let added: Vec<bool> = (0..=ndim).map(|d| d == axis).collect();
        self.store_layout(self.layout.with_axes(&added)?)
    }

    /// Whether [`ArrayOn::squeeze_axes`] can do without another layout: chunks of the axes of one item
    /// have one item there too.
    pub fn can_squeeze(&self) -> bool {
        let sides = self.shape().iter().zip(self.layout.geometry.chunks().iter());
        sides.filter(|(s, _)| **s == 1).all(|(_, c)| *c == 1)
    }

    /// Drops the axes of one item. No chunk changes.
    ///
    /// # Errors
    /// `Param` where [`ArrayOn::can_squeeze`] says no: make a new array with [`ArrayOn::squeeze`].
    pub fn squeeze_axes(&mut self) -> Result<(), Error> {
        let gone: Vec<bool> = self.shape().iter().map(|side| *side == 1).collect();
        self.store_layout(self.layout.without_axes(&gone)?)
    }

    fn side(&self, axis: usize) -> Result<u64, Error> {
        let len = self.shape().len() as u64;
        self.shape().get(axis).copied().ok_or(Error::OutOfRange { what: "axis", index: axis as u64, len })
    }

    /// Bytes of one index of `axis`.
    fn row_bytes(&self, axis: usize) -> Result<u64, Error> {
        let t = u64::from(self.layout.geometry.typesize());
        let others = self.shape().iter().enumerate().filter(|(d, _)| *d != axis);
        let row = others.fold(t, |n, (_, s)| n.saturating_mul(*s));
        if row == 0 {
            return Err(Error::Param { name: "row", value: 0, allowed: "rows that hold items" });
        }
        Ok(row)
    }

    fn along(&self, axis: usize, rows: Range<u64>) -> Result<Selection, Error> {
        let takes: Vec<Take> = (0..self.shape().len())
            .map(|d| Take::range(if d == axis { rows.clone() } else { 0..self.shape().at(d) }))
            .collect();
        Selection::new(self.shape(), &takes)
    }

    /// Rows to move at a time: a row of chunks, or fewer if that is more than 64 MiB.
    fn shift_step(&self, axis: usize, c: u64) -> u64 {
        let row = self.row_bytes(axis).unwrap_or(1).max(1);
        ((64 << 20) / row).clamp(1, c)
    }

    fn move_rows(&mut self, axis: usize, rows: Range<u64>, to: u64) -> Result<(), Error> {
        let n = rows.end.saturating_sub(rows.start);
        let from = self.along(axis, rows)?;
        let to = self.along(axis, to..to.saturating_add(n))?;
        let items = self.get(&from)?;
        self.set(&to, &items)
    }

    /// Zeros everything beyond the end of the array in the chunks that lie across the end of an axis for
    /// which `axes` holds. Chunks that are clean are not written.
    fn clean_edges(&mut self, inside: &Geometry, axes: impl Fn(usize) -> bool) -> Result<(), Error> {
        // Per axis, the position of the chunks that lie across its end.
        let mut last = Dims::repeat(u64::MAX, inside.ndim());
        for (axis, slot) in last.iter_mut().enumerate() {
            let (s, c) = (inside.shape().at(axis), u64::from(inside.chunks().at(axis)));
            if axes(axis) && c > 0 && s % c != 0 {
                *slot = s / c;
            }
        }
        if last.iter().all(|p| *p == u64::MAX) {
            return Ok(());
        }
        for chunk in 0..inside.nchunks() {
            let position = inside.chunk_position(chunk);
            if !position.iter().zip(last.iter()).any(|(p, e)| p == e) {
                continue;
            }
            if matches!(self.frame().special(chunk), Some(Special::Zeros | Special::Uninit)) {
                continue;
            }
            let data = self.decoded_chunk(chunk)?;
            // The items that stay, in a chunk of zeros.
            let (_, count) = inside.chunk_region(chunk);
            let local = inside.with_shape(&count)?;
            let all = Selection::all(&count);
            let mut items = zeroed(usize::try_from(local.nbytes()).map_err(|_| IoKind::OutOfMemory)?)?;
            let mut clean = zeroed(data.len())?;
            let mut walk = all.walk(&local);
            while let Some(touched) = walk.next() {
                gather(&touched, &local, &count, &data, &mut items);
                scatter(&touched, &local, &count, &items, &mut clean);
            }
            if clean != data {
                self.edit().update(chunk, &clean)?;
            }
            self.scratch = data;
        }
        Ok(())
    }

    /// Makes the chunks those of `new`: each is the old chunk at the position `from` gives for it, or
    /// new and zero.
    fn rearrange(
        &mut self,
        new: &Geometry,
        from: impl Fn(&Dims<u64>) -> Option<Dims<u64>>,
    ) -> Result<(), Error> {
        let old = self.layout.geometry;
        if *new == old {
            return Ok(());
        }
        let count = usize::try_from(new.nchunks()).map_err(|_| IoKind::OutOfMemory)?;
        let mut order: Vec<u64> = Vec::new();
        order.try_reserve(count).map_err(|_| IoKind::OutOfMemory)?;
        let mut kept: Vec<u64> = Vec::new();
        let mut fresh = old.nchunks();
        for chunk in 0..new.nchunks() {
            match from(&new.chunk_position(chunk)) {
                Some(position) => {
                    let grid = old.grid().iter().zip(position.iter());
                    let k = grid.fold(0u64, |n, (side, p)| n.saturating_mul(*side).saturating_add(*p));
                    order.push(k);
                    kept.push(k);
                }
                None => {
                    order.push(fresh);
                    fresh = fresh.saturating_add(1);
                }
            }
        }
        let added = fresh.saturating_sub(old.nchunks());
        if added > 0 {
            if new.chunk_bytes() == 0 {
                return Err(Error::Param {
                    name: "chunks of the array",
                    value: 0,
                    allowed: "not empty, to grow",
                });
            }
            if old.nchunks() == 0 {
                self.edit().set_chunksize(new.chunk_bytes())?;
            }
            self.edit().fill_special(Special::Zeros, added.saturating_mul(new.chunk_bytes().into()))?;
        }
        // What is gone goes to the end, where deleting moves nothing.
        kept.sort_unstable();
        let mut next = kept.iter().peekable();
        let mut gone = 0u64;
        for k in 0..old.nchunks() {
            if next.next_if(|n| **n == k).is_none() {
                order.push(k);
                gone = gone.saturating_add(1);
            }
        }
        if order.iter().zip(0u64..).any(|(k, n)| *k != n) {
            self.edit().reorder(&order)?;
        }
        for _ in 0..gone {
            let last = self.frame().nchunks().saturating_sub(1);
            self.edit().delete(last)?;
        }
        self.store_shape(*new)
    }
}
