//! The command line.

mod bench;
mod progress;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures Blosc kernels, codecs and pipelines on this CPU; verifies before it times.
#[derive(Parser)]
#[command(name = "blosc-bench", version, max_term_width = 80)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    quick: Quick,
}

#[derive(Subcommand)]
enum Command {
    /// Kernels and chunks in under a minute (what happens without a command).
    Quick(Quick),
    /// Print the machine record as JSON.
    Machine,
    /// List the arrays that are compressed, their sources and licences.
    Corpus,
}

#[derive(Args, Clone)]
struct Quick {
    /// Where the JSON lines go.
    #[arg(long, value_name = "FILE", default_value = "target/blosc-bench/latest.jsonl")]
    out: PathBuf,
}

/// Does what the command line says.
pub fn run() -> Result<ExitCode, String> {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) if e.use_stderr() => {
            // One line: clap's own first line, without its "error: ".
            let text = e.to_string();
            return Err(text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_string());
        }
        Err(e) => {
            print!("{e}");
            return Ok(ExitCode::SUCCESS);
        }
    };
    match cli.command {
        None => bench::quick(&cli.quick.out),
        Some(Command::Quick(quick)) => bench::quick(&quick.out),
        Some(Command::Machine) => {
            let machine = blosc_bench::machine::Machine::detect();
            println!("{}", serde_json::to_string_pretty(&machine).map_err(|e| e.to_string())?);
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
        println!("{:<11} {:>6} bytes {}  {}", r.name, r.bytes.len(), r.dtype, r.what);
        println!("            source   {}", r.source);
        println!("            licence  {}", r.licence);
        println!("            sha256   {}", r.sha256);
    }
    for s in &blosc_bench::data::generate::SEEDED {
        println!("{:<11} any size     {}  {} (seeded)", s.name, s.dtype, s.what);
    }
}
