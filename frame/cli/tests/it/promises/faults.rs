//! An edit that is interrupted leaves the old state or the new one: the command is killed, or told of a full disk or a broken
//! one, at the calls that change something. `BLOSC_LONG=1` stops at every call of every cell, else at a few of each.

use super::Table;
use super::cells::{self, Cell, edits};
use crate::common::Folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Builds the library that stops the command.
fn shim(folder: &Folder) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
    let library = folder.path("shim.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
    cc.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(library)
}

/// What a container holds, as commands see it.
type State = Vec<(i32, Vec<u8>)>;

fn state(folder: &Folder, cell: &Cell) -> State {
    let path = cell.container.path;
    let leaf = format!("{path}{}", cell.container.leaf);
    let format: &[&str] = if cell.container.row.ends_with(".jsonl") { &["--format", "jsonl"] } else { &[] };
    let columns = || {
        let (status, report, _) = folder.status(&["info", path, "--json"], b"");
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap_or_default();
        let names = report["columns"].as_object().map(|columns| columns.keys().cloned().collect::<Vec<_>>());
        (status, names.unwrap_or_default().join(" ").into_bytes())
    };
    let said = |words: &[&str]| {
        let (status, out, _) = folder.status(words, b"");
        (status, out)
    };
    vec![
        said(&[&["decompress", &leaf, "-o", "-"], format].concat()),
        said(&["meta", "get", "--vl", path, "note"]),
        columns(),
    ]
}

/// One cell, in a folder of its own.
struct Trial<'t> {
    folder: Folder,
    cell: &'t Cell,
    shim: &'t Path,
    path: PathBuf,
}

impl Trial<'_> {
    /// Runs the verb with the library in front of it.
    fn run(&self, settings: &[(&str, &str)]) -> bool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
        command.args(self.cell.words()).current_dir(self.folder.root()).env("LD_PRELOAD", self.shim);
        command.envs(settings.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap().success()
    }

    /// Puts the old state back.
    fn restore(&self) {
        cells::remove(&self.path);
        cells::copy(&self.folder.path("old"), &self.path);
    }

    /// Stops the verb at its calls, or at a few of them.
    fn walk(&self, long: bool) -> Result<usize, String> {
        cells::prepare(&self.folder);
        cells::make(&self.folder, self.cell.container);
        if self.cell.verb.name == "meta rm" {
            self.folder.run(&["meta", "set", self.cell.container.path, "note", "--vl", "--json", "7"]);
        }
        cells::copy(&self.path, &self.folder.path("old"));
        let old = (cells::files(&self.path), state(&self.folder, self.cell));
        let log = self.folder.path("log");
        if !self.run(&[("SHIM_LOG", log.to_str().unwrap())]) {
            return Err("it fails without being stopped".into());
        }
        let new = (cells::files(&self.path), state(&self.folder, self.cell));
        let calls = std::fs::read_to_string(&log).unwrap_or_default().lines().count();
        let modes = ["KILL", "ENOSPC", "EIO"];
        let samples = if long { calls * modes.len() } else { calls.min(5) };
        for sample in 0..samples {
            // A few: spread over all calls, mostly kills.
            let (k, mode) = match long {
                true => (1 + sample / modes.len(), modes[sample % modes.len()]),
                false => (1 + sample * calls / samples, modes[[0, 1, 0, 2, 0][sample % 5]]),
            };
            self.restore();
            let done = self.run(&[("SHIM_N", &k.to_string()), ("SHIM_MODE", mode)]);
            let wrong = |what: &str| Err(format!("{mode} at call {k} of {calls}: {what}"));
            let now = cells::files(&self.path);
            if now == old.0 && !done || now == new.0 {
                continue;
            }
            let now = state(&self.folder, self.cell);
            match () {
                () if now != old.1 && now != new.1 => return wrong("neither the old state nor the new one"),
                () if done && now != new.1 => return wrong("it says that it is done, and it is not"),
                () => {}
            }
            let (status, _, message) = self.folder.status(&["verify", self.cell.container.path], b"");
            if status != 0 {
                return wrong(&format!("verify: status {status}: {message}"));
            }
        }
        self.restore();
        self.folder.run(&self.cell.words().iter().map(String::as_str).collect::<Vec<_>>());
        if state(&self.folder, self.cell) != new.1 {
            return Err("afterwards it does something else".into());
        }
        let names = std::fs::read_dir(self.folder.root()).unwrap().map(|entry| entry.unwrap().file_name());
        match names.into_iter().find(|name| name.to_string_lossy().contains(".tmp")) {
            Some(name) => Err(format!("{} stays", name.display())),
            None => Ok(samples),
        }
    }
}

#[test]
fn an_interrupted_edit_leaves_the_old_state_or_the_new_one() {
    let place = Folder::new("promises-faults");
    let Some(shim) = shim(&place) else {
        println!("SKIPPED: commands that are stopped at their calls, for there is no cc");
        return;
    };
    let long = std::env::var_os("BLOSC_LONG").is_some_and(|value| value == "1");
    let (all, next, stops) = (edits().collect::<Vec<_>>(), AtomicUsize::new(0), AtomicUsize::new(0));
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = all.get(k) else { return };
            let folder = Folder::new(&format!("promises-faults-{k}"));
            let path = folder.path(cell.container.path);
            let walked = Trial { folder, cell, shim: &shim, path }.walk(long);
            stops.fetch_add(*walked.as_ref().unwrap_or(&0), Ordering::Relaxed);
            outcomes.lock().unwrap().push((k, walked.map(|_| ())));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|(k, _)| *k);
    let mut table = Table::new("interrupted: old or new");
    for (k, outcome) in outcomes {
        table.cell(&all[k], outcome);
    }
    println!("{} stops", stops.into_inner());
    table.end();
}
