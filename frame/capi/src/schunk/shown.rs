//! The pointers of [`Data`](super::data::Data), brought up to date.

use super::data::special_header;
use super::owned::{Inner, Owned};
use blosc_frame::schunk::RawChunk;

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
