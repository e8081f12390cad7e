//! The four commands.

use super::text::{Say, double, parse_size, short};
use super::{Append, Blosc, Compress, Decompress, info};
use crate::args::Output;
use crate::failure::Failure;
use crate::output::{Destination, Shape};
use blosc_core::{Params, Pool};
use blosc_frame::Limits;
use blosc_frame::bcolz::codec_by_name;
use blosc_frame::bloscpack::{
    Bloscpack, Edit, MAX_BUFFER, MetaOptions, Options, Spare, StreamReader, Writer,
};
use blosc_frame::io::{PathFile, ReadAt};
use blosc_frame::plain::Plain;
use blosc_frame::value::{TextLimits, Value};
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What went wrong, one or more lines.
type Result<T> = std::result::Result<T, String>;

/// One run of the program.
pub struct Job {
    /// Where lines go.
    pub say: Say,
    /// `-f`.
    pub force: bool,
    /// Threads to use.
    pub pool: Pool,
}

const EXTENSION: &str = ".blp";

fn at<E: Display>(path: &Path) -> impl Fn(E) -> String + '_ {
    move |error| format!("'{}': {error}", path.display())
}

fn is_pipe(path: &Path) -> bool {
    path == Path::new("-")
}

fn has_extension(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(EXTENSION)
}

fn params(args: &Blosc) -> Params {
    let codec = codec_by_name(&args.codec).unwrap_or(blosc_core::Codec::BloscLz);
    let params = Params::new(args.typesize).blosc1(true).codec(codec).level(args.clevel);
    match (args.no_shuffle, args.bitshuffle) {
        (true, _) => params.no_filter(),
        (_, true) => params.bitshuffle(),
        _ => params.shuffle(),
    }
}

fn read_metadata(args: &Blosc) -> Result<Option<Value>> {
    let Some(path) = &args.metadata else { return Ok(None) };
    let mut text = Vec::new();
    let limit = TextLimits::JSON.bytes as u64 + 1;
    File::open(path).map_err(at(path))?.take(limit).read_to_end(&mut text).map_err(at(path))?;
    Value::parse_json(&text, &TextLimits::JSON).map(Some).map_err(at(path))
}

/// Sinks that only go forward, for output into a pipe.
struct Forward<W>(W, u64);

impl<W> ReadAt for Forward<W> {
    fn size(&self) -> std::result::Result<u64, blosc_frame::IoError> {
        Ok(self.1)
    }
    fn read_at(&self, _: u64, _: &mut [u8]) -> std::result::Result<usize, blosc_frame::IoError> {
        Err(blosc_frame::IoKind::Other.into())
    }
}

impl<W: Write> blosc_frame::io::WriteAt for Forward<W> {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> std::result::Result<(), blosc_frame::IoError> {
        if offset != self.1 {
            return Err(blosc_frame::IoKind::Other.into());
        }
        self.0.write_all(data)?;
        self.1 += data.len() as u64;
        Ok(())
    }
    fn truncate(&mut self, _: u64) -> std::result::Result<(), blosc_frame::IoError> {
        Err(blosc_frame::IoKind::Other.into())
    }
    fn sync(&mut self) -> std::result::Result<(), blosc_frame::IoError> {
        Ok(self.0.flush()?)
    }
}

impl Job {
    fn check_files(&self, input: &Path, output: &Path) -> Result<()> {
        if !is_pipe(input) && !input.exists() {
            return Err(format!("input file '{}' does not exist!", input.display()));
        }
        if is_pipe(output) {
            return Ok(());
        }
        if output.exists() {
            if input.canonicalize().ok().is_some_and(|i| output.canonicalize().is_ok_and(|o| i == o)) {
                return Err(format!("input and output are the same file '{}'", input.display()));
            }
            if !self.force {
                return Err(format!("output file '{}' exists!", output.display()));
            }
            self.say.more(format_args!("overwriting existing file: '{}'", output.display()));
        }
        Ok(())
    }

