//! What a run prints when it is done: the machine, each suite, what was refused, and in three lines what it comes to.

use super::cases::{distinct, spread_line};
use super::mean::{Mean, Quantity, RATIO, SPEED, VS_COPY, VS_PEER, percent};
use super::sections::{self, Draw, Grid, figures, text};
use super::table::{Table, figure, paragraph, size, speed};
use crate::data::generate;
use crate::machine::Machine;
use crate::machine::load::TOLERATED;
use crate::measure::stats::Summary;
use crate::result::Row;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The whole summary but for the [`verdict`].
pub fn summary(machine: &Machine, rows: &[Row]) -> String {
    let mut out = machine_lines(machine);
    let best = machine.best_level();
    for section in sections::of(rows) {
        let tables: Vec<Table> = match section.draw {
            Draw::Chunks => vec![chunk_table(rows)],
            Draw::Goals => vec![super::goals::table(rows)],
            draw => {
                let figures = figures(&section, rows, best);
                let heat = draw == Draw::Heat;
                let roomy = |grid: &Grid<'_>| !heat && grid.columns.len() <= 3;
                figures.iter().map(|(name, grid)| text(name, grid, heat, roomy(grid))).collect()
            }
        };
        let told = match section.draw {
            Draw::Chunks => CHUNKS.to_string(),
            Draw::Goals => super::goals::memory_note(rows).unwrap_or_default(),
            Draw::Heat => format!("{}: GB/s, and the fraction of a copy of the same size", section.title),
            _ => format!("{}. {}", section.title, section.lead),
        };
        for (index, table) in tables.iter().filter(|table| !table.is_empty()).enumerate() {
            let told = if index == 0 { paragraph(&told) + "\n" } else { String::new() };
            let _ = write!(out, "\n{told}{}", table.text());
        }
    }
    out + "\n" + &notes(machine, rows)
}

/// What stands above the table of chunks.
const CHUNKS: &str = "Chunks: geometric means over the real arrays; GB/s of uncompressed bytes (82M: 82 MB/s), and decompression as \
                      a fraction of a copy. Each array is met again and again.";

/// What a run comes to, in three lines: the fastest level, the speed against the opponent and a copy, and how sure that is.
pub fn verdict(machine: &Machine, rows: &[Row]) -> String {
    let timed = || rows.iter().filter(|r| r.quartile_ns.is_some() && r.engine == "ours");
    let mut out =
        fastest_level(&timed().filter(|r| r.suite == "kernels").collect::<Vec<_>>()).unwrap_or_default();
    let best = machine.best_level();
    let kernels: Vec<&Row> = timed().filter(|r| r.suite == "kernels" && r.isa == best).collect();
    let chunks: Vec<&Row> = timed().filter(|r| r.suite == "chunks").collect();
    let copy = Mean::of(&kernels, VS_COPY).map(|m| format!("kernels {} of a copy", m.whole()));
    let peer = chunks.iter().find_map(|r| r.peer.as_ref());
    let against =
        peer.and_then(|peer| Some(format!("chunks {} times {peer}", Mean::of(&chunks, VS_PEER)?.whole())));
    let none = "no opponent: pip install blosc2".to_string();
    let told = [copy, against.or_else(|| (!chunks.is_empty()).then_some(none))];
    let told: Vec<String> = told.into_iter().flatten().collect();
    if !told.is_empty() {
        let _ = writeln!(out, "Speed: {}", told.join("; "));
    }
    let ratios = timed().flat_map(|r| [r.vs_copy_spread, r.vs_peer_spread]).flatten().collect::<Vec<_>>();
    let state = match (&machine.emulator, machine.busy_cpus_most) {
        (Some(_), _) => "emulated, not a timing".to_string(),
        (_, Some(busy)) if busy > TOLERATED => format!("others used {} CPUs", figure(busy)),
        _ => "nothing else ran".to_string(),
    };
    if let Some(s) = Summary::of(&ratios) {
        let (half, most) = (percent(s.median), percent(s.p90));
        let _ = writeln!(out, "How sure: ratios ±{half} % (half), ±{most} % (nine of ten); {state}");
    }
    out
}

