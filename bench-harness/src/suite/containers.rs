//! Suites `frames` (super-chunks in memory) and `arrays` (b2nd): what containers cost on top of chunks.
//! Memory stands for the disk, so that the figures are ours and not the disk's.

use super::choice::{Choice, Job};
use super::chunks::row;
use crate::data::Data;
use crate::engine::{Filters, Spec};
use crate::measure::candidate::{Candidate, Check, Work};
use crate::measure::check::{expect, flip_middle_byte};
use crate::measure::comparison::Comparison;
use crate::result::Row;
use blosc_core::{Codec, Level};
use blosc_frame::b2nd::{self, Dtype, NdArray};
use blosc_frame::{Limits, SuperChunk};
use std::rc::Rc;

/// Bytes of a container.
const BYTES: usize = 4 << 20;
/// Bytes of a chunk of a frame.
const CHUNK: u32 = 512 << 10;
const CODECS: [Codec; 3] = [Codec::BloscLz, Codec::Lz4, Codec::Zstd];

/// Jobs of `frames` or `arrays` for the arrays chosen.
pub fn jobs<'a>(suite: &'static str, choice: &'a Choice) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for data in &choice.data {
        for codec in CODECS.into_iter().filter(|c| choice.codecs.contains(c)) {
            jobs.push(Job {
                label: format!("{suite} {codec}, {}", data.name),
                run: Box::new(move |setting, plan, stop| {
                    let data = data.sized(BYTES);
                    let filter = if data.typesize > 1 { Filters::Shuffle } else { Filters::None };
                    let (typesize, blocksize) = (data.typesize, None);
                    let spec = Spec { codec, filter, level: 5, typesize, threads: 1, blocksize };
                    let comparisons = if suite == "frames" {
                        frames(&spec, &data, choice)
                    } else {
                        arrays(&spec, &data, choice)
                    };
                    match comparisons {
                        Ok(all) => all.into_iter().flat_map(|one| one.run(setting, plan, stop)).collect(),
                        Err(e) => {
                            let row = row(suite, "create", &spec, &data);
                            vec![Row { refused: Some(format!("wrong container: {e}")), ..row }]
                        }
                    }
                }),
            });
        }
    }
    jobs
}

type Failure = blosc_frame::Error;

fn frame_of(spec: &Spec, data: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut file = Vec::new();
    let mut frame = SuperChunk::create(&mut file, &spec.params())?;
    frame.set_chunksize(CHUNK)?;
    frame.append(data)?;
    frame.commit()?;
    drop(frame);
    Ok(file)
}

fn frames<'a>(spec: &Spec, data: &'a Data, choice: &Choice) -> Result<Vec<Comparison<'a>>, Failure> {
    let spec = *spec;
    let file: Rc<[u8]> = frame_of(&spec, &data.bytes)?.into();
    let write: Work<'a> = Box::new(move |src, dst| {
        let file = frame_of(&spec, src).map_err(|e| e.to_string())?;
        put(&file, dst)
    });
    let check: Check<'a> = Box::new(|got| {
        let all = SuperChunk::from_slice(got).and_then(|f| f.read_all());
        expect(&data.bytes)(&all.map_err(|e| format!("wrong frame: {e}"))?)
    });
    let whole = Rc::clone(&file);
    let read: Work<'a> = Box::new(move |_, dst| {
        let frame = SuperChunk::from_slice(&whole).map_err(|e| e.to_string())?;
        let len = frame.nbytes();
        frame.read_bytes(0..len, dst).map_err(|e| e.to_string())
    });
    let (from, to) = middle(data);
    let items: Work<'a> = Box::new(move |_, dst| {
        let frame = SuperChunk::from_slice(&file).map_err(|e| e.to_string())?;
        frame.read_bytes(from as u64..to as u64, dst).map_err(|e| e.to_string())
    });
    let all = data.bytes.len();
    let some = data.bytes.get(from..to).unwrap_or_default();
    Ok(vec![
        comparison("frames", "append", &spec, data, choice, (write, check), (all, all + CHUNK as usize)),
        comparison("frames", "read", &spec, data, choice, (read, expect(&data.bytes)), (all, all)),
        comparison(
            "frames",
            "open and read 10 items",
            &spec,
            data,
            choice,
            (items, expect(some)),
            (to - from, to - from),
        ),
    ])
}

/// Ten items from the middle, as byte offsets.
fn middle(data: &Data) -> (usize, usize) {
    let items = data.bytes.len() / data.typesize;
    let from = items / 2;
    (from * data.typesize, (from + 10).min(items) * data.typesize)
}

