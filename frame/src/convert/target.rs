//! What can be written, and the way there.

use super::decoded::Decoded;
use super::write::{self, Cut, Packing};
use crate::any::AnyRows;
use crate::blaze::MetaSyntax;
use crate::bloscpack::{Layout, Options};
use crate::dtype::{Dtype, Repack};
use crate::error::Error;
use crate::io::FsDir;
use crate::packed::Repacked;
use crate::plain::Plain;
use crate::schunk::SuperChunk;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Pool;
use std::path::Path;

/// What to write.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// A bloscpack file; metadata of the options is replaced by that of the data.
    Bloscpack(Options),
    /// A bcolz directory.
    Bcolz(Packing),
    /// A Blaze directory, with so many chunks per super-chunk, and its syntax of metadata.
    Blaze(Packing, Option<u64>, MetaSyntax),
    /// A contiguous frame.
    Cframe(Packing),
    /// A sparse frame.
    Sframe(Packing),
    /// An array, and its cutting into chunks and blocks.
    B2nd(Packing, Cut),
    /// A NumPy file, not compressed.
    Npy,
}

/// Writes `input` as a new container at `path`, which must be free. `pool` decodes and `encoder` encodes.
/// Returns what the new container could not hold, for people.
///
/// # Errors
/// [`Error::Limit`] before anything is written, where `input` decodes to more than the limits that it was opened with
/// allow. Errors of reading and writing; what has been written of the new container is left to be removed.
pub fn convert(
    input: &AnyRows,
    pool: &mut Pool,
    encoder: &mut Pool,
    target: &Target,
    path: impl AsRef<Path>,
) -> Result<Vec<String>, Error> {
    input.check_limit()?;
    let repack = repack(input.about.dtype.as_ref(), target)?;
    let packed = repack.as_ref().map(|repack| Repacked { data: &*input.data, repack });
    let mut about = input.about.clone();
    if let Some(repack) = &repack {
        about.typesize = repack.dtype().itemsize();
        about.dtype = Some(repack.dtype().clone());
    }
    let data = packed.as_ref().map_or(&*input.data as &dyn Plain, |packed| packed);
    let decoded = Decoded::new(data, pool);
    let notes = about.left_out.clone();
    let mut conversion = write::Conversion { from: &decoded, about: &about, encoder, notes };
    let path = path.as_ref();
    let done = match target {
        Target::Bloscpack(options) => conversion.bloscpack(options, path),
        Target::Bcolz(packing) => conversion.bcolz(packing, path),
        Target::Blaze(packing, superchunk, syntax) => conversion.blaze(packing, *superchunk, *syntax, path),
        Target::Cframe(packing) => write::create(path)
            .and_then(|file| SuperChunk::create(file, &conversion.params(packing)))
            .and_then(|frame| conversion.frame(frame, packing)),
        Target::Sframe(packing) => FsDir::create(path)
            .map_err(Error::from)
            .and_then(|dir| SuperChunk::create_dir(dir, &conversion.params(packing)))
            .and_then(|frame| conversion.frame(frame, packing)),
        Target::B2nd(packing, cut) => conversion.b2nd(packing, cut, path),
        Target::Npy => conversion.npy(path),
    };
    let notes = conversion.notes;
    decoded.explain(done).map(|()| notes)
}

/// How records are packed for a target that cannot say where their fields lie.
fn repack(dtype: Option<&Dtype>, target: &Target) -> Result<Option<Repack>, Error> {
    let Some(dtype) = dtype else { return Ok(None) };
    Ok(match target {
        Target::Bcolz(_) | Target::Blaze(..) => Repack::of(dtype)?,
        Target::Bloscpack(Options { layout: Layout::V3 | Layout::Mono, .. }) | Target::Npy => {
            Repack::of_descr(dtype)?
        }
        Target::Bloscpack(_) | Target::Cframe(_) | Target::Sframe(_) | Target::B2nd(..) => None,
    })
}
