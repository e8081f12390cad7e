//! What the stream of a filter is made of: encoders expect other matches in planes than in items.

/// What streams are made of, as far as an encoder may be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    /// Anything.
    #[default]
    Any,
    /// So many planes, of the bytes of the same place in each item, after a shuffle.
    BytePlanes(usize),
    /// Bits of the same place in each item, after a bitshuffle.
    BitPlanes,
}

impl Content {
    /// Whether a filter has brought bytes or bits of the same place together.
    #[cfg(feature = "lz4")]
    pub(crate) fn is_planes(self) -> bool {
        matches!(self, Content::BytePlanes(_) | Content::BitPlanes)
    }
}
