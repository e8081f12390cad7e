//! Own decoders against C zstd and zlib-rs, alternating in one process.
//!
//! ```text
//! cargo run --release -p blosc-core --example zstd_speed [milliseconds per measurement]
//! ```
//! One line per data set, block size and level: speed of ours and of the reference in GB/s of output, and
//! the ratio of the two (medians of alternating runs; above 1 ours is faster).

use blosc_core::codec::context::{DecodeContext, EncodeContext};
use blosc_core::codec::{decode_work_len, zlib, zlib_host, zstd, zstd_c};
use blosc_core::{Codec, Out};
use std::time::Instant;

#[path = "../tests/common/mod.rs"]
mod common;

struct Row {
    ours: f64,
    theirs: f64,
}

/// Medians of the seconds that `a` and `b` take, run in turns for `budget` seconds.
fn race(budget: f64, mut a: impl FnMut(), mut b: impl FnMut()) -> (f64, f64) {
    let mut times = (vec![], vec![]);
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < budget || times.0.len() < 5 {
        let t = Instant::now();
        a();
        times.0.push(t.elapsed().as_secs_f64());
        let t = Instant::now();
        b();
        times.1.push(t.elapsed().as_secs_f64());
    }
    times.0.sort_by(f64::total_cmp);
    times.1.sort_by(f64::total_cmp);
    (times.0[times.0.len() / 2], times.1[times.1.len() / 2])
}

fn measure(codec: Codec, data: &[u8], block: usize, level: u8, budget: f64) -> (Row, f64) {
    let mut encoder = EncodeContext::for_codec(codec, level, block).expect("context");
    let mut decoder = DecodeContext::for_codec(codec);
    let mut packed = vec![];
    for piece in data.chunks(block) {
        let mut dst = vec![0; block + block / 8 + 1000];
        let n = match codec {
            Codec::Zstd => zstd_c::encode(&mut encoder, piece, &mut dst, &[]),
            _ => zlib_host::encode(&mut encoder, piece, &mut dst),
        };
        dst.truncate(n.expect("fits"));
        packed.push((dst, piece));
    }
    let mut work = vec![0; decode_work_len(block)];
    let (mut mine, mut theirs) = (vec![0u8; block], vec![0u8; block]);
    for (src, piece) in &packed {
        let out = Out::from(&mut mine[..piece.len()]);
        match codec {
            Codec::Zstd => zstd::decode(src, out, &[], &mut work),
            _ => zlib::decode(src, out, &mut work),
        }
        .expect("valid");
        assert!(mine[..piece.len()] == **piece);
    }
    let (a, b) = race(
        budget,
        || {
            for (src, piece) in &packed {
                let out = Out::from(&mut mine[..piece.len()]);
                let _ = match codec {
                    Codec::Zstd => zstd::decode(src, out, &[], &mut work),
                    _ => zlib::decode(src, out, &mut work),
                };
            }
        },
        || {
            for (src, piece) in &packed {
                let out = Out::from(&mut theirs[..piece.len()]);
                let _ = match codec {
                    Codec::Zstd => zstd_c::decode(&mut decoder, src, out, &[]),
                    _ => zlib_host::decode(&mut decoder, src, out),
                };
            }
        },
    );
    let gb = data.len() as f64 / 1e9;
    let small: usize = packed.iter().map(|p| p.0.len()).sum();
    (Row { ours: gb / a, theirs: gb / b }, data.len() as f64 / small as f64)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let budget = args.next().and_then(|a| a.parse::<f64>().ok()).unwrap_or(60.0) / 1000.0;
    let only = args.next();
    println!("codec data        block level  packed    ours  reference  ratio");
    for codec in [Codec::Zstd, Codec::Zlib] {
        if only.as_deref().is_some_and(|name| name != codec.name()) {
            continue;
        }
        let (mut product, mut rows, mut worst) = (0.0, 0, f64::MAX);
        for (name, data) in common::kinds(1 << 20) {
            for (block, level) in [(16 << 10, 1), (128 << 10, 5), (1 << 20, 1), (1 << 20, 5)] {
                let (row, packed) = measure(codec, &data, block, level, budget);
                let ratio = row.ours / row.theirs;
                println!(
                    "{:5} {name:10} {:6}K {level:5} {packed:7.2}x {:7.2} {:10.2} {ratio:6.2}",
                    codec.name(),
                    block >> 10,
                    row.ours,
                    row.theirs
                );
                product += ratio.ln();
                rows += 1;
                worst = worst.min(ratio);
            }
        }
        println!(
            "{:5} geometric mean {:.2}, worst {worst:.2}",
            codec.name(),
            (product / f64::from(rows)).exp()
        );
    }
}
