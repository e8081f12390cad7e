//! Suite `threads`: the same chunk with one, two … threads, unpinned. Each row's opponent is one thread.

use super::choice::{Choice, Job};
use super::chunks::row;
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

/// Bytes of a chunk: larger than any cache, and enough blocks for many cores.
pub const BYTES: usize = 64 << 20;

/// Compression and decompression for every array, codec and filter at level 5.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for data in &choice.data {
        for &codec in &choice.codecs {
            for &filter in choice.filters.iter().filter(|f| **f != Filters::None && f.suits(data.typesize)) {
                let (typesize, blocksize) = (data.typesize, choice.blocksize);
                let spec = Spec { codec, filter, level: 5, typesize, threads: 1, blocksize };
                jobs.push(Job {
                    label: format!("{codec} {} threads, {}", filter.name(), data.name),
                    run: Box::new(move |setting, plan, stop| {
                        let data = data.sized(BYTES);
                        let mut rows = Vec::new();
                        for op in ["compress", "decompress"] {
                            if let Some(one) = scaling("threads", op, &spec, &data, choice) {
                                rows.extend(unpinned(|| one.run(setting, plan, stop)));
                            }
                        }
                        rows
                    }),
                });
            }
        }
    }
    jobs
}

/// One operation at each number of threads; one thread is the opponent.
pub fn scaling<'a>(
    suite: &str,
    op: &str,
    spec: &Spec,
    data: &'a Data,
    choice: &Choice,
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
        let (work, check) = if op == "compress" {
            (ours.compressor(&spec, bytes).ok()?, decodes_to(&data.bytes))
        } else {
            (ours.decompressor(&spec, chunk.clone()).ok()?, expect(&data.bytes))
        };
        let row = Row { isa: ours.isa(), ..row(suite, op, &spec, data) };
        candidates.push(Candidate::new(row, work, check).peer(threads == 1));
    }
    Some(Comparison::new(&data.bytes, max_encoded_len(bytes) + 1024, bytes, candidates))
}

/// What memory allows where it alone sets the speed: libc's memcpy by one thread, and by two of which each copies half. One
/// thread is the opponent.
pub fn copying<'a>(suite: &str, source: &'a [u8]) -> Comparison<'a> {
    let bytes = source.len();
    let candidate = |threads| {
        let row = Row {
            suite: suite.into(),
            engine: "memcpy".into(),
            op: "copy".into(),
            typesize: 1,
            bytes,
            threads,
            data: "random".into(),
            ..Row::default()
        };
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
