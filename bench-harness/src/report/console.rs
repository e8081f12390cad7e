//! What a run prints when it is done: the machine, kernel speeds, chunk speeds, and what was refused.

use super::table::{Table, duration, figure, maybe, paragraph, size, speed};
use crate::data::generate;
use crate::machine::Machine;
use crate::machine::load::TOLERATED;
use crate::measure::stats::geometric_mean;
use crate::result::Row;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The whole summary.
pub fn summary(machine: &Machine, rows: &[Row]) -> String {
    let mut out = machine_lines(machine);
    for (suite, title) in [("kernels", "Kernels"), ("split", "Block split and join")] {
        let tables = kernel_tables(suite, rows);
        if !tables.is_empty() {
            let _ = writeln!(out, "\n{title}: GB/s, and the fraction of a copy of the same size\n\n{tables}");
        }
    }
    let chunks = chunk_table(rows);
    if !chunks.is_empty() {
        let _ = writeln!(
            out,
            "\nChunks: geometric means over the real arrays; GB/s of uncompressed bytes\n\
             (82M: 82 MB/s), and decompression as a fraction of a copy\n\n{}",
            chunks.text()
        );
    }
    let peers = peer_table(rows);
    if !peers.is_empty() {
        let _ = writeln!(
            out,
            "\nAgainst {}: speed, mean (worst) over all arrays; worst size\n\n{}",
            rows.iter().find_map(|r| r.peer.clone()).unwrap_or_default(),
            peers.text()
        );
    }
    let others = other_table(rows);
    if !others.is_empty() {
        let _ = writeln!(out, "\nOther suites: geometric means over the arrays\n\n{}", others.text());
    }
    let goals = super::goals::table(rows);
    if !goals.is_empty() {
        let _ = writeln!(
            out,
            "\nGoals: speed ratios in the same rounds; size against the opponent's\n\n{}",
            goals.text()
        );
        out.extend(super::goals::memory_note(rows).map(|note| format!("{note}\n\n")));
    }
    out.push_str(&notes(machine, rows));
    out
}

/// The machine in a few lines.
pub fn machine_lines(m: &Machine) -> String {
    let mut out = format!("{}\n", m.name);
    let caches: Vec<String> =
        m.caches.iter().map(|(name, c)| format!("{name} {}", size(c.bytes as usize))).collect();
    let mut facts = vec![format!("levels {}", m.levels.join(" "))];
    if !caches.is_empty() {
        facts.push(caches.join(", "));
    }
    facts.push(format!("{} CPUs", m.cpus));
    if let Some(h) = &m.hypervisor {
        facts.push(format!("under {h}"));
    }
    if let Some(mhz) = m.mhz_before {
        facts.push(format!("{mhz:.0} MHz"));
    }
    out.push_str(&paragraph(&facts.join(" · ")));
    out.push_str(&paragraph(&format!("{} · {} · commit {}", m.kernel, m.rustc, m.commit)));
    out
}

