//! The man pages and completions that the program writes.

use crate::common::Folder;

/// Each command has a page, alone and among all, and each shell knows the commands.
#[test]
fn every_command_has_a_page_and_every_shell_knows_it() {
    let folder = Folder::new("manual");
    folder.run(&["man", "--directory", "."]);
    let help = String::from_utf8(folder.run(&["--help"])).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs: Vec<_> = commands.map_while(|line| line.split_whitespace().next()).collect();
    assert!(verbs.len() > 20 && verbs.contains(&"man"), "{verbs:?}");
    for name in verbs.iter().copied().filter(|verb| *verb != "help").chain(["meta set", "column add", ""]) {
        let words: Vec<_> = ["man"].into_iter().chain(name.split_whitespace()).collect();
        let file = std::iter::once("blosc").chain(name.split_whitespace()).collect::<Vec<_>>().join("-");
        let page = folder.read(&format!("{file}.1"));
        assert!(folder.run(&words) == page, "{words:?}");
        assert!(String::from_utf8(page).unwrap().contains(".SH SYNOPSIS"), "{file}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = String::from_utf8(folder.run(&["completions", shell])).unwrap();
        assert!(verbs.iter().all(|verb| text.contains(verb)), "{shell}");
    }
}

/// A mistake is named, and nothing is written.
#[test]
fn a_page_that_is_not_there_is_a_mistake() {
    let folder = Folder::new("manual-mistakes");
    for (words, status, says) in [
        (&["man", "compres"][..], 2, "\"compres\" is no command"),
        (&["man", "meta", "sets"], 2, "\"sets\" is no command"),
        (&["man", "--directory", "absent"], 1, "absent: "),
        (&["completions", "tcsh"], 2, "tcsh"),
    ] {
        let (found, out, text) = folder.status(words, b"");
        assert!(found == status && out.is_empty() && text.contains(says), "{words:?}: {found}: {text}");
    }
}
