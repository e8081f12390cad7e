//! Typed views: items as Rust values, checked against the dtype.

use super::array::ArrayOn;
use super::select::Selection;
use crate::dtype::{ByteOrder, Dtype, Kind};
use crate::error::Error;
use crate::schunk::SuperChunk;
use alloc::vec::Vec;
use core::borrow::BorrowMut;

/// A Rust type that is an array's item: `bool`, integers, floats, and `[f32; 2]`, `[f64; 2]` for complex
/// numbers.
pub trait Element: Copy {
    /// What the dtype must be.
    const KIND: Kind;
    /// Bytes of an item.
    const SIZE: usize;
    /// The value of an item stored in the order given.
    fn read(order: ByteOrder, item: &[u8]) -> Self;
    /// Adds the bytes of an item in the order given.
    fn write(self, order: ByteOrder, out: &mut Vec<u8>);

    /// The dtype of new arrays of it: little-endian.
    fn dtype() -> Dtype {
        let order = if Self::SIZE == 1 { ByteOrder::None } else { ByteOrder::Little };
        Dtype::scalar(Self::KIND, order, Self::SIZE as u32)
    }
}

macro_rules! number {
    ($($type:ty: $kind:ident),*) => {$(
        impl Element for $type {
            const KIND: Kind = Kind::$kind;
            const SIZE: usize = size_of::<$type>();
            fn read(order: ByteOrder, item: &[u8]) -> $type {
                let bytes = item.first_chunk().copied().unwrap_or_default();
                match order {
                    ByteOrder::Big => <$type>::from_be_bytes(bytes),
                    _ => <$type>::from_le_bytes(bytes),
                }
            }
            fn write(self, order: ByteOrder, out: &mut Vec<u8>) {
                match order {
                    ByteOrder::Big => out.extend(self.to_be_bytes()),
                    _ => out.extend(self.to_le_bytes()),
                }
            }
        }
    )*};
}

number!(i8: Int, i16: Int, i32: Int, i64: Int, u8: Uint, u16: Uint, u32: Uint, u64: Uint, f32: Float, f64: Float);

impl Element for bool {
    const KIND: Kind = Kind::Bool;
    const SIZE: usize = 1;
    fn read(_: ByteOrder, item: &[u8]) -> bool {
        item.first().is_some_and(|b| *b != 0)
    }
    fn write(self, _: ByteOrder, out: &mut Vec<u8>) {
        out.push(self.into());
    }
}

macro_rules! complex {
    ($($part:ty),*) => {$(
        impl Element for [$part; 2] {
            const KIND: Kind = Kind::Complex;
            const SIZE: usize = size_of::<[$part; 2]>();
            fn read(order: ByteOrder, item: &[u8]) -> [$part; 2] {
                let (re, im) = item.split_at_checked(item.len() / 2).unwrap_or_default();
                [Element::read(order, re), Element::read(order, im)]
            }
            fn write(self, order: ByteOrder, out: &mut Vec<u8>) {
                self.into_iter().for_each(|part| part.write(order, out));
            }
        }
    )*};
}

