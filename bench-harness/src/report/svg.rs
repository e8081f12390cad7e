//! Inline SVG charts. Colours are CSS variables of the page, so that they follow its light or dark theme.

use std::fmt::Write;

/// Text safe inside HTML and attributes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A mark: where it is, and what a pointer over it says.
pub struct Point {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// Shown beside it; may be empty.
    pub label: String,
    /// Shown when pointed at.
    pub title: String,
}

/// Points of one colour.
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its points, joined by a line if `line`.
    pub points: Vec<Point>,
    /// Whether a line joins them.
    pub line: bool,
    /// Dashed, for yardsticks.
    pub dashed: bool,
    /// Which of the eight colours; series of one colour share a place in the legend.
    pub colour: usize,
}

/// A chart with two axes.
pub struct Chart<'a> {
    /// What it shows, for screen readers.
    pub title: &'a str,
    /// Name of the horizontal axis.
    pub x: &'a str,
    /// Name of the vertical axis.
    pub y: &'a str,
    /// Logarithmic horizontal axis.
    pub log_x: bool,
    /// Logarithmic vertical axis.
    pub log_y: bool,
    /// Ticks of the horizontal axis; chosen if empty.
    pub x_ticks: Vec<(f64, String)>,
    /// The data.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 42.0;

struct Axis {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, log: bool, (from, to): (f64, f64)) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        values.filter(|v| v.is_finite() && (!log || *v > 0.0)).for_each(|v| {
            low = low.min(v);
            high = high.max(v);
        });
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if log {
            Axis { low: low / 1.25, high: high * 1.25, log, from, to }
        } else {
            Axis { low: 0.0, high: high * 1.08, log, from, to }
        }
    }

    fn at(&self, value: f64) -> f64 {
        let part = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part.clamp(0.0, 1.0) * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let mut ticks = Vec::new();
        if self.log {
            let steps: &[f64] = match self.high / self.low {
                r if r > 400.0 => &[1.0],
                r if r > 8.0 => &[1.0, 2.0, 5.0],
                _ => &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
            };
            for power in -4..7 {
                ticks.extend(steps.iter().map(|s| s * 10f64.powi(power)));
            }
        } else {
            let raw = self.high / 5.0;
            let unit = 10f64.powf(raw.log10().floor());
            let step =
                [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * unit).find(|s| *s >= raw).unwrap_or(unit);
            ticks.extend((0..12).map(|i| f64::from(i) * step));
        }
        ticks.retain(|t| *t >= self.low && *t <= self.high);
        ticks.into_iter().map(|t| (t, tick_label(t))).collect()
    }
}

fn tick_label(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

impl Chart<'_> {
    /// The chart with its legend.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let x = Axis::new(points().map(|p| p.x), self.log_x, (LEFT, WIDTH - RIGHT));
        let y = Axis::new(points().map(|p| p.y), self.log_y, (HEIGHT - BOTTOM, TOP));
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
            escape(self.title)
        );
        for (value, label) in y.ticks() {
            let at = y.at(value);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0
            );
        }
        let ticks = if self.x_ticks.is_empty() { x.ticks() } else { self.x_ticks.clone() };
        for (value, label) in ticks {
            let at = x.at(value);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                HEIGHT - BOTTOM,
                HEIGHT - BOTTOM + 16.0
            );
        }
        let _ = writeln!(
            out,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"axis\" transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escape(self.x),
            (TOP + HEIGHT - BOTTOM) / 2.0,
            escape(self.y)
        );
        self.series.iter().for_each(|series| draw(&mut out, series, &x, &y));
        out.push_str("</svg>\n");
        out.push_str(&self.legend());
        out
    }

    fn legend(&self) -> String {
        let mut out = String::from("<p class=\"legend\">");
        let mut seen = Vec::new();
        for series in self.series.iter() {
            if !seen.contains(&series.colour) {
                seen.push(series.colour);
                let _ = write!(
                    out,
                    "<span><i class=\"b{}\"></i>{}</span> ",
                    series.colour % 8,
                    escape(&series.name)
                );
            }
        }
        out.push_str("</p>\n");
        out
    }
}

