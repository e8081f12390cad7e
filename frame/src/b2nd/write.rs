//! Changing items: slices, lists of indices, masks, single items.
//!
//! ```text
//! a selection                 -> through.rs
//! one item, or some by number -> decode their chunk, put them there; encode; replace the chunk
//! ```

use super::array::ArrayOn;
use super::room::check_len;
use super::select::Selection;
use super::through::{ChunkAccess, addresses};
use crate::error::Error;
use crate::schunk::SuperChunk;
use core::borrow::BorrowMut;
use core::ops::Range;

/// What is not written would be lost without a word.
const OUTSIDE: Error = Error::Internal { what: "an item outside its chunk or its data" };

/// The chunks of an array that is changed.
struct Edited<'e, F>(&'e mut ArrayOn<F>);

impl<'a, F: BorrowMut<SuperChunk<'a>>> ChunkAccess for Edited<'_, F> {
    type Error = Error;

    fn read(&mut self, chunk: u64, range: Range<usize>, out: &mut [u8]) -> Result<(), Error> {
        if range == (0..self.0.layout.geometry.chunk_bytes() as usize) {
            return self.0.decode_into(chunk, out);
        }
        self.0.frame().read_chunk_part(chunk, range, out).map(drop)
    }

    fn write(&mut self, chunk: u64, data: &[u8]) -> Result<(), Error> {
        self.0.edit().update(chunk, data)
    }
}

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// Sets the selected items to `data`, in C order of the selection's shape. Of an index that is
    /// listed twice the last value stays.
    ///
    /// # Errors
    /// Data of another length than the selection, and errors of reading and writing chunks.
    pub fn set(&mut self, selection: &Selection, data: &[u8]) -> Result<(), Error> {
        let asked = selection.items().saturating_mul(self.layout.geometry.typesize().into());
        check_len(asked, data.len())?;
        let geometry = self.layout.geometry;
        let shape = *selection.shape();
        selection.write(&geometry, &mut Edited(self), (data, &shape), false)
    }

    /// Sets the box of these ranges.
    ///
    /// # Errors
    /// As [`ArrayOn::set`], and ranges outside the array.
    pub fn set_slice(&mut self, ranges: &[Range<u64>], data: &[u8]) -> Result<(), Error> {
        let selection = Selection::ranges(self.shape(), ranges)?;
        self.set(&selection, data)
    }

    /// Sets one item.
    ///
    /// # Errors
    /// `OutOfRange` for an index outside the array, an item of another size, and errors of reading and writing chunks.
    pub fn set_item(&mut self, index: &[u64], item: &[u8]) -> Result<(), Error> {
        let (chunk, at) = self.address(index)?;
        check_len(self.layout.geometry.typesize().into(), item.len())?;
        let mut data = self.decoded_chunk(chunk)?;
        data.get_mut(at..at.saturating_add(item.len())).ok_or(OUTSIDE)?.copy_from_slice(item);
        self.edit().update(chunk, &data)?;
        self.scratch = data;
        Ok(())
    }

    /// Sets the items at these positions of the flattened array (C order). Of a position that is listed
    /// twice the last value stays.
    ///
    /// # Errors
    /// As [`ArrayOn::set`], and positions outside the array.
    pub fn set_flat(&mut self, positions: &[u64], items: &[u8]) -> Result<(), Error> {
        let t = self.layout.geometry.typesize() as usize;
        check_len((positions.len() as u64).saturating_mul(t as u64), items.len())?;
        let places = addresses(&self.layout.geometry, positions)?;
        for same in places.chunk_by(|a, b| a.0 == b.0) {
            let Some((chunk, ..)) = same.first() else { continue };
            let mut data = self.decoded_chunk(*chunk)?;
            for (_, at, n) in same {
                let n = n.saturating_mul(t);
                let item = items.get(n..n.saturating_add(t)).ok_or(OUTSIDE)?;
                data.get_mut(*at..at.saturating_add(t)).ok_or(OUTSIDE)?.copy_from_slice(item);
            }
            self.edit().update(*chunk, &data)?;
            self.scratch = data;
        }
        Ok(())
    }

    /// Sets the items where `mask`, one value per item in C order, is true.
    ///
    /// # Errors
    /// A mask of another size, and as [`ArrayOn::set`].
    pub fn set_mask(&mut self, mask: &[bool], items: &[u8]) -> Result<(), Error> {
        let positions = self.mask_positions(mask)?;
        self.set_flat(&positions, items)
    }
}
