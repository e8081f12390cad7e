//! Our own zstd decoder against C zstd, alternating in one process.
//!
//! ```text
//! cargo run --release -p blosc-core --example zstd_speed [milliseconds per measurement [data set...]]
//! ```
//! One line per data set, block size and level: speed of ours and of the reference in GB/s of output, and
//! the ratio of the two (medians of alternating runs; above 1 ours is faster).

use blosc_core::codec::context::{DecodeContext, EncodeContext};
use blosc_core::codec::{decode_work_len, zstd, zstd_c};
use blosc_core::{Codec, Out};
use std::time::Instant;

#[path = "../tests/it/common/mod.rs"]
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

fn measure(data: &[u8], block: usize, level: u8, budget: f64) -> (Row, f64) {
    let mut encoder = EncodeContext::for_codec(Codec::Zstd, level, block).expect("context");
    let mut decoder = DecodeContext::for_codec(Codec::Zstd);
    let mut packed = vec![];
    for piece in data.chunks(block) {
        let mut dst = vec![0; block + block / 8 + 1000];
        let n = zstd_c::encode(&mut encoder, piece, &mut dst, &[]);
        dst.truncate(n.expect("fits"));
        packed.push((dst, piece));
    }
    let mut work = vec![0; decode_work_len(block)];
    let (mut mine, mut theirs) = (vec![0u8; block], vec![0u8; block]);
    for (src, piece) in &packed {
        let out = Out::from(&mut mine[..piece.len()]);
        zstd::decode(src, out, &[], &mut work).expect("valid");
        assert!(mine[..piece.len()] == **piece);
    }
    let (a, b) = race(
        budget,
        || {
            for (src, piece) in &packed {
                let out = Out::from(&mut mine[..piece.len()]);
                let _ = zstd::decode(src, out, &[], &mut work);
            }
        },
        || {
            for (src, piece) in &packed {
                let out = Out::from(&mut theirs[..piece.len()]);
                let _ = zstd_c::decode(&mut decoder, src, out, &[]);
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
    let only: Vec<String> = args.collect();
    let kinds = common::kinds(1 << 20);
    if let Some(unknown) = only.iter().find(|o| kinds.iter().all(|(name, _)| name != o)) {
        let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
        eprintln!("no data set {unknown}: there are {}", names.join(", "));
        std::process::exit(2);
    }
    println!("data        block level  packed    ours  reference  ratio");
    let (mut product, mut rows, mut worst) = (0.0, 0, f64::MAX);
    for (name, data) in kinds {
        if !only.is_empty() && !only.iter().any(|o| o == name) {
            continue;
        }
        for (block, level) in [(16 << 10, 1), (128 << 10, 5), (1 << 20, 1), (1 << 20, 5)] {
            let (row, packed) = measure(&data, block, level, budget);
            let ratio = row.ours / row.theirs;
            println!(
                "{name:10} {:6}K {level:5} {packed:7.2}x {:7.2} {:10.2} {ratio:6.2}",
                block >> 10,
                row.ours,
                row.theirs
            );
            product += ratio.ln();
            rows += 1;
            worst = worst.min(ratio);
        }
    }
    println!("geometric mean {:.2}, worst {worst:.2}", (product / f64::from(rows)).exp());
}