complex!(f32, f64);

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// The byte order of the items, if they are of type `T`.
    fn order_of<T: Element>(&self) -> Result<ByteOrder, Error> {
        match self.dtype() {
            Dtype::Scalar(s) if s.kind == T::KIND && s.size as usize == T::SIZE => Ok(s.order),
            Dtype::Scalar(s) => Err(Error::ItemType { found: Some(*s), asked: core::any::type_name::<T>() }),
            _ => Err(Error::ItemType { found: None, asked: core::any::type_name::<T>() }),
        }
    }

    /// All items as values of `T`, whichever byte order they are stored in.
    ///
    /// ```
    /// # use blosc_frame::{SuperChunk, b2nd::{Dtype, NdArray, Spec}};
    /// # let spec = Spec::new(&[2], Dtype::parse(">i2")?)?;
    /// # let mut nd = NdArray::from_slice(SuperChunk::memory(&spec.params())?, &spec, &[1, 2, 0, 5])?;
    /// assert_eq!(nd.read::<i16>()?, [258, 5]);
    /// let error = nd.read::<u16>().unwrap_err();
    /// assert_eq!(error.to_string(), "the items are of dtype >i2 and cannot be read or written as u16");
    /// # Ok::<(), blosc_frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ItemType`] if the dtype is not `T`'s, and as [`ArrayOn::get`].
    pub fn read<T: Element>(&self) -> Result<Vec<T>, Error> {
        self.read_selection(&Selection::all(self.shape()))
    }

    /// The selected items as values of `T`.
    ///
    /// # Errors
    /// As [`ArrayOn::read`].
    pub fn read_selection<T: Element>(&self, selection: &Selection) -> Result<Vec<T>, Error> {
        let order = self.order_of::<T>()?;
        let bytes = self.get(selection)?;
        Ok(bytes.chunks_exact(T::SIZE.max(1)).map(|item| T::read(order, item)).collect())
    }

    /// Sets the selected items to these values.
    ///
    /// # Errors
    /// [`Error::ItemType`] if the dtype is not `T`'s, and as [`ArrayOn::set`].
    pub fn write_selection<T: Element>(&mut self, selection: &Selection, values: &[T]) -> Result<(), Error> {
        let order = self.order_of::<T>()?;
        let mut bytes = Vec::with_capacity(values.len().saturating_mul(T::SIZE));
        values.iter().for_each(|value| value.write(order, &mut bytes));
        self.set(selection, &bytes)
    }

    /// All items as an [`ndarray::ArrayD`].
    ///
    /// # Errors
    /// As [`ArrayOn::read`], and a shape beyond this machine's addresses.
    #[cfg(feature = "ndarray")]
    pub fn to_ndarray<T: Element>(&self) -> Result<ndarray::ArrayD<T>, Error> {
        let shape: Vec<usize> =
            self.shape().iter().map(|s| usize::try_from(*s).unwrap_or(usize::MAX)).collect();
        let values = self.read()?;
        ndarray::ArrayD::from_shape_vec(shape, values).map_err(|_| Error::Unsupported {
            structure: crate::error::Structure::B2nd,
            what: "this shape in memory",
        })
    }

    /// Sets the selected items to those of an [`ndarray`] array of the selection's shape.
    ///
    /// # Errors
    /// `Param` for another shape, and as [`ArrayOn::write_selection`].
    #[cfg(feature = "ndarray")]
    pub fn set_ndarray<T: Element>(
        &mut self,
        selection: &Selection,
        values: &ndarray::ArrayViewD<'_, T>,
    ) -> Result<(), Error> {
        let shape = values.shape().iter().map(|s| *s as u64);
        if !shape.eq(selection.shape().iter().copied()) {
            let value = values.ndim() as i64;
            return Err(Error::Param {
                name: "shape of the values",
                value,
                allowed: "that of the selection",
            });
        }
        let values: Vec<T> = values.iter().copied().collect();
        self.write_selection(selection, &values)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NdArray, Spec};
    use super::*;

    fn round_trip<T: Element + PartialEq + core::fmt::Debug>(values: &[T]) {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let spec =
                Spec::new(&[values.len() as u64], Dtype::scalar(T::KIND, order, T::SIZE as u32)).unwrap();
            let mut nd = NdArray::zeros(SuperChunk::memory(&spec.params()).unwrap(), &spec).unwrap();
            nd.write_selection(&Selection::all(&[values.len() as u64]), values).unwrap();
            assert_eq!(nd.read::<T>().unwrap(), values);
            assert!(nd.read::<[f32; 2]>().is_err() || T::KIND == Kind::Complex);
        }
    }

    #[test]
    fn every_type_both_orders() {
        round_trip(&[true, false]);
        round_trip(&[-1i8, 5]);
        round_trip(&[-2i16, i16::MAX]);
        round_trip(&[u32::MAX, 7]);
        round_trip(&[i64::MIN, 3]);
        round_trip(&[1.5f32, -0.25]);
        round_trip(&[1e300f64]);
        round_trip(&[[1.0f32, -2.0]]);
        assert_eq!(<u8 as Element>::dtype(), Dtype::parse("u1").unwrap());
        assert_eq!(f64::dtype(), Dtype::parse("<f8").unwrap());
    }

    #[cfg(feature = "ndarray")]
    #[test]
    fn ndarray_in_and_out() {
        let spec = Spec::new(&[3, 4], f32::dtype()).unwrap();
        let mut nd = NdArray::zeros(SuperChunk::memory(&spec.params()).unwrap(), &spec).unwrap();
        let x = ndarray::ArrayD::from_shape_fn(alloc::vec![3, 4], |i| (i[0] * 10 + i[1]) as f32);
        nd.set_ndarray(&Selection::all(&[3, 4]), &x.view()).unwrap();
        assert_eq!(nd.to_ndarray::<f32>().unwrap(), x);
        assert!(nd.set_ndarray(&Selection::all(&[3, 4]), &x.t().into_dyn()).is_err());
    }
}
