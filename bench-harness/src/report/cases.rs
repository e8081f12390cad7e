//! Cases of several results files, and words that choose among them.

use super::mean::percent;
use crate::measure::stats::Summary;
use crate::result::file::Results;
use crate::result::{Key, Row};
use std::collections::BTreeMap;

/// Rows of all files that belong to the same case, one place for each file.
pub fn cases<'a>(files: &'a [Results], filter: &str) -> BTreeMap<Key<'a>, Vec<Option<&'a Row>>> {
    let mut cases: BTreeMap<Key<'_>, Vec<Option<&Row>>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        for row in file.rows.iter().filter(|r| r.quartile_ns.is_some() && matches(r, filter)) {
            let places = cases.entry(row.key()).or_insert_with(|| vec![None; files.len()]);
            if let Some(place) = places.get_mut(index) {
                *place = Some(row);
            }
        }
    }
    cases
}

/// Each value once, in the order in which they first come.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().fold(Vec::new(), |mut found, value| {
        if !found.contains(&value) {
            found.push(value);
        }
        found
    })
}

/// Whether every word of `filter` is a word of the row's label or its suite.
pub fn matches(row: &Row, filter: &str) -> bool {
    let label = format!("{} {} {}", row.suite, row.engine, row.label());
    filter.split_whitespace().all(|word| label.split_whitespace().any(|l| l == word))
}

/// How wide spreads are, in a line: those of times, and of the ratios that are shown.
pub fn spread_line(rows: &[Row]) -> Option<String> {
    type Spread = fn(&Row) -> Option<f64>;
    let kinds: [(&str, Spread); 3] = [
        ("times", |r| r.spread),
        ("fractions of a copy", |r| r.vs_copy_spread),
        ("ratios to the opponent", |r| r.vs_peer_spread),
    ];
    let told = kinds.into_iter().filter_map(|(name, of)| {
        let s = Summary::of(&rows.iter().filter_map(of).collect::<Vec<_>>())?;
        Some(format!("{name} ±{} % (nine of ten rows ±{} %)", percent(s.median), percent(s.p90)))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("Spread in the middle: {}", told.join(", ")))
}

/// A letter for each file: `A`, `B` ...
pub fn letter(index: usize) -> char {
    char::from(b'A' + u8::try_from(index % 26).unwrap_or(0))
}
