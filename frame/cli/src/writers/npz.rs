//! `.npz` files, which are zip files of `.npy` files: their members become the arrays of a directory or a store.

use super::array::{items, write_items};
use super::{destination, store};
use crate::args::{Compress, Format, Output};
use crate::failure::{Failure, Result};
use crate::limits::{check_output, limits_of};
use crate::output::{Sink, notice};
use crate::paths::{parent, plain_name};
use blosc_frame::any::{HEAD, Kind};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Every member becomes an array in the directory or store `-o`, which appears only when it is complete. `file` is the
/// input or a copy of it.
pub fn compress(args: &Compress, file: &Path, format: Format) -> Result<()> {
    let (folder, input) = (args.output.output.as_path(), args.input.as_path());
    let file = File::open(file).map_err(|e| Failure::at(input, e))?;
    let mut archive = ZipArchive::new(file).map_err(|e| Failure::at(input, e))?;
    let members = members(&mut archive, input)?;
    let mut unpacked = 0u64;
    for (k, _) in &members {
        let member = archive.by_index_raw(*k).map_err(|e| Failure::at(input, e))?;
        unpacked = unpacked.saturating_add(member.size());
    }
    check_output(input, unpacked, limits_of(args.max_output, input).output)?;
    let destination = destination(&args.output, format)?;
    if format == Format::Arrays {
        return destination.made(|new| {
            fs::create_dir(new).map_err(|e| Failure::at(folder, e))?;
            write_members(&mut archive, &members, new, args)
        });
    }
    store::write(&destination, format, |folder| write_members(&mut archive, &members, folder, args))
}

/// Whether a zip file has members that are called as NumPy calls arrays.
pub fn has_arrays(file: &Path) -> bool {
    let archive = File::open(file).ok().and_then(|file| ZipArchive::new(file).ok());
    archive.is_some_and(|archive| archive.file_names().flatten().any(|name| name.ends_with(".npy")))
}

/// The members that are arrays: their numbers, and where in the directory each goes. The others are named.
fn members(archive: &mut ZipArchive<File>, input: &Path) -> Result<Vec<(usize, PathBuf)>> {
    let mut members: Vec<(usize, PathBuf)> = Vec::new();
    for k in 0..archive.len() {
        let mut member = archive.by_index(k).map_err(|e| Failure::at(input, e))?;
        if member.is_dir() {
            continue;
        }
        let name = member.name().map_err(|e| Failure::at(input, e))?.into_owned();
        let mut head = Vec::new();
        let stem = name.strip_suffix(".npy");
        if stem.is_none() {
            member.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(|e| Failure::at(input, e))?;
            if Kind::of_head(&head, None) != Kind::Npy {
                notice(format_args!("{}: {name} is no array and is left out", input.display()));
                continue;
            }
        }
        let plain = plain_name(stem.unwrap_or(&name));
        let plain =
            plain.ok_or_else(|| Failure::at(input, format!("the member {name:?} has no plain name")))?;
        let path = PathBuf::from(format!("{plain}.b2nd"));
        if let Some((_, other)) = members.iter().find(|(_, o)| o.starts_with(&path) || path.starts_with(o)) {
            let text = match *other == path {
                true => format!("two members would become {}: give one another name", path.display()),
                false => format!(
                    "{} and {} would be a file and a directory of one name: give one another name",
                    other.display(),
                    path.display()
                ),
            };
            return Err(Failure::at(input, text));
        }
        members.push((k, path));
    }
    if members.is_empty() {
        return Err(Failure::at(input, "holds no array"));
    }
    Ok(members)
}

fn write_members(
    archive: &mut ZipArchive<File>,
    members: &[(usize, PathBuf)],
    folder: &Path,
    args: &Compress,
) -> Result<()> {
    for (k, member) in members {
        let output = Output { output: folder.join(member), force: false };
        let data = archive.by_index(*k).map_err(|e| Failure::at(&args.input, e))?;
        // A member is no longer than the directory of the archive says, which was held to the limit.
        let size = data.size();
        let data = data.take(size);
        // The member's name in what is said about it.
        let label = args.input.join(member.with_extension(""));
        fs::create_dir_all(parent(&output.output)).map_err(|e| Failure::at(&output.output, e))?;
        write_items(items(&label, Box::new(data), None, None)?, &label, &output, args)?;
    }
    Ok(())
}

pub(super) fn failed(error: zip::result::ZipError) -> Failure {
    Failure::Data(format!(".npz file: {error}"))
}

/// Begins the member of an array.
pub fn start<W: Write + Seek>(archive: &mut ZipWriter<W>, name: &str, large: bool) -> Result<()> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    archive.start_file(format!("{name}.npy"), options.large_file(large)).map_err(failed)
}

/// Ends the file and copies it to its place.
pub fn finish(archive: ZipWriter<File>, sink: &mut Sink) -> Result<()> {
    let mut file = archive.finish().map_err(failed)?;
    file.rewind()?;
    io::copy(&mut file, sink)?;
    Ok(())
}
