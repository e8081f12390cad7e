//! The built `blosc` on chunk files: what comes out, exit statuses, pipes, and files that appear only when complete.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs `blosc` with `input` on its standard input.
fn blosc_in(dir: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_blosc"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // From a thread: both pipes may be full at once. A command that refuses its options reads nothing.
    let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the command ends");
    feed.join().expect("the feeder ends");
    output
}

fn blosc(dir: &Path, args: &[&str]) -> Output {
    blosc_in(dir, args, &[])
}

/// The command's standard output, which must have ended well.
fn stdout(output: Output) -> Vec<u8> {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said, "", "silent in a pipe");
    output.stdout
}

/// The one line on standard error of a command that must have ended with `status`.
fn refusal(output: Output, status: i32) -> String {
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// 25,000 little-endian items of four bytes: a slow ramp with a changing low byte.
fn ramp() -> Vec<u8> {
    (0..25_000u32).flat_map(|i| ((i / 3 * 257) ^ (i & 3)).to_le_bytes()).collect()
}

fn workspace() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let data = ramp();
    std::fs::write(dir.path().join("plain"), &data).expect("a file");
    let path = dir.path().to_path_buf();
    (dir, path, data)
}

#[test]
fn every_codec_and_filter_comes_back_through_pipes() {
    let (_guard, dir, data) = workspace();
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        for filters in ["none", "shuffle", "bitshuffle", "delta:0,shuffle", "shuffle,bytedelta:4"] {
            for level in ["0", "1", "9"] {
                let options = ["--format", "chunk", "--typesize", "4", "--codec", codec, "--level", level];
                let args = [&["compress", "-", "-o", "-", "--filters", filters], &options[..]].concat();
                let chunk = stdout(blosc_in(&dir, &args, &data));
                assert!(chunk.len() <= data.len() + 32, "{codec} {filters} {level}");
                let back = stdout(blosc_in(&dir, &["decompress", "-", "-o", "-"], &chunk));
                assert!(back == data, "{codec} {filters} {level}");
            }
        }
    }
}