fn draw(out: &mut String, series: &Series, x: &Axis, y: &Axis) {
    let class = format!("c{}{}", series.colour % 8, if series.dashed { " dashed" } else { "" });
    let at = |p: &Point| (x.at(p.x), y.at(p.y));
    if series.line && series.points.len() > 1 {
        let path: Vec<String> = series.points.iter().map(at).map(|(a, b)| format!("{a:.1},{b:.1}")).collect();
        let _ = writeln!(out, "<polyline class=\"{class}\" points=\"{}\"/>", path.join(" "));
    }
    for p in &series.points {
        let (a, b) = at(p);
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"4\"><title>{}</title></circle>",
            escape(&p.title)
        );
        if !p.label.is_empty() {
            let _ = writeln!(
                out,
                "<text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                a,
                b - 7.0,
                escape(&p.label)
            );
        }
    }
}

/// Bars of one quantity, one below the other.
pub struct Bars {
    /// What they show, for screen readers.
    pub title: String,
    /// Short name, length, what stands behind it, what a pointer over it says, colour.
    pub bars: Vec<(String, f64, String, String, usize)>,
}

impl Bars {
    /// The bars; the longest takes all the room there is.
    pub fn svg(&self) -> String {
        let (width, tall, name, figure) = (250.0, 22.0, 20.0, 50.0);
        let most = self.bars.iter().map(|b| b.1).fold(f64::MIN_POSITIVE, f64::max);
        let height = tall * self.bars.len() as f64;
        let title = escape(&self.title);
        let mut out = format!(
            "<svg class=\"bars\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n"
        );
        for (line, (who, value, text, told, colour)) in self.bars.iter().enumerate() {
            let (y, long) = (tall * line as f64, (width - name - figure) * value / most);
            let _ = writeln!(
                out,
                "<g><title>{}</title><text x=\"0\" y=\"{:.1}\">{}</text>\
                 <rect class=\"f{}\" x=\"{name}\" y=\"{:.1}\" width=\"{long:.1}\" height=\"{:.1}\" rx=\"3\"/>\
                 <text class=\"cell\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
                escape(told),
                y + 15.5,
                escape(who),
                colour % 8,
                y + 3.0,
                tall - 6.0,
                name + long + 7.0,
                y + 15.5,
                escape(text)
            );
        }
        out.push_str("</svg>\n");
        out
    }
}

/// Text, shade from 0 to 1, what a pointer over it says; or nothing.
pub type Cell = Option<(String, f64, String)>;

/// A grid of figures, each shaded by a part of one.
pub struct HeatMap {
    /// What it shows, for screen readers.
    pub title: String,
    /// Column heads.
    pub columns: Vec<String>,
    /// Row heads and cells.
    pub rows: Vec<(String, Vec<Cell>)>,
}

impl HeatMap {
    /// The grid.
    pub fn svg(&self) -> String {
        let (head, cell, tall) = (96.0, 52.0, 26.0);
        let width = head + cell * self.columns.len() as f64;
        let height = tall * (self.rows.len() + 1) as f64;
        let mut out = format!(
            "<svg class=\"heat\" viewBox=\"0 0 {width} {height}\" style=\"max-width:{:.0}px\" role=\"img\" aria-label=\"{}\">\n",
            width * 1.15,
            escape(&self.title)
        );
        for (index, name) in self.columns.iter().enumerate() {
            let x = head + cell * (index as f64 + 0.5);
            let _ = writeln!(out, "<text x=\"{x}\" y=\"17\" text-anchor=\"middle\">{}</text>", escape(name));
        }
        for (line, (name, cells)) in self.rows.iter().enumerate() {
            let y = tall * (line + 1) as f64;
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                head - 8.0,
                y + 17.0,
                escape(name)
            );
            for (index, content) in cells.iter().enumerate() {
                let Some((text, shade, title)) = content else { continue };
                let x = head + cell * index as f64;
                let _ = writeln!(
                    out,
                    "<g><title>{}</title><rect class=\"shade\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" \
                     fill-opacity=\"{:.2}\"/><text class=\"cell\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
                    escape(title),
                    x + 1.0,
                    y + 1.0,
                    cell - 2.0,
                    tall - 2.0,
                    0.06 + 0.64 * shade.clamp(0.0, 1.0),
                    x + cell / 2.0,
                    y + 17.5,
                    escape(text)
                );
            }
        }
        out.push_str("</svg>\n");
        out
    }
}
