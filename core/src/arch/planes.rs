//! [`Planes`]: the byte planes of a block, as kernels take them; [`Stores`]: how they write the items.

/// One byte plane, input of a [`join`](crate::filter::blocksplit::join).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane<'a> {
    /// Its bytes: at least one per item.
    Bytes(&'a [u8]),
    /// One byte for every item.
    Constant(u8),
}

/// The byte planes of a block, input of a [`join`](crate::filter::blocksplit::join).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes<'a> {
    /// Plane `j` begins at `bytes[j * pitch]`.
    Pitched {
        /// All planes; the last one need not be as long as the pitch.
        bytes: &'a [u8],
        /// Distance from one plane to the next, in bytes.
        pitch: usize,
    },
    /// Each plane by itself; planes beyond the width are ignored.
    Each(&'a [Plane<'a>]),
}

impl<'a> Planes<'a> {
    /// The first `n` bytes of plane `j`, if there are that many.
    #[inline]
    pub fn get(&self, j: usize, n: usize) -> Option<Plane<'a>> {
        match *self {
            Planes::Pitched { bytes, pitch } => {
                bytes.get(j.checked_mul(pitch)?..)?.get(..n).map(Plane::Bytes)
            }
            Planes::Each(planes) => match *planes.get(j)? {
                Plane::Bytes(bytes) => bytes.get(..n).map(Plane::Bytes),
                constant => Some(constant),
            },
        }
    }
}

/// How a kernel writes a destination it will not read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// Into the cache, as usual.
    Cached,
    /// Past the cache where the level can: for destinations too large to stay in it.
    Streaming,
}

impl Stores {
    /// Destinations from this size on are better not cached.
    pub const STREAMING_FROM: usize = 32 << 20;

    /// What suits a destination of `len` bytes, counted over all the calls that fill it.
    pub const fn for_len(len: usize) -> Stores {
        if len >= Stores::STREAMING_FROM { Stores::Streaming } else { Stores::Cached }
    }
}
