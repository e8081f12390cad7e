//! Exact instruction counts of the kernels, for machines too noisy to time and for CPUs we only emulate.
//!
//! [`once`] runs every case once, each between two calls of [`insn_boundary`]. A counter outside splits the
//! program's instructions there:
//! - valgrind's callgrind dumps its totals at each boundary (`--dump-before`); x86 without AVX-512;
//! - QEMU logs each executed instruction with its symbol (`-one-insn-per-tb -d exec`, or `-singlestep` before
//!   version 8.1); any CPU it emulates.
//!
//! Counts are not times: they say nothing about latencies, ports or caches.

use crate::data::generate::random_bytes;
use crate::suite::kernels::FILTERS;
use blosc_core::{Level, arch};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

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
}

/// The cases of this machine, in the order [`once`] runs them.
pub fn cases() -> Vec<(&'static crate::suite::kernels::Kernel, Level, usize)> {
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

/// Prints the names of the cases, then runs each once, warm, between boundaries.
pub fn once() {
    let cases = cases();
    for (kernel, level, typesize) in &cases {
        println!("{} {} ts {typesize}", kernel.name, level.isa());
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
}

/// Counts with callgrind.
///
/// # Errors
/// One line: valgrind is missing, or its dumps are not as expected.
pub fn callgrind(program: &std::path::Path) -> Result<Vec<Count>, String> {
    let folder = std::env::temp_dir().join(format!("blosc-bench-callgrind-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let counts = callgrind_in(program, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    counts
}

fn callgrind_in(program: &std::path::Path, folder: &std::path::Path) -> Result<Vec<Count>, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--dump-before=*insn_boundary*", "--combine-dumps=no"])
        .arg(format!("--callgrind-out-file={}/out", folder.display()))
        .arg(program)
        .arg("once")
        .output()
        .map_err(|e| format!("valgrind cannot be run: {e}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("valgrind: {}", text.lines().last().unwrap_or("failed")));
    }
    let mut totals = Vec::new();
    for index in 1.. {
        let Ok(text) = std::fs::read_to_string(folder.join(format!("out.{index}"))) else { break };
        let total = text.lines().rev().find_map(|l| l.strip_prefix("totals: "));
        totals.push(total.and_then(|t| t.trim().parse().ok()).ok_or("callgrind: a dump without totals")?);
    }
    // The first dump ends at the first boundary; then kernels and the warm-ups between them alternate.
    let inside: Vec<u64> = totals.into_iter().skip(1).step_by(2).collect();
    named(&String::from_utf8_lossy(&output.stdout), &inside)
}

/// Counts with QEMU: `runner` is `qemu-aarch64 -L /` or the like, `program` this program for that CPU.
///
/// # Errors
/// One line: QEMU is missing, or its log is not as expected.
pub fn qemu(runner: &str, program: &std::path::Path) -> Result<Vec<Count>, String> {
    let mut words = runner.split_whitespace();
    let emulator = words.next().ok_or("--qemu needs a command")?;
    let help = Command::new(emulator).arg("-h").output().map_err(|e| format!("{emulator}: {e}"))?;
    let new = String::from_utf8_lossy(&help.stdout).contains("one-insn-per-tb");
    let single = if new { "-one-insn-per-tb" } else { "-singlestep" };
    let mut child = Command::new(emulator)
        .args(words)
        .args([single, "-d", "exec,nochain"])
        .arg(program)
        .arg("once")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{emulator}: {e}"))?;
    let log = child.stderr.take().ok_or("no pipe")?;
    let (mut counts, mut current, mut inside) = (Vec::new(), 0u64, false);
    for line in BufReader::new(log).split(b'\n') {
        let line = line.map_err(|e| format!("{emulator}: {e}"))?;
        if !line.starts_with(b"Trace ") {
            continue;
        }
        // The boundary function may have more than one instruction: it counts as one line between cases.
        let boundary = line.windows(13).any(|w| w == b"insn_boundary");
        if boundary && !inside {
            counts.push(current);
            current = 0;
        }
        inside = boundary;
        current += u64::from(!boundary);
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("{emulator}: {}", output.status));
    }
    let inside: Vec<u64> = counts.into_iter().skip(1).step_by(2).collect();
    named(&String::from_utf8_lossy(&output.stdout), &inside)
}

fn named(names: &str, counts: &[u64]) -> Result<Vec<Count>, String> {
    let names: Vec<&str> = names.lines().collect();
    if names.is_empty() || names.len() != counts.len() {
        return Err(format!("{} cases but {} counts: was the program stripped?", names.len(), counts.len()));
    }
    let per_byte = |n: &u64| *n as f64 / BYTES as f64;
    Ok(names
        .iter()
        .zip(counts)
        .map(|(name, n)| Count { name: (*name).into(), per_byte: per_byte(n) })
        .collect())
}

/// Reads what [`format()`] wrote.
///
/// # Errors
/// The line that is not `instructions-per-byte name`.
pub fn parse(text: &str) -> Result<Vec<Count>, String> {
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
    let count = |line: &str| {
        let (per_byte, name) = line.trim().split_once(' ')?;
        Some(Count { name: name.trim().into(), per_byte: per_byte.parse().ok()? })
    };
    lines.map(|l| count(l).ok_or_else(|| format!("not a count: {l}"))).collect()
}

/// One line for each count.
pub fn format(counts: &[Count]) -> String {
    counts.iter().map(|c| format!("{:>8.4} {}\n", c.per_byte, c.name)).collect()
}

/// Lines for the cases that moved by more than `tolerance`, or that only one side has. Levels that this machine
/// cannot run are no difference.
pub fn differences(baseline: &[Count], now: &[Count], tolerance: f64) -> Vec<String> {
    let mut lines = Vec::new();
    for new in now {
        match baseline.iter().find(|b| b.name == new.name) {
            None => lines.push(format!("{}: {:.4}, not in the baseline", new.name, new.per_byte)),
            Some(old) => {
                let change = new.per_byte / old.per_byte - 1.0;
                if change.abs() > tolerance {
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
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_of_more_than_the_tolerance_is_told() {
        let base = parse("# x\n  1.0000 shuffle avx2 ts 4\n  2.0 b\n").unwrap();
        let mut now = base.clone();
        now[0].per_byte = 1.019;
        assert!(differences(&base, &now, 0.02).is_empty());
        now[0].per_byte = 1.021;
        assert_eq!(differences(&base, &now, 0.02).len(), 1);
        assert_eq!(parse(&format(&base)).unwrap(), base);
        assert!(parse("x y").is_err());
    }
}
