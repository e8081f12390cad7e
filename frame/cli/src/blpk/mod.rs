//! `blpk`: the command line of bloscpack 0.16, so that scripts made for it keep working.
//!
//! Same commands, options, defaults, names of outputs, messages (on standard output, each line after
//! `blpk: `) and exit statuses. Where the original was weak this is not: outputs appear only when complete,
//! an input is never its own output, `-` is a pipe, and every failure is one line instead of a traceback.

mod info;
mod run;
mod text;

use blosc_frame::bloscpack::Checksum;
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Command line to transform files to and from bloscpack
#[derive(Debug, Parser)]
#[command(name = "blpk", disable_version_flag = true)]
struct Cli {
    /// Show version and exit
    #[arg(long)]
    version: bool,
    /// Be verbose about actions
    #[arg(short, long, conflicts_with = "debug")]
    verbose: bool,
    /// Print debugging output too
    #[arg(short, long)]
    debug: bool,
    /// Disable overwrite checks for existing files
    #[arg(short, long)]
    force: bool,
    /// Number of threads, 1 to 256; by default one per core
    #[arg(short, long, value_name = "N")]
    nthreads: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Perform compression on file
    #[command(visible_alias = "c")]
    Compress(Compress),
    /// Perform decompression on file
    #[command(visible_alias = "d")]
    Decompress(Decompress),
    /// Append data to a compressed file
    #[command(visible_alias = "a")]
    Append(Append),
    /// Print information about a compressed file
    #[command(visible_alias = "i")]
    Info(Info),
}

/// How Blosc is called.
#[derive(Debug, Args)]
struct Blosc {
    /// Typesize for blosc
    #[arg(short, long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=255))]
    typesize: u32,
    /// Compression level
    #[arg(short = 'l', long, default_value_t = 7, value_parser = clap::value_parser!(u8).range(0..=9))]
    clevel: u8,
    /// Deactivate shuffle
    #[arg(short = 's', long)]
    no_shuffle: bool,
    /// Shuffle bits instead of bytes (not in bloscpack)
    #[arg(long, conflicts_with = "no_shuffle")]
    bitshuffle: bool,
    /// Codec to be used by Blosc
    #[arg(short, long, default_value = "blosclz", value_parser = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"])]
    codec: String,
    /// File containing the metadata, must contain valid JSON
    #[arg(short, long, value_name = "FILE")]
    metadata: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Compress {
    #[command(flatten)]
    blosc: Blosc,
    /// Set desired chunk size: bytes, or a number and B, K, M, G or T, or 'max'
    #[arg(short = 'z', long, default_value = "1M", allow_hyphen_values = true)]
    chunk_size: String,
    /// Set desired checksum
    #[arg(short = 'k', long, default_value = "adler32", value_parser = checksum)]
    checksum: Checksum,
    /// Deactivate offsets
    #[arg(short = 'o', long)]
    no_offsets: bool,
    /// Room for so many chunks in later appends; by default ten times the chunks (not in bloscpack)
    #[arg(long, value_name = "N")]
    max_app: Option<u64>,
    /// Room at the end of each chunk (not in bloscpack)
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    reserve: u32,
    in_file: PathBuf,
    out_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Decompress {
    /// Disable checking input file for extension (*.blp); requires use of out_file
    #[arg(short = 'e', long)]
    no_check_extension: bool,
    /// Write the metadata here, as JSON (not in bloscpack)
    #[arg(long, value_name = "FILE")]
    metadata_out: Option<PathBuf>,
    in_file: PathBuf,
    out_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Append {
    #[command(flatten)]
    blosc: Blosc,
    /// Disable checking original file for extension (*.blp)
    #[arg(short = 'e', long)]
    no_check_extension: bool,
    original_file: PathBuf,
    new_file: PathBuf,
}

#[derive(Debug, Args)]
struct Info {
    file: PathBuf,
}

fn checksum(name: &str) -> Result<Checksum, String> {
    let known = Checksum::ALL.into_iter().find(|c| c.name() == name);
    known.ok_or_else(|| "None, adler32, crc32, md5, sha1, sha224, sha256, sha384 or sha512".into())
}

/// Only parses the arguments.
pub fn check(args: Vec<OsString>) -> Result<(), clap::Error> {
    Cli::try_parse_from(args).map(drop)
}

/// Runs the command with these arguments, the first being the program's name.
pub fn main(args: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            return crate::output::say(&error, 2);
        }
    };
    if cli.version {
        let ours = env!("CARGO_PKG_VERSION");
        let text = format!("bloscpack: '0.16.0' python-blosc: '{ours}' blosc: '{ours}'\n");
        return match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let Some(command) = cli.command else {
        eprintln!(
            "usage: blpk [-h] [--version] [-v | -d] [-f] [-n [1, 256]]  ...\nblpk: error: too few arguments"
        );
        return ExitCode::from(2);
    };
    let say = text::Say { verbose: cli.verbose || cli.debug };
    let threads = match cli.nthreads.as_deref().map(str::parse::<usize>) {
        None => std::thread::available_parallelism().map_or(1, usize::from),
        Some(Ok(n)) if (1..=256).contains(&n) => n,
        _ => {
            say.error("-n must be 1 <= n <= 256");
            return ExitCode::FAILURE;
        }
    };
    say.more(format_args!("using {threads} thread{}", if threads == 1 { "" } else { "s" }));
    let mut job = run::Job { say, force: cli.force, pool: blosc_core::Pool::new(threads) };
    let done = match &command {
        Command::Compress(args) => job.compress(args),
        Command::Decompress(args) => job.decompress(args),
        Command::Append(args) => job.append(args),
        Command::Info(args) => job.info(&args.file),
    };
    match done {
        Ok(()) => {
            job.say.more("done");
            ExitCode::SUCCESS
        }
        Err(error) => {
            error.lines().for_each(|line| job.say.error(line));
            ExitCode::FAILURE
        }
    }
}
