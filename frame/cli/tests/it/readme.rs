//! The command lines that the documents show are command lines of this program.

use crate::common::Folder;
#[cfg(unix)]
const DOCUMENTS: [(&str, &str); 2] = [
    ("README.md", include_str!("../../../../README.md")),
    ("frame/cli/README.md", include_str!("../../README.md")),
];

/// The `sh` blocks in which a line begins with the program's name.
#[cfg(unix)]
fn blocks(text: &str) -> Vec<&str> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.filter(|block| block.lines().any(|line| line.starts_with("blosc "))).collect()
}

/// A newcomer types them in an empty folder, one after the other.
#[test]
#[cfg(unix)]
fn the_commands_of_the_documents_run_in_an_empty_folder() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_blosc")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    for (name, text) in DOCUMENTS {
        let (folder, script) = (Folder::new("readme"), blocks(text).concat());
        let lines = script.lines().filter(|line| line.starts_with("blosc ")).count();
        assert!(lines >= 3, "{name}: {lines} lines");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-e", "-x", "-c", &script]).current_dir(folder.path(".")).env("PATH", &path);
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn examples_in_the_help_are_command_lines() {
    let folder = Folder::new("examples");
    let mut found = 0;
    for verb in ["compress", "decompress", "verify", "slice", "append", "convert", "edit", "meta"] {
        let help = String::from_utf8(folder.run(&[verb, "--help"])).unwrap();
        let examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        for line in examples.take_while(|line| line.starts_with("  blosc ")) {
            let words: Vec<_> = line.split_whitespace().map(std::ffi::OsString::from).collect();
            assert!(line.contains(verb) && blosc_cli::check(words.clone()).is_ok(), "{line}");
            found += 1;
        }
    }
    assert!(found >= 12, "{found}");
}
