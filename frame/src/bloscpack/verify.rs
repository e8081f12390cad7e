//! Checking a whole file: every digest, every chunk decoded, and what lies behind the last one.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::reader::{Ahead, Bloscpack};
use crate::error::Error;
use crate::io::ReadAt;
use crate::limits::resize;
use alloc::vec::Vec;
use blosc_core::{ChunkContext, Pool};

/// What [`Bloscpack::verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Chunks that were looked at.
    pub chunks: u64,
    /// Chunks that are damaged, and how.
    pub damaged: Vec<(u64, Error)>,
    /// Bytes behind the last chunk. Old programs leave them when an append makes the last chunk shorter.
    pub trailing: u64,
    /// Bytes in gaps between chunks, which only readers that use the offsets skip.
    pub gaps: u64,
    /// Reserved room is not counted as damage; metadata that contradicts the data is.
    pub metadata: Option<Error>,
}

impl Report {
    /// Whether nothing is damaged.
    pub fn is_intact(&self) -> bool {
        self.damaged.is_empty() && self.metadata.is_none()
    }
}

impl<R: ReadAt> Bloscpack<R> {
    /// Checks every chunk: its digest, and with `decode` its compressed streams too.
    ///
    /// # Errors
    /// Only when the source cannot be read; damage is reported, not returned as an error.
    pub fn verify(&self, pool: &mut Pool, decode: bool) -> Result<Report, Error> {
        let mut report = Report { metadata: self.numpy().err(), ..Report::default() };
        let (view, mut ahead) = (self.view(), Ahead::new());
        let mut end = super::index::table_end(&self.header, self.table, self.size)?;
        let mut plain = Vec::new();
        for i in 0..self.nchunks() {
            report.chunks = report.chunks.saturating_add(1);
            let checked = view.read_with(&mut ahead, i, self.nchunks()).and_then(|stored| {
                let chunk = stored.checked()?;
                if decode {
                    resize(&mut plain, chunk.nbytes())?;
                    let done = pool.decompress_into(&chunk, ChunkContext::default(), &mut plain);
                    done.map_err(stored.failed())?;
                    plain.clear();
                }
                Ok((stored.offset, stored.bytes.len() as u64))
            });
            match checked {
                Ok((offset, len)) => {
                    report.gaps = report.gaps.saturating_add(offset.saturating_sub(end));
                    end = offset.saturating_add(len);
                }
                Err(error @ Error::Io(_)) => return Err(error),
                Err(error) => {
                    report.damaged.push((i, error));
                    end = self.chunk_offset(i.saturating_add(1)).unwrap_or(self.size);
                }
            }
        }
        report.trailing = self.size.saturating_sub(end);
        Ok(report)
    }
}
