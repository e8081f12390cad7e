//! The command line: commands and their options. What the options may be is in `values`.

mod advise;
mod change;
mod common;
mod values;

pub use advise::Advise;
use blosc_core::{Codec, FilterSlot, Params, Split};
use blosc_frame::bloscpack::{Checksum, Layout};
pub use change::*;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as Group, CommandFactory, FromArgMatches, Parser, Subcommand};
pub use common::{Access, Input, Named, Output, Part, Run};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
pub use values::{Explicit, Format, Kind, MetaKind, PackLayout, Pipeline, SplitMode, most, size};
use values::{checksum, codec, files, filters, meta, some};

/// Compress, decompress, inspect and verify Blosc data: chunks, frames, arrays, bloscpack, bcolz.
#[derive(Debug, Parser)]
#[command(name = "blosc", version, about, max_term_width = 100, after_help = STATUS)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

/// What the exit status says.
const STATUS: &str = "Exit status:
  0  all of it is done
  1  the data is bad, or of a kind that cannot be read
  2  the command line is wrong
  3  verify cannot tell
  4  all of it is done, but the system did not confirm that it is on disk: do not do it again";

impl Args {
    /// Reads a command line, the first word being the program's name.
    ///
    /// # Errors
    /// A mistake, or a text that was asked for.
    pub fn read(mut words: Vec<OsString>) -> Result<Args, clap::Error> {
        let mut command = Args::command();
        // `blosc FILE` asks what the file is. A verb is a verb, whatever files there are.
        if let Some(word) = words.get(1).and_then(|word| word.to_str())
            && (word == "-" || !word.starts_with('-'))
            && word != "help"
            && command.find_subcommand(word).is_none()
            && (word == "-" || word.contains(":/") || Path::new(word).exists())
        {
            words.insert(1, "info".into());
        }
        let matches =
            command.try_get_matches_from_mut(words).map_err(|error| no_file(&mut command, error))?;
        let mut args = Args::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
        if let Some((_, matches)) = matches.subcommand() {
            match &mut args.command {
                Command::Compress(args) => args.given = given(matches),
                Command::Convert(args) => args.given = given(matches),
                _ => {}
            }
        }
        Ok(args)
    }
}

/// Says of a word that is no command, nor like one, that it is no file either.
fn no_file(command: &mut clap::Command, error: clap::Error) -> clap::Error {
    match (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::SuggestedSubcommand)) {
        (Some(ContextValue::String(word)), None) => {
            let text = format!("{word:?} is no command, and there is no such file");
            command.error(ErrorKind::InvalidSubcommand, text)
        }
        _ => error,
    }
}

