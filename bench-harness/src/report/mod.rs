//! Tables for terminals and files, comparisons of runs, and the HTML page.

pub mod agreement;
pub mod cases;
pub mod console;
pub mod difference;
pub mod export;
pub mod goals;
pub mod grids;
pub mod html;
pub mod mean;
pub mod paired;
pub mod sections;
pub mod side_by_side;
pub mod svg;
pub mod table;
