//! [`UserCodec`] and [`UserFilter`]: codecs and filters that the caller brings.

use crate::codec::CodecError;
use crate::filter::FilterError;

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
