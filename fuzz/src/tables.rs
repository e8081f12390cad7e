//! Tables of python-blosc2, read, converted and appended to by the commands of `blosc`.

use crate::frames::files;
use crate::paths::Folder;
use crate::resources::allow;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Bytes that a table may decode to here.
const MOST: usize = 1 << 20;

/// Runs a command in `folder`; whether it did all of its work.
fn done(folder: &Path, words: &[&str]) -> bool {
    let limit = format!("--max-output={MOST}");
    // Names that contain a dot or a colon are files of the folder.
    let path = |word: &&str| match word.starts_with("--") || !word.contains(['.', ':']) {
        true => OsString::from(word),
        false => folder.join(word).into_os_string(),
    };
    let words = ["blosc"].iter().chain(words).map(path).chain([limit.into()]).collect();
    match blosc_cli::run(words) {
        Ok(()) => true,
        Err((status, text)) => {
            assert!(status != 2 && !text.trim().is_empty(), "{status}: {text}");
            false
        }
    }
}

/// The rows of a table, as JSON lines.
fn rows(folder: &Path, table: &str) -> Option<Vec<String>> {
    let made = done(folder, &["decompress", table, "--force", "-o", "rows.jsonl"]);
    let text =
        made.then(|| fs::read_to_string(folder.join("rows.jsonl")).expect("a file that was written"))?;
    Some(text.lines().map(str::to_string).collect())
}

/// A zero and files, which lie in a directory, or something else and a zip file: the table that this is, or the one in
/// it that is called `t`.
pub fn open(data: &[u8]) {
    // Each of some twenty commands holds a decoded part, its text, and the files of the table.
    allow(200 * MOST + 64 * data.len());
    let Some((zipped, data)) = data.split_first() else { return };
    let folder = Folder::new();
    let store = if *zipped == 0 { "s.b2d" } else { "s.b2z" };
    match *zipped {
        0 => files(data)
            .into_iter()
            .take(64)
            .for_each(|(name, content)| folder.put(&format!("{store}/{name}"), content)),
        _ => folder.put(store, data),
    }
    let folder = folder.0.as_path();
    if !folder.join(store).exists() {
        return;
    }
    done(folder, &["info", store, "--json"]);
    done(folder, &["ls", store]);
    let inner = format!("{store}:/t");
    for table in [store, &inner] {
        let Some(old) = rows(folder, table) else { continue };
        for output in ["x.csv", "x.arrow", "x.npz"] {
            done(folder, &["decompress", table, "--partial", "--force", "-o", output]);
        }
        let some = format!("{}\n", old.iter().take(3).cloned().collect::<Vec<_>>().join("\n"));
        fs::write(folder.join("new.jsonl"), some).expect("a file of our own");
        for new in ["new.jsonl", "x.csv", "x.arrow", "x.npz"] {
            let before = rows(folder, table).expect("what could be read");
            let appended = folder.join(new).exists() && done(folder, &["append", table, new]);
            let after = rows(folder, table).expect("an append leaves a table that can be read");
            let added = match new {
                _ if !appended => 0,
                "new.jsonl" => old.len().min(3),
                _ => old.len(),
            };
            assert!(after.starts_with(&before), "rows that were there are others after {new}");
            assert_eq!(after.len(), before.len() + added, "rows of {new}");
        }
    }
    done(folder, &["verify", store]);
}
