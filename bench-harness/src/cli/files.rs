//! Commands that read results files.

use super::say;
use blosc_bench::instructions::{self, Count};
use blosc_bench::report::{cases, difference, export, html, side_by_side};
use blosc_bench::result::file::{self, Results, Writer, read};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Lines between these two belong to the harness.
const MARKS: (&str, &str) = ("<!-- blosc-bench: begin -->", "<!-- blosc-bench: end -->");

fn all(paths: &[PathBuf]) -> Result<Vec<Results>, String> {
    paths.iter().map(|p| read(p)).collect()
}

/// The words of `--filter` as one string, if a timed row of the files has them all.
fn words(files: &[Results], filter: &[String]) -> Result<String, String> {
    let filter = filter.join(" ");
    let hit = |f: &Results| f.rows.iter().any(|r| r.quartile_ns.is_some() && cases::matches(r, &filter));
    match files.iter().any(hit) {
        true => Ok(filter),
        false if filter.is_empty() => Err("no row carries a time".into()),
        false => Err(format!("--filter {filter}: no row has all these words")),
    }
}

/// `cmp`.
pub fn cmp(paths: &[PathBuf], filter: &[String]) -> Result<ExitCode, String> {
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let files = all(paths)?;
    say(&side_by_side::compare(&files, &words(&files, filter)?, colour));
    Ok(ExitCode::SUCCESS)
}

/// A threshold in percent as a fraction.
pub fn fraction(threshold: f64) -> Result<f64, String> {
    let fits = (0.0..1000.0).contains(&threshold);
    fits.then_some(threshold / 100.0).ok_or_else(|| format!("--threshold {threshold}: must be a percentage"))
}

/// `diff`: status 1 if anything became slower.
pub fn diff(old: &Path, new: &Path, threshold: f64, filter: &[String]) -> Result<ExitCode, String> {
    let files = [read(old)?, read(new)?];
    let found = difference::difference(&files, threshold, &words(&files, filter)?);
    if found.cases == 0 {
        return Err(format!("{} and {} have no case in common", old.display(), new.display()));
    }
    say(&found.text);
    Ok(ExitCode::from(u8::from(found.slower > 0)))
}

/// `report`.
pub fn report(paths: &[PathBuf], out: &Path) -> Result<ExitCode, String> {
    let page = html::page(&all(&in_folders(paths)?)?);
    let fail = |e: std::io::Error| format!("{}: {e}", out.display());
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    std::fs::write(out, page).map_err(fail)?;
    say(&format!("{}\n", out.display()));
    Ok(ExitCode::SUCCESS)
}

/// `join`.
pub fn join(paths: &[PathBuf], out: &Path) -> Result<ExitCode, String> {
    let whole = file::join(all(paths)?)?;
    let writer = Writer::create(out, &whole.machine, &whole.command)?;
    writer.finish(&whole.rows, true, &whole.machine)?;
    say(&format!("{} rows in {}\n", whole.rows.len(), out.display()));
    Ok(ExitCode::SUCCESS)
}

/// The files named, and every `.jsonl` of the folders named, in order.
fn in_folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
            let found = entries.filter_map(|e| Some(e.ok()?.path()));
            files.extend(found.filter(|p| p.extension().is_some_and(|e| e == "jsonl")));
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    if files.is_empty() { Err("no .jsonl file in the folder".into()) } else { Ok(files) }
}

/// `check`: reads each file, or every `.jsonl` of a folder; status 2 names the first that is wrong. Records of a folder must be
/// comparable too.
pub fn check(paths: &[PathBuf]) -> Result<ExitCode, String> {
    let files = all(&in_folders(paths)?)?;
    for results in &files {
        let verdict = match file::contributable(results) {
            Ok(()) => "can be contributed".to_string(),
            Err(why) => format!("cannot be contributed: {why}"),
        };
        let (rows, name) = (results.rows.len(), &results.machine.name);
        say(&format!("{}: {rows} rows, {name}; {verdict}\n", results.path.display()));
    }
    for folder in paths.iter().filter(|path| path.is_dir()) {
        let of: Vec<Results> = files.iter().filter(|f| f.path.starts_with(folder)).cloned().collect();
        file::comparable(&of)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Counts of a program for another CPU, and what llvm-mca makes of them.
pub fn emulated(runner: &str, program: &Path, cores: &[String], llvm: &str) -> Result<Vec<Count>, String> {
    let trace = instructions::qemu::trace(runner, program)?;
    let mut counts = trace.counts()?;
    if !cores.is_empty() {
        instructions::mca::estimate(&trace, &mut counts, program, cores, llvm)?;
    }
    Ok(counts)
}

/// `instructions`: prints the counts, or what moved away from a baseline.
pub fn instructions(
    counts: &[Count],
    check: Option<&Path>,
    write: Option<&Path>,
    tolerance: f64,
) -> Result<ExitCode, String> {
    if let Some(path) = write {
        let text = format!(
            "# instructions per byte, {} bytes{}\n{}",
            instructions::BYTES,
            if counts.iter().any(|c| !c.estimates.is_empty()) {
                " | cycles per byte by llvm-mca"
            } else {
                ""
            },
            instructions::format(counts)
        );
        std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let Some(path) = check else {
        say(&instructions::format(counts));
        return Ok(ExitCode::SUCCESS);
    };
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let baseline = instructions::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(ExitCode::from(u8::from(moved(&baseline, counts, tolerance))))
}

/// Prints which counts moved by more than `tolerance` percent; whether any did.
pub fn moved(baseline: &[Count], counts: &[Count], tolerance: f64) -> bool {
    let moved = instructions::differences(baseline, counts, tolerance / 100.0);
    moved.iter().for_each(|line| say(&format!("{line}\n")));
    say(&format!(
        "{} kernels and chunks counted, {} moved by more than {tolerance} % (chunks: grew by ten times that)\n",
        counts.len(),
        moved.len()
    ));
    !moved.is_empty()
}

/// `csv`.
pub fn csv(path: &Path) -> Result<ExitCode, String> {
    say(&export::csv(&read(path)?));
    Ok(ExitCode::SUCCESS)
}

/// `splice`: replaces what stands between the marks of a Markdown file by a table from a results file. With
/// `check`, changes nothing and says with status 1 that it would.
pub fn splice(results: &Path, readme: &Path, check: bool) -> Result<ExitCode, String> {
    let results = read(results)?;
    let text = std::fs::read_to_string(readme).map_err(|e| format!("{}: {e}", readme.display()))?;
    let missing = || format!("{}: has no lines {} and {}", readme.display(), MARKS.0, MARKS.1);
    let (before, rest) = text.split_once(MARKS.0).ok_or_else(missing)?;
    let (_, after) = rest.split_once(MARKS.1).ok_or_else(missing)?;
    let table = export::readme(&results);
    let new = format!("{before}{}\n{}\n{}{after}", MARKS.0, table.trim_end(), MARKS.1);
    if check {
        return Ok(ExitCode::from(u8::from(new != text)));
    }
    std::fs::write(readme, new).map_err(|e| format!("{}: {e}", readme.display()))?;
    Ok(ExitCode::SUCCESS)
}
