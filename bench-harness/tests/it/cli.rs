//! The program from outside: wrong usage gives one line and status 2, Ctrl-C keeps what is done, and what is
//! printed fits a terminal of 80 columns.

use std::path::PathBuf;
use std::process::{Command, Output};

const MACHINE: &str = r#"{"kind":"machine","schema":1,"command":"","started":0,"machine":{}}"#;
const ROW: &str = r#"{"kind":"row","schema":1,"suite":"kernels","engine":"ours","op":"shuffle","typesize":4,"bytes":1024,"threads":1,"data":"random","verified":true,"timing":true,"median_ns":100.0}"#;

fn bench(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blosc-bench"));
    command.args(args).env_remove("BLOSC_LIBBLOSC2").env_remove("BLOSC_LIBBLOSC");
    command
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("blosc-bench-cli-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Status 2, nothing on standard output, and one line that holds `word`.
fn refused(args: &[&str], word: &str) {
    let Output { status, stdout, stderr } = bench(args).output().unwrap();
    let told = text(&stderr);
    assert_eq!(status.code(), Some(2), "{args:?}: {told}");
    assert!(stdout.is_empty(), "{args:?}: {}", text(&stdout));
    assert!(told.lines().count() == 1 && told.starts_with("blosc-bench: "), "{args:?}: {told}");
    assert!(told.contains(word), "{args:?}: {told}");
}

#[test]
fn wrong_usage_is_one_line_and_status_2() {
    let here = std::env::current_exe().unwrap();
    let here = here.to_str().unwrap();
    let libraries = [format!("libblosc2={here}"), format!("libblosc={here}")];
    refused(&["--nosuch"], "--nosuch");
    refused(&["nosuch"], "nosuch");
    refused(&["cmp"], "<FILES>...");
    refused(&["diff", "a"], "<NEW>");
    refused(&["run", "--nosuch"], "--nosuch");
    refused(&["--out", "a.jsonl", "run"], "'run'");
    for (option, bad) in [
        ("--suite", "nosuch"),
        ("--isa", "nosuch"),
        ("--isa", if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" }),
        ("--typesize", "0"),
        ("--typesize", "256"),
        ("--size", "0"),
        ("--size", "3X"),
        ("--size", "5G"),
        ("--data", "/no/such/file"),
        ("--dtype", "q4"),
        ("--codec", "nosuch"),
        ("--filter", "nosuch"),
        ("--level", "10"),
        ("--blocksize", "0"),
        ("--time", "0"),
        ("--time", "nan"),
        ("--threads", "0"),
        ("--threads", "100000"),
        ("--goal", "1"),
        ("--engine", "nosuch"),
        ("--engine", "libblosc2=/no/such/library.so"),
        ("--engine", &libraries[0]),
        ("--engine", &libraries[1]),
        ("--engine", "exec:/no/such/program"),
        ("--engine", "exec:true"),
    ] {
        refused(&["run", "--suite", "split", "--size", "1K", option, bad], option);
    }
    refused(&["run", "--suite", "split", "--out", "/proc/no/such.jsonl"], "/proc/no/such.jsonl");
    refused(&["run", "--suite", "goals", "--goal", "99"], "--goal 99");
    refused(&["run", "--suite", "kernels", "--typesize", "8", "--size", "4"], "nothing to measure");
    refused(&["instructions", "--qemu", "qemu-aarch64"], "--program");
    refused(&["instructions", "--qemu", "/no/such/emulator", "--program", here], "/no/such/emulator");
    refused(&["instructions", "--check", "/no/such/file"], "/no/such/file");
}

#[test]
fn a_python_without_the_package_is_named() {
    let Output { status, stderr, .. } =
        bench(&["run", "--engine", "python:blosc2"]).env("PYTHON", "/no/such/python").output().unwrap();
    let told = text(&stderr);
    assert!(status.code() == Some(2) && told.lines().count() == 1, "{told}");
    assert!(told.contains("/no/such/python"), "{told}");
}

#[test]
fn malformed_files_are_one_line_and_status_2() {
    let folder = scratch("malformed");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let good = file("good.jsonl", &format!("{MACHINE}\n{ROW}\n"));
    let other = file("other.jsonl", &format!("{MACHINE}\n{}\n", ROW.replace("shuffle", "unshuffle")));
    let empty_run = file("norows.jsonl", &format!("{MACHINE}\n"));
    let (binary, torn) = (folder.join("binary"), file("torn", &format!("{MACHINE}\n{}", &ROW[..40])));
    std::fs::write(&binary, [0xFF, 0xFE, 0, 10]).unwrap();
    let bad = [
        file("empty", ""),
        file("text", "hello\n"),
        file("json", "{}\n"),
        file("new", &MACHINE.replace("\"schema\":1", "\"schema\":5")),
        binary.to_str().unwrap().to_string(),
        torn,
        folder.join("missing").to_str().unwrap().to_string(),
    ];
    for bad in &bad {
        for command in ["cmp", "report", "check", "csv", "splice"] {
            refused(&[command, bad], bad);
        }
        refused(&["diff", &good, bad], bad);
        refused(&["diff", bad, &good], bad);
        refused(&["join", &good, bad, "--out", "/no/such/folder/whole"], bad);
    }
    refused(&["diff", &good, &other], "no case in common");
    refused(&["join", &good, &good, "--out", "/no/such/folder/whole"], "interrupted");
    refused(&["cmp", &good, "--filter", "nosuchword"], "nosuchword");
    refused(&["cmp", &empty_run], "no row");
    refused(&["check", env!("CARGO_MANIFEST_DIR")], "no .jsonl file");
    let readme = file("README.md", "no marks\n");
    refused(&["splice", &good, "--readme", &readme], "blosc-bench: begin");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Ctrl-C: the rows so far are in the file, which says that it is not complete, and the summary is printed.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_done() {
    let folder = scratch("interrupt");
    let out = folder.join("rows.jsonl");
    let path = out.to_str().unwrap();
    let mut command = bench(&[
        "run",
        "--suite",
        "chunks",
        "--data",
        "ecg,elevation,goes_flux",
        "--time",
        "300",
        "--out",
        path,
    ]);
    let piped = std::process::Stdio::piped;
    let child = command.stdout(piped()).stderr(piped()).spawn().unwrap();
    let rows = || std::fs::read_to_string(&out).unwrap_or_default().matches("\"kind\":\"row\"").count();
    for _ in 0..600 {
        if rows() >= 3 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let before = rows();
    assert!(before >= 3, "no rows within a minute");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(130));
    let told = text(&stdout);
    assert!(told.contains("Interrupted") && told.contains("Chunks"), "{told}");
    assert!(stderr.is_empty(), "progress only on a terminal: {}", text(&stderr));
    let results = blosc_bench::result::file::read(&out).unwrap();
    assert!(!results.complete && results.rows.len() >= before);
    assert!(results.rows.iter().all(|r| r.verified && r.quartile_ns.is_some()));
    let checked = bench(&["check", path]).output().unwrap();
    assert!(text(&checked.stdout).contains("cannot be contributed: interrupted"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Rows say whether other data was worked through before each sample, which goes for arrays up to 1 MiB; what is told apart
/// by it is no twin in a comparison.
#[test]
fn rows_say_whether_data_was_met_for_the_first_time() {
    let folder = scratch("once");
    let rows = |name: &str, extra: &[&str]| {
        let out = folder.join(name);
        let data = ["--data", "ecg,lambda_dna", "--codec", "lz4", "--filter", "none", "--level", "5"];
        let mut args = vec!["run", "--suite", "chunks", "--time", "6", "--out", out.to_str().unwrap()];
        args.extend(data.iter().chain(extra));
        let done = bench(&args).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}{}", text(&done.stdout), text(&done.stderr));
        blosc_bench::result::file::read(&out).unwrap().rows
    };
    let (once, again) = (rows("once.jsonl", &["--once"]), rows("again.jsonl", &[]));
    assert!(once.len() == again.len() && !once.is_empty());
    assert!(once.iter().all(|r| r.once && r.verified && r.quartile_ns.is_some()));
    assert!(again.iter().all(|r| !r.once));
    for (a, b) in once.iter().zip(&again) {
        assert_eq!((&a.op, &a.data, a.cbytes), (&b.op, &b.data, b.cbytes));
        assert_ne!(a.key(), b.key());
    }
    let large = rows("large.jsonl", &["--once", "--size", "2M"]);
    assert!(large.iter().all(|r| !r.once || r.bytes <= 1 << 20), "rows of larger arrays");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Two programs by turns; here the program with itself, which is neither faster nor slower.
#[test]
fn programs_are_compared_by_turns() {
    let run = ["--suite", "split", "--typesize", "4", "--size", "4K", "--isa", "scalar", "--time", "2"];
    let me = env!("CARGO_BIN_EXE_blosc-bench");
    let args = [&["diff", "--paired", me, "--turns", "2", "--threshold", "500", "--"][..], &run].concat();
    let done = bench(&args).output().unwrap();
    let told = text(&done.stdout);
    assert!(
        told.contains("0 slower, 0 faster") && told.contains("split scalar ts4 4K"),
        "{told}{}",
        text(&done.stderr)
    );
    assert_eq!(done.status.code(), Some(0));
    narrow(&told, me);
    refused(&["diff", "--paired", "/no/such/program"], "/no/such/program");
    refused(&["diff", "a", "b", "--turns", "3"], "--paired");
}

/// Runs that are there already are compared and not made again.
#[test]
fn repeat_prints_how_well_runs_agree() {
    use blosc_bench::machine::Machine;
    use blosc_bench::result::Row;
    use blosc_bench::result::file::Writer;
    let folder = scratch("repeat");
    for (number, factor) in [("1", 1.0), ("2", 1.04), ("3", 1.2)] {
        let row = |isa: &str, ns: f64| Row {
            suite: "kernels".into(),
            engine: "ours".into(),
            op: "shuffle".into(),
            isa: isa.into(),
            typesize: 4,
            threads: 1,
            bytes: 1 << 18,
            data: "random".into(),
            verified: true,
            quartile_ns: Some(ns),
            vs_copy: Some(1000.0 / ns),
            ..Row::default()
        };
        let (path, machine) = (folder.join(format!("{number}.jsonl")), Machine::detect());
        let writer = Writer::create(&path, &machine, "quick").unwrap();
        writer.finish(&[row("sse2", 2000.0), row("avx2", 1000.0 * factor)], true, &machine).unwrap();
    }
    let args = ["repeat", "3", "--folder", folder.to_str().unwrap()];
    let told = text(&bench(&args).output().unwrap().stdout);
    // There are three pairs of each row: all of the first row's agree, one of the second row's.
    assert!(told.contains("66.7 %") && told.contains("is NOT met"), "{told}");
    narrow(&told, folder.to_str().unwrap());
    let json = text(&bench(&[&args[..], &["--json"]].concat()).output().unwrap().stdout);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["runs"].as_u64(), json["groups"][0]["vs_copy"]["agree"].as_u64()), (Some(3), Some(4)));
    refused(&["repeat", "1"], "1");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Every suite, quickly, then everything that prints about it. Lines that hold a path or the command may be longer.
#[test]
fn what_is_printed_fits_80_columns() {
    let folder = scratch("columns");
    let out = folder.join("rows.jsonl");
    let path = out.to_str().unwrap();
    let run = |extra: &[&str]| {
        let mut args =
            vec!["run", "--time", "0.5", "--out", path, "--size", "16K", "--data", "ecg,lambda_dna"];
        args.extend(extra);
        let done = bench(&args).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}{}", text(&done.stdout), text(&done.stderr));
        narrow(&text(&done.stdout), path);
    };
    run(&["--suite", "kernels,split", "--typesize", "3,12"]);
    run(&[
        "--suite", "codecs", "--engine", "lz4_flex", "--engine", "zstd", "--engine", "zlib-rs", "--level",
        "1",
    ]);
    run(&["--suite", "chunks,frames,arrays,latency", "--level", "5", "--codec", "blosclz,lz4hc"]);
    let data = folder.join("field.bin");
    let field: Vec<u8> = (0..20_000u32).flat_map(|n| (n as f32 / 100.0).sin().to_le_bytes()).collect();
    std::fs::write(&data, field).unwrap();
    let advice =
        bench(&["advise", data.to_str().unwrap(), "--dtype", "f4", "--time", "0.2"]).output().unwrap();
    let told = text(&advice.stdout);
    assert!(advice.status.success() && told.contains("blosc compress "), "{told}{}", text(&advice.stderr));
    narrow(&told, folder.to_str().unwrap());
    for args in [&["cmp", path, path, path][..], &["diff", path, path], &["check", path]] {
        narrow(&text(&bench(args).output().unwrap().stdout), path);
    }
    for args in [&["--help"][..], &["run", "--help"], &["diff", "--help"], &["corpus"], &["repeat", "--help"]]
    {
        narrow(&text(&bench(args).output().unwrap().stdout), path);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn narrow(printed: &str, path: &str) {
    assert!(!printed.is_empty());
    for line in printed.lines().filter(|l| !l.contains(path)) {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}
