//! The system calls of a program, by strace.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `command` under strace and returns its output and one line for each of the `calls` (strace's names: `"fsync,rename"`).
/// `None` where strace is not installed or may not trace; the reason is printed as a skip.
///
/// # Panics
/// If strace ran and left no record.
pub fn traced(command: &Command, calls: &str, record: &Path) -> Option<(Output, Vec<String>)> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e"]).arg(format!("trace={calls}")).arg("-o").arg(record);
    strace.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        strace.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    let output = match strace.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: strace cannot be run: {error}");
            return None;
        }
    };
    if String::from_utf8_lossy(&output.stderr).contains("ptrace") {
        println!("skipped: strace may not trace here");
        return None;
    }
    let text = std::fs::read_to_string(record).expect("strace's record");
    // Each line begins with a process id.
    let lines =
        text.lines().map(|line| line.split_once(' ').map_or(line, |(_, call)| call.trim()).to_string());
    Some((output, lines.collect()))
}
