//! Tables for terminals and files, comparisons of runs, and the HTML page.

pub mod compare;
pub mod console;
pub mod html;
pub mod svg;
pub mod table;
