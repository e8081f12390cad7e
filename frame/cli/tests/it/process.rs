//! What surrounds the program: its standard output, signals, threads, names, and the words of its mistakes.

use crate::common::Folder;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A folder with a frame of 2,000 items of 4 bytes, which has a metalayer of each kind.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("plain", &(0..2000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    folder.run(&["compress", "plain", "-o", "f.b2frame", "--typesize", "4"]);
    folder.run(&["compress", "plain", "-o", "a.b2nd", "--dtype", "<i4", "--shape", "2000"]);
    folder.run(&["meta", "set", "f.b2frame", "fixed", "--json", "1"]);
    folder.run(&["meta", "set", "f.b2frame", "long", "--vl", "--json", "1"]);
    folder
}

/// Each form of output to a full device is an error.
#[test]
fn a_full_standard_output_is_an_error() {
    let folder = folder("process-full");
    for line in [
        "--help",
        "--version",
        "help meta",
        "append --help",
        "info f.b2frame",
        "info f.b2frame --json",
        "info f.b2frame --all",
        "f.b2frame",
        "ls .",
        "ls . --json",
        "verify f.b2frame",
        "verify f.b2frame --json",
        "meta get f.b2frame fixed",
        "meta get f.b2frame long --vl",
        "meta list f.b2frame",
        "meta list f.b2frame --json",
        "man meta",
        "completions bash",
        "decompress f.b2frame -o -",
        "decompress a.b2nd -o /dev/stdout",
        "slice a.b2nd --start 1 --stop 2 -o -",
        "compress plain -o - --format chunk",
        "convert f.b2frame -o - --format bloscpack",
        "compact f.b2frame --json",
        "repair f.b2frame -o mended.b2frame --force",
        "advise plain --time 0.1",
        "blpk --help",
        "blpk --version",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
        command.args(line.split(' ')).current_dir(folder.root()).stderr(Stdio::piped());
        command.stdout(OpenOptions::new().write(true).open("/dev/full").unwrap());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Shells ignore SIGINT for jobs in the background; SIGTERM ends those all the same.
#[test]
fn signals_leave_no_temporary_file() {
    let folder = folder("process-signals");
    let program = env!("CARGO_BIN_EXE_blosc");
    let left = || {
        let entries = std::fs::read_dir(folder.root()).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter(|name| name.to_string_lossy().contains(".tmp")).count()
    };
    for (ignored, signal) in [("INT", "TERM"), ("INT", "HUP"), ("HUP", "INT"), ("TERM", "INT")] {
        // Such as `nohup` leaves them: what is started from there ignores them too.
        let raised = Command::new("sh").args(["-c", &format!("kill -{signal} $$")]).status().unwrap();
        if raised.success() {
            println!("SKIPPED: {signal}, which is ignored where the tests were started");
            continue;
        }
        // What reads a pipe that stays open has its temporary file.
        let script = format!(
            "trap '' {ignored}; exec {program} compress - -o x.b2frame --typesize 1 --chunksize 1000"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(folder.root()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&[7; 100_000]).unwrap();
        for _ in 0..500 {
            if left() > 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(left(), 1, "{signal}");
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal} while {ignored} is ignored");
        drop(input);
        assert_eq!(left(), 0, "{signal} while {ignored} is ignored");
    }
    // A limit on the size of files is a full disk.
    let script = format!("ulimit -f 1; {program} compress plain -o x.chunk --level 0");
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder.root()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((left(), folder.path("x.chunk").exists()), (0, false));
}

#[test]
fn any_number_of_threads_is_taken_for_as_many_as_there_is_work_for() {
    let folder = folder("process-threads");
    for threads in ["1000", "100000000", "4294967296", "18446744073709551615"] {
        for line in
            ["decompress a.b2nd -o -", "decompress f.b2frame -o -", "slice a.b2nd --start 0 --stop 2000 -o -"]
        {
            let words = [&line.split(' ').collect::<Vec<_>>()[..], &["--threads", threads]].concat();
            assert_eq!(folder.run(&words).len(), 8000, "{line} {threads}");
        }
        folder.run(&[
            "compress",
            "plain",
            "-o",
            "t.b2nd",
            "--dtype",
            "<i4",
            "--shape",
            "2000",
            "--force",
            "--threads",
            threads,
        ]);
        folder.run(&["append", "f.b2frame", "plain", "--plain", "--threads", threads]);
        folder.run(&[
            "compress",
            "plain",
            "-o",
            "f.b2frame",
            "--typesize",
            "4",
            "--force",
            "--threads",
            threads,
        ]);
    }
}

/// File systems take names of 255 bytes.
#[test]
fn outputs_have_names_as_long_as_the_system_takes() {
    let folder = folder("process-names");
    for length in [230, 237, 238, 245, 254, 255] {
        for ending in [".b2frame", ".chunk", ".bcolz"] {
            let name = "n".repeat(length - ending.len()) + ending;
            let input = if ending == ".bcolz" { "a.b2nd" } else { "plain" };
            match ending {
                ".bcolz" => folder.run(&["convert", input, "-o", &name]),
                _ => folder.run(&["compress", input, "-o", &name, "--typesize", "4"]),
            };
            if ending == ".b2frame" {
                folder.run(&["append", &name, "plain", "--plain"]);
                folder.run(&["meta", "set", &name, "note", "--json", "1"]);
            }
            folder.run(&["verify", &name]);
        }
    }
    assert_eq!(folder.fail(&["compress", "plain", "-o", &("n".repeat(250) + ".chunk")]).0, 1);
}

/// What a terminal would act upon is shown to it as text; to all else the content goes as it is.
#[test]
fn a_metalayer_is_no_sequence_for_a_terminal() {
    let folder = folder("process-terminal");
    folder.write("colour", b"\x1b[31mred");
    folder.run(&["meta", "set", "f.b2frame", "note", "--file", "colour"]);
    assert_eq!(folder.run(&["meta", "get", "f.b2frame", "note"]), b"\x1b[31mred");
    let line = format!("{} meta get f.b2frame note", env!("CARGO_BIN_EXE_blosc"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.root()).stdin(Stdio::null());
    match command.output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), "\\u{1b}[31mred"),
        Err(_) => println!("SKIPPED: a terminal, for there is no `script`"),
    }
}

/// Names from the command line and from files reach a terminal as text only.
#[test]
#[cfg(unix)]
fn names_are_no_sequences_for_a_terminal() {
    let folder = folder("process-names");
    // CSI in one character, and a mark that turns the line around.
    let name = "x\x1b[31m\u{9b}31m\u{202e}";
    folder.run(&["meta", "set", "a.b2nd", name, "--vl", "--json", "1"]);
    std::fs::copy(folder.path("a.b2nd"), folder.path(name)).unwrap();
    let option = format!("--{name}");
    for words in [
        &[name, "more"][..],
        &["info", &option],
        &["info", "a.b2nd"],
        &["info", "a.b2nd", "--json"],
        &["info", "a.b2nd", "--all"],
        &["meta", "list", "a.b2nd", "--vl"],
        &["meta", "list", "a.b2nd", "--vl", "--json"],
        &["meta", "get", "f.b2frame", name],
        &["ls", "."],
        &["ls", ".", "--json"],
        &["verify", name],
        &["advise", name, "--time", "0.1"],
        &["advise", name, "--time", "0.1", "--json"],
        &["blpk", "d", name],
        &["blpk", name],
    ] {
        let (_, out, text) = folder.status(words, b"");
        let out = String::from_utf8(out).unwrap();
        assert!(
            !(out.clone() + &text).contains(['\x1b', '\u{9b}', '\u{202e}']),
            "{words:?}: {out:?} {text:?}"
        );
        if words.contains(&"--json") {
            serde_json::from_str::<serde_json::Value>(&out).unwrap();
        }
    }
}

#[test]
fn messages_say_what_helps() {
    let folder = folder("process-words");
    std::fs::create_dir(folder.path("taken.b2frame")).unwrap();
    for (line, status, text) in [
        ("nofile", 2, "\"nofile\" is no command, and there is no such file"),
        ("meta get f.b2frame long", 1, "with --vl there is one"),
        ("meta get f.b2frame fixed --vl", 1, "without --vl there is one"),
        ("meta rm f.b2frame long", 1, "with --vl there is one"),
        ("compress plain -o taken.b2frame", 1, "is a directory, and the result is a file"),
        ("append f.b2frame five", 1, "5 bytes are no whole number of items of 4 bytes"),
        ("edit f.b2frame append five", 1, "5 bytes are no whole number of items of 4 bytes"),
        ("edit f.b2frame insert 0 five", 1, "5 bytes are no whole number of items of 4 bytes"),
    ] {
        folder.write("five", b"12345");
        let before = folder.read("f.b2frame");
        let (code, message) = folder.fail(&line.split(' ').collect::<Vec<_>>());
        assert!(code == status && message.contains(text), "{line}: {code} {message}");
        assert!(folder.read("f.b2frame") == before, "{line}");
    }
    // Two columns of one name.
    folder.write("records.npy", &{
        let header = "{'descr': [('a', '<i4'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,), }";
        let header = format!("{header:<117}\n");
        [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), &[0; 8]].concat()
    });
    folder.run(&["compress", "records.npy", "-o", "table.bcolz"]);
    folder.write("table.bcolz/__rootdirs__", br#"{"names": ["a", "a"]}"#);
    let (code, message) = folder.fail(&["decompress", "table.bcolz", "-o", "out"]);
    assert!(code == 1 && message.contains("column a: __rootdirs__ names it twice"), "{code} {message}");
    // The length of a stream is known at its end only.
    let (code, _, message) = folder.status(&["append", "f.b2frame", "-"], b"12345");
    assert!(code == 1 && message.contains("no whole number of items"), "{code} {message}");
}
