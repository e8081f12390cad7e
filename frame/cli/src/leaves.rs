//! What a store holds, opened leaf by leaf, whichever kind of store it is: to list it, to verify it, and to hand on its
//! arrays.

use crate::access::Intent;
use crate::failure::{Failure, Findings, Result};
use crate::limits::check_output;
use crate::opened::{Contents, Holds, Opened};
use crate::output::notice;
use crate::readers::engines::{Tree, key};
use crate::readers::frame;
use crate::readers::store::StoreReader;
use blosc_frame::store::{Entry, Form, Leaf, Place};
use blosc_frame::table::Schema;
use serde_json::{Value, json};
use std::path::Path;

impl Opened {
    /// How many entries a store has; `None` for what is no store.
    pub fn entries(&self) -> Option<usize> {
        match &self.what {
            Contents::Store(store) => Some(store.store.entries().len()),
            Contents::ForeignStore(tree) => Some(tree.entries.len()),
            _ => None,
        }
    }

    /// The name of an entry, what it is, and the entry opened to look at it, where it is one to be opened.
    pub fn entry(&self, n: usize) -> (String, String, Result<Option<Opened>>) {
        let none = || (String::new(), String::new(), Err(Failure::Data("no store".into())));
        let opened = match &self.what {
            Contents::Store(store) => store.store.entries().get(n).map(|entry| {
                let what = entry.leaf().name();
                let (what, opened) = match entry.place() {
                    Place::Elsewhere(target) => (format!("{what} -> {target}"), Ok(None)),
                    _ if entry.leaf() == Leaf::Foreign => (what.into(), Ok(None)),
                    _ => (what.into(), store.open(entry, Intent::Inspect).map(Some)),
                };
                (entry.name().into(), what, opened)
            }),
            Contents::ForeignStore(tree) => tree.entries.get(n).map(|entry| {
                let text = |name: &str| entry[name].as_str().unwrap_or("").to_string();
                (text("key"), text("kind"), array_of(tree, entry).map(Some))
            }),
            _ => None,
        };
        opened.unwrap_or_else(none)
    }

    /// What no `.npz` file of the arrays of a store holds.
    pub fn left_out(&self) -> Vec<String> {
        match &self.what {
            Contents::Store(store) => store.left_out(),
            Contents::ForeignStore(tree) => unreadable(tree),
            _ => Vec::new(),
        }
    }

