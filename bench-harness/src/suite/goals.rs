//! Suite `goals`: the project's numbered speed goals, each a ratio of neighbours in one process.
//!
//! Data: real arrays and seeded ones. Where a chunk is larger than a real array, its pieces come again in new orders
//! ([`Data::sized`]; the name says `~N`), in blocks of the array's own size, so that no codec finds the same piece twice.
//! Chunks are met for the first time, those of up to 1 MiB by [`others`](super::others). Chunks to decode are those the
//! opponent wrote. The rows carry the goal's number; [`table`] judges them.

use super::{Choice, Job, chunks, codecs, kernels, latency, threads};
use crate::data::generate::random_bytes;
use crate::data::{Data, Origin};
use crate::engine::Spec;
use crate::machine::unpinned;
use crate::measure::stats::geometric_mean;
use crate::report::table::{Table, figure};
use crate::result::Row;
use blosc_core::{Codec, Filter, Isa, Level};
use std::rc::Rc;

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// libc's memcpy of the same size.
    Memcpy,
    /// The opponent.
    Peer,
}

/// One goal, or one half of one.
pub struct Goal {
    /// Number in the list of goals.
    pub number: u32,
    /// What it says.
    pub text: &'static str,
    /// The yardstick.
    pub against: Against,
    /// Speed ratio that is due.
    pub due: f64,
    /// Speed ratio hoped for.
    pub moonshot: f64,
    /// Which rows of the goal it is about.
    pub rows: fn(&Row) -> bool,
}

const fn goal(number: u32, against: Against, due: f64, moonshot: f64, text: &'static str) -> Goal {
    Goal { number, text, against, due, moonshot, rows: |_| true }
}

/// The goals that can be measured on this machine. Times ("at most half") are given as speeds ("twice").
/// Number 16 counts instructions of NEON kernels; see the README for that one.
pub const GOALS: [Goal; 18] = [
    goal(1, Against::Memcpy, 0.95, 1.0, "(un)shuffle ts 2, 4"),
    Goal { rows: |r| r.typesize == 8, ..goal(2, Against::Memcpy, 0.70, 0.90, "shuffle ts 8") },
    Goal { rows: |r| r.typesize == 16, ..goal(2, Against::Memcpy, 0.50, 0.80, "shuffle ts 16") },
    goal(3, Against::Memcpy, 0.5, 0.9, "(un)shuffle ts 2 to 32"),
    goal(4, Against::Memcpy, 0.40, 0.65, "bitshuffle ts 1 to 8"),
    goal(5, Against::Memcpy, 0.45, 0.75, "bitunshuffle ts 1 to 8"),
    goal(6, Against::Peer, 2.0, 4.0, "bit(un)shuffle, AVX2"),
    goal(7, Against::Peer, 1.0, 1.3, "LZ4 decode, filtered"),
    goal(8, Against::Peer, 1.3, 2.0, "BloscLZ decode"),
    goal(9, Against::Peer, 1.4, 4.0, "BloscLZ encode, l5"),
    goal(10, Against::Peer, 1.5, 2.0, "decompress 64M shuffle"),
    goal(11, Against::Peer, 3.0, 4.0, "decompress 2M bitshuf"),
    goal(12, Against::Peer, 1.3, 2.0, "compress 64M"),
    goal(13, Against::Peer, 2.0, 10.0, "one item of 1M"),
    goal(14, Against::Peer, 1.0, 2.0, "4K round trip"),
    goal(15, Against::Peer, 1.9, 2.0, "2 threads vs 1, 64M"),
    Goal { rows: |r| r.op == "compress", ..goal(17, Against::Peer, 1.0, 1.2, "zstd, zlib compress") },
    Goal { rows: |r| r.op == "decompress", ..goal(17, Against::Peer, 1.0, 1.2, "zstd, zlib decompress") },
];

const FAST: [Codec; 2] = [Codec::BloscLz, Codec::Lz4];

