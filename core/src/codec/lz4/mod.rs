//! LZ4 block format (docs/formats/chunk.md §2.12): the bare block, without frame or size.
//!
//! ```text
//! sequence  token  1 byte: literal length in the high half, match length - 4 in the low half
//!           a half of 15 goes on in bytes that are added up, until one is not 255
//!           [literal length bytes] literals  distance u16  [match length bytes]
//! block     sequences; the last one is cut off after its literals
//! ```
//! Writers end a block with at least five literals and start no match in its last twelve bytes.
//! Distances reach back at most 65535 bytes, into the dictionary where there is one.

mod decode;
pub(crate) mod emit;
mod encode;
mod format;
mod levels;

pub use decode::decode;
pub(crate) use decode::expand;
pub(crate) use encode::encode_content;
pub use encode::{encode, work_len};
pub(crate) use format::{DICTIONARY, LAST_LITERALS, LAST_MATCH, REACH};
