//! Grids of shaded figures, as inline SVG.

use super::mean::percent;
use super::svg::escape;
use std::fmt::Write;

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
