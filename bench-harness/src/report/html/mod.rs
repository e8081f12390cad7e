//! One self-contained HTML page about one or more results files: no script, no font, no network.

mod chunks;
mod draw;
mod machines;
mod parts;

use super::sections;
use super::svg::escape;
use super::table::size;
use crate::machine::load::TOLERATED;
use crate::result::file::Results;
use parts::date;
use std::fmt::Write;

const STYLE: &str = include_str!("../report.css");

/// The page: all machines side by side where they can be, then each by itself.
pub fn page(files: &[Results]) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>Blosc barometer</title>\n<style>\n",
    );
    out.push_str(STYLE);
    out.push_str("</style></head><body><main>\n");
    out.push_str(&machines::overview(files));
    for (index, file) in files.iter().enumerate() {
        out.push_str(&head(&format!("machine{index}"), file));
        sections::of(&file.rows).iter().for_each(|section| out.push_str(&draw::draw(file, section)));
    }
    out.push_str(FOOT);
    out.push_str("</main></body></html>\n");
    out
}

const FOOT: &str = "<footer>Lower quartiles of visits of interleaved rounds, one pinned core; only ratios taken in \
    one run are worth quoting. ARM: what there is are exact instruction counts and llvm-mca estimates of the NEON kernels, \
    which are no times and therefore stand on no page of times: see <code>results/neon-instructions.txt</code>.</footer>\n";

fn head(id: &str, file: &Results) -> String {
    let m = &file.machine;
    let mut out = format!(
        "<header id=\"{id}\"><p class=\"kicker\">Blosc barometer</p><h1>{}</h1>\n<dl>",
        escape(&m.name)
    );
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
    fact("harness", m.harness.clone());
    fact("measured", date(file.started));
    fact("command", file.command.trim().to_string());
    out.push_str("</dl>\n");
    if let Some(e) = &m.emulator {
        let _ =
            writeln!(out, "<p class=\"warning\">Not a timing: the instructions ran under {}.</p>", escape(e));
    }
    if m.was_loaded() || m.busy_cpus_most.is_some_and(|busy| busy > TOLERATED) {
        out.push_str(
            "<p class=\"warning\">Other programs were running: visits of that time count only where there are too few others.</p>\n",
        );
    }
    let noisy = file.rows.iter().filter(|r| r.noisy).count();
    let refused = file.rows.iter().filter(|r| r.refused.is_some()).count();
    let spread =
        super::cases::spread_line(&file.rows).map_or(String::new(), |line| format!("{}.", line.trim()));
    let _ = writeln!(
        out,
        "<p>{} rows; {noisy} noisy (another run may differ by more than 10 %: dashed frames, hollow marks), {refused} refused \
         because their output was wrong. {spread} Every result was verified before it was timed; ratios compare \
         neighbours in the same rounds. Each figure has its own ±: where another run on the same machine lies, 19 times of 20.</p></header>",
        file.rows.len()
    );
    out
}
