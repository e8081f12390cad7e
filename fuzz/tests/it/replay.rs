//! Replays the corpora and all regressions on stable, and every seed cut short somewhere.

use blosc_testkit::{Random, emulated, long};
use std::fs;
use std::panic::{catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

/// The names of the targets; only those that `BLOSC_TARGETS` names, where it is set.
fn targets() -> Vec<&'static str> {
    let only = std::env::var("BLOSC_TARGETS").ok();
    let wanted = |name: &&str| only.as_ref().is_none_or(|only| only.split(' ').any(|word| word == *name));
    blosc_fuzz::TARGETS.iter().map(|(name, ..)| *name).filter(wanted).collect()
}

#[test]
fn corpora_and_regressions() {
    let here = blosc_fuzz::folder();
    let mut inputs = 0;
    for name in targets() {
        // `BLOSC_CORPUS` names one more folder of inputs, such as what runs have gathered in corpus/.
        let gathered = std::env::var_os("BLOSC_CORPUS").map(PathBuf::from);
        for folder in ["seeds".into(), "regressions".into()].into_iter().chain(gathered) {
            let Ok(entries) = fs::read_dir(here.join(&folder).join(name)) else { continue };
            let mut paths: Vec<PathBuf> =
                entries.map(|entry| entry.expect("a readable folder").path()).collect();
            paths.sort();
            // An emulator is 10 to 30 times slower: a quarter of the seeds, and all regressions.
            let step = if emulated() && folder == Path::new("seeds") { 4 } else { 1 };
            for path in paths.into_iter().step_by(step) {
                let data = fs::read(&path).expect("a readable seed");
                if folder == Path::new("regressions") {
                    println!("regression {name}/{}", path.file_name().unwrap_or_default().display());
                }
                blosc_fuzz::run(name, &data);
                // Cut short somewhere as well.
                if !emulated() {
                    blosc_fuzz::run(name, &data[..data.len() * (1 + inputs % 5) / 6]);
                }
                inputs += 1;
            }
        }
    }
    println!("{inputs} inputs replayed over {} targets", targets().len());
    assert!(inputs > 0, "no corpus found beside the targets");
}

/// Without any corpus: short runs of pseudo-random bytes through every target.
#[test]
fn random_bytes() {
    let mut random = Random(1);
    let rounds = if emulated() {
        20
    } else if long() {
        20_000
    } else {
        200
    };
    for name in targets() {
        for round in 0..rounds {
            let len = random.below(1 + round % 400 * 8);
            let data = random.noise(len);
            if let Err(panic) = catch_unwind(|| blosc_fuzz::run(name, &data)) {
                let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{round}"));
                fs::write(&kept, &data).expect("a folder for what fails");
                println!("{name} fails on {}", kept.display());
                resume_unwind(panic);
            }
        }
    }
}