fn array_of(spec: &Spec, shape: [u64; 2], dtype: &Dtype, data: &[u8]) -> Result<Vec<u8>, Failure> {
    let nd = b2nd::Spec::new(&shape, dtype.clone())?.params_from(&spec.params());
    let mut file = Vec::new();
    let frame = SuperChunk::create(&mut file, &nd.params())?;
    let mut array = NdArray::from_slice(frame, &nd, data)?;
    array.commit()?;
    drop(array);
    Ok(file)
}

fn arrays<'a>(spec: &Spec, data: &'a Data, choice: &Choice) -> Result<Vec<Comparison<'a>>, Failure> {
    let spec = *spec;
    let columns = 1024;
    let rows = data.bytes.len() / data.typesize / columns;
    let all = rows * columns * data.typesize;
    let bytes = data.bytes.get(..all).unwrap_or_default();
    let shape = [rows as u64, columns as u64];
    let dtype = Dtype::parse(&format!("<{}", data.dtype))?;
    let file: Rc<[u8]> = array_of(&spec, shape, &dtype, bytes)?.into();
    let write: Work<'a> = Box::new(move |src, dst| {
        let src = src.get(..all).unwrap_or_default();
        put(&array_of(&spec, shape, &dtype, src).map_err(|e| e.to_string())?, dst)
    });
    let check: Check<'a> = Box::new(|got| {
        let array = SuperChunk::open_read(got, &Limits::DEFAULT).and_then(NdArray::open);
        let all = array.and_then(|a| a.get_all()).map_err(|e| format!("wrong array: {e}"))?;
        expect(bytes)(&all)
    });
    let slice = |ranges: [std::ops::Range<u64>; 2], file: Rc<[u8]>| -> Work<'a> {
        Box::new(move |_, dst| {
            let frame = SuperChunk::from_slice(&file).map_err(|e| e.to_string())?;
            let array = NdArray::open(frame).map_err(|e| e.to_string())?;
            array.get_slice(&ranges, dst).map_err(|e| e.to_string())?;
            Ok(dst.len())
        })
    };
    // A band of rows lies together in memory, a band of columns does not.
    let line = columns * data.typesize;
    let band: Vec<u8> = bytes.get(line * 8..line * 24).unwrap_or_default().to_vec();
    let column = 100 * data.typesize..116 * data.typesize;
    let columns_band: Vec<u8> =
        bytes.chunks(line).flat_map(|l| l.get(column.clone()).unwrap_or_default().to_vec()).collect();
    let wanted =
        |right: Vec<u8>| -> (usize, Check<'a>) { (right.len(), Box::new(move |got| expect(&right)(got))) };
    let ((rows_len, rows_check), (columns_len, columns_check)) = (wanted(band), wanted(columns_band));
    let rows_work = slice([8..24, 0..columns as u64], Rc::clone(&file));
    let columns_work = slice([0..rows as u64, 100..116], file);
    Ok(vec![
        comparison("arrays", "create", &spec, data, choice, (write, check), (all, all + CHUNK as usize)),
        comparison(
            "arrays",
            "slice of 16 rows",
            &spec,
            data,
            choice,
            (rows_work, rows_check),
            (rows_len, rows_len),
        ),
        comparison(
            "arrays",
            "slice of 16 columns",
            &spec,
            data,
            choice,
            (columns_work, columns_check),
            (columns_len, columns_len),
        ),
    ])
}

fn put(file: &[u8], dst: &mut [u8]) -> Result<usize, String> {
    let room = dst.get_mut(..file.len()).ok_or("the container does not fit")?;
    room.copy_from_slice(file);
    Ok(file.len())
}

fn comparison<'a>(
    suite: &str,
    op: &str,
    spec: &Spec,
    data: &'a Data,
    choice: &Choice,
    (mut work, check): (Work<'a>, Check<'a>),
    (bytes, room): (usize, usize),
) -> Comparison<'a> {
    let row = Row { bytes, isa: Level::best().isa().name().into(), ..row(suite, op, spec, data) };
    let corrupt = choice.corrupt;
    let work: Work<'a> = Box::new(move |src, dst| {
        let n = work(src, dst)?;
        flip_middle_byte(corrupt, dst.get_mut(..n).unwrap_or_default());
        Ok(n)
    });
    Comparison::new(&data.bytes, room, bytes, vec![Candidate::new(row, work, check)])
}
