//! `blosc completions` and `blosc man`: the command line describes itself, so that an installed program needs no checkout.

use crate::args::Args;
use crate::failure::{Failure, Result};
use crate::output::stdout_failed;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::path::Path;

/// `blosc completions`: the completions for a shell, on standard output.
pub fn completions(shell: Shell) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "blosc", &mut text);
    print(&text)
}

/// `blosc man`: the page of one command on standard output, or those of all commands as files.
pub fn man(words: &[String], folder: Option<&Path>) -> Result<()> {
    if let Some(folder) = folder {
        return clap_mangen::generate_to(Args::command(), folder).map_err(|e| Failure::at(folder, e));
    }
    let mut command = Args::command().disable_help_subcommand(true);
    // This gives subcommands the names by which pages call them, such as `blosc-meta-set`.
    command.build();
    for word in words {
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| Failure::Usage(format!("{word:?} is no command that has a page")))?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text).map_err(|e| stdout_failed(&e))?;
    print(&text)
}

fn print(text: &[u8]) -> Result<()> {
    std::io::stdout().write_all(text).map_err(|e| stdout_failed(&e))
}
