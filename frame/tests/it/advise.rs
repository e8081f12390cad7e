//! Advice: its ratios are those of the chunks that each way makes, and its best way is the best of its front.

use blosc_core::{Params, compress};
use blosc_frame::advise::{Options, Sample, Verb, advise};
use std::time::Duration;

#[test]
fn ratios_are_those_of_the_chunks_and_the_front_is_in_order() {
    // Each piece shrinks differently, so that a piece left out or counted twice shows.
    let noise = |k: u32| k.wrapping_mul(2_654_435_761) >> 7;
    let piece =
        |bits: u32| (0..20_000u32).flat_map(move |k| (noise(k) % (1 << bits)).to_le_bytes()).collect();
    let pieces: Vec<Vec<u8>> = [1, 9, 20].map(piece).into();
    let total = pieces.iter().map(Vec::len).sum::<usize>();
    let command = Verb::CompressBytes;
    let sample =
        Sample { path: "x".into(), pieces, typesize: 4, total: total as u64, command, is_array: false };
    for (milliseconds, disk) in [(0, 1.0), (300, 0.001), (300, 1000.0)] {
        let advice = advise(&sample, &Options { time: Duration::from_millis(milliseconds), disk });
        assert!(!advice.front.is_empty() && (milliseconds > 0 || advice.tried == 1), "{advice:?}");
        for trial in &advice.front {
            let way = trial.way;
            let params = Params::new(4).codec(way.codec).level(way.level).blocksize(way.blocksize);
            let params = params.filters(way.filters.slots(4));
            let stored: usize =
                sample.pieces.iter().map(|piece| compress(&params, piece).unwrap().len()).sum();
            assert!((trial.ratio * stored as f64 / total as f64 - 1.0).abs() < 1e-9, "{trial:?}: {stored}");
            // One over the other: seconds for a byte there and a byte back.
            let (there, back) = (1.0 / trial.compress, 1.0 / trial.decompress);
            assert!((trial.speed() * (there + back) - 1.0).abs() < 1e-9);
            assert!((trial.through(disk) / (there + back + 2.0 / trial.ratio / disk) - 1.0).abs() < 1e-9);
        }
        assert!(advice.front.is_sorted_by(|a, b| a.speed() > b.speed() && a.ratio < b.ratio));
        let best = &advice.front[advice.best.unwrap()];
        assert!(advice.front.iter().all(|trial| best.through(disk) <= trial.through(disk)));
    }
}
