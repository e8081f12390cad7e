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
    /// How far another run may lie, as a part of the vertical value: a bar through the mark.
    pub spread: Option<f64>,
    /// A wide spread: the mark is hollow.
    pub noisy: bool,
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
    /// Squares and not discs, for opponents.
    pub square: bool,
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
    /// Yardsticks: names and vertical values of dashed lines from side to side.
    pub yardsticks: Vec<(String, f64)>,
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

impl Series {
    /// Where its marks, bars and lines are.
    fn areas(&self, x: &Axis, y: &Axis) -> Vec<Area> {
        let at = |p: &Point| (x.at(p.x), y.at(p.y));
        let mark = |p: &Point| {
            let (low, high) = p.spread.map_or((p.y, p.y), |s| (p.y / (1.0 + s), p.y * (1.0 + s)));
            let mark = Area::around(at(p).0, at(p).1, 5.0, 5.0);
            Area { top: mark.top.min(y.at(high)), bottom: mark.bottom.max(y.at(low)), ..mark }
        };
        let mut areas: Vec<Area> = self.points.iter().map(mark).collect();
        for pair in self.points.windows(2).filter(|_| self.line) {
            let [(a, b), (c, d)] = [at(&pair[0]), at(&pair[1])];
            let steps = ((c - a).hypot(d - b) / 4.0).ceil();
            let step = |n: u32| f64::from(n) / steps.max(1.0);
            let part = |t: f64| Area::around(a + (c - a) * t, b + (d - b) * t, 2.0, 2.0);
            areas.extend((0..steps as u32).map(|n| part(step(n))));
        }
        areas
    }
}

impl Chart<'_> {
    /// The chart with its legend.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let x = Axis::new(points().map(|p| p.x), self.log_x, (LEFT, WIDTH - RIGHT));
        let values = points().map(|p| p.y).chain(self.yardsticks.iter().map(|y| y.1));
        let y = Axis::new(values, self.log_y, (HEIGHT - BOTTOM, TOP));
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
        let mut taken: Vec<Area> = self.series.iter().flat_map(|s| s.areas(&x, &y)).collect();
        for (name, value) in &self.yardsticks {
            let at = y.at(*value);
            let _ = writeln!(
                out,
                "<line class=\"yard\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>",
                WIDTH - RIGHT
            );
            let long = LETTER * name.chars().count() as f64;
            label(&mut out, name, (LEFT + 6.0 + long / 2.0, at), &mut taken);
        }
        self.series.iter().for_each(|series| draw(&mut out, series, &x, &y));
        for p in points().filter(|p| !p.label.is_empty()) {
            label(&mut out, &p.label, (x.at(p.x), y.at(p.y)), &mut taken);
        }
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
        if let Some(spread) = p.spread {
            let (low, high) = (y.at(p.y / (1.0 + spread)), y.at(p.y * (1.0 + spread)));
            let _ = writeln!(
                out,
                "<line class=\"{class} spread\" x1=\"{a:.1}\" x2=\"{a:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>"
            );
        }
        let hollow = if p.noisy { " hollow" } else { "" };
        let shape = match series.square {
            true => format!(
                "<rect class=\"m{class}{hollow}\" x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\">",
                a - 4.0,
                b - 4.0
            ),
            false => format!("<circle class=\"m{class}{hollow}\" cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"4\">"),
        };
        let end = if series.square { "rect" } else { "circle" };
        let _ = writeln!(out, "{shape}<title>{}</title></{end}>", escape(&p.title));
    }
}

/// Width of a letter of a label, and height of a line, on a narrow screen, where letters are largest.
const LETTER: f64 = 8.5;
const LINE: f64 = 15.0;

/// A part of a chart that something stands in.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn around(x: f64, y: f64, half_width: f64, half_height: f64) -> Area {
        Area { left: x - half_width, right: x + half_width, top: y - half_height, bottom: y + half_height }
    }

    fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn inside(&self) -> bool {
        self.left >= LEFT && self.right <= WIDTH && self.top >= 0.0 && self.bottom <= HEIGHT - BOTTOM
    }
}

/// Writes `text` beside a mark where nothing stands yet; nowhere if there is no such place.
fn label(out: &mut String, text: &str, (x, y): (f64, f64), taken: &mut Vec<Area>) {
    let half = LETTER * text.chars().count() as f64 / 2.0;
    let (side, up) = (half + 7.0, LINE / 2.0 + 8.0);
    let places = [
        (0.0, -up),
        (side, 0.0),
        (-side, 0.0),
        (0.0, up),
        (side, -up),
        (-side, -up),
        (side, up),
        (-side, up),
    ];
    let area = |(dx, dy): (f64, f64)| Area::around(x + dx, y + dy, half, LINE / 2.0);
    let free = |a: &Area| a.inside() && !taken.iter().any(|t| t.meets(a));
    let Some(place) = places.into_iter().map(area).find(free) else { return };
    taken.push(place);
    let (x, y) = ((place.left + place.right) / 2.0, place.bottom - 4.0);
    let _ = writeln!(
        out,
        "<text class=\"mark\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
        escape(text)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_meet_neither_each_other_nor_marks_nor_lines() {
        let point = |i: u32| Point {
            x: 1.0 + f64::from(i % 5) / 50.0,
            y: 1.0 + f64::from(i) / 100.0,
            label: format!("label {i}"),
            title: String::new(),
            spread: Some(0.1),
            noisy: i.is_multiple_of(2),
        };
        let points: Vec<Point> = (0..20).map(point).collect();
        let x = Axis::new(points.iter().map(|p| p.x), false, (LEFT, WIDTH - RIGHT));
        let y = Axis::new(points.iter().map(|p| p.y), false, (HEIGHT - BOTTOM, TOP));
        let name = String::new();
        let series = Series { name, points, line: true, dashed: false, square: false, colour: 0 };
        let (mut taken, mut out) = (series.areas(&x, &y), String::new());
        let drawn = taken.len();
        for p in &series.points {
            label(&mut out, &p.label, (x.at(p.x), y.at(p.y)), &mut taken);
        }
        let labels = out.matches("<text").count();
        assert!(labels > 2 && taken.len() == drawn + labels && drawn > 2 * series.points.len());
        for (i, a) in taken.iter().enumerate().skip(drawn) {
            assert!(a.inside() && taken.iter().take(i).all(|b| !b.meets(a)));
        }
    }
}
