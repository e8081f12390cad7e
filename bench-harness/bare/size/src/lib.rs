//! One function that decodes a chunk, to be linked alone: its text is what decoding costs in flash.
//!
//! The panic handler calls a function that does not exist. `../run` links with unresolved symbols ignored and then
//! looks for this one: if the name is in the symbol table, something in the decode path can panic.
#![no_std]

use blosc_core::{Chunk, Decoder, Level};
use core::panic::PanicInfo;
use core::slice;

unsafe extern "C" {
    fn blosc_panicked() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never linked into anything that runs.
    unsafe { blosc_panicked() }
}

/// Decodes the chunk of `n` bytes at `src` to `dst` of `m` bytes, with `w` bytes of scratch at `work`.
/// Returns the decoded length, -1 for a malformed header, -2 for a chunk that cannot be decoded.
///
/// # Safety
/// The three regions are valid for their lengths and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn decode(
    src: *const u8,
    n: usize,
    dst: *mut u8,
    m: usize,
    work: *mut u8,
    w: usize,
) -> isize {
    // SAFETY: as the caller promises.
    let (src, dst, work) = unsafe {
        (slice::from_raw_parts(src, n), slice::from_raw_parts_mut(dst, m), slice::from_raw_parts_mut(work, w))
    };
    let Ok(chunk) = Chunk::parse(src) else { return -1 };
    match Decoder::new(Level::SCALAR, work).decode(&chunk, dst) {
        Ok(len) => isize::try_from(len).unwrap_or(-2),
        Err(_) => -2,
    }
}
