//! Filter 32026: a stored chunk is a Blosc2 frame of one chunk, of a b2nd array where its dimensions are known.

use crate::memory::CBuffer;
use crate::values::Values;
use blosc_core::{Filter, Params};
use blosc_frame::b2nd::{NdArray, Selection, Spec};
use blosc_frame::dtype::Dtype;
use blosc_frame::{Error, Limits, SuperChunk};

fn text(error: Error) -> String {
    error.to_string()
}

pub fn decode(values: &Values<'_>, data: &[u8]) -> Result<CBuffer, String> {
    let output = values.limit(data.len());
    let chunk = blosc_core::Limits::DEFAULT.output(values.padded(output));
    // What bounds the size is the dataset, so the size of the frame need not.
    let limits = Limits::DEFAULT.output(output).chunk(chunk).chunks(1 << 16).expansion(u64::MAX);
    let frame = SuperChunk::open_read(data, &limits).map_err(text)?;
    if frame.metalayer("b2nd").is_none() {
        let nbytes = frame.nbytes();
        let mut out = room(values, nbytes, output)?;
        frame.read_bytes(0..nbytes, out.bytes()).map_err(text)?;
        return Ok(out);
    }
    let array = NdArray::open(frame).map_err(text)?;
    let mut out = room(values, array.geometry().nbytes(), output)?;
    let all = Selection::all(array.shape());
    array.get_into(&all, out.bytes()).map_err(text)?;
    Ok(out)
}

/// Memory for a decoded chunk of `nbytes` bytes, if `limit` allows it.
fn room(values: &Values<'_>, nbytes: u64, limit: u64) -> Result<CBuffer, String> {
    values.check(nbytes)?;
    let len = usize::try_from(nbytes).ok().filter(|_| nbytes <= limit);
    CBuffer::zeroed(len.ok_or_else(|| format!("a chunk of {nbytes} bytes is beyond the limit of {limit}"))?)
}

/// The parameters. Truncated precision needs a number of bits, which HDF5 has no place for.
pub fn params(values: &Values<'_>, typesize: u32) -> Result<Params, String> {
    let (params, filter) = values.params(typesize)?;
    let params = match filter {
        0 => params.no_filter(),
        1 => params.shuffle(),
        2 => params.bitshuffle(),
        3 => params.no_filter().slot(5, Filter::Delta, 0),
        other => return Err(format!("filter {other}: 0 to 3 are known")),
    };
    params.check().map_err(|error| error.to_string())?;
    Ok(params)
}

pub fn encode(values: &Values<'_>, data: &[u8]) -> Result<CBuffer, String> {
    let (blocksize, item) = values.sizes();
    let fits = data.len().is_multiple_of(usize::try_from(item).unwrap_or(usize::MAX));
    let item = if fits { item } else { 1 };
    let params = params(values, item)?.fit(data.len());
    let bytes = match values.shape(item, data.len()) {
        Some(shape) => {
            let sides: Vec<u64> = shape.iter().map(|&side| side.into()).collect();
            let spec =
                Spec::new(&sides, Dtype::opaque(item)).and_then(|spec| spec.chunks(&shape)).map_err(text)?;
            let spec = spec.params_from(&params);
            let frame = SuperChunk::memory(&spec.params()).map_err(text)?;
            let array = NdArray::from_slice(frame, &spec, data).map_err(text)?;
            array.into_frame().into_bytes()
        }
        None => {
            let params = params.blocksize(blocksize).fit(data.len());
            let size = u32::try_from(data.len()).map_err(|_| "a chunk above 4 GiB".to_owned())?;
            let mut frame = SuperChunk::memory(&params).map_err(text)?;
            frame.set_chunksize(size).and_then(|()| frame.append(data)).map_err(text)?;
            frame.into_bytes()
        }
    };
    CBuffer::copy_of(&bytes.map_err(text)?)
}
