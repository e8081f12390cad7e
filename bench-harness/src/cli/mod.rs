//! The command line.

mod advise;
mod bench;
mod execute;
mod files;
mod levels;
mod paired;
mod ratio;
mod repeat;

use blosc_bench::engine::Filters;
use blosc_bench::instructions;
use blosc_bench::report::table::{paragraph, parse_size};
use blosc_core::{Codec, Isa};
use clap::{Args, Parser, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures Blosc kernels, codecs and pipelines on this CPU; verifies before it times.
///
/// Every case is visited several times, seconds apart. Its figure is the lower
/// quartile of the visits; its spread says how far another run may lie, in 19 cases of 20:
/// between figure / (1 + spread) and figure * (1 + spread).
#[derive(Parser)]
// An option before a subcommand is the quick run's, and would be lost.
#[command(name = "blosc-bench", version, max_term_width = 80, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    quick: Quick,
}

#[derive(Subcommand)]
enum Command {
    /// What matters, in under a minute (what happens without a command).
    Quick(Quick),
    /// Run quick several times and print how well the runs agree.
    ///
    /// It prints the share of all pairs of runs in which the fractions of a copy lie within
    /// 5 %, and ratios of neighbours within 3 %. The goal is 95 % of each.
    Repeat(repeat::Options),
    /// Choose suites, kernels, arrays, opponents and time.
    Run(Box<Run>),
    /// Try codecs, filters, levels and block sizes on a file; say which to take.
    Advise(advise::Options),
    /// Compare sizes with another library's; status 1 if a bound is broken.
    Ratio(ratio::Options),
    /// Compare results files case by case: GB/s, and ratios to the first file.
    Cmp(Files),
    /// Compare a new run with an old one; status 1 if a case became slower.
    ///
    /// Says how many rows agree: two do when the printed spread of one run reaches
    /// the median of the other. Others count as slower or faster if they moved by
    /// more than the threshold, both in time and against the copy beside them.
    ///
    /// With --paired, OLD and NEW are programs, which are run by turns: then every
    /// case has an interval and a verdict. Without NEW, OLD is compared with itself,
    /// without both this program, which shows what the machine can tell.
    Diff {
        /// The older results file, or program.
        #[arg(required_unless_present = "paired")]
        old: Option<PathBuf>,
        /// The newer one.
        #[arg(required_unless_present = "paired")]
        new: Option<PathBuf>,
        /// Run two programs by turns instead of reading files.
        #[arg(long)]
        paired: bool,
        /// How many turns.
        #[arg(long, requires = "paired", default_value_t = 6, value_parser = clap::value_parser!(u8).range(2..=100))]
        turns: u8,
        /// Count instructions too (needs valgrind).
        #[arg(long, requires = "paired")]
        instructions: bool,
        /// What is run in each turn: options of `run`.
        #[arg(last = true, requires = "paired", value_name = "RUN")]
        run: Vec<String>,
        /// Smaller changes do not count, in percent.
        #[arg(long, default_value_t = 5.0)]
        threshold: f64,
        /// Only cases whose label has all these words.
        #[arg(long, value_delimiter = ',')]
        filter: Vec<String>,
    },
    /// Write one self-contained HTML page about results files.
    Report {
        /// Results files or folders of them; each machine has sections of its own.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The page.
        #[arg(short, long, default_value = "target/blosc-bench/report.html")]
        out: PathBuf,
    },
    /// Put pieces of a long run, each of other cases, into one results file.
    Join {
        /// Results files of one build on one machine.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The whole.
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Check that results files, or those in a folder, follow the schema and can be
    /// contributed: measured alone, all of a folder at one commit.
    Check {
        /// Files and folders.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Print a results file as CSV.
    Csv {
        /// The results file.
        file: PathBuf,
    },
    /// Put the figures of a results file into a README between its marks.
    Splice {
        /// The results file.
        file: PathBuf,
        /// The file with the marks.
        #[arg(long, default_value = "README.md")]
        readme: PathBuf,
        /// Change nothing; status 1 if the file is not up to date.
        #[arg(long)]
        check: bool,
    },
    /// Find kernels slower than one that could be taken instead; status 1 if there are any.
    ///
    /// Every level is compared with each one that it implies, and each power of two
    /// with the lengths beside it. A pair counts as slow if the upper quartile of
    /// its ratios is below the bound three times over.
    Levels(levels::Options),
    /// Count the kernels' instructions per byte, with callgrind or under QEMU.
    Instructions {
        /// Run under this emulator, such as `qemu-aarch64 -L /`.
        #[arg(long, value_name = "RUNNER", requires = "program")]
        qemu: Option<String>,
        /// This program built for the emulated CPU.
        #[arg(long, requires = "qemu")]
        program: Option<PathBuf>,
        /// Estimate cycles on these cores as well, such as neoverse-n1,neoverse-v1.
        #[arg(long, value_name = "CORES", value_delimiter = ',', requires = "qemu")]
        mca: Vec<String>,
        /// What the names of llvm-mca and llvm-objdump end with, such as `-19`.
        #[arg(long, value_name = "SUFFIX", default_value = "", allow_hyphen_values = true)]
        llvm: String,
        /// Compare with a baseline; status 1 if a kernel moved.
        #[arg(long, value_name = "FILE")]
        check: Option<PathBuf>,
        /// Write the counts to a file.
        #[arg(long, value_name = "FILE")]
        write: Option<PathBuf>,
        /// How far a count may move, in percent.
        #[arg(long, default_value_t = 2.0)]
        tolerance: f64,
    },
    /// Run each kernel once (what counters of instructions look at).
    #[command(hide = true)]
    Once {
        /// And whole chunks.
        #[arg(long)]
        chunks: bool,
    },
    /// Print the machine record as JSON.
    Machine,
    /// List the arrays that are compressed, their sources and licences.
    Corpus,
}

#[derive(Args, Clone)]
struct Quick {
    /// Opponents, as for `run`: libblosc2[=PATH] libblosc[=PATH] python:blosc2 ...
    /// A libblosc2 that is found here is one unless another (or `none`) is named.
    #[arg(long, value_name = "ENGINE")]
    engine: Vec<String>,
    /// Where the JSON lines go.
    #[arg(long, value_name = "FILE", default_value = "target/blosc-bench/latest.jsonl")]
    out: PathBuf,
}

#[derive(Args, Clone)]
struct Files {
    /// Results files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Only cases whose label has all these words, such as `shuffle,ts4`.
    #[arg(long, value_delimiter = ',')]
    filter: Vec<String>,
}

/// Which codecs, filters and levels.
#[derive(Args, Clone)]
struct Coding {
    /// Codecs: blosclz lz4 lz4hc zlib zstd.
    #[arg(long, value_delimiter = ',')]
    codec: Vec<String>,
    /// Filters: none shuffle bitshuffle shuffle+bytedelta.
    #[arg(long, value_delimiter = ',')]
    filter: Vec<String>,
    /// Compression levels, 1 to 9.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=9))]
    level: Vec<u8>,
}

impl Coding {
    /// Keeps of these what was asked for; everything where nothing was.
    fn choose(
        &self,
        codecs: &mut Vec<Codec>,
        filters: &mut Vec<Filters>,
        levels: &mut Vec<u8>,
    ) -> Result<(), String> {
        pick(codecs, &self.codec, "--codec", |c| c.name())?;
        pick(filters, &self.filter, "--filter", |f| f.name())?;
        if !self.level.is_empty() {
            levels.clone_from(&self.level);
        }
        Ok(())
    }
}

/// Keeps of `all` what `wanted` names, everything if it is empty.
fn pick<T: Copy>(
    all: &mut Vec<T>,
    wanted: &[String],
    option: &str,
    name: fn(&T) -> &'static str,
) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    let found = wanted.iter().map(|w| {
        let known: Vec<&str> = all.iter().map(name).collect();
        let hit = all.iter().find(|x| name(x) == w);
        hit.copied().ok_or_else(|| format!("{option} {w}: unknown; known are {}", known.join(" ")))
    });
    *all = found.collect::<Result<_, _>>()?;
    Ok(())
}

/// What `--isa` takes.
fn isa_help() -> String {
    let names: Vec<&str> =
        Isa::ALL.iter().flat_map(|i| [i.name()].into_iter().chain(i.aliases().iter().copied())).collect();
    format!("Kernel levels: {} all", names.join(" "))
}

/// What `run` can be told.
#[derive(Args, Clone)]
struct Run {
    /// Suites, comma-separated: kernels split codecs chunks frames arrays latency
    /// threads frame-files array-files containers far goals all. `all` is all but the
    /// last five.
    #[arg(long, value_delimiter = ',', default_value = "all")]
    suite: Vec<String>,
    #[arg(long, value_delimiter = ',', default_value = "all", help = isa_help())]
    isa: Vec<String>,
    /// Item sizes of kernel suites.
    #[arg(long, value_delimiter = ',', value_name = "BYTES")]
    typesize: Vec<usize>,
    /// Sizes: of buffers in kernel suites, of arrays in the others (K, M, G allowed;
    /// threads and containers take the first).
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = parse_size)]
    size: Vec<usize>,
    /// A file of yours instead of the corpus, or names of corpus arrays.
    #[arg(long, value_delimiter = ',', value_name = "FILE|NAME")]
    data: Vec<String>,
    /// Item type of the file: u1 i2 f4 f8 ...
    #[arg(long, default_value = "u1")]
    dtype: String,
    #[command(flatten)]
    coding: Coding,
    /// Block size in bytes instead of the automatic one.
    #[arg(long, value_parser = parse_size)]
    blocksize: Option<usize>,
    /// Opponents: libblosc2[=PATH] libblosc[=PATH] python:blosc2 lz4_flex zstd
    /// zlib-rs exec:COMMAND. The first library is the one ratios are against.
    #[arg(long, value_name = "ENGINE")]
    engine: Vec<String>,
    /// Seconds the whole run may take. What is not reached in this time is left
    /// out; a time too short for every case is told before the run starts.
    #[arg(long, default_value_t = 120.0, value_name = "SECONDS")]
    time: f64,
    /// Numbers of threads of threads, containers, frame-files and array-files.
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Measure chunks and latency as if data were met for the first time: every
    /// candidate works through other arrays before each sample, outside the clock,
    /// so that no CPU knows by heart where the branches go. Goals always do so.
    #[arg(long)]
    once: bool,
    /// Goals of the suite goals, by number.
    #[arg(long, value_delimiter = ',')]
    goal: Vec<u32>,
    /// Where the JSON lines go.
    #[arg(long, value_name = "FILE", default_value = "target/blosc-bench/latest.jsonl")]
    out: PathBuf,
}

