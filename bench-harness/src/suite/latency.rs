//! Suite `latency`: what a caller waits for: one item out of a chunk, and the round trip of a small chunk.

use super::chunks::{engines, readable, row, written_by};
use super::others::{Doing, worked_through};
use super::{Bout, Case, Choice, Job, expect};
use crate::data::Data;
use crate::engine::{Engine, Spec, ours};
use crate::measure::Work;
use crate::result::Row;
use blosc_core::max_encoded_len;
use std::rc::Rc;

/// Sizes of the chunks one item is taken from.
pub const ITEM_CHUNKS: [usize; 2] = [64 << 10, 1 << 20];
/// Sizes of the chunks that make a round trip.
pub const ROUND_TRIPS: [usize; 3] = [256, 4 << 10, 64 << 10];

/// Both kinds of job for every array and codec at level 5.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for data in &choice.data {
        for &codec in &choice.codecs {
            for &filter in &choice.filters {
                let (typesize, blocksize) = (data.typesize, choice.blocksize);
                let spec = Spec { codec, filter, level: 5, typesize, threads: 1, blocksize };
                let label = format!("{codec} {}, {}", filter.name(), data.name);
                jobs.push(Job {
                    label,
                    run: Box::new(move |setting, plan, stop| {
                        let mut rows = Vec::new();
                        for size in ITEM_CHUNKS {
                            let data = data.sized(size);
                            if let Some(bout) = item("latency", &spec, &data, choice) {
                                rows.extend(bout.run(setting, plan, stop));
                            }
                        }
                        for size in ROUND_TRIPS {
                            let data = data.sized(size);
                            rows.extend(round_trip("latency", &spec, &data, choice).run(setting, plan, stop));
                        }
                        rows
                    }),
                });
            }
        }
    }
    jobs
}

/// One item from the middle of a chunk, written by the first opponent if there is one.
pub fn item<'a>(suite: &str, spec: &Spec, data: &'a Data, choice: &Choice) -> Option<Bout<'a>> {
    let chunk = chunk_of(spec, &data.bytes, choice).ok()?;
    let index = data.bytes.len() / data.typesize * 5 / 8 + 1;
    let right = data.bytes.get(index * data.typesize..(index + 1) * data.typesize)?;
    let mut cases = Vec::new();
    for (engine, peer) in engines(choice) {
        let others = choice.others_of(suite);
        let row = Row { engine: engine.name(), isa: engine.isa(), ..row(suite, "getitem", spec, data) };
        let work = readable(engine.as_ref(), spec, &data.bytes, &chunk)
            .and_then(|chunk| engine.getitem(spec, chunk, index..index + 1));
        cases.push(match work {
            Ok(work) => {
                let before = worked_through(engine.as_ref(), Doing::Decompress, (*spec, None), data, others);
                Case { row, peer, work, timer: None, before, check: expect(right) }
            }
            Err(why) => Case::left_out(row, why),
        });
    }
    let room = data.typesize;
    Some(Bout { source: right, room, bytes: data.typesize, cases, probe_rows: None, stateless: false })
}

/// Compressing and decompressing, both in the time.
pub fn round_trip<'a>(suite: &str, spec: &Spec, data: &'a Data, choice: &Choice) -> Bout<'a> {
    let bytes = data.bytes.len();
    let mut cases = Vec::new();
    for (engine, peer) in engines(choice) {
        let others = choice.others_of(suite);
        let row = Row { engine: engine.name(), isa: engine.isa(), ..row(suite, "roundtrip", spec, data) };
        cases.push(match both(engine.as_ref(), spec, bytes) {
            Ok(work) => {
                let before = worked_through(engine.as_ref(), Doing::RoundTrip, (*spec, None), data, others);
                Case { row, peer, work, timer: None, before, check: expect(&data.bytes) }
            }
            Err(why) => Case::left_out(row, why),
        });
    }
    Bout { source: &data.bytes, room: bytes, bytes, cases, probe_rows: None, stateless: false }
}

fn both(engine: &dyn Engine, spec: &Spec, len: usize) -> Result<Work<'static>, String> {
    let mut compress = engine.compressor(spec, len)?;
    let mut decompress = engine.decompress_any(spec)?;
    let mut chunk = vec![0; max_encoded_len(len) + 1024];
    Ok(Box::new(move |src, dst| {
        let n = compress(src, &mut chunk)?;
        decompress(chunk.get(..n).unwrap_or_default(), dst)
    }))
}

/// A chunk written by the first opponent that writes any, or by us.
pub fn chunk_of(spec: &Spec, data: &[u8], choice: &Choice) -> Result<Rc<[u8]>, String> {
    let theirs = choice.engines.iter().find_map(|engine| written_by(engine.as_ref(), spec, data).ok());
    theirs.map_or_else(|| ours::compress(spec, data), Ok)
}