/// The level that is fastest in the mean over the kernels that it has in common with the level after it.
fn fastest_level(kernels: &[&Row]) -> Option<String> {
    let levels: Vec<&str> = distinct(kernels.iter().map(|r| r.isa.as_str()));
    let case = |r: &Row| (r.op.clone(), r.typesize, r.bytes);
    // The first of two levels against the second, over the cases that both have.
    let against = |a: &str, b: &str| {
        let of = |level: &str, other: &str| -> Vec<&Row> {
            let has = |r: &&&Row| kernels.iter().any(|o| o.isa == other && case(o) == case(r));
            kernels.iter().filter(|r| r.isa == level).filter(has).copied().collect()
        };
        let (mine, theirs) = (of(a, b), of(b, a));
        Some(Mean::of(&mine, SPEED)?.over(&Mean::of(&theirs, SPEED)?))
    };
    let beats =
        |a: &&str, b: &&str| against(a, b).map_or(std::cmp::Ordering::Equal, |m| m.value.total_cmp(&1.0));
    let first = levels.iter().copied().max_by(beats)?;
    let second = levels.iter().copied().filter(|l| *l != first).max_by(beats)?;
    let scalar = against(first, "scalar").filter(|_| second != "scalar");
    let scalar = scalar.map_or(String::new(), |m| format!(", {} times scalar", figure(m.value)));
    Some(format!("Fastest level: {first}, {} times {second}{scalar}\n", against(first, second)?.whole()))
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

/// Codec, filter and level in lines; geometric means over the arrays that are not seeded, ours only; with the speed against
/// the opponent where there is one.
pub fn chunk_table(rows: &[Row]) -> Table {
    type Pair<'a> = (Vec<&'a Row>, Vec<&'a Row>);
    let mut groups: BTreeMap<(&str, &str, Option<u8>), Pair<'_>> = BTreeMap::new();
    // Seeded arrays are extremes (zeros, noise) and would drown the means; their rows are in the file.
    let seeded = |r: &Row| generate::find(&r.data).is_some();
    let ours = |r: &&Row| r.suite == "chunks" && r.engine == "ours" && r.quartile_ns.is_some() && !seeded(r);
    for r in rows.iter().filter(ours) {
        let pair = groups.entry((&r.codec, &r.filter, r.level)).or_default();
        if r.op == "compress" { pair.0.push(r) } else { pair.1.push(r) }
    }
    let peer = rows.iter().filter(ours).find_map(|r| r.peer.clone());
    let mut head = vec!["codec, filter, level", "ratio", "comp", "decomp", "/copy"];
    let against = peer.map(|peer| [format!("comp/{peer}"), "decomp/".to_string()]);
    head.extend(against.iter().flatten().map(String::as_str));
    let mut table = Table::new(&head);
    for ((codec, filter, level), (comp, decomp)) in groups {
        let mean = |rows: &[&Row], of: Quantity, text: fn(f64) -> String| {
            Mean::of(rows, of).map_or("-".into(), |m| m.text(text))
        };
        let mut line = vec![
            format!("{codec:<8} {filter:<10} {}", level.map_or(String::new(), |l| l.to_string())),
            mean(&comp, RATIO, figure),
            mean(&comp, SPEED, speed),
            mean(&decomp, SPEED, speed),
            mean(&decomp, VS_COPY, figure),
        ];
        let whole = |rows: &[&Row]| Mean::of(rows, VS_PEER).map_or("-".into(), |m| m.whole());
        line.extend(against.iter().flat_map(|_| [whole(&comp), whole(&decomp)]));
        table.row(line);
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
    if let Some(line) = spread_line(rows) {
        let visits = rows.iter().map(|r| r.visits_ns.len()).max().unwrap_or(0);
        out.push_str(&paragraph(&format!("{line}; {visits} visits each, another run should lie within")));
    }
    let against = |r: &&Row| r.engine == "ours" && r.peer.as_deref() != Some("ours");
    let sizes = rows.iter().filter(against).filter_map(|r| Some((r.size_vs_peer?, r)));
    if let Some((most, r)) = sizes.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let text = format!("Largest output against the opponent's: {most:.3} ({})", r.label());
        out.push_str(&paragraph(&text));
    }
    let noisy = rows.iter().filter(|r| r.noisy).count();
    let timed = rows.iter().filter(|r| r.quartile_ns.is_some()).count();
    if noisy > 0 {
        let told = format!(
            "{noisy} of {timed} rows are noisy: the spread of their time is above 10 %. A figure with ~ has such a spread itself."
        );
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
