//! Writes the man pages of `blosc` and the completions for shells into a directory:
//! `cargo run -p blosc-cli --example manual -- DIRECTORY`. Releases ship what it writes.
//!
//! ```text
//! man/blosc.1, man/blosc-VERB.1
//! completions/blosc.bash, _blosc (zsh), blosc.fish, blosc.elv, _blosc.ps1
//! ```
use clap_complete::{Shell, generate_to};
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    write(&folder.ok_or_else(|| io::Error::other("usage: manual DIRECTORY"))?)
}

/// Writes all of them.
pub fn write(folder: &Path) -> io::Result<()> {
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    std::fs::create_dir_all(&man)?;
    std::fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(blosc_cli::command(), &man)?;
    let mut command = blosc_cli::command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
        generate_to(shell, &mut command, "blosc", &completions)?;
    }
    Ok(())
}
