//! Bloscpack files, bcolz and Blaze directories; and every container there is, for `convert`.

use super::choice::{self, Request, Verb, check_partial};
use super::table::Export;
use super::{Input, array, destination, npz, store};
use crate::args::{Compress, Convert, Format, MetaKind, Output, Pack, Parts};
use crate::failure::{Failure, Result, asked, copying, failure};
use crate::limits::check_output;
use crate::opened::{Contents, Opened};
use crate::readers::array::NPY_HEADER;
use crate::trailing::Trailing;
use blosc_core::{Params, Pool};
use blosc_frame::Limits;
use blosc_frame::any::{AnyRows, open_any, open_raw};
use blosc_frame::blaze::MetaSyntax;
use blosc_frame::bloscpack::{Options, Spare};
use blosc_frame::convert::{Cut, Packing, Target, blosc1_params, convert};
use blosc_frame::dtype::Dtype;
use blosc_frame::value::Value;
use std::fs::File;
use std::io;
use std::path::Path;
use zip::ZipWriter;

/// What to write, from the options that say how.
fn target(format: Format, pack: &Pack, parts: &Parts, params: Params, chunk: Option<u64>) -> Target {
    let packing = Packing::new(params).chunk(chunk).reserve(pack.reserve);
    match format {
        Format::Sframe => Target::Sframe(packing),
        Format::B2nd | Format::B2z | Format::B2d | Format::B2e => {
            let (chunks, blocks) = (parts.chunks.clone(), parts.blocks.clone());
            Target::B2nd(packing, Cut::default().shapes(chunks, blocks).sparse(parts.sparse))
        }
        Format::Npy | Format::Npz => Target::Npy,
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
                params: params.blosc1(true),
                checksum: pack.checksum,
                offsets: !pack.no_offsets,
                spare: pack.max_app.map_or(Spare::Times(10), Spare::Chunks),
                reserve: pack.reserve,
                ..Options::default()
            })
        }
        // The others are written elsewhere.
        Format::B2frame
        | Format::Chunk
        | Format::Plain
        | Format::Arrays
        | Format::Csv
        | Format::Jsonl
        | Format::Arrow => Target::Cframe(packing),
    }
}

/// Refuses parameters that chunks of Blosc1 cannot have, where the format has such.
fn check_params(params: &Params, format: Format) -> Result<()> {
    match format {
        Format::Bloscpack | Format::Bcolz | Format::Blaze => {
            params.blosc1(true).check().map_err(crate::failure::params)
        }
        _ => Ok(()),
    }
}

/// Compresses plain bytes or a `.npy` file into one of these formats.
pub fn write(args: &Compress, mut input: Input, format: Format) -> Result<()> {
    check_params(&args.params(1), format)?;
    let path = input.file()?;
    if input.npy && Trailing::of_npy(&File::open(&path)?, 0)?.is_some() {
        return Err(Failure::at(&input.path, "has more bytes than type and shape tell"));
    }
    let opened = if input.npy {
        open_any(&path, &Limits::NONE)
    } else {
        let dtype = args.dtype.as_deref().map(Dtype::parse).transpose();
        let dtype = dtype.map_err(|e| Failure::Usage(format!("--dtype: {e}")))?;
        open_raw(&path, dtype, args.shape.clone(), args.typesize.unwrap_or(1))
    };
    // What does not fit is what the command line says of the file.
    let opened = opened.map_err(|error| match input.npy {
        true => failure(&input.path)(error.error),
        false => asked(error).about(input.path.display()),
    })?;
    let target = target(format, &args.pack, &args.parts, args.params(1), args.chunksize);
    let work = Work { input: &opened, from: &input.path, output: &args.output, partial: args.partial };
    work.place(format, &target, args.run.threads)
}

