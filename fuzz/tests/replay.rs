//! Replays the corpora and all regressions on stable, and every seed cut short at several places.

use std::fs;
use std::path::Path;

#[test]
fn corpora_and_regressions() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut inputs = 0;
    for (name, _) in blosc_fuzz::TARGETS {
        for folder in ["seeds", "regressions"] {
            let Ok(entries) = fs::read_dir(here.join(folder).join(name)) else { continue };
            for entry in entries {
                let data = fs::read(entry.expect("a readable folder").path()).expect("a readable seed");
                blosc_fuzz::run(name, &data);
                for cut in [1, 2, 3, 5] {
                    blosc_fuzz::run(name, &data[..data.len() * cut / 6]);
                }
                inputs += 1;
            }
        }
    }
    println!("{inputs} inputs replayed over {} targets", blosc_fuzz::TARGETS.len());
    assert!(inputs > 0, "no corpus found beside the targets");
}

/// Without any corpus: short runs of pseudo-random bytes through every target.
#[test]
fn random_bytes() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    for (name, _) in blosc_fuzz::TARGETS {
        for round in 0..200 {
            let len = (next() % (1 + round * 8)) as usize;
            let data: Vec<u8> = (0..len).map(|_| next() as u8).collect();
            blosc_fuzz::run(name, &data);
        }
    }
}