/// What was given on the command line, and not left to its default.
fn given(matches: &ArgMatches) -> Explicit {
    let given = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    Explicit(matches.ids().filter(given).map(|id| id.as_str().to_string()).collect())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compress a file, or standard input
    #[command(
        after_help = "Examples:\n  blosc compress data.bin --typesize 4 --codec zstd --level 7\n  blosc compress field.npy\n  blosc compress rows.csv -o table.b2z"
    )]
    Compress(Compress),
    /// Try codecs, filters, levels and block sizes on a file, and say which to take
    Advise(Advise),
    /// Write what any Blosc file decodes to: plain bytes, of arrays a .npy file
    #[command(
        after_help = "Examples:\n  blosc decompress data.bin.b2frame\n  blosc decompress store.b2z:/g/b -o b.npy"
    )]
    Decompress(Decompress),
    /// Say what a file holds. `blosc FILE` does the same
    Info(Info),
    /// Print items or rows as text
    Cat(Cat),
    /// Print the first rows as text
    Head(Head),
    /// List what directories and stores hold
    Ls(Ls),
    /// Decode everything and check every checksum
    #[command(after_help = "Examples:\n  blosc verify field.b2nd --json")]
    Verify(Verify),
    /// Write the items START..STOP
    #[command(
        after_help = "Examples:\n  blosc slice field.b2nd --start 0,5 --stop 10,9 -o part.npy\n  blosc slice table.b2z --start -10 --column id --format jsonl -o -"
    )]
    Slice(Slice),
    /// Rebuild what can be saved of a damaged frame, as a new one
    Repair(Repair),
    /// Drop what nothing refers to any more, and checksum what has no checksum
    Compact(Compact),
    /// Append a file, or standard input, to a frame, array, rows or table
    #[command(
        after_help = "Examples:\n  blosc append log.b2frame today.bin\n  blosc append table.b2z rows.csv"
    )]
    Append(Append),
    /// Set part of an array or of a container of rows
    Set(Set),
    /// Change the shape of an array or the number of rows
    Resize(Resize),
    /// Take rows off the end of a bloscpack file, bcolz or Blaze directory
    Trim(Trim),
    /// Add, remove and rename the columns of a bcolz table
    Column(Column),
    /// Insert rows into an array or a container of rows
    Insert(Insert),
    /// Delete rows of an array or a container of rows
    Delete(Delete),
    /// Copy a container into one of another kind, with other chunks, another codec
    #[command(
        after_help = "Examples:\n  blosc convert old.blp -o new.b2nd\n  blosc convert table.b2z -o table.csv"
    )]
    Convert(Convert),
    /// Insert, replace, remove, reorder and fill the chunks of a frame
    #[command(
        after_help = "Examples:\n  blosc edit x.b2frame delete 3\n  blosc edit x.b2frame insert 0 chunk.bin"
    )]
    Edit(Edit),
    /// Read and change the metalayers of a frame, the attributes of a store
    #[command(
        after_help = "Examples:\n  blosc meta set x.b2frame note --vl --json 7\n  blosc meta get x.b2frame note"
    )]
    Meta(Meta),
    /// Write the completions for a shell
    Completions { shell: clap_complete::Shell },
    /// Write a man page, or all of them
    Man {
        /// Command to describe, such as compress or meta set; blosc itself if left out
        command: Vec<String>,
        /// Write the pages of all commands into this directory, which must exist
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        directory: Option<PathBuf>,
    },
}

/// `blosc compress`.
#[derive(Debug, Group)]
pub struct Compress {
    /// File to compress; - is standard input. A .npy file becomes an array, a .npz file a directory of arrays, and a .csv, .jsonl
    /// or .arrow file a table if -o names a .b2d or .b2z store
    pub input: PathBuf,
    /// Compress the bytes of a .npy or .npz file as they are
    #[arg(long)]
    pub plain: bool,
    /// Leave out what the output cannot hold, such as metadata, and list it
    #[arg(long)]
    pub partial: bool,
    /// The options that were given.
    #[arg(skip)]
    pub given: Explicit,
    #[command(flatten)]
    pub named: Named,
    /// Where the result goes.
    #[arg(skip)]
    pub output: Output,
    /// Kind of file to write; from the output's name if left out
    #[arg(long, value_name = "KIND")]
    pub format: Option<Format>,
    /// blosclz, lz4, lz4hc, zlib, zstd, ndlz; for arrays of floats zfp_acc, zfp_prec, zfp_rate, which change the numbers
    #[arg(long, default_value = "blosclz", value_name = "NAME", value_parser = codec)]
    pub codec: Codec,
    /// Parameter byte of the codec (ndlz: cell side 4 or 8; zfp_acc: error at most 10^BYTE; zfp_prec: bit planes; zfp_rate:
    /// percent of the size)
    #[arg(long, default_value = "0", value_name = "BYTE", value_parser = meta, allow_negative_numbers = true)]
    pub codec_meta: u8,
    /// 0 (store) to 9 (smallest)
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: u8,
    /// Bytes per item
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub typesize: Option<u32>,
    /// Up to six filters in order, NAME or NAME:META: none, shuffle, bitshuffle, delta, trunc_prec,
    /// bytedelta, int_trunc, ndcell, ndmean
    #[arg(long, default_value = "shuffle", value_name = "LIST", value_parser = filters)]
    pub filters: Pipeline,
    /// Bytes per block; chosen automatically if left out
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub blocksize: Option<u64>,
    /// Bytes per chunk; chosen automatically if left out
    #[arg(long, value_name = "BYTES", value_parser = some)]
    pub chunksize: Option<u64>,
    /// When to store each byte plane by itself
    #[arg(long, default_value = "forward", value_name = "MODE")]
    pub split: SplitMode,
    /// Embed a dictionary made from the data (lz4, lz4hc, zstd)
    #[arg(long)]
    pub dict: bool,
    /// Write a frame without checksums
    #[arg(long)]
    pub no_checksum: bool,
    /// Write what Blosc1 can read
    #[arg(long)]
    pub blosc1: bool,
    /// Refuse to unpack more than this of a .npz file; none lifts the limit, for input you trust
    #[arg(long, value_name = "BYTES", value_parser = most)]
    pub max_output: Option<u64>,
    /// NumPy type of the items of a raw file, such as <f4, to make an array of it
    #[arg(long, value_name = "DTYPE")]
    pub dtype: Option<String>,
    /// Shape of the array a raw file holds, such as 100,200
    #[arg(long, value_delimiter = ',', value_name = "SHAPE")]
    pub shape: Option<Vec<u64>>,
    #[command(flatten)]
    pub parts: Parts,
    #[command(flatten)]
    pub pack: Pack,
    #[command(flatten)]
    pub run: Run,
}

