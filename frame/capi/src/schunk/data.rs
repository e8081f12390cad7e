//! `blosc2_schunk.data`: where the chunks of a super-chunk lie that is in memory and not contiguous. Callers read it.

use super::{Inner, Owned};
use blosc_core::{Special, chunk::special};
use blosc_frame::schunk::RawChunk;

/// Pointers to the chunks; they hold until the next change.
#[derive(Default)]
pub struct Data {
    /// Whether the super-chunk shows them.
    is_shown: bool,
    pointers: Vec<*mut u8>,
    /// How many of them are those of the frame as it is.
    valid: usize,
    /// Headers that stand for special chunks, which have no bytes in the frame.
    headers: Vec<(Special, u32, Box<[u8; 32]>)>,
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

impl Inner {
    fn pointer(&mut self, k: u64) -> Option<*mut u8> {
        let (typesize, blocksize) = (self.frame.typesize(), self.blocksize());
        let mut buf = Vec::new();
        match self.frame.raw_chunk(k, &mut buf).ok()? {
            RawChunk::Stored(bytes) => {
                let pointer = bytes.as_ptr().cast_mut();
                // What was read into the buffer goes with it; such a frame does not lie in memory.
                buf.is_empty().then_some(pointer)
            }
            RawChunk::Special(kind, nbytes) => {
                let headers = &mut self.data.headers;
                if let Some((_, _, known)) = headers.iter().find(|known| (known.0, known.1) == (kind, nbytes))
                {
                    return Some(known.as_ptr().cast_mut());
                }
                let header = Box::new(special_header(kind, typesize, nbytes, blocksize).ok()?);
                let pointer = header.as_ptr().cast_mut();
                headers.push((kind, nbytes, header));
                Some(pointer)
            }
        }
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

impl Owned {
    /// Brings the pointers up to date.
    pub fn sync_data(&mut self) {
        if !self.inner.data.is_shown {
            return;
        }
        let count = self.inner.frame.nchunks();
        // The whole frame moves when its vector grows.
        let first = if count > 0 { self.inner.pointer(0) } else { None };
        if first != self.inner.data.pointers.first().copied() {
            self.inner.data.valid = 0;
        }
        let valid = self.inner.data.valid.min(usize::try_from(count).unwrap_or(usize::MAX));
        self.inner.data.pointers.truncate(valid);
        for k in valid as u64..count {
            let pointer = self.inner.pointer(k).unwrap_or(core::ptr::null_mut());
            self.inner.data.pointers.push(pointer);
        }
        let data = &mut self.inner.data;
        data.valid = data.pointers.len();
        self.public.data = data.pointers.as_mut_ptr();
        self.public.data_len = data.pointers.capacity() * size_of::<*mut u8>();
    }
}
