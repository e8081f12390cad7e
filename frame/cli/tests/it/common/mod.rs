//! Running the program in a folder of its own.
#![allow(dead_code)] // each test program uses some of this

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder that goes when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("blosc-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn start(&self, words: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
        command.args(words).current_dir(&self.0).env_remove("BLOSC_LOCKING");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // Commands that read no input may end before it is written.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// Its standard output, with `input` on standard input; it must succeed.
    pub fn run_with(&self, words: &[&str], input: &[u8]) -> Vec<u8> {
        let output = self.start(words, input);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "blosc {words:?}: {text}");
        output.stdout
    }

    /// Its standard output; it must succeed.
    pub fn run(&self, words: &[&str]) -> Vec<u8> {
        self.run_with(words, &[])
    }

    /// What a command that succeeds says on standard error.
    pub fn notice(&self, words: &[&str]) -> String {
        let output = self.start(words, &[]);
        assert!(output.status.success(), "blosc {words:?} failed");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Exit status and message of a command that must fail.
    pub fn fail(&self, words: &[&str]) -> (i32, String) {
        let output = self.start(words, &[]);
        assert!(!output.status.success(), "blosc {words:?} succeeded");
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// The report of a `--json` command that must fail all the same.
    pub fn bad_report(&self, words: &[&str]) -> serde_json::Value {
        let output = self.start(words, &[]);
        assert_eq!(output.status.code(), Some(1), "blosc {words:?}");
        json(&output.stdout)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What `--json` printed.
pub fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}
