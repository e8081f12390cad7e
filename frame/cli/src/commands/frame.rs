//! Changing frames in place: `append`, `edit`, `compact`; and `repair`. Each is one atomic step.

use crate::access::max_of;
use crate::args::{Append, Compact, Edit, Repair};
use crate::failure::{Failure, Result};
use crate::output::temporary;
use crate::source::plain::{copying, failure, limits};
use crate::{progress, target};
use blosc_core::Special;
use blosc_frame::SuperChunk;
use blosc_frame::io::{FsDir, Offset};
use blosc_frame::repair::{self, Order, Repaired, repair_dir};
use serde_json::json;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// `blosc append`.
pub fn append(args: &Append) -> Result<()> {
    let mut lock = args.access.lock(&args.frame)?;
    let _held = lock.hold()?;
    let mut frame = args.access.open(&args.frame)?;
    frame.set_threads(args.threads);
    let (mut input, total) = target::open_plain(&args.input)?;
    let bar = progress::bar("appending", total);
    let mut writer = frame.writer();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                writer.write_all(&buffer[..n]).map_err(|e| Failure::at(&args.frame, e))?;
                bar.inc(n as u64);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Failure::at(&args.input, e)),
        }
    }
    writer.finish().map_err(failure(&args.frame))?;
    args.access.commit(&mut frame, &args.frame)
}

/// `blosc edit`.
pub fn edit(args: &Edit) -> Result<()> {
    let mut lock = args.access.lock(&args.frame)?;
    let _held = lock.hold()?;
    let mut frame = args.access.open(&args.frame)?;
    match &args.script {
        None if args.edit.is_empty() => {
            return Err(Failure::Usage("say what to edit, or give --script FILE".into()));
        }
        None => {
            let words: Vec<&str> = args.edit.iter().map(String::as_str).collect();
            apply(&mut frame, &words).map_err(|e| e.about(args.frame.display()))?;
        }
        Some(script) => {
            let mut text = String::new();
            target::open_plain(script)?.0.read_to_string(&mut text)?;
            for (number, line) in text.lines().enumerate() {
                let words: Vec<&str> = line.split_whitespace().collect();
                if words.is_empty() || line.starts_with('#') {
                    continue;
                }
                let line = format_args!("{}: line {}", args.frame.display(), number + 1);
                apply(&mut frame, &words).map_err(|e| e.about(line))?;
            }
        }
    }
    args.access.commit(&mut frame, &args.frame)
}

fn apply(frame: &mut SuperChunk<'_>, words: &[&str]) -> Result<()> {
    let number = |text: &str| {
        text.parse::<u64>().map_err(|_| Failure::Usage(format!("{text:?} is not a number of a chunk")))
    };
    let file = |name: &str| -> Result<Vec<u8>> {
        let mut data = Vec::new();
        target::open_plain(Path::new(name))?.0.read_to_end(&mut data)?;
        Ok(data)
    };
    match *words {
        ["insert", k, name] => frame.insert(number(k)?, &file(name)?)?,
        ["update", k, name] => frame.update(number(k)?, &file(name)?)?,
        ["append", name] => frame.append_data(&file(name)?)?,
        ["delete", k] => frame.delete(number(k)?)?,
        ["reorder", list] => {
            let order = list.split(',').map(number).collect::<Result<Vec<_>>>()?;
            frame.reorder(&order)?;
        }
        ["fill", kind, count] => fill(frame, kind, count)?,
        _ => {
            return Err(Failure::Usage(format!(
                "{:?}: insert N FILE, update N FILE, append FILE, delete N, reorder LIST, or fill KIND COUNT",
                words.join(" ")
            )));
        }
    }
    Ok(())
}

fn fill(frame: &mut SuperChunk<'_>, kind: &str, count: &str) -> Result<()> {
    let items: u64 =
        count.parse().map_err(|_| Failure::Usage(format!("{count:?} is not a number of items")))?;
    let nbytes = items
        .checked_mul(u64::from(frame.typesize()))
        .ok_or_else(|| Failure::Usage(format!("{count} items are too many")))?;
    let special = match kind {
        "zeros" => Special::Zeros,
        "nan" => Special::Nan,
        "uninit" => Special::Uninit,
        value => {
            let item = value.strip_prefix("0x").and_then(super::meta::from_hex).ok_or_else(|| {
                Failure::Usage(format!("{value:?}: zeros, nan, uninit, or 0x and the bytes of an item"))
            })?;
            return Ok(frame.fill_value(&item, items)?);
        }
    };
    Ok(frame.fill_special(special, nbytes)?)
}

/// `blosc compact`.
pub fn compact(args: &Compact) -> Result<()> {
    let mut lock = args.access.lock(&args.frame)?;
    let _held = lock.hold()?;
    let mut frame = args.access.open(&args.frame)?;
    let done = frame.compact().map_err(failure(&args.frame))?;
    let saved = done.before.saturating_sub(done.after);
    super::print(&json!({"before": done.before, "after": done.after, "saved": saved}), args.json)
}

/// Refuses to call an empty frame the rest of something that has nothing of a frame.
fn something_of(report: Repaired, path: &Path) -> Result<Repaired> {
    if report.kept == 0 && !report.header {
        return Err(Failure::at(path, "neither a frame's header nor a chunk is in it"));
    }
    Ok(report)
}

/// `blosc repair`.
pub fn repair(args: &Repair) -> Result<()> {
    let path = args.input.as_path();
    let out = args.output.output.as_path();
    let limits = limits(max_of(args.max_output, path));
    let report = if path.is_dir() {
        let dir = FsDir::open(path)?;
        target::new_dir(&args.output, |fresh| {
            let (report, _) = repair_dir(&dir, &limits, |params| SuperChunk::create_dir(fresh, params))
                .map_err(copying(path, out))?;
            something_of(report, path)
        })?
    } else {
        if out == Path::new("-") {
            return Err(Failure::Usage("-o: name a file for the repaired frame".into()));
        }
        let file = File::open(path).map_err(|e| Failure::at(path, e))?;
        let file = Offset::new(file, args.offset).map_err(|e| Failure::at(path, e))?;
        let temp = temporary(&args.output)?;
        let new = temp.as_file().try_clone()?;
        let (report, _) = repair::repair(&file, &limits, |params| SuperChunk::create(new, params))
            .map_err(copying(path, out))?;
        let report = something_of(report, path)?;
        temp.persist(out).map_err(|e| Failure::at(out, e.error))?;
        report
    };
    let order = match report.order {
        Order::Index => "the frame's index",
        Order::FoundIndex => "an index found in the file; it may be an older state",
        Order::Stored => "the order in which the chunks are stored",
    };
    let json = json!({
        "order": order, "kept": report.kept, "lost": report.lost, "missing": report.missing,
        "header_read": report.header, "vlmetalayers_read": report.vlmetalayers,
    });
    super::print(&json, args.json)
}
