//! A verb does what it is asked, with status 0 and a container that verifies; or it refuses with a reason, and nothing
//! has been touched.

use super::Table;
use super::cells::{self, CONTAINERS, VERBS, cells};
use crate::common::Folder;

#[test]
fn every_verb_of_the_command_has_a_row() {
    let help = String::from_utf8(Folder::new("promises-help").run(&["--help"])).unwrap();
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 10, "{help}");
    // These take no container.
    let without = ["help", "compress", "completions", "man"];
    for name in names.into_iter().filter(|name| !without.contains(name)) {
        assert!(VERBS.iter().any(|verb| verb.words[0] == name), "{name} has no row in VERBS");
    }
}

#[test]
fn what_is_refused_is_refused_before_anything_is_touched() {
    let folder = Folder::new("promises-refusals");
    cells::prepare(&folder);
    let mut table = Table::new("refused whole or done whole");
    for cell in cells() {
        let path = folder.path(cell.container.path);
        cells::make(&folder, cell.container);
        if ["meta get", "meta rm"].contains(&cell.verb.name) {
            // So that there is something to get; a container without metalayers refuses this, and then that.
            folder.status(&["meta", "set", cell.container.path, "note", "--vl", "--json", "7"], b"");
        }
        let before = cells::files(&path);
        let words = cell.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (status, _, message) = folder.status(&words, b"");
        let touched = cells::files(&path) != before;
        let outcome = match cell.refused() {
            Some(_) if status == 0 => Err("it is done, though the table says that it is refused".into()),
            Some(reason) if !message.contains(reason) => Err(format!("the message is: {}", message.trim())),
            Some(_) if touched => Err("it is refused, and was changed all the same".into()),
            None if status != 0 => Err(format!("status {status}: {}", message.trim())),
            None if !cell.verb.changes && touched => Err("it was changed".into()),
            None if cell.verb.changes && cell.verb.name != "compact" && !touched => {
                Err("nothing was changed".into())
            }
            None => match folder.status(&["verify", cell.container.path], b"") {
                (0, ..) => Ok(()),
                (status, _, message) => Err(format!("verify: status {status}: {}", message.trim())),
            },
            Some(_) => Ok(()),
        };
        table.cell(&cell, outcome);
        ["out", "out.b2nd", "out.csv"].iter().for_each(|name| cells::remove(&folder.path(name)));
    }
    assert!(CONTAINERS.len() * VERBS.len() == cells().count());
    table.end();
}
