//! A kernel for x86-64 that decodes chunks before, and after, it has enabled vector registers.
//!
//! ```text
//! target x86_64-unknown-none         soft float: SSE is off (CR0.EM set, CR4.OSFXSR clear), so a single vector
//!                                    instruction would end the machine. Level::SCALAR decodes everything.
//! target x86_64-unknown-linux-gnu    SSE on at boot. Level::SCALAR, then SSE2; detection must not find more, since
//! without its operating system       nobody saves wider registers. Then XCR0 is set, and every level that CPUID
//!                                    has runs through Level::assume.
//! ```
//! Ends QEMU by its isa-debug-exit device with status `2 * code + 1`: 33 if all held, 35 if not, 37 after a panic.
//! A machine that dies of an exception ends with 0.
#![no_std]
#![no_main]

mod cpu;

use blosc_core::{Isa, Level};
use blosc_suite::{GUARD, Memory};
use core::arch::{asm, global_asm};
use core::fmt::{self, Write};

#[cfg(target_feature = "sse2")]
global_asm!(".set VECTORS, 1", include_str!("boot.s"), options(att_syntax));
#[cfg(not(target_feature = "sse2"))]
global_asm!(".set VECTORS, 0", include_str!("boot.s"), options(att_syntax));

const PASSED: u8 = 16;
const FAILED: u8 = 17;
const PANICKED: u8 = 18;

/// The first serial line.
struct Com1;

impl Write for Com1 {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| out(0x3f8, byte));
        Ok(())
    }
}

fn out(port: u16, value: u8) {
    // SAFETY: this program is the whole machine, and neither port has a meaning for memory.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack)) }
}

fn exit(code: u8) -> ! {
    out(0xf4, code);
    loop {
        // SAFETY: waits; no interrupt is enabled.
        unsafe { asm!("hlt", options(nomem, nostack)) }
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
    let log = &mut Com1;
    let mut held = blosc_suite::run(Level::SCALAR, &mut memory, log);
    if cfg!(target_feature = "sse2") {
        let best = Level::best();
        if best.isa() > Isa::Ssse3 {
            let _ = writeln!(log, "FAILED: {} was detected while XCR0 says that nobody saves it", best.isa());
            held = false;
        }
        held &= blosc_suite::run(best, &mut memory, log);
        cpu::save_wide_registers();
        for isa in blosc_suite::built().filter(|&isa| isa > Isa::Scalar && isa != best.isa()) {
            if cpu::has(isa) {
                // SAFETY: the CPU has it, and its registers are enabled; nobody else runs who could lose them.
                held &= blosc_suite::run(unsafe { Level::assume(isa) }, &mut memory, log);
            } else {
                let _ = writeln!(log, "skipped {isa}: this CPU has none");
            }
        }
    } else {
        let _ = writeln!(log, "figure soft float: no vector register was touched, SSE is off");
    }
    exit(if held { PASSED } else { FAILED })
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = writeln!(Com1, "FAILED: {info}");
    exit(PANICKED)
}
