//! [`CBuffer`]: memory from `malloc`, since HDF5 frees what a filter returns.

use core::ptr::NonNull;

/// Memory from `malloc`, all of it set to zero or written.
pub struct CBuffer {
    start: NonNull<u8>,
    len: usize,
}

impl CBuffer {
    /// `len` bytes, at least one, all zero.
    pub fn zeroed(len: usize) -> Result<CBuffer, String> {
        let why = || format!("no memory for a chunk of {len} bytes");
        // SAFETY: `calloc` takes any numbers; its result is null or at least one zeroed byte.
        let start = unsafe { libc::calloc(len.max(1), 1) };
        Ok(CBuffer { start: NonNull::new(start.cast()).ok_or_else(why)?, len })
    }

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Result<CBuffer, String> {
        let mut buffer = CBuffer::zeroed(bytes.len())?;
        buffer.as_mut().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// The memory and its length; the caller frees it with `free`.
    pub fn into_raw(self) -> (*mut u8, usize) {
        let this = core::mem::ManuallyDrop::new(self);
        (this.start.as_ptr(), this.len)
    }
}

impl AsMut<[u8]> for CBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: `start` leads to `len` initialised bytes (`zeroed`) that belong to `self`, which is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for CBuffer {
    fn drop(&mut self) {
        // SAFETY: `start` came from `calloc` in `zeroed`, and `into_raw` keeps what it gives away from being dropped.
        unsafe { libc::free(self.start.as_ptr().cast()) }
    }
}
