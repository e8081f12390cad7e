//! Machines side by side.

use super::parts::{date, html_table, section};
use crate::report::cases::letter;
use crate::report::mean::{Mean, SPEED, VS_COPY};
use crate::report::svg::escape;
use crate::report::table::speed_unit;
use crate::result::Row;
use crate::result::file::{Results, comparable};
use std::fmt::Write;

/// A case that machines are compared by: what it is called, and which rows it is about, the best level being given.
type Measure = (String, Box<dyn Fn(&Row, &str) -> bool>);

/// The best level of the main kernels at 256 KiB, and chunks at level 5 (means over the arrays).
fn measures() -> Vec<Measure> {
    let mut all: Vec<Measure> = Vec::new();
    for op in ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"] {
        for typesize in [4, 8] {
            let fits = move |r: &Row, best: &str| {
                let case = (r.suite.as_str(), r.op.as_str(), r.typesize, r.bytes);
                case == ("kernels", op, typesize, 256 << 10) && r.isa == best
            };
            all.push((format!("{op}, {typesize} bytes, 256K"), Box::new(fits)));
        }
    }
    for codec in ["blosclz", "lz4", "zlib", "zstd"] {
        for op in ["compress", "decompress"] {
            let fits = move |r: &Row, _: &str| {
                let case = (r.suite.as_str(), r.op.as_str(), r.codec.as_str(), r.filter.as_str());
                case == ("chunks", op, codec, "shuffle") && (r.level, r.engine.as_str()) == (Some(5), "ours")
            };
            all.push((format!("{op}, {codec} shuffle 5"), Box::new(fits)));
        }
    }
    all
}

/// Who the files are about, and where they can be compared, a line for each case.
pub fn overview(files: &[Results]) -> String {
    if files.len() < 2 {
        return String::new();
    }
    let mut body = String::from("<ul class=\"who\">");
    for (index, file) in files.iter().enumerate() {
        let m = &file.machine;
        let about = [format!("commit {}", m.commit), format!("harness {}", m.harness), date(file.started)];
        let about = about.map(|text| escape(&text)).join(", ");
        let _ = writeln!(
            body,
            "<li><i class=\"b{}\"></i><b>{}</b> <a href=\"#machine{index}\">{}</a>, {about}</li>",
            index % 8,
            letter(index),
            escape(&m.name)
        );
    }
    body.push_str("</ul>\n");
    if comparable(files).is_err() {
        body.push_str(
            "<p class=\"warning\">Not compared: these files come from different commits or versions of the harness. \
             Measure all machines with one build.</p>\n",
        );
        return section("machines", "Machines", "Each has its own sections below.", &body);
    }
    let cell = |file: &Results, fits: &dyn Fn(&Row, &str) -> bool| {
        let timed = file.rows.iter().filter(|r| r.quartile_ns.is_some());
        let rows: Vec<&Row> = timed.filter(|r| fits(r, file.machine.best_level())).collect();
        Some(format!("{} ({})", Mean::of(&rows, VS_COPY)?.whole(), speed_unit(Mean::of(&rows, SPEED)?.value)))
    };
    let head: Vec<String> =
        ["of a copy".into()].into_iter().chain((0..files.len()).map(|i| letter(i).into())).collect();
    let line = |(title, fits): Measure| {
        let cells = files.iter().map(|file| cell(file, &fits).unwrap_or("-".into()));
        [title].into_iter().chain(cells).collect()
    };
    body.push_str(&html_table(&head, &measures().into_iter().map(line).collect::<Vec<_>>()));
    let lead = "Fractions of a copy of the same size on the same machine, in the same rounds, and the speed in brackets: the \
                best level of each; chunks are geometric means over all arrays.";
    section("machines", "Machines side by side", lead, &body)
}
