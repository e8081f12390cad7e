//! The frame that a repair makes, and the report of it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::report::{Options, Order, Repaired, Substitute};
use crate::b2nd::NdArray;
use crate::cframe::header::{ChunkSize, FIXED_LEN, FrameType, Header};
use crate::cframe::section::Section;
use crate::cframe::view::nan;
use crate::error::{Error, Structure};
use crate::schunk::SuperChunk;
use crate::shape::Geometry;
use crate::shape::metalayer::{Metalayer, NAME, NAME_CATERVA};
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::{ChunkContext, Header as ChunkHeader, Params, Special};
use core::ops::Range;

/// What header and trailer still tell of a frame.
pub(super) struct Known {
    pub(super) header: Option<Header>,
    /// Whether all metalayers of the header are known.
    pub(super) all: bool,
    pub(super) metalayers: Vec<(String, Vec<u8>)>,
    /// `None` where no trailer was found.
    pub(super) vlmetalayers: Option<Vec<(String, Vec<u8>)>>,
    /// Names of vlmetalayers that do not decode.
    pub(super) dropped: Vec<String>,
}

impl Known {
    /// What the first bytes of a frame tell.
    pub(super) fn read(head: &[u8], frame_type: FrameType) -> Known {
        let header = head.first_chunk().and_then(|fixed| Header::parse(fixed).ok());
        let header = header.filter(|header| header.frame_type == frame_type);
        let section = header
            .and_then(|header| head.get(..header.header_len as usize))
            .and_then(|head| Section::parse(head, FIXED_LEN, Structure::Metalayers).ok());
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let metalayers = section.iter().flat_map(Section::iter);
        let metalayers = metalayers.map(|entry| (text(entry.name), entry.content.to_vec())).collect();
        Known { header, all: section.is_some(), metalayers, vlmetalayers: None, dropped: Vec::new() }
    }

    /// What decoding a chunk needs to know of the array around it. Without a header, `typesize` is its typesize.
    pub(super) fn around(&self, typesize: u32) -> Around {
        let typesize = self.header.map_or(typesize, |header| header.typesize);
        let named = |name| self.metalayers.iter().find(|layer| layer.0 == name);
        let content = [NAME, NAME_CATERVA].into_iter().find_map(named);
        let geometry = content.and_then(|layer| geometry(&layer.1, typesize));
        Around { typesize, blocks: geometry.map_or(Vec::new(), |geometry| geometry.blocks().to_vec()) }
    }
}

/// Items and blocks of the array that a chunk is part of, which some filters need.
pub(super) struct Around {
    typesize: u32,
    blocks: Vec<u32>,
}

impl Around {
    pub(super) fn context(&self) -> ChunkContext<'_> {
        ChunkContext { typesize: self.typesize, blockshape: &self.blocks, ..ChunkContext::default() }
    }
}

/// How an array with this metalayer is cut.
fn geometry(content: &[u8], typesize: u32) -> Option<Geometry> {
    Geometry::of(&Metalayer::parse(content).ok()?, typesize).ok()
}

/// The new frame.
pub(super) struct Made<'a> {
    pub(super) out: SuperChunk<'a>,
    pub(super) report: Repaired,
    options: Options,
    /// How the array is cut into chunks and blocks; none for a plain frame.
    geometry: Option<Geometry>,
    /// Chunks and bytes that the header announces.
    promised: Option<u64>,
    nbytes: Option<u64>,
}

