//! The C ABI of `blosc-core`; `include/blosc_core.h` is its documentation for C programmers.
//!
//! ```text
//! chunk.rs    blosc_core_header, _validate, _decompress, _getitem     include/blosc_core.h
//! encode.rs   blosc_core_compress and what it needs
//! push.rs     blosc_core_push, …: chunks in pieces, and over themselves
//! blosc1/     blosc_compress_ctx, … (feature `blosc1`)                include/blosc.h
//! memory.rs   pointers and lengths to slices; scratch of the caller, his allocator's, or the heap's
//! status.rs   error codes, and the guard that no panic passes
//! ```
//! Every function checks for null, lengths above `isize::MAX` and buffers that overlap before it makes a slice,
//! returns a negative [`Status`] for anything wrong, and writes nothing outside the lengths it was given.
#![no_std]

#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "blosc1")]
pub mod blosc1;
pub mod chunk;
pub mod encode;
mod memory;
pub mod push;
pub mod status;

pub use memory::{Allocate, Env, Release};
pub use status::Status;

use core::ffi::{CStr, c_char};

/// Version of this interface; raised when a structure or the meaning of a function changes.
pub const ABI: u32 = 1;

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => c"",
};

/// [`ABI`] of the library that was linked.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_core_abi() -> u32 {
    ABI
}

/// Version of the library, as `"0.1.0"`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_core_version() -> *const c_char {
    VERSION.as_ptr()
}

/// One line of English for a negative result.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_core_strerror(code: i64) -> *const c_char {
    Status::text(code).as_ptr()
}

#[cfg(all(not(feature = "std"), not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: C's `abort` takes nothing and does not return.
    unsafe { abort() }
}
