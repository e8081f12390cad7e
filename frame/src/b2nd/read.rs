//! Reading: slices, lists of indices, masks, single items. Only blocks that hold something wanted are
//! read and decoded.
//!
//! ```text
//! thin, and its blocks were asked for before -> from the blocks kept       cache.rs
//! else                                       -> chunk by chunk             gather.rs
//! ```

use super::array::{ArrayOn, NdArray};
use super::gather::{Chunks, Worker, wrong_chunk};
use super::room::{check_len, fit, zeroed};
use super::select::Selection;
use super::through::addresses;
use crate::error::{Error, IoKind};
use crate::schunk::{Part, Plan, Shared, SuperChunk, Wish};
use crate::shape::{Dims, next_box, reverse_axes, strides};
use alloc::vec::Vec;
use core::borrow::BorrowMut;
use core::ops::Range;

/// A box of items cut out of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Index of its first item.
    pub start: Dims<u64>,
    /// Items per axis.
    pub shape: Dims<u64>,
    /// The items in C order.
    pub data: Vec<u8>,
}

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// The selected items, in C order of the selection's shape.
    ///
    /// # Errors
    /// `Limit` if that is more than the frame's limits allow, and errors of reading chunks.
    pub fn get(&self, selection: &Selection) -> Result<Vec<u8>, Error> {
        let limit = self.frame().limits().output;
        let asked = selection.items().saturating_mul(self.layout.geometry.typesize().into());
        if asked > limit {
            return Err(Error::Limit { what: "bytes of output", asked, limit });
        }
        let len = usize::try_from(asked).map_err(|_| IoKind::OutOfMemory)?;
        let mut out = zeroed(len)?;
        self.gather(selection, &mut out, true)?;
        Ok(out)
    }

    /// Reads into `out`, which must be exactly as long as the result.
    ///
    /// # Errors
    /// As [`ArrayOn::get`], and a length that does not fit.
    pub fn get_into(&self, selection: &Selection, out: &mut [u8]) -> Result<(), Error> {
        self.gather(selection, out, false)
    }

    /// The box of these ranges into `out`.
    ///
    /// # Errors
    /// As [`ArrayOn::get_into`], and ranges outside the array.
    pub fn get_slice(&self, ranges: &[Range<u64>], out: &mut [u8]) -> Result<(), Error> {
        let selection = Selection::ranges(self.shape(), ranges)?;
        self.gather(&selection, out, false)
    }

    /// All items.
    ///
    /// # Errors
    /// As [`ArrayOn::get`].
    pub fn get_all(&self) -> Result<Vec<u8>, Error> {
        self.get(&Selection::all(self.shape()))
    }

    /// One item into `out`, whose length is the item size. Only its block is decoded, and only that
    /// part of it if its codec allows.
    ///
    /// # Errors
    /// `OutOfRange` for an index outside the array, an `out` of another size, and errors of reading its chunk.
    pub fn get_item(&self, index: &[u64], out: &mut [u8]) -> Result<(), Error> {
        let (chunk, at) = self.address(index)?;
        let needed = self.layout.geometry.typesize() as usize;
        check_len(needed as u64, out.len())?;
        let size = (self.layout.geometry.block_bytes() as usize).max(1);
        let within = at % size;
        if let Some(block) = self.kept_block((chunk, (at / size) as u32), needed)
            && let Some(item) = block.get(within..within.saturating_add(needed))
        {
            out.copy_from_slice(item);
            return Ok(());
        }
        self.frame().read_chunk_part(chunk, at..at.saturating_add(needed), out)?;
        Ok(())
    }

    /// Chunk and byte in the chunk where an item lies.
    pub(super) fn address(&self, index: &[u64]) -> Result<(u64, usize), Error> {
        let (chunk, block, item) = self.layout.geometry.locate(index).ok_or_else(|| self.outside(index))?;
        // Both below 2^31: the geometry bounds the bytes of a chunk.
        let block = block.saturating_mul(self.layout.geometry.block_bytes()) as usize;
        let item = item.saturating_mul(self.layout.geometry.typesize()) as usize;
        Ok((chunk, block.saturating_add(item)))
    }

    /// What is wrong with an index that is not in the array: how many numbers it has, or the first too large.
    fn outside(&self, index: &[u64]) -> Error {
        let ndim = self.shape().len();
        if index.len() != ndim {
            let value = index.len() as i64;
            return Error::Param { name: "numbers of an index", value, allowed: "one per dimension" };
        }
        let (index, len) = index.iter().zip(self.shape().iter()).find(|(x, s)| x >= s).unwrap_or((&0, &0));
        Error::OutOfRange { what: "index", index: *index, len: *len }
    }

    /// The items at these positions of the flattened array (C order), in that order, repeats allowed.
    ///
    /// # Errors
    /// `OutOfRange` for a position outside the array, `Limit` as in [`ArrayOn::get`].
    pub fn get_flat(&self, positions: &[u64]) -> Result<Vec<u8>, Error> {
        let t = self.layout.geometry.typesize() as usize;
        let limit = self.frame().limits().output;
        let asked = (positions.len() as u64).saturating_mul(t as u64);
        if asked > limit {
            return Err(Error::Limit { what: "bytes of output", asked, limit });
        }
        let mut out = zeroed(positions.len().saturating_mul(t))?;
        let places = addresses(&self.layout.geometry, positions)?;
        let block_bytes = (self.layout.geometry.block_bytes() as usize).max(1);
        let mut span = Vec::new();
        let wishes = || {
            let id = |(chunk, at, _): &(u64, usize, usize)| (*chunk, (at / block_bytes) as u32);
            places.chunk_by(|a, b| a.0 == b.0).filter_map(move |same| self.wish(same.iter().map(id)))
        };
        let pieces = self.frame().fetched(|| Ok(wishes().collect()))?;
        let shared = self.frame().shared().over(pieces.as_ref());
        for same in places.chunk_by(|a, b| a.0 == b.0 && a.1 / block_bytes == b.1 / block_bytes) {
            let [(chunk, first, _), ..] = same else { continue };
            let end = same.last().map_or(0, |(_, at, _)| at.saturating_add(t));
            let number = first / block_bytes;
            // `bytes` are those of the chunk from `start` on.
            let mut put = |bytes: &[u8], start: usize| {
                for (_, at, place) in same {
                    let from = at.saturating_sub(start);
                    let place = place.saturating_mul(t);
                    let to = out.get_mut(place..place.saturating_add(t));
                    if let (Some(to), Some(from)) = (to, bytes.get(from..from.saturating_add(t))) {
                        to.copy_from_slice(from);
                    }
                }
            };
            let kept = || self.kept_block((*chunk, number as u32), same.len().saturating_mul(t));
            // What was fetched is there; a block to be kept would be fetched once more.
            if let Some(block) = pieces.is_none().then(kept).flatten() {
                put(&block, number * block_bytes);
                continue;
            }
            // No more than from the first of them to the last: the block's padding may be damaged.
            fit(&mut span, end.saturating_sub(*first))?;
            self.frame().part_of(shared, *chunk, *first..end, &mut span)?;
            put(&span, *first);
        }
        Ok(out)
    }

    /// The items where `mask`, one value per item in C order, is true; in C order.
    ///
    /// # Errors
    /// `Param` for a mask of another size, and as [`ArrayOn::get_flat`].
    pub fn get_mask(&self, mask: &[bool]) -> Result<Vec<u8>, Error> {
        let positions = self.mask_positions(mask)?;
        self.get_flat(&positions)
    }

    pub(super) fn mask_positions(&self, mask: &[bool]) -> Result<Vec<u64>, Error> {
        if mask.len() as u64 != self.layout.geometry.items() {
            return Err(Error::Param {
                name: "mask length",
                value: mask.len() as i64,
                allowed: "one value per item of the array",
            });
        }
        Ok((0u64..).zip(mask).filter(|(_, set)| **set).map(|(i, _)| i).collect())
    }

    /// The items of chunk `chunk` that belong to the array.
    ///
    /// # Errors
    /// `OutOfRange` for a chunk that does not exist, and errors of reading chunks.
    pub fn get_chunk(&self, chunk: u64) -> Result<Region, Error> {
        let len = self.layout.geometry.nchunks();
        if chunk >= len {
            return Err(Error::OutOfRange { what: "chunk", index: chunk, len });
        }
        let (start, count) = self.layout.geometry.chunk_region(chunk);
        let data = self.get(&Selection::region(self.shape(), &start, &count)?)?;
        Ok(Region { start, shape: count, data })
    }

    /// Every block of chunk `chunk` as it is stored, padding included: `f(block, bytes)`.
    ///
    /// # Errors
    /// As [`ArrayOn::get_chunk`], and what `f` returns.
    pub fn for_each_block(
        &self,
        chunk: u64,
        mut f: impl FnMut(u32, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let size = (self.layout.geometry.block_bytes() as usize).max(1);
        let mut data = Vec::new();
        self.decode_to(chunk, &mut data)?;
        (0u32..).zip(data.chunks_exact(size)).try_for_each(|(n, block)| f(n, block))
    }

    /// All of chunk `chunk` in the scratch buffer, which the caller puts back.
    pub(super) fn decoded_chunk(&mut self, chunk: u64) -> Result<Vec<u8>, Error> {
        let mut data = core::mem::take(&mut self.scratch);
        self.decode_to(chunk, &mut data).map(|()| data)
    }

    fn decode_to(&self, chunk: u64, data: &mut Vec<u8>) -> Result<(), Error> {
        self.frame().limits().check_chunk(self.layout.geometry.chunk_bytes().into())?;
        fit(data, self.layout.geometry.chunk_bytes() as usize)?;
        self.decode_into(chunk, data)
    }

    /// All of chunk `chunk` to `data`, which is as long as the array's chunks are.
    pub(super) fn decode_into(&self, chunk: u64, data: &mut [u8]) -> Result<(), Error> {
        match self.frame().read_chunk_into(chunk, data)? {
            n if n == data.len() => Ok(()),
            n => Err(wrong_chunk(chunk, self.frame().stored_at(chunk), n)),
        }
    }

    /// Hands the array's bytes, in Fortran order, to `f` in pieces of at most about `piece` bytes.
    ///
    /// # Errors
    /// What `f` returns, and errors of reading chunks.
    pub fn for_each_piece_fortran(
        &self,
        piece: u64,
        mut f: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // Fortran order of the shape is C order of the shape reversed: any run of that is a few boxes.
        let shape: Vec<u64> = self.shape().iter().rev().copied().collect();
        let (strides, items) = (strides(&shape), self.layout.geometry.items());
        let typesize = self.layout.geometry.typesize() as usize;
        let most = (piece / (typesize as u64).max(1)).max(1);
        let (mut at, mut data, mut buf) = (0u64, Vec::new(), Vec::new());
        while at < items {
            let (turned, n) = next_box(&shape, &strides, at, items.min(at.saturating_add(most)));
            let ranges: Vec<Range<u64>> = turned.iter().rev().cloned().collect();
            let sides: Vec<u64> = turned.iter().map(|r| r.end.saturating_sub(r.start)).collect();
            let len = n.saturating_mul(typesize as u64);
            fit(&mut data, usize::try_from(len).map_err(|_| IoKind::OutOfMemory)?)?;
            fit(&mut buf, data.len())?;
            self.get_slice(&ranges, &mut data)?;
            reverse_axes(&data, &sides, typesize, &mut buf)?;
            f(&buf)?;
            at = at.saturating_add(n);
        }
        Ok(())
    }

    /// Copies the selected items to `out`; `zeros` says that it holds nothing but zeros.
    fn gather(&self, selection: &Selection, out: &mut [u8], zeros: bool) -> Result<(), Error> {
        let asked = selection.items().saturating_mul(self.layout.geometry.typesize().into());
        check_len(asked, out.len())?;
        if self.gather_kept(selection, out) {
            return Ok(());
        }
        let pieces = self.frame().fetched(|| Ok(self.wishes(selection)))?;
        self.gather_of(self.frame().shared().over(pieces.as_ref()), selection, out, zeros)
    }

    fn gather_of(
        &self,
        frame: Shared<'_>,
        selection: &Selection,
        out: &mut [u8],
        zeros: bool,
    ) -> Result<(), Error> {
        let chunks = Chunks { frame, geometry: &self.layout.geometry, zeros };
        let crew = || Worker::crew(self.frame().threads());
        self.workers
            .with(crew, |workers| chunks.gather_all(selection, self.frame().params().codec, workers, out))
    }
}

