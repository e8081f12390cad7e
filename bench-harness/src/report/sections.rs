//! What is shown of each suite, as data: which rows, along which axes, drawn how. The page and the terminal read the same list;
//! a suite that is not in it gets a table by itself.

use super::cases::distinct;
use super::mean::{Mean, Quantity, SPEED, TIME, VS_COPY, VS_PEER};
use super::table::{Table, duration, figure, size, speed};
use crate::result::{COPIES, Row};
use std::collections::BTreeMap;

/// A property of rows that tables and charts are made along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// What was done.
    Op,
    /// Who did it.
    Engine,
    /// Level of our kernels.
    Isa,
    /// Codec.
    Codec,
    /// Filter.
    Filter,
    /// Compression level.
    Level,
    /// Bytes of an item.
    Typesize,
    /// Bytes of a run.
    Bytes,
    /// Threads.
    Threads,
    /// Round trips and requests.
    Trips,
}

impl Field {
    /// A row's place along it, and the words for it; words are in the order in which they come.
    fn key(self, r: &Row) -> (usize, String) {
        match self {
            Field::Op if r.op == "copy" => (0, String::new()),
            Field::Op => (0, r.op.clone()),
            Field::Engine if r.engine == "ours" => (0, String::new()),
            Field::Engine => (1, r.engine.clone()),
            Field::Isa => {
                let place = blosc_core::Isa::ALL.iter().position(|i| i.name() == r.isa);
                let name = if r.isa.is_empty() { &r.engine } else { &r.isa };
                (place.unwrap_or(usize::MAX), name.clone())
            }
            Field::Codec => (0, r.codec.clone()),
            Field::Filter => (0, r.filter.clone()),
            Field::Level => {
                (r.level.map_or(0, usize::from), r.level.map_or(String::new(), |l| l.to_string()))
            }
            Field::Typesize => (r.typesize, format!("{} B", r.typesize)),
            Field::Bytes => (r.bytes, size(r.bytes)),
            Field::Threads => (r.threads, format!("{} threads", r.threads)),
            Field::Trips => match r.round_trips.zip(r.requests) {
                Some((trips, requests)) => (trips, format!("({trips} round trips, {requests} requests)")),
                None => (0, String::new()),
            },
        }
    }

    /// All values of some rows, in order.
    fn values(self, rows: &[&Row]) -> Vec<(usize, String)> {
        let mut values = distinct(rows.iter().map(|r| self.key(r)));
        values.sort_by_key(|key| key.0);
        values
    }
}

/// Rows by a line and a column.
pub struct Grid<'a> {
    /// Number and words of each column.
    pub columns: Vec<(usize, String)>,
    /// Words of each line, and its rows in each column.
    pub lines: Vec<(String, Vec<Vec<&'a Row>>)>,
}

/// Sorts rows into lines and columns. What is the same in all rows is not said.
pub fn grid<'a>(rows: &[&'a Row], lines: &[Field], column: Field) -> Grid<'a> {
    let columns = column.values(rows);
    let fields: Vec<_> = lines.iter().map(|f| (*f, f.values(rows))).filter(|(_, v)| v.len() > 1).collect();
    let mut found: BTreeMap<Vec<usize>, Vec<Vec<&Row>>> = BTreeMap::new();
    for r in rows {
        let place = |(field, values): (Field, &[(usize, String)])| {
            let key = field.key(r);
            values.iter().position(|v| *v == key).unwrap_or(0)
        };
        let line = fields.iter().map(|(f, values)| place((*f, values))).collect();
        let cells = found.entry(line).or_insert_with(|| vec![Vec::new(); columns.len()]);
        if let Some(cell) = cells.get_mut(place((column, &columns))) {
            cell.push(r);
        }
    }
    let words = |line: Vec<usize>| {
        let word = |(place, values): (usize, &Vec<(usize, String)>)| Some(values.get(place)?.1.clone());
        let words = line.into_iter().zip(fields.iter().map(|f| &f.1)).filter_map(word);
        words.filter(|w| !w.is_empty()).collect::<Vec<String>>().join(" ")
    };
    Grid { lines: found.into_iter().map(|(line, cells)| (words(line), cells)).collect(), columns }
}

/// How a section is drawn on the page; on a terminal all are tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Figures with their spread, and how they stand against the opponent.
    Table,
    /// Shaded by the fraction of a copy.
    Heat,
    /// Speed along the columns.
    Lines,
    /// Times the first column.
    Scaling,
    /// What to choose, and speed against ratio.
    Chunks,
    /// The numbered goals.
    Goals,
}

