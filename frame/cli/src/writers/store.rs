//! Tree stores of python-blosc2: `.b2d` directories of arrays with a root, and `.b2z` files, which are such a directory
//! in a zip file whose members are stored.

use super::array::{items, write_items};
use super::npz::plain_name;
use super::{Input, destination};
use crate::args::{Compress, Format, Output};
use crate::failure::{Failure, Result};
use crate::output::{Destination, parent};
use blosc_core::{Codec, Params};
use blosc_frame::SuperChunk;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use zip::result::{ZipError, ZipResult};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

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
    make(&folder).map_err(Failure::of_a_part)?;
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

/// A member of a store in a zip file: as it is in another one, or a file.
enum Member<'a> {
    Old(usize),
    File(&'a Path),
}

/// Writes all files of a store.
fn zip(folder: &Path, to: File) -> io::Result<()> {
    let files = files(folder, "")?;
    let members = files.iter().map(|(name, len, path)| (name.clone(), *len, Member::File(path))).collect();
    write_zip(members, None, to).map_err(io::Error::other)
}

/// Files under `folder`: their names as members, which begin with `prefix`, and lengths.
fn files(folder: &Path, prefix: &str) -> io::Result<Vec<(String, u64, PathBuf)>> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), prefix.to_string())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let meta = entry.metadata()?;
            match meta.is_dir() {
                true => folders.push((entry.path(), format!("{name}/"))),
                false if name.ends_with(".b2lock") => {}
                false => files.push((name, meta.len(), entry.path())),
            }
        }
    }
    Ok(files)
}

/// Writes members, the largest first and the root last, as python-blosc2 does.
fn write_zip(
    mut members: Vec<(String, u64, Member<'_>)>,
    mut old: Option<&mut ZipArchive<File>>,
    to: File,
) -> ZipResult<()> {
    members.sort_by_cached_key(|(name, len, _)| (name == ROOT, u64::MAX - len, name.clone()));
    let mut archive = ZipWriter::new(to);
    for (name, len, member) in members {
        match (member, &mut old) {
            (Member::Old(k), Some(old)) => archive.raw_copy_file(old.by_index_raw(k)?)?,
            (Member::Old(_), None) => {}
            (Member::File(path), _) => {
                let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
                archive.start_file(name, options.large_file(len > u64::from(u32::MAX) - (1 << 20)))?;
                io::copy(&mut File::open(path)?, &mut archive)?;
            }
        }
    }
    archive.finish()?;
    Ok(())
}

/// A `.b2z` file of which the members whose names begin with `prefix` are exchanged.
pub struct Exchange {
    path: PathBuf,
    archive: ZipArchive<File>,
    prefix: String,
}

impl Exchange {
    /// Unpacks these members into `folder`, which does not exist yet.
    ///
    /// # Errors
    /// A zip file that is damaged; members that are compressed, or would not lie in `folder`, or lie one over the other.
    pub fn unpack(path: &Path, prefix: &str, folder: &Path) -> Result<Exchange> {
        let wrong = |what: String| Failure::at(path, what);
        let failed = |e: ZipError| Failure::at(path, e);
        let file = File::open(path).map_err(Failure::io(path))?;
        let mut left = file.metadata().map_err(Failure::io(path))?.len();
        let mut archive = ZipArchive::new(file).map_err(failed)?;
        fs::create_dir(folder).map_err(|e| wrong(e.to_string()))?;
        for k in 0..archive.len() {
            let mut member = archive.by_index(k).map_err(failed)?;
            let name = member.name().map_err(failed)?.into_owned();
            let Some(rest) = name.strip_prefix(prefix).filter(|_| !member.is_dir()) else { continue };
            if rest == ROOT {
                continue;
            }
            let rest =
                plain_name(rest).ok_or_else(|| wrong(format!("the member {name:?} has no plain name")))?;
            if member.compression() != CompressionMethod::Stored {
                return Err(wrong(format!("{name} is deflated; unpack it first")));
            }
            left = left
                .checked_sub(member.size().max(member.compressed_size()))
                .ok_or_else(|| wrong("its members lie one over the other".into()))?;
            let to = folder.join(rest);
            let io = |e: io::Error| Failure::at(path, format!("{name}: {e}"));
            fs::create_dir_all(parent(&to)).map_err(io)?;
            let mut file = File::options().write(true).create_new(true).open(&to).map_err(io)?;
            io::copy(&mut member, &mut file).map_err(io)?;
        }
        Ok(Exchange { path: path.to_path_buf(), archive, prefix: prefix.to_string() })
    }

    /// Writes the store with the files of `folder` in their places.
    ///
    /// # Errors
    /// Those of reading and writing.
    pub fn pack(mut self, folder: &Path, to: File) -> Result<()> {
        let failed = |e: ZipError| Failure::at(&self.path, e);
        let new = files(folder, &self.prefix).map_err(|e| Failure::at(&self.path, e))?;
        let mut members: Vec<_> =
            new.iter().map(|(name, len, path)| (name.clone(), *len, Member::File(path))).collect();
        for k in 0..self.archive.len() {
            let member = self.archive.by_index_raw(k).map_err(failed)?;
            let name = member.name().map_err(failed)?.into_owned();
            // The root of a store is none of the files of a table in it.
            if member.is_dir() || name.strip_prefix(&self.prefix).is_none_or(|rest| rest == ROOT) {
                members.push((name, member.size(), Member::Old(k)));
            }
        }
        write_zip(members, Some(&mut self.archive), to).map_err(failed)
    }
}