/// `blosc convert`.
pub fn run_convert(mut opened: Opened, args: &Convert) -> Result<()> {
    let path = args.input.input.as_path();
    let Convert { input, output, format, partial, .. } = args;
    let holds = opened.holds();
    if let Contents::Store(found) = &opened.what
        && store::convert(found, holds, args)?
    {
        return Ok(());
    }
    let export = Export {
        verb: Verb::Convert,
        input,
        output,
        cut: crate::cut::Cut::ALL,
        format: *format,
        partial: *partial,
    };
    let Some(mut opened) = export.run(opened, false)? else { return Ok(()) };
    if args.input.kind.is_some() || !args.input.column.is_empty() {
        let why =
            "--as, --column: convert takes what the path holds; name the directory of a column to convert it";
        return Err(Failure::Usage(why.into()));
    }
    let items = opened.reader()?.items();
    let holds = opened.holds();
    let request = Request { verb: Verb::Convert, holds, name: &args.output.output, format: args.format };
    let format = request.format()?;
    choice::check_options(&args.given, holds, format)?;
    choice::check_chunksize(args.chunksize, format)?;
    array::check_parts(&items.shape, items.size, &args.parts)?;
    let store = matches!(format, Format::B2z | Format::B2d | Format::B2e);
    if let Contents::Array(array) = &mut opened.what
        && (store || format == Format::B2nd)
    {
        check_output(path, array.nd.geometry().nbytes(), array.nd.frame().limits().output)?;
        // From array to array metalayers are kept, too.
        choice::nothing_left_out(args.partial, format)?;
        if !store {
            return array::convert(&mut array.nd, args, &args.output);
        }
        return store::write(&destination(&args.output, format)?, format, |folder| {
            let output = Output { output: folder.join(store::leaf(path)), force: false };
            array::convert(&mut array.nd, args, &output)
        });
    }
    let mut input = opened.what.into_any(path)?;
    // The header of a .npy file is kept to give that file back, and is no metadata of the user's.
    if let Some(Value::Object(pairs)) = &mut input.about.metadata {
        pairs.retain(|(name, _)| name != NPY_HEADER);
    }
    input.about.metadata = input.about.metadata.filter(|value| value.as_object() != Some(&[]));
    input.about.left_out.retain(|what| !what.starts_with(&format!("vlmetalayer {NPY_HEADER} ")));
    let mut params = input.about.params.unwrap_or(Params::new(1));
    if matches!(format, Format::Bloscpack | Format::Bcolz | Format::Blaze) {
        params = blosc1_params(&params);
    } else {
        params.blosc1 = false;
    }
    args.apply(&mut params);
    // The item size is that of the input, which those formats keep otherwise where it is too large for a chunk.
    check_params(&params.typesize(1), format)?;
    let target = target(format, &args.pack, &args.parts, params, args.chunksize);
    let work = Work { input: &input, from: path, output: &args.output, partial: args.partial };
    work.place(format, &target, args.input.run.threads)
}

/// One conversion.
struct Work<'a> {
    input: &'a AnyRows,
    /// What `input` is called.
    from: &'a Path,
    output: &'a Output,
    /// Whether what the output cannot hold may be left out.
    partial: bool,
}

impl Work<'_> {
    /// Converts under a temporary name and puts the result in its place.
    fn place(&self, format: Format, target: &Target, threads: usize) -> Result<()> {
        let sparse = matches!(target, Target::B2nd(_, Cut { sparse: true, .. }));
        let format = if sparse && format == Format::B2nd { Format::Arrays } else { format };
        match format {
            Format::B2z | Format::B2d | Format::B2e => {
                store::write(&destination(self.output, format)?, format, |folder| {
                    self.convert(target, threads, &folder.join(store::leaf(self.from)))
                })
            }
            Format::Npz => {
                let destination = destination(self.output, format)?;
                let folder = destination.folder()?;
                let new = folder.path().join("new.npy");
                self.convert(target, threads, &new).map_err(Failure::of_a_part)?;
                destination.file(|file| {
                    let mut archive = ZipWriter::new(file);
                    npz::start(&mut archive, "arr_0", true)?;
                    io::copy(&mut File::open(&new)?, &mut archive)?;
                    archive.finish().map_err(npz::failed)?;
                    Ok(())
                })
            }
            _ => destination(self.output, format)?.made(|new| self.convert(target, threads, new)),
        }
    }

    fn convert(&self, target: &Target, threads: usize, new: &Path) -> Result<()> {
        let (mut decoder, mut encoder) = (Pool::new(threads), Pool::new(threads));
        let to = self.output.output.as_path();
        let left_out =
            convert(self.input, &mut decoder, &mut encoder, target, new).map_err(copying(self.from, to))?;
        check_partial(to, &left_out, self.partial)
    }
}