impl<'a> Made<'a> {
    /// A new frame with the header's parameters, and its metalayers; without a header, with those of the first chunk.
    pub(super) fn new(
        mut known: Known,
        first: Option<&ChunkHeader>,
        options: Options,
        order: Order,
        make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
    ) -> Result<Made<'a>, Error> {
        let limits = options.limits;
        let typesize = first.map_or(1, |chunk| chunk.typesize.into());
        let mut out = make(&Params::new(known.header.map_or(typesize, |header| header.typesize)))?;
        out.set_limits(&limits);
        let report = Repaired {
            order,
            kept: 0,
            unchecked: 0,
            placed: 0,
            intact: true,
            lost: Vec::new(),
            gone: Vec::new(),
            missing: 0,
            dropped: core::mem::take(&mut known.dropped),
            leaves_lost: Vec::new(),
            leaves_in_part: Vec::new(),
            header: known.header.is_some() && known.all,
            vlmetalayers: known.vlmetalayers.is_some(),
        };
        let promised = known.header.and_then(|header| header.nchunks());
        let nbytes = known.header.map(|header| header.nbytes);
        let mut made = Made { out, report, options, geometry: None, promised, nbytes };
        if let Some(header) = &known.header {
            made.out.set_header(header);
            // A size beyond the limits is part of the damage.
            match header.chunksize {
                ChunkSize::Fixed(c) if u64::from(c) <= limits.chunk.output => made.out.set_chunksize(c)?,
                _ => {}
            }
        }
        for (name, content) in known.metalayers {
            let done = made.out.set_metalayer(&name, &content);
            made.taken(name, done)?;
        }
        for (name, content) in known.vlmetalayers.into_iter().flatten() {
            let done = made.out.set_vlmetalayer(&name, &content);
            made.taken(name, done)?;
        }
        made.geometry = made.shape();
        made.check_substitute()?;
        Ok(made)
    }

    /// Notes a metalayer that cannot be written as it was read.
    fn taken(&mut self, name: String, done: Result<(), Error>) -> Result<(), Error> {
        match done {
            Err(Error::Param { .. } | Error::Capacity { .. }) => self.report.dropped.push(name),
            done => done?,
        }
        Ok(())
    }

    /// How the array is cut, if the header agrees.
    fn shape(&self) -> Option<Geometry> {
        let content = [NAME, NAME_CATERVA].iter().find_map(|name| self.out.metalayer(name))?;
        let geometry = geometry(content, self.out.typesize())?;
        let agrees = self.out.chunksize() == ChunkSize::Fixed(geometry.chunk_bytes());
        (agrees && self.promised == Some(geometry.nchunks())).then_some(geometry)
    }

    fn check_substitute(&self) -> Result<(), Error> {
        let typesize = self.out.typesize();
        match &self.options.substitute {
            Substitute::Item(item) if item.len() as u64 != u64::from(typesize) => {
                Err(Error::param("length of the substitute", item.len() as i64, "the typesize"))
            }
            Substitute::Nan if nan(typesize).is_none() => {
                Err(Error::param("typesize", i64::from(typesize), "4 or 8, for NaN as the substitute"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a chunk that decodes to this many bytes can be one of this frame's next.
    pub(super) fn fits(&self, nbytes: u32) -> bool {
        self.geometry.as_ref().is_none_or(|geometry| nbytes == geometry.chunk_bytes())
    }

    /// Bytes of the next chunk, by what the header says of all; 0 where it says nothing.
    pub(super) fn next_len(&self) -> u32 {
        let ChunkSize::Fixed(c) = self.out.chunksize() else { return 0 };
        let left = self.nbytes.map(|nbytes| nbytes.saturating_sub(self.out.nbytes()));
        left.filter(|left| *left > 0).map_or(c, |left| u32::try_from(left).unwrap_or(c).min(c))
    }

    /// Counts a chunk that was appended, or tried to be.
    ///
    /// # Errors
    /// Errors of writing. A chunk that cannot follow those before it is no error: it is not kept.
    pub(super) fn appended(&mut self, done: Result<(), Error>) -> Result<bool, Error> {
        match done {
            Ok(()) => self.report.kept = self.report.kept.saturating_add(1),
            // Blocks of another kind than those of the chunks before, or an empty chunk and none before.
            Err(Error::Param { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// Puts something in the place of a lost chunk of `len` bytes; counts one whose size is not known as missing.
    pub(super) fn lose(&mut self, len: u32) -> Result<(), Error> {
        if len == 0 {
            self.report.missing = self.report.missing.saturating_add(1);
            return Ok(());
        }
        let start = self.out.nbytes();
        self.report.lost.push(self.out.nchunks());
        let whole = len.checked_rem(self.out.typesize()) == Some(0);
        match &self.options.substitute {
            Substitute::Nan if whole => self.out.append_special(Special::Nan, len)?,
            Substitute::Item(item) if whole => self.out.append_repeated(item, len)?,
            // A part of an item has no value.
            _ => self.out.append_special(Special::Zeros, len)?,
        }
        if self.geometry.is_none() {
            let item = u64::from(self.out.typesize()).max(1);
            let range = start.checked_div(item).unwrap_or(0)..self.out.nbytes().div_ceil(item);
            self.gone(range);
        }
        Ok(())
    }

    /// Notes rows or items that are gone.
    fn gone(&mut self, range: Range<u64>) {
        match self.report.gone.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => self.report.gone.push(range),
        }
    }

    /// Fills in the chunks of an array that are missing at its end, notes which rows are gone, and commits the frame: as
    /// a plain one if the chunks are not those of an array.
    pub(super) fn finish(mut self) -> Result<(Repaired, SuperChunk<'a>), Error> {
        let announced = self.promised.unwrap_or(0).max(self.report.lost.len() as u64);
        let something = announced > 0 || self.report.missing > 0 || !self.report.header;
        if self.report.kept == 0 && something {
            return Err(Error::NothingKept);
        }
        if let Some(geometry) = self.geometry {
            let (have, all) = (self.out.nchunks(), geometry.nchunks());
            for _ in have..all {
                self.lose(geometry.chunk_bytes())?;
            }
            if have <= all {
                self.rows_gone(&geometry);
            }
        }
        for name in [NAME, NAME_CATERVA] {
            if self.out.metalayer(name).is_some() && NdArray::check(&self.out).is_err() {
                self.out.remove_metalayer(name);
                self.report.dropped.push(name.into());
            }
        }
        if let Some(promised) = self.promised {
            self.report.missing = self.report.missing.max(promised.saturating_sub(self.out.nchunks()));
        }
        self.out.commit()?;
        Ok((self.report, self.out))
    }

    /// Which rows the lost chunks have a part of: chunks are numbered in C order.
    fn rows_gone(&mut self, geometry: &Geometry) {
        let (shape, chunks) = (geometry.shape(), geometry.chunks());
        let across = shape.iter().zip(chunks.iter()).skip(1);
        let across =
            across.fold(1u64, |n, (side, chunk)| n.saturating_mul(side.div_ceil(u64::from(*chunk).max(1))));
        let rows = shape.first().copied().unwrap_or(1);
        let high = chunks.first().map_or(1, |chunk| u64::from(*chunk));
        for k in self.report.lost.clone() {
            let first = k.checked_div(across).unwrap_or(0).saturating_mul(high);
            self.gone(first.min(rows)..first.saturating_add(high).min(rows));
        }
    }
}
