//! N-dimensional arrays: frames with a `b2nd` metalayer.

use super::frame::{FrameSource, frame_info, verify};
use super::plain::{check_output, failure};
use super::{Input, Source};
use crate::args::Kind;
use crate::failure::{Failure, Result};
use blosc_frame::b2nd::{NdArray, Selection, Take, carrier, show, transposed};
use blosc_frame::npy::NpyHeader;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Vlmetalayer that keeps the header of a `.npy` file that NumPy's own bytes for it differ from, so that
/// `decompress` gives the file back bit for bit.
pub const NPY_HEADER: &str = "npy_header";

/// Bytes decoded at a time.
const PIECE: u64 = 64 << 20;

/// An array opened for reading.
pub struct ArraySource {
    path: PathBuf,
    nd: NdArray<'static>,
    max_output: u64,
}

/// The frame as an array if it is one, or shall be one.
pub fn or_frame(source: FrameSource, input: &Input) -> Result<Box<dyn Source>> {
    let is_array = ["b2nd", "caterva"].iter().any(|name| source.frame.metalayer(name).is_some());
    match input.kind {
        Some(Kind::B2nd) => {}
        None if is_array => {}
        _ => return Ok(Box::new(source)),
    }
    let mut nd = NdArray::open(source.frame).map_err(failure(&source.path))?;
    nd.set_threads(input.run.threads);
    Ok(Box::new(ArraySource { path: source.path, nd, max_output: source.max_output }))
}

/// Refuses lists that are not as long as the array's shape.
pub fn one_per_dimension(name: &str, n: usize, shape: &[u64]) -> Result<()> {
    if n == shape.len() {
        return Ok(());
    }
    let many = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let (given, ndim) = (many(n, "number"), many(shape.len(), "dimension"));
    Err(Failure::Usage(format!("--{name} has {given}, but the array has {ndim}")))
}

/// What `--start`, `--stop` and `--step` select; what is left out is everything.
pub fn takes(shape: &[u64], start: &[u64], stop: &[u64], step: &[i64]) -> Result<Vec<Take>> {
    for (name, n) in [("start", start.len()), ("stop", stop.len()), ("step", step.len())] {
        if n > 0 {
            one_per_dimension(name, n, shape)?;
        }
    }
    let mut takes = Vec::new();
    for (axis, len) in shape.iter().enumerate() {
        let step = step.get(axis).copied().unwrap_or(1);
        let (from, to) = (start.get(axis).copied().unwrap_or(0), stop.get(axis).copied().unwrap_or(*len));
        if from > to || to > *len {
            let text = format!("{from}..{to} asked for in dimension {axis}, which has {len} items");
            return Err(Failure::Usage(text));
        }
        // Backwards, the same items from the last on.
        let count = (to - from).div_ceil(step.unsigned_abs().max(1));
        let first = if step < 0 { to.saturating_sub(1).max(from) } else { from };
        takes.push(Take::Run { start: first, step, count });
    }
    Ok(takes)
}

impl ArraySource {
    /// Refuses arrays whose items are placeholders: their zeros would pass for data.
    fn check_data(&mut self) -> Result<()> {
        match carrier::of(self.nd.frame_mut()).map_err(failure(&self.path))? {
            Some(found) if found.is_placeholder() => Err(Failure::at(&self.path, found)),
            _ => Ok(()),
        }
    }

    fn selection(&self, start: &[u64], stop: &[u64], step: &[i64]) -> Result<Selection> {
        let takes = takes(self.nd.shape(), start, stop, step)?;
        let selection = Selection::new(self.nd.shape(), &takes).map_err(failure(&self.path))?;
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

impl Source for ArraySource {
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

    fn sides(&self) -> Option<Vec<u64>> {
        Some(self.nd.shape().to_vec())
    }

    fn each_array(&mut self, f: &mut dyn FnMut(&str, &mut dyn Source) -> Result<()>) -> Result<()> {
        // What NumPy calls the first array without a name.
        f("arr_0", self)
    }

    fn nbytes(&self) -> Option<u64> {
        Some(self.nd.geometry().nbytes())
    }

    fn decompress(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        self.check_data()?;
        check_output(&self.path, self.nd.geometry().nbytes(), self.max_output)?;
        let done = self.nd.for_each_piece(PIECE, |piece| {
            progress(piece.len() as u64);
            Ok(out.write_all(piece)?)
        });
        done.map_err(failure(&self.path))
    }

    fn decompress_npy(&mut self, out: &mut dyn Write, progress: &dyn Fn(u64)) -> Result<()> {
        if !self.kept_header().is_some_and(|(_, header)| header.fortran) {
            return self.decompress(out, progress);
        }
        self.check_data()?;
        check_output(&self.path, self.nd.geometry().nbytes(), self.max_output)?;
        let data = self.nd.get_all().map_err(failure(&self.path))?;
        let shape = *self.nd.shape();
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        out.write_all(&transposed(&data, &shape, &axes, self.nd.geometry().typesize())?)?;
        progress(data.len() as u64);
        Ok(())
    }

    fn slice(&mut self, start: &[u64], stop: &[u64], out: &mut dyn Write) -> Result<()> {
        self.slice_steps(start, stop, &[], out)
    }

    fn slice_steps(&mut self, start: &[u64], stop: &[u64], step: &[i64], out: &mut dyn Write) -> Result<()> {
        self.check_data()?;
        let selection = self.selection(start, stop, step)?;
        Ok(out.write_all(&self.nd.get(&selection).map_err(failure(&self.path))?)?)
    }

    fn npy_header(&mut self, start: &[u64], stop: &[u64], step: &[i64]) -> Result<Option<Vec<u8>>> {
        let whole = start.is_empty() && stop.is_empty() && step.is_empty();
        if let Some((bytes, _)) = self.kept_header().filter(|_| whole) {
            return Ok(Some(bytes));
        }
        let takes = takes(self.nd.shape(), start, stop, step)?;
        let selection = Selection::new(self.nd.shape(), &takes).map_err(failure(&self.path))?;
        let header = NpyHeader { dtype: self.nd.dtype().clone(), fortran: false, shape: *selection.shape() };
        header.to_bytes().map(Some).map_err(failure(&self.path))
    }

    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
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
