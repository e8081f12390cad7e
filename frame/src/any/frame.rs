//! Frames as rows: a row is an item, of a tensor all items with one first index.

use crate::cframe::header::ChunkSize;
use crate::error::{Error, IoKind, Structure};
use crate::io::ReadAt;
use crate::plain::{Content, Piece, Plain, check_range};
use crate::rows::{Rows, byte_range, check_end, count, growth};
use crate::schunk::{Index, SuperChunk};
use crate::tensor::{self, TensorMeta};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::cell::RefCell;
use core::ops::Range;

/// A frame, contiguous or sparse. Each change is one commit, and so atomic. One that fails leaves what was committed.
pub(super) struct FrameRows {
    frame: SuperChunk<'static>,
    /// What the frame says of the tensor in it. An edit that changes the number of rows changes it in the same commit.
    tensor: Option<TensorMeta>,
}

/// The bytes of a frame as they were committed, while its chunks are being changed.
struct Old<'f>(RefCell<(&'f mut SuperChunk<'static>, &'f mut Index)>);

impl Plain for Old<'_> {
    fn nbytes(&self) -> u64 {
        self.0.borrow().1.nbytes()
    }
    fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = check_range(at, out.len(), self.nbytes())?;
        let (frame, committed) = &mut *self.0.borrow_mut();
        frame.read_committed(committed, at..end, out).map(drop)
    }
}

impl FrameRows {
    pub fn new(frame: SuperChunk<'static>, tensor: Option<TensorMeta>) -> FrameRows {
        FrameRows { frame, tensor }
    }

    /// Refuses to change the rows of a tensor that has none, or rows without bytes.
    fn check_rows(&self) -> Result<(), Error> {
        let what = match self.tensor.as_ref().map(TensorMeta::row_nbytes) {
            Some(None) => "changing the rows of a tensor of one item, which has none",
            Some(Some(0)) => "changing rows that have no items",
            _ => return Ok(()),
        };
        Err(Error::Unsupported { structure: Structure::Tensor, what })
    }

    /// Forgets the parts of a change that failed.
    fn forget_failed(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        if result.is_err() && self.frame.is_dirty() {
            self.frame.discard()?;
        }
        result
    }

    /// Replaces bytes `range` by `pieces`, chunk by chunk, reading what moves from the committed frame.
    fn change(&mut self, pool: &mut Pool, range: Range<u64>, pieces: Vec<Piece<'_>>) -> Result<(), Error> {
        let frame = &mut self.frame;
        let mut committed = frame.committed()?;
        let content = Content::splice(committed.nbytes(), range, pieces)?;
        let item = frame.typesize().max(1);
        let size = match (frame.chunksize(), frame.nchunks()) {
            // The first chunk declares the size of all: whole items.
            (declared, 0) => {
                let size = match declared {
                    ChunkSize::Fixed(size) if size > 0 => size,
                    _ => crate::schunk::DEFAULT_CHUNKSIZE,
                };
                size.checked_div(item).unwrap_or(1).max(1).saturating_mul(item).into()
            }
            (ChunkSize::Fixed(size), _) if size > 0 => u64::from(size),
            _ => {
                let what = "changing items of a frame whose chunks differ in size";
                return Err(Error::Unsupported { structure: Structure::FrameHeader, what });
            }
        };
        let changed = content.changed();
        let needed = content.nbytes().div_ceil(size);
        // First what is too many: in between, no chunk but the last may be a short one.
        for k in (needed..frame.nchunks()).rev() {
            frame.delete(k)?;
        }
        let mut buffer = Vec::new();
        for k in changed.start.checked_div(size).unwrap_or(0)..changed.end.div_ceil(size).min(needed) {
            let at = k.saturating_mul(size);
            let n = content.nbytes().saturating_sub(at).min(size);
            buffer.resize(usize::try_from(n).map_err(|_| IoKind::OutOfMemory)?, 0);
            let old = Old(RefCell::new((&mut *frame, &mut committed)));
            content.read(pool, &old, at, &mut buffer)?;
            match k < frame.nchunks() {
                true => frame.update(k, &buffer)?,
                false => frame.append(&buffer)?,
            }
        }
        let tensor = self.tensor.as_ref().map(|meta| {
            let row = meta.row_nbytes().unwrap_or(0);
            meta.clone().rows(content.nbytes().checked_div(row).unwrap_or(0))
        });
        if let Some(meta) = tensor.as_ref().filter(|meta| Some(*meta) != self.tensor.as_ref()) {
            frame.set_vlmetalayer(tensor::NAME, &meta.to_bytes())?;
        }
        frame.commit()?;
        self.tensor = tensor;
        Ok(())
    }
}

impl Plain for FrameRows {
    fn nbytes(&self) -> u64 {
        self.frame.nbytes()
    }
    fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = check_range(at, out.len(), self.nbytes())?;
        self.frame.read_bytes(at..end, out).map(drop)
    }
    fn chunk_nbytes(&self) -> u64 {
        match self.frame.chunksize() {
            ChunkSize::Fixed(size) if size > 0 => size.into(),
            _ => crate::schunk::DEFAULT_CHUNKSIZE.into(),
        }
    }
}

impl Rows for FrameRows {
    fn row_nbytes(&self) -> u64 {
        let item = u64::from(self.frame.typesize());
        self.tensor.as_ref().map_or(item, |meta| meta.row_nbytes().unwrap_or(item)).max(1)
    }

    fn rows(&self) -> u64 {
        let rows = self.nbytes().checked_div(self.row_nbytes()).unwrap_or(0);
        self.tensor.as_ref().map_or(rows, |meta| meta.shape().first().copied().unwrap_or(0))
    }

    fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        self.check_rows()?;
        let row = self.row_nbytes();
        check_end(self.nbytes(), row)?;
        let n = count(row, data)?.saturating_mul(row);
        let result = self.change(pool, byte_range(row, &rows)?, alloc::vec![Piece::New(data, 0..n)]);
        self.forget_failed(result)
    }

    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.check_rows()?;
        let (range, more) = growth(self.nbytes(), self.row_nbytes(), rows)?;
        let result = self.change(pool, range, alloc::vec![Piece::Fill(&[0], more)]);
        self.forget_failed(result)
    }
}
