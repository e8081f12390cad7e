//! Suite `goals`: the project's numbered speed goals, each a ratio of neighbours in one process.
//!
//! Data: real arrays and seeded ones. Where a chunk is larger than a real array, its pieces come again in new orders
//! ([`Data::sized`]; the name says `~N`), in blocks of the array's own size, so that no codec finds the same piece twice.
//! Chunks are met for the first time, those of up to 1 MiB by [`unlearn`](super::unlearn). Chunks to decode are those the
//! opponent wrote. The rows carry the goal's number;
//! [`report::goals`](crate::report::goals) judges them.

use super::choice::{Choice, Job, pace, seconds};
use super::{chunks, kernels, latency, threads};
use crate::data::generate::random_bytes;
use crate::data::{Data, Origin};
use crate::engine::{Filters, Spec, filtered};
use crate::machine::unpinned;
use crate::result::Row;
use blosc_core::{Codec, Level};
use std::rc::Rc;

const FAST: [Codec; 2] = [Codec::BloscLz, Codec::Lz4];
const SLOW: [Codec; 2] = [Codec::Zlib, Codec::Zstd];
const BOTH: [Filters; 2] = [Filters::Shuffle, Filters::BitShuffle];

/// Jobs of the goals asked for.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    let numbers = (1..=17).filter(|n| choice.goals.is_empty() || choice.goals.contains(n));
    for number in numbers {
        let new = match number {
            1..=5 => kernel_jobs(number, choice),
            7..=9 => stream_jobs(number, choice),
            10 => whole(number, choice, 64 << 20, &FAST, &[Filters::Shuffle], &["decompress"]),
            11 => whole(number, choice, 2 << 20, &FAST, &[Filters::BitShuffle], &["decompress"]),
            12 => whole(number, choice, 64 << 20, &FAST, &BOTH, &["compress"]),
            13 | 14 => small(number, choice),
            15 => two_threads(choice),
            17 => whole(number, choice, 1 << 20, &SLOW, &BOTH, &["compress", "decompress"]),
            _ => Vec::new(),
        };
        jobs.extend(new);
    }
    jobs
}

fn mark(number: u32, mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        row.suite = "goals".into();
        row.goal = Some(number);
    }
    rows
}

fn kernel_jobs(number: u32, choice: &Choice) -> Vec<Job<'_>> {
    let (ops, typesizes): (&'static [&str], Vec<usize>) = match number {
        1 => (&["shuffle", "unshuffle"], vec![2, 4]),
        3 => (&["shuffle", "unshuffle"], (2..=32).collect()),
        4 => (&["bitshuffle"], (1..=8).collect()),
        5 => (&["bitunshuffle"], (1..=8).collect()),
        _ => return Vec::new(),
    };
    let mine = Rc::new(Choice { isas: vec![Level::best()], engines: Vec::new(), ..choice.clone() });
    let mut jobs = Vec::new();
    for bytes in [256 << 10, 4 << 20] {
        for kernel in kernels::FILTERS.iter().filter(|k| ops.contains(&k.name)) {
            for &typesize in &typesizes {
                let mine = Rc::clone(&mine);
                let label = format!("goal {number}: {} ts {typesize}", kernel.name);
                jobs.push(Job::new(label, seconds(bytes, 3, kernels::PACE), move |setting, plan, stop| {
                    let source = kernels::source(bytes);
                    let candidates = kernels::candidates("goals", kernel, typesize, bytes, &source, &mine);
                    let comparison = kernels::comparison(&source, bytes, candidates, None);
                    mark(number, comparison.run(setting, plan, stop))
                }));
            }
        }
    }
    jobs
}

/// Real arrays, and the seeded ones that imitate measurements.
fn sets(choice: &Choice) -> impl Iterator<Item = &Data> {
    let extreme = ["zeros_u1", "random_u1", "ramp_i4", "noise_f4"];
    choice.data.iter().filter(move |d| !extreme.contains(&d.name.as_str()))
}

/// One codec on filtered bytes, LZ4 on unfiltered ones too: a chunk without a filter, in one block, so that both sides add
/// only a header.
fn stream_jobs(number: u32, choice: &Choice) -> Vec<Job<'_>> {
    let (codec, filters): (_, &[Filters]) = match number {
        7 => (Codec::Lz4, &[Filters::Shuffle, Filters::BitShuffle, Filters::None]),
        _ => (Codec::BloscLz, &BOTH),
    };
    let mut jobs = Vec::new();
    for data in sets(choice) {
        for &filter in filters {
            let label = format!("goal {number}: {codec} stream, {} {}", filter.name(), data.name);
            jobs.push(Job::new(label, least(choice, data.bytes.len(), codec), move |setting, plan, stop| {
                let Some(data) = filtered(data, filter) else { return Vec::new() };
                let blocksize = u32::try_from(data.bytes.len()).ok();
                let data = Data { typesize: 1, ..data };
                let none = Filters::None;
                let spec = Spec { codec, filter: none, level: 5, typesize: 1, threads: 1, blocksize };
                let comparison = if number == 9 {
                    chunks::compress("goals", &spec, Some(filter), &data, choice)
                } else {
                    let Ok(chunk) = latency::chunk_of(&spec, &data.bytes, choice) else {
                        return Vec::new();
                    };
                    chunks::decompress("goals", &spec, Some(filter), &data, &chunk, choice)
                };
                let mut rows = mark(number, comparison.run(setting, plan, stop));
                rows.iter_mut().for_each(|r| r.filter = format!("{} before", filter.name()));
                rows
            }));
        }
    }
    jobs
}

