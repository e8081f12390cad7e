//! Filter 32026: a stored chunk is a Blosc2 frame of one chunk, of a b2nd array where its dimensions are known.

use crate::memory::CBuffer;
use blosc_core::Params;
use blosc_frame::b2nd::{NdArray, Spec};
use blosc_frame::dtype::Dtype;
use blosc_frame::hdf5::{self, BLOSC2, CdValues};
use blosc_frame::{Error, SuperChunk};

fn text(error: Error) -> String {
    error.to_string()
}

pub fn decode(values: CdValues<'_>, data: &[u8]) -> Result<CBuffer, String> {
    let room = |nbytes: u64| {
        values.check(nbytes)?;
        let len = usize::try_from(nbytes).map_err(|_| Error::OutOfMemory)?;
        CBuffer::zeroed(len).map_err(|_| Error::OutOfMemory)
    };
    hdf5::decode_frame(data, values.limit(data.len()), values.dimensions(), room).map_err(text)
}

/// The parameters.
pub fn params(values: CdValues<'_>, typesize: u32) -> Result<Params, String> {
    let params = values.params(BLOSC2, typesize).map_err(text)?;
    params.check().map_err(|error| error.to_string())?;
    Ok(params)
}

pub fn encode(values: CdValues<'_>, data: &[u8]) -> Result<CBuffer, String> {
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
