//! Instructions that a call takes, under an emulator that advances its clock by a fixed time for each (`-icount`).
//!
//! SysTick counts that time. How many of its ticks one instruction takes is found out by a loop of known length.

use core::arch::asm;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

/// Ticks of SysTick before it starts again.
const PERIOD: u32 = 0x00FF_FFFF;
/// Turns of the loop; each is two instructions.
const TURNS: u32 = 50_000;

/// A counter of instructions.
pub struct Clock {
    syst: SYST,
    /// Ticks of `2 * TURNS` instructions.
    known: u64,
}

impl Clock {
    /// Starts SysTick and measures the loop.
    pub fn new(mut syst: SYST) -> Clock {
        syst.set_clock_source(SystClkSource::Core);
        syst.set_reload(PERIOD);
        syst.clear_current();
        syst.enable_counter();
        let mut clock = Clock { syst, known: 0 };
        let ((), ticks) = clock.ticks(|| {
            // SAFETY: counts a register down.
            unsafe {
                asm!("2:", "subs {n}, {n}, #1", "bne 2b", n = inout(reg) TURNS => _, options(nomem, nostack))
            }
        });
        clock.known = u64::from(ticks);
        clock
    }

    fn ticks<R>(&mut self, f: impl FnOnce() -> R) -> (R, u32) {
        self.syst.clear_current();
        let before = SYST::get_current();
        let result = f();
        (result, before.wrapping_sub(SYST::get_current()) & PERIOD)
    }

    /// Runs `f`; returns its result and the instructions it took, exact to about a hundred.
    pub fn instructions<R>(&mut self, f: impl FnOnce() -> R) -> (R, u64) {
        let (result, ticks) = self.ticks(f);
        (result, (u64::from(ticks) * u64::from(2 * TURNS)).checked_div(self.known).unwrap_or(0))
    }
}
