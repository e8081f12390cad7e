//! RV32IMAC, QEMU's `virt` machine, without a floating point unit.

use crate::{main, semihosting};
use core::arch::{asm, global_asm};

global_asm!(include_str!("../../../kernel-riscv32/src/boot.s"));

/// The 16550.
const DATA: *mut u8 = 0x1000_0000 as *mut u8;
const CONTROL: *mut u8 = 0x1000_0002 as *mut u8;
const QUEUE: u8 = 1;
const STATUS: *const u8 = 0x1000_0005 as *const u8;
const ARRIVED: u8 = 1;
const ROOM: u8 = 1 << 5;

#[unsafe(no_mangle)]
extern "C" fn kernel() -> ! {
    // SAFETY: a register of the UART; writing it makes it keep 16 bytes that have arrived, not one.
    unsafe { CONTROL.write_volatile(QUEUE) };
    semihosting::exit(main(Clock))
}

/// Every exception ends here.
#[unsafe(no_mangle)]
extern "C" fn exception() -> ! {
    panic!("an exception")
}

/// A counter of instructions, under an emulator that counts them (`-icount shift=6`).
pub struct Clock;

/// What QEMU's counter of instructions counts for each of them: nanoseconds.
const EACH: u32 = 1 << 6;

impl Clock {
    /// Runs `f`; returns its result and the instructions it took.
    pub fn instructions<R>(&mut self, f: impl FnOnce() -> R) -> (R, u64) {
        let before = count();
        let result = f();
        (result, (count().wrapping_sub(before) / EACH).into())
    }
}

fn count() -> u32 {
    let count;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nostack)) };
    count
}

/// Sends a byte.
pub fn put(byte: u8) {
    // SAFETY: the registers of the UART: reading one has no effect that matters, writing the other sends.
    unsafe {
        while STATUS.read_volatile() & ROOM == 0 {}
        DATA.write_volatile(byte);
    }
}

/// Waits for a byte.
pub fn get() -> u8 {
    // SAFETY: the registers of the UART: reading one has no effect that matters, reading the other receives.
    unsafe {
        while STATUS.read_volatile() & ARRIVED == 0 {}
        DATA.read_volatile()
    }
}

/// Calls the emulator. The three instructions that are the call must not be compressed, and lie in one page.
pub fn call(operation: usize, argument: usize) -> usize {
    let result;
    // SAFETY: the call of semihosting: it reads and writes what the argument points to, which is of whoever calls this.
    unsafe {
        asm!(
            ".option push", ".option norvc", ".balign 16",
            "slli x0, x0, 0x1f", "ebreak", "srai x0, x0, 7",
            ".option pop",
            inout("a0") operation => result, in("a1") argument, options(nostack)
        )
    };
    result
}