/// What is shown of a suite.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    /// The suite.
    pub suite: &'a str,
    /// Its heading.
    pub title: &'a str,
    /// A sentence or two below the heading.
    pub lead: &'a str,
    /// Which rows, the name of the best level being given.
    pub rows: fn(&Row, &str) -> bool,
    /// Each value of these has a figure of its own.
    pub figures: &'a [Field],
    /// Lines or series.
    pub lines: &'a [Field],
    /// Columns, or the horizontal axis.
    pub columns: Field,
    /// How.
    pub draw: Draw,
}

use Field::{Bytes, Codec, Engine, Filter, Isa, Level, Op, Threads, Trips, Typesize};

/// Rows of the best level and of others.
fn best(r: &Row, best: &str) -> bool {
    r.isa.is_empty() || r.isa == best
}

/// Rows of plain copies, reads and writes.
fn yardstick(r: &Row) -> bool {
    r.engine == "probe" || COPIES.contains(&r.engine.as_str())
}

const fn table<'a>(suite: &'a str, title: &'a str, lead: &'a str, lines: &'a [Field]) -> Section<'a> {
    Section { suite, title, lead, rows: best, figures: &[], lines, columns: Engine, draw: Draw::Table }
}

/// Every level by item size.
const fn levels<'a>(suite: &'a str, title: &'a str, lead: &'a str) -> Section<'a> {
    let (figures, columns, draw) = (&[Op, Bytes], Typesize, Draw::Heat);
    Section { rows: |r, _| !yardstick(r), figures, columns, draw, ..table(suite, title, lead, &[Isa]) }
}

const CASES: &[Field] = &[Op, Codec, Filter, Level, Threads];
const FILES: &str =
    "GB/s of uncompressed bytes, files in memory; means over the arrays. Boxes lie elsewhere in each sample.";

/// All sections, in the order of the page.
const SECTIONS: [Section<'static>; 16] = [
    Section { draw: Draw::Chunks, ..table("chunks", "Chunks", "", CASES) },
    levels(
        "kernels",
        "Which SIMD level",
        "GB/s for each instruction set and item size; the stronger the shade, the nearer to a plain copy. A level that a \
         lower one beats is underlined.",
    ),
    Section {
        rows: |r, level| yardstick(r) || r.isa == level && matches!(r.typesize, 4 | 8),
        lines: &[Engine, Op, Typesize],
        columns: Bytes,
        draw: Draw::Lines,
        ..table(
            "kernels",
            "Memory levels",
            "The same kernels from the first-level cache to main memory, at the best level; squares are yardsticks.",
            &[],
        )
    },
    levels("split", "Block split and join", "As the pipeline does it, into padded byte planes and back."),
    Section {
        lines: &[Op, Codec, Engine],
        columns: Threads,
        draw: Draw::Scaling,
        ..table("threads", "Threads", "Times one thread; geometric means over arrays and filters.", &[])
    },
    Section {
        // Without an opponent one thread of ours stands in its place.
        rows: |r, level| {
            best(r, level) && (r.engine != "ours" || r.peer.as_ref().is_some_and(|p| p != "ours"))
        },
        ..table(
            "threads",
            "Threads against the opponent",
            "GB/s with as many threads.",
            &[Op, Codec, Threads],
        )
    },
    table(
        "latency",
        "Latency",
        "What a caller waits for: one item of a chunk, and round trips of small chunks.",
        &[Op, Codec, Filter, Bytes],
    ),
    table(
        "codecs",
        "Codecs by themselves",
        "GB/s (M: MB/s) of single streams of filtered bytes, without chunks around them; means over the arrays.",
        &[Codec, Op, Filter, Level],
    ),
    table("frames", "Frames", FILES, CASES),
    table("arrays", "Arrays", FILES, CASES),
    table(
        "far",
        "Cold and far",
        "Time of one read from a file in memory, from one that the system has to fetch, and at 1, 10 and 50 ms a round trip.",
        &[Op, Codec, Trips],
    ),
    table(
        "containers",
        "Containers in small and large chunks",
        "GB/s (M: MB/s) of writing and reading, beside an array in chunks as large.",
        &[Op, Codec, Threads],
    ),
    table("frame-files", "Frames in files", FILES, CASES),
    table("array-files", "Arrays in files", FILES, CASES),
    Section {
        draw: Draw::Goals,
        ..table("goals", "Goals", "Speed ratios in the same rounds; the mean decides.", CASES)
    },
    table("", "", "Means over the arrays; speeds in GB/s (M: MB/s).", CASES),
];