/// How bloscpack files, bcolz and Blaze directories are laid out.
#[derive(Debug, Clone, Group)]
pub struct Pack {
    /// Layout of a bloscpack file
    #[arg(long, default_value = "v3", value_name = "LAYOUT")]
    pub layout: PackLayout,
    /// Checksum of a bloscpack file's chunks: None, adler32, crc32, md5, sha1, sha224, sha256, sha384, sha512
    #[arg(long, default_value = "adler32", value_name = "NAME", value_parser = checksum)]
    pub checksum: Checksum,
    /// Write no table of chunk positions into a bloscpack file
    #[arg(long)]
    pub no_offsets: bool,
    /// Room for this many more chunks in a bloscpack file's table, at most 16777216; ten times the chunks if left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1 << 24))]
    pub max_app: Option<u64>,
    /// Room at the end of each chunk of these containers, for changes in place
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    pub reserve: u32,
    /// Chunks per file of a Blaze directory; about 64 MiB of data if left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub superchunk: Option<u64>,
    /// Syntax of a Blaze directory's descriptions
    #[arg(long, default_value = "json", value_name = "SYNTAX")]
    pub meta: MetaKind,
}

impl Pack {
    /// The layout of a bloscpack file.
    pub fn layout(&self) -> Layout {
        match self.layout {
            PackLayout::V1 => Layout::V1,
            PackLayout::V2 => Layout::V2,
            PackLayout::V3 => Layout::V3,
            PackLayout::Blaze => Layout::Mono,
        }
    }
}

/// How an array is cut up.
#[derive(Debug, Clone, Group)]
pub struct Parts {
    /// Shape of an array's chunks; chosen automatically if left out
    #[arg(long, value_delimiter = ',', value_name = "SHAPE")]
    pub chunks: Option<Vec<u32>>,
    /// Shape of an array's blocks; chosen automatically if left out
    #[arg(long, value_delimiter = ',', value_name = "SHAPE")]
    pub blocks: Option<Vec<u32>>,
    /// Keep an array's chunks in files of their own, in a directory
    #[arg(long)]
    pub sparse: bool,
}

/// `blosc decompress`.
#[derive(Debug, Group)]
pub struct Decompress {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub named: Named,
    /// Write the items' bytes alone, whatever the output is called; otherwise .npy and .npz name NumPy files
    #[arg(long)]
    pub plain: bool,
    /// Leave out what the output cannot hold, such as members of a store that are no arrays, and list it
    #[arg(long)]
    pub partial: bool,
    /// Kind of file to write: csv, npy, npz; of a table csv, jsonl, arrow, npz; from the output's name if left out
    #[arg(long, value_name = "KIND", conflicts_with = "plain")]
    pub format: Option<Format>,
}

