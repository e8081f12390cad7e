//! Tables of promises: container x verb. Each promise is one test that walks all [`cells`]; a cell is right, or it says
//! why the container refuses. `cargo test -p blosc-cli --test it promises -- --nocapture` prints the tables.

pub mod cells;
#[cfg(target_os = "linux")]
mod confirmed;
#[cfg(target_os = "linux")]
mod faults;
mod limits;
mod refusals;
mod repairs;

use cells::Cell;

/// A table that is being filled. Cells that break the promise are gathered, so that one run shows all of them.
pub struct Table {
    promise: &'static str,
    wrong: Vec<String>,
    cells: usize,
}

impl Table {
    pub fn new(promise: &'static str) -> Table {
        Table { promise, wrong: Vec::new(), cells: 0 }
    }

    /// Notes a cell: right, refused with a reason, or what is wrong. A cell that is listed as open and is right is wrong, too:
    /// it must leave the list.
    pub fn cell(&mut self, cell: &Cell, outcome: Result<(), String>) {
        let open = cells::OPEN.contains(&(self.promise, cell.container.name, cell.verb.name));
        let text = match (&outcome, cell.refused()) {
            (Err(wrong), _) if open => format!("OPEN: {wrong}"),
            (Ok(()), _) if open => "WRONG: it is right, and listed in OPEN".to_string(),
            (Err(wrong), _) => format!("WRONG: {wrong}"),
            (Ok(()), Some(reason)) => format!("refused: {reason}"),
            (Ok(()), None) => "right".to_string(),
        };
        let line = format!("{} | {} | {} | {text}", self.promise, cell.container.name, cell.verb.name);
        println!("{line}");
        self.cells += 1;
        if outcome.is_err() != open {
            self.wrong.push(format!("{line} ({})", cell.words().join(" ")));
        }
    }

    /// Ends the table; a promise that does not hold for all cells fails here.
    pub fn end(self) {
        println!("{}: {} cells", self.promise, self.cells);
        assert!(
            self.wrong.is_empty(),
            "{} of {} cells:\n{}",
            self.wrong.len(),
            self.cells,
            self.wrong.join("\n")
        );
    }
}
