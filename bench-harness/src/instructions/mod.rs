//! Exact instruction counts of the kernels, for machines too noisy to time and for CPUs we only emulate.
//!
//! [`once`] runs every case once, each between two calls of [`insn_boundary`]. A counter outside splits the
//! program's instructions there:
//! - valgrind's callgrind dumps its totals at each boundary (`--dump-before`); x86 without AVX-512;
//! - QEMU logs each executed instruction with its symbol (`-one-insn-per-tb -d exec`, or `-singlestep` before
//!   version 8.1); any CPU it emulates.
//!
//! Counts are not times: they say nothing about latencies, ports or caches. What QEMU executed can therefore be
//! handed to llvm-mca ([`mca`]), which estimates cycles on cores it has a model of.

pub mod callgrind;
pub mod chunks;
pub mod mca;
pub mod qemu;

use crate::data::generate::random_bytes;
use crate::result::Row;
use crate::suite::kernels::{FILTERS, Kernel};
use blosc_core::{Level, arch};

/// Item sizes that are counted.
pub const TYPESIZES: [usize; 6] = [1, 2, 4, 8, 12, 16];
/// Bytes each case processes.
pub const BYTES: usize = 16 << 10;

/// A counted case.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// `shuffle avx2 ts 4`.
    pub name: String,
    /// Instructions per byte.
    pub per_byte: f64,
    /// Estimated cycles per byte, by the name of the core.
    pub estimates: Vec<(String, f64)>,
}

/// The cases of this machine, in the order [`once`] runs them.
pub fn cases() -> Vec<(&'static Kernel, Level, usize)> {
    let mut cases = Vec::new();
    for kernel in &FILTERS {
        let own = arch::OPERATIONS.iter().find(|o| o.name == kernel.table).map_or(&[][..], |o| o.isas);
        for level in Level::available().filter(|l| own.contains(&l.isa())) {
            for typesize in TYPESIZES.into_iter().filter(|t| *t > 1 || !kernel.trivial_at_1) {
                cases.push((kernel, level, typesize));
            }
        }
    }
    cases
}

/// The line between two cases. Never inlined: counters look for its name.
#[inline(never)]
pub fn insn_boundary() {
    std::hint::black_box(());
}

/// Prints the names of the cases, then runs each once, warm, between boundaries. `with_chunks`: also those of
/// [`chunks`].
pub fn once(with_chunks: bool) {
    let cases = cases();
    for (kernel, level, typesize) in &cases {
        println!("{} {} ts {typesize}", kernel.name, level.isa());
    }
    if with_chunks {
        chunks::names().for_each(|name| println!("{name}"));
    }
    let source = random_bytes(BYTES);
    let mut out = vec![0; BYTES];
    for (kernel, level, typesize) in cases {
        // Once before: whatever is detected or cached is done by then.
        let _ = (kernel.run)(level, typesize, &source, &mut out);
        insn_boundary();
        let _ = std::hint::black_box((kernel.run)(level, typesize, &source, &mut out));
        insn_boundary();
    }
    if with_chunks {
        chunks::once();
    }
}

fn named(names: &str, counts: &[u64]) -> Result<Vec<Count>, String> {
    let names: Vec<&str> = names.lines().collect();
    if names.is_empty() || names.len() != counts.len() {
        return Err(format!("{} cases but {} counts: was the program stripped?", names.len(), counts.len()));
    }
    let count = |(name, n): (&&str, &u64)| Count {
        name: (*name).into(),
        per_byte: *n as f64 / BYTES as f64,
        estimates: Vec::new(),
    };
    Ok(names.iter().zip(counts).map(count).collect())
}

/// Reads what [`format()`] wrote.
///
/// # Errors
/// The line that is not `instructions-per-byte name` (and, after a bar, cores and cycles per byte).
pub fn parse(text: &str) -> Result<Vec<Count>, String> {
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
    let count = |line: &str| {
        let (per_byte, rest) = line.trim().split_once(' ')?;
        let (name, estimates) = rest.split_once('|').unwrap_or((rest, ""));
        let words: Vec<&str> = estimates.split_whitespace().collect();
        let pair = |pair: &[&str]| match pair {
            [core, cycles] => Some((core.to_string(), cycles.parse().ok()?)),
            _ => None,
        };
        let estimates = words.chunks(2).map(pair).collect::<Option<_>>()?;
        Some(Count { name: name.trim().into(), per_byte: per_byte.parse().ok()?, estimates })
    };
    lines.map(|l| count(l).ok_or_else(|| format!("not a count: {l}"))).collect()
}

/// Instructions per byte of the case that a row is about, whatever its size.
pub fn of(counts: &[Count], row: &Row) -> Option<f64> {
    let Row { op, isa, typesize, codec, filter, data, .. } = row;
    let chunk = format!("{op} {codec} {filter} {data}");
    let name = if codec.is_empty() { format!("{op} {isa} ts {typesize}") } else { chunk };
    counts.iter().find(|count| count.name == name).map(|count| count.per_byte)
}

/// One line for each count.
pub fn format(counts: &[Count]) -> String {
    let line = |c: &Count| {
        let cores: Vec<String> = c.estimates.iter().map(|(core, n)| format!("{core} {n:.3}")).collect();
        match cores.is_empty() {
            true => format!("{:>8.4} {}\n", c.per_byte, c.name),
            false => format!("{:>8.4} {:<23} | {}\n", c.per_byte, c.name, cores.join("  ")),
        }
    };
    counts.iter().map(line).collect()
}

/// How much farther whole chunks may grow: part of them is the C library's, of which there are several.
const CHUNKS: f64 = 10.0;

/// Lines for the cases that moved by more than `tolerance` (chunks: that grew by more than ten times that), or that are
/// only on one side. Kernels of levels that this machine cannot run are no difference.
pub fn differences(baseline: &[Count], now: &[Count], tolerance: f64) -> Vec<String> {
    let mut lines = Vec::new();
    for new in now {
        match baseline.iter().find(|b| b.name == new.name) {
            None => lines.push(format!("{}: {:.4}, not in the baseline", new.name, new.per_byte)),
            Some(old) => {
                let change = new.per_byte / old.per_byte - 1.0;
                if if is_chunk(&new.name) { change > CHUNKS * tolerance } else { change.abs() > tolerance } {
                    lines.push(format!(
                        "{}: {:.4} -> {:.4} instructions a byte ({:+.1} %)",
                        new.name,
                        old.per_byte,
                        new.per_byte,
                        100.0 * change
                    ));
                }
            }
        }
    }
    // Chunks are counted on every machine: one that is not there any more is not counted by mistake.
    let is_lost = |old: &&Count| is_chunk(&old.name) && !now.iter().any(|new| new.name == old.name);
    let lost = baseline.iter().filter(|_| now.iter().any(|new| is_chunk(&new.name))).filter(is_lost);
    lines.extend(lost.map(|old| format!("{}: in the baseline, not counted", old.name)));
    lines
}

/// Whether this is a whole chunk, and no kernel.
fn is_chunk(name: &str) -> bool {
    name.starts_with("compress ") || name.starts_with("decompress ")
}
