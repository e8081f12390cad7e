//! Reads the source: no function enables an instruction set that the level which dispatches to it does not prove.

use blosc_core::Isa;
use std::collections::BTreeSet;
use std::path::Path;

/// Where instruction sets are enabled, and the lowest level whose dispatch leads there. `bit_instructions::run` leads to what only has BMI1,
/// BMI2, LZCNT and SSSE3, from `Isa::Avx2` on.
const DISPATCHED: &[(&str, &str, Isa)] = &[
    ("arch/aarch64/neon.rs", "neon", Isa::Neon),
    ("arch/elementwise/token.rs", "sse2", Isa::Sse2),
    ("arch/elementwise/token.rs", "avx2", Isa::Avx2),
    ("arch/entropy/adler.rs", "avx2", Isa::Avx2),
    ("arch/entropy/bit_instructions.rs", "bmi1,bmi2,lzcnt,ssse3", Isa::Avx2),
    ("arch/lz/loops/blosclz.rs", "bmi1,bmi2,lzcnt,ssse3", Isa::Avx2),
    ("arch/lz/loops/lz4.rs", "bmi1,bmi2,lzcnt,ssse3", Isa::Avx2),
    ("arch/lz/loops/step.rs", "bmi1,bmi2,lzcnt,ssse3", Isa::Avx2),
    ("arch/lz/loops/avx512.rs", "avx512f", Isa::Avx512),
    ("arch/lz/loops/avx512.rs", "avx512f,avx512bw,avx512vl,avx512vbmi,bmi1,bmi2,lzcnt", Isa::Avx512),
    ("arch/wasm32/simd128.rs", "simd128", Isa::Simd128),
    ("arch/x86/avx2.rs", "avx2", Isa::Avx2),
    ("arch/x86/avx2.rs", "avx2,gfni", Isa::Avx2Gfni),
    ("arch/x86/avx512/bits.rs", "avx512f,avx512bw,avx512vl,avx512vbmi,gfni", Isa::Avx512),
    ("arch/x86/avx512/bytes.rs", "avx512f,avx512bw,avx512vl,avx512vbmi", Isa::Avx512),
    ("arch/x86/avx512/halves.rs", "avx512f,avx512bw,avx512vl,avx512vbmi", Isa::Avx512),
    ("arch/x86/avx512/staged.rs", "avx512f,avx512bw,avx512vl,avx512vbmi", Isa::Avx512),
    ("arch/x86/avx512bw.rs", "avx512f,avx512bw,avx512vl", Isa::Avx512Bw),
    ("arch/x86/sse2.rs", "sse2", Isa::Sse2),
    ("arch/x86/sse2.rs", "ssse3", Isa::Ssse3),
];

/// Detection itself: it reads XCR0 after CPUID has said that XGETBV is there.
const DETECTION: (&str, &str) = ("arch/level/detect.rs", "xsave");

/// Every `target_feature(enable = "..")`, also by the macro `rows!`, and every token of `pulp::simd_type!`, with its file.
fn enabled() -> BTreeSet<(String, String)> {
    fn visit(folder: &Path, root: &Path, found: &mut BTreeSet<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, root, found);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let line = line.trim();
                let is_token = line.starts_with("pub ") && line.contains(": \"");
                let is_row = line.starts_with("vector::rows!(");
                // The macro's own definition enables what its caller names.
                let is_attribute = line.contains("target_feature(enable") && !line.contains("$features");
                if !line.starts_with("//") && (is_token || is_row || is_attribute) {
                    let set = line.rsplit('"').nth(1).unwrap_or_else(|| panic!("{name}: {line}"));
                    found.insert((name.clone(), set.to_string()));
                }
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    visit(&root, &root, &mut found);
    found
}

#[test]
fn levels_prove_what_their_functions_enable() {
    let own = |(file, set): (&str, &str)| (file.to_string(), set.to_string());
    let listed: BTreeSet<_> =
        DISPATCHED.iter().map(|&(file, set, _)| own((file, set))).chain([own(DETECTION)]).collect();
    let enabled = enabled();
    assert_eq!(
        enabled.difference(&listed).collect::<Vec<_>>(),
        Vec::<&(String, String)>::new(),
        "not in the list: which level dispatches to it?"
    );
    assert_eq!(
        listed.difference(&enabled).collect::<Vec<_>>(),
        Vec::<&(String, String)>::new(),
        "no longer there"
    );
    for (file, set, isa) in DISPATCHED {
        for feature in set.split(',') {
            assert!(
                isa.features().contains(&feature),
                "{file} enables {feature}, which {isa} does not prove"
            );
        }
    }
}

#[test]
fn each_level_proves_what_the_ones_below_prove() {
    let x86 = || Isa::ALL.into_iter().filter(|&isa| isa <= Isa::Avx512);
    for (lower, higher) in x86().flat_map(|lower| x86().map(move |higher| (lower, higher))) {
        // Of these two a CPU may have either without the other.
        if lower < higher && (lower, higher) != (Isa::Avx512Bw, Isa::Avx2Gfni) {
            let proved = lower.features().iter().all(|feature| higher.features().contains(feature));
            assert!(proved, "{lower}, {higher}");
        }
    }
}
