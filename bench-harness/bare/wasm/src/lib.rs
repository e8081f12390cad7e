//! Chunks, and files, in WebAssembly.
//!
//! ```text
//! no feature   decode_chunk on static memory, no allocator: what decoding costs in a module
//! check        the suite: check() runs it at every level of the build, report() and report_len() tell what came of it
//! files        describe() and decode() of a frame, array, bloscpack file or chunk that the page put in memory
//! ```
//! Nothing is imported. The host writes input to `input(len)`, reads output from `output()`.
#![no_std]
#![cfg(target_arch = "wasm32")]

#[cfg(feature = "check")]
mod check;
#[cfg(not(any(feature = "check", feature = "files")))]
mod chunk;
#[cfg(feature = "files")]
mod files;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