fn kernel_tables(suite: &str, rows: &[Row]) -> String {
    let of: Vec<&Row> = rows.iter().filter(|r| r.suite == suite && r.median_ns.is_some()).collect();
    let mut sizes: Vec<usize> = of.iter().filter(|r| r.engine == "copy").map(|r| r.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        return String::new();
    }
    // Items that do not divide a size leave a few bytes out: such a row belongs to the size above.
    let column = |r: &Row| sizes.iter().position(|s| r.bytes <= *s && r.bytes + 64 > *s);
    let cell = |r: &Row| format!("{}{}", if r.noisy { "~" } else { "" }, r.gbps.map_or("-".into(), speed));
    let heads: Vec<String> = sizes.iter().map(|s| size(*s)).collect();
    let mut table =
        Table::new(&[&["yardsticks"], &heads.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
    for (engine, op, name) in YARDSTICKS {
        let mut cells = vec![String::from("-"); sizes.len()];
        for r in of.iter().filter(|r| r.engine == engine && r.op == op) {
            if let Some(c) = column(r).and_then(|c| cells.get_mut(c)) {
                *c = cell(r);
            }
        }
        table.row([vec![name.to_string()], cells].concat());
    }
    let mut out = table.text();
    let mut ops: Vec<&str> = Vec::new();
    for r in of.iter().filter(|r| r.engine == "ours") {
        if !ops.contains(&r.op.as_str()) {
            ops.push(&r.op);
        }
    }
    let heads: Vec<String> = sizes.iter().flat_map(|s| [size(*s), "/copy".into()]).collect();
    for op in ops {
        let mut table =
            Table::new(&[&[op], &heads.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
        let mut lines: BTreeMap<(usize, usize), (String, Vec<String>)> = BTreeMap::new();
        for r in of.iter().filter(|r| r.op == op) {
            let order = blosc_core::Isa::ALL.iter().position(|i| i.name() == r.isa).unwrap_or(usize::MAX);
            let who = if r.isa.is_empty() { r.engine.as_str() } else { r.isa.as_str() };
            let line = lines.entry((r.typesize, order)).or_insert_with(|| {
                (format!("ts {:<2} {who}", r.typesize), vec![String::from("-"); 2 * sizes.len()])
            });
            if let Some(pair) = column(r).and_then(|c| line.1.get_mut(2 * c..2 * c + 2)) {
                pair.clone_from_slice(&[cell(r), maybe(r.vs_copy)]);
            }
        }
        for (name, cells) in lines.into_values() {
            table.row([vec![name], cells].concat());
        }
        out.push('\n');
        out.push_str(&table.text());
    }
    out
}

/// Rows of the probes: engine, operation, name in tables.
const YARDSTICKS: [(&str, &str, &str); 4] = [
    ("copy", "copy", "copy, our widest loop"),
    ("memcpy", "copy", "copy, libc's memcpy"),
    ("probe", "read", "read only"),
    ("probe", "write", "write only"),
];

/// Codec, filter and level in lines; geometric means over the arrays that are not seeded, ours only.
pub fn chunk_table(rows: &[Row]) -> Table {
    type Pair<'a> = (Vec<&'a Row>, Vec<&'a Row>);
    let mut groups: BTreeMap<(&str, &str, Option<u8>), Pair<'_>> = BTreeMap::new();
    // Seeded arrays are extremes (zeros, noise) and would drown the means; their rows are in the file.
    let seeded = |r: &Row| generate::find(&r.data).is_some();
    let ours = |r: &&Row| r.suite == "chunks" && r.engine == "ours" && r.median_ns.is_some() && !seeded(r);
    for r in rows.iter().filter(ours) {
        let pair = groups.entry((&r.codec, &r.filter, r.level)).or_default();
        if r.op == "compress" { pair.0.push(r) } else { pair.1.push(r) }
    }
    let mut table = Table::new(&["codec, filter, level", "arrays", "ratio", "comp", "decomp", "/copy"]);
    for ((codec, filter, level), (comp, decomp)) in groups {
        let mean =
            |rows: &[&Row], f: fn(&Row) -> Option<f64>| geometric_mean(rows.iter().filter_map(|r| f(r)));
        table.row(vec![
            format!("{codec:<8} {filter:<10} {}", level.map_or(String::new(), |l| l.to_string())),
            comp.len().to_string(),
            maybe(mean(&comp, |r| r.ratio)),
            mean(&comp, |r| r.gbps).map_or("-".into(), speed),
            mean(&decomp, |r| r.gbps).map_or("-".into(), speed),
            maybe(mean(&decomp, |r| r.vs_copy)),
        ]);
    }
    table
}

/// Chunks of ours against the first opponent: no mean hides the worst array.
fn peer_table(rows: &[Row]) -> Table {
    type Lists = (Vec<f64>, Vec<f64>, f64);
    let mut groups: BTreeMap<(&str, &str, Option<u8>), Lists> = BTreeMap::new();
    for r in rows.iter().filter(|r| r.suite == "chunks" && r.engine == "ours") {
        let Some(speed) = r.vs_peer else { continue };
        let (comp, decomp, size) = groups.entry((&r.codec, &r.filter, r.level)).or_default();
        if r.op == "compress" {
            comp.push(speed)
        } else {
            decomp.push(speed)
        }
        *size = size.max(r.size_vs_peer.unwrap_or(0.0));
    }
    let mut table = Table::new(&["codec, filter, level", "arrays", "comp", "decomp", "size"]);
    for ((codec, filter, level), (comp, decomp, worst_size)) in groups {
        let cell = |list: &[f64]| {
            let worst = list.iter().copied().fold(f64::INFINITY, f64::min);
            geometric_mean(list.iter().copied())
                .map_or("-".into(), |m| format!("{} ({})", figure(m), figure(worst)))
        };
        table.row(vec![
            format!("{codec:<8} {filter:<10} {}", level.map_or(String::new(), |l| l.to_string())),
            comp.len().max(decomp.len()).to_string(),
            cell(&comp),
            cell(&decomp),
            format!("{worst_size:.3}"),
        ]);
    }
    table
}

/// Everything that is neither a kernel, a chunk nor a goal: speed, or the time where that is what counts.
fn other_table(rows: &[Row]) -> Table {
    let known = ["kernels", "split", "chunks", "goals"];
    let mut groups: BTreeMap<(&str, String), Vec<&Row>> = BTreeMap::new();
    for r in rows.iter().filter(|r| !known.contains(&r.suite.as_str()) && r.median_ns.is_some()) {
        let who = if r.engine == "ours" { "" } else { r.engine.as_str() };
        let level = r.level.map_or(String::new(), |l| l.to_string());
        let threads = if r.suite == "threads" { format!("{} threads", r.threads) } else { String::new() };
        let length = if r.suite == "latency" { format!("of {}", size(r.bytes)) } else { String::new() };
        let words = [r.op.as_str(), who, &r.codec, &r.filter, &level, &threads, &length];
        let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
        groups.entry((&r.suite, words.join(" "))).or_default().push(r);
    }
    let mut table = Table::new(&["suite, case", "arrays", "time", "GB/s", "of peer"]);
    for ((suite, case), rows) in groups {
        let mean = |f: fn(&Row) -> Option<f64>| geometric_mean(rows.iter().filter_map(|r| f(r)));
        table.row(vec![
            format!("{suite} {case}"),
            rows.len().to_string(),
            mean(|r| r.median_ns).map_or("-".into(), duration),
            mean(|r| r.gbps).map_or("-".into(), speed),
            maybe(mean(|r| r.vs_peer)),
        ]);
    }
    table
}

fn notes(machine: &Machine, rows: &[Row]) -> String {
    let mut out = String::new();
    if let Some(e) = &machine.emulator {
        let _ = writeln!(out, "NOT A TIMING: the instructions run under {e}.");
    }
    if let Some(busy) = machine.busy_cpus_most.filter(|busy| *busy > TOLERATED) {
        let told = format!(
            "Other programs used up to {} CPUs: visits of that time count only where there are too few others.",
            figure(busy)
        );
        out.push_str(&paragraph(&told));
    }
    let spreads = rows.iter().filter_map(|r| r.spread).collect();
    if let Some(line) = super::cases::spread_line(spreads) {
        let visits = rows.iter().map(|r| r.visits_ns.len()).max().unwrap_or(0);
        out.push_str(&paragraph(&format!(
            "{} ({visits} visits each; another run should lie within)",
            line.trim()
        )));
    }
    let noisy = rows.iter().filter(|r| r.noisy).count();
    let timed = rows.iter().filter(|r| r.median_ns.is_some()).count();
    if noisy > 0 {
        let told = format!("{noisy} of {timed} rows are noisy (~): their spread is above 10 %.");
        out.push_str(&paragraph(&told));
    }
    let mut absent: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for r in rows {
        if let Some(why) = &r.left_out {
            *absent.entry((&r.engine, &r.op, why)).or_default() += 1;
        }
    }
    for ((engine, op, why), count) in absent {
        out.push_str(&paragraph(&format!("Left out: {engine}, {op}, {count} cases: {why}")));
    }
    for r in rows.iter().filter(|r| r.refused.is_some()).take(20) {
        let why = r.refused.as_deref().unwrap_or_default();
        out.push_str(&paragraph(&format!("REFUSED {}: {why}", r.label())));
    }
    let refused = rows.iter().filter(|r| r.refused.is_some()).count();
    if refused > 0 {
        let _ = writeln!(out, "{refused} cases gave wrong output and were not timed.");
    }
    out
}