    /// `blpk compress`.
    pub fn compress(&mut self, args: &Compress) -> Result<()> {
        let input = args.in_file.as_path();
        let mut name = OsString::from(input);
        name.push(EXTENSION);
        let default = if is_pipe(input) { PathBuf::from("-") } else { PathBuf::from(name) };
        let output = args.out_file.clone().unwrap_or(default);
        if is_pipe(&output) {
            // The lines would end up in the data.
            self.say.verbose = false;
        }
        self.say.more("getting ready for compression");
        let chunk_size = parse_size(&args.chunk_size).map_err(|e| format!("-z error: {e}"))?;
        let chunk_size = match u32::try_from(chunk_size) {
            Ok(n) if (1..=MAX_BUFFER).contains(&n) => n,
            _ => return Err(format!("'chunk_size' must be > 0 and at most {MAX_BUFFER}, not {chunk_size}")),
        };
        self.check_files(input, &output)?;
        self.say.more(format_args!("input file is: '{}'", input.display()));
        self.say.more(format_args!("output file is: '{}'", output.display()));
        let options = Options {
            chunk_size,
            params: params(&args.blosc),
            checksum: args.checksum,
            offsets: !args.no_offsets,
            spare: args.max_app.map_or(Spare::Times(10), Spare::Chunks),
            metadata: read_metadata(&args.blosc)?.filter(|m| *m != Value::Null),
            reserve: args.reserve,
            sequential: is_pipe(&output),
            ..Options::default()
        };
        let mut data: Box<dyn Read> = match is_pipe(input) {
            true => Box::new(std::io::stdin().lock()),
            false => Box::new(File::open(input).map_err(at(input))?),
        };
        // Only a regular file knows its length; a pipe has as much as it has.
        let meta = (!is_pipe(input)).then(|| input.metadata()).transpose().map_err(at(input))?;
        let len = meta.filter(|m| m.is_file()).map(|m| m.len());
        if let Some(len) = len {
            self.tell_chunks(len, chunk_size);
        }
        let stored = if options.sequential {
            let sink = self.write(Forward(std::io::stdout().lock(), 0), &options, len, &mut data)?;
            sink.1
        } else {
            self.place(&output, |job, file| {
                let file = job.write(file, &options, len, &mut data)?;
                file.size().map_err(at(&output))
            })?
        };
        self.say.more(format_args!("output file size: {}", double(stored)));
        let ratio = len.unwrap_or(0) as f64 / stored.max(1) as f64;
        self.say.more(format_args!("compression ratio: {ratio:.6}"));
        Ok(())
    }

    fn tell_chunks(&self, len: u64, chunk_size: u32) {
        let size = len.min(chunk_size.into());
        let n = len.div_ceil(size.max(1)).max(1);
        self.say.more(format_args!("input file size: {}", double(len)));
        if size < u64::from(chunk_size) {
            let (given, using) = (double(chunk_size.into()), double(size));
            self.say
                .more(format_args!("Input was smaller than the given 'chunk_size': {given} using: {using}"));
        }
        self.say.more(format_args!("nchunks: {n}"));
        self.say.more(format_args!("chunk_size: {}", double(size)));
        self.say.more(format_args!("last_chunk_size: {}", double(len - (n - 1) * size)));
    }

