//! The suite, at every level of this build.

use blosc_core::Level;
use blosc_suite::{GUARD, Memory};
use core::fmt::{self, Write};

static mut WORK: [u8; 1 << 20] = [0; 1 << 20];
static mut OUT: [u8; (1 << 16) + GUARD] = [0; (1 << 16) + GUARD];
static mut CHUNK: [u8; 1 << 16] = [0; 1 << 16];
static mut LOG: Log = Log { text: [0; 8192], len: 0 };

struct Log {
    text: [u8; 8192],
    len: usize,
}

impl Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (place, byte) in self.text.iter_mut().skip(self.len).zip(text.bytes()) {
            *place = byte;
            self.len += 1;
        }
        Ok(())
    }
}

/// Runs everything; returns 1 if all of it held.
#[unsafe(no_mangle)]
pub extern "C" fn check() -> i32 {
    // SAFETY: wasm has one thread, and nothing else holds these statics while this function runs.
    let (mut memory, log) = unsafe {
        let memory =
            Memory { work: &mut *&raw mut WORK, out: &mut *&raw mut OUT, chunk: &mut *&raw mut CHUNK };
        (memory, &mut *&raw mut LOG)
    };
    let mut held = true;
    for level in Level::available() {
        held &= blosc_suite::run(level, &mut memory, log);
    }
    i32::from(held)
}

/// Where the text of the log lies.
#[unsafe(no_mangle)]
pub extern "C" fn report() -> *const u8 {
    // SAFETY: takes an address.
    unsafe { (&raw const LOG.text).cast() }
}

/// Its length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn report_len() -> usize {
    // SAFETY: wasm has one thread.
    unsafe { LOG.len }
}
