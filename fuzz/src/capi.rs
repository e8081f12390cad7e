//! The C interface of libblosc2.so.9.

use crate::resources::allow;

/// A sequence of calls on contexts, chunks, super-chunks, frames and arrays; see `frame/capi/src/calls`.
pub fn calls(data: &[u8]) {
    // Each of up to 60 calls may hold some buffers, of a quarter of a megabyte at most.
    allow(128 << 20);
    blosc2_calls::calls::run(data);
}
