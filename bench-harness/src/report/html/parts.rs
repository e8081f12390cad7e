//! What the sections of the page share.

use crate::measure::stats::geometric_mean;
use crate::report::svg::escape;
use crate::result::Row;
use crate::result::file::Results;
use std::fmt::Write;

/// A section, or nothing where there is nothing to show.
pub fn section(title: &str, lead: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<section><h2>{title}</h2><p class=\"lead\">{lead}</p>\n{body}</section>\n")
}

/// Rows of a suite that carry a time.
pub fn timed<'a>(file: &'a Results, suite: &'a str) -> impl Iterator<Item = &'a Row> {
    file.rows.iter().filter(move |r| r.suite == suite && r.median_ns.is_some())
}

/// A geometric mean over rows, and how far another run's may lie: scatter of single rows averages out.
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its spread, where the rows have any.
    pub spread: Option<f64>,
    /// Most of the rows are noisy.
    pub noisy: bool,
}

impl Mean {
    /// The mean of what `of` takes of each row; `None` without numbers.
    pub fn of(rows: &[&Row], of: impl Fn(&Row) -> Option<f64>) -> Option<Mean> {
        let value = geometric_mean(rows.iter().filter_map(|r| of(r)))?;
        let squares: Vec<f64> = rows.iter().filter_map(|r| Some(r.spread?.ln_1p().powi(2))).collect();
        let sum = squares.iter().sum::<f64>().sqrt();
        let spread = (!squares.is_empty()).then(|| (sum / squares.len() as f64).exp_m1());
        Some(Mean { value, spread, noisy: 2 * rows.iter().filter(|r| r.noisy).count() > rows.len() })
    }
}

/// A table; cells are HTML, the head is text.
pub fn html_table(head: &[String], rows: &[Vec<String>]) -> String {
    let mut out = String::from("<div class=\"scroll\"><table><thead><tr>");
    head.iter().for_each(|h| {
        let _ = write!(out, "<th>{}</th>", escape(h));
    });
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        row.iter().for_each(|c| {
            let _ = write!(out, "<td>{c}</td>");
        });
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>");
    out
}

/// The day of a time in seconds since 1970, as `2026-11-21` (Gregorian, UTC).
pub fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year}-{month:02}-{:02}", of_year - (153 * march_month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted() {
        assert_eq!((date(0).as_str(), date(951_782_400).as_str()), ("1970-01-01", "2000-02-29"));
    }

    #[test]
    fn means_of_many_rows_scatter_less() {
        let row = Row { gbps: Some(2.0), spread: Some(0.10), noisy: true, ..Row::default() };
        let mean = |n: usize| Mean::of(&vec![&row; n], |r| r.gbps).unwrap();
        assert!((mean(1).spread.unwrap() - 0.10).abs() < 1e-9 && mean(4).noisy);
        assert!((mean(4).spread.unwrap() - 0.05).abs() < 0.003 && (mean(4).value - 2.0).abs() < 1e-9);
    }
}
