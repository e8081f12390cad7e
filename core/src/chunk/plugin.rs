//! What a chunk cannot know by itself: the array around it, and the caller's own codecs and filters.

use super::header::FORMATS;
use crate::codec::CodecError;
use crate::filter::FilterError;
use core::fmt;

/// What the surroundings of a chunk know and the chunk does not: needed by ndcell, ndmean,
/// bytedelta with meta 0 and NDLZ, and for ids of 160 and above.
#[derive(Clone, Copy, Default)]
pub struct Surroundings<'a> {
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

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("typesize", &self.typesize)
            .field("blockshape", &self.blockshape)
            .field("whole", &self.whole)
            .field("codecs", &self.codecs.len())
            .field("filters", &self.filters.len())
            .finish()
    }
}

impl<'a> Surroundings<'a> {
    pub(crate) fn codec(&self, id: u8) -> Option<&'a dyn UserCodec> {
        let codecs = if FORMATS { self.codecs } else { &[] };
        codecs.iter().find(|c| c.id() == id).copied()
    }

    pub(crate) fn filter(&self, id: u8) -> Option<&'a dyn UserFilter> {
        let filters = if FORMATS { self.filters } else { &[] };
        filters.iter().find(|f| f.id() == id).copied()
    }
}

/// A codec of the caller, for ids the library has no code for (160–255 are free for users, 32–159
/// are registered).
pub trait UserCodec: Sync {
    /// The id chunks name it by.
    fn id(&self) -> u8;
    /// Compresses `src` into the start of `dst` and returns the length, or `None` if it does not fit.
    fn encode(&self, meta: u8, level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize>;
    /// Expands `src` to exactly `dst.len()` bytes.
    ///
    /// # Errors
    /// The stream is corrupt.
    fn decode(&self, meta: u8, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError>;
}

/// A filter of the caller, for ids the library has no code for.
pub trait UserFilter: Sync {
    /// The id chunks name it by.
    fn id(&self) -> u8;
    /// Filters the block `src` into `dst`, which has the same length.
    ///
    /// # Errors
    /// The filter cannot run with these parameters.
    fn forward(&self, meta: u8, typesize: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError>;
    /// Undoes [`forward`](Self::forward).
    ///
    /// # Errors
    /// The filter cannot run with these parameters.
    fn backward(&self, meta: u8, typesize: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError>;
}
