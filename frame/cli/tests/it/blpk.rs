//! The command as `blpk`: names of outputs, messages and statuses of bloscpack 0.16.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(TempDir::new().unwrap());
        std::fs::write(place.path("x"), b"abcdefgh".repeat(1000)).unwrap();
        place
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn run(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
        command.arg("blpk").args(words.split_whitespace()).current_dir(self.0.path()).output().unwrap()
    }
    /// Everything goes to standard output, each line after the program's name.
    fn says(&self, words: &str, status: i32) -> String {
        let out = self.run(words);
        let text = String::from_utf8(out.stdout).unwrap();
        assert_eq!(out.status.code(), Some(status), "{words}: {text}");
        assert!(text.lines().all(|line| line.starts_with("blpk: ")), "{words}: {text}");
        assert!(out.stderr.is_empty(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
        text
    }
}

#[test]
fn outputs_are_named_as_bloscpack_names_them() {
    let place = Place::new();
    let plain = std::fs::read(place.path("x")).unwrap();
    assert_eq!(place.says("c x", 0), "");
    assert!(place.path("x.blp").is_file());
    assert_eq!(place.says("compress x", 1), "blpk: error: output file 'x.blp' exists!\n");
    place.says("-f compress x", 0);
    place.says("compress x other", 0);
    std::fs::remove_file(place.path("x")).unwrap();
    assert_eq!(place.says("d x.blp", 0), "");
    assert_eq!(std::fs::read(place.path("x")).unwrap(), plain);
    assert_eq!(place.says("d other y", 1), "blpk: error: input file 'other' does not end with '.blp'\n");
    place.says("d -e other y", 0);
    assert_eq!(std::fs::read(place.path("y")).unwrap(), plain);
    assert!(place.says("d -e other", 1).contains("requires use of <out_file>"));
    assert_eq!(place.says("d nothing.blp", 1), "blpk: error: input file 'nothing.blp' does not exist!\n");
    place.says("-f d x.blp x.blp", 1);
    assert!(std::fs::read(place.path("x.blp")).unwrap().starts_with(b"blpk"));
}

#[test]
fn append_and_info() {
    let place = Place::new();
    place.says("c -z 1K -k sha256 -t 4 -l 9 -c zstd x", 0);
    place.says("append x.blp x", 0);
    place.says("d x.blp twice", 0);
    assert_eq!(std::fs::read(place.path("twice")).unwrap(), b"abcdefgh".repeat(2000));
    let info = place.says("info x.blp", 0);
    let lines: Vec<&str> = info.lines().collect();
    assert_eq!(
        lines[..10],
        [
            "blpk: BloscpackHeader:",
            "blpk:     format_version: 3",
            "blpk:     offsets: True",
            "blpk:     metadata: False",
            "blpk:     checksum: 'sha256'",
            "blpk:     typesize: 4",
            "blpk:     chunk_size: 1.0K (1024B)",
            "blpk:     last_chunk: 640.0B (640B)",
            "blpk:     nchunks: 16",
            "blpk:     max_app_chunks: 72",
        ]
    );
    assert_eq!(lines[10], "blpk: 'offsets':");
    place.says("c -o x none.blp", 0);
    assert!(place.says("append none.blp x", 1).contains("offsets"));
    assert!(place.says("a x x.blp", 1).contains("does not end with"));
    assert!(
        place.says("info x", 1).contains("is missing from the bloscpack header, instead we found: b'abcd'")
    );
    place.says("-f c -z 1K x", 0);
    let said = place.says("-v -n 1 append x.blp x", 0);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.windows(3).any(|w| {
        w == ["blpk: nchunks: 8", "blpk: chunk_size: 1.0K (1024B)", "blpk: last_chunk_size: 640.0B (640B)"]
    }));
}

#[test]
fn metadata_goes_in_and_comes_out() {
    let place = Place::new();
    std::fs::write(place.path("m.json"), br#"{"a": [1, 2.5, null], "it's": true}"#).unwrap();
    place.says("c -m m.json x", 0);
    let text = place.says("-f d x.blp x", 0);
    assert_eq!(text, "blpk: Metadata:\nblpk: {'a': [1, 2.5, None], \"it's\": True}\n");
    std::fs::write(place.path("n.json"), br#"{"b": 2}"#).unwrap();
    place.says("append -m n.json x.blp x", 0);
    place.says("d --metadata-out out.json x.blp y", 0);
    assert_eq!(std::fs::read(place.path("out.json")).unwrap(), b"{\"b\": 2}\n");
    // Refused metadata keeps the append from happening.
    let before = std::fs::read(place.path("x.blp")).unwrap();
    place.says("append -m n.json x.blp x", 1);
    assert!(std::fs::read(place.path("x.blp")).unwrap() == before);
    std::fs::write(place.path("bad.json"), b"{").unwrap();
    place.says("-f c -m bad.json x", 1);
}

#[test]
fn wrong_usage() {
    let place = Place::new();
    for words in
        ["", "frobnicate", "c", "c --level 3 x", "-v -d c x", "c -t 0 x", "c -c snappy x", "c -k sha3 x"]
    {
        let out = place.run(words);
        assert_eq!(out.status.code(), Some(2), "{words}");
        assert!(!out.stderr.is_empty(), "{words}");
    }
    assert!(place.says("-n 257 c x", 1).contains("1 <= n <= 256"));
    for size in ["0", "-5", "9G", "12Q"] {
        place.says(&format!("c -z {size} x"), 1);
    }
    assert!(!place.path("x.blp").exists());
    assert_eq!(place.run("--version").status.code(), Some(0));
    assert_eq!(place.run("-h").status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn called_by_that_name_it_is_blpk() {
    let place = Place::new();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_blosc"), place.path("blpk")).unwrap();
    let done =
        Command::new(place.path("blpk")).args(["c", "x"]).current_dir(place.0.path()).status().unwrap();
    assert!(done.success() && place.path("x.blp").is_file());
}

#[test]
fn pipes() {
    let place = Place::new();
    let feed = |words: &[&str], input: &str| {
        let file = std::fs::File::open(place.path(input)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
        let out = command.arg("blpk").args(words).stdin(Stdio::from(file)).output().unwrap();
        assert!(out.status.success(), "{words:?}");
        out.stdout
    };
    let packed = feed(&["c", "-"], "x");
    std::fs::write(place.path("p.blp"), &packed).unwrap();
    assert_eq!(feed(&["d", "-"], "p.blp"), std::fs::read(place.path("x")).unwrap());
    place.says("d p.blp back", 0);
    assert_eq!(std::fs::read(place.path("back")).unwrap(), std::fs::read(place.path("x")).unwrap());
}
