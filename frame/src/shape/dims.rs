//! [`Dims`]: up to sixteen numbers, one per axis, kept inline.

use core::fmt;
use core::ops::{Deref, DerefMut};

/// Most axes an array can have.
pub const MAX_DIM: usize = 16;

/// One number per axis, at most [`MAX_DIM`] of them. Dereferences to a slice.
///
/// ```
/// use blosc_frame::b2nd::Dims;
/// let shape = Dims::new(&[3u64, 5]).unwrap();
/// assert_eq!(shape.len(), 2);
/// assert_eq!(&shape[..], &[3, 5]);
/// ```
#[derive(Clone, Copy)]
pub struct Dims<T> {
    len: usize,
    items: [T; MAX_DIM],
}

impl<T: Copy + Default> Dims<T> {
    /// No axis at all.
    pub fn empty() -> Dims<T> {
        Dims { len: 0, items: [T::default(); MAX_DIM] }
    }

    /// The numbers of `items`, or `None` when there are more than [`MAX_DIM`].
    pub fn new(items: &[T]) -> Option<Dims<T>> {
        let mut dims = Dims::empty();
        dims.items.get_mut(..items.len())?.copy_from_slice(items);
        dims.len = items.len();
        Some(dims)
    }

    /// `len` times the same number; lengths above [`MAX_DIM`] are cut to it.
    pub fn repeat(value: T, len: usize) -> Dims<T> {
        Dims { len: len.min(MAX_DIM), items: [value; MAX_DIM] }
    }

    /// Adds an axis at the end; `false` when there is no room.
    #[must_use]
    pub fn push(&mut self, value: T) -> bool {
        match self.items.get_mut(self.len) {
            Some(slot) => {
                *slot = value;
                self.len = self.len.saturating_add(1);
                true
            }
            None => false,
        }
    }

    /// The number of axis `axis`, or the default (0) beyond the last.
    pub fn at(&self, axis: usize) -> T {
        self.get(axis).copied().unwrap_or_default()
    }

    /// Each number through `f`.
    pub fn map<U: Copy + Default>(&self, mut f: impl FnMut(T) -> U) -> Dims<U> {
        let mut out = Dims { len: self.len, items: [U::default(); MAX_DIM] };
        for (to, from) in out.items.iter_mut().zip(self.iter()) {
            *to = f(*from);
        }
        out
    }

    /// Numbers of the same axis through `f`.
    pub fn map_with(&self, other: &Dims<T>, mut f: impl FnMut(T, T) -> T) -> Dims<T> {
        let mut out = *self;
        for (to, from) in out.iter_mut().zip(other.iter()) {
            *to = f(*to, *from);
        }
        out
    }
}

impl<T> Deref for Dims<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.items.get(..self.len).unwrap_or(&[])
    }
}

impl<T> DerefMut for Dims<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.items.get_mut(..self.len).unwrap_or(&mut [])
    }
}

impl<T: PartialEq> PartialEq for Dims<T> {
    fn eq(&self, other: &Dims<T>) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq> Eq for Dims<T> {}

impl<T: fmt::Debug> fmt::Debug for Dims<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

/// As Python writes a shape: `(3, 5)`, `(7,)`, `()`.
impl<T: fmt::Display> fmt::Display for Dims<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (axis, n) in self.iter().enumerate() {
            if axis > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{n}")?;
        }
        f.write_str(if self.len() == 1 { ",)" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn holds_sixteen_and_no_more() {
        assert!(Dims::new(&[1u8; 17]).is_none());
        let mut d = Dims::new(&[1u8; 15]).unwrap();
        assert!(d.push(2));
        assert!(!d.push(3));
        assert_eq!(d.at(15), 2);
        assert_eq!(d.at(16), 0);
        assert_eq!(Dims::repeat(1u8, 99).len(), 16);
    }

    #[test]
    fn prints_like_python() {
        assert_eq!(Dims::<u64>::empty().to_string(), "()");
        assert_eq!(Dims::new(&[7u64]).unwrap().to_string(), "(7,)");
        assert_eq!(Dims::new(&[7u64, 8]).unwrap().to_string(), "(7, 8)");
    }
}
