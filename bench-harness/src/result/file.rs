//! Writing and reading results files, and the check that contributed ones pass.

use super::{Key, OLDEST, Row, SCHEMA, lean};
use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Machine {
        schema: u32,
        #[serde(default)]
        command: String,
        started: u64,
        machine: Box<Machine>,
    },
    Row {
        schema: u32,
        #[serde(flatten)]
        row: Box<Row>,
    },
    End {
        schema: u32,
        complete: bool,
        seconds: f64,
        mhz_after: Option<f64>,
        #[serde(default)]
        busy_cpus_most: Option<f64>,
    },
}

/// A results file in memory.
#[derive(Clone, Debug)]
pub struct Results {
    /// Where it was read from.
    pub path: PathBuf,
    /// The machine.
    pub machine: Machine,
    /// The command line that made it.
    pub command: String,
    /// Seconds since 1970.
    pub started: u64,
    /// The cases.
    pub rows: Vec<Row>,
    /// False if the run was interrupted.
    pub complete: bool,
}

/// Writes a results file: cases as they are first measured, so that a run that is killed leaves them, and all of them
/// again when they are done.
pub struct Writer {
    out: File,
    path: PathBuf,
    begun: std::time::Instant,
    /// Where the rows begin, if this is a file whose end can be written again.
    rows_at: Option<u64>,
}

impl Writer {
    /// Creates the file (and its folder) and writes the machine record.
    pub fn create(path: &Path, machine: &Machine, command: &str) -> Result<Writer, String> {
        let fail = |e: std::io::Error| format!("{}: {e}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(fail)?;
        }
        let out = File::create(path).map_err(fail)?;
        let regular = out.metadata().is_ok_and(|m| m.is_file());
        let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let mut writer = Writer { out, path: path.into(), begun: std::time::Instant::now(), rows_at: None };
        writer.line(&Line::Machine {
            schema: SCHEMA,
            command: command.into(),
            started: started.map_or(0, |d| d.as_secs()),
            machine: Box::new(machine.clone()),
        })?;
        writer.rows_at = writer.out.stream_position().ok().filter(|_| regular);
        Ok(writer)
    }

    /// Appends one case, which [`Writer::finish`] will write again.
    pub fn row(&mut self, row: &Row) -> Result<(), String> {
        if self.rows_at.is_none() {
            return Ok(());
        }
        self.line(&Line::Row { schema: SCHEMA, row: Box::new(row.clone()) })
    }

    /// Writes the cases and the last line: whether the run was complete, and what `machine` learned during it.
    pub fn finish(mut self, rows: &[Row], complete: bool, machine: &Machine) -> Result<(), String> {
        let fail = |e: std::io::Error| format!("{}: {e}", self.path.display());
        if let Some(at) = self.rows_at {
            self.out.set_len(at).map_err(fail)?;
            self.out.seek(SeekFrom::Start(at)).map_err(fail)?;
        }
        for row in rows {
            self.line(&Line::Row { schema: SCHEMA, row: Box::new(row.clone()) })?;
        }
        let seconds = super::round3(self.begun.elapsed().as_secs_f64());
        let Machine { mhz_after, busy_cpus_most, .. } = *machine;
        self.line(&Line::End { schema: SCHEMA, complete, seconds, mhz_after, busy_cpus_most })
    }

    fn line(&mut self, line: &Line) -> Result<(), String> {
        let fail = |e: std::io::Error| format!("{}: {e}", self.path.display());
        self.out.write_all(format!("{}\n", lean(line)?).as_bytes()).map_err(fail)
    }
}

/// Reads a results file; any malformed line is an error that names it.
pub fn read(path: &Path) -> Result<Results, String> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(path, BufReader::new(file))
}

/// As [`read`], from any text; `path` is for messages.
pub fn parse(path: &Path, text: impl BufRead) -> Result<Results, String> {
    let mut results: Option<Results> = None;
    for (index, line) in text.lines().enumerate() {
        let at = |what: &dyn std::fmt::Display| format!("{}, line {}: {what}", path.display(), index + 1);
        let line = line.map_err(|e| at(&e))?;
        if line.trim().is_empty() {
            continue;
        }
        let parsed: Line = serde_json::from_str(&line).map_err(|e| {
            let told = e.to_string();
            let told = told.split(" at line ").next().unwrap_or_default().to_string();
            at(&format!("not a results line: {told}"))
        })?;
        let (Line::Machine { schema, .. } | Line::Row { schema, .. } | Line::End { schema, .. }) = parsed;
        if !(OLDEST..=SCHEMA).contains(&schema) {
            return Err(at(&format!("schema {schema}, but this program reads {OLDEST} to {SCHEMA}")));
        }
        match (parsed, results.as_mut()) {
            (Line::Machine { command, started, machine, .. }, None) => {
                let (path, machine) = (path.to_path_buf(), *machine);
                results = Some(Results { path, machine, command, started, rows: vec![], complete: false });
            }
            (Line::Machine { .. }, Some(_)) => return Err(at(&"a second machine record")),
            (_, None) => return Err(at(&"the first line is not a machine record")),
            (Line::Row { row, .. }, Some(r)) => {
                sane(&row).map_err(|e| at(&e))?;
                r.rows.push(*row);
            }
            (Line::End { complete, mhz_after, busy_cpus_most, .. }, Some(r)) => {
                r.complete = complete;
                r.machine.mhz_after = mhz_after;
                r.machine.busy_cpus_most = busy_cpus_most;
            }
        }
    }
    results.ok_or_else(|| format!("{}: empty, not a results file", path.display()))
}

