//! The writer's bytes, by hash: the same on every machine, at every level of the kernel table and with any
//! number of threads. zlib and zstd are pinned by the lock file, and so are theirs.
//!
//! `BLOSC_GOLDEN=write cargo test -p blosc-core --test it golden::` writes the hashes anew where a change of the
//! bytes is meant; the file then shows which codecs and levels it touched.

use crate::common::encoders;
use blosc_core::{Codec, Filter, Level, Params, Split};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

/// Steps of xorshift64. The hashes in the file are of these numbers, so no other generator may take their place.
struct Steps(u64);

impl Steps {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// Data made with integers alone.
fn inputs() -> Vec<Vec<u8>> {
    let mut rng = Steps(2026u64.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let text = b"so much depends upon a red wheel barrow glazed with rain water beside the white chickens ";
    let ramp = |items: u32| (0..items).flat_map(|i| (i * 3 + ((i * i) >> 7)).to_le_bytes()).collect();
    let noise: Vec<u8> = (0..9001).map(|_| rng.next() as u8).collect();
    let steps =
        (0..6000u64).flat_map(|i| ((1 << 40) + (i / 9) * 1000 + rng.next() % 7).to_le_bytes()).collect();
    let mixed = noise.iter().flat_map(|&b| [b & 3, 0, 7, b >> 7]).collect();
    vec![
        Vec::new(),
        vec![9],
        (0..31).collect(),
        vec![0; 5000],
        (0..20_003).map(|i| text[(i * 5 / 4) % text.len()]).collect(),
        ramp(10_000),
        ramp(33_333),
        noise,
        steps,
        mixed,
    ]
}

/// The parameters behind one line of the file.
fn variants(codec: Codec, level: u8) -> Vec<(&'static str, Params)> {
    let p = |typesize| Params::new(typesize).codec(codec).level(level);
    let mut all = vec![
        ("none", p(1).no_filter()),
        ("shuffle 4", p(4)),
        ("shuffle 8 unsplit", p(8).split(Split::Never)),
        ("bitshuffle 4", p(4).bitshuffle()),
        ("delta shuffle 8", p(8).slot(4, Filter::Delta, 0)),
        ("shuffle bytedelta 3", p(3).slot(4, Filter::Shuffle, 0).slot(5, Filter::ByteDelta, 3)),
        ("Blosc1 shuffle 2", p(2).blosc1(true)),
        ("wide", p(300).blocksize(Some(6000))),
    ];
    if matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd) {
        all.push(("dictionary", p(4).dictionary(true).blocksize(Some(4000))));
    }
    all
}

/// The zlib encoder that builds without `std` have: one hash over all levels and inputs.
#[test]
fn zlib_without_std_writes_the_same_bytes_everywhere() {
    use blosc_core::codec::zlib::deflate;
    let mut hash = Sha256::new();
    for data in inputs() {
        for level in 1..=9 {
            let mut work = vec![level; deflate::work_len(level, data.len())];
            let mut dst = vec![0; data.len() + 100];
            let len = deflate::encode(&data, &mut dst, level, &mut work).expect("there is room");
            hash.update(&dst[..len]);
        }
    }
    let hash: String = hash.finalize().iter().take(12).map(|b| format!("{b:02x}")).collect();
    assert_eq!(hash, "49dc2e49a33154defb03b19d");
}

#[test]
fn the_bytes_are_the_same_everywhere() {
    let inputs = inputs();
    let codecs = encoders();
    let mut lines = String::new();
    // Emulated, every other level is enough.
    let emulated = blosc_testkit::emulated();
    let levels: Vec<u8> = (1..=9).step_by(if emulated { 2 } else { 1 }).collect();
    for (codec, &level) in codecs.iter().flat_map(|&codec| levels.iter().map(move |level| (codec, level))) {
        for (name, params) in variants(codec, level) {
            let hash_at = |level: Level, threads: usize| {
                let mut pool = crate::common::pool(threads).level(level);
                let mut hash = Sha256::new();
                for data in &inputs {
                    hash.update(pool.compress(&params.fit(data.len()), data).expect("legal parameters"));
                }
                hash.finalize().iter().take(12).map(|b| format!("{b:02x}")).collect::<String>()
            };
            // The kernels do not know the codec, so every level of them with the fast codecs is enough; and emulated,
            // the best one, of which the hashes in the file tell whether it writes what others do.
            let hash = hash_at(if emulated { Level::best() } else { Level::SCALAR }, 1);
            if !emulated {
                let all = matches!(codec, Codec::BloscLz | Codec::Lz4);
                for other in Level::available().filter(|_| all) {
                    assert_eq!(hash_at(other, 1), hash, "{codec} {level} {name} at {other:?}");
                }
                assert_eq!(hash_at(Level::best(), 3), hash, "{codec} {level} {name}, 3 threads");
            }
            writeln!(lines, "{hash} {codec} {level} {name}").expect("a string takes anything");
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden.txt");
    if std::env::var_os("BLOSC_GOLDEN").is_some_and(|v| v == "write") {
        std::fs::write(&file, &lines).expect("the hashes are writable");
        return;
    }
    let golden = std::fs::read_to_string(&file).expect("golden.txt");
    // A build without the C library checks the codecs it has, and the levels it wrote.
    let written = |line: &str, c: &Codec| levels.iter().any(|l| line.contains(&format!(" {c} {l} ")));
    let known: Vec<&str> = golden.lines().filter(|line| codecs.iter().any(|c| written(line, c))).collect();
    let changed: Vec<&str> = lines.lines().filter(|line| !known.contains(line)).collect();
    assert!(
        changed.is_empty() && known.len() == lines.lines().count(),
        "other bytes than before; if that is meant, BLOSC_GOLDEN=write writes the hashes anew:\n{}",
        changed.join("\n")
    );
    eprintln!("{} hashes over {} inputs each", known.len(), inputs.len());
}
