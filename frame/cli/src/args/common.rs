//! What several commands take: the input, the output, how to run, a part of an array, and how a container is got at.

use super::values::{Kind, isa_help, level, most};
use crate::cut::Cut;
use blosc_core::Level;
use blosc_frame::io::Locking;
use clap::Args as Group;
use std::path::{Path, PathBuf};

/// Which file, and what kind it is.
#[derive(Debug, Clone, Group)]
pub struct Input {
    /// File or directory to read, or a leaf of a store as STORE:/KEY; - is standard input
    pub input: PathBuf,
    /// Read it as this kind, whatever it looks like
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<Kind>,
    /// Where the data starts in the file
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub offset: u64,
    /// Refuse to decode to more than this; none lifts all limits, for input you trust
    #[arg(long, value_name = "BYTES", value_parser = most)]
    pub max_output: Option<u64>,
    /// Read chunks of a frame or array that their checksum does not match, too
    #[arg(long)]
    pub no_verify: bool,
    /// Read this column of a table only. Given several times, these columns of a python-blosc2 table
    #[arg(long, value_name = "NAME")]
    pub column: Vec<String>,
    /// Let a manifest of shards name directories outside its own
    #[arg(long)]
    pub anywhere: bool,
    /// Hold the lock file FRAME.b2lock of a frame meanwhile, so that writers that lock too wait
    #[arg(long)]
    pub lock: bool,
    /// Whether a writer locks nothing.
    #[arg(skip)]
    pub no_lock: bool,
    #[command(flatten)]
    pub run: Run,
}

/// How to run.
#[derive(Debug, Clone, Default, Group)]
pub struct Run {
    /// Threads to use; 0 is one per core
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    #[arg(long, value_name = "LEVEL", value_parser = level, help = isa_help())]
    pub isa: Option<Level>,
}

/// Where the result goes.
#[derive(Debug, Clone, Default, Group)]
pub struct Output {
    /// File to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the output if it exists
    #[arg(long)]
    pub force: bool,
}

/// Where the result goes, with a default.
#[derive(Debug, Clone, Default, Group)]
pub struct Named {
    /// File to write; - is standard output. If left out, it is called as the input, with an extension more or less
    /// (x and x.b2frame, x.npy and x.b2nd), or is standard output if the input is standard input
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub name: Option<PathBuf>,
    /// Replace the output if it exists
    #[arg(long)]
    pub force: bool,
}

impl Named {
    /// The output, which `default` names if the command line does not.
    ///
    /// # Errors
    /// What `default` gives.
    pub fn output<E>(&self, default: impl FnOnce() -> Result<PathBuf, E>) -> Result<Output, E> {
        let output = self.name.clone().map_or_else(default, Ok)?;
        Ok(Output { output, force: self.force })
    }
}

impl Run {
    /// The kernels to use.
    pub fn level(&self) -> Level {
        self.isa.unwrap_or_else(Level::best)
    }
}

/// Which items of an array or of rows.
#[derive(Debug, Group)]
pub struct Part {
    /// First item, a number for each dimension or for the first ones; negative ones are counted from the end
    #[arg(long, value_delimiter = ',', value_name = "A", allow_hyphen_values = true)]
    pub start: Vec<i64>,
    /// One past the last item, a number for each dimension or for the first ones; negative ones are counted from the end
    #[arg(long, value_delimiter = ',', value_name = "B", allow_hyphen_values = true)]
    pub stop: Vec<i64>,
    /// Take every N-th item of an array, a number for each dimension or for the first ones; negative ones run backwards
    #[arg(long, value_delimiter = ',', value_name = "N", allow_hyphen_values = true)]
    pub step: Vec<i64>,
}

impl Part {
    /// The part, for who reads or writes it.
    pub fn cut(&self) -> Cut<'_> {
        Cut { start: &self.start, stop: &self.stop, step: &self.step }
    }
}

/// How a frame is got at.
#[derive(Debug, Clone, Group)]
pub struct Access {
    /// Where the frame starts in the file. One inside a larger file can be read and copied, not changed
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub offset: u64,
    /// Refuse to decode to more than this; none lifts all limits, for input you trust
    #[arg(long, value_name = "BYTES", value_parser = most)]
    pub max_output: Option<u64>,
    /// Hold the lock file FRAME.b2lock meanwhile, too, for programs that use it
    #[arg(long)]
    pub lock: bool,
    /// Do not keep other commands from writing meanwhile
    #[arg(long, conflicts_with = "lock")]
    pub no_lock: bool,
}

impl Access {
    /// What to open.
    pub fn input(&self, path: &Path, run: &Run) -> Input {
        let Access { offset, max_output, lock, no_lock } = *self;
        Input { offset, lock, no_lock, ..Input::whole(path, max_output, run) }
    }
}

impl Input {
    /// How other writers are kept out, beside the sidecar lock.
    pub fn locking(&self) -> Locking {
        if self.no_lock { Locking::None } else { Locking::System }
    }

    /// What `path` holds, whatever that is, from its start.
    pub fn whole(path: &Path, max_output: Option<u64>, run: &Run) -> Input {
        Input {
            input: path.to_path_buf(),
            kind: None,
            offset: 0,
            max_output,
            no_verify: false,
            column: Vec::new(),
            anywhere: false,
            lock: false,
            no_lock: false,
            run: run.clone(),
        }
    }
}
