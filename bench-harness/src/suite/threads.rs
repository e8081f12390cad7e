//! Suite `threads`: the same chunk with one, two … threads, unpinned. Each row's opponent is the opponent with as many threads,
//! or where there is none, this library with one.

use super::choice::{Choice, Job, pace, seconds};
use super::chunks::{readable, row, specs};
use super::latency::chunk_of;
use crate::data::Data;
use crate::engine::ours::{Ours, decodes_to};
use crate::engine::{Engine, Filters, Spec};
use crate::machine::unpinned;
use crate::measure::candidate::{Candidate, Work};
use crate::measure::check::expect;
use crate::measure::comparison::Comparison;
use crate::result::Row;
use blosc_core::{Level, max_encoded_len};
use std::rc::Rc;

/// Bytes of a chunk where no other size is asked for: larger than any cache, and enough blocks for many cores.
pub const BYTES: usize = 64 << 20;

/// Compression and decompression for every array, codec and filter at level 5.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    let bytes = choice.array_sizes.first().copied().unwrap_or(BYTES);
    for data in &choice.data {
        let specs = specs(choice, data.typesize, &[5]).into_iter();
        for spec in specs.filter(|spec| spec.filter != Filters::None) {
            let label = format!("{} {} threads, {}", spec.codec, spec.filter.name(), data.name);
            jobs.push(Job::new(label, least(&spec, bytes, choice), move |setting, plan, stop| {
                let data = data.sized(bytes);
                let both = ["compress", "decompress"]
                    .map(|op| scaling("threads", op, &spec, &data, choice, &choice.engines));
                let run = |one: Comparison<'_>| unpinned(|| one.run(setting, plan, stop));
                both.into_iter().flatten().flat_map(run).collect()
            }));
        }
    }
    jobs
}

/// Seconds of a run at each number of threads.
pub fn least(spec: &Spec, bytes: usize, choice: &Choice) -> f64 {
    // All threads of all numbers together take about as long as two runs with one.
    seconds(bytes, 2 * (1 + choice.engines.len()), pace(spec.codec, spec.level))
}

/// One operation at each number of threads, here and by `opponents`. Without any, one thread is the opponent.
pub fn scaling<'a>(
    suite: &str,
    op: &str,
    spec: &Spec,
    data: &'a Data,
    choice: &Choice,
    opponents: &[Rc<dyn Engine>],
) -> Option<Comparison<'a>> {
    let mut candidates = Vec::new();
    let bytes = data.bytes.len();
    let chunk = chunk_of(spec, &data.bytes, choice).ok()?;
    let mut counts = choice.threads.clone();
    counts.retain(|n| *n > 1);
    counts.insert(0, 1);
    let ours = Ours { level: Level::best(), corrupt: choice.corrupt };
    for threads in counts {
        let spec = Spec { threads, ..*spec };
        let mut add = |engine: &dyn Engine, peer: bool| {
            let row = Row { engine: engine.name(), isa: engine.isa(), ..row(suite, op, &spec, data) };
            let (work, check) = match op {
                "compress" => (engine.compressor(&spec, bytes), decodes_to(&data.bytes)),
                _ => {
                    let chunk = readable(engine, &spec, &data.bytes, &chunk);
                    (chunk.and_then(|chunk| engine.decompressor(&spec, chunk)), expect(&data.bytes))
                }
            };
            candidates.push(match work {
                Ok(work) => Candidate::new(row, work, check).peer(peer),
                Err(why) => Candidate::left_out(row, why),
            });
        };
        add(&ours, threads == 1 && opponents.is_empty());
        opponents.iter().for_each(|engine| add(engine.as_ref(), true));
    }
    Some(Comparison::new(&data.bytes, max_encoded_len(bytes) + 1024, bytes, candidates))
}

/// What memory allows where it alone sets the speed: libc's memcpy by one thread, and by two of which each copies half. One
/// thread is the opponent.
pub fn copying<'a>(suite: &str, source: &'a [u8]) -> Comparison<'a> {
    let bytes = source.len();
    let candidate = |threads| {
        let row = Row { threads, ..Row::plain(suite, "memcpy", "copy", 1, bytes) };
        let work: Work<'a> = Box::new(move |src, dst| copy_shared(src, dst, threads));
        Candidate::new(row, work, expect(source)).peer(threads == 1)
    };
    let candidates = vec![candidate(1), candidate(2)];
    Comparison { stateless: true, ..Comparison::new(source, bytes, bytes, candidates) }
}

/// Each thread copies a share, the calling one too.
fn copy_shared(src: &[u8], dst: &mut [u8], threads: usize) -> Result<usize, String> {
    let dst = dst.get_mut(..src.len()).ok_or("too little room")?;
    let share = src.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let mut shares = dst.chunks_mut(share).zip(src.chunks(share));
        let mine = shares.next();
        shares.for_each(|(d, s)| drop(scope.spawn(|| d.copy_from_slice(s))));
        if let Some((d, s)) = mine {
            d.copy_from_slice(s);
        }
    });
    Ok(src.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_make_the_whole() {
        let src: Vec<u8> = (0..101).collect();
        for threads in 1..4 {
            let mut dst = vec![0; 200];
            assert_eq!(copy_shared(&src, &mut dst, threads), Ok(101));
            assert!(dst.starts_with(&src) && dst[101..].iter().all(|b| *b == 0));
        }
        assert!(copy_shared(&src, &mut [0; 100], 2).is_err());
    }
}
