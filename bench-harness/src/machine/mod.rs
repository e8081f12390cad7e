//! The machine record: everything a figure needs beside it to mean something elsewhere.

pub mod arm;
pub mod emulator;
pub mod linux;
pub mod load;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub mod x86;

use crate::measure::cycles::{Unit, tick_mhz};
use crate::result::round3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What this machine is. Unknown things are absent, never guessed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Short name for tables: brand without marketing.
    pub name: String,
    /// The CPU's brand string, or implementer and part on ARM.
    pub cpu: String,
    /// Rust's name of the architecture.
    pub arch: String,
    /// Name of the core's design, such as `Zen 4` or `Neoverse-V2`.
    pub microarchitecture: Option<String>,
    /// Vendor, family, model, stepping (x86) or implementer, part, variant, revision (ARM).
    pub identity: BTreeMap<String, String>,
    /// Instruction sets the CPU has.
    pub isa_cpu: Vec<String>,
    /// Instruction sets the operating system lets programs use.
    pub isa_os: Vec<String>,
    /// Kernel levels of this library that run here, slowest first.
    pub levels: Vec<String>,
    /// SVE vector length in bits.
    pub sve_bits: Option<u32>,
    /// Cache sizes in bytes by level: `L1d`, `L2`, `L3`; with how many logical CPUs share one.
    pub caches: BTreeMap<String, Cache>,
    /// Physical cores.
    pub cores: Option<usize>,
    /// Logical CPUs this process may use.
    pub cpus: usize,
    /// Frequency in MHz before the run.
    pub mhz_before: Option<f64>,
    /// Frequency in MHz after the run.
    pub mhz_after: Option<f64>,
    /// Frequency governor.
    pub governor: Option<String>,
    /// Hypervisor, if one says it is there.
    pub hypervisor: Option<String>,
    /// Set when instructions are emulated: then no figure of the run is a timing.
    pub emulator: Option<String>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// Operating system kernel.
    pub kernel: String,
    /// The C library whose memcpy is the second yardstick.
    pub libc: String,
    /// Compiler.
    pub rustc: String,
    /// Target triple.
    pub target: String,
    /// Optimised build?
    pub optimised: bool,
    /// Features of blosc-core that this program asks for.
    pub features: Vec<String>,
    /// Commit of this program.
    pub commit: String,
    /// Version of this program.
    pub harness: String,
    /// Load averages (1, 5, 15 minutes) before the run.
    pub load: Option<[f64; 3]>,
    /// CPUs' worth of work others did in the fifth of a second before the run.
    pub busy_cpus: Option<f64>,
    /// The most that others did in any fifth of a second during the run.
    pub busy_cpus_most: Option<f64>,
    /// The CPU single-threaded suites were pinned to.
    pub pinned: Option<usize>,
    /// What bytes are given per: cycles of a real counter, or ticks of the time stamp, which are a clock.
    pub cycles: String,
    /// Rate of the time stamp.
    pub tick_mhz: Option<f64>,
}

/// One level of cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// Bytes.
    pub bytes: u64,
    /// Logical CPUs sharing it.
    pub shared_by: usize,
}

impl Machine {
    /// Commit of this program.
    pub fn own_commit() -> &'static str {
        env!("BLOSC_BENCH_COMMIT")
    }

    /// Looks around. Does not change anything.
    pub fn detect() -> Machine {
        Machine::with(std::thread::available_parallelism().map_or(1, usize::from), None)
    }

    /// Pins this thread, then looks around from there: cores of one machine may differ.
    pub fn detect_pinned() -> Machine {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Machine::with(cpus, pin())
    }

    fn with(cpus: usize, pinned: Option<usize>) -> Machine {
        let cpu = pinned.unwrap_or(0);
        let mut m = Machine {
            arch: std::env::consts::ARCH.into(),
            cpus,
            pinned,
            kernel: std::env::consts::OS.into(),
            libc: libc_name().into(),
            rustc: env!("BLOSC_BENCH_RUSTC").into(),
            target: env!("BLOSC_BENCH_TARGET").into(),
            commit: Machine::own_commit().into(),
            harness: env!("CARGO_PKG_VERSION").into(),
            optimised: !cfg!(debug_assertions),
            features: ["std", "codecs", "zstd-c"].map(String::from).into(),
            levels: blosc_core::Level::available().map(|l| l.isa().name().into()).collect(),
            cycles: Unit::here().describe().into(),
            tick_mhz: tick_mhz().map(round3),
            ..Machine::default()
        };
        linux::fill(&mut m, cpu);
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        x86::fill(&mut m);
        arm::fill(&mut m, cpu);
        m.emulator = emulator::detect(&m);
        if m.cpu.is_empty() {
            m.cpu = format!("unknown {} CPU", m.arch);
        }
        m.name = match &m.emulator {
            // What `/proc` then says about the CPU is about the host.
            Some(emulator) => format!("{} under {emulator}", m.arch),
            None => short_name(&m),
        };
        m
    }

    /// The best kernel level that runs here.
    pub fn best_level(&self) -> &str {
        self.levels.last().map_or("", String::as_str)
    }

    /// Whether something else was using the machine when the run began.
    pub fn was_loaded(&self) -> bool {
        self.busy_cpus.is_some_and(|busy| busy > load::TOLERATED)
    }
}

fn short_name(m: &Machine) -> String {
    let noise = ["(R)", "(TM)", "CPU", "Processor", "with Radeon Graphics"];
    let mut name = m.cpu.clone();
    for word in noise {
        name = name.replace(word, " ");
    }
    if let Some(at) = name.find('@') {
        name.truncate(at);
    }
    let mut name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(core) = m.microarchitecture.as_ref().filter(|c| !name.contains(c.as_str())) {
        name = format!("{name} ({core})");
    }
    name
}

fn libc_name() -> &'static str {
    if cfg!(target_env = "musl") {
        "musl"
    } else if cfg!(target_env = "gnu") {
        if cfg!(target_feature = "crt-static") { "glibc, static" } else { "glibc" }
    } else if cfg!(target_env = "msvc") {
        "msvc"
    } else {
        "the platform's"
    }
}

/// The CPUs this process might use before it was pinned.
#[cfg(target_os = "linux")]
static ALLOWED: std::sync::OnceLock<rustix::thread::CpuSet> = std::sync::OnceLock::new();

/// Pins this thread to one of the CPUs it may use, the last one: the first takes most interrupts.
pub fn pin() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let now = sched_getaffinity(None).ok()?;
        let allowed = ALLOWED.get_or_init(|| now);
        let cpu = (0..CpuSet::MAX_CPU).rev().find(|c| allowed.is_set(*c))?;
        let mut one = CpuSet::new();
        one.set(cpu);
        sched_setaffinity(None, &one).ok()?;
        Some(cpu)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Runs `work` with this thread free to move over the CPUs it had before it was pinned, then pins it back.
pub fn unpinned<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{sched_getaffinity, sched_setaffinity};
        if let (Some(allowed), Ok(before)) = (ALLOWED.get(), sched_getaffinity(None)) {
            let freed = sched_setaffinity(None, allowed).is_ok();
            let out = work();
            if freed {
                let _ = sched_setaffinity(None, &before);
            }
            return out;
        }
    }
    work()
}
