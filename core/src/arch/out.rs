//! [`Out`]: a destination that may be uninitialised memory.
//!
//! Kernels and decoders write every byte of their destination exactly once and never read it
//! back, so they need not be handed initialised memory. `Out` is a *write-only* slice: it is made
//! from `&mut [u8]` or `&mut [MaybeUninit<u8>]`, and since nothing can be read through it and
//! nothing uninitialised can be written through it, both are sound.
//!
//! What every function of this crate that takes an `Out` promises, and `written_vec` relies on: once it has
//! answered `Ok(n)`, the first `n` bytes have been written. Code of users is given zeroed slices.

use super::copy::copy_library;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// The smallest page of memory.
#[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
const PAGE: usize = 4096;

/// Has the CPU fetch `bytes` into its second cache while it does something else.
#[inline(never)] // few blocks need it
pub(crate) fn prefetch(bytes: &[u8]) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
    for line in bytes.chunks(64) {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint, which may name any address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
    let _ = bytes;
}

/// A write-only destination slice, initialised or not.
pub struct Out<'a> {
    ptr: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

// SAFETY: an `Out` is a unique borrow of plain bytes, exactly like `&mut [u8]`.
unsafe impl Send for Out<'_> {}
// SAFETY: a shared `&Out` allows no access to the bytes at all.
unsafe impl Sync for Out<'_> {}

impl<'a> From<&'a mut [u8]> for Out<'a> {
    fn from(s: &'a mut [u8]) -> Self {
        Out { ptr: s.as_mut_ptr(), len: s.len(), life: PhantomData }
    }
}

impl<'a> From<&'a mut [MaybeUninit<u8>]> for Out<'a> {
    fn from(s: &'a mut [MaybeUninit<u8>]) -> Self {
        Out { ptr: s.as_mut_ptr().cast(), len: s.len(), life: PhantomData }
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for Out<'a> {
    fn from(s: &'a mut [u8; N]) -> Self {
        Out::from(s.as_mut_slice())
    }
}

/// Memory that can be written to: bytes, initialised or not, and an [`Out`]. What takes `&mut` of one borrows it for the call only.
pub trait Room {
    /// All of it.
    fn room(&mut self) -> Out<'_>;
}

impl Room for [u8] {
    fn room(&mut self) -> Out<'_> {
        self.into()
    }
}

impl Room for [MaybeUninit<u8>] {
    fn room(&mut self) -> Out<'_> {
        self.into()
    }
}

impl<const N: usize> Room for [u8; N] {
    fn room(&mut self) -> Out<'_> {
        self.into()
    }
}

impl Room for Out<'_> {
    fn room(&mut self) -> Out<'_> {
        self.reborrow()
    }
}

