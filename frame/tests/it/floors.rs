//! The floors of the house: a folder imports from floors below its own, or from its own, never from above; and the
//! two wings, Blosc2 and classic, do not import from each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// From the ground up. A wing is a list of floors of its own, in the same order.
const GROUND: [&str; 12] = [
    "error", "limits", "io", "spare", "value", "msgpack", "dtype", "shape", "plain", "reversed", "rows",
    "packed",
];
const BLOSC2: [&str; 5] = ["cframe", "schunk", "tensor", "b2nd", "hdf5"];
const CLASSIC: [&str; 3] = ["bloscpack", "bcolz", "blaze"];
/// Over both wings.
const ROOF: [&str; 9] = ["npy", "verify", "kind", "store", "repair", "any", "table", "convert", "advise"];

/// Imports that still run upwards, each with the change that is to end it.
const KNOWN: [(&str, &str, &str); 0] = [];

fn allowed(from: &str, to: &str) -> bool {
    let floor = |wing: &[&str], name: &str| wing.iter().position(|n| *n == name);
    if from == to || floor(&GROUND, to).is_some() {
        // On the ground floor modules import from each other.
        return floor(&GROUND, to).is_some() || from == to;
    }
    match (floor(&BLOSC2, from), floor(&CLASSIC, from), floor(&ROOF, from)) {
        (Some(high), ..) => floor(&BLOSC2, to).is_some_and(|low| low < high),
        (_, Some(high), _) => floor(&CLASSIC, to).is_some_and(|low| low < high),
        (.., Some(high)) => floor(&ROOF, to).is_none_or(|low| low < high),
        _ => false,
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, out),
            false => out.push(path),
        }
    }
}

/// The module of the crate that a path beginning with `crate::` names. What the root names again counts as where it
/// is defined.
fn named(rest: &str) -> Vec<String> {
    let first =
        |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let of = |name: &str| match name {
        "SuperChunk" => "schunk".to_string(),
        "Error" | "FileError" | "IoError" | "IoKind" | "Structure" => "error".into(),
        "Limits" => "limits".into(),
        "Rows" => "rows".into(),
        "Store" => "store".into(),
        "open_any" | "open_any_mut" => "any".into(),
        other => other.into(),
    };
    match rest.strip_prefix('{') {
        None => vec![of(&first(rest))],
        Some(list) => {
            let list = list.split('}').next().unwrap_or("");
            list.split(',').map(|part| of(&first(part.trim()))).filter(|name| !name.is_empty()).collect()
        }
    }
}

#[test]
fn imports_run_downwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&root, &mut all);
    assert!(all.len() > 80, "the sources are read from {}", root.display());
    let mut upwards: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut edges = 0;
    for path in all.iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
        let inside = path.strip_prefix(&root).unwrap();
        let from = inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if from == "lib" {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        // Tests may use what they like to make their input.
        let code = text.split("#[cfg(test)]\n").next().unwrap_or("").split("#[cfg(all(test").next().unwrap();
        let is_test = inside.file_stem().is_some_and(|name| name == "tests" || name == "model");
        for line in code.lines().filter(|line| !is_test && !line.trim_start().starts_with("//")) {
            for (at, _) in line.match_indices("crate::") {
                for to in named(&line[at + "crate::".len()..]) {
                    edges += 1;
                    if !allowed(from, &to) && !KNOWN.iter().any(|k| (k.0, k.1) == (from, to.as_str())) {
                        upwards.insert((from.into(), to), format!("{}: {}", inside.display(), line.trim()));
                    }
                }
            }
        }
    }
    assert!(edges > 200, "{edges} imports found");
    assert!(upwards.is_empty(), "imports from a higher floor or another wing:\n{upwards:#?}");
}

/// The rule itself: what it must refuse.
#[test]
fn the_rule_refuses_what_it_should() {
    for (from, to) in [
        ("error", "b2nd"),
        ("cframe", "schunk"),
        ("schunk", "b2nd"),
        ("bcolz", "b2nd"),
        ("b2nd", "bloscpack"),
        ("bloscpack", "blaze"),
        ("any", "convert"),
        ("io", "cframe"),
        ("dtype", "npy"),
    ] {
        assert!(!allowed(from, to), "{from} -> {to}");
    }
    for (from, to) in [
        ("error", "dtype"),
        ("schunk", "cframe"),
        ("blaze", "bloscpack"),
        ("convert", "any"),
        ("repair", "schunk"),
        ("b2nd", "plain"),
    ] {
        assert!(allowed(from, to), "{from} -> {to}");
    }
    assert_eq!(named("{Error, IoKind, b2nd}"), ["error", "error", "b2nd"]);
}

/// `blosc-frame` without `classic` compiles no JSON, YAML or digest crate: what the features name is what is built.
#[test]
fn only_classic_asks_for_json_yaml_and_digests() {
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let features = manifest.split("[features]").nth(1).unwrap().split("\n[dependencies]").next().unwrap();
    let entry = |name: &str| {
        let start = features.find(&format!("\n{name} = [")).unwrap();
        features[start..].split(']').next().unwrap().to_string()
    };
    assert!(entry("default").contains("\"classic\""));
    for krate in ["simd-adler32", "crc32fast", "md-5", "sha1", "sha2", "miniz_oxide", "saphyr-parser"] {
        assert!(entry("classic").contains(&format!("\"dep:{krate}\"")), "{krate}");
        for other in ["std", "alloc"] {
            assert!(!entry(other).contains(&format!("\"dep:{krate}\"")), "{other} asks for {krate}");
        }
        let dependency = manifest.lines().find(|line| line.starts_with(&format!("{krate} = "))).unwrap();
        assert!(dependency.contains("optional = true"), "{krate}");
    }
}
