//! N-dimensional arrays, from `.npy` files and from raw bytes of a known type and shape.

use super::Input;
use crate::args::{Compress, Convert, Output, Parts};
use crate::cut::one_per_dimension;
use crate::failure::{Failure, Result, asked, copying, failure};
use crate::progress;
use crate::readers::array::NPY_HEADER;
use blosc_core::{Params, Pool};
use blosc_frame::any::Kind;
use blosc_frame::b2nd::{Dims, Dtype, MAX_CHUNK_BYTES, MAX_DIM, NdArray, Spec};
use blosc_frame::npy::{NpyHeader, PREFIX};
use blosc_frame::plain::Uncompressed;
use blosc_frame::reversed::AxesReversed;
use blosc_frame::{Error, SuperChunk};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// What an array is made of: its type and shape, and its items as they come.
pub struct Items<'a> {
    pub header: NpyHeader,
    /// The header as it stood in the file; `None` for raw bytes.
    raw_header: Option<Vec<u8>>,
    data: Box<dyn Read + 'a>,
}

/// Compresses the input into an array.
pub fn write(args: &Compress, input: Input) -> Result<()> {
    let items = items(&args.input, input.data, args.dtype.as_deref(), args.shape.as_deref())?;
    write_items(items, &args.input, &args.output, args)
}

/// The array in `data`: a `.npy` file, or raw bytes if type and shape are given.
pub fn items<'a>(
    path: &Path,
    mut data: Box<dyn Read + 'a>,
    dtype: Option<&str>,
    shape: Option<&[u64]>,
) -> Result<Items<'a>> {
    if dtype.is_some() || shape.is_some() {
        let (Some(dtype), Some(shape)) = (dtype, shape) else {
            return Err(Failure::Usage("--dtype and --shape go together".into()));
        };
        let dtype = Dtype::parse(dtype).map_err(|e| Failure::Usage(format!("--dtype: {e}")))?;
        if dtype.itemsize() == 0 {
            return Err(Failure::Usage(format!(
                "--dtype {dtype}: items of no bytes cannot be told from each other"
            )));
        }
        let shape = Dims::new(shape).ok_or_else(|| Failure::Usage("--shape: at most 16 numbers".into()))?;
        return Ok(Items { header: NpyHeader { dtype, fortran: false, shape }, raw_header: None, data });
    }
    let mut head = vec![0; PREFIX];
    let none =
        || Failure::Usage(format!("{}: no .npy file; give --dtype and --shape of raw bytes", path.display()));
    data.read_exact(&mut head).map_err(|_| none())?;
    if Kind::of_head(&head, None) != Kind::Npy {
        return Err(none());
    }
    let at = |error: Error| match error {
        Error::Invalid { field: "number of axes", value, .. } => {
            Failure::at(path, format!("has {value} dimensions; arrays have {MAX_DIM} at most here"))
        }
        error => Failure::at(path, error),
    };
    let len = NpyHeader::length(&head).map_err(at)?;
    head.resize(len.max(PREFIX), 0);
    data.read_exact(&mut head[PREFIX..]).map_err(|e| Failure::at(path, e))?;
    let header = NpyHeader::parse(&head).map_err(at)?;
    Ok(Items { header, raw_header: Some(head), data })
}

impl Items<'_> {
    /// The items of a file in Fortran order; those of a pipe or a member of an archive are kept in a file
    /// meanwhile.
    fn in_c_order(self, path: &Path) -> Result<AxesReversed<Uncompressed<File>>> {
        let nbytes = self.header.nbytes().unwrap_or(u64::MAX);
        let at = |e: std::io::Error| Failure::at(path, e);
        // `-` is standard input, whatever else may be called so.
        let (file, offset) = match path.is_file() && path != Path::new("-") {
            true => (File::open(path).map_err(at)?, self.raw_header.map_or(0, |head| head.len() as u64)),
            false => {
                let (mut file, mut data) = (tempfile::tempfile()?, self.data);
                std::io::copy(&mut data, &mut file).map_err(at)?;
                (file, 0)
            }
        };
        let has = file.metadata().map_err(at)?.len().saturating_sub(offset);
        if has != nbytes {
            return Err(Failure::at(path, format!("{nbytes} bytes of items expected, but it has {has}")));
        }
        let items = Uncompressed::new(file, offset, nbytes);
        Ok(AxesReversed::new(items, &self.header.shape, self.header.dtype.itemsize())?)
    }
}

