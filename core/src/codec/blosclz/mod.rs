//! BloscLZ bitstream (docs/formats/chunk.md §4).
//!
//! ```text
//! literals  000kkkkk                 k + 1 bytes follow, copied as they are
//! match     LLLHHHHH [e..] low       length L + 2; L = 7 adds bytes e up to the first that is not 255
//!                                    distance 256 H + low + 1
//!           LLL11111 [e..] 255 hi lo distance 8192 + 256 hi + lo
//! stream    literals, matches, ..., literals; the three high bits of its first byte are a marker
//! ```

mod decode;
mod emit;
mod encode;
mod format;
mod levels;
mod probe;

pub use decode::decode;
pub(crate) use decode::expand;
pub use encode::{encode, work_len};