    fn write<W: blosc_frame::io::WriteAt>(
        &mut self,
        sink: W,
        options: &Options,
        len: Option<u64>,
        data: &mut dyn Read,
    ) -> Result<W> {
        let text = |e: blosc_frame::Error| e.to_string();
        let mut writer = Writer::new(sink, options, len).map_err(text)?;
        let mut buffer = vec![0; usize::try_from(options.chunk_size).unwrap_or(1 << 20).min(64 << 20)];
        loop {
            match data.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => writer.write(&mut self.pool, buffer.get(..n).unwrap_or_default()).map_err(text)?,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.to_string()),
            }
        }
        writer.finish(&mut self.pool).map_err(text)
    }

    /// `blpk decompress`.
    pub fn decompress(&mut self, args: &Decompress) -> Result<()> {
        let input = args.in_file.as_path();
        if args.no_check_extension && args.out_file.is_none() {
            return Err("--no-check-extension requires use of <out_file>".into());
        }
        let name = input.as_os_str().to_string_lossy();
        if !args.no_check_extension && !is_pipe(input) && !has_extension(input) {
            return Err(format!("input file '{name}' does not end with '{EXTENSION}'"));
        }
        let default =
            if is_pipe(input) { PathBuf::from("-") } else { PathBuf::from(name.trim_end_matches(EXTENSION)) };
        let output = args.out_file.clone().unwrap_or(default);
        let quiet = is_pipe(&output);
        if quiet {
            self.say.verbose = false;
        }
        self.say.more("getting ready for decompression");
        self.check_files(input, &output)?;
        self.say.more(format_args!("input file is: '{name}'"));
        self.say.more(format_args!("output file is: '{}'", output.display()));
        let metadata = if is_pipe(input) {
            let mut stream = StreamReader::open(std::io::stdin().lock(), &Limits::NONE).map_err(at(input))?;
            let metadata = stream.metadata().cloned();
            let mut chunk = Vec::new();
            self.put(&output, &mut |pool, out| {
                while stream.next_chunk(pool, &mut chunk).map_err(at(input))? {
                    out.write_all(&chunk).map_err(at(&output))?;
                }
                Ok(())
            })?;
            metadata
        } else {
            let file = File::open(input).map_err(at(input))?;
            let pack = Bloscpack::open(file, &Limits::NONE).map_err(at(input))?;
            self.say.more(format_args!("input file size: {}", short(pack.file_len())));
            if let Some(m) = pack.meta_header() {
                self.say.more(format_args!("read uncompressed metadata of size: '{}'", m.size));
            }
            self.put(&output, &mut |pool, out| {
                let step = pack.chunk_nbytes();
                // Zeroed by the system when first touched: a header that lies about its chunks costs no memory.
                let mut buffer = vec![0; usize::try_from(step.min(pack.nbytes())).unwrap_or(usize::MAX)];
                let mut at_byte = 0u64;
                while at_byte < pack.nbytes() {
                    let n = step.min(pack.nbytes() - at_byte);
                    let data = &mut buffer[..n as usize];
                    pack.read_plain(pool, at_byte, data).map_err(at(input))?;
                    out.write_all(data).map_err(at(&output))?;
                    at_byte += n;
                }
                Ok(())
            })?;
            self.say.more(format_args!("output file size: {}", short(pack.nbytes())));
            let ratio = pack.nbytes() as f64 / pack.file_len().max(1) as f64;
            self.say.more(format_args!("decompression ratio: {ratio:.6}"));
            pack.metadata().cloned()
        };
        if let (Some(metadata), false) = (&metadata, quiet)
            && !matches!(metadata, Value::Object(pairs) if pairs.is_empty())
        {
            self.say.line("Metadata:");
            self.say.line(super::text::repr(metadata));
        }
        if let (Some(path), Some(metadata)) = (&args.metadata_out, &metadata) {
            let text = metadata.to_json() + "\n";
            self.place(path, |_, mut file| file.write_all(text.as_bytes()).map_err(at(path)))?;
        }
        Ok(())
    }

    /// Has `fill` write the output, which appears only when complete.
    fn put(
        &mut self,
        output: &Path,
        fill: &mut dyn FnMut(&mut Pool, &mut dyn Write) -> Result<()>,
    ) -> Result<()> {
        if is_pipe(output) {
            let mut out = std::io::stdout().lock();
            fill(&mut self.pool, &mut out)?;
            return out.flush().map_err(at(output));
        }
        self.place(output, |job, mut file| fill(&mut job.pool, &mut file))
    }

    /// Has `make` write the file `output`, which appears only when complete. Whether it may be replaced has been asked.
    fn place<T>(&mut self, output: &Path, make: impl FnOnce(&mut Job, File) -> Result<T>) -> Result<T> {
        let output = Output { output: output.to_path_buf(), force: true };
        let destination = Destination::of(&output, Shape::File).map_err(|e| e.to_string())?;
        destination.file(|file| make(self, file).map_err(Failure::Data)).map_err(|e| e.to_string())
    }

    /// `blpk append`.
    pub fn append(&mut self, args: &Append) -> Result<()> {
        let (original, new) = (args.original_file.as_path(), args.new_file.as_path());
        self.say.more("getting ready for append");
        if !args.no_check_extension && !has_extension(original) {
            return Err(format!("original file '{}' does not end with '{EXTENSION}'", original.display()));
        }
        for (what, path) in [("original", original), ("new", new)] {
            if !path.exists() {
                return Err(format!("{what} file '{}' does not exist!", path.display()));
            }
        }
        self.say.more(format_args!("original file is: '{}'", original.display()));
        self.say.more(format_args!("new file is: '{}'", new.display()));
        let store = PathFile::open_rw(original).map_err(|e| at(original)(e.error))?;
        let mut pack = Bloscpack::open(store, &Limits::NONE).map_err(at(original))?;
        let data = File::open(new).map_err(at(new))?;
        let (before, added) = (pack.file_len(), data.size().map_err(at(new))?);
        self.say.more(format_args!("orig file size before append: {}", double(before)));
        self.say.more(format_args!("new file size: {}", double(added)));
        if let Some(m) = pack.meta_header() {
            self.say.more(format_args!("read uncompressed metadata of size: '{}'", m.size));
        }
        if !pack.header().offsets {
            return Err("append needs an offsets table, and this file has none".into());
        }
        let metadata = read_metadata(&args.blosc)?;
        if let Some(metadata) = &metadata {
            // Checked on a copy of the section before anything is changed.
            pack.check_metadata(metadata, &MetaOptions::default()).map_err(at(original))?;
        }
        let size = pack.header().chunk_size.map_or(1, u64::from).max(1);
        let room = size.saturating_sub(pack.header().last_chunk.map_or(0, u64::from));
        if let Some(rest) = added.checked_sub(room).filter(|&rest| rest > 0) {
            // What comes behind the last chunk, once that is full.
            self.say.more(format_args!("nchunks: {}", rest.div_ceil(size)));
            self.say.more(format_args!("chunk_size: {}", double(size)));
            self.say.more(format_args!("last_chunk_size: {}", double((rest - 1) % size + 1)));
        }
        let edit = Edit { params: params(&args.blosc), ..Edit::default() };
        pack.append(&mut self.pool, &edit, &data).map_err(at(original))?;
        if let Some(metadata) = &metadata {
            pack.set_metadata(metadata, &MetaOptions::default()).map_err(at(original))?;
        }
        let after = pack.file_len();
        self.say.more(format_args!("orig file size after append: {}", double(after)));
        // Stored by plain, as bloscpack has it here.
        let ratio = after.saturating_sub(before) as f64 / added.max(1) as f64;
        self.say.more(format_args!("Approximate compression ratio of appended data: {ratio:.6}"));
        Ok(())
    }

    /// `blpk info`.
    pub fn info(&mut self, path: &Path) -> Result<()> {
        if !path.exists() {
            return Err(format!("file '{}' does not exist!", path.display()));
        }
        let file = File::open(path).map_err(at(path))?;
        let mut magic = [0; 4];
        let n = ReadAt::read_at(&file, 0, &mut magic).map_err(at(path))?;
        if n < 4 || magic != blosc_frame::bloscpack::MAGIC {
            let found = super::text::repr_bytes(magic.get(..n).unwrap_or_default());
            return Err(format!(
                "the magic marker b'blpk' is missing from the bloscpack header, instead we found: {found}\n\
                 This might not be a bloscpack compressed file."
            ));
        }
        let pack = Bloscpack::open(file, &Limits::NONE).map_err(at(path))?;
        if let Some(m) = pack.meta_header() {
            self.say.more(format_args!("read uncompressed metadata of size: '{}'", m.size));
        }
        info::print(&self.say, &pack).map_err(at(path))
    }
}
