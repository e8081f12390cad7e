//! Chunks: what to choose, speed against ratio, and single streams.

use super::parts::{html_table, section, timed};
use crate::data::{corpus, generate};
use crate::report::cases::distinct;
use crate::report::mean::{COPY, Mean, RATIO, SPEED, percent};
use crate::report::svg::{Chart, Point, Series, escape};
use crate::report::table::{figure, speed, speed_unit};
use crate::result::Row;
use crate::result::file::Results;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One way to write an array, with what it takes to write and to read.
struct Way<'a> {
    write: &'a Row,
    read: &'a Row,
}

impl Way<'_> {
    /// GB/s of both directions, one after the other.
    fn speed(&self) -> f64 {
        let both = |r: &Row| 1.0 / r.gbps.unwrap_or(f64::MIN_POSITIVE);
        1.0 / (both(self.write) + both(self.read))
    }

    fn ratio(&self) -> f64 {
        self.write.ratio.unwrap_or(1.0)
    }

    /// Nanoseconds a byte takes to be compressed, go to a disk of 1 GB/s and back, and be decompressed.
    fn through_disk(&self) -> f64 {
        1.0 / self.speed() + 2.0 / self.ratio()
    }

    fn cell(&self) -> String {
        let (w, r) = (self.write, self.read);
        let fast = |r: &Row| {
            let spread = r.spread.map_or(String::new(), |s| format!(" ±{} %", percent(s)));
            format!("{}{}{spread}", if r.noisy { "~" } else { "" }, r.gbps.map_or("-".into(), speed))
        };
        format!(
            "<b>{} {} {}</b><br>{} x · {} · {}",
            escape(&w.codec),
            escape(&w.filter),
            w.level.unwrap_or(0),
            figure(self.ratio()),
            fast(w),
            fast(r)
        )
    }
}

