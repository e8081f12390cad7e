//! What a command says is what is on disk: each flush of each edit fails in turn. Status 0 and 4 say that the new state is in
//! force, 1 that the old one is; and a file system without locks is read, gets new files, and is edited with `--no-lock`.

use super::Table;
use super::cells::{self, Cell, Shape, edits};
use crate::common::Folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds the library that fails calls; `None` where there is no compiler.
fn shim(folder: &Folder) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
    let library = folder.path("shim.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
    let built = cc.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !built {
        println!("SKIPPED: calls that fail, for there is no cc");
    }
    built.then_some(library)
}

/// Status and message of a command whose calls fail.
fn failing(folder: &Folder, shim: &Path, words: &[String], settings: &[(&str, &str)]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
    command.args(words).current_dir(folder.root()).env("LD_PRELOAD", shim).envs(settings.iter().copied());
    let output = command.output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What the items and the metalayer of a container are.
fn state(folder: &Folder, cell: &Cell) -> Vec<(i32, Vec<u8>)> {
    let path = cell.container.path;
    let leaf = format!("{path}{}", cell.container.leaf);
    let words: [&[&str]; 2] =
        [&["decompress", &leaf, "-o", "-", "--format", "jsonl"], &["meta", "get", "--vl", path, "note"]];
    let items = if cell.container.shape == Shape::Table { words[0] } else { &words[0][..4] };
    [items, words[1]].map(|words| folder.status(words, b"")).map(|(status, out, _)| (status, out)).into()
}

/// Directories whose files change one by one are what `interrupted` is about.
fn is_one_file(cell: &Cell) -> bool {
    !matches!(cell.container.shape, Shape::Rows | Shape::Columns | Shape::Store | Shape::Table)
        || cell.container.name == "bloscpack"
}

fn walk(folder: &Folder, shim: &Path, cell: &Cell) -> Result<(), String> {
    cells::make(folder, cell.container);
    if cell.verb.name == "meta rm" {
        folder.run(&["meta", "set", cell.container.path, "note", "--vl", "--json", "7"]);
    }
    let (path, words) = (folder.path(cell.container.path), cell.words());
    let before = cells::files(&path);
    let restore = || before.iter().for_each(|(path, content)| std::fs::write(path, content).unwrap());
    let old = state(folder, cell);
    let log = folder.path("log");
    let _ = std::fs::remove_file(&log);
    let (status, message) =
        failing(folder, shim, &words, &[("SHIM_CLASS", "sync"), ("SHIM_LOG", log.to_str().unwrap())]);
    if status != 0 {
        return Err(format!("without a fault: {status}: {message}"));
    }
    let new = state(folder, cell);
    let calls = std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    for k in 1..=calls {
        if path.is_dir() {
            cells::remove(&path);
            std::fs::create_dir(&path).unwrap();
        }
        restore();
        let k = k.to_string();
        let settings = [("SHIM_CLASS", "sync"), ("SHIM_MODE", "EIO"), ("SHIM_N", k.as_str())];
        let (status, message) = failing(folder, shim, &words, &settings);
        let (now, says) = (state(folder, cell), message.contains("did not confirm"));
        let right = match status {
            0 => now == new && !says,
            1 => now == old && !says,
            4 => now == new && says,
            _ => false,
        };
        // What changes no items has one state only.
        let one_state = old == new && says == (status == 4);
        if !right && !one_state {
            return Err(format!("flush {k} of {calls}: status {status}, new {}: {message}", now == new));
        }
    }
    Ok(())
}

#[test]
fn what_an_edit_says_is_what_is_on_disk() {
    let folder = Folder::new("promises-confirmed");
    let Some(shim) = shim(&folder) else { return };
    cells::prepare(&folder);
    let mut table = Table::new("the status says what is on disk");
    for cell in edits().filter(is_one_file) {
        table.cell(&cell, walk(&folder, &shim, &cell));
    }
    table.end();
}

/// New files, too: until the name is there, nothing is in force.
#[test]
fn a_new_file_is_there_or_not_as_the_status_says() {
    let folder = Folder::new("promises-new");
    let Some(shim) = shim(&folder) else { return };
    cells::prepare(&folder);
    let mut statuses = Vec::new();
    for output in ["x.b2frame", "x.b2nd", "x.blp", "x.chunk", "x.bcolz", "x.b2d", "x.b2z"] {
        let input = if output == "x.chunk" { "plain" } else { "items.npy" };
        for k in 1.. {
            cells::remove(&folder.path(output));
            let words = ["compress", input, "-o", output].map(String::from);
            let plain = if output == "x.b2frame" { &["--plain".to_string()][..] } else { &[] };
            let k = k.to_string();
            let settings = [("SHIM_CLASS", "sync"), ("SHIM_MODE", "EIO"), ("SHIM_N", k.as_str())];
            let (status, message) = failing(&folder, &shim, &[&words[..], plain].concat(), &settings);
            let (there, says) = (folder.path(output).exists(), message.contains("did not confirm"));
            assert_eq!((there, says), (status != 1, status == 4), "{output} {k}: {status} {message}");
            statuses.push(status);
            if status == 0 {
                break;
            }
        }
    }
    assert!([0, 1, 4].iter().all(|status| statuses.contains(status)), "{statuses:?}");
}

#[test]
fn file_systems_without_locks_are_read_and_written() {
    let folder = Folder::new("promises-locks");
    let Some(shim) = shim(&folder) else { return };
    cells::prepare(&folder);
    let mut table = Table::new("no locks: read and made; edits with --no-lock");
    let modes = ["ENOSYS", "EOPNOTSUPP", "ENOLCK"];
    for (n, cell) in cells::cells().filter(|cell| cell.refused().is_none()).enumerate() {
        // A tenth of the counts: each cell under one of them, by turns.
        let tenth = std::env::var_os("BLOSC_TENTH").is_some();
        for mode in modes.into_iter().skip(if tenth { n % 3 } else { 0 }).take(if tenth { 1 } else { 3 }) {
            let settings =
                [("SHIM_CLASS", "flock"), ("SHIM_MODE", mode), ("SHIM_N", "1"), ("SHIM_STICKY", "1")];
            cells::remove(&folder.path("out"));
            cells::remove(&folder.path("out.b2nd"));
            cells::remove(&folder.path("out.csv"));
            cells::make(&folder, cell.container);
            if ["meta get", "meta rm"].contains(&cell.verb.name) {
                folder.status(&["meta", "set", cell.container.path, "note", "--vl", "--json", "7"], b"");
            }
            let mut words = cell.words();
            let (status, message) = failing(&folder, &shim, &words, &settings);
            let outcome = match (cell.verb.changes, status) {
                (_, 0) => Ok(()),
                (true, 1) if message.contains("--no-lock") => {
                    words.push("--no-lock".into());
                    let (status, message) = failing(&folder, &shim, &words, &settings);
                    if status == 0 { Ok(()) } else { Err(format!("{mode} --no-lock: {status}: {message}")) }
                }
                _ => Err(format!("{mode}: {status}: {message}")),
            };
            table.cell(&cell, outcome);
        }
    }
    table.end();
}
