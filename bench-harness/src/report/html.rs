//! One self-contained HTML page about one or more results files: no script, no font, no network.

use super::svg::{Bars, Cell, Chart, HeatMap, Point, Series, escape};
use super::table::{figure, maybe, size};
use crate::data::generate;
use crate::machine::load::TOLERATED;
use crate::measure::stats::geometric_mean;
use crate::result::Row;
use crate::result::file::Results;
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = include_str!("report.css");

/// The page. The first file is described in full; all are compared at the end.
pub fn page(files: &[Results]) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>Blosc barometer</title>\n<style>\n",
    );
    out.push_str(STYLE);
    out.push_str("</style></head><body><main>\n");
    if let Some(first) = files.first() {
        out.push_str(&head(first));
        let sections =
            [kernels(first), levels(first), fronts(first), threads(first), goals(first), machines(files)];
        sections.iter().for_each(|s| out.push_str(s));
        out.push_str(&foot(first));
    }
    out.push_str("</main></body></html>\n");
    out
}

fn section(title: &str, lead: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<section><h2>{title}</h2><p class=\"lead\">{lead}</p>\n{body}</section>\n")
}

fn head(file: &Results) -> String {
    let m = &file.machine;
    let mut out =
        format!("<header><p class=\"kicker\">Blosc barometer</p><h1>{}</h1>\n<dl>", escape(&m.name));
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
        }
    };
    fact("kernel levels", m.levels.join(", "));
    let caches: Vec<String> =
        m.caches.iter().map(|(n, c)| format!("{n} {}", size(c.bytes as usize))).collect();
    fact("caches", caches.join(", "));
    fact("CPUs", m.cpus.to_string());
    fact("hypervisor", m.hypervisor.clone().unwrap_or_default());
    fact("system", m.kernel.clone());
    fact("compiler", m.rustc.split(" (").next().unwrap_or_default().to_string());
    fact("commit", m.commit.clone());
    fact("command", file.command.trim().to_string());
    out.push_str("</dl>\n");
    if let Some(e) = &m.emulator {
        let _ =
            writeln!(out, "<p class=\"warning\">Not a timing: the instructions ran under {}.</p>", escape(e));
    }
    if m.was_loaded() || m.busy_cpus_most.is_some_and(|busy| busy > TOLERATED) {
        out.push_str(
            "<p class=\"warning\">Other programs were running: figures of that time are marked noisy.</p>\n",
        );
    }
    let noisy = file.rows.iter().filter(|r| r.noisy).count();
    let refused = file.rows.iter().filter(|r| r.refused.is_some()).count();
    let spreads = file.rows.iter().filter_map(|r| r.spread).collect();
    let spread =
        super::compare::spread_line(spreads).map_or(String::new(), |line| format!("{}.", line.trim()));
    let _ = writeln!(
        out,
        "<p>{} rows; {noisy} noisy, {refused} refused because their output was wrong. {spread} Every result was verified \
         before it was timed; ratios compare neighbours in the same rounds.</p></header>",
        file.rows.len()
    );
    out
}

fn timed<'a>(file: &'a Results, suite: &'a str) -> impl Iterator<Item = &'a Row> {
    file.rows.iter().filter(move |r| r.suite == suite && r.median_ns.is_some())
}

/// The nominal size of a row: items that do not divide it leave a few bytes out.
fn nominal(row: &Row, sizes: &[usize]) -> Option<usize> {
    sizes.iter().copied().find(|s| row.bytes <= *s && row.bytes + 64 > *s)
}

