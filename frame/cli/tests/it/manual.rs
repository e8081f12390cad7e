//! The man pages and completions that releases ship.

#[path = "../../examples/manual.rs"]
#[allow(dead_code, reason = "the example's `main` is not run")]
mod example;

/// Each verb has a page, and each shell knows the verbs.
#[test]
fn every_verb_has_a_page_and_every_shell_knows_it() {
    let folder = blosc_testkit::Folder::new("manual");
    example::write(folder.root()).unwrap();
    let mut verbs: Vec<_> =
        blosc_cli::command().get_subcommands().map(|c| c.get_name().to_string()).collect();
    verbs.retain(|verb| verb != "help");
    assert!(verbs.len() > 15);
    for verb in &verbs {
        let page = std::fs::read_to_string(folder.path(&format!("man/blosc-{verb}.1"))).unwrap();
        assert!(page.contains(".SH OPTIONS") || page.contains(".SH SUBCOMMANDS"), "{verb}");
    }
    for shell in ["blosc.bash", "_blosc", "blosc.fish", "blosc.elv", "_blosc.ps1"] {
        let text = std::fs::read_to_string(folder.path(&format!("completions/{shell}"))).unwrap();
        assert!(verbs.iter().all(|verb| text.contains(verb.as_str())), "{shell}");
    }
}