/// `blosc info`.
#[derive(Debug, Group)]
pub struct Info {
    #[command(flatten)]
    pub input: Input,
    /// Print every field
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `blosc cat`.
#[derive(Debug, Group)]
pub struct Cat {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub part: Part,
}

/// `blosc head`.
#[derive(Debug, Group)]
pub struct Head {
    #[command(flatten)]
    pub input: Input,
    /// Rows to print
    #[arg(short = 'n', long, default_value_t = 10, value_name = "N")]
    pub rows: u64,
}

/// `blosc ls`.
#[derive(Debug, Group)]
pub struct Ls {
    #[command(flatten)]
    pub input: Input,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `blosc verify`.
#[derive(Debug, Group)]
pub struct Verify {
    #[command(flatten)]
    pub input: Input,
    /// Check the checksums of a bloscpack file or Blaze directory and decode nothing
    #[arg(long)]
    pub quick: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `blosc slice`.
#[derive(Debug, Group)]
pub struct Slice {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub output: Output,
    /// Write the items' bytes alone, whatever the output is called; otherwise .npy and .npz name NumPy files
    #[arg(long)]
    pub plain: bool,
    /// Leave out columns of a table that the output cannot hold, and list them
    #[arg(long)]
    pub partial: bool,
    /// Kind of file to write: csv, npy, npz; of a table csv, jsonl, arrow, npz; from the output's name if left out
    #[arg(long, value_name = "KIND", conflicts_with = "plain")]
    pub format: Option<Format>,
    #[command(flatten)]
    pub part: Part,
    /// Take what these super-chunk files of a Blaze directory hold, such as 3 or 3-5; opens no others
    #[arg(long, value_name = "FIRST-LAST", value_parser = files, conflicts_with_all = ["start", "stop", "step"])]
    pub superchunks: Option<(u64, u64)>,
}

/// `blosc convert`.
#[derive(Debug, Group)]
pub struct Convert {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub output: Output,
    /// Leave out what the output cannot hold, such as metadata, and list it
    #[arg(long)]
    pub partial: bool,
    /// The options that were given.
    #[arg(skip)]
    pub given: Explicit,
    /// Kind of container to write; from the output's name if left out
    #[arg(long, value_name = "KIND")]
    pub format: Option<Format>,
    /// Bytes per chunk; chosen automatically if left out
    #[arg(long, value_name = "BYTES", value_parser = some)]
    pub chunksize: Option<u64>,
    #[command(flatten)]
    pub pack: Pack,
    #[command(flatten)]
    pub parts: Parts,
    /// Codec of the copy; that of the input if left out
    #[arg(long, value_name = "NAME", value_parser = codec)]
    pub codec: Option<Codec>,
    /// Parameter byte of that codec
    #[arg(long, value_name = "BYTE", value_parser = meta, allow_negative_numbers = true, requires = "codec")]
    pub codec_meta: Option<u8>,
    /// Level of the copy, 0 to 9; that of the input if left out
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// Filters of the copy; those of the input if left out
    #[arg(long, value_name = "LIST", value_parser = filters)]
    pub filters: Option<Pipeline>,
}

impl Convert {
    /// Sets in `params` what the options say.
    pub fn apply(&self, params: &mut Params) {
        if let Some(codec) = self.codec {
            (params.codec, params.codec_meta) = (codec, self.codec_meta.unwrap_or(0));
            if codec.is_zfp() {
                params.filters = [FilterSlot::NONE; 6];
            }
        }
        params.level = self.level.unwrap_or(params.level);
        params.filters = self.filters.map_or(params.filters, |list| list.0);
    }
}

impl Compress {
    /// The chunk parameters, for items of `typesize` bytes where `--typesize` does not say.
    pub fn params(&self, typesize: u32) -> Params {
        let split = match self.split {
            SplitMode::Auto => Split::Auto,
            SplitMode::Always => Split::Always,
            SplitMode::Never => Split::Never,
            SplitMode::Forward => Split::ForwardCompat,
        };
        // The default filter makes other bytes of the floats that ZFP takes.
        let plain = self.codec.is_zfp() && self.given.iter().all(|option| option != "filters");
        let filters = if plain { [FilterSlot::NONE; 6] } else { self.filters.0 };
        Params::new(self.typesize.unwrap_or(typesize))
            .codec(self.codec)
            .codec_meta(self.codec_meta)
            .level(self.level)
            .filters(filters)
            .split(split)
            .blocksize(self.blocksize.map(|b| u32::try_from(b).unwrap_or(u32::MAX)))
            .dictionary(self.dict)
            .blosc1(self.blosc1)
    }
}