#[test]
fn every_level_of_this_machine_and_any_number_of_threads_give_the_same_file() {
    let (_guard, dir, data) = workspace();
    let mut chunks = Vec::new();
    for options in [&["--isa", "scalar"][..], &["--threads", "2"], &["--threads", "1"], &[]] {
        let args = [&["compress", "plain", "-o", "-", "--format", "chunk", "--typesize", "4"], options];
        chunks.push(stdout(blosc(&dir, &args.concat())));
        let back = [&["decompress", "-", "-o", "-"], options].concat();
        assert!(stdout(blosc_in(&dir, &back, &chunks[0])) == data);
    }
    assert!(chunks.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn slices_info_and_verify() {
    let (_guard, dir, data) = workspace();
    stdout(blosc(&dir, &["compress", "plain", "-o", "x.chunk", "--typesize", "4", "--codec", "lz4"]));
    for (start, stop) in [(0, 1), (24_999, 25_000), (100, 20_000), (7, 7)] {
        let (a, b) = (start.to_string(), stop.to_string());
        let items = stdout(blosc(&dir, &["slice", "x.chunk", "--start", &a, "--stop", &b, "-o", "-"]));
        assert!(items == data[4 * start..4 * stop], "{start}..{stop}");
    }
    refusal(blosc(&dir, &["slice", "x.chunk", "--start", "5", "--stop", "25001", "-o", "-"]), 2);

    let info: serde_json::Value =
        serde_json::from_slice(&stdout(blosc(&dir, &["info", "x.chunk", "--json"]))).expect("JSON");
    assert_eq!((&info["kind"], &info["nbytes"]), (&"chunk".into(), &100_000.into()));
    assert_eq!((&info["codec"], &info["typesize"]), (&"lz4".into(), &4.into()));

    stdout(blosc(&dir, &["verify", "x.chunk"]));
    let mut bytes = std::fs::read(dir.join("x.chunk")).expect("the file");
    let last = bytes.len() - 200;
    bytes[last..].fill(0xFF);
    std::fs::write(dir.join("bad.chunk"), bytes).expect("a file");
    assert_eq!(blosc(&dir, &["verify", "bad.chunk"]).status.code(), Some(1));
}

/// Slices count items, and bytes behind the last whole item belong to none; all is all the same.
#[test]
fn bytes_behind_the_last_item_are_no_item() {
    let (_guard, dir, data) = workspace();
    std::fs::write(dir.join("odd"), &data[..103]).expect("a file");
    for name in ["x.chunk", "x.b2frame", "x.blp"] {
        stdout(blosc(&dir, &["compress", "odd", "-o", name, "--typesize", "7"]));
        let items = stdout(blosc(&dir, &["slice", name, "--start", "2", "--stop", "14", "-o", "-"]));
        assert!(items == data[14..98], "{name}");
        assert!(stdout(blosc(&dir, &["decompress", name, "-o", "-"])) == data[..103], "{name}");
        refusal(blosc(&dir, &["slice", name, "--start", "2", "--stop", "15", "-o", "-"]), 2);
    }
}

#[test]
fn bad_data_is_named_with_its_field_and_offset_and_leaves_no_file() {
    let (_guard, dir, _) = workspace();
    stdout(blosc(&dir, &["compress", "plain", "-o", "x.chunk", "--typesize", "4"]));
    let bytes = std::fs::read(dir.join("x.chunk")).expect("the file");
    for cut in [1, 15, 16, 31, 32, 40, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(dir.join("cut.chunk"), &bytes[..cut]).expect("a file");
        let said = refusal(blosc(&dir, &["decompress", "--as", "chunk", "cut.chunk", "-o", "out"]), 1);
        assert!(said.starts_with("blosc: cut.chunk: ") && said.contains("at byte"), "{cut}: {said}");
        assert!(!dir.join("out").exists());
    }
    // All zeros, says a header of 32 bytes: two GiB less one.
    let mut bomb = bytes[..32].to_vec();
    bomb[4..8].copy_from_slice(&0x7FFF_FFDFu32.to_le_bytes());
    bomb[12..16].copy_from_slice(&32u32.to_le_bytes());
    bomb[31] = 1 << 4;
    std::fs::write(dir.join("bomb.chunk"), bomb).expect("a file");
    let said = refusal(blosc(&dir, &["decompress", "bomb.chunk", "-o", "out"]), 1);
    assert!(said.contains("--max-output"), "{said}");
    assert!(!dir.join("out").exists());
    let left: Vec<_> = std::fs::read_dir(&dir).expect("the directory").flatten().collect();
    assert_eq!(left.len(), 4, "{left:?}"); // plain, x, cut, bomb: nothing temporary
}

#[test]
fn wrong_usage_is_told_apart_from_bad_data() {
    let (_guard, dir, _) = workspace();
    for options in [
        &["--level", "10"][..],
        &["--typesize", "0"],
        &["--codec", "gzip"],
        &["--filters", "shuffle,nosuch"],
        &["--dict", "--level", "0"],
        &["--blosc1", "--codec", "zstd", "--dict"],
        &["--split", "perhaps"],
        &["--nosuch"],
    ] {
        let args = [&["compress", "plain", "-o", "x.chunk", "--format", "chunk"], options].concat();
        let output = blosc(&dir, &args);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(!output.stderr.is_empty() && !dir.join("x.chunk").exists(), "{options:?}");
    }
    let said = refusal(blosc(&dir, &["decompress", "nosuch", "-o", "out"]), 1);
    assert!(said.contains("nosuch"), "{said}");
    std::fs::write(dir.join("taken"), b"precious").expect("a file");
    let said = refusal(blosc(&dir, &["compress", "plain", "-o", "taken", "--format", "chunk"]), 2);
    assert!(said.contains("--force"), "{said}");
    assert_eq!(std::fs::read(dir.join("taken")).expect("the file"), b"precious");
    stdout(blosc(
        &dir,
        &["compress", "plain", "-o", "taken", "--format", "chunk", "--force", "--typesize", "4"],
    ));
    stdout(blosc(&dir, &["decompress", "taken", "-o", "-"]));
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_early_is_no_error() {
    let (_guard, dir, data) = workspace();
    std::fs::write(dir.join("large"), data.repeat(40)).expect("a file");
    stdout(blosc(&dir, &["compress", "large", "-o", "x.chunk", "--format", "chunk", "--typesize", "4"]));
    for args in [&["decompress", "x.chunk", "-o", "-"][..], &["info", "x.chunk"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_blosc"))
            .args(args)
            .current_dir(&dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]), "{args:?}");
    }
}
