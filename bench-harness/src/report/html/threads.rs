//! How much more threads gain.

use super::parts::{Mean, section, timed};
use crate::report::grids::percent;
use crate::report::svg::{Chart, Point, Series};
use crate::report::table::{figure, size};
use crate::result::Row;
use crate::result::file::Results;
use std::collections::BTreeMap;

/// Times one thread, by the number of threads.
pub fn scaling(file: &Results) -> String {
    let mut groups: BTreeMap<(String, usize), Vec<&Row>> = BTreeMap::new();
    for r in timed(file, "threads") {
        groups.entry((format!("{} {}", r.op, r.codec), r.threads)).or_default().push(r);
    }
    let mut series: Vec<Series> = Vec::new();
    for ((name, threads), rows) in groups {
        // One thread is the opponent, so it has no ratio of its own.
        let ratio = |r: &Row| if r.threads == 1 { Some(1.0) } else { r.vs_peer };
        let Some(mean) = Mean::of(&rows, ratio) else { continue };
        let spread = mean.spread.filter(|_| threads > 1);
        let around = spread.map_or(String::new(), |s| format!(" ± {} %", percent(s)));
        let title = format!("{name}, {threads} threads: {} times one{around}", figure(mean.value));
        let label = if threads > 1 { figure(mean.value) } else { String::new() };
        let point = Point { x: threads as f64, y: mean.value, label, title, spread, noisy: mean.noisy };
        match series.iter_mut().find(|s| s.name == name) {
            Some(s) => s.points.push(point),
            None => {
                let colour = series.len();
                let points = vec![point];
                series.push(Series { name, points, line: true, dashed: false, square: false, colour });
            }
        }
    }
    let mut counts: Vec<usize> = timed(file, "threads").map(|r| r.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    if counts.len() < 2 {
        return String::new();
    }
    let ideal = |n: &usize| Point {
        x: *n as f64,
        y: *n as f64,
        label: String::new(),
        title: format!("{n} times"),
        spread: None,
        noisy: false,
    };
    let (colour, points) = (series.len(), counts.iter().map(ideal).collect());
    series.push(Series { name: "ideal".into(), points, line: true, dashed: true, square: true, colour });
    let chart = Chart {
        title: "thread scaling",
        x: "threads",
        y: "times one thread",
        log_x: false,
        log_y: false,
        x_ticks: counts.iter().map(|c| (*c as f64, c.to_string())).collect(),
        series,
        yardsticks: Vec::new(),
    };
    let bytes = timed(file, "threads").map(|r| r.bytes).max().unwrap_or(0);
    let lead = format!("Chunks of {}; geometric means over arrays and filters.", size(bytes));
    section("Threads", &lead, &format!("<figure>{}</figure>", chart.svg()))
}
