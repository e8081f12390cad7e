//! N-dimensional arrays: frames with a `b2nd` metalayer.

use super::frame::{frame_info, verify};
use super::{Items, NpyHead, Reader};
use crate::cut::Cut;
use crate::failure::{Findings, Result, failure};
use crate::limits::check_output;
use blosc_frame::b2nd::{NdArray, Selection, Take, carrier, show};
use blosc_frame::npy::NpyHeader;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Vlmetalayer that keeps the header of a `.npy` file that NumPy's own bytes for it differ from, so that
/// `decompress` gives the file back bit for bit.
pub const NPY_HEADER: &str = "npy_header";

/// Bytes decoded at a time.
const PIECE: u64 = 64 << 20;

/// An array.
pub struct ArrayReader {
    path: PathBuf,
    /// The array, for who changes it.
    pub nd: NdArray<'static>,
    max_output: u64,
}

impl ArrayReader {
    pub fn new(path: &Path, nd: NdArray<'static>, max_output: u64) -> ArrayReader {
        ArrayReader { path: path.to_path_buf(), nd, max_output }
    }

    fn selection(&self, cut: &Cut<'_>) -> Result<Selection> {
        let selection =
            Selection::new(self.nd.shape(), &cut.takes(self.nd.shape())?).map_err(failure(&self.path))?;
        let bytes = selection.items().saturating_mul(self.nd.geometry().typesize().into());
        check_output(&self.path, bytes, self.max_output)?;
        Ok(selection)
    }

    /// The header the array was made from, if it still says what the array is.
    fn kept_header(&mut self) -> Option<(Vec<u8>, NpyHeader)> {
        let stored = self.nd.frame_mut().vlmetalayer(NPY_HEADER).ok()??;
        // MessagePack: c5 and two bytes of length before the header.
        let bytes = stored.get(3..)?.to_vec();
        let header = NpyHeader::parse(&bytes).ok()?;
        (header.shape == *self.nd.shape() && header.dtype == *self.nd.dtype()).then_some((bytes, header))
    }
}

impl Reader for ArrayReader {
    fn info(&mut self) -> Result<Value> {
        let nd = &mut self.nd;
        let mut value = json!({
            "kind": "array",
            "shape": nd.shape().to_vec(),
            "chunks": nd.geometry().chunks().to_vec(),
            "blocks": nd.geometry().blocks().to_vec(),
            "dtype": nd.dtype_text(),
            "items": nd.geometry().items(),
            "array_nbytes": nd.geometry().nbytes(),
            "metalayer": if nd.is_caterva() { "caterva" } else { "b2nd" },
        });
        let Value::Object(map) = &mut value else { return Ok(value) };
        if let Some(why) = nd.opaque() {
            map.insert("items_are_opaque".into(), why.to_string().into());
        }
        let found = carrier::of(nd.frame_mut()).map_err(failure(&self.path))?;
        if let Some(found) = found {
            map.insert("carries".into(), found.to_string().into());
        }
        // A damaged chunk is for `verify` to report, and placeholders say nothing.
        if !found.is_some_and(|found| found.is_placeholder())
            && let Ok(preview) = preview(nd)
        {
            map.insert("preview".into(), preview.into());
        }
        if let Value::Object(frame) = frame_info(nd.frame_mut()).map_err(failure(&self.path))? {
            for (name, value) in frame {
                let name = if name == "kind" { "container".to_string() } else { name };
                map.entry(name).or_insert(value);
            }
        }
        Ok(value)
    }

    fn items(&self) -> Items {
        let size = u64::from(self.nd.geometry().typesize());
        let dtype = self.nd.opaque().is_none().then(|| self.nd.dtype().clone());
        Items { dtype, shape: self.nd.shape().to_vec(), size }
    }

    fn read(&mut self, cut: &Cut<'_>, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        let selection = self.selection(cut)?;
        let done = self.nd.for_each_piece_of(&selection, PIECE, |piece| {
            progress(piece.len() as u64);
            Ok(out.write_all(piece)?)
        });
        done.map_err(failure(&self.path))
    }

    fn npy_head(&mut self, cut: &Cut<'_>) -> Result<Option<NpyHead>> {
        if let Some((bytes, _)) = self.kept_header().filter(|_| cut.is_all()) {
            return Ok(Some(NpyHead { bytes, repack: None }));
        }
        let selection =
            Selection::new(self.nd.shape(), &cut.takes(self.nd.shape())?).map_err(failure(&self.path))?;
        let header = NpyHeader { dtype: self.nd.dtype().clone(), fortran: false, shape: *selection.shape() };
        NpyHead::of(header).map(Some).map_err(failure(&self.path))
    }

    fn read_npy(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        if !self.kept_header().is_some_and(|(_, header)| header.fortran) {
            return self.read(&Cut::ALL, out, progress);
        }
        check_output(&self.path, self.nd.geometry().nbytes(), self.max_output)?;
        let done = self.nd.for_each_piece_fortran(PIECE, |piece| {
            progress(piece.len() as u64);
            Ok(out.write_all(piece)?)
        });
        done.map_err(failure(&self.path))
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Findings> {
        verify("array", self.nd.frame_mut(), &self.path, progress)
    }
}

/// The first items along the last axis, for a few indices of the axis before it.
fn preview(nd: &mut NdArray<'_>) -> std::result::Result<Vec<String>, blosc_frame::Error> {
    let shape = *nd.shape();
    let ndim = shape.len();
    let most = |axis: usize| match ndim - axis {
        1 => 8,
        2 => 4,
        _ => 1,
    };
    let takes: Vec<Take> = (0..ndim).map(|axis| Take::range(0..shape.at(axis).min(most(axis)))).collect();
    let selection = Selection::new(&shape, &takes)?;
    let row = selection.shape().last().copied().unwrap_or(1).max(1) as usize;
    let t = nd.geometry().typesize() as usize;
    if t > 4096 {
        return Ok(Vec::new());
    }
    let data = nd.get(&selection)?;
    let more = shape.last().is_some_and(|s| *s > row as u64);
    let lines = data.chunks_exact(row * t).map(|items| {
        let items: Vec<String> = items.chunks_exact(t).map(|item| show(nd.dtype(), item)).collect();
        items.join(" ") + if more { " ..." } else { "" }
    });
    Ok(lines.collect())
}
