//! Raw Snappy streams: a codec of Blosc1's chunks, which Blosc2 has dropped.
//!
//! ```text
//! stream := length (LEB128, up to 32 bits) element*
//! tag & 3 = 0: literal; len = (tag >> 2) + 1, or with tag >> 2 = 60 ..= 63 the 1 ..= 4 bytes that follow, + 1
//!           1: copy;    len = (tag >> 2 & 7) + 4, distance = (tag >> 5) << 8 | next byte
//!           2: copy;    len = (tag >> 2) + 1,     distance = next 2 bytes
//!           3: copy;    len = (tag >> 2) + 1,     distance = next 4 bytes
//! ```

mod decode;
mod encode;

pub use decode::decode;
pub use encode::{WORK_LEN, encode};