fn sizes_of(file: &Results, suite: &str) -> Vec<usize> {
    let mut sizes: Vec<usize> = timed(file, suite).filter(|r| r.engine == "copy").map(|r| r.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Operation by operation: levels down, item sizes across, shaded by the fraction of a copy.
fn kernels(file: &Results) -> String {
    let sizes = sizes_of(file, "kernels");
    let Some(shown) = sizes.get(1).or(sizes.first()).copied() else { return String::new() };
    let mut ops: Vec<&str> = Vec::new();
    let mut typesizes: Vec<usize> = Vec::new();
    for r in timed(file, "kernels").filter(|r| r.engine == "ours") {
        if !ops.contains(&r.op.as_str()) {
            ops.push(&r.op);
        }
        typesizes.push(r.typesize);
    }
    typesizes.sort_unstable();
    typesizes.dedup();
    let mut body = String::from("<div class=\"pair\">");
    for op in ops {
        let mut rows: BTreeMap<usize, (String, Vec<Cell>)> = BTreeMap::new();
        for r in timed(file, "kernels").filter(|r| r.op == op && nominal(r, &sizes) == Some(shown)) {
            let order = blosc_core::Isa::ALL.iter().position(|i| i.name() == r.isa).unwrap_or(usize::MAX);
            let name = if r.isa.is_empty() { r.engine.clone() } else { r.isa.clone() };
            let line = rows.entry(order).or_insert_with(|| (name, vec![None; typesizes.len()]));
            let column = typesizes.iter().position(|t| *t == r.typesize);
            if let Some(place) = column.and_then(|c| line.1.get_mut(c)) {
                let part = r.vs_copy.unwrap_or(0.0);
                let spread = r.spread.map_or(String::new(), |s| format!(" ± {} %", figure(100.0 * s)));
                let told =
                    format!("{}: {} GB/s{spread}, {} of a copy", r.label(), maybe(r.gbps), figure(part));
                *place = Some((maybe(r.gbps), part, told));
            }
        }
        let columns = typesizes.iter().map(|t| format!("{t} B")).collect();
        let map = HeatMap {
            title: format!("{op} by level and item size"),
            columns,
            rows: rows.into_values().collect(),
        };
        let _ = write!(body, "<figure><figcaption>{op}, {}</figcaption>{}</figure>", size(shown), map.svg());
    }
    body.push_str("</div>");
    section(
        "Kernels",
        "GB/s for each instruction set and item size; the stronger the shade, the nearer to a plain copy.",
        &body,
    )
}

/// Speed against the size of the buffer, best level, with copy and read as ceilings.
fn levels(file: &Results) -> String {
    let sizes = sizes_of(file, "kernels");
    if sizes.len() < 2 {
        return String::new();
    }
    let best = file.machine.levels.last().cloned().unwrap_or_default();
    let mut series = Vec::new();
    let mut add = |name: &str, dashed: bool, fits: &dyn Fn(&Row) -> bool| {
        let mut points: Vec<Point> = timed(file, "kernels")
            .filter(|r| fits(r))
            .filter_map(|r| {
                let (x, y) = (nominal(r, &sizes)? as f64, r.gbps?);
                Some(Point {
                    x,
                    y,
                    label: String::new(),
                    title: format!("{name}, {}: {} GB/s", size(x as usize), figure(y)),
                })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points.dedup_by(|a, b| a.x == b.x);
        if !points.is_empty() {
            let colour = series.len();
            series.push(Series { name: name.into(), points, line: true, dashed, colour });
        }
    };
    for (op, typesize) in [("shuffle", 4), ("unshuffle", 8), ("bitshuffle", 4), ("bitunshuffle", 4)] {
        add(&format!("{op} {typesize} B"), false, &|r| r.op == op && r.typesize == typesize && r.isa == best);
    }
    add("our widest copy", true, &|r| r.engine == "copy");
    add("memcpy", true, &|r| r.engine == "memcpy");
    add("read only", true, &|r| r.op == "read");
    let chart = Chart {
        title: "speed by buffer size",
        x: "bytes in the buffer",
        y: "GB/s",
        log_x: true,
        log_y: true,
        x_ticks: sizes.iter().map(|s| (*s as f64, size(*s))).collect(),
        series,
    };
    let lead = "The same kernels from the first-level cache to main memory, at the best level.";
    section("Memory levels", lead, &format!("<figure>{}</figure>", chart.svg()))
}

/// Ratio against speed, one chart for each direction; a point is a codec, filter and level.
fn fronts(file: &Results) -> String {
    let seeded = |r: &Row| generate::find(&r.data).is_some();
    let ours: Vec<&Row> = timed(file, "chunks").filter(|r| r.engine == "ours" && !seeded(r)).collect();
    let mut body = String::new();
    for (op, title) in [("compress", "Compression"), ("decompress", "Decompression")] {
        let mut groups: BTreeMap<(&str, &str, u8), Vec<&Row>> = BTreeMap::new();
        for r in ours.iter().filter(|r| r.op == op && r.filter != "none") {
            groups.entry((&r.codec, &r.filter, r.level.unwrap_or(0))).or_default().push(r);
        }
        let mut series: Vec<Series> = Vec::new();
        let mut codecs: Vec<&str> = Vec::new();
        for ((codec, filter, level), rows) in groups {
            let mean = |f: fn(&Row) -> Option<f64>| geometric_mean(rows.iter().filter_map(|r| f(r)));
            let (Some(x), Some(y)) = (mean(|r| r.ratio), mean(|r| r.gbps)) else { continue };
            let title = format!(
                "{codec} {filter} level {level}: {} x, {} GB/s over {} arrays",
                figure(x),
                figure(y),
                rows.len()
            );
            if !codecs.contains(&codec) {
                codecs.push(codec);
            }
            let colour = codecs.iter().position(|c| *c == codec).unwrap_or(0);
            let dashed = filter == "bitshuffle";
            let point = |label: String| Point { x, y, label, title };
            match series.iter_mut().find(|s| s.colour == colour && s.dashed == dashed) {
                Some(s) => s.points.push(point(String::new())),
                None => {
                    let points = vec![point(level.to_string())];
                    series.push(Series { name: codec.into(), points, line: true, dashed, colour });
                }
            }
        }
        if series.is_empty() {
            continue;
        }
        let (x, y, x_ticks) = ("compression ratio", "GB/s", Vec::new());
        let chart = Chart { title, x, y, log_x: true, log_y: true, x_ticks, series };
        let _ = write!(body, "<figure><figcaption>{title}</figcaption>{}</figure>", chart.svg());
    }
    if !body.is_empty() {
        body = format!("<div class=\"pair\">{body}</div>");
    }
    let lead = "Geometric means over the real arrays, one thread; up and to the right is better. \
                A line joins the levels, from the one it is marked with; solid with shuffle, dashed with bitshuffle.";
    section("Speed against ratio", lead, &body)
}

fn threads(file: &Results) -> String {
    let mut groups: BTreeMap<(String, usize), Vec<f64>> = BTreeMap::new();
    for r in timed(file, "threads") {
        let one = timed(file, "threads").find(|o| {
            o.threads == 1
                && (&o.op, &o.codec, &o.filter, &o.data, o.bytes)
                    == (&r.op, &r.codec, &r.filter, &r.data, r.bytes)
        });
        if let Some(speedup) = one.and_then(|o| o.median_ns).zip(r.median_ns).map(|(o, n)| o / n) {
            groups.entry((format!("{} {}", r.op, r.codec), r.threads)).or_default().push(speedup);
        }
    }
    let mut series: Vec<Series> = Vec::new();
    for ((name, threads), list) in groups {
        let Some(y) = geometric_mean(list.iter().copied()) else { continue };
        let title = format!("{name}, {threads} threads: {} times one", figure(y));
        let point = Point { x: threads as f64, y, label: String::new(), title };
        match series.iter_mut().find(|s| s.name == name) {
            Some(s) => s.points.push(point),
            None => {
                let colour = series.len();
                series.push(Series { name, points: vec![point], line: true, dashed: false, colour });
            }
        }
    }
    if series.is_empty() {
        return String::new();
    }
    let mut counts: Vec<usize> = timed(file, "threads").map(|r| r.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    let ideal =
        |n: &usize| Point { x: *n as f64, y: *n as f64, label: String::new(), title: format!("{n} times") };
    let (colour, points) = (series.len(), counts.iter().map(ideal).collect());
    series.push(Series { name: "ideal".into(), points, line: true, dashed: true, colour });
    let chart = Chart {
        title: "thread scaling",
        x: "threads",
        y: "times one thread",
        log_x: false,
        log_y: false,
        x_ticks: counts.iter().map(|c| (*c as f64, c.to_string())).collect(),
        series,
    };
    section(
        "Threads",
        "Chunks of 64 MiB; geometric means over arrays and filters.",
        &format!("<figure>{}</figure>", chart.svg()),
    )
}

fn goals(file: &Results) -> String {
    let table = crate::suite::goals::table(&file.rows);
    if table.is_empty() {
        return String::new();
    }
    let note = crate::suite::goals::memory_note(&file.rows).map_or(String::new(), |n| format!("<p>{n}</p>"));
    let body = html_table(&table.cells()) + &note;
    section("Goals", "Speed ratios in the same rounds; the worst case decides.", &body)
}

fn html_table((head, rows): &(Vec<String>, Vec<Vec<String>>)) -> String {
    let mut out = String::from("<div class=\"scroll\"><table><thead><tr>");
    head.iter().for_each(|h| {
        let _ = write!(out, "<th>{}</th>", escape(h));
    });
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        row.iter().for_each(|c| {
            let _ = write!(out, "<td>{}</td>", escape(c));
        });
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>");
    out
}

/// A case that machines are compared by: what it is called, and its speed and spread in a file.
type Measure = (String, Box<dyn Fn(&Results) -> Option<(f64, Option<f64>)>>);

/// The best level of the main kernels at 256 KiB, and chunks at level 5 (means over the arrays).
fn measures() -> Vec<Measure> {
    let mut all: Vec<Measure> = Vec::new();
    for op in ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"] {
        for typesize in [4, 8] {
            let speed = move |f: &Results| {
                let best = f.machine.levels.last().cloned().unwrap_or_default();
                let fits =
                    |r: &&Row| r.op == op && r.typesize == typesize && r.isa == best && r.bytes == 256 << 10;
                timed(f, "kernels").find(fits).and_then(|r| Some((r.gbps?, r.spread)))
            };
            all.push((format!("{op}, {typesize} bytes, 256K"), Box::new(speed)));
        }
    }
    for codec in ["blosclz", "lz4", "zlib", "zstd"] {
        for op in ["compress", "decompress"] {
            let speed = move |f: &Results| {
                let fits = |r: &&Row| {
                    (r.op.as_str(), r.codec.as_str(), r.filter.as_str()) == (op, codec, "shuffle")
                        && (r.level, r.engine.as_str()) == (Some(5), "ours")
                };
                let mean = geometric_mean(timed(f, "chunks").filter(fits).filter_map(|r| r.gbps));
                mean.map(|speed| (speed, None))
            };
            all.push((format!("{op}, {codec} shuffle 5"), Box::new(speed)));
        }
    }
    all
}

/// All files side by side, a bar for each.
fn machines(files: &[Results]) -> String {
    if files.len() < 2 {
        return String::new();
    }
    let letter = |index: usize| char::from(b'A' + u8::try_from(index % 26).unwrap_or(0)).to_string();
    let mut body = String::from("<ul class=\"who\">");
    for (index, file) in files.iter().enumerate() {
        let about = [&file.machine.name, &format!("commit {}", file.machine.commit), &date(file.started)];
        let about = about.map(|text| escape(text)).join(", ");
        let (colour, who) = (index % 8, letter(index));
        let _ = writeln!(body, "<li><i class=\"b{colour}\"></i><b>{who}</b> {about}</li>");
    }
    body.push_str("</ul><div class=\"small\">\n");
    for (title, speed) in measures() {
        let bar = |(index, file): (usize, &Results)| {
            let (value, spread) = speed(file)?;
            let spread = spread.map_or(String::new(), |s| format!(" ± {} %", figure(100.0 * s)));
            let told = format!("{}: {} GB/s{spread}", file.machine.name, figure(value));
            Some((letter(index), value, figure(value), told, index))
        };
        let bars: Vec<_> = files.iter().enumerate().filter_map(bar).collect();
        if !bars.is_empty() {
            let bars = Bars { title: title.clone(), bars };
            let _ = write!(body, "<figure><figcaption>{title}</figcaption>{}</figure>", bars.svg());
        }
    }
    body.push_str("</div>");
    let lead = "GB/s of the best level of each; chunks are geometric means over all arrays.";
    section("Machines side by side", lead, &body)
}

fn foot(file: &Results) -> String {
    format!(
        "<footer>Schema {}, measured on {}. Medians of interleaved rounds on one pinned core; only ratios \
         taken in one run are worth quoting.</footer>\n",
        crate::result::SCHEMA,
        date(file.started)
    )
}

/// The day of a time in seconds since 1970, as `2026-11-21` (Gregorian, UTC).
fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year}-{month:02}-{:02}", of_year - (153 * march_month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn days_are_counted() {
        assert_eq!((date(0).as_str(), date(951_782_400).as_str()), ("1970-01-01", "2000-02-29"));
    }

    #[test]
    fn names_are_escaped_and_the_page_needs_nothing_else() {
        let machine = Machine { name: "<script>\"&".into(), ..Machine::default() };
        let file = Results {
            path: "x".into(),
            machine,
            command: "a < b".into(),
            started: 0,
            rows: Vec::new(),
            complete: true,
        };
        let page = page(&[file.clone(), file]);
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;&quot;&amp;"));
        assert!(!page.contains("http:") && !page.contains("https:"));
    }
}
