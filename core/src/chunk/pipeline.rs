//! The filter pipeline of one block (docs/formats/chunk.md §3.1): forward through slots 0..5, backward
//! through 5..0, from one buffer into the other.
//!
//! ```text
//! source -> A -> B -> A -> … -> destination        (no slot ever writes what it reads)
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::context::ChunkContext;
use super::header::{FORMATS, Header};
use super::params::FilterSlot;
use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::error::Error;
use crate::filter::blocksplit::Stores;
use crate::filter::{self, Filter, FilterError, bitshuffle, delta, shuffle};

/// What every filter of a block may need.
#[derive(Clone, Copy)]
pub(crate) struct Env<'a> {
    pub level: Level,
    /// Typesize of the header, 1 ..= 255.
    pub typesize: u8,
    /// Version 2 has its own bitshuffle rule (§3.3).
    pub version2: bool,
    pub chunk_context: ChunkContext<'a>,
    /// Decoded block 0 for DELTA, or `None` where the block is its own reference.
    pub reference: Option<&'a [u8]>,
    /// How the last filter to be undone writes the block.
    pub stores: Stores,
}

/// The slots that change bytes when undone, in the order they are undone.
#[derive(Clone, Copy)]
pub(crate) struct Backward {
    slots: [(u8, FilterSlot); 6],
    len: usize,
}

impl Backward {
    pub(crate) fn of(header: &Header) -> Backward {
        let mut list = Backward { slots: [(0, FilterSlot::NONE); 6], len: 0 };
        if header.is_instrumented() {
            return list;
        }
        let mut number = 6u8;
        while let Some(next) = number.checked_sub(1) {
            number = next;
            let Some(&slot) = header.filters.get(usize::from(number)) else { continue };
            if slot.filter != Filter::None {
                list.add(number, slot, header.typesize);
            }
        }
        list
    }

    /// Adds `slot` if undoing it changes bytes: the lossy word filters have nothing to undo.
    #[inline(never)] // most slots are empty: six copies of this would lie between the tests for that
    fn add(&mut self, number: u8, slot: FilterSlot, typesize: u8) {
        let idle = match slot.filter {
            Filter::None | Filter::TruncPrec | Filter::IntTrunc => true,
            Filter::Shuffle => width(slot, typesize) == 1,
            _ => false,
        };
        if !idle && let Some(place) = self.slots.get_mut(self.len) {
            *place = (number, slot);
            self.len = self.len.saturating_add(1);
        }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[(u8, FilterSlot)] {
        self.slots.get(..self.len).unwrap_or(&[])
    }

    pub(crate) fn has_delta(&self) -> bool {
        FORMATS && self.as_slice().iter().any(|(_, s)| s.filter == Filter::Delta)
    }
}

/// Bytes per item as SHUFFLE sees it.
pub(crate) fn width(slot: FilterSlot, typesize: u8) -> usize {
    usize::from(if slot.meta != 0 { slot.meta } else { typesize })
}

impl Env<'_> {
    fn wrap(slot: FilterSlot) -> impl Fn(FilterError) -> Error {
        move |FilterError(reason)| Error::FilterParam { id: slot.filter.id(), meta: slot.meta, reason }
    }

    /// Undoes one slot.
    fn backward(
        &self,
        number: u8,
        slot: FilterSlot,
        src: &[u8],
        mut out: Out<'_>,
        stores: Stores,
    ) -> Result<(), Error> {
        let level = self.level;
        #[cfg(feature = "formats")]
        let ts = usize::from(self.typesize);
        #[cfg(feature = "plugins")]
        let ChunkContext { typesize, blockshape: shape, .. } = self.chunk_context;
        let done = match (self.chunk_context.filter(slot.filter.id()), slot.filter) {
            (Some(user), _) => user.backward(slot.meta, self.typesize, src, out.zeroed()),
            (_, Filter::None | Filter::TruncPrec | Filter::IntTrunc) => {
                out.copy_from(src);
                Ok(())
            }
            (_, Filter::Shuffle) => {
                shuffle::unshuffle_by(level, width(slot, self.typesize), src, out, stores)
            }
            #[cfg(feature = "formats")]
            (_, Filter::BitShuffle) if self.version2 && !bitshuffle::version2_applies(src.len(), ts) => {
                out.copy_from(src);
                Ok(())
            }
            #[cfg(feature = "formats")]
            (_, Filter::BitShuffle) => bitshuffle::bitunshuffle_by(level, ts, src, out, stores),
            #[cfg(feature = "formats")]
            (_, Filter::Delta) => delta::backward(level, ts, src, self.reference, out),
            #[cfg(feature = "plugins")]
            (_, Filter::ByteDelta) => filter::bytedelta::width(slot.meta, typesize)
                .and_then(|w| filter::bytedelta::backward(level, w, src, out)),
            #[cfg(feature = "plugins")]
            (_, Filter::ByteDeltaV1) => filter::bytedelta::width(slot.meta, typesize)
                .and_then(|w| filter::bytedelta::backward_v1(level, w, src, out)),
            #[cfg(feature = "plugins")]
            (_, Filter::NdCell) => filter::ndcell::backward(typesize, shape, slot.meta, src, out),
            #[cfg(feature = "plugins")]
            (_, Filter::NdMean) => filter::ndmean::backward(typesize, shape, slot.meta, src, out),
            (_, other) => return Err(Error::FilterUnknown { id: other.id(), slot: number }),
        };
        done.map_err(Self::wrap(slot))
    }

