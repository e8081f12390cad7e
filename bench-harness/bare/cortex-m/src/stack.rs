//! Peak stack of a call, by painting.
//!
//! ```text
//! end of statics              paint                SP        top of RAM
//! |---------------------------------------------->| peak's callers |
//!                        ^ lowest word that the call overwrote: SP - this = its peak
//! ```
//! Exact to a word, up to words that the call reserves and never writes, or writes with the paint's value.

const PAINT: u32 = 0xA5C3_5A3C;
const WORD: usize = size_of::<u32>();

unsafe extern "C" {
    /// End of the statics, where a heap would start: a symbol of cortex-m-rt's linker script, and of `kernel-riscv32/link.ld`.
    static __sheap: u32;
}

/// The stack pointer.
#[inline(always)]
fn pointer() -> usize {
    #[cfg(target_arch = "arm")]
    return cortex_m::register::msp::read() as usize;
    #[cfg(target_arch = "riscv32")]
    {
        let pointer;
        // SAFETY: reads a register.
        unsafe { core::arch::asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack)) };
        pointer
    }
}

/// First address after the statics.
fn floor() -> usize {
    &raw const __sheap as usize
}

/// Bytes between the statics and the stack pointer.
#[allow(dead_code, reason = "`update` does not ask")]
pub fn room() -> usize {
    pointer().saturating_sub(floor())
}

/// Runs `f`; returns its result and the most bytes of stack it took, its own frame included.
#[inline(never)]
pub fn peak<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let top = pointer() & !(WORD - 1);
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
