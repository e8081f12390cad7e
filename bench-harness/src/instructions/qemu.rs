//! Counting with QEMU, for any CPU it emulates: it logs every instruction it executes.

use super::{Count, named};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// What QEMU executed.
pub struct Trace {
    /// Names of the cases, as the program printed them.
    names: String,
    /// Addresses of the instructions of each case, in the order they were executed.
    pub cases: Vec<Vec<u64>>,
    /// Address of the first instruction of the function that stands between cases.
    pub boundary: u64,
}

impl Trace {
    /// The counts alone.
    ///
    /// # Errors
    /// The program printed another number of cases than it ran.
    pub fn counts(&self) -> Result<Vec<Count>, String> {
        let lengths: Vec<u64> = self.cases.iter().map(|c| c.len() as u64).collect();
        named(&self.names, &lengths)
    }
}

/// Runs `program` (this one, built for that CPU) under `runner`: `qemu-aarch64 -L /` or the like.
///
/// # Errors
/// One line: QEMU is missing, or its log is not as expected.
pub fn trace(runner: &str, program: &Path) -> Result<Trace, String> {
    let mut words = runner.split_whitespace();
    let emulator = words.next().ok_or("--qemu needs a command")?;
    let fail = |e: &dyn std::fmt::Display| format!("{emulator}: {e}");
    let help = Command::new(emulator).arg("-h").output().map_err(|e| fail(&e))?;
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
        .map_err(|e| fail(&e))?;
    let log = child.stderr.take().ok_or("no pipe")?;
    let (mut segments, mut current, mut inside, mut boundary) = (Vec::new(), Vec::new(), false, None);
    let mut last = String::new();
    for line in BufReader::new(log).split(b'\n') {
        let line = line.map_err(|e| fail(&e))?;
        if !line.starts_with(b"Trace ") {
            last = String::from_utf8_lossy(&line).into_owned();
            continue;
        }
        let address = address(&line).ok_or_else(|| fail(&"its log has another form than expected"))?;
        // The boundary function may have more than one instruction: it counts as one line between cases.
        let at_boundary = line.windows(13).any(|w| w == b"insn_boundary");
        if at_boundary && !inside {
            boundary.get_or_insert(address);
            segments.push(std::mem::take(&mut current));
        }
        inside = at_boundary;
        // Before the first boundary there is only start-up.
        if !at_boundary && boundary.is_some() {
            current.push(address);
        }
    }
    let output = child.wait_with_output().map_err(|e| fail(&e))?;
    if !output.status.success() {
        return Err(fail(&format!("{} {last}", output.status)));
    }
    // Kernels and the warm-ups between them alternate.
    let cases = segments.into_iter().skip(1).step_by(2).collect();
    let boundary = boundary.ok_or_else(|| fail(&"no boundary in its log: was the program stripped?"))?;
    Ok(Trace { names: String::from_utf8_lossy(&output.stdout).into_owned(), cases, boundary })
}

/// The guest's address in `Trace 0: 0x7f… [00000000/0000000000401234/…/…] symbol`.
fn address(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    u64::from_str_radix(text.split_once('[')?.1.split('/').nth(1)?, 16).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn addresses_are_found() {
        let line = b"Trace 0: 0x7f38c0 [00000000/00000000004012f4/00000022/ff020000] main";
        assert_eq!(super::address(line), Some(0x4012F4));
        assert_eq!(super::address(b"Trace 0: nothing"), None);
    }
}