impl<'a> Out<'a> {
    /// Number of bytes that can be written.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no room at all.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Lends this destination for a shorter time.
    #[inline(always)]
    pub fn reborrow(&mut self) -> Out<'_> {
        Out { ptr: self.ptr, len: self.len, life: PhantomData }
    }

    /// The first `mid` bytes and the rest; `mid` is clamped to the length.
    #[inline(always)]
    pub fn split_at(self, mid: usize) -> (Out<'a>, Out<'a>) {
        let mid = mid.min(self.len);
        // SAFETY: `mid <= len`, so the second pointer is in or one past the allocation, and the
        // two halves do not overlap.
        let tail = unsafe { self.ptr.add(mid) };
        (
            Out { ptr: self.ptr, len: mid, life: PhantomData },
            Out { ptr: tail, len: self.len - mid, life: PhantomData },
        )
    }

    /// Bytes `start..start + len` of this destination, or `None` where that leaves it.
    #[inline(always)]
    pub fn get(&mut self, start: usize, len: usize) -> Option<Out<'_>> {
        if start > self.len || len > self.len - start {
            return None;
        }
        // SAFETY: `start + len <= self.len` was just checked.
        let ptr = unsafe { self.ptr.add(start) };
        Some(Out { ptr, len, life: PhantomData })
    }

    /// Copies `src` to the start; bytes beyond either end are left alone. Returns the count copied.
    #[inline(always)]
    pub fn copy_from(&mut self, src: &[u8]) -> usize {
        let n = src.len().min(self.len);
        // SAFETY: `n` bytes are readable in `src` and writable here; a unique borrow cannot
        // overlap a shared one.
        unsafe { copy_library(src.as_ptr(), self.ptr, n) };
        n
    }

    /// Writes `bytes` to positions `start`, `start + step`, ... until either side ends.
    #[inline(always)]
    pub fn scatter(&mut self, start: usize, step: usize, bytes: impl Iterator<Item = u8>) {
        let room = if start < self.len { (self.len - start).div_ceil(step.max(1)) } else { 0 };
        // `for_each` and not `for`: the iterator's own loop is the one that compilers unroll.
        bytes.take(room).enumerate().for_each(|(k, byte)| {
            // SAFETY: `k < room`, so `start + k * step < len`.
            unsafe { self.ptr.add(start + k * step).write(byte) };
        });
    }

    /// Sets every byte to `value`.
    #[inline(always)]
    pub fn fill(&mut self, value: u8) {
        // SAFETY: `len` bytes are writable.
        unsafe { core::ptr::write_bytes(self.ptr, value, self.len) };
    }

    /// Zeroes the destination and gives it out as an ordinary slice, for code that wants `&mut [u8]`.
    #[inline]
    pub fn zeroed(mut self) -> &'a mut [u8] {
        self.fill(0);
        // SAFETY: every byte was just initialised, and the borrow is unique for `'a`.
        unsafe { core::slice::from_raw_parts_mut(self.ptr, self.len) }
    }

    /// Has the CPU look up where the pages of this destination lie while it does something else: a store that waits
    /// for that holds up all stores after it. Writes nothing.
    #[inline]
    pub(crate) fn look_up_pages(&self) {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
        for at in (0..self.len).step_by(PAGE) {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a hint, which may name any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.ptr.wrapping_add(at).cast()) };
        }
    }

    /// The first `count` pieces of `N` bytes, each to be written in turn, and what follows them. `count` is clamped to
    /// the whole pieces that there are.
    #[inline(always)]
    pub(crate) fn places<const N: usize>(
        self,
        count: usize,
    ) -> (impl Iterator<Item = Piece<'a, N>>, Out<'a>) {
        let count = count.min(self.len / N);
        let (head, rest) = self.split_at(count * N);
        // SAFETY: `count * N` bytes are writable, the borrow of them is unique for `'a`, and arrays of bytes have no
        // alignment. A `Piece` lets nothing uninitialised be written.
        let places =
            unsafe { core::slice::from_raw_parts_mut(head.ptr.cast::<MaybeUninit<[u8; N]>>(), count) };
        (places.iter_mut().map(Piece), rest)
    }

    /// How many bytes stand before the first that lies at a multiple of `n`.
    #[inline(always)]
    pub(crate) fn before_multiple_of(&self, n: usize) -> usize {
        self.ptr.addr().wrapping_neg() % n
    }

    /// Pointer to the first byte, for kernels in this folder.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr
    }
}

/// `N` bytes of a destination, to be written at once.
pub(crate) struct Piece<'a, const N: usize>(&'a mut MaybeUninit<[u8; N]>);

impl<const N: usize> Piece<'_, N> {
    #[inline(always)]
    pub(crate) fn write(self, bytes: [u8; N]) {
        self.0.write(bytes);
    }
}

/// A fresh `Vec` of the bytes that `write` writes to a destination of `len` bytes, which is not zeroed first.
/// `write` is a decoder of this crate, which answers how many bytes it has written.
#[cfg(feature = "alloc")]
pub(crate) fn written_vec<E>(
    len: usize,
    write: impl FnOnce(Out<'_>) -> Result<usize, E>,
) -> Result<alloc::vec::Vec<u8>, E> {
    let mut bytes = alloc::vec::Vec::with_capacity(len);
    let room = bytes.spare_capacity_mut();
    let room = room.get_mut(..len).unwrap_or_default();
    let written = write(room.into())?.min(len);
    // SAFETY: at most the capacity, and the decoder has written that many bytes (see the head of this file).
    unsafe { bytes.set_len(written) };
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Around the offsets at which a library's copy is slow, and the lengths at which it is cut.
    #[test]
    fn copies_are_whole_at_every_offset_and_write_nothing_else() {
        let bytes: alloc::vec::Vec<u8> = (0..20_000u32).map(|n| ((n * 31) >> 3) as u8).collect();
        for len in [0, 1, 1024, 2048, 2049, 3072, 5000] {
            for offset in (0..80).chain([4095, 4096, 4100]) {
                let mut room = alloc::vec![0xEE; 4200 + len + 64];
                let src = &bytes[7..7 + len];
                assert_eq!(Out::from(&mut room[offset..offset + len]).copy_from(src), len);
                assert_eq!(&room[offset..offset + len], src, "{len} at {offset}");
                assert!(room[..offset].iter().chain(&room[offset + len..]).all(|b| *b == 0xEE));
            }
        }
    }
}
