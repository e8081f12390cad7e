//! The decoded size of every chunk, and so which chunk holds which byte.

use crate::error::Error;
use crate::spare::Once;
use alloc::vec::Vec;
use core::ops::Range;

/// Stands for the size of a special chunk in a frame of variable chunks, where it is not recorded.
const LOST: u32 = u32::MAX;

/// Adds `new` before value `k`, or exchanges or (without `new`) removes value `k`.
pub(super) fn splice<T>(list: &mut Vec<T>, k: u64, old: bool, new: Option<T>) -> Result<(), Error> {
    let end = k.checked_add(old.into()).filter(|end| *end <= list.len() as u64);
    let end = end.ok_or(Error::Internal { what: "an edit behind the last chunk" })?;
    list.splice(k as usize..end as usize, new);
    Ok(())
}

/// The values of `list` that `order` names, in that order.
pub(super) fn picked<T: Copy>(order: &[u64], list: &[T]) -> Vec<T> {
    order.iter().filter_map(|k| list.get(*k as usize).copied()).collect()
}

#[derive(Clone, Debug)]
pub(super) enum Sizes {
    /// Every chunk has `chunk` bytes but the last.
    Regular { chunk: u32, total: u64 },
    /// The chunks' headers have not been read yet.
    Unread { total: u64 },
    /// Known one by one. `starts` is the running sum, made by the first who asks for it.
    Each { lens: Vec<u32>, starts: Once<Vec<u64>>, total: u64 },
}

impl Sizes {
    pub(super) fn each(lens: Vec<u32>) -> Sizes {
        let total = lens.iter().filter(|len| **len != LOST).map(|len| u64::from(*len)).sum();
        Sizes::Each { lens, starts: Once::new(), total }
    }

    /// Decoded bytes of all chunks.
    pub(super) fn total(&self) -> u64 {
        match self {
            Sizes::Regular { total, .. } | Sizes::Unread { total } | Sizes::Each { total, .. } => *total,
        }
    }

    /// Bytes of chunk `k`; `None` if unread, lost or out of range.
    pub(super) fn len_of(&self, k: u64) -> Option<u32> {
        match self {
            Sizes::Regular { chunk, total } => {
                let rest = total.checked_sub(k.checked_mul(u64::from(*chunk))?)?;
                u32::try_from(rest.min(u64::from(*chunk))).ok().filter(|len| *len > 0)
            }
            Sizes::Unread { .. } => None,
            Sizes::Each { lens, .. } => {
                lens.get(usize::try_from(k).ok()?).copied().filter(|len| *len != LOST)
            }
        }
    }

    /// Bytes of the largest chunk.
    #[cfg(feature = "std")]
    pub(super) fn largest(&self) -> Option<u32> {
        match self {
            Sizes::Regular { chunk, .. } => Some(*chunk),
            Sizes::Unread { .. } => None,
            Sizes::Each { lens, .. } => lens.iter().copied().filter(|len| *len != LOST).max(),
        }
    }

    /// The chunk that holds byte `at`, and the bytes it spans. `None` if unread or past the end.
    pub(super) fn find(&self, at: u64) -> Option<(u64, Range<u64>)> {
        match self {
            Sizes::Regular { chunk, total } => {
                let k = at.checked_div(u64::from(*chunk))?;
                let start = k.checked_mul(u64::from(*chunk))?;
                (at < *total).then(|| (k, start..start.saturating_add(u64::from(*chunk)).min(*total)))
            }
            Sizes::Unread { .. } => None,
            Sizes::Each { lens, starts, .. } => {
                let starts = starts.get_or_init(|| {
                    let mut sum = 0u64;
                    // 2^28 sizes of 32 bits.
                    let ends = lens.iter().map(|len| {
                        sum = sum.saturating_add(if *len == LOST { 0 } else { u64::from(*len) });
                        sum
                    });
                    core::iter::once(0).chain(ends).collect()
                });
                // Chunks of no bytes share their start with the next one: the last of them holds the byte.
                let k = starts.partition_point(|start| *start <= at).checked_sub(1)?;
                let end = *starts.get(k.checked_add(1)?)?;
                Some((k as u64, *starts.get(k)?..end))
            }
        }
    }

    /// Sizes as they were read; one that is not recorded follows from the total. `None` if they differ from it.
    pub(super) fn read(lens: Vec<Option<u32>>, total: u64) -> Option<Sizes> {
        let known = lens.iter().flatten().map(|len| u64::from(*len)).sum();
        let missing = match lens.iter().filter(|len| len.is_none()).count() {
            0 if known != total => return None,
            1 => u32::try_from(total.checked_sub(known)?).ok().filter(|len| *len < LOST)?,
            _ => LOST,
        };
        Some(Sizes::each(lens.into_iter().map(|len| len.unwrap_or(missing)).collect()))
    }

    /// Whether a chunk of `len` bytes at `k` of `n`, new or in place of another, leaves the frame regular if it is so.
    pub(super) fn fits(&self, k: u64, replace: bool, n: u64, len: u32) -> bool {
        let Sizes::Regular { chunk, total } = *self else { return true };
        let full = n == 0 || total.checked_rem(u64::from(chunk)) == Some(0);
        match k.checked_add(u64::from(replace)) == Some(n) {
            true => len > 0 && len <= chunk && (replace || full),
            false => len == chunk,
        }
    }

    /// Adds a chunk of `new` bytes before chunk `k`, or exchanges or (without `new`) removes chunk `k`.
    /// The caller has made irregular frames [`Sizes::Each`].
    pub(super) fn edit(&mut self, k: u64, old: bool, new: Option<u32>) -> Result<(), Error> {
        let gone = if old { self.len_of(k).unwrap_or(0) } else { 0 };
        let (Sizes::Regular { total, .. } | Sizes::Unread { total } | Sizes::Each { total, .. }) = self;
        let left = total.checked_sub(gone.into()).and_then(|left| left.checked_add(new.unwrap_or(0).into()));
        *total = left.ok_or(Error::Internal { what: "a chunk larger than all together" })?;
        if let Sizes::Each { lens, starts, total } = self {
            // Appending keeps the running sum; anything else makes it again.
            match starts.get_mut() {
                Some(starts) if !old && k == lens.len() as u64 => starts.push(*total),
                _ => *starts = Once::new(),
            }
            splice(lens, k, old, new)?;
        }
        Ok(())
    }

    /// Brings the sizes into a new order.
    pub(super) fn reorder(&mut self, order: &[u64]) {
        if let Sizes::Each { lens, starts, .. } = self {
            *lens = picked(order, lens);
            *starts = Once::new();
        }
    }
}