    /// Hands every array of a store to `f`, with its name as the member of a `.npz` file.
    pub fn each_array(&self, f: &mut dyn FnMut(&str, &mut Opened) -> Result<()>) -> Result<()> {
        match &self.what {
            Contents::Store(store) => store.each_array(f),
            Contents::ForeignStore(tree) => {
                for entry in &tree.entries {
                    let mut opened = array_of(tree, entry)?;
                    if matches!(&opened.what, Contents::ForeignArray(grid) if grid.problem().is_none()) {
                        f(key(entry).trim_start_matches('/'), &mut opened)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks every checksum, and unless `quick` decodes everything.
    ///
    /// # Errors
    /// A verdict that is not `intact`.
    pub fn verify(&mut self, path: &Path, quick: bool, progress: &dyn Fn(u64)) -> Result<Value> {
        let mut found = match &mut self.what {
            Contents::Store(store) if !quick => verify_store(store, progress),
            Contents::ForeignStore(tree) if !quick => verify_tree(tree, progress),
            Contents::Rows(rows) => rows.verify(quick, progress)?,
            _ if quick => {
                let which = "only bloscpack files and Blaze directories have checksums for that";
                return Err(Failure::Usage(format!("--quick: {which}")));
            }
            _ => self.reader()?.verify(progress)?,
        };
        if let (Some(behind), Value::Object(report)) = (&self.trailing, &mut found.report) {
            report.insert("trailing_bytes".into(), behind.bytes.into());
            match behind.is_data() {
                true => found.unchecked.push(behind.describe()),
                false => notice(format_args!("{}: {}", path.display(), behind.describe())),
            }
        }
        found.verdict(path)
    }
}

/// An array of a store of another program.
fn array_of(tree: &Tree, entry: &Value) -> Result<Opened> {
    tree.open(entry).map(|grid| Opened::of(Contents::ForeignArray(grid)))
}

/// The arrays of such a store that no `.npz` file holds, and why.
fn unreadable(tree: &Tree) -> Vec<String> {
    let reason = |entry: &Value| match tree.open(entry) {
        Ok(grid) => grid.problem().map(str::to_string),
        Err(failure) => Some(failure.to_string()),
    };
    let left_out = |entry: &Value| reason(entry).map(|reason| format!("{} ({reason})", key(entry)));
    tree.entries.iter().filter_map(left_out).collect()
}

impl StoreReader {
    /// Hands every array to `f`, with its name as the member of a `.npz` file.
    fn each_array(&self, f: &mut dyn FnMut(&str, &mut Opened) -> Result<()>) -> Result<()> {
        let mut spent = 0;
        for entry in self.store.entries() {
            if let Some(Ok(mut array)) = self.array(entry) {
                spend(self, &mut spent, &mut array)?;
                f(entry.key().strip_prefix('/').unwrap_or(entry.key()), &mut array)?;
            }
        }
        Ok(())
    }

    /// An entry as an array; why it is none; `None` for what is no data of its own.
    fn array(&self, entry: &Entry) -> Option<std::result::Result<Opened, String>> {
        if self.store.in_table(entry) || !entry.is_data() {
            return None;
        }
        let name = entry.leaf().name();
        if !matches!(entry.leaf(), Leaf::Array | Leaf::Frame | Leaf::Batches) {
            return Some(Err(name.into()));
        }
        let opened = self.open(entry, Intent::Read).map_err(|failure| failure.to_string());
        Some(opened.and_then(|mut opened| match opened.holds() {
            Holds::Array => Ok(opened),
            _ => Err(name.into()),
        }))
    }

    /// What no `.npz` file of the arrays holds.
    fn left_out(&self) -> Vec<String> {
        let tables = self.store.tables().iter().filter(|group| !group.is_empty());
        let mut left_out: Vec<String> = tables.map(|group| format!("{group} (a table)")).collect();
        for entry in self.store.entries() {
            if let Some(Err(why)) = self.array(entry) {
                left_out.push(format!("{} ({why})", entry.key()));
            }
        }
        left_out
    }
}

/// What verifying the leaves of a store came to, one after the other.
#[derive(Default)]
struct Verified {
    entries: Vec<Value>,
    all: Findings,
}

impl Verified {
    fn add(&mut self, key: &str, verified: Result<Value>) {
        let report = verified.unwrap_or_else(|failure| {
            let (report, text, status) = failure.verified();
            let list = if status == 1 { &mut self.all.damage } else { &mut self.all.unchecked };
            list.push(format!("{key}: {text}"));
            report
        });
        self.entries.push(json!({"key": key, "report": report}));
    }

    fn of(mut self, kind: &str) -> Findings {
        self.all.report = json!({"kind": kind, "entries": self.entries});
        self.all
    }
}

/// Decodes every array of a store of another program.
fn verify_tree(tree: &Tree, progress: &dyn Fn(u64)) -> Findings {
    let mut found = Verified::default();
    for entry in &tree.entries {
        let opened = array_of(tree, entry);
        found
            .add(key(entry), opened.and_then(|mut opened| opened.verify(&tree.input.input, false, progress)));
    }
    found.of(tree.kind)
}

/// Adds what one of the entries of a store decodes to: the limit is that of all of them together.
fn spend(store: &StoreReader, spent: &mut u64, opened: &mut Opened) -> Result<()> {
    *spent = spent.saturating_add(opened.nbytes().unwrap_or(0));
    check_output(&store.path(), *spent, store.store.limits().output)
}

/// Verifies every entry of a store by itself.
fn entries_of(store: &StoreReader, progress: &dyn Fn(u64)) -> Findings {
    let mut found = Verified::default();
    let (path, mut spent) = (store.path(), 0);
    if store.store.form() == Form::B2e
        && let Some(root) = store.store.with_root(|root| frame::verify("frame", root, &path, progress))
    {
        found.add("/", root.and_then(|found| found.verdict(&path)));
    }
    for entry in store.store.entries() {
        let whole = store.store.check(entry).map_err(Failure::from);
        let verified = whole.and_then(|()| match entry.leaf() {
            Leaf::Foreign => Ok(json!({"kind": entry.leaf().name(), "ok": true})),
            _ => {
                let mut opened = store.open(entry, Intent::Inspect)?;
                spend(store, &mut spent, &mut opened)?;
                opened.verify(&path, false, progress)
            }
        });
        found.add(entry.name(), verified);
    }
    found.of(store.store.form().name())
}

/// Verifies every entry of a store by itself, and the tables in it by their rows: each column is there, and has all rows
/// that live.
fn verify_store(store: &StoreReader, progress: &dyn Fn(u64)) -> Findings {
    let mut found = entries_of(store, progress);
    let mut tell = |group: &str, failure: Failure| {
        let list = if let Failure::Unable(_) = failure { &mut found.unchecked } else { &mut found.damage };
        list.push(if group.is_empty() { failure.to_string() } else { format!("{group}: {failure}") });
    };
    for (group, store) in store.described() {
        match verify_rows(&store) {
            Ok(failures) => failures.into_iter().for_each(|failure| tell(&group, failure)),
            Err(failure) => tell(&group, failure),
        }
    }
    found
}

/// What keeps the rows of the table that `store` is from being read, column by column; nothing if it is no table.
fn verify_rows(store: &StoreReader) -> Result<Vec<Failure>> {
    if !store.store.is_table() && Schema::open(&store.store).is_err() {
        return Ok(Vec::new());
    }
    Ok(store.store.table("")?.verify().into_iter().map(Failure::from).collect())
}