/// Compresses the items of `input` into an array.
pub fn write_items(items: Items<'_>, input: &Path, output: &Output, args: &Compress) -> Result<()> {
    let spec = spec(&items.header.shape, items.header.dtype.clone(), &args.params(1), &args.parts)?;
    spec.check().map_err(crate::failure::params)?;
    create(output, &spec, args.parts.sparse, |mut frame| {
        frame.set_threads(args.run.threads);
        frame.set_checksums(!args.no_checksum);
        let bar = progress::bar("compressing", items.header.nbytes());
        let canonical = NpyHeader { fortran: false, ..items.header.clone() }.to_bytes().ok();
        let kept = items.raw_header.clone().filter(|raw| Some(raw) != canonical.as_ref());
        let mut nd = if items.header.fortran {
            let array = items.in_c_order(input)?;
            NdArray::from_plain(frame, &spec, &mut Pool::new(1), &array)
                .map_err(copying(input, &output.output))?
        } else {
            let mut data = items.data;
            // An error of the library has no room for what a zip file says of its member.
            let mut broken = None;
            let wanted = items.header.nbytes().unwrap_or(u64::MAX);
            let made = NdArray::from_stream(frame, &spec, |buf| {
                data.read_exact(buf).inspect_err(|e| {
                    broken = Some(match e.kind() {
                        ErrorKind::UnexpectedEof => {
                            format!("ends too early: type and shape tell {wanted} bytes of items")
                        }
                        _ => e.to_string(),
                    });
                })?;
                bar.inc(buf.len() as u64);
                Ok(())
            });
            // The command line says how many raw bytes there are.
            let wrong = |text: String| match items.raw_header {
                Some(_) => Failure::at(input, text),
                None => Failure::Usage(format!("{}: {text}", input.display())),
            };
            let mut nd = made.map_err(|error| match broken.take() {
                Some(text) => wrong(text),
                None => copying(input, &output.output)(error),
            })?;
            if data.read(&mut [0])? > 0 {
                return Err(wrong("has more bytes than type and shape tell".into()));
            }
            nd.set_threads(args.run.threads);
            nd
        };
        if let Some(raw) = kept {
            let mut packed = vec![0xc5];
            packed.extend(u16::try_from(raw.len()).unwrap_or(u16::MAX).to_be_bytes());
            packed.extend(raw);
            nd.frame_mut().set_vlmetalayer(NPY_HEADER, &packed)?;
        }
        Ok(nd.commit()?)
    })
}

/// What an array shall be like.
pub fn spec(shape: &[u64], dtype: Dtype, params: &Params, parts: &Parts) -> Result<Spec> {
    let itemsize = u64::from(dtype.itemsize());
    if itemsize == 0 {
        return Err(Failure::Data(format!(
            "items of dtype {dtype} have no bytes; there is nothing to compress"
        )));
    }
    check_parts(shape, itemsize, parts)?;
    let mut spec = Spec::new(shape, dtype).map_err(asked)?.params_from(params);
    if let Some(chunks) = &parts.chunks {
        spec = spec.chunks(chunks).map_err(asked)?;
    }
    if let Some(blocks) = &parts.blocks {
        spec = spec.blocks(blocks).map_err(asked)?;
    }
    Ok(spec)
}

/// Refuses shapes of chunks and blocks that no array of this shape can have, in the words of the command line.
pub fn check_parts(shape: &[u64], itemsize: u64, parts: &Parts) -> Result<()> {
    let most = u64::from(MAX_CHUNK_BYTES);
    for (name, sides) in [("chunks", &parts.chunks), ("blocks", &parts.blocks)] {
        let Some(sides) = sides else { continue };
        one_per_dimension(name, sides.len(), shape)?;
        if sides.iter().zip(shape).any(|(side, length)| *side == 0 && *length > 0) {
            return Err(Failure::Usage(format!("--{name} {}: every side is at least 1", list(sides))));
        }
        let bytes = sides.iter().fold(itemsize, |n, side| n.saturating_mul(u64::from(*side)));
        if bytes > most {
            let text = format!(
                "--{name} {}: {bytes} bytes of {itemsize}-byte items; {most} bytes at most",
                list(sides)
            );
            return Err(Failure::Usage(text));
        }
    }
    if let (Some(chunks), Some(blocks)) = (&parts.chunks, &parts.blocks)
        && blocks.iter().zip(chunks).any(|(block, chunk)| block > chunk)
    {
        let text = format!("--blocks {}: larger than --chunks {}", list(blocks), list(chunks));
        return Err(Failure::Usage(text));
    }
    Ok(())
}

fn list(sides: &[u32]) -> String {
    sides.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// Makes a frame in a temporary place, lets `fill` fill it, and puts it where `output` says.
pub fn create(
    output: &Output,
    spec: &Spec,
    sparse: bool,
    fill: impl FnOnce(SuperChunk<'static>) -> Result<()>,
) -> Result<()> {
    let params = spec.params();
    match sparse {
        true => super::frame::new_dir(output, |dir| fill(SuperChunk::create_dir(dir, &params)?)),
        false => super::frame::new_file(output, &params, fill),
    }
}

/// `blosc convert` of an array to an array.
pub fn convert(nd: &mut NdArray<'_>, args: &Convert, output: &Output) -> Result<()> {
    let path = args.input.input.as_path();
    let mut params = nd.frame().params();
    args.apply(&mut params);
    // Without other shapes the chunks keep theirs.
    let mut parts = args.parts.clone();
    if parts.chunks.is_none() && parts.blocks.is_none() {
        parts.chunks = Some(nd.geometry().chunks().to_vec());
        parts.blocks = Some(nd.geometry().blocks().to_vec());
    }
    let spec = spec(nd.shape(), nd.dtype().clone(), &params, &parts)?;
    spec.check().map_err(crate::failure::params)?;
    create(output, &spec, parts.sparse, |mut frame| {
        frame.set_threads(args.input.run.threads);
        let mut copy = NdArray::copy(frame, &spec, nd).map_err(failure(path))?;
        Ok(copy.commit()?)
    })
}
