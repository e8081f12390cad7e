//! Results as CSV, as Markdown, and as the table of the project's README.

use super::cases::matches;
use super::console::chunk_table;
use super::table::{Table, duration, figure, maybe, size, speed};
use crate::result::Row;
use crate::result::file::Results;

/// One line for each row, with every number.
pub fn csv(file: &Results) -> String {
    let head = "suite,engine,op,isa,codec,filter,level,typesize,bytes,blocksize,threads,data,verified,timing,noisy,\
                rounds,iterations,visits,median_ns,spread,mad_ns,min_ns,p10_ns,p90_ns,gbps,bytes_per_cycle,bytes_per_tick,cbytes,ratio,vs_copy,vs_copy_spread,vs_memcpy,\
                peer,vs_peer,vs_peer_spread,size_vs_peer,refused,left_out\n";
    let mut out = String::from(head);
    let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    for r in &file.rows {
        let cells = [
            quoted(&r.suite),
            quoted(&r.engine),
            quoted(&r.op),
            quoted(&r.isa),
            quoted(&r.codec),
            quoted(&r.filter),
            r.level.map_or(String::new(), |l| l.to_string()),
            r.typesize.to_string(),
            r.bytes.to_string(),
            r.blocksize.map_or(String::new(), |b| b.to_string()),
            r.threads.to_string(),
            quoted(&r.data),
            r.verified.to_string(),
            r.timing.to_string(),
            r.noisy.to_string(),
            r.rounds.to_string(),
            r.iterations.to_string(),
            r.visits_ns.len().to_string(),
            number(r.median_ns),
            number(r.spread),
            number(r.mad_ns),
            number(r.min_ns),
            number(r.p10_ns),
            number(r.p90_ns),
            number(r.gbps),
            number(r.bytes_per_cycle),
            number(r.bytes_per_tick),
            r.cbytes.map_or(String::new(), |c| c.to_string()),
            number(r.ratio),
            number(r.vs_copy),
            number(r.vs_copy_spread),
            number(r.vs_memcpy),
            quoted(r.peer.as_deref().unwrap_or_default()),
            number(r.vs_peer),
            number(r.vs_peer_spread),
            number(r.size_vs_peer),
            quoted(r.refused.as_deref().unwrap_or_default()),
            quoted(r.left_out.as_deref().unwrap_or_default()),
        ];
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

/// The machine and the chosen rows as Markdown.
pub fn markdown(file: &Results, filter: &str) -> String {
    let mut out = format!("{}, `{}`\n\n", file.machine.name, file.command.trim());
    let cycles = file.rows.iter().any(|r| r.bytes_per_cycle.is_some());
    let per = if cycles { "bytes/cycle" } else { "bytes/tick" };
    let mut table = Table::new(&["case", "time", "spread", "GB/s", per, "of a copy", "ratio", "against"]);
    for r in file.rows.iter().filter(|r| r.median_ns.is_some() && matches(r, filter)) {
        table.row(vec![
            r.label(),
            r.median_ns.map_or("-".into(), duration),
            r.spread.map_or("-".into(), |s| format!("±{} %", figure(100.0 * s))),
            r.gbps.map_or("-".into(), speed),
            maybe(r.bytes_per_cycle.or(r.bytes_per_tick)),
            maybe(r.vs_copy),
            maybe(r.ratio),
            r.peer.as_ref().map_or("-".into(), |p| format!("{} x {p}", maybe(r.vs_peer))),
        ]);
    }
    out.push_str(&table.markdown());
    out
}

/// The short table that stands in the project's README: kernels of the best level at 256 KiB, and chunks at
/// level 5.
pub fn readme(file: &Results) -> String {
    let best = file.machine.levels.last().cloned().unwrap_or_default();
    let mut out = format!(
        "Measured on {}, {}, commit {}, by `{}`; GB/s, and the fraction of a copy of the same size.\n\n",
        file.machine.name,
        file.machine.rustc.split(' ').take(2).collect::<Vec<_>>().join(" "),
        file.machine.commit,
        file.command.trim()
    );
    let typesizes = [1, 2, 4, 8, 16];
    let mut head = vec![format!("{best}, {}", size(256 << 10))];
    head.extend(typesizes.iter().map(|t| format!("{t} bytes")));
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for op in ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"] {
        let cell = |t: usize| {
            let fits = |r: &&Row| {
                r.suite == "kernels" && r.op == op && r.typesize == t && r.isa == best && r.bytes == 256 << 10
            };
            let row = file.rows.iter().find(fits);
            row.map_or("-".into(), |r| format!("{} ({})", r.gbps.map_or("-".into(), speed), maybe(r.vs_copy)))
        };
        table.row([vec![op.to_string()], typesizes.iter().map(|t| cell(*t)).collect()].concat());
    }
    out.push_str(&table.markdown());
    out.push('\n');
    let chunks = chunk_table(&file.rows);
    if !chunks.is_empty() {
        out.push_str(
            "Chunks, geometric means over the real arrays; GB/s of uncompressed bytes (M: MB/s).\n\n",
        );
        out.push_str(&chunks.markdown());
    }
    out
}