/// Per kind of data: the fastest way, the smallest, and one between.
pub fn choice(file: &Results) -> String {
    let best = file.machine.best_level();
    let arrays: Vec<&str> = distinct(timed(file, "chunks").map(|r| r.data.as_str()));
    let what = |name: &str| {
        let real = corpus::REAL.iter().find(|r| r.name == name).map(|r| (r.what, r.dtype));
        real.or_else(|| generate::find(name).map(|s| (s.what, s.dtype)))
    };
    let mut rows = Vec::new();
    for array in arrays {
        let ours = |r: &&Row| r.data == array && r.engine == "ours" && r.isa == best;
        let writes = timed(file, "chunks").filter(ours).filter(|r| r.op == "compress");
        let ways: Vec<Way<'_>> = writes
            .filter_map(|write| {
                let twin = |r: &&Row| {
                    r.op == "decompress"
                        && (&r.codec, &r.filter, r.level) == (&write.codec, &write.filter, write.level)
                };
                let read = timed(file, "chunks").filter(ours).find(twin)?;
                Some(Way { write, read })
            })
            .collect();
        let least = |of: &dyn Fn(&Way<'_>) -> f64| ways.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
        // What does not shrink is a copy, and no answer.
        let fastest = least(&|w| if w.ratio() > 1.1 { -w.speed() } else { 0.0 });
        let picks = [fastest, least(&|w| w.through_disk()), least(&|w| -w.ratio())];
        let Some((about, dtype)) = what(array) else { continue };
        let mut cells = vec![format!("<b>{}</b> {dtype}<br>{}", escape(array), escape(about))];
        cells.extend(picks.map(|way| way.map_or("-".into(), Way::cell)));
        rows.push(cells);
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = ["data", "for speed", "balanced", "for size"].map(String::from);
    section(
        "chunks",
        "What to choose",
        "Codec, filter and level; below them ratio, GB/s to compress and GB/s to decompress (M: MB/s), one thread. For speed: \
         the fastest round trip that shrinks by a tenth. Balanced: the least time to compress, go to a disk of 1 GB/s \
         and back, and decompress. For your own data: <code>blosc advise FILE</code>.",
        &format!("<div class=\"choice\">{}</div>", html_table(&head, &rows)),
    )
}

/// Short names of filters, for marks that stand alone.
fn short(filter: &str) -> &str {
    match filter {
        "bitshuffle" => "bit",
        "shuffle+bytedelta" => "+delta",
        other => other,
    }
}

/// Ratio against speed, one chart for each direction; a point is a codec, filter and level. Opponents are squares.
pub fn fronts(file: &Results) -> String {
    let seeded = |r: &Row| generate::find(&r.data).is_some();
    let best = file.machine.best_level();
    let shown = |r: &&Row| !seeded(r) && (r.isa.is_empty() || r.isa == best);
    let mut body = String::new();
    for (op, title) in [("compress", "Compression"), ("decompress", "Decompression")] {
        let rows: Vec<&Row> = timed(file, "chunks").filter(shown).filter(|r| r.op == op).collect();
        let mut groups: BTreeMap<(&str, &str, &str, u8), Vec<&Row>> = BTreeMap::new();
        for r in &rows {
            let key = (r.codec.as_str(), r.engine.as_str(), r.filter.as_str(), r.level.unwrap_or(0));
            groups.entry(key).or_default().push(r);
        }
        let series = series(groups);
        if series.is_empty() {
            continue;
        }
        let memcpy = Mean::of(&rows, COPY).map(|m| ("fastest copy".to_string(), m.value));
        let (x, y, x_ticks) = ("compression ratio", "GB/s", Vec::new());
        // Compression is so far below a copy that a line there would flatten all else.
        let yardsticks = memcpy.into_iter().filter(|_| op == "decompress").collect();
        let chart = Chart { title, x, y, log_x: true, log_y: true, x_ticks, series, yardsticks };
        let _ = write!(body, "<figure><figcaption>{title}</figcaption>{}</figure>", chart.svg());
    }
    if body.is_empty() {
        return String::new();
    }
    let mut opponents: Vec<&str> = distinct(timed(file, "chunks").map(|r| r.engine.as_str()));
    opponents.retain(|e| *e != "ours");
    opponents.sort_unstable();
    let squares = match opponents.is_empty() {
        true => String::new(),
        false => format!(" Discs are this library, squares {}.", escape(&opponents.join(", "))),
    };
    let lead = format!(
        "Geometric means over the real arrays, one thread; up and to the right is better. A line joins the levels of \
         one filter; other filters (none, bitshuffle, shuffle and byte differences) are marked by name. Bars are \
         spreads.{squares}"
    );
    section("chunks", "Which codec, which filter", &lead, &format!("<div class=\"pair\">{body}</div>"))
}

/// A series for each codec, engine and filter, coloured by codec.
fn series(groups: BTreeMap<(&str, &str, &str, u8), Vec<&Row>>) -> Vec<Series> {
    let mut series: Vec<(&str, &str, Series)> = Vec::new();
    let codecs: Vec<&str> = distinct(groups.keys().map(|key| key.0));
    for ((codec, engine, filter, level), rows) in groups {
        let (Some(ratio), Some(fast)) = (Mean::of(&rows, RATIO), Mean::of(&rows, SPEED)) else {
            continue;
        };
        let title = format!(
            "{engine} {codec} {filter} level {level}: {} x, {}{} over {} arrays",
            figure(ratio.value),
            speed_unit(fast.value),
            fast.around(),
            rows.len()
        );
        let point = Point {
            x: ratio.value,
            y: fast.value,
            label: level.to_string(),
            title,
            spread: fast.spread,
            noisy: fast.noisy(),
        };
        let colour = codecs.iter().position(|c| *c == codec).unwrap_or(0);
        match series.iter_mut().find(|(e, f, s)| (*e, *f, s.colour) == (engine, filter, colour)) {
            Some((.., s)) => s.points.push(point),
            None => {
                let square = engine != "ours";
                let (name, points) = (codec.to_string(), vec![point]);
                series.push((
                    engine,
                    filter,
                    Series { name, points, line: true, dashed: square, square, colour },
                ));
            }
        }
    }
    for (_, filter, s) in &mut series {
        if let [alone] = s.points.as_mut_slice() {
            alone.label = short(filter).to_string();
        }
    }
    series.into_iter().map(|(.., s)| s).collect()
}
