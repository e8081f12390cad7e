//! Tree stores of python-blosc2: `.b2d` directories of arrays with a root, and `.b2z` files, which are such a directory
//! in a zip file whose members are stored.

use super::array::{items, write_items};
use super::npz::plain_name;
use super::{Input, destination};
use crate::args::{Compress, Format, Output};
use crate::failure::{Failure, Result};
use crate::output::Destination;
use blosc_core::{Codec, Params};
use blosc_frame::SuperChunk;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The root frame of a store.
const ROOT: &str = "embed.b2e";

/// One array as a store of one leaf, which is called as the file is.
pub fn compress(args: &Compress, input: Input, format: Format) -> Result<()> {
    let destination = destination(&args.output, format)?;
    let items = items(&input.path, input.data, args.dtype.as_deref(), args.shape.as_deref())?;
    write(&destination, format, |folder| {
        let output = Output { output: folder.join(leaf(&input.path)), force: false };
        write_items(items, &input.path, &output, args)
    })
}

/// What the leaf of an array is called that comes from `path`.
pub fn leaf(path: &Path) -> PathBuf {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // What NumPy calls the first array without a name.
    let name = plain_name(&stem).filter(|stem| *stem != "-" && !stem.starts_with('_')).unwrap_or("arr_0");
    PathBuf::from(format!("{name}.b2nd"))
}

/// Has `fill` put arrays into an empty directory and makes a store of it.
pub fn write(
    destination: &Destination,
    format: Format,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let make = |folder: &Path| -> Result<()> {
        fs::create_dir(folder).map_err(|e| Failure::at(destination.name(), e))?;
        fill(folder)?;
        Ok(root(folder)?)
    };
    if format == Format::B2d {
        return destination.made(make);
    }
    let temp = destination.folder()?;
    let folder = temp.path().join("store");
    make(&folder)?;
    destination.file(|file| zip(&folder, file).map_err(|e| Failure::at(destination.name(), e)))
}

/// Writes the root of a tree store into which nothing is embedded.
fn root(folder: &Path) -> std::result::Result<(), blosc_frame::Error> {
    let file = File::options().read(true).write(true).create_new(true).open(folder.join(ROOT))?;
    let mut frame = SuperChunk::create(file, &Params::new(1).codec(Codec::Zstd).level(5).shuffle())?;
    frame.set_checksums(false);
    frame.set_chunksize(8192)?;
    // MessagePack: {"version": 1} and {"embed_map": {}, "current_offset": 0}.
    frame.set_metalayer("b2tree", b"\x81\xa7version\x01")?;
    frame.set_vlmetalayer("estore_metadata", b"\x82\xa9embed_map\x80\xaecurrent_offset\x00")?;
    frame.commit()
}

/// Writes all files of a store, the largest first and the root last, as python-blosc2 does.
fn zip(folder: &Path, to: File) -> io::Result<()> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let meta = entry.metadata()?;
            match meta.is_dir() {
                true => folders.push((entry.path(), format!("{name}/"))),
                false => files.push((name == ROOT, u64::MAX - meta.len(), name, entry.path())),
            }
        }
    }
    files.sort();
    let mut archive = ZipWriter::new(to);
    for (_, rest, name, path) in files {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let large = u64::MAX - rest > u64::from(u32::MAX) - (1 << 20);
        archive.start_file(name, options.large_file(large))?;
        io::copy(&mut File::open(path)?, &mut archive)?;
    }
    archive.finish()?;
    Ok(())
}