/// Jobs of the goals asked for.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    let numbers = (1..=17).filter(|n| choice.goals.is_empty() || choice.goals.contains(n));
    for number in numbers {
        let new = match number {
            1..=6 => kernel_jobs(number, choice),
            7..=9 => stream_jobs(number, choice),
            10 => whole(number, choice, 64 << 20, &FAST, &[Filter::Shuffle], &["decompress"]),
            11 => whole(number, choice, 2 << 20, &FAST, &[Filter::BitShuffle], &["decompress"]),
            12 => {
                whole(number, choice, 64 << 20, &FAST, &[Filter::Shuffle, Filter::BitShuffle], &["compress"])
            }
            13 | 14 => small(number, choice),
            15 => two_threads(choice),
            17 => {
                let codecs = [Codec::Zlib, Codec::Zstd];
                let filters = [Filter::Shuffle, Filter::BitShuffle];
                whole(number, choice, 1 << 20, &codecs, &filters, &["compress", "decompress"])
            }
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
        2 => (&["shuffle"], vec![8, 16]),
        3 => (&["shuffle", "unshuffle"], (2..=32).collect()),
        4 => (&["bitshuffle"], (1..=8).collect()),
        5 => (&["bitunshuffle"], (1..=8).collect()),
        _ => (&["bitshuffle", "bitunshuffle"], vec![1, 2, 4, 8]),
    };
    let level = if number == 6 { Level::new(Isa::Avx2) } else { Some(Level::best()) };
    let needs_gfni = matches!(number, 4 | 5);
    let Some(level) = level.filter(|_| !needs_gfni || Level::new(Isa::Avx2Gfni).is_some()) else {
        return Vec::new();
    };
    let mut mine = choice.clone();
    mine.isas = vec![level];
    if number != 6 {
        mine.engines.clear();
    }
    let mine = Rc::new(mine);
    let mut jobs = Vec::new();
    for bytes in [256 << 10, 4 << 20] {
        for kernel in kernels::FILTERS.iter().filter(|k| ops.contains(&k.name)) {
            for &typesize in &typesizes {
                let mine = Rc::clone(&mine);
                jobs.push(Job {
                    label: format!("goal {number}: {} ts {typesize}", kernel.name),
                    run: Box::new(move |setting, plan, stop| {
                        let source = random_bytes(bytes);
                        let bout = kernels::group("goals", kernel, typesize, bytes, &source, &mine);
                        mark(number, bout.run(setting, plan, stop))
                    }),
                });
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

/// One codec on filtered bytes: a chunk without a filter, in one block, so that both sides add only a
/// header.
fn stream_jobs(number: u32, choice: &Choice) -> Vec<Job<'_>> {
    let codec = if number == 7 { Codec::Lz4 } else { Codec::BloscLz };
    let mut jobs = Vec::new();
    for data in sets(choice) {
        for filter in [Filter::Shuffle, Filter::BitShuffle] {
            jobs.push(Job {
                label: format!("goal {number}: {codec} stream, {} {}", filter.name(), data.name),
                run: Box::new(move |setting, plan, stop| {
                    let Some(data) = codecs::filtered(data, filter) else { return Vec::new() };
                    let blocksize = u32::try_from(data.bytes.len()).ok();
                    let data = Data { typesize: 1, ..data };
                    let none = Filter::None;
                    let spec = Spec { codec, filter: none, level: 5, typesize: 1, threads: 1, blocksize };
                    let bout = if number == 9 {
                        chunks::compress("goals", &spec, Some(filter), &data, choice)
                    } else {
                        let Ok(chunk) = latency::chunk_of(&spec, &data.bytes, choice) else {
                            return Vec::new();
                        };
                        chunks::decompress("goals", &spec, Some(filter), &data, chunk, choice)
                    };
                    let mut rows = mark(number, bout.run(setting, plan, stop));
                    rows.iter_mut().for_each(|r| r.filter = format!("{} before", filter.name()));
                    rows
                }),
            });
        }
    }
    jobs
}

fn whole<'a>(
    number: u32,
    choice: &'a Choice,
    bytes: usize,
    codecs: &[Codec],
    filters: &[Filter],
    ops: &'static [&'static str],
) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for data in sets(choice) {
        for &codec in codecs {
            for &filter in filters.iter().filter(|f| data.typesize > 1 || **f != Filter::Shuffle) {
                jobs.push(Job {
                    label: format!("goal {number}: {codec} {}, {}", filter.name(), data.name),
                    run: Box::new(move |setting, plan, stop| {
                        let (data, spec) = scaled(data, bytes, codec, filter);
                        let mut rows = Vec::new();
                        if ops.contains(&"compress") {
                            rows.extend(
                                chunks::compress("goals", &spec, None, &data, choice)
                                    .run(setting, plan, stop),
                            );
                        }
                        if ops.contains(&"decompress")
                            && let Ok(chunk) = latency::chunk_of(&spec, &data.bytes, choice)
                        {
                            let bout = chunks::decompress("goals", &spec, None, &data, chunk, choice);
                            rows.extend(bout.run(setting, plan, stop));
                        }
                        mark(number, rows)
                    }),
                });
            }
        }
    }
    jobs
}

/// An array at a larger size, real ones in blocks of their own: each holds every piece once.
fn scaled(data: &Data, bytes: usize, codec: Codec, filter: Filter) -> (Data, Spec) {
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
            jobs.push(Job {
                label: format!("goal {number}: {codec}, {}", data.name),
                run: Box::new(move |setting, plan, stop| {
                    let filter = if data.typesize > 1 { Filter::Shuffle } else { Filter::None };
                    let blocksize = None;
                    let spec =
                        Spec { codec, filter, level: 5, typesize: data.typesize, threads: 1, blocksize };
                    let rows = if number == 13 {
                        let data = data.sized(1 << 20);
                        let bout = latency::item("goals", &spec, &data, choice);
                        bout.map_or_else(Vec::new, |b| b.run(setting, plan, stop))
                    } else {
                        let data = data.sized(4 << 10);
                        latency::round_trip("goals", &spec, &data, choice).run(setting, plan, stop)
                    };
                    mark(number, rows)
                }),
            });
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
    for data in sets(choice).filter(|d| ["smooth_f4", "smooth_f8", "goes_flux"].contains(&d.name.as_str())) {
        for codec in FAST {
            let two = Rc::clone(&two);
            jobs.push(Job {
                label: format!("goal 15: {codec}, {}", data.name),
                run: Box::new(move |setting, plan, stop| {
                    let (data, spec) = scaled(data, 64 << 20, codec, Filter::Shuffle);
                    let mut rows = Vec::new();
                    for op in ["compress", "decompress"] {
                        if let Some(bout) = threads::scaling("goals", op, &spec, &data, &two) {
                            rows.extend(unpinned(|| bout.run(setting, plan, stop)));
                        }
                    }
                    mark(15, rows)
                }),
            });
        }
    }
    if !jobs.is_empty() {
        jobs.push(Job {
            label: "goal 15: memcpy".into(),
            run: Box::new(|setting, plan, stop| {
                let source = random_bytes(64 << 20);
                mark(15, unpinned(|| threads::copying("goals", &source).run(setting, plan, stop)))
            }),
        });
    }
    jobs
}

