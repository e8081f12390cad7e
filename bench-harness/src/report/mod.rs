//! Tables for terminals and files, comparisons of runs, and the HTML page.

pub mod console;
pub mod table;