/// Does what the command line says.
pub fn run() -> Result<ExitCode, String> {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) if e.use_stderr() => {
            // One line: clap's own message up to the first blank line, without its "error: ".
            let text = e.to_string();
            let told: Vec<&str> = text.lines().take_while(|l| !l.is_empty()).map(str::trim).collect();
            return Err(told.join(" ").trim_start_matches("error: ").to_string());
        }
        Err(e) => {
            say(&e.to_string());
            return Ok(ExitCode::SUCCESS);
        }
    };
    match cli.command {
        None => bench::quick(&cli.quick),
        Some(Command::Quick(quick)) => bench::quick(&quick),
        Some(Command::Repeat(options)) => repeat::run(&options),
        Some(Command::Run(run)) => bench::run(&run),
        Some(Command::Advise(options)) => advise::run(&options),
        Some(Command::Ratio(options)) => ratio::run(&options),
        Some(Command::Cmp(f)) => files::cmp(&f.files, &f.filter),
        Some(Command::Diff { old, new, paired, turns, instructions, run, threshold, filter }) => {
            let threshold = files::fraction(threshold)?;
            if let Some((old, new)) = old.as_ref().zip(new.as_ref()).filter(|_| !paired) {
                return files::diff(old, new, threshold, &filter);
            }
            let turns = paired::Turns { count: turns, run: &run, instructions };
            paired::run([old.as_ref(), new.as_ref()], &turns, threshold, &filter.join(" "))
        }
        Some(Command::Report { files, out }) => files::report(&files, &out),
        Some(Command::Join { files, out }) => files::join(&files, &out),
        Some(Command::Check { files }) => files::check(&files),
        Some(Command::Csv { file }) => files::csv(&file),
        Some(Command::Splice { file, readme, check }) => files::splice(&file, &readme, check),
        Some(Command::Levels(options)) => levels::run(&options),
        Some(Command::Instructions { qemu, program, mca, llvm, check, write, tolerance }) => {
            let counts = match qemu.as_deref().zip(program.as_deref()) {
                Some((runner, program)) => files::emulated(runner, program, &mca, &llvm)?,
                None => {
                    instructions::callgrind::callgrind(&std::env::current_exe().map_err(|e| e.to_string())?)?
                }
            };
            files::instructions(&counts, check.as_deref(), write.as_deref(), tolerance)
        }
        Some(Command::Once { chunks }) => {
            instructions::once(chunks);
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Machine) => {
            let machine = blosc_bench::result::lean(&blosc_bench::machine::Machine::detect())?;
            say(&format!("{machine:#}\n"));
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Corpus) => {
            corpus();
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn corpus() {
    for r in &blosc_bench::data::corpus::REAL {
        let length = r.bytes.len();
        say(&paragraph(&format!("{:<11} {length:>6} bytes {}  {}", r.name, r.dtype, r.what)));
        for (what, told) in [("source ", r.source), ("licence", r.licence), ("sha256 ", r.sha256)] {
            say(&paragraph(&format!("  {what} {told}")));
        }
    }
    for s in &blosc_bench::data::generate::SEEDED {
        say(&paragraph(&format!("{:<11} any size     {}  {} (seeded)", s.name, s.dtype, s.what)));
    }
}

/// Prints; a reader that has gone away (`| head`) is no reason to fail.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
