//! A sparse frame: if its index file is damaged, the chunk files come in the order of their numbers.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::made::{Around, Known, Made};
use super::report::{Options, Order, Repaired, is_of_the_caller};
use super::rescue;
use super::search::looks_whole;
use crate::cframe::header::FrameType;
use crate::error::{Error, IoKind};
use crate::io::Directory;
use crate::limits::{Budget, Limits, resize};
use crate::schunk::{INDEX_NAME, SuperChunk};
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{Chunk, Header as ChunkHeader, Params, Pool};

/// Saves what can be saved of a sparse frame in `dir`. If its index file is damaged, the chunk files
/// come in the order of their numbers.
///
/// # Errors
/// As [`repair`](crate::repair::repair).
pub fn repair_dir<'a>(
    dir: &(impl Directory + Clone + Send + Sync + 'static),
    options: impl Into<Options>,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    let options = options.into();
    let limits = options.limits;
    if let Ok(frame) = SuperChunk::open_dir(dir.clone(), &limits)
        && rescue::has_usable_index(&frame)?
    {
        return rescue::rescue(frame, options, make);
    }
    let head = dir.open(INDEX_NAME, false).map_err(Error::from).and_then(|index| {
        let mut head = alloc::vec![0; usize::try_from(index.size()?.min(limits.metalayers)).unwrap_or(0)];
        index.read_exact_at(0, &mut head)?;
        Ok(head)
    });
    let known = Known::read(&head.unwrap_or_default(), FrameType::Sparse);
    let mut files: Vec<String> = dir.list()?;
    files.retain(|name| name.len() == 14 && name.ends_with(".chunk"));
    files.sort_unstable();
    let first = files.first().and_then(|name| chunk_header(dir, name).ok());
    let around = known.around(first.map_or(1, |chunk| chunk.typesize.into()));
    let mut made = Made::new(known, first.as_ref(), options, Order::Stored, make)?;
    let mut pool = Pool::new(1);
    let mut budget = limits.budget(total(dir, &files)?);
    for name in files {
        match chunk_file(dir, &name, &limits, &around, &mut pool, &mut budget) {
            Ok((chunk, decoded)) => {
                let done = made.out.append_as_is(&chunk);
                if made.appended(done)? {
                    made.report.unchecked = made.report.unchecked.saturating_add(u64::from(!decoded));
                } else {
                    made.lose(made.next_len())?;
                }
            }
            Err(error) if is_of_the_caller(&error) || error.leaves_open() => return Err(error),
            Err(_) => made.lose(made.next_len())?,
        }
    }
    made.finish()
}

/// Bytes of these files.
fn total(dir: &impl Directory, files: &[String]) -> Result<u64, Error> {
    files.iter().try_fold(0u64, |sum, name| Ok(sum.saturating_add(dir.open(name, false)?.size()?)))
}

fn chunk_header(dir: &impl Directory, name: &str) -> Result<ChunkHeader, Error> {
    let mut head = [0; 32];
    dir.open(name, false)?.read_exact_at(0, &mut head)?;
    ChunkHeader::parse(&head).map_err(Error::Codec)
}

/// The chunk in a file of its own, and whether every block of it decodes: if not, only for want of a codec. Its header
/// says where it ends.
fn chunk_file(
    dir: &impl Directory,
    name: &str,
    limits: &Limits,
    around: &Around,
    pool: &mut Pool,
    budget: &mut Budget,
) -> Result<(Vec<u8>, bool), Error> {
    let header = chunk_header(dir, name)?;
    let file = dir.open(name, false)?;
    if u64::from(header.cbytes) > file.size()? || header.cbytes < 32 {
        return Err(IoKind::UnexpectedEnd.into());
    }
    let limits = limits.for_size(file.size()?);
    limits.chunk.check(&header).map_err(Error::Codec)?;
    budget.spend(header.nbytes.into())?;
    let mut bytes = Vec::new();
    resize(&mut bytes, header.cbytes)?;
    file.read_exact_at(0, &mut bytes)?;
    let decoded = Chunk::parse_with(&bytes, &limits.chunk).and_then(|chunk| match chunk.nbytes() {
        0 => Ok(Vec::new()),
        _ => pool.decompress_in(&chunk, around.context()),
    });
    match decoded.map_err(Error::Codec) {
        Ok(_) => Ok((bytes, true)),
        Err(error) if error.leaves_open() && looks_whole(&bytes) => Ok((bytes, false)),
        Err(error) => Err(error),
    }
}
