//! Decoded items: as plain bytes, as a `.npy` file, or as the only member of a `.npz` file.

use super::npz;
use crate::args::Format;
use crate::failure::{Failure, Result};
use crate::limits::check_output;
use crate::open::Opened;
use crate::output::{Sink, notice, spool};
use crate::readers::Cut;
use std::io::{self, Seek, Write};
use std::path::Path;
use zip::ZipWriter;

/// Writes to `sink` what `body` writes, after `header` where the format has one.
pub fn write(
    format: Format,
    header: Option<Vec<u8>>,
    sink: &mut Sink,
    body: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let header = header.as_deref().unwrap_or_default();
    match format {
        Format::Npz => {
            let mut archive = ZipWriter::new(spool()?);
            npz::start(&mut archive, "arr_0", true)?;
            archive.write_all(header)?;
            body(&mut archive)?;
            npz::finish(archive, sink)
        }
        Format::Npy => {
            sink.write_all(header)?;
            body(sink)
        }
        _ => body(sink),
    }
}

/// Writes every array of a store as a member of a `.npz` file, as `numpy.savez` does: no more than `max_output` bytes
/// of items in all. With `partial` arrays that cannot be decoded are named and left out.
pub fn write_all(
    path: &Path,
    opened: &Opened,
    sink: &mut Sink,
    max_output: u64,
    partial: bool,
    progress: &dyn Fn(u64),
) -> Result<()> {
    let mut archive = ZipWriter::new(spool()?);
    let mut total = 0u64;
    let mut names: Vec<String> = Vec::new();
    opened.each_array(&mut |name, array| {
        if npz::plain_name(name).is_none() || names.iter().any(|other| other == name) {
            return Err(Failure::at(path, format!("the member {name:?} has no plain name of its own")));
        }
        names.push(name.to_string());
        let nbytes = array.nbytes().unwrap_or(0);
        total = total.saturating_add(nbytes);
        check_output(path, total, max_output)?;
        npz::start(&mut archive, name, nbytes > u64::from(u32::MAX) - (1 << 20))?;
        let mut member = || -> Result<()> {
            let header = array.npy_header(&Cut::ALL)?;
            archive.write_all(&header.ok_or_else(|| Failure::at(path, format!("{name:?} is no array")))?)?;
            array.read_npy(&mut archive, progress)
        };
        match member() {
            Err(why @ (Failure::Data(_) | Failure::Unable(_))) if partial => {
                archive.abort_file().map_err(npz::failed)?;
                names.pop();
                notice(format_args!("not kept: /{name}: {why}"));
                Ok(())
            }
            done => done.map_err(|why| why.about(format_args!("/{name}"))),
        }
    })?;
    if names.is_empty() {
        return Err(Failure::at(path, "holds no array that a .npz file can keep"));
    }
    npz::finish(archive, sink)
}

/// Copies a file that has been written to its place.
pub fn hand_over(mut file: std::fs::File, sink: &mut Sink) -> Result<()> {
    file.rewind()?;
    io::copy(&mut file, sink)?;
    Ok(())
}
