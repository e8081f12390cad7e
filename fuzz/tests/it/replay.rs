//! Replays the seeds from their archives and all regressions on stable, and every one of them cut short somewhere.

use blosc_testkit::{Random, emulated, long};
use std::fs;
use std::io::Read;
use std::panic::{catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// The names of the targets; only those that `BLOSC_TARGETS` names, where it is set.
fn targets() -> Vec<&'static str> {
    let only = std::env::var("BLOSC_TARGETS").ok();
    let wanted = |name: &&str| only.as_ref().is_none_or(|only| only.split(' ').any(|word| word == *name));
    blosc_fuzz::TARGETS.iter().map(|(name, ..)| *name).filter(wanted).collect()
}

/// The seeds of a target, in the order of their names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let path = blosc_fuzz::folder().join("seeds").join(format!("{name}.zip"));
    let file = fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut archive = ZipArchive::new(file).expect("an archive of seeds");
    // An emulator is 10 to 30 times slower: a quarter of the seeds.
    let picked = (0..archive.len()).step_by(if emulated() { 4 } else { 1 });
    let seed = |n| {
        let mut data = Vec::new();
        archive.by_index(n).expect("a seed").read_to_end(&mut data).expect("a whole seed");
        data
    };
    picked.map(seed).collect()
}

/// The files in a folder and their names, sorted; none where it does not exist.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("a readable folder").path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read(path).expect("a readable input"))).collect()
}

#[test]
fn corpora_and_regressions() {
    let mut inputs = 0;
    let mut replay = |name, data: &[u8]| {
        blosc_fuzz::run(name, data);
        // Cut short somewhere as well.
        if !emulated() {
            blosc_fuzz::run(name, &data[..data.len() * (1 + inputs % 5) / 6]);
        }
        inputs += 1;
    };
    for name in targets() {
        seeds(name).iter().for_each(|data| replay(name, data));
        for (file, data) in files(&blosc_fuzz::folder().join("regressions").join(name)) {
            println!("regression {name}/{file}");
            replay(name, &data);
        }
        // `BLOSC_CORPUS` names one more folder of inputs, such as what runs have gathered in corpus/.
        if let Some(gathered) = std::env::var_os("BLOSC_CORPUS") {
            files(&Path::new(&gathered).join(name)).iter().for_each(|(_, data)| replay(name, data));
        }
    }
    println!("{inputs} inputs replayed over {} targets", targets().len());
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
