//! [`Trial`]: one way to compress, and what it came to on a sample.

use super::filters::Filters;
use super::sample::Sample;
use alloc::vec;
use alloc::vec::Vec;
use blosc_core::{Chunk, ChunkContext, Codec, Limits, Params, Pool, max_encoded_len};
use std::time::{Duration, Instant};

/// One way to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Codec.
    pub codec: Codec,
    /// Filters.
    pub filters: Filters,
    /// Compression level.
    pub level: u8,
    /// Block size in bytes; `None` is automatic.
    pub blocksize: Option<u32>,
}

impl Way {
    fn params(&self, typesize: u32) -> Params {
        let params = Params::new(typesize).codec(self.codec).level(self.level).blocksize(self.blocksize);
        params.filters(self.filters.slots(typesize as usize))
    }
}

/// What one way came to.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The way.
    pub way: Way,
    /// Bytes of the sample for each byte of its chunks.
    pub ratio: f64,
    /// GB of the sample that a thread compresses a second.
    pub compress: f64,
    /// GB of the sample that a thread decompresses a second.
    pub decompress: f64,
}

impl Trial {
    /// Compresses and decompresses the sample; `None` if it cannot be compressed this way, or does not come back as it was.
    pub(super) fn run(sample: &Sample, way: Way) -> Option<Trial> {
        let (mut written, mut took) = (0usize, [Duration::ZERO; 2]);
        let mut pool = Pool::new(1);
        for piece in &sample.pieces {
            let params = way.params(sample.typesize).fit(piece.len());
            let mut chunk = vec![0; max_encoded_len(piece.len())];
            let start = Instant::now();
            let len = pool.compress_into(&params, ChunkContext::default(), piece, &mut chunk).ok()?;
            took[0] += start.elapsed();
            chunk.truncate(len);
            let mut back = vec![0; piece.len()];
            let start = Instant::now();
            let parsed = Chunk::parse_with(&chunk, &Limits::NONE).ok()?;
            pool.decompress_into(&parsed, ChunkContext::default(), &mut back).ok()?;
            took[1] += start.elapsed();
            if &back != piece {
                return None;
            }
            written += len;
        }
        let len = sample.len() as f64;
        let [compress, decompress] = took.map(|t| len / (t.as_nanos() as f64).max(1.0));
        Some(Trial { way, ratio: len / written.max(1) as f64, compress, decompress })
    }

    /// Keeps the better times of two trials of the same way: what disturbs one only slows it.
    pub(super) fn again(&mut self, sample: &Sample) {
        if let Some(other) = Trial::run(sample, self.way) {
            self.compress = self.compress.max(other.compress);
            self.decompress = self.decompress.max(other.decompress);
        }
    }

    /// GB a second for both directions, one after the other.
    pub fn speed(&self) -> f64 {
        1.0 / (1.0 / self.compress + 1.0 / self.decompress)
    }

    /// Nanoseconds a byte takes to be compressed, written to a disk that takes `disk` GB a second, read and decompressed.
    pub fn through(&self, disk: f64) -> f64 {
        1.0 / self.speed() + 2.0 / (self.ratio * disk)
    }
}

/// The trials that no other beats both in ratio and in speed, fastest first.
pub(super) fn front(trials: &[Trial]) -> Vec<Trial> {
    let mut sorted: Vec<&Trial> = trials.iter().collect();
    sorted.sort_by(|a, b| b.speed().total_cmp(&a.speed()));
    let mut front: Vec<Trial> = Vec::new();
    for trial in sorted {
        // A gain of less than half a percent is none.
        if front.last().is_none_or(|last| trial.ratio > last.ratio * 1.005) {
            front.push(trial.clone());
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_holds_what_nothing_beats() {
        let way = Way { codec: Codec::Lz4, filters: Filters::None, level: 1, blocksize: None };
        let trial = |ratio, speed| Trial { way, ratio, compress: speed, decompress: speed };
        let found = front(&[trial(2.0, 1.0), trial(1.0, 4.0), trial(1.5, 0.9), trial(3.0, 0.1)]);
        assert_eq!(found.iter().map(|t| t.ratio).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
        // A fast disk wants speed, a slow one bytes saved.
        let best = |disk: f64| {
            found.iter().min_by(|a, b| a.through(disk).total_cmp(&b.through(disk))).map(|t| t.ratio)
        };
        assert_eq!((best(100.0), best(0.01)), (Some(1.0), Some(3.0)));
    }
}
