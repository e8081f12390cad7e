//! Bloscpack files, bcolz and Blaze directories; and every container there is, for `convert`.

use crate::args;
use crate::args::{Compress, Convert, Format, MetaKind, Pack, Parts};
use crate::failure::{Failure, Result};
use crate::failure::{copying, failure};
use crate::open::What;
use crate::output::{check_free, replace_dir, temporary_beside, temporary_dir};
use blosc_core::{Params, Pool};
use blosc_frame::Limits;
use blosc_frame::any::{Kind, Opened, open_any, open_raw};
use blosc_frame::blaze::MetaSyntax;
use blosc_frame::bloscpack::{Options, Spare};
use blosc_frame::convert::{Cut, Packing, Target, blosc1_params, convert};
use blosc_frame::dtype::Dtype;
use std::fs;
use std::io;
use std::path::Path;

/// What to write, from the options that say how.
fn target(format: Format, pack: &Pack, parts: &Parts, params: Params, chunk: Option<u64>) -> Result<Target> {
    let packing = Packing { params, chunk, reserve: pack.reserve };
    Ok(match format {
        Format::Chunk => return Err(Failure::Usage("a bare chunk is no container: use compress".into())),
        Format::B2frame => Target::Cframe(packing),
        Format::Sframe => Target::Sframe(packing),
        Format::B2nd => {
            Target::B2nd(packing, Cut { chunks: parts.chunks.clone(), blocks: parts.blocks.clone() })
        }
        Format::Npy => Target::Npy,
        Format::Bcolz => Target::Bcolz(packing),
        Format::Blaze => {
            let syntax = match pack.meta {
                MetaKind::Json => MetaSyntax::Json,
                MetaKind::Yaml => MetaSyntax::Yaml,
            };
            Target::Blaze(packing, pack.superchunk, syntax)
        }
        Format::Bloscpack => {
            let chunk_size = u32::try_from(chunk.unwrap_or(1 << 20)).unwrap_or(u32::MAX);
            Target::Bloscpack(Options {
                layout: pack.layout(),
                chunk_size,
                params: Params { blosc1: true, ..params },
                checksum: pack.checksum,
                offsets: !pack.no_offsets,
                spare: pack.max_app.map_or(Spare::Times(10), Spare::Chunks),
                reserve: pack.reserve,
                ..Options::default()
            })
        }
    })
}

/// Compresses plain bytes or a `.npy` file into one of these formats.
pub fn write(args: &Compress, format: Format) -> Result<()> {
    let path = args.input.as_path();
    let spool;
    let path = if path == Path::new("-") {
        // These layouts put sizes before the data: a pipe is kept in a file until its length is known.
        let mut file = temporary_beside(&std::env::temp_dir().join("input"))?;
        io::copy(&mut io::stdin().lock(), file.file()?)?;
        spool = file;
        spool.temporary()
    } else {
        path
    };
    let input = if path.extension().is_some_and(|e| e == "npy") {
        open_any(path, &Limits::NONE).map_err(failure(path))?
    } else {
        let dtype = args.dtype.as_deref().map(Dtype::parse).transpose();
        let dtype = dtype.map_err(|e| Failure::Usage(format!("--dtype: {e}")))?;
        let typesize = args.typesize.unwrap_or(1);
        open_raw(path, dtype, args.shape.clone(), typesize).map_err(failure(path))?
    };
    let target = target(format, &args.pack, &args.parts, args.params(1), args.chunksize)?;
    place(&input, &target, path, &args.output, args.run.threads)
}

/// `blosc convert`.
pub fn run_convert(what: What, args: &Convert, format: Format) -> Result<()> {
    let path = args.input.input.as_path();
    if args.input.kind.is_some() || args.input.column.is_some() {
        let why =
            "--as, --column: convert takes what the path holds; name the directory of a column to convert it";
        return Err(Failure::Usage(why.into()));
    }
    let input = what.into_any(path)?;
    let mut params = input.about.params.unwrap_or(Params::new(1));
    if matches!(format, Format::Bloscpack | Format::Bcolz | Format::Blaze) {
        params = blosc1_params(&params);
    } else {
        params.blosc1 = false;
    }
    if let Some(codec) = args.codec {
        (params.codec, params.codec_meta) = (codec, 0);
    }
    params.level = args.level.unwrap_or(params.level);
    params.filters = args.filters.map_or(params.filters, |list| list.0);
    let target = target(format, &args.pack, &args.parts, params, args.chunksize)?;
    place(&input, &target, path, &args.output, args.input.run.threads)
}

/// Converts under a temporary name and puts the result in its place.
fn place(input: &Opened, target: &Target, from: &Path, output: &args::Output, threads: usize) -> Result<()> {
    let path = output.output.as_path();
    let (mut decoder, mut encoder) = (Pool::new(threads), Pool::new(threads));
    let stdout = path == Path::new("-");
    let temp = if stdout {
        temporary_dir(&std::env::temp_dir().join("output"))?
    } else {
        check_free(output)?;
        temporary_dir(path)?
    };
    // Temporary directories are private; the result is made as an ordinary file or directory inside.
    let new = temp.path().join("new");
    let notes = convert(input, &mut decoder, &mut encoder, target, &new).map_err(copying(from, path))?;
    for note in notes {
        eprintln!("blosc: not kept: {note}");
    }
    if stdout {
        if new.is_dir() {
            return Err(Failure::Usage("this format is a directory: name one with -o".into()));
        }
        io::copy(&mut fs::File::open(&new)?, &mut io::stdout().lock())?;
        return Ok(());
    }
    if path.is_dir() && Kind::of_directory(path)? == Kind::Directory {
        return Err(Failure::at(path, "exists and is no container; it is not replaced"));
    }
    replace_dir(&new, temp)
}
