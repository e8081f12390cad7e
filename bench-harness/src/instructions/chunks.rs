//! Whole chunks: what a loop costs that no kernel holds, in our own codecs.
//!
//! A copy that the compiler makes a loop over bytes, or a search that no longer skips, shows here by several times its
//! count, on any machine and without a clock.

use super::{BYTES, insn_boundary};
use crate::data::generate;
use blosc_core::{Chunk, ChunkContext, Codec, Params, Pool};

/// Arrays that are counted: one that codecs give up on, one that they shrink.
const DATA: [&str; 2] = ["noise_f4", "smooth_f4"];
/// Ours; what the others take is up to their libraries.
const CODECS: [Codec; 3] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc];

struct Case {
    name: String,
    params: Params,
    source: Vec<u8>,
    decompress: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for data in DATA.into_iter().filter_map(generate::find) {
        let array = data.array(BYTES);
        for codec in CODECS {
            let plain = Params::new(array.typesize as u32).codec(codec).level(5);
            for (filter, params) in [("none", plain.no_filter()), ("shuffle", plain.shuffle())] {
                for (op, decompress) in [("compress", false), ("decompress", true)] {
                    let name = format!("{op} {codec} {filter} {}", array.name);
                    cases.push(Case { name, params, source: array.bytes.to_vec(), decompress });
                }
            }
        }
    }
    cases
}

/// Names of the cases, in the order [`once`] runs them.
pub fn names() -> impl Iterator<Item = String> {
    cases().into_iter().map(|case| case.name)
}

/// Runs each case once, warm, between boundaries.
pub fn once() {
    for case in cases() {
        let mut pool = Pool::new(1);
        let mut chunk = vec![0; blosc_core::max_encoded_len(case.source.len())];
        let mut out = vec![0; case.source.len()];
        // Without a chunk the boundaries are missing, and so is the case: nothing else is counted in its place.
        let len = pool.compress_into(&case.params, ChunkContext::default(), &case.source, &mut chunk);
        let Ok(encoded) = len.map(|len| chunk.get(..len).unwrap_or_default().to_vec()) else { continue };
        let Ok(parsed) = Chunk::parse(&encoded) else { continue };
        let mut run = || match case.decompress {
            true => pool.decompress_into(&parsed, ChunkContext::default(), &mut out),
            false => pool.compress_into(&case.params, ChunkContext::default(), &case.source, &mut chunk),
        };
        let _ = run();
        insn_boundary();
        let _ = std::hint::black_box(run());
        insn_boundary();
    }
}
