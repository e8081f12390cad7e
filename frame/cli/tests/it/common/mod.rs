//! Running the program in a folder of its own.
#![allow(dead_code)] // each test program uses some of this

use std::io::Write;
use std::ops::Deref;
use std::process::{Command, Output, Stdio};

/// A folder that goes when the test ends, in which the program runs.
pub struct Folder(blosc_testkit::Folder);

impl Deref for Folder {
    type Target = blosc_testkit::Folder;

    fn deref(&self) -> &blosc_testkit::Folder {
        &self.0
    }
}

impl Folder {
    pub fn new(name: &str) -> Folder {
        Folder(blosc_testkit::Folder::new(name))
    }

    fn start(&self, words: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
        command.args(words).current_dir(self.root()).env_remove("BLOSC_LOCKING");
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

    /// Exit status, standard output and message of a command.
    pub fn status(&self, words: &[&str], input: &[u8]) -> (i32, Vec<u8>, String) {
        let output = self.start(words, input);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap_or(-1), output.stdout, text)
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

/// What `--json` printed.
pub fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}
