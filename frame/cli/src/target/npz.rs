//! `.npz` files, which are zip files of `.npy` files, to directories of arrays and back.

use super::array::{items, write_items};
use crate::args::{Compress, Output};
use crate::failure::{Failure, Result};
use crate::open::Opened;
use crate::output::{Sink, check_free, parent, replace_dir, temporary_dir};
use crate::readers::Cut;
use blosc_frame::any::{HEAD, Kind};
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Every member becomes an array in the directory `-o`, which appears only when it is complete. To one that
/// exists arrays are added.
pub fn compress(args: &Compress) -> Result<()> {
    let (folder, input) = (args.output.output.as_path(), args.input.as_path());
    if folder == Path::new("-") {
        return Err(Failure::Usage("a .npz file becomes a directory of arrays: name one with -o".into()));
    }
    let file = fs::File::open(input).map_err(|e| Failure::at(input, e))?;
    let mut archive = ZipArchive::new(file).map_err(|e| Failure::at(input, e))?;
    let mut members = Vec::new();
    for k in 0..archive.len() {
        let mut member = archive.by_index(k).map_err(|e| Failure::at(input, e))?;
        if member.is_dir() {
            continue;
        }
        let name = member.name().map_err(|e| Failure::at(input, e))?.into_owned();
        let mut head = Vec::new();
        (&mut member).take(HEAD as u64).read_to_end(&mut head).map_err(|e| Failure::at(input, e))?;
        if Kind::of_head(&head, None) != Kind::Npy {
            eprintln!("blosc: {}: the member {name:?} is no array and is left out", input.display());
            continue;
        }
        let place = place(input, &name)?;
        if members.iter().any(|(_, other)| *other == place) {
            let text = format!("two members would become {}: give one another name", place.display());
            return Err(Failure::at(input, text));
        }
        members.push((k, place));
    }
    if folder.is_dir() {
        return write_members(&mut archive, &members, folder, args);
    }
    check_free(&args.output)?;
    let temp = temporary_dir(folder)?;
    let fresh = temp.path().join("arrays");
    fs::create_dir(&fresh).map_err(|e| Failure::at(folder, e))?;
    write_members(&mut archive, &members, &fresh, args)?;
    replace_dir(&fresh, temp)
}

/// Where in the directory the array of a member goes.
fn place(input: &Path, name: &str) -> Result<PathBuf> {
    let name = name.strip_suffix(".npy").unwrap_or(name);
    let plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':', '\0']);
    if !name.split('/').all(plain) {
        return Err(Failure::at(input, format!("the member {name:?} has no plain name")));
    }
    Ok(PathBuf::from(format!("{name}.b2nd")))
}

fn write_members(
    archive: &mut ZipArchive<fs::File>,
    members: &[(usize, PathBuf)],
    folder: &Path,
    args: &Compress,
) -> Result<()> {
    let outputs: Vec<Output> =
        members.iter().map(|(_, m)| Output { output: folder.join(m), force: args.output.force }).collect();
    outputs.iter().try_for_each(check_free)?;
    for ((k, member), output) in members.iter().zip(&outputs) {
        // The member's name in what is said about it.
        let label = args.input.join(member.with_extension(""));
        let mut member = archive.by_index(*k).map_err(|e| Failure::at(&args.input, e))?;
        // Members are read through a file: their decoder cannot outlive the archive.
        let mut spool = tempfile::tempfile()?;
        io::copy(&mut member, &mut spool).map_err(|e| Failure::at(&label, e))?;
        spool.rewind()?;
        fs::create_dir_all(parent(&output.output)).map_err(|e| Failure::at(&output.output, e))?;
        write_items(items(&label, Box::new(spool), None, None)?, &label, output, args)?;
    }
    Ok(())
}

/// Writes all arrays there are as the members of a `.npz` file, not compressed, as `numpy.savez` does.
pub fn write(opened: &mut Opened, sink: &mut Sink, progress: &dyn Fn(u64)) -> Result<()> {
    let failed = |e: zip::result::ZipError| Failure::Data(format!(".npz file: {e}"));
    let mut archive = ZipWriter::new(tempfile::tempfile()?);
    opened.each_array(&mut |name, array| {
        let large = array.nbytes().is_none_or(|n| n > u64::from(u32::MAX) - (1 << 20));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        archive.start_file(format!("{name}.npy"), options.large_file(large)).map_err(failed)?;
        array.npy_header(&Cut::ALL)?.iter().try_for_each(|header| archive.write_all(header))?;
        array.read_npy(&mut archive, progress)
    })?;
    let mut file = archive.finish().map_err(failed)?;
    file.rewind()?;
    io::copy(&mut file, sink)?;
    Ok(())
}