    /// Applies one slot.
    pub(crate) fn forward(
        &self,
        number: u8,
        slot: FilterSlot,
        src: &[u8],
        mut out: Out<'_>,
    ) -> Result<(), Error> {
        let (level, ts) = (self.level, usize::from(self.typesize));
        #[cfg(feature = "plugins")]
        let ChunkContext { typesize, blockshape: shape, .. } = self.chunk_context;
        let done = match (self.chunk_context.filter(slot.filter.id()), slot.filter) {
            (Some(user), _) => user.forward(slot.meta, self.typesize, src, out.zeroed()),
            (_, Filter::None) => {
                out.copy_from(src);
                Ok(())
            }
            (_, Filter::Shuffle) => shuffle::shuffle(level, width(slot, self.typesize), src, out),
            (_, Filter::BitShuffle) if self.version2 && !bitshuffle::version2_applies(src.len(), ts) => {
                out.copy_from(src);
                Ok(())
            }
            (_, Filter::BitShuffle) => bitshuffle::bitshuffle(level, ts, src, out),
            (_, Filter::Delta) => delta::forward(level, ts, src, self.reference, out),
            (_, Filter::TruncPrec) => filter::trunc_prec::forward(level, ts, slot.meta, src, out),
            #[cfg(feature = "plugins")]
            (_, Filter::IntTrunc) => filter::int_trunc::forward(level, ts, slot.meta, src, out),
            #[cfg(feature = "plugins")]
            (_, Filter::ByteDelta) => filter::bytedelta::width(slot.meta, typesize)
                .and_then(|w| filter::bytedelta::forward(level, w, src, out)),
            #[cfg(feature = "plugins")]
            (_, Filter::NdCell) => filter::ndcell::forward(typesize, shape, slot.meta, src, out),
            #[cfg(feature = "plugins")]
            (_, Filter::NdMean) => filter::ndmean::forward(typesize, shape, slot.meta, src, out),
            (_, other) => return Err(Error::FilterUnknown { id: other.id(), slot: number }),
        };
        done.map_err(Self::wrap(slot))
    }

    /// Undoes `slots` from `src`, which has `out`'s length, into `out`.
    pub(crate) fn backward_all(
        &self,
        slots: &[(u8, FilterSlot)],
        src: BlockLocation<'_>,
        a: &mut [u8],
        b: &mut [u8],
        mut out: Out<'_>,
    ) -> Result<(), Error> {
        let Some((&(number, slot), init)) = slots.split_last() else {
            out.copy_from(src.bytes(a, b, out.len())?);
            return Ok(());
        };
        let src = self.backward_scratch(init, src, a, b, out.len())?;
        self.backward(number, slot, src.bytes(a, b, out.len())?, out, self.stores)
    }

    /// Undoes `slots` from `src`, `len` bytes, and leaves the result in `a` or `b`, or where it was.
    pub(crate) fn backward_scratch<'s>(
        &self,
        slots: &[(u8, FilterSlot)],
        src: BlockLocation<'s>,
        a: &mut [u8],
        b: &mut [u8],
        len: usize,
    ) -> Result<BlockLocation<'s>, Error> {
        steps(slots, src, a, b, len, |number, slot, src, out| {
            self.backward(number, slot, src, out, Stores::Cached)
        })
    }

    /// Applies `slots` to `src` and leaves the result in `a` or `b`, or where it was.
    pub(crate) fn forward_scratch<'s>(
        &self,
        slots: &[(u8, FilterSlot)],
        src: &'s [u8],
        a: &mut [u8],
        b: &mut [u8],
    ) -> Result<BlockLocation<'s>, Error> {
        let len = src.len();
        steps(slots, BlockLocation::Bytes(src), a, b, len, |number, slot, src, out| {
            self.forward(number, slot, src, out)
        })
    }
}

/// Where the bytes of a block are.
#[derive(Clone, Copy)]
pub(crate) enum BlockLocation<'a> {
    /// Outside the scratch buffers.
    Bytes(&'a [u8]),
    /// At the start of buffer `a`.
    A,
    /// At the start of buffer `b`.
    B,
}

impl<'a> BlockLocation<'a> {
    /// The `len` bytes themselves.
    pub(crate) fn bytes(self, a: &'a [u8], b: &'a [u8], len: usize) -> Result<&'a [u8], Error> {
        let from = match self {
            BlockLocation::Bytes(bytes) => bytes,
            BlockLocation::A => a,
            BlockLocation::B => b,
        };
        from.get(..len).ok_or(Error::WorkTooSmall { needed: len, given: from.len() })
    }
}

fn steps<'s>(
    slots: &[(u8, FilterSlot)],
    mut src: BlockLocation<'s>,
    a: &mut [u8],
    b: &mut [u8],
    len: usize,
    mut run: impl FnMut(u8, FilterSlot, &[u8], Out<'_>) -> Result<(), Error>,
) -> Result<BlockLocation<'s>, Error> {
    let short = Error::WorkTooSmall { needed: len, given: a.len().min(b.len()) };
    for &(number, slot) in slots {
        let (from, to, next) = match src {
            BlockLocation::Bytes(bytes) => (bytes, &mut *b, BlockLocation::B),
            BlockLocation::A => (&*a, &mut *b, BlockLocation::B),
            BlockLocation::B => (&*b, &mut *a, BlockLocation::A),
        };
        let from = from.get(..len).ok_or(short)?;
        run(number, slot, from, to.get_mut(..len).ok_or(short)?.into())?;
        src = next;
    }
    Ok(src)
}
