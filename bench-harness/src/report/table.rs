//! Plain tables that fit 80 columns, and short forms of numbers.

/// Columns of text; the first is left-aligned, the others right-aligned.
#[derive(Default)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|h| (*h).to_string()).collect(), rows: Vec::new() }
    }

    /// Adds a line.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Whether it has no lines.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Head and lines.
    pub fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        (self.head.clone(), self.rows.clone())
    }

    fn widths(&self) -> Vec<usize> {
        let cell = |row: &Vec<String>, c: usize| row.get(c).map_or(0, |s| width(s));
        let column = |c| self.rows.iter().chain([&self.head]).map(|r| cell(r, c)).max().unwrap_or(0);
        (0..self.head.len()).map(column).collect()
    }

    /// As plain text of at most `COLUMNS` columns: two blanks between columns, or one if it is tight; long
    /// names in the first column go on in a second line.
    pub fn text(&self) -> String {
        let mut widths = self.widths();
        let gap = if widths.iter().sum::<usize>() + 2 * widths.len() > COLUMNS { " " } else { "  " };
        let others: usize = widths.iter().skip(1).map(|w| w + gap.len()).sum();
        let first = widths.first().copied().unwrap_or(0).min(COLUMNS.saturating_sub(others).max(NARROW));
        if let Some(w) = widths.first_mut() {
            *w = first;
        }
        let mut out = String::new();
        for (index, row) in [&self.head].into_iter().chain(&self.rows).enumerate() {
            let mut name = wrapped(row.first().map_or("", String::as_str), first, "  ");
            let last = name.pop().unwrap_or_default();
            name.iter().for_each(|line| out.extend([line, "\n"]));
            let cell = |(c, w): (usize, &usize)| match c {
                0 => pad(&last, *w, true),
                _ => pad(row.get(c).map_or("", String::as_str), *w, false),
            };
            let cells: Vec<String> = widths.iter().enumerate().map(cell).collect();
            out.push_str(cells.join(gap).trim_end());
            out.push('\n');
            if index == 0 {
                out.push_str(&"-".repeat(first + others));
                out.push('\n');
            }
        }
        out
    }

    /// As a Markdown table.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut out = line(&self.head);
        let rules: Vec<String> =
            (0..self.head.len()).map(|c| if c == 0 { "---".into() } else { "--:".into() }).collect();
        out.push_str(&line(&rules));
        self.rows.iter().for_each(|r| out.push_str(&line(r)));
        out
    }
}

/// Columns of a terminal nobody has widened.
const COLUMNS: usize = 80;
/// The first column is not made narrower than this.
const NARROW: usize = 16;

/// `text` in lines of at most `wide` characters, broken between words; all but the first begin with `indent`.
fn wrapped(text: &str, wide: usize, indent: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (index, word) in text.split(' ').enumerate() {
        let Some(line) = lines.last_mut() else { break };
        if index > 0 && width(line) + 1 + width(word) > wide {
            lines.push(format!("{indent}{word}"));
        } else {
            line.push_str(if index > 0 { " " } else { "" });
            line.push_str(word);
        }
    }
    lines
}

/// Words in lines of at most `COLUMNS` characters, each ended.
pub fn paragraph(text: &str) -> String {
    wrapped(text, COLUMNS, "").iter().map(|line| format!("{line}\n")).collect()
}

fn pad(cell: &str, wide: usize, left: bool) -> String {
    let blank = " ".repeat(wide.saturating_sub(width(cell)));
    if left { format!("{cell}{blank}") } else { format!("{blank}{cell}") }
}

/// Characters that are seen: colour codes take no room.
fn width(text: &str) -> usize {
    let mut hidden = false;
    let seen = text.chars().filter(|c| {
        hidden |= *c == '\x1b';
        let counts = !hidden;
        hidden &= *c != 'm';
        counts
    });
    seen.count()
}

/// `64 MiB`, `16 KiB`, `100 B`, without the blank: `64M`, `16K`, `100`.
pub fn size(bytes: usize) -> String {
    match bytes {
        b if b >= 1 << 20 && b % (1 << 20) == 0 => format!("{}M", b >> 20),
        b if b >= 1 << 10 && b % (1 << 10) == 0 => format!("{}K", b >> 10),
        b => format!("{b}"),
    }
}

/// Bytes of what a user calls a size.
///
/// # Errors
/// It is none, or above 2 GiB.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.to_ascii_uppercase().chars().last() {
        Some('K') => (text.get(..text.len() - 1), 1usize << 10),
        Some('M') => (text.get(..text.len() - 1), 1 << 20),
        Some('G') => (text.get(..text.len() - 1), 1 << 30),
        _ => (Some(text), 1),
    };
    let number = digits.and_then(|d| d.parse::<usize>().ok()).and_then(|n| n.checked_mul(unit));
    match number {
        Some(n) if n > 0 && n <= 1 << 31 => Ok(n),
        _ => Err("a size is a number such as 4096, 256K or 64M, at most 2G".into()),
    }
}

/// Three significant digits at most, two at least: `412`, `94.1`, `3.70`, `0.35`, `0.061`, `0.0044`.
pub fn figure(x: f64) -> String {
    match x {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x if x >= 0.0995 || x <= 0.0 => format!("{x:.2}"),
        x if x >= 0.00995 => format!("{x:.3}"),
        x => format!("{x:.4}"),
    }
}

/// A figure, or a dash.
pub fn maybe(x: Option<f64>) -> String {
    x.map_or("-".into(), figure)
}

/// A speed in GB/s, or where that is less than a tenth, in MB/s: `3.70`, `82.0M`.
pub fn speed(gbps: f64) -> String {
    if gbps < 0.1 { format!("{}M", figure(1000.0 * gbps)) } else { figure(gbps) }
}

/// A speed with its unit: `3.70 GB/s`, `82.0 MB/s`.
pub fn speed_unit(gbps: f64) -> String {
    match speed(gbps).strip_suffix('M') {
        Some(megabytes) => format!("{megabytes} MB/s"),
        None => format!("{} GB/s", figure(gbps)),
    }
}

/// `1.23 ms`, `45.6 us`, `789 ns`.
pub fn duration(ns: f64) -> String {
    match ns {
        x if x >= 1e9 => format!("{} s", figure(x / 1e9)),
        x if x >= 1e6 => format!("{} ms", figure(x / 1e6)),
        x if x >= 1e3 => format!("{} us", figure(x / 1e3)),
        x => format!("{} ns", figure(x)),
    }
}
