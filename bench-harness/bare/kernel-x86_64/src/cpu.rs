//! What this CPU has, and telling it that wide registers are taken care of.

use blosc_core::Isa;
use core::arch::asm;
use core::arch::x86_64::__cpuid_count;

const OSXSAVE: u64 = 1 << 18;
/// x87, SSE, AVX; the state of AVX-512.
const YMM: u32 = 0x07;
const ZMM: u32 = 0xe0;

// CPUID became a safe function after the oldest supported compiler.
#[allow(unused_unsafe)]
fn leaf(leaf: u32) -> [u32; 3] {
    // SAFETY: every CPU of 64 bits has CPUID; a leaf it lacks gives numbers without meaning, see `has`.
    let r = unsafe { __cpuid_count(leaf, 0) };
    if leaf > 0 && self::leaf(0)[0] < leaf { [0; 3] } else { [r.eax, r.ebx, r.ecx] }
}

/// Whether the CPU implements `isa`.
pub fn has(isa: Isa) -> bool {
    let [_, b, c] = leaf(7);
    let (avx2, gfni) = (b & 1 << 5 != 0, c & 1 << 8 != 0);
    let avx512 = [16, 30, 31].iter().all(|bit| b & 1 << bit != 0);
    match isa {
        Isa::Scalar | Isa::Sse2 => true,
        Isa::Ssse3 => leaf(1)[2] & 1 << 9 != 0,
        Isa::Avx2 => avx2,
        Isa::Avx2Gfni => avx2 && gfni,
        Isa::Avx512Bw => avx2 && avx512,
        Isa::Avx512 => avx2 && gfni && avx512 && c & 1 << 1 != 0,
        _ => false,
    }
}

/// Enables every wide register that the CPU has. A kernel that schedules more than one thread would save them too.
pub fn save_wide_registers() {
    const XSAVE: u32 = 1 << 26;
    if leaf(1)[2] & XSAVE == 0 {
        return;
    }
    let possible = leaf(0xd)[0] & (YMM | ZMM);
    // SAFETY: the CPU has XSAVE, only bits that it offers are set, and this program is the whole machine.
    unsafe {
        let mut cr4: u64;
        asm!("mov {}, cr4", out(reg) cr4, options(nomem, nostack));
        cr4 |= OSXSAVE;
        asm!("mov cr4, {}", in(reg) cr4, options(nomem, nostack));
        asm!("xsetbv", in("ecx") 0, in("eax") possible, in("edx") 0, options(nomem, nostack));
    }
}
