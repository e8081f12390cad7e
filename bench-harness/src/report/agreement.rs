//! `repeat`: how well several runs of the same cases on the same machine agree.
//!
//! ```text
//! for each case, and each two runs:  do the fractions of a copy lie within 5 %?
//! for each two neighbours (rows of one comparison, one after the other), and each two runs:
//!                                    do the ratios of their times lie within 3 %?
//! share = pairs that do / all pairs                                            goal: 95 % of each
//! ```

use super::cases::cases;
use super::table::{Table, figure, size};
use crate::machine::load::TOLERATED;
use crate::measure::stats::Summary;
use crate::result::Row;
use crate::result::file::Results;
use serde::Serialize;
use std::collections::BTreeMap;

/// Fractions of a copy agree within this.
pub const COPY: f64 = 0.05;
/// Ratios of neighbours agree within this.
pub const NEIGHBOURS: f64 = 0.03;
/// Share of pairs that should agree.
pub const GOAL: f64 = 0.95;

/// How many pairs of runs agree, and how far apart they lie.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Share {
    /// Pairs of runs, over all cases.
    pub pairs: usize,
    /// Those within the limit.
    pub agree: usize,
    /// Half of the pairs lie closer, as a fraction.
    pub median: f64,
    /// Nine of ten pairs lie closer.
    pub p90: f64,
}

impl Share {
    fn of(apart: &[f64], limit: f64) -> Option<Share> {
        let s = Summary::of(apart)?;
        let agree = apart.iter().filter(|d| **d <= limit).count();
        Some(Share { pairs: apart.len(), agree, median: s.median, p90: s.p90 })
    }

    /// Agreeing pairs as a fraction of all.
    pub fn share(&self) -> f64 {
        self.agree as f64 / self.pairs.max(1) as f64
    }

    fn cells(share: Option<&Share>) -> [String; 3] {
        match share {
            None => ["-", "-", "-"].map(String::from),
            Some(s) => [
                format!("{:.1} %", 100.0 * s.share()),
                format!("{} %", figure(100.0 * s.median)),
                format!("{} %", figure(100.0 * s.p90)),
            ],
        }
    }
}

/// What was compared of a group of cases.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// Suite, operation and size.
    pub name: String,
    /// Cases in all runs.
    pub cases: usize,
    /// Fractions of a copy.
    pub vs_copy: Option<Share>,
    /// Ratios of neighbours.
    pub neighbours: Option<Share>,
}

/// The agreement of several runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Agreement {
    /// Runs that were compared.
    pub runs: usize,
    /// Runs, counted from 1, during which other programs used the machine.
    pub loaded: Vec<usize>,
    /// Groups of cases, the last one of all.
    pub groups: Vec<Group>,
    /// The cases that differ most, with how far two runs lie apart at most.
    pub worst: Vec<(String, f64)>,
}

/// How far apart each two of the numbers are, as fractions.
fn apart(numbers: &[f64]) -> Vec<f64> {
    let pairs = numbers.iter().enumerate().flat_map(|(i, a)| numbers.iter().skip(i + 1).map(move |b| (a, b)));
    pairs.map(|(a, b)| (a / b).max(b / a) - 1.0).collect()
}

/// Compares all runs with each other.
pub fn agreement(runs: &[Results]) -> Agreement {
    let by_key = cases(runs, "");
    // In the order of the first run, in which rows of one comparison follow each other.
    let first = runs.first().map_or(&[][..], |run| &run.rows);
    let all: Vec<Vec<&Row>> = first
        .iter()
        .filter_map(|r| by_key.get(&r.key())?.iter().copied().collect::<Option<Vec<_>>>())
        .filter(|rows| !rows.is_empty())
        .collect();
    let group = |r: &Row| {
        let size = if r.suite == "kernels" { size(r.bytes) } else { String::new() };
        format!("{} {} {size}", r.suite, r.op).trim().to_string()
    };
    let mut groups: BTreeMap<String, (usize, Vec<f64>, Vec<f64>)> = BTreeMap::new();
    let mut worst = Vec::new();
    let mut before: Option<&Vec<&Row>> = None;
    for rows in &all {
        let Some(row) = rows.first() else { continue };
        let copies = apart(&rows.iter().filter_map(|r| r.vs_copy).collect::<Vec<_>>());
        worst.push((row.label(), copies.iter().copied().fold(0.0, f64::max)));
        let neighbour = before.filter(|b| {
            let same =
                |o: &Row| (&o.suite, &o.op, o.bytes, &o.data) == (&row.suite, &row.op, row.bytes, &row.data);
            b.first().is_some_and(|o| same(o))
        });
        let ratios: Vec<f64> = neighbour.map_or_else(Vec::new, |b| {
            let both = b.iter().zip(rows).filter_map(|(o, r)| Some(o.quartile_ns? / r.quartile_ns?));
            apart(&both.collect::<Vec<_>>())
        });
        for name in [group(row), "all".to_string()] {
            let place = groups.entry(name).or_default();
            place.0 += 1;
            place.1.extend(&copies);
            place.2.extend(&ratios);
        }
        before = Some(rows);
    }
    worst.sort_by(|a, b| b.1.total_cmp(&a.1));
    worst.truncate(10);
    let mut groups: Vec<Group> = groups
        .into_iter()
        .map(|(name, (cases, copies, ratios))| {
            let (vs_copy, neighbours) = (Share::of(&copies, COPY), Share::of(&ratios, NEIGHBOURS));
            Group { name, cases, vs_copy, neighbours }
        })
        .collect();
    groups.sort_by_key(|g| g.name == "all");
    let busy = |run: &Results| run.machine.busy_cpus_most.is_some_and(|busy| busy > TOLERATED);
    let loaded = (1..).zip(runs).filter(|(_, run)| busy(run)).map(|(number, _)| number).collect();
    Agreement { runs: runs.len(), loaded, groups, worst }
}

impl Agreement {
    /// Whether the shares of all cases reach the goal.
    pub fn good(&self) -> bool {
        let reaches = |s: &Option<Share>| s.as_ref().is_some_and(|s| s.share() >= GOAL);
        self.groups.last().is_some_and(|all| reaches(&all.vs_copy) && reaches(&all.neighbours))
    }

    /// The table for a terminal.
    pub fn text(&self) -> String {
        let head =
            ["of all pairs of runs", "cases", "copy ±5%", "half", "9 of 10", "ratio ±3%", "half", "9 of 10"];
        let mut table = Table::new(&head);
        for g in &self.groups {
            let (copy, ratio) = (Share::cells(g.vs_copy.as_ref()), Share::cells(g.neighbours.as_ref()));
            table.row([vec![g.name.clone(), g.cases.to_string()], copy.to_vec(), ratio.to_vec()].concat());
        }
        let mut out = format!(
            "{} runs. copy: fractions of a copy; ratio: times of neighbours\n\n{}\n\
             Furthest apart, of fractions of a copy:\n",
            self.runs,
            table.text()
        );
        for (case, apart) in &self.worst {
            out.push_str(&super::table::paragraph(&format!("{:>6.1} %  {case}", 100.0 * apart)));
        }
        if !self.loaded.is_empty() {
            let list: Vec<String> = self.loaded.iter().map(usize::to_string).collect();
            out.push_str(&super::table::paragraph(&format!(
                "Other programs used the machine during runs {}: they say less.",
                list.join(", ")
            )));
        }
        out
    }
}
