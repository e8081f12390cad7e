//! Peak stack of a call, by painting.
//!
//! ```text
//! end of statics              paint                SP        top of RAM
//! |---------------------------------------------->| peak's callers |
//!                        ^ lowest word that the call overwrote: SP - this = its peak
//! ```
//! Exact to a word, up to words that the call reserves and never writes, or writes with the paint's value.

use cortex_m::register::msp;

const PAINT: u32 = 0xA5C3_5A3C;
const WORD: usize = size_of::<u32>();

unsafe extern "C" {
    /// End of the statics, where a heap would start: a symbol of cortex-m-rt's linker script.
    static __sheap: u32;
}

/// First address after the statics.
fn floor() -> usize {
    &raw const __sheap as usize
}

/// Bytes between the statics and the stack pointer.
pub fn room() -> usize {
    (msp::read() as usize).saturating_sub(floor())
}

/// Runs `f`; returns its result and the most bytes of stack it took, its own frame included.
#[inline(never)]
pub fn peak<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let top = msp::read() as usize & !(WORD - 1);
    let mut at = floor();
    while at < top {
        // SAFETY: RAM between the statics and the stack pointer. Nothing lives there: one thread, no interrupt is
        // enabled, and this loop calls nothing.
        unsafe { (at as *mut u32).write_volatile(PAINT) };
        at += WORD;
    }
    let result = outlined(f);
    let mut at = floor();
    // SAFETY: as above, words of RAM, aligned as `__sheap` is.
    while at < top && unsafe { (at as *const u32).read_volatile() } == PAINT {
        at += WORD;
    }
    (result, top - at)
}

/// Keeps the frame of `f` below that of [`peak`].
#[inline(never)]
fn outlined<R>(f: impl FnOnce() -> R) -> R {
    f()
}