/// The sections of a file: every suite that has a time has one at least.
pub fn of(rows: &[Row]) -> Vec<Section<'_>> {
    let listed = SECTIONS.iter().map(|s| s.suite).filter(|s| !s.is_empty());
    let suites: Vec<&str> = distinct(listed.chain(rows.iter().map(|r| r.suite.as_str())));
    let timed = |suite: &&str| rows.iter().any(|r| r.suite == *suite && r.quartile_ns.is_some());
    let own = |suite| {
        let mut own: Vec<Section<'_>> = SECTIONS.iter().filter(|s| s.suite == suite).copied().collect();
        if own.is_empty() {
            own.extend(SECTIONS.last().map(|other| Section { suite, title: suite, ..*other }));
        }
        own
    };
    suites.into_iter().filter(timed).flat_map(own).collect()
}

/// A figure of a section: what tells it from others of the section, and its grid.
pub type Figure<'a> = (String, Grid<'a>);

/// The figures of a section. One of a single line is left out where others say more.
pub fn figures<'a>(section: &Section<'_>, rows: &'a [Row], best: &str) -> Vec<Figure<'a>> {
    let fits = |r: &&Row| r.suite == section.suite && r.quartile_ns.is_some() && (section.rows)(r, best);
    let rows: Vec<&Row> = rows.iter().filter(fits).collect();
    let mut parts: BTreeMap<Vec<usize>, (String, Vec<&Row>)> = BTreeMap::new();
    let values: Vec<_> = section.figures.iter().map(|f| (*f, f.values(&rows))).collect();
    for &r in &rows {
        let keys: Vec<_> =
            values.iter().map(|(f, v)| (v.iter().position(|k| *k == f.key(r)), f.key(r).1)).collect();
        let name = keys.iter().map(|k| k.1.as_str()).collect::<Vec<_>>().join(", ");
        let place = keys.iter().map(|k| k.0.unwrap_or(0)).collect();
        parts.entry(place).or_insert_with(|| (name, Vec::new())).1.push(r);
    }
    let mut figures: Vec<Figure<'_>> =
        parts.into_values().map(|(name, rows)| (name, grid(&rows, section.lines, section.columns))).collect();
    if figures.iter().any(|f| f.1.lines.len() > 1) {
        figures.retain(|f| f.1.lines.len() > 1);
    }
    figures
}

/// What a cell of a table says: speed, or the time where that is what counts.
pub fn cell(rows: &[&Row], around: bool) -> String {
    let told = |of: Quantity, text: fn(f64) -> String| {
        let mean = Mean::of(rows, of)?;
        Some(mean.text(text) + &if around { mean.around() } else { String::new() })
    };
    told(SPEED, speed).or_else(|| told(TIME, duration)).unwrap_or_else(|| "-".into())
}

/// A grid as a table: speeds, for kernels with the fraction of a copy, else with what stands against the opponent in a last
/// column. Spreads beside all speeds need room.
pub fn text(name: &str, grid: &Grid<'_>, heat: bool, around: bool) -> Table {
    let mut head = vec![name.to_string()];
    head.extend(
        grid.columns.iter().map(|(_, word)| if word.is_empty() { "ours".into() } else { word.clone() }),
    );
    let peers = |rows: &[&Row]| rows.iter().find_map(|r| r.peer.clone());
    let peer = grid.lines.iter().flat_map(|(_, cells)| cells).find_map(|rows| peers(rows));
    head.extend(peer.iter().filter(|_| !heat).map(|peer| format!("against {peer}")));
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for (words, cells) in &grid.lines {
        let mut line = vec![words.clone()];
        line.extend(cells.iter().map(|rows| match Mean::of(rows, VS_COPY).filter(|_| heat) {
            Some(part) => format!("{} {}", cell(rows, false), part.text(figure)),
            None => cell(rows, around),
        }));
        if peer.is_some() && !heat {
            let all: Vec<&Row> = cells.iter().flatten().copied().filter(|r| r.engine == "ours").collect();
            line.push(Mean::of(&all, VS_PEER).map_or("-".into(), |m| m.whole()));
        }
        table.row(line);
    }
    table
}
