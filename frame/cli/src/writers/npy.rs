//! Decoded items: as plain bytes, as a `.npy` file, or as the only member of a `.npz` file.

use super::npz;
use crate::args::Format;
use crate::cut::Cut;
use crate::failure::{Failure, Result};
use crate::limits::check_output;
use crate::opened::Opened;
use crate::output::{Sink, notice, spool};
use crate::paths::plain_name;
use crate::readers::NpyHead;
use blosc_frame::dtype::Repack;
use std::io::{self, Write};
use std::path::Path;
use zip::ZipWriter;

/// Most bytes that are packed at a time.
const PIECE: usize = 1 << 20;

/// What writes all items, in the order that the head says.
type Body<'f> = dyn FnMut(&mut dyn Write) -> Result<()> + 'f;

/// Writes to `sink` what `body` writes, after `head` where the format has one.
pub fn write(format: Format, head: Option<NpyHead>, sink: &mut Sink, body: &mut Body<'_>) -> Result<()> {
    match (format, head) {
        (Format::Npz, Some(head)) => {
            let mut archive = ZipWriter::new(spool()?);
            npz::start(&mut archive, "arr_0", true)?;
            write_npy(head, &mut archive, body)?;
            npz::finish(archive, sink)
        }
        (Format::Npy, Some(head)) => write_npy(head, sink, body),
        _ => body(sink),
    }
}

/// Writes a `.npy` file.
fn write_npy(head: NpyHead, out: &mut dyn Write, body: &mut Body<'_>) -> Result<()> {
    out.write_all(&head.bytes)?;
    let Some(repack) = head.repack else { return body(out) };
    let mut packing = Packing { out, repack, rest: Vec::new(), packed: Vec::new() };
    body(&mut packing)
}

/// Packs records on their way to a file.
struct Packing<'a> {
    out: &'a mut dyn Write,
    repack: Repack,
    /// The first bytes of an item that is not whole yet.
    rest: Vec<u8>,
    packed: Vec<u8>,
}

impl Write for Packing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = bytes.get(..PIECE).unwrap_or(bytes);
        self.rest.extend_from_slice(piece);
        let items = self.rest.len() / self.repack.unpacked().max(1);
        self.packed.resize(items * self.repack.packed(), 0);
        self.repack.items(&self.rest, &mut self.packed);
        self.rest.drain(..items * self.repack.unpacked());
        self.out.write_all(&self.packed)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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
        if plain_name(name).is_none() || names.iter().any(|other| other == name) {
            return Err(Failure::at(path, format!("the member {name:?} has no plain name of its own")));
        }
        names.push(name.to_string());
        let nbytes = array.nbytes().unwrap_or(0);
        total = total.saturating_add(nbytes);
        check_output(path, total, max_output)?;
        npz::start(&mut archive, name, nbytes > u64::from(u32::MAX) - (1 << 20))?;
        let mut member = || -> Result<()> {
            let head = array.reader()?.npy_head(&Cut::ALL)?;
            let head = head.ok_or_else(|| Failure::at(path, format!("{name:?} is no array")))?;
            write_npy(head, &mut archive, &mut |out| array.reader()?.read_npy(out, progress))
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
