//! Kernels: every level, and the best one from cache to memory.

use super::parts::{section, timed};
use crate::report::grids::{Cell, HeatMap, percent};
use crate::report::svg::{Chart, Point, Series};
use crate::report::table::{figure, size, speed, speed_unit};
use crate::result::Row;
use crate::result::file::Results;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The nominal size of a row: items that do not divide it leave a few bytes out.
fn nominal(row: &Row, sizes: &[usize]) -> Option<usize> {
    sizes.iter().copied().find(|s| row.bytes <= *s && row.bytes + 64 > *s)
}

fn sizes_of(file: &Results) -> Vec<usize> {
    let mut sizes: Vec<usize> =
        timed(file, "kernels").filter(|r| r.engine == "copy").map(|r| r.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn cell(r: &Row) -> Cell {
    let part = r.vs_copy.unwrap_or(0.0);
    let spread = r.spread.map_or(String::new(), |s| format!(" ± {} %", percent(s)));
    let fast = r.gbps.map_or(String::new(), speed_unit);
    let told = format!("{}: {fast}{spread}, {} of a copy", r.label(), figure(part));
    let text = r.gbps.map_or("-".into(), speed);
    Cell { text, spread: r.spread, shade: part, told, noisy: r.noisy }
}

/// Operation by operation: levels down, item sizes across, shaded by the fraction of a copy.
pub fn levels(file: &Results) -> String {
    let sizes = sizes_of(file);
    let Some(shown) = sizes.get(1).or(sizes.first()).copied() else { return String::new() };
    let shown_rows = || timed(file, "kernels").filter(|r| nominal(r, &sizes) == Some(shown));
    let mut ops: Vec<&str> = Vec::new();
    for r in shown_rows().filter(|r| r.engine == "ours") {
        if !ops.contains(&r.op.as_str()) {
            ops.push(&r.op);
        }
    }
    let mut body = String::from("<div class=\"pair\">");
    for op in ops {
        let mut typesizes: Vec<usize> = shown_rows().filter(|r| r.op == op).map(|r| r.typesize).collect();
        typesizes.sort_unstable();
        typesizes.dedup();
        let mut rows: BTreeMap<usize, (String, Vec<Option<Cell>>)> = BTreeMap::new();
        for r in shown_rows().filter(|r| r.op == op) {
            let order = blosc_core::Isa::ALL.iter().position(|i| i.name() == r.isa).unwrap_or(usize::MAX);
            let name = if r.isa.is_empty() { r.engine.clone() } else { r.isa.clone() };
            let line = rows
                .entry(order)
                .or_insert_with(|| (name, typesizes.iter().map(|_| None).collect::<Vec<_>>()));
            let column = typesizes.iter().position(|t| *t == r.typesize);
            if let Some(place) = column.and_then(|c| line.1.get_mut(c)) {
                *place = Some(cell(r));
            }
        }
        let columns = typesizes.iter().map(|t| format!("{t} B")).collect();
        let rows = rows.into_values().collect();
        let map = HeatMap { title: format!("{op} by level and item size"), columns, rows };
        let _ = write!(body, "<figure><figcaption>{op}, {}</figcaption>{}</figure>", size(shown), map.svg());
    }
    body.push_str("</div>");
    section(
        "Which SIMD level",
        "GB/s for each instruction set and item size; the stronger the shade, the nearer to a plain copy.",
        &body,
    )
}

/// Speed against the size of the buffer, best level, with copies and reads as ceilings.
pub fn sizes(file: &Results) -> String {
    let sizes = sizes_of(file);
    if sizes.len() < 2 {
        return String::new();
    }
    let best = file.machine.levels.last().cloned().unwrap_or_default();
    let mut series = Vec::new();
    let mut add = |name: &str, dashed: bool, fits: &dyn Fn(&Row) -> bool| {
        let point = |r: &Row| {
            let (x, y) = (nominal(r, &sizes)? as f64, r.gbps?);
            let spread = r.spread.map_or(String::new(), |s| format!(" ± {} %", percent(s)));
            let title = format!("{name}, {}: {}{spread}", size(x as usize), speed_unit(y));
            Some(Point { x, y, label: String::new(), title, spread: r.spread, noisy: r.noisy })
        };
        let mut points: Vec<Point> = timed(file, "kernels").filter(|r| fits(r)).filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points.dedup_by(|a, b| a.x == b.x);
        if !points.is_empty() {
            let colour = series.len();
            series.push(Series { name: name.into(), points, line: true, dashed, square: dashed, colour });
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
        yardsticks: Vec::new(),
    };
    let lead = "The same kernels from the first-level cache to main memory, at the best level; squares are yardsticks.";
    section("Memory levels", lead, &format!("<figure>{}</figure>", chart.svg()))
}
