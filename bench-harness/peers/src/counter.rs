//! The CPU's own counters: cycles where the system permits it, and the time stamp that needs no permission.
//!
//! Cycles are counted by the kernel's `perf_event_open`, in user mode, for the thread that opened the counter.
//! Virtual machines and containers often have no such counter. Time-stamp ticks (`rdtsc`, `CNTVCT_EL0`) advance
//! at a constant rate whatever the CPU's frequency: they are a clock, not cycles.

/// A running counter of this thread's cycles in user mode.
pub struct Cycles {
    #[cfg(target_os = "linux")]
    file: std::fs::File,
}

impl Cycles {
    /// Opens one; `None` where the system has none or does not permit it.
    #[cfg(target_os = "linux")]
    pub fn open() -> Option<Cycles> {
        use std::os::fd::{FromRawFd, OwnedFd};
        /// The first version of `struct perf_event_attr`.
        #[repr(C)]
        struct Attributes {
            kind: u32,
            size: u32,
            config: u64,
            sample: [u64; 3],
            flags: u64,
            wakeup_events: u32,
            breakpoint: u32,
            config1: u64,
        }
        const PINNED: u64 = 1 << 2;
        const EXCLUDE_KERNEL: u64 = 1 << 5;
        const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
        const CLOSE_ON_EXEC: libc::c_ulong = 8;
        // Kind and configuration 0: the hardware's CPU cycles.
        let attributes = Attributes {
            kind: 0,
            size: 64,
            config: 0,
            sample: [0; 3],
            flags: PINNED | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            wakeup_events: 0,
            breakpoint: 0,
            config1: 0,
        };
        let (this_thread, any_cpu, no_group): (libc::pid_t, libc::c_int, libc::c_int) = (0, -1, -1);
        // SAFETY: the kernel reads `size` bytes of the attributes, which live until the call returns; it
        // returns a new descriptor or -1.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                this_thread,
                any_cpu,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0)?;
        // SAFETY: the descriptor is new and nobody else's.
        let file = unsafe { OwnedFd::from_raw_fd(fd) }.into();
        let counter = Cycles { file };
        counter.read()?;
        Some(counter)
    }

    /// Opens one; `None` where the system has none or does not permit it.
    #[cfg(not(target_os = "linux"))]
    pub fn open() -> Option<Cycles> {
        None
    }

    /// Cycles so far; `None` if the counter was taken away.
    pub fn read(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        {
            use std::io::Read;
            let mut value = [0; 8];
            (&self.file).read_exact(&mut value).ok()?;
            Some(u64::from_ne_bytes(value))
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}

/// The time stamp; `None` on CPUs without one that a program may read.
pub fn ticks() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 CPU has the instruction, and Linux, macOS and Windows let programs use it.
        Some(unsafe { std::arch::x86_64::_rdtsc() })
    }
    #[cfg(target_arch = "aarch64")]
    {
        let now: u64;
        // SAFETY: reads a register that Linux, macOS and Windows let programs read.
        unsafe { std::arch::asm!("mrs {now}, cntvct_el0", now = out(reg) now, options(nomem, nostack)) };
        Some(now)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_advance() {
        let work = || (0..100_000u64).fold(1, |a, b| std::hint::black_box(a ^ b));
        match Cycles::open() {
            Some(counter) => {
                let before = counter.read().unwrap();
                work();
                assert!(counter.read().unwrap() > before + 10_000);
            }
            None => println!("skipped: no cycle counter here"),
        }
        match ticks() {
            Some(before) => {
                work();
                assert!(ticks().unwrap() > before);
            }
            None => println!("skipped: no time stamp here"),
        }
    }
}
