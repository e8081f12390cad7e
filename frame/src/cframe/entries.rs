//! [`Entries`]: all entries of an index, taken out of the index chunk and put into a new one.

use super::header::FrameType;
use super::index;
use super::open::Opened;
use crate::error::Error;
use alloc::vec::Vec;
use blosc_core::chunk::special;
use blosc_core::{Chunk, ChunkContext, Params, Pool, Special, Split};

/// The entries of an index.
#[derive(Clone, Debug)]
pub(crate) enum Entries {
    /// All the same, as "fill special" writes them; takes no memory.
    Repeated(i64, u64),
    /// One by one.
    List(Vec<i64>),
}

impl Entries {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Entries::Repeated(_, n) => *n,
            Entries::List(list) => list.len() as u64,
        }
    }
    pub(crate) fn get(&self, k: u64) -> Option<i64> {
        match self {
            Entries::Repeated(raw, n) => (k < *n).then_some(*raw),
            Entries::List(list) => list.get(usize::try_from(k).ok()?).copied(),
        }
    }
    /// The entries of stored chunks: offsets or file numbers. Those that are all the same count once.
    pub(crate) fn stored(&self) -> impl Iterator<Item = u64> + '_ {
        let (same, list) = match self {
            Entries::Repeated(raw, n) => (Some(*raw).filter(|_| *n > 0), &[][..]),
            Entries::List(list) => (None, &list[..]),
        };
        same.into_iter().chain(list.iter().copied()).filter_map(|raw| u64::try_from(raw).ok())
    }
    /// The entries as a list that can be edited.
    pub(crate) fn list_mut(&mut self) -> Result<&mut Vec<i64>, Error> {
        if let Entries::Repeated(raw, n) = *self {
            let n = usize::try_from(n).map_err(|_| Error::OutOfMemory)?;
            let mut list = Vec::new();
            list.try_reserve_exact(n).map_err(|_| Error::OutOfMemory)?;
            list.resize(n, raw);
            *self = Entries::List(list);
        }
        match self {
            Entries::List(list) => Ok(list),
            Entries::Repeated(..) => Err(Error::Internal { what: "entries that became no list" }),
        }
    }

    /// The index chunk; nothing where there are no chunks. Entries that are all the same take 40 bytes.
    pub(crate) fn encode(&self, pool: &mut Pool) -> Result<Vec<u8>, Error> {
        let nbytes = usize::try_from(self.len().saturating_mul(8)).map_err(|_| Error::OutOfMemory)?;
        let list = match self {
            _ if nbytes == 0 => return Ok(Vec::new()),
            Entries::List(list)
                if list.first() >= Some(&0) || list.iter().any(|raw| list.first() != Some(raw)) =>
            {
                list
            }
            _ => {
                let mut chunk = alloc::vec![0; 40];
                let raw = self.get(0).unwrap_or(0).to_le_bytes();
                special::repeated(&raw, nbytes, &mut chunk).map_err(Error::Codec)?;
                return Ok(chunk);
            }
        };
        let mut raw = Vec::with_capacity(nbytes);
        list.iter().for_each(|entry| raw.extend(entry.to_le_bytes()));
        let params = Params::new(8).split(Split::Never).blocksize(u32::try_from(nbytes.min(16 << 10)).ok());
        pool.compress(&params, &raw).map_err(Error::Codec)
    }
}

/// How many decoded bytes of an index are had at a time: whole blocks and whole entries.
fn window(header: &blosc_core::Header) -> usize {
    const SOME: u32 = 128 << 10;
    let block = header.blocksize.max(1);
    if header.is_vl() || !block.is_multiple_of(8) {
        return header.nbytes as usize;
    }
    (SOME / block).max(1).saturating_mul(block) as usize
}

impl Opened {
    /// Decodes and checks the index.
    pub(crate) fn entries(&self, pool: &mut Pool, limits: &blosc_core::Limits) -> Result<Entries, Error> {
        if self.nchunks == 0 {
            return Ok(Entries::List(Vec::new()));
        }
        let at = self.header.index_at()?;
        let in_index = Error::in_chunk(None, at);
        let cbytes = (self.header.frame_type == FrameType::Contiguous).then_some(self.header.cbytes);
        let chunk = Chunk::parse_with(&self.index, limits).map_err(in_index)?;
        let repeated = match chunk.header().special() {
            Some(Special::Zeros) => Some(0),
            // A value of another width than 8 is legal, though no known program writes it. It is decoded one by one.
            Some(Special::Value) if chunk.header().cbytes == 40 => {
                self.index.get(32..40).and_then(|v| v.first_chunk()).map(|v| i64::from_le_bytes(*v))
            }
            _ => None,
        };
        if let Some(raw) = repeated {
            index::check_entry(raw, at, cbytes)?;
            return Ok(Entries::Repeated(raw, self.nchunks));
        }
        let nbytes = chunk.nbytes();
        let mut list = Vec::new();
        list.try_reserve_exact(nbytes / 8).map_err(|_| Error::OutOfMemory)?;
        // A few blocks at a time, which stay in the cache until they are in the list.
        let step = window(chunk.header()).min(nbytes);
        let mut part = Vec::new();
        part.try_reserve_exact(step).map_err(|_| Error::OutOfMemory)?;
        part.resize(step, 0);
        for start in (0..nbytes).step_by(step.max(8)) {
            let end = start.saturating_add(step).min(nbytes);
            let part = part.get_mut(..end.saturating_sub(start)).unwrap_or(&mut []);
            pool.get_bytes(&chunk, ChunkContext::default(), start..end, part).map_err(in_index)?;
            for raw in part.as_chunks::<8>().0 {
                let raw = i64::from_le_bytes(*raw);
                index::check_entry(raw, at, cbytes)?;
                list.push(raw);
            }
        }
        Ok(Entries::List(list))
    }
}
