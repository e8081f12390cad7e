//! What a store holds, whichever kind of store it is.

use crate::failure::{Failure, Result};
use crate::open::{Intent, Opened, What};
use serde_json::Value;

impl Opened {
    /// What a store holds; `None` for what is no store.
    pub fn entries(&self) -> Option<&[Value]> {
        match &self.what {
            What::Store(store) => Some(&store.entries),
            What::Tree(tree) => Some(&tree.entries),
            _ => None,
        }
    }

    /// Opens one of the entries, to look at it.
    pub fn entry(&self, entry: &Value) -> Result<Opened> {
        match &self.what {
            What::Store(store) => store.open(entry, Intent::Inspect),
            What::Tree(tree) => tree.open(entry),
            _ => Err(Failure::Data("no store".into())),
        }
    }

    /// What no `.npz` file of the arrays of a store holds.
    pub fn left_out(&self) -> Vec<String> {
        match &self.what {
            What::Store(store) => store.left_out(),
            What::Tree(tree) => tree.left_out(),
            _ => Vec::new(),
        }
    }
}
