//! Limits of the BloscLZ bitstream.

/// The first distance that needs the far form.
pub(super) const FAR: usize = 8192;
/// The farthest distance that encoders use.
pub(super) const REACH: usize = 73_724;
/// Encoders start no match within this many bytes of the end.
pub(super) const LAST_MATCH: usize = 12;
/// Shortest stream in bytes that encoders write.
pub(super) const SHORTEST: usize = 16;
/// The longest literal run of one instruction.
pub(super) const RUN: usize = 32;
