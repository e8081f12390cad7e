//! What a store holds, whichever kind of store it is.

use crate::failure::{Failure, Result};
use crate::open::{Intent, Opened, What};
use blosc_frame::store::{Leaf, Place};

impl Opened {
    /// How many entries a store has; `None` for what is no store.
    pub fn entries(&self) -> Option<usize> {
        match &self.what {
            What::Store(store) => Some(store.store.entries().len()),
            What::ForeignStore(tree) => Some(tree.entries.len()),
            _ => None,
        }
    }

    /// The name of an entry, what it is, and the entry opened to look at it, where it is one to be opened.
    pub fn entry(&self, n: usize) -> (String, String, Result<Option<Opened>>) {
        let none = || (String::new(), String::new(), Err(Failure::Data("no store".into())));
        let opened = match &self.what {
            What::Store(store) => store.store.entries().get(n).map(|entry| {
                let what = entry.leaf().name();
                let (what, opened) = match entry.place() {
                    Place::Elsewhere(target) => (format!("{what} -> {target}"), Ok(None)),
                    _ if entry.leaf() == Leaf::Foreign => (what.into(), Ok(None)),
                    _ => (what.into(), store.open(entry, Intent::Inspect).map(Some)),
                };
                (entry.name().into(), what, opened)
            }),
            What::ForeignStore(tree) => tree.entries.get(n).map(|entry| {
                let text = |name: &str| entry[name].as_str().unwrap_or("").to_string();
                (text("key"), text("kind"), tree.open(entry).map(Some))
            }),
            _ => None,
        };
        opened.unwrap_or_else(none)
    }

    /// What no `.npz` file of the arrays of a store holds.
    pub fn left_out(&self) -> Vec<String> {
        match &self.what {
            What::Store(store) => store.left_out(),
            What::ForeignStore(tree) => tree.left_out(),
            _ => Vec::new(),
        }
    }
}
