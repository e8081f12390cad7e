//! Replays the corpora and all regressions on stable, and every seed cut short at several places.

use std::fs;
use std::path::Path;

fn emulated() -> bool {
    std::env::var_os("BLOSC_EMULATED").is_some()
}

#[test]
fn corpora_and_regressions() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut inputs = 0;
    for (name, ..) in blosc_fuzz::TARGETS {
        // What runs have gathered is replayed on request: the measure of coverage can count it.
        let gathered = std::env::var_os("BLOSC_CORPUS").map(|_| "corpus");
        for folder in ["seeds", "regressions"].into_iter().chain(gathered) {
            let Ok(entries) = fs::read_dir(here.join(folder).join(name)) else { continue };
            for entry in entries {
                let path = entry.expect("a readable folder").path();
                let data = fs::read(&path).expect("a readable seed");
                if folder == "regressions" {
                    println!("regression {name}/{}", path.file_name().unwrap_or_default().display());
                }
                blosc_fuzz::run(name, &data);
                // An emulator is 10 to 30 times slower.
                for cut in if emulated() { &[4][..] } else { &[1, 2, 3, 5] } {
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
    let long = std::env::var_os("BLOSC_LONG").is_some_and(|v| v == "1");
    let rounds = if emulated() {
        20
    } else if long {
        20_000
    } else {
        200
    };
    for (name, ..) in blosc_fuzz::TARGETS {
        for round in 0..rounds {
            let len = (next() % (1 + round % 400 * 8)) as usize;
            let data: Vec<u8> = (0..len).map(|_| next() as u8).collect();
            blosc_fuzz::run(name, &data);
        }
    }
}
