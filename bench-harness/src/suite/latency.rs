//! Suite `latency`: what a caller waits for: one item out of a chunk, and the round trip of a small chunk.

use super::choice::{Choice, Job, pace, seconds};
use super::chunks::{candidates, readable, specs, written_by};
use super::unlearn::Task;
use crate::data::Data;
use crate::engine::{Engine, Spec, ours};
use crate::measure::candidate::Work;
use crate::measure::check::expect;
use crate::measure::comparison::Comparison;
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
        for spec in specs(choice, data.typesize, &[5]) {
            let label = format!("{} {}, {}", spec.codec, spec.filter.name(), data.name);
            let bytes = ITEM_CHUNKS.iter().chain(&ROUND_TRIPS).sum();
            let least = seconds(bytes, 1 + choice.engines.len(), pace(spec.codec, 5));
            jobs.push(Job::new(label, least, move |setting, plan, stop| {
                let mut rows = Vec::new();
                for size in ITEM_CHUNKS {
                    let data = data.sized(size);
                    if let Some(one) = item("latency", &spec, &data, choice) {
                        rows.extend(one.run(setting, plan, stop));
                    }
                }
                for size in ROUND_TRIPS {
                    let data = data.sized(size);
                    rows.extend(round_trip("latency", &spec, &data, choice).run(setting, plan, stop));
                }
                rows
            }));
        }
    }
    jobs
}

/// One item from the middle of a chunk, written by the first opponent if there is one.
pub fn item<'a>(suite: &str, spec: &Spec, data: &'a Data, choice: &Choice) -> Option<Comparison<'a>> {
    let chunk = chunk_of(spec, &data.bytes, choice).ok()?;
    let index = data.bytes.len() / data.typesize * 5 / 8 + 1;
    let right = data.bytes.get(index * data.typesize..(index + 1) * data.typesize)?;
    let (who, want) = ((suite, "getitem"), (*spec, None));
    let candidates = candidates(who, Task::Decompress, want, data, choice, |engine, _| {
        let chunk = readable(engine, spec, &data.bytes, &chunk)?;
        Ok((engine.getitem(spec, chunk, index..index + 1)?, None, expect(right)))
    });
    Some(Comparison::new(right, data.typesize, data.typesize, candidates))
}

/// Compressing and decompressing, both in the time.
pub fn round_trip<'a>(suite: &str, spec: &Spec, data: &'a Data, choice: &Choice) -> Comparison<'a> {
    let bytes = data.bytes.len();
    let want = (*spec, None);
    let candidates = candidates((suite, "roundtrip"), Task::RoundTrip, want, data, choice, |engine, _| {
        Ok((both(engine, spec, bytes)?, None, expect(&data.bytes)))
    });
    Comparison::new(&data.bytes, bytes, bytes, candidates)
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
