//! [`Repack`]: records for targets that cannot say where a field lies.
//!
//! ```text
//! {'names': ['a', 'b'], 'formats': ['<i4', 'u1'], 'offsets': [4, 0], 'itemsize': 8}
//! item      b . . . a a a a        each field is taken where it lies
//! packed    a a a a b              and put behind the one before it, in the order of the names
//! ```
//! Bytes that two fields share are written twice, padding is not written.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::types::{Dtype, DtypeError, Field, MAX_ITEMSIZE, Struct};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// How the parts of an item are moved. It is as large as the dtype's text, whatever sizes that tells.
#[derive(Clone, Debug)]
enum Plan {
    /// The bytes stay together.
    Whole,
    /// Every field of a record, from its offset to the end of the one before it.
    Fields(Vec<(usize, usize, Moved)>),
    /// Every item of a sub-array.
    Items(Box<Moved>),
}

/// A part of an item, and how many bytes it takes before and after.
#[derive(Clone, Debug)]
struct Moved {
    from: usize,
    to: usize,
    plan: Plan,
}

/// Moves the fields of records one behind the other.
#[derive(Clone, Debug)]
pub struct Repack {
    dtype: Dtype,
    item: Moved,
}

impl Repack {
    /// The way from items of `dtype` to packed ones; `None` where they are packed already.
    ///
    /// # Errors
    /// `Layout` for fields that overlap so much that they are larger than an item may be when each has its own bytes.
    pub fn of(dtype: &Dtype) -> Result<Option<Repack>, DtypeError> {
        if is_packed(dtype) {
            return Ok(None);
        }
        let (dtype, item) = packed(dtype)?;
        Ok(Some(Repack { dtype, item }))
    }

    /// The way from items of `dtype` to such as a `.npy` header can describe; `None` where it can describe them as
    /// they are. It can say that there is padding, but not that fields overlap or are out of order.
    ///
    /// # Errors
    /// As [`Repack::of`], and `Layout` for a field without a name.
    pub fn of_descr(dtype: &Dtype) -> Result<Option<Repack>, DtypeError> {
        let Err(error) = dtype.to_descr() else { return Ok(None) };
        match Repack::of(dtype)? {
            Some(repack) => repack.dtype.to_descr().map(|_| Some(repack)),
            None => Err(error),
        }
    }

    /// The type of the packed items.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Bytes of an item before.
    pub fn unpacked(&self) -> usize {
        self.item.from
    }

    /// Bytes of an item after.
    pub fn packed(&self) -> usize {
        self.item.to
    }

    /// Packs whole items of `from` into `to`; stops where either has no room for a whole item.
    pub fn items(&self, from: &[u8], to: &mut [u8]) {
        let (before, after) = (self.item.from.max(1), self.item.to.max(1));
        for (from, to) in from.chunks_exact(before).zip(to.chunks_exact_mut(after)) {
            move_item(&self.item, from, to);
        }
    }
}

fn move_item(item: &Moved, from: &[u8], to: &mut [u8]) {
    match &item.plan {
        Plan::Whole => to.iter_mut().zip(from).for_each(|(to, from)| *to = *from),
        Plan::Fields(fields) => {
            for (at, new, field) in fields {
                let part = from.get(*at..at.saturating_add(field.from));
                if let (Some(from), Some(to)) = (part, to.get_mut(*new..new.saturating_add(field.to))) {
                    move_item(field, from, to);
                }
            }
        }
        Plan::Items(item) => {
            let parts = from.chunks_exact(item.from.max(1)).zip(to.chunks_exact_mut(item.to.max(1)));
            parts.for_each(|(from, to)| move_item(item, from, to));
        }
    }
}

/// Whether all fields lie one behind the other.
fn is_packed(dtype: &Dtype) -> bool {
    match dtype {
        Dtype::Scalar(_) => true,
        Dtype::Array { item, .. } => is_packed(item),
        Dtype::Struct(record) => {
            let mut end = 0u32;
            let behind = |field: &Field| {
                let fits = field.offset == end && is_packed(&field.dtype);
                end = field.offset.saturating_add(field.dtype.itemsize());
                fits
            };
            record.fields.iter().all(behind) && end == record.itemsize
        }
    }
}

/// The packed form of a type, and the way there.
fn packed(dtype: &Dtype) -> Result<(Dtype, Moved), DtypeError> {
    let too_large = DtypeError::Layout { offset: 0, reason: "the packed items are larger than 2 GiB" };
    let size = |dtype: &Dtype| dtype.itemsize() as usize;
    let (new, plan) = match dtype {
        Dtype::Array { item, shape } if !is_packed(dtype) => {
            let (new, moved) = packed(item)?;
            let new = Dtype::array(new, shape.clone()).ok_or(too_large)?;
            (new, Plan::Items(Box::new(moved)))
        }
        Dtype::Struct(record) if !is_packed(dtype) => {
            let (mut fields, mut moves, mut end) = (Vec::new(), Vec::new(), 0u32);
            for field in &record.fields {
                let (new, moved) = packed(&field.dtype)?;
                let next = end.checked_add(new.itemsize()).filter(|end| *end <= MAX_ITEMSIZE);
                moves.push((field.offset as usize, end as usize, moved));
                fields.push(Field { offset: end, dtype: new, ..field.clone() });
                end = next.ok_or(too_large)?;
            }
            (Dtype::Struct(Struct { fields, itemsize: end, aligned: false }), Plan::Fields(moves))
        }
        whole => (whole.clone(), Plan::Whole),
    };
    let moved = Moved { from: size(dtype), to: size(&new), plan };
    Ok((new, moved))
}
