//! What reads text: the command line, and the results files of the harness.

use crate::resources::allow;
use blosc_bench::report::{console, difference, export, html, side_by_side};
use blosc_bench::result::file;
use std::ffi::OsString;
use std::path::Path;

/// A command line, one word per line. It is only parsed; what is refused comes with a message.
pub fn command_line(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let words: Vec<OsString> = text.split('\n').take(64).map(OsString::from).collect();
    allow(words.len() * 4096);
    if let Err(message) = blosc_cli::check(words) {
        assert!(!message.trim().is_empty(), "refused without a word");
    }
}

/// A results file; what is read can be reported in every form.
pub fn results(data: &[u8]) {
    allow(256 * data.len());
    let Ok(results) = file::parse(Path::new("results.jsonl"), data) else { return };
    console::summary(&results.machine, &results.rows);
    export::csv(&results);
    export::readme(&results);
    let files = [results.clone(), results];
    side_by_side::compare(&files, "", false);
    difference::difference(&files, 1.05, "");
    let page = html::page(&files);
    assert!(!page.contains("<script>alert"), "text of a results file becomes part of the page");
}
