//! How rows of the suite `goals` meet the numbered goals.

use blosc_bench::report::goals::{memory_note, table};
use blosc_bench::result::Row;

fn row(vs_peer: f64, size: f64) -> Row {
    let (vs_peer, size_vs_peer) = (Some(vs_peer), Some(size));
    Row { goal: Some(9), engine: "ours".into(), vs_peer, size_vs_peer, ..Row::default() }
}

/// Cells of the one goal in these rows: worst, mean, rows below .5, met.
fn judged(rows: &[Row]) -> Vec<String> {
    let (_, lines) = table(rows).cells();
    [3, 4, 7, 9].iter().map(|c| lines[0][*c].clone()).collect()
}

#[test]
fn the_mean_decides_and_no_row_is_below_half() {
    assert_eq!(judged(&[row(4.0, 0.9), row(1.6, 0.9)]), ["1.60", "2.53", "0", "yes"]);
    assert_eq!(judged(&[row(4.0, 0.9), row(1.5, 0.9)]), ["1.50", "2.45", "0", "no"]);
    assert_eq!(judged(&[row(20.0, 0.9), row(0.4, 0.9)]), ["0.40", "2.83", "1", "no"]);
}

/// A copy is no row of the goal: it stands below the table.
#[test]
fn what_memory_allows_is_told_apart() {
    let ours = Row { goal: Some(15), threads: 2, ..row(1.5, 1.0) };
    let copy = Row { engine: "memcpy".into(), vs_peer: Some(1.25), ..ours.clone() };
    assert_eq!(memory_note(std::slice::from_ref(&ours)), None);
    let rows = [ours, copy];
    assert_eq!(table(&rows).cells().1[0][6], "1");
    assert!(memory_note(&rows).unwrap().contains("scales by 1.25"));
}

#[test]
fn larger_output_is_never_fine() {
    for (sizes, met) in [([1.04, 0.5], "no"), ([1.005, 0.999], "no"), ([1.02, 0.97], "yes")] {
        assert_eq!(judged(&sizes.map(|size| row(3.0, size)))[3], met);
    }
}
