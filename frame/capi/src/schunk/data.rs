//! `blosc2_schunk.data`: where the chunks of a super-chunk lie that is in memory and not contiguous. Callers read it.

use blosc_core::{Special, chunk::special};

/// Pointers to the chunks; they hold until the next change.
#[derive(Default)]
pub struct Data {
    /// Whether the super-chunk shows them.
    pub(super) is_shown: bool,
    pub(super) pointers: Vec<*mut u8>,
    /// How many of them are those of the frame as it is.
    pub(super) valid: usize,
    /// Headers that stand for special chunks, which have no bytes in the frame.
    pub(super) headers: Vec<(Special, u32, Box<[u8; 32]>)>,
}

impl Data {
    pub fn new(is_shown: bool) -> Data {
        Data { is_shown, ..Data::default() }
    }

    /// Chunks from `k` on may lie elsewhere now.
    pub fn changed_from(&mut self, k: u64) {
        self.valid = self.valid.min(usize::try_from(k).unwrap_or(usize::MAX));
    }
}

/// The header that is the whole of a special chunk. Callers read it block by block, as the other chunks.
pub fn special_header(
    kind: Special,
    typesize: u32,
    nbytes: u32,
    blocksize: u32,
) -> Result<[u8; 32], blosc_core::Error> {
    let n = nbytes as usize;
    let mut header = match kind {
        Special::Nan => special::nans(typesize, n),
        Special::Uninit => special::uninit(typesize, n),
        _ => special::zeros(typesize, n),
    }?;
    if 0 < blocksize && blocksize <= nbytes {
        header[8..12].copy_from_slice(&blocksize.to_le_bytes());
    }
    Ok(header)
}
