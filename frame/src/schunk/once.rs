//! [`Once`]: work that is done once for chunks that several entries of an index share.

use super::index::Index;
use crate::cframe::Entries;
use crate::cframe::index::Entry;
use crate::error::Error;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What was found out about chunks that several entries of an index name, so that each of them is looked at and written
/// once: a small file can name one chunk millions of times.
pub(crate) struct Once<T> {
    /// Entries that occur more than once, in ascending order.
    shared: Vec<u64>,
    known: BTreeMap<u64, T>,
}

impl<T: Copy> Once<T> {
    /// Nothing is known about the chunks of this index yet.
    pub(crate) fn new(index: &Index) -> Result<Once<T>, Error> {
        let mut shared = Vec::new();
        if let Entries::List(list) = &index.entries {
            shared.try_reserve_exact(list.len()).map_err(|_| Error::OutOfMemory)?;
        }
        shared.extend(index.entries.stored());
        if let Entries::List(_) = index.entries {
            shared.sort_unstable();
            let mut before = None;
            shared.retain(|entry| before.replace(*entry) == Some(*entry));
            shared.dedup();
        }
        Ok(Once { shared, known: BTreeMap::new() })
    }

    /// What is known about the chunk of this entry.
    pub(crate) fn get(&self, entry: Option<Entry>) -> Option<T> {
        let Some(Entry::Stored(entry)) = entry else { return None };
        self.known.get(&entry).copied()
    }

    /// Notes what is known now, if another entry may ask for it.
    pub(crate) fn note(&mut self, entry: Option<Entry>, known: T) {
        if let Some(Entry::Stored(entry)) = entry
            && self.shared.binary_search(&entry).is_ok()
        {
            self.known.insert(entry, known);
        }
    }
}
