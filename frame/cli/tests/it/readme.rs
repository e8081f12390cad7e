//! The command lines that the documents show are command lines of this program.

use std::ffi::OsString;

/// Lines of `sh` blocks that begin with the program's name, without comments, pipes and redirections.
fn commands(text: &str) -> Vec<&str> {
    let mut shown = false;
    let mut found = Vec::new();
    for line in text.lines() {
        match line {
            "```sh" => shown = true,
            "```" => shown = false,
            _ if shown && line.starts_with("blosc ") => {
                found.push(line.split(['#', '|', '>']).next().unwrap().trim());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn documents_show_commands_that_exist() {
    let documents = [include_str!("../../README.md"), include_str!("../../../../README.md")];
    let found: Vec<&str> = documents.into_iter().flat_map(commands).collect();
    assert!(found.len() >= 10, "only {found:?}");
    for command in found {
        let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        if let Err(error) = blosc_cli::check(words) {
            panic!("{command}: {error}");
        }
    }
}
