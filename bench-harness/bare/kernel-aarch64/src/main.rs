//! A kernel for aarch64 that decodes chunks before, and after, it has enabled vector registers.
//!
//! ```text
//! target aarch64-unknown-none-softfloat    vector registers trap (CPACR_EL1.FPEN clear), so a single use of one
//!                                          would end in the exception vector. Level::SCALAR decodes everything.
//! target aarch64-unknown-none              NEON on at boot: Level::SCALAR, then every level of the build.
//! ```
//! SCTLR_EL1.A is set, so every unaligned access faults, as all do where the MMU is off: the build's strict alignment
//! is put to the test. Ends QEMU by semihosting with status 0 if all held, 1 if not, 101 after a panic or an exception.
#![no_std]
#![no_main]

use blosc_core::{Isa, Level};
use blosc_suite::{GUARD, Memory};
use core::arch::{asm, global_asm};
use core::fmt::{self, Write};

#[cfg(target_feature = "neon")]
global_asm!(".set FPEN, 3 << 20", include_str!("boot.s"));
#[cfg(not(target_feature = "neon"))]
global_asm!(".set FPEN, 0", include_str!("boot.s"));

/// The serial line of QEMU's `virt` machine.
struct Uart;

impl Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const DATA: *mut u8 = 0x0900_0000 as *mut u8;
        // SAFETY: the data register of the PL011; writing it prints.
        text.bytes().for_each(|byte| unsafe { DATA.write_volatile(byte) });
        Ok(())
    }
}

fn exit(status: u64) -> ! {
    const SYS_EXIT: u64 = 0x18;
    const APPLICATION_EXIT: u64 = 0x20026;
    let block = [APPLICATION_EXIT, status];
    loop {
        // SAFETY: a semihosting call that ends the machine and reads the two words of `block`.
        unsafe { asm!("hlt #0xf000", in("x0") SYS_EXIT, in("x1") block.as_ptr()) }
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
    let log = &mut Uart;
    let mut held = true;
    for isa in blosc_suite::built() {
        // SAFETY: the build's own instruction set, whose registers the boot code has enabled.
        held &= blosc_suite::run(unsafe { Level::assume(isa) }, &mut memory, log);
    }
    if !blosc_suite::built().any(|isa| isa == Isa::Neon) {
        let _ = writeln!(log, "figure soft float: no vector register was touched, they trap");
    }
    exit(u64::from(!held))
}

/// Every exception ends here.
#[unsafe(no_mangle)]
extern "C" fn exception() -> ! {
    let (cause, at): (u64, u64);
    // SAFETY: reads two registers.
    unsafe {
        asm!("mrs {}, esr_el1", "mrs {}, elr_el1", out(reg) cause, out(reg) at, options(nomem, nostack))
    };
    let _ = writeln!(Uart, "FAILED: exception {cause:#x} at {at:#x}");
    exit(101)
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = writeln!(Uart, "FAILED: {info}");
    exit(101)
}
