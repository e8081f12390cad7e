//! A program for a 32-bit RISC-V without an operating system (RV32IMAC, QEMU's `virt` machine) that decodes chunks and reads frames.
//!
//! The floating point unit is off, so a single use of a register of it would end in the exception vector. Ends QEMU through its test
//! device with status 0 if all held, 1 if not, 101 after a panic or an exception.
#![no_std]
#![no_main]

use blosc_core::Level;
use blosc_suite::{GUARD, Memory};
use core::arch::{asm, global_asm};
use core::fmt::{self, Write};

global_asm!(include_str!("boot.s"));

/// The serial line of QEMU's `virt` machine.
struct Uart;

impl Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const DATA: *mut u8 = 0x1000_0000 as *mut u8;
        // SAFETY: the transmit register of the 16550; writing it prints.
        text.bytes().for_each(|byte| unsafe { DATA.write_volatile(byte) });
        Ok(())
    }
}

fn exit(status: u32) -> ! {
    const DEVICE: *mut u32 = 0x0010_0000 as *mut u32;
    const PASS: u32 = 0x5555;
    const FAIL: u32 = 0x3333;
    let word = if status == 0 { PASS } else { status << 16 | FAIL };
    loop {
        // SAFETY: the register of the test device; writing it ends the machine.
        unsafe { DEVICE.write_volatile(word) };
    }
}

static mut WORK: [u8; 1 << 20] = [0; 1 << 20];
static mut OUT: [u8; (1 << 16) + GUARD] = [0; (1 << 16) + GUARD];
static mut CHUNK: [u8; 1 << 16] = [0; 1 << 16];

#[unsafe(no_mangle)]
extern "C" fn kernel() -> ! {
    // SAFETY: one thread, and this function is entered once.
    let mut memory =
        unsafe { Memory { work: &mut *&raw mut WORK, out: &mut *&raw mut OUT, chunk: &mut *&raw mut CHUNK } };
    let held = blosc_suite::run(Level::SCALAR, &mut memory, &mut Uart);
    exit(u32::from(!held))
}

/// Every exception ends here.
#[unsafe(no_mangle)]
extern "C" fn exception() -> ! {
    let (cause, at): (usize, usize);
    // SAFETY: reads two registers.
    unsafe { asm!("csrr {}, mcause", "csrr {}, mepc", out(reg) cause, out(reg) at, options(nomem, nostack)) };
    let _ = writeln!(Uart, "FAILED: exception {cause:#x} at {at:#x}");
    exit(101)
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = writeln!(Uart, "FAILED: {info}");
    exit(101)
}
