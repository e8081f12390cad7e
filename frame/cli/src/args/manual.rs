//! The command lines of `completions` and `man`.

use clap::Args as Group;
use clap_complete::Shell;
use std::path::PathBuf;

/// `blosc completions`.
#[derive(Debug, Group)]
pub struct Completions {
    /// Shell to write for
    pub shell: Shell,
}

/// `blosc man`.
#[derive(Debug, Group)]
pub struct Man {
    /// Command to describe, such as compress or meta set; blosc itself if left out
    pub command: Vec<String>,
    /// Write the pages of all commands into this directory, which must exist
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub directory: Option<PathBuf>,
}
