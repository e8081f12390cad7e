//! Changing frames in place: `append`, `edit`, `compact`. Each is one atomic step.

use crate::access::{Intent, strays};
use crate::args::{Append, Compact, Edit, Input, Run, Strays};
use crate::failure::{Failure, Result, asked, failure, sized};
use crate::items::{NewItems, open_items};
use crate::json::from_hex;
use crate::limits::{check_output, limits_of};
use crate::open::open_as_frame;
use crate::output::notice;
use crate::progress;
use blosc_core::Special;
use blosc_core::chunk::MAX_NBYTES;
use blosc_frame::SuperChunk;
use blosc_frame::any::Kind;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Bytes of the longest script of edits: a million lines.
const MOST_SCRIPT: u64 = 64 << 20;

/// Commits what was changed, and says so if there is no room for the table of checksums.
pub fn commit(frame: &mut SuperChunk<'_>, path: &Path) -> Result<()> {
    // An array that the chunks no longer fit is the fault of what was asked for.
    frame.commit().map_err(|error| asked(error).about(path.display()))?;
    if frame.checksums_left_out() {
        notice(format_args!("{}: all 16 vlmetalayers are taken: no checksums of chunks", path.display()));
    }
    Ok(())
}

/// `blosc append`.
pub fn append(frame: &mut SuperChunk<'_>, new: NewItems, args: &Append) -> Result<()> {
    if args.axis.is_some() {
        return Err(Failure::Usage(format!("--axis: {} is no array", args.frame.display())));
    }
    let item = u64::from(frame.typesize());
    new.check(None, item)?;
    whole_items(frame.nbytes(), item, ENDS).map_err(|e| e.about(args.frame.display()))?;
    whole_items(new.nbytes().unwrap_or(0), item, "").map_err(|e| e.about(args.input.display()))?;
    let bar = progress::bar("appending", new.nbytes());
    let mut writer = frame.writer();
    let mut size = 0;
    new.each(&mut |piece| {
        size += piece.len() as u64;
        writer.write_all(piece).map_err(|e| Failure::at(&args.frame, e))?;
        bar.inc(piece.len() as u64);
        Ok(())
    })?;
    whole_items(size, item, "").map_err(|e| e.about(args.input.display()))?;
    writer.finish().map_err(failure(&args.frame))?;
    commit(frame, &args.frame)
}

/// What a frame of plain bytes may do, which can then not be appended to.
const ENDS: &str = "it ends with a part of an item: ";

/// Refuses a part of an item: what follows it would be out of step.
fn whole_items(bytes: u64, item: u64, what: &str) -> Result<()> {
    match bytes.checked_rem(item) {
        None | Some(0) => Ok(()),
        Some(_) => {
            Err(Failure::Data(format!("{what}{bytes} bytes are no whole number of items of {item} bytes")))
        }
    }
}

/// `blosc edit`.
pub fn edit(args: &Edit) -> Result<()> {
    let path = args.frame.as_path();
    let (mut frame, _lock) = open_as_frame(&args.access.input(path, &Run::default()), Intent::Change)?;
    let frame = &mut frame;
    match &args.script {
        None if args.edit.is_empty() => {
            return Err(Failure::Usage("say what to edit, or give --script FILE".into()));
        }
        None => {
            let words: Vec<&str> = args.edit.iter().map(String::as_str).collect();
            if args.plain && !matches!(words.first(), Some(&("insert" | "update" | "append"))) {
                return Err(Failure::Usage("--plain: no FILE is read".into()));
            }
            apply(frame, &words, args).map_err(|e| e.about(path.display()))?;
        }
        Some(script) => {
            let text = crate::streams::read_plain(script, MOST_SCRIPT)?;
            let text = String::from_utf8(text).map_err(|_| Failure::at(script, "is no text"))?;
            for (number, line) in text.lines().enumerate() {
                let words: Vec<&str> = line.split_whitespace().collect();
                if words.is_empty() || line.starts_with('#') {
                    continue;
                }
                let line = format_args!("{}: line {}", path.display(), number + 1);
                apply(frame, &words, args).map_err(|e| e.about(line))?;
            }
        }
    }
    commit(frame, path)
}

fn apply(frame: &mut SuperChunk<'_>, words: &[&str], args: &Edit) -> Result<()> {
    let number = |text: &str| {
        text.parse::<u64>().map_err(|_| Failure::Usage(format!("{text:?} is not a number of a chunk")))
    };
    let typesize = u64::from(frame.typesize());
    let file = |name: &str| -> Result<Vec<u8>> {
        let input = Input::whole(Path::new(name), args.access.max_output, &Run::default());
        let new = open_items(&input, args.plain)?;
        new.check(None, typesize)?;
        let bytes = new.read(MAX_NBYTES as u64)?;
        whole_items(bytes.len() as u64, typesize, "").map_err(|e| e.about(name))?;
        Ok(bytes)
    };
    if let ["append" | "fill", ..] = words {
        whole_items(frame.nbytes(), typesize, ENDS)?;
    }
    match *words {
        ["insert", k, name] => frame.insert(number(k)?, &file(name)?),
        ["update", k, name] => frame.update(number(k)?, &file(name)?),
        ["append", name] => frame.append_data(&file(name)?),
        ["delete", k] => frame.delete(number(k)?),
        ["reorder", list] => {
            let order = list.split(',').map(number).collect::<Result<Vec<_>>>()?;
            frame.reorder(&order)
        }
        ["fill", kind, count] => return fill(frame, kind, count),
        _ => {
            return Err(Failure::Usage(format!(
                "{:?}: insert N FILE, update N FILE, append FILE, delete N, reorder LIST, or fill KIND COUNT",
                words.join(" ")
            )));
        }
    }
    .map_err(asked)
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
            let item = value.strip_prefix("0x").and_then(from_hex).ok_or_else(|| {
                Failure::Usage(format!("{value:?}: zeros, nan, uninit, or 0x and the bytes of an item"))
            })?;
            return frame.fill_value(&item, items).map_err(sized);
        }
    };
    frame.fill_special(special, nbytes).map_err(sized)
}

/// `blosc compact`.
pub fn compact(args: &Compact) -> Result<()> {
    let path = args.frame.as_path();
    if let (Some(how), true) = (args.strays, path.is_dir())
        && matches!(Kind::of_directory(path), Ok(Kind::Bcolz(_) | Kind::Blaze))
    {
        return super::print(&super::rows::strays(args, how)?, args.json);
    }
    let input = args.access.input(path, &Run::default());
    let before = strays(path);
    let (mut frame, _lock) = open_as_frame(&input, Intent::Maintain)?;
    check_output(path, frame.stored_nbytes(), limits_of(args.access.max_output, path).output)?;
    match args.strays {
        Some(Strays::Take) => {
            let text = "--strays take: no index says where a chunk belongs; repair -o puts chunks together";
            return Err(Failure::Usage(text.into()));
        }
        Some(Strays::Drop) => frame.remove_strays().map_err(failure(path))?,
        None => {}
    }
    let done = frame.compact().map_err(failure(path))?;
    let saved = done.before.saturating_sub(done.after);
    let mut report = json!({"before": done.before, "after": done.after, "saved": saved});
    let (after, mut removed) = (strays(path), before);
    removed.retain(|name| !after.contains(name));
    for (name, list) in [("strays_removed", removed), ("strays", after)] {
        if let (Some(report), false) = (report.as_object_mut(), list.is_empty()) {
            report.insert(name.into(), list.into());
        }
    }
    super::print(&report, args.json)
}
