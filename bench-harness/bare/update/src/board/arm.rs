//! LM3S6965 (Cortex-M3) as QEMU emulates it.

use crate::{main, semihosting};
use core::arch::asm;
use cortex_m_rt::entry;

#[path = "../../../lean/src/clock.rs"]
mod clock;
pub use clock::Clock;

/// UART 0, a PL011, of which QEMU's needs no setting up but for its queue.
const DATA: *mut u32 = 0x4000_c000 as *mut u32;
const FLAGS: *const u32 = 0x4000_c018 as *const u32;
const CONTROL: *mut u32 = 0x4000_c02c as *mut u32;
const QUEUE: u32 = 1 << 4;
const EMPTY: u32 = 1 << 4;
const FULL: u32 = 1 << 5;

#[entry]
fn start() -> ! {
    // SAFETY: a register of the UART; writing it makes it keep 16 bytes that have arrived, not one.
    unsafe { CONTROL.write_volatile(QUEUE) };
    let clock = cortex_m::Peripherals::take().map(|peripherals| Clock::new(peripherals.SYST));
    semihosting::exit(clock.is_some_and(main))
}

/// Sends a byte.
pub fn put(byte: u8) {
    // SAFETY: the registers of the UART: reading one has no effect, writing the other sends.
    unsafe {
        while FLAGS.read_volatile() & FULL != 0 {}
        DATA.write_volatile(byte.into());
    }
}

/// Waits for a byte.
pub fn get() -> u8 {
    // SAFETY: the registers of the UART: reading one has no effect, reading the other receives.
    unsafe {
        while FLAGS.read_volatile() & EMPTY != 0 {}
        DATA.read_volatile() as u8
    }
}

/// Calls the emulator.
pub fn call(operation: usize, argument: usize) -> usize {
    let result;
    // SAFETY: the call of semihosting: it reads and writes what the argument points to, which is of whoever calls this.
    unsafe { asm!("bkpt 0xab", inout("r0") operation => result, in("r1") argument, options(nostack)) };
    result
}