/// Whether a file can stand among the records of machines.
///
/// # Errors
/// One line: why it cannot.
pub fn contributable(results: &Results) -> Result<(), String> {
    let machine = &results.machine;
    if !results.complete {
        return Err("interrupted, or cut before every case was reached".into());
    }
    if let Some(emulator) = &machine.emulator {
        return Err(format!("not a timing, under {emulator}"));
    }
    if !machine.optimised {
        return Err("not an optimised build".into());
    }
    if machine.harness.is_empty() {
        return Err("by an older harness, whose figures mean something else".into());
    }
    if machine.commit.ends_with("-dirty") || machine.commit == "unknown" {
        return Err(format!("built from commit {}, which is in no repository", machine.commit));
    }
    let others = machine.busy_cpus.into_iter().chain(machine.busy_cpus_most).fold(0.0, f64::max);
    if others > BUSY {
        return Err(format!("others used {others:.2} CPUs: stop them and measure again"));
    }
    if let Some(wrong) = results.rows.iter().find(|r| !r.verified && r.left_out.is_none()) {
        return Err(format!("wrong output: {}", wrong.label()));
    }
    match results.rows.iter().filter(|r| r.quartile_ns.is_some()).count() {
        few if few < FEW => Err(format!("{few} timed rows; a quick run has {FEW} at least")),
        _ => Ok(()),
    }
}

/// Work of others, in CPUs, that a record may have met in a fifth of a second: short work of the system stays below.
const BUSY: f64 = 1.0;

/// Whether files can stand beside each other: machines are compared by one commit and one version of the harness.
///
/// # Errors
/// One line: which file is of another commit than the first.
pub fn comparable(files: &[Results]) -> Result<(), String> {
    let build = |f: &Results| format!("commit {} of harness {}", f.machine.commit, f.machine.harness);
    let Some(first) = files.first() else { return Ok(()) };
    match files.iter().find(|f| build(f) != build(first)) {
        Some(other) => {
            let (path, here) = (other.path.display(), first.path.display());
            Err(format!("{path}: {}, but {here} is of {}", build(other), build(first)))
        }
        None => Ok(()),
    }
}

/// Rows that a quick run has on every CPU.
const FEW: usize = 200;

/// Pieces of one record as a whole: runs of different cases by the same build on the same machine.
///
/// # Errors
/// No piece; another machine or build; a case that is in two pieces; a piece that was interrupted.
pub fn join(pieces: Vec<Results>) -> Result<Results, String> {
    let mut pieces = pieces.into_iter();
    let mut whole = pieces.next().ok_or("nothing to join")?;
    let same = |m: &Machine| (m.name.clone(), m.identity.clone(), m.commit.clone(), m.rustc.clone());
    for piece in pieces {
        let told = |what: &str| format!("{}: {what}", piece.path.display());
        if same(&piece.machine) != same(&whole.machine) {
            return Err(told("not by the same build on the same machine as the first file"));
        }
        if !piece.complete || !whole.complete {
            return Err(told("this piece or one before it was interrupted"));
        }
        let known: BTreeSet<Key<'_>> = whole.rows.iter().map(Row::key).collect();
        if let Some(twice) = piece.rows.iter().find(|r| known.contains(&r.key())) {
            return Err(told(&format!("{} is in a file before it too", twice.label())));
        }
        whole.rows.extend(piece.rows);
        whole.command = format!("{}; {}", whole.command.trim(), piece.command.trim());
        let busy = [whole.machine.busy_cpus_most, piece.machine.busy_cpus_most];
        whole.machine.busy_cpus_most = busy.into_iter().flatten().reduce(f64::max);
    }
    Ok(whole)
}

/// What every row must satisfy beyond its types.
fn sane(row: &Row) -> Result<(), &'static str> {
    let positive = |x: Option<f64>| x.is_none_or(|v| v.is_finite() && v > 0.0);
    if row.suite.is_empty() || row.engine.is_empty() || row.op.is_empty() || row.data.is_empty() {
        return Err("a row needs suite, engine, op and data");
    }
    if !row.verified && row.quartile_ns.is_some() {
        return Err("a row that is not verified must not carry a time");
    }
    if ![row.quartile_ns, row.min_ns, row.gbps, row.ratio, row.vs_copy, row.vs_peer].into_iter().all(positive)
    {
        return Err("times, speeds and ratios must be positive");
    }
    if row.round_trips > row.requests {
        return Err("a round trip has a request at least");
    }
    if row.typesize == 0 || row.threads == 0 {
        return Err("typesize and threads must be positive");
    }
    Ok(())
}