/// No array may fall below this fraction of the opponent's speed, whatever a goal says.
const FLOOR: f64 = 0.9;

/// Each goal's mean and worst ratio, how many rows fall below .9 of an opponent, and whether the worst reaches what is
/// due, with no output more than 1 % larger, nor larger in the mean.
pub fn table(rows: &[Row]) -> Table {
    let head = ["#  goal", "vs", "due", "worst", "mean", "best", "rows", "<.9", "size", "met"];
    let mut table = Table::new(&head);
    for g in &GOALS {
        let of = |r: &&Row| r.goal == Some(g.number) && r.engine == "ours" && (g.rows)(r);
        let value = |r: &Row| if g.against == Against::Memcpy { r.vs_memcpy } else { r.vs_peer };
        let values: Vec<f64> = rows.iter().filter(of).filter_map(value).collect();
        let Some(mean) = geometric_mean(values.iter().copied()) else { continue };
        let worst = values.iter().copied().fold(f64::INFINITY, f64::min);
        let best = values.iter().copied().fold(0.0, f64::max);
        let below = values.iter().filter(|v| **v < FLOOR).count();
        let sizes: Vec<f64> = rows.iter().filter(of).filter_map(|r| r.size_vs_peer).collect();
        let biggest = sizes.iter().copied().fold(0.0, f64::max);
        let sizes_fit = biggest <= 1.01 && geometric_mean(sizes.iter().copied()).is_none_or(|m| m <= 1.0);
        let met = worst >= g.due && sizes_fit;
        let peer = g.against == Against::Peer;
        table.row(vec![
            format!("{:<2} {}", g.number, g.text),
            if peer { "peer".into() } else { "memcpy".into() },
            figure(g.due),
            figure(worst),
            figure(mean),
            figure(best),
            values.len().to_string(),
            if peer { below.to_string() } else { "-".into() },
            if sizes.is_empty() { "-".into() } else { format!("{biggest:.3}") },
            if met { "yes".into() } else { "no".into() },
        ]);
    }
    table
}

/// What stands below the table: how much two threads gain where memory alone sets the speed.
pub fn memory_note(rows: &[Row]) -> Option<String> {
    let two = rows.iter().find(|r| r.goal == Some(15) && r.engine == "memcpy" && r.threads == 2)?;
    let scale = figure(two.vs_peer?);
    Some(format!("Goal 15: memcpy of 64 MiB scales by {scale} with two threads on this machine."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(vs_peer: f64, size: f64) -> Row {
        let (vs_peer, size_vs_peer) = (Some(vs_peer), Some(size));
        Row { goal: Some(9), engine: "ours".into(), vs_peer, size_vs_peer, ..Row::default() }
    }

    /// Cells of the one goal in these rows: worst, mean, rows below .9, met.
    fn judged(rows: &[Row]) -> Vec<String> {
        let (_, lines) = table(rows).cells();
        [3, 4, 7, 9].iter().map(|c| lines[0][*c].clone()).collect()
    }

    #[test]
    fn the_worst_case_decides() {
        assert_eq!(judged(&[row(2.0, 0.9), row(1.4, 0.9)]), ["1.40", "1.67", "0", "yes"]);
        assert_eq!(judged(&[row(4.0, 0.9), row(0.8, 0.9)]), ["0.80", "1.79", "1", "no"]);
    }

    /// A copy is no row of the goal: it stands below the table.
    #[test]
    fn what_memory_allows_is_told_apart() {
        let ours = Row { goal: Some(15), threads: 2, ..row(1.5, 1.0) };
        let copy = Row { engine: "memcpy".into(), vs_peer: Some(1.25), ..ours.clone() };
        assert_eq!(memory_note(std::slice::from_ref(&ours)), None);
        let rows = [ours, copy];
        assert_eq!(table(&rows).cells().1[0][6], "1");
        assert!(memory_note(&rows).unwrap().contains("scales by 1.25"));
    }

    #[test]
    fn larger_output_is_never_fine() {
        for (sizes, met) in [([1.02, 0.5], "no"), ([1.005, 0.999], "no"), ([1.005, 0.99], "yes")] {
            assert_eq!(judged(&sizes.map(|size| row(2.0, size)))[3], met);
        }
    }
}
