//! Reads the source: no function enables an instruction set that the level which dispatches to it does not prove.

use blosc_core::{Isa, Level};
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

/// Written by hand, not by the features: what a machine of each level runs.
#[test]
fn levels_imply_the_ones_below() {
    let levels = [
        (Isa::Sse2, &[][..]),
        (Isa::Ssse3, &[Isa::Sse2]),
        (Isa::Avx2, &[Isa::Sse2, Isa::Ssse3]),
        (Isa::Avx512Bw, &[Isa::Sse2, Isa::Ssse3, Isa::Avx2]),
        (Isa::Avx2Gfni, &[Isa::Sse2, Isa::Ssse3, Isa::Avx2]),
        (Isa::Avx512, &[Isa::Sse2, Isa::Ssse3, Isa::Avx2, Isa::Avx512Bw, Isa::Avx2Gfni]),
        (Isa::Neon, &[]),
        (Isa::Simd128, &[]),
    ];
    let listed = [Isa::Scalar].into_iter().chain(levels.iter().map(|row| row.0));
    assert!(listed.eq(Isa::ALL), "every level but the first has a row here, in the order of `Isa::ALL`");
    for (level, below) in levels {
        for other in Isa::ALL {
            let implied = other == level || other == Isa::Scalar || below.contains(&other);
            assert_eq!(level.implies(other), implied, "{level}, {other}");
        }
    }
}

/// The table of levels in the project's README has a column for each, by its title.
#[test]
fn the_readme_has_a_column_for_each_level() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    // The published package is without it.
    let Ok(text) = std::fs::read_to_string(readme) else {
        println!("skipped: no README.md of the project");
        return;
    };
    let titles: Vec<&str> = Isa::ALL.iter().map(|isa| isa.title()).collect();
    let row = format!("| | {} |", titles.join(" | "));
    assert!(text.contains(&row), "README.md has no row {row}");
}

/// Every name and other name is read back, and none is taken twice.
#[test]
fn names_and_other_names_are_read_back() {
    let names = |isa: Isa| [isa.name()].into_iter().chain(isa.aliases().iter().copied());
    for isa in Isa::ALL {
        assert!(names(isa).all(|name| Isa::from_name(name) == Some(isa)), "{isa}");
    }
    assert_eq!(Isa::from_name("gfni"), Some(Isa::Avx2Gfni));
}

/// A machine has levels from the plain one to its best, and gives no other.
#[test]
fn levels_are_those_that_the_machine_has() {
    let available: Vec<Level> = Level::available().collect();
    assert_eq!((available.first(), available.last()), (Some(&Level::SCALAR), Some(&Level::best())));
    // Every CPU of this architecture has SSE2.
    assert!(cfg!(not(target_arch = "x86_64")) || Level::best() != Level::SCALAR);
    for isa in Isa::ALL {
        let level = available.iter().find(|level| level.isa() == isa);
        assert_eq!(Level::new(isa).as_ref(), level, "{isa}");
    }
}
