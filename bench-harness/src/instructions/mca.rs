//! Cycles of an executed aarch64 instruction stream, as llvm-mca estimates them.
//!
//! ```text
//! disassemble the program once
//! for each case: write down the text of every instruction in the order QEMU executed them
//!                (branches become branches to the next instruction: they are all behind us)
//!                llvm-mca: one iteration of that stream on each core asked for
//! ```
//! The model knows latencies and ports. It assumes that every load hits the first-level cache and that every
//! branch was predicted, so the figure is a floor and not a time.

use super::qemu::Trace;
use super::{BYTES, Count};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Adds estimates for `cores` (names of `-mcpu`) to the counts of a trace. `suffix` is that of the LLVM tools'
/// names, such as `-19`.
///
/// # Errors
/// One line: a tool is missing, does not know a core, or an instruction cannot be found.
pub fn estimate(
    trace: &Trace,
    counts: &mut [Count],
    program: &Path,
    cores: &[String],
    suffix: &str,
) -> Result<(), String> {
    let listing = disassemble(program, suffix)?;
    // A position-independent program was moved when it was loaded.
    let moved = trace.boundary.wrapping_sub(listing.boundary);
    // The scalar forms are the specification; nobody chooses a core by them, and they take minutes.
    let vector = counts.iter_mut().zip(&trace.cases).filter(|(count, _)| !count.name.contains(" scalar "));
    for (count, case) in vector {
        let mut stream = String::with_capacity(case.len() * 24);
        for address in case {
            let text = listing.text.get(&address.wrapping_sub(moved));
            let text = text.ok_or_else(|| format!("no instruction at {address:#x} of {}", count.name))?;
            let _ = writeln!(stream, "{text}");
        }
        for core in cores {
            let cycles = simulate(&stream, core, suffix)?;
            count.estimates.push((core.clone(), cycles as f64 / BYTES as f64));
        }
    }
    Ok(())
}

struct Listing {
    text: HashMap<u64, String>,
    boundary: u64,
}

fn disassemble(program: &Path, suffix: &str) -> Result<Listing, String> {
    let tool = format!("llvm-objdump{suffix}");
    let output = Command::new(&tool)
        .args(["-d", "--no-show-raw-insn"])
        .arg(program)
        .output()
        .map_err(|e| format!("{tool}: {e}"))?;
    let (mut text, mut boundary) = (HashMap::new(), None);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((address, name)) = line.split_once(" <")
            && name.contains("insn_boundary")
            && name.ends_with(">:")
        {
            boundary = u64::from_str_radix(address, 16).ok();
        }
        let Some((address, instruction)) = line.split_once(':') else { continue };
        if let Ok(address) = u64::from_str_radix(address.trim(), 16) {
            text.insert(address, straight(instruction.trim()));
        }
    }
    let boundary = boundary.ok_or_else(|| format!("{tool}: {} has no insn_boundary", program.display()))?;
    Ok(Listing { text, boundary })
}

/// An instruction without its place: what it jumps to or loads from becomes a constant, and calls and returns
/// become branches, since the stream goes on there.
fn straight(instruction: &str) -> String {
    let plain = instruction.split(" <").next().unwrap_or_default().split("//").next().unwrap_or_default();
    let (name, operands) = plain.trim().split_once(char::is_whitespace).unwrap_or((plain.trim(), ""));
    let first = operands.rsplit_once(',').map_or(String::new(), |(rest, _)| format!("{rest}, "));
    let to_code = operands.rsplit(',').next().is_some_and(|last| last.trim().starts_with("0x"));
    match name {
        "bl" | "blr" | "br" | "ret" | "b" => "b #4".into(),
        "adrp" => format!("adrp {first}#4096"),
        _ if to_code => format!("{name} {first}#8"),
        _ => format!("{name} {operands}"),
    }
}

fn simulate(stream: &str, core: &str, suffix: &str) -> Result<u64, String> {
    let tool = format!("llvm-mca{suffix}");
    let fail = |e: &dyn std::fmt::Display| format!("{tool}: {e}");
    let mut child = Command::new(&tool)
        .args(["-mtriple=aarch64", &format!("-mcpu={core}"), "-iterations=1"])
        .args(["-resource-pressure=false", "-instruction-info=false"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| fail(&e))?;
    let mut input = child.stdin.take().ok_or("no pipe")?;
    let stream = stream.to_string();
    // It reads all of its input before it writes.
    let sent = input.write_all(stream.as_bytes());
    drop(input);
    let output = child.wait_with_output().map_err(|e| fail(&e))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let complaint = told.lines().find(|l| l.contains("error") || l.contains("not a recognized processor"));
    if let Some(complaint) = complaint {
        return Err(fail(&complaint.trim()));
    }
    sent.map_err(|e| fail(&e))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let cycles = text.lines().find_map(|l| l.strip_prefix("Total Cycles:")?.trim().parse().ok());
    cycles.ok_or_else(|| fail(&"gave no cycles"))
}

#[cfg(test)]
mod tests {
    use super::straight;

    #[test]
    fn instructions_lose_their_place() {
        assert_eq!(straight("b.ne\t0x4011f4 <main+0x10>"), "b.ne #8");
        assert_eq!(straight("tbz\tw0, #3, 0x4011f4 <x>"), "tbz w0, #3, #8");
        assert_eq!(straight("adrp\tx0, 0x45d000 <y+0x8>"), "adrp x0, #4096");
        assert_eq!(straight("ldr\tq0, 0x4011f0 <z>"), "ldr q0, #8");
        assert_eq!(straight("bl\t0x40 <memcpy>"), "b #4");
        assert_eq!(straight("ret"), "b #4");
        assert_eq!(
            straight("tbl\tv0.16b, { v1.16b, v2.16b }, v3.16b"),
            "tbl v0.16b, { v1.16b, v2.16b }, v3.16b"
        );
        assert_eq!(straight("mov\tw8, #0x10                // =16"), "mov w8, #0x10");
    }
}
