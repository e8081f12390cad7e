//! [`ChunkContext`]: what a chunk does not say about itself.

use super::header::FORMATS;
use super::plugin::{UserCodec, UserFilter};
use core::fmt;

/// What a chunk does not say about itself: the array that it is part of, which the filters ndcell, ndmean and bytedelta
/// (with meta 0) and the codec NDLZ need, and the codecs and filters of the caller, for ids of 160 and above.
#[derive(Clone, Copy, Default)]
pub struct ChunkContext<'a> {
    /// Typesize of the super-chunk in bytes, 0 if unknown. Unlike a header's it may exceed 255.
    pub typesize: u32,
    /// Block shape of the array in items, empty if there is none.
    pub blockshape: &'a [u32],
    /// Bytes of the whole output that the chunk's decoded bytes are a part of, 0 if they are all of it. Outputs too
    /// large for the caches are written past them.
    pub whole: usize,
    /// Codecs the caller brings, looked up by id before the built-in ones.
    pub codecs: &'a [&'a dyn UserCodec],
    /// Filters the caller brings, looked up by id before the built-in ones.
    pub filters: &'a [&'a dyn UserFilter],
}

impl fmt::Debug for ChunkContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkContext")
            .field("typesize", &self.typesize)
            .field("blockshape", &self.blockshape)
            .field("whole", &self.whole)
            .field("codecs", &self.codecs.len())
            .field("filters", &self.filters.len())
            .finish()
    }
}

impl<'a> ChunkContext<'a> {
    pub(crate) fn codec(&self, id: u8) -> Option<&'a dyn UserCodec> {
        let codecs = if FORMATS { self.codecs } else { &[] };
        codecs.iter().find(|c| c.id() == id).copied()
    }

    pub(crate) fn filter(&self, id: u8) -> Option<&'a dyn UserFilter> {
        let filters = if FORMATS { self.filters } else { &[] };
        filters.iter().find(|f| f.id() == id).copied()
    }
}
