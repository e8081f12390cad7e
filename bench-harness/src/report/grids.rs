//! Bars, and grids of shaded figures, as inline SVG.

use super::mean::percent;
use super::svg::escape;
use std::fmt::Write;

/// One bar.
pub struct Bar {
    /// Short name.
    pub who: String,
    /// Length.
    pub value: f64,
    /// What stands behind it.
    pub text: String,
    /// What a pointer over it says.
    pub told: String,
    /// Colour.
    pub colour: usize,
    /// How far another run may lie, as a part of the length.
    pub spread: Option<f64>,
}

/// Bars of one quantity, one below the other.
pub struct Bars {
    /// What they show, for screen readers.
    pub title: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

impl Bars {
    /// The bars; the longest takes what is left beside the text.
    pub fn svg(&self) -> String {
        let (width, tall, name, behind) = (290.0, 22.0, 20.0, 136.0);
        let most = self.bars.iter().map(|b| b.value).fold(f64::MIN_POSITIVE, f64::max);
        let height = tall * self.bars.len() as f64;
        let title = escape(&self.title);
        let mut out = format!(
            "<svg class=\"bars\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n"
        );
        for (line, bar) in self.bars.iter().enumerate() {
            let (y, room) = (tall * line as f64, width - name - behind);
            let long = room * bar.value / most;
            let _ = write!(
                out,
                "<g><title>{}</title><text x=\"0\" y=\"{:.1}\">{}</text>\
                 <rect class=\"f{}\" x=\"{name}\" y=\"{:.1}\" width=\"{long:.1}\" height=\"{:.1}\" rx=\"3\"/>",
                escape(&bar.told),
                y + 15.5,
                escape(&bar.who),
                bar.colour % 8,
                y + 3.0,
                tall - 6.0
            );
            if let Some(spread) = bar.spread {
                let (low, high) =
                    (name + long / (1.0 + spread), name + (long * (1.0 + spread)).min(room + 6.0));
                let at = y + tall / 2.0;
                let _ = write!(
                    out,
                    "<line class=\"whisker\" x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
                );
            }
            let _ = writeln!(
                out,
                "<text class=\"cell\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
                name + room + 10.0,
                y + 15.5,
                escape(&bar.text)
            );
        }
        out.push_str("</svg>\n");
        out
    }
}

/// One figure of a grid.
pub struct Cell {
    /// The figure.
    pub text: String,
    /// Its spread, below it.
    pub spread: Option<f64>,
    /// Shade from 0 to 1.
    pub shade: f64,
    /// What a pointer over it says.
    pub told: String,
    /// A wide spread: the frame is dashed.
    pub noisy: bool,
    /// A line above is faster: the figure is underlined.
    pub below: bool,
}

/// A grid of figures, each shaded by a part of one.
pub struct HeatMap {
    /// What it shows, for screen readers.
    pub title: String,
    /// Column heads.
    pub columns: Vec<String>,
    /// Row heads and cells.
    pub rows: Vec<(String, Vec<Option<Cell>>)>,
}

impl HeatMap {
    /// The grid.
    pub fn svg(&self) -> String {
        let (head, cell, tall) = (112.0, 62.0, 46.0);
        let width = head + cell * self.columns.len() as f64;
        let height = 26.0 + tall * self.rows.len() as f64;
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
            let y = 26.0 + tall * line as f64;
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                head - 8.0,
                y + 28.0,
                escape(name)
            );
            for (index, content) in cells.iter().enumerate() {
                if let Some(content) = content {
                    out.push_str(&content.svg(head + cell * index as f64, y, (cell, tall)));
                }
            }
        }
        out.push_str("</svg>\n");
        out
    }
}

impl Cell {
    fn svg(&self, x: f64, y: f64, (wide, tall): (f64, f64)) -> String {
        let mut out = format!(
            "<g><title>{}</title><rect class=\"shade{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" \
             fill-opacity=\"{:.2}\"/><text class=\"cell{}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            escape(&self.told),
            if self.noisy { " noisy" } else { "" },
            x + 2.0,
            y + 2.0,
            wide - 4.0,
            tall - 4.0,
            0.06 + 0.64 * self.shade.clamp(0.0, 1.0),
            if self.below { " beaten" } else { "" },
            x + wide / 2.0,
            y + 20.5,
            escape(&self.text)
        );
        if let Some(spread) = self.spread {
            let _ = write!(
                out,
                "<text class=\"below\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">±{} %</text>",
                x + wide / 2.0,
                y + 37.0,
                percent(spread)
            );
        }
        out.push_str("</g>\n");
        out
    }
}