fn whole<'a>(
    number: u32,
    choice: &'a Choice,
    bytes: usize,
    codecs: &[Codec],
    filters: &[Filters],
    ops: &'static [&'static str],
) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for data in sets(choice) {
        for &codec in codecs {
            for &filter in filters.iter().filter(|f| f.suits(data.typesize)) {
                let label = format!("goal {number}: {codec} {}, {}", filter.name(), data.name);
                jobs.push(Job::new(label, least(choice, bytes, codec), move |setting, plan, stop| {
                    let (data, spec) = scaled(data, bytes, codec, filter);
                    let mut rows = Vec::new();
                    if ops.contains(&"compress") {
                        let one = chunks::compress("goals", &spec, None, &data, choice);
                        rows.extend(one.run(setting, plan, stop));
                    }
                    if ops.contains(&"decompress")
                        && let Ok(chunk) = latency::chunk_of(&spec, &data.bytes, choice)
                    {
                        let one = chunks::decompress("goals", &spec, None, &data, &chunk, choice);
                        rows.extend(one.run(setting, plan, stop));
                    }
                    mark(number, rows)
                }));
            }
        }
    }
    jobs
}

/// Seconds in which this library and its opponents write and read a chunk.
fn least(choice: &Choice, bytes: usize, codec: Codec) -> f64 {
    seconds(bytes, 1 + choice.engines.len(), pace(codec, 5))
}

/// An array at a larger size, real ones in blocks of their own: each holds every piece once.
fn scaled(data: &Data, bytes: usize, codec: Codec, filter: Filters) -> (Data, Spec) {
    let own = u32::try_from(data.bytes.len()).ok();
    let blocksize = own.filter(|own| data.origin == Origin::Real && (*own as usize) < bytes);
    let big = data.sized(bytes);
    let spec = Spec { codec, filter, level: 5, typesize: data.typesize, threads: 1, blocksize };
    (big, spec)
}

fn small(number: u32, choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for data in sets(choice) {
        for codec in FAST {
            let label = format!("goal {number}: {codec}, {}", data.name);
            jobs.push(Job::new(label, least(choice, 1 << 20, codec), move |setting, plan, stop| {
                let spec = Spec::new(codec, 5, data.typesize, 1);
                let rows = if number == 13 {
                    let data = data.sized(1 << 20);
                    let one = latency::item("goals", &spec, &data, choice);
                    one.map_or_else(Vec::new, |one| one.run(setting, plan, stop))
                } else {
                    let data = data.sized(4 << 10);
                    latency::round_trip("goals", &spec, &data, choice).run(setting, plan, stop)
                };
                mark(number, rows)
            }));
        }
    }
    jobs
}

fn two_threads(choice: &Choice) -> Vec<Job<'_>> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 && choice.threads.len() < 2 {
        return Vec::new();
    }
    let mut two = choice.clone();
    two.threads = vec![2];
    let two = Rc::new(two);
    let mut jobs = Vec::new();
    // The last is stored.
    let arrays = ["smooth_f4", "smooth_f8", "goes_flux", "random_u1"];
    for data in choice.data.iter().filter(|d| arrays.contains(&d.name.as_str())) {
        for codec in FAST {
            let two = Rc::clone(&two);
            let label = format!("goal 15: {codec}, {}", data.name);
            jobs.push(Job::new(label, least(choice, 64 << 20, codec), move |setting, plan, stop| {
                let (data, spec) = scaled(data, 64 << 20, codec, Filters::Shuffle);
                let mut rows = Vec::new();
                for op in ["compress", "decompress"] {
                    if let Some(one) = threads::scaling("goals", op, &spec, &data, &two, &[]) {
                        rows.extend(unpinned(|| one.run(setting, plan, stop)));
                    }
                }
                mark(15, rows)
            }));
        }
    }
    if !jobs.is_empty() {
        jobs.push(Job::new("goal 15: memcpy", seconds(64 << 20, 2, kernels::PACE), |setting, plan, stop| {
            let source = random_bytes(64 << 20);
            mark(15, unpinned(|| threads::copying("goals", &source).run(setting, plan, stop)))
        }));
    }
    jobs
}
