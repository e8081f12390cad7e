//! What the sections of the page share.

use crate::report::svg::escape;
use crate::report::table::Table;
use crate::result::Row;
use crate::result::file::Results;
use std::fmt::Write;

/// A section, or nothing where there is nothing to show.
pub fn section(suite: &str, title: &str, lead: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!(
        "<section class=\"suite-{suite}\"><h2>{title}</h2><p class=\"lead\">{lead}</p>\n{body}</section>\n"
    )
}

/// Rows of a suite that carry a time.
pub fn timed<'a>(file: &'a Results, suite: &'a str) -> impl Iterator<Item = &'a Row> {
    file.rows.iter().filter(move |r| r.suite == suite && r.quartile_ns.is_some())
}

/// A table of text.
pub fn text_table(table: &Table) -> String {
    let (head, rows) = table.cells();
    html_table(&head, &rows.iter().map(|row| row.iter().map(|c| escape(c)).collect()).collect::<Vec<_>>())
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
}
