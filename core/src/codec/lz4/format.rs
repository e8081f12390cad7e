//! Limits of the LZ4 block format.

/// A block ends with at least this many literals.
pub(crate) const LAST_LITERALS: usize = 5;
/// No match starts within this many bytes of the end.
pub(crate) const LAST_MATCH: usize = 12;
/// Bytes of a dictionary that encoders use, from its end: chunks have no longer one (docs/formats/chunk.md).
pub(crate) const DICTIONARY: usize = 32 << 10;
/// The farthest distance.
pub(crate) const REACH: usize = 65535;
