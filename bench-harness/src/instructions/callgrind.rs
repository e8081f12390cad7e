//! Counting with valgrind's callgrind, on this CPU.

use super::{Count, named};
use std::path::Path;
use std::process::Command;

/// Counts with callgrind.
///
/// # Errors
/// One line: valgrind is missing, or its dumps are not as expected.
pub fn callgrind(program: &Path) -> Result<Vec<Count>, String> {
    let folder = std::env::temp_dir().join(format!("blosc-bench-callgrind-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let counts = callgrind_in(program, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    counts
}

fn callgrind_in(program: &Path, folder: &Path) -> Result<Vec<Count>, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--dump-before=*insn_boundary*", "--combine-dumps=no"])
        .arg(format!("--callgrind-out-file={}/out", folder.display()))
        .arg(program)
        .args(["once", "--chunks"])
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
