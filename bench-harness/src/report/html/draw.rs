//! Sections of the page, drawn from their description.

use super::chunks;
use super::parts::{section, text_table};
use crate::report::goals;
use crate::report::grids::{Cell, HeatMap};
use crate::report::mean::{Mean, SPEED, VS_COPY};
use crate::report::sections::{Draw, Field, Grid, Section, cell, figures, text};
use crate::report::svg::{Chart, Point, Series, escape};
use crate::report::table::{figure, speed_unit};
use crate::result::Row;
use crate::result::file::Results;
use std::fmt::Write;

/// One section of a file.
pub fn draw(file: &Results, what: &Section<'_>) -> String {
    match what.draw {
        Draw::Chunks => return chunks::choice(file) + &chunks::fronts(file),
        Draw::Goals => {
            let note = goals::memory_note(&file.rows).map_or(String::new(), |n| format!("<p>{n}</p>"));
            return section(
                what.suite,
                what.title,
                what.lead,
                &(text_table(&goals::table(&file.rows)) + &note),
            );
        }
        _ => {}
    }
    let figures = figures(what, &file.rows, file.machine.best_level());
    let several = figures.len() > 1;
    let mut body = String::new();
    for (name, grid) in &figures {
        let one = match what.draw {
            Draw::Heat => heat(name, grid),
            Draw::Lines | Draw::Scaling => chart(what, grid),
            _ => {
                body.push_str(&text_table(&text("", grid, false, true)));
                continue;
            }
        };
        let _ = write!(body, "<figure><figcaption>{}</figcaption>{one}</figure>", escape(name));
    }
    if several {
        body = format!("<div class=\"pair\">{body}</div>");
    }
    section(&escape(what.suite), &escape(what.title), &escape(what.lead), &body)
}

/// Lines below each other, shaded by the fraction of a copy. What a line above beats by more than both spreads is underlined.
fn heat(name: &str, grid: &Grid<'_>) -> String {
    let mut fastest: Vec<Option<Mean>> = grid.columns.iter().map(|_| None).collect();
    let mut rows = Vec::new();
    for (words, cells) in &grid.lines {
        let mut line = Vec::new();
        for (rows, fastest) in cells.iter().zip(&mut fastest) {
            let Some(mean) = Mean::of(rows, SPEED) else {
                line.push(None);
                continue;
            };
            let copy = Mean::of(rows, VS_COPY);
            let which = rows.iter().find_map(|r| r.copy.clone()).unwrap_or("copy".into());
            let part =
                copy.as_ref().map_or(String::new(), |m| format!(", {} of a copy ({which})", m.whole()));
            let beaten = fastest.as_ref().map(|other| other.over(&mean));
            let below = beaten.is_some_and(|ratio| ratio.value > 1.03 + ratio.spread.unwrap_or(0.0));
            let note = if below { ", slower than a level above it" } else { "" };
            let case = rows.first().map_or(String::new(), |r| r.label());
            let told = format!("{case}: {}{}{part}{note}", speed_unit(mean.value), mean.around());
            let shade = copy.map_or(0.0, |m| m.value);
            line.push(Some(Cell {
                text: cell(rows, false),
                spread: mean.spread,
                shade,
                told,
                noisy: mean.noisy(),
                below,
            }));
            if fastest.as_ref().is_none_or(|f| f.value < mean.value) {
                *fastest = Some(mean);
            }
        }
        rows.push((words.clone(), line));
    }
    let columns = grid.columns.iter().map(|c| c.1.clone()).collect();
    HeatMap { title: name.into(), columns, rows }.svg()
}

/// Lines as series along the columns.
fn chart(what: &Section<'_>, grid: &Grid<'_>) -> String {
    let scaling = what.draw == Draw::Scaling;
    let mut series: Vec<Series> = Vec::new();
    for (words, cells) in &grid.lines {
        let first = cells.first().and_then(|rows| Mean::of(rows, SPEED));
        let point = |((x, at), rows): (&(usize, String), &Vec<&Row>)| {
            let mean = Mean::of(rows, SPEED)?;
            let shown = if scaling { mean.over(first.as_ref()?) } else { mean };
            let value =
                if scaling { format!("{} times", figure(shown.value)) } else { speed_unit(shown.value) };
            let label = if scaling && *x > 1 { figure(shown.value) } else { String::new() };
            let title = format!("{words}, {at}: {value}{}", shown.around());
            Some(Point {
                x: *x as f64,
                y: shown.value,
                label,
                title,
                spread: shown.spread,
                noisy: shown.noisy(),
            })
        };
        let points: Vec<Point> = grid.columns.iter().zip(cells).filter_map(point).collect();
        let square = cells.iter().flatten().any(|r| r.engine != "ours");
        let colour = series.len();
        series.push(Series { name: words.clone(), points, line: true, dashed: square, square, colour });
    }
    if scaling {
        let ideal = |(x, _): &(usize, String)| Point {
            x: *x as f64,
            y: *x as f64,
            label: String::new(),
            title: format!("{x} times"),
            spread: None,
            noisy: false,
        };
        let (colour, points) = (series.len(), grid.columns.iter().map(ideal).collect());
        series.push(Series { name: "ideal".into(), points, line: true, dashed: true, square: true, colour });
    }
    let x = if what.columns == Field::Threads { "threads" } else { "bytes in the buffer" };
    let y = if scaling { "times one thread" } else { "GB/s" };
    let ticks = grid.columns.iter().map(|(x, word)| (*x as f64, word.replace(" threads", ""))).collect();
    Chart {
        title: what.title,
        x,
        y,
        log_x: !scaling,
        log_y: !scaling,
        x_ticks: ticks,
        series,
        yardsticks: vec![],
    }
    .svg()
}
