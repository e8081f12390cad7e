//! What is exported, so that programs load, and not supported: each returns an error. `README.md` lists them.

use crate::error::{PLUGIN_IO, TUNER};
use core::ffi::{c_int, c_void};

/// Tuners are not called.
#[unsafe(no_mangle)]
extern "C" fn blosc2_register_tuner(_tuner: *const c_void) -> c_int {
    TUNER.0
}

/// Files are read and written by the library itself.
#[unsafe(no_mangle)]
extern "C" fn blosc2_register_io_cb(_io: *const c_void) -> c_int {
    PLUGIN_IO.0
}

/// There are no call-backs to hand out.
#[unsafe(no_mangle)]
extern "C" fn blosc2_get_io_cb(_id: u8) -> *mut c_void {
    core::ptr::null_mut()
}

macro_rules! back_end {
    ($($name:ident($($argument:ty),*) -> $result:ty = $value:expr;)+) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($(_: $argument),*) -> $result {
            $value
        }
    )+};
}

const LONG: i64 = PLUGIN_IO.0 as i64;

back_end! {
    blosc2_stdio_open(*const c_void, *const c_void, *mut c_void) -> *mut c_void = core::ptr::null_mut();
    blosc2_stdio_close(*mut c_void) -> c_int = PLUGIN_IO.0;
    blosc2_stdio_size(*mut c_void) -> i64 = LONG;
    blosc2_stdio_write(*const c_void, i64, i64, i64, *mut c_void) -> i64 = LONG;
    blosc2_stdio_read(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64 = LONG;
    blosc2_stdio_truncate(*mut c_void, i64) -> c_int = PLUGIN_IO.0;
    blosc2_stdio_destroy(*mut c_void) -> c_int = PLUGIN_IO.0;
    blosc2_stdio_mmap_open(*const c_void, *const c_void, *mut c_void) -> *mut c_void = core::ptr::null_mut();
    blosc2_stdio_mmap_close(*mut c_void) -> c_int = PLUGIN_IO.0;
    blosc2_stdio_mmap_size(*mut c_void) -> i64 = LONG;
    blosc2_stdio_mmap_write(*const c_void, i64, i64, i64, *mut c_void) -> i64 = LONG;
    blosc2_stdio_mmap_read(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64 = LONG;
    blosc2_stdio_mmap_truncate(*mut c_void, i64) -> c_int = PLUGIN_IO.0;
    blosc2_stdio_mmap_destroy(*mut c_void) -> c_int = PLUGIN_IO.0;
}