impl NdArray<'_> {
    /// A plan to read the selected items, in C order of the selection's shape: the caller does the input. See [`Plan`].
    ///
    /// # Errors
    /// `Unsupported` for sparse frames.
    pub fn plan(&self, selection: &Selection) -> Result<Plan<'_>, Error> {
        let (wishes, selection) = (self.wishes(selection), selection.clone());
        let asked = selection.items().saturating_mul(self.layout.geometry.typesize().into());
        self.frame().plan(wishes, move |frame: Shared<'_>, out: &mut [u8]| {
            check_len(asked, out.len())?;
            self.gather_of(frame, &selection, out, false).map(|()| out.len())
        })
    }
}

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// Has a far source, which keeps what it fetches, fetch what rows need. What is wrong is for who reads them.
    #[cfg(feature = "table")]
    pub(crate) fn want_rows(&self, rows: Range<u64>) {
        let first = core::iter::once(rows);
        let ranges: Vec<_> = first.chain(self.shape().iter().skip(1).map(|side| 0..*side)).collect();
        if let Ok(selection) = Selection::ranges(self.shape(), &ranges) {
            let _ = self.frame().fetched(|| Ok(self.wishes(&selection)));
        }
    }

    /// The blocks of chunks that hold selected items.
    fn wishes(&self, selection: &Selection) -> Vec<Wish> {
        let (mut walk, mut wishes) = (selection.walk(&self.layout.geometry), Vec::new());
        while let Some(touched) = walk.next() {
            wishes.extend(self.wish(touched.blocks().map(|block| (touched.chunk, block.block))));
        }
        wishes
    }

    /// Some blocks of one chunk.
    pub(super) fn wish(&self, blocks: impl Iterator<Item = (u64, u32)>) -> Option<Wish> {
        let mut blocks = blocks.peekable();
        let (chunk, _) = *blocks.peek()?;
        let mut list: Vec<u32> = blocks.map(|(_, block)| block).collect();
        list.dedup();
        Some(Wish { chunk, part: Part::Blocks(self.layout.geometry.block_bytes(), list) })
    }
}
