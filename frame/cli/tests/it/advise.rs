//! `advise` prints a front and a command that runs.

use crate::common::{Folder, json};

/// Smooth floats: they shrink by a factor with a filter, and little without one.
fn field() -> Vec<u8> {
    (0..60_000u32)
        .flat_map(|n| (280.0 + (n as f32 / 500.0).sin() + (n % 7) as f32 / 512.0).to_le_bytes())
        .collect()
}

fn advised(folder: &Folder, words: &[&str]) -> serde_json::Value {
    json(&folder.run(&[&["advise", "--json", "--time", "0.5"], words].concat()))
}

/// Runs the recommended command line and returns its output file and its ratio.
fn follow(folder: &Folder, advice: &serde_json::Value) -> String {
    let line = advice["recommended"].as_str().unwrap();
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    folder.run(&words);
    let at = words.iter().position(|w| *w == "-o").unwrap();
    words[at + 1].to_string()
}

#[test]
fn the_recommended_command_runs_for_every_kind_of_input() {
    let folder = Folder::new("advise");
    folder.write("raw", &field());
    folder.run(&["compress", "raw", "-o", "a.b2nd", "--dtype", "<f4", "--shape", "60000"]);
    folder.run(&["convert", "a.b2nd", "-o", "a.npy"]);
    folder.run(&["compress", "raw", "-o", "f.b2frame", "--typesize", "4", "--codec", "lz4"]);
    folder.run(&["compress", "raw", "-o", "p.blp", "--typesize", "4"]);
    for (name, options) in [
        ("raw", &["--dtype", "f4"][..]),
        ("a.npy", &[]),
        ("a.b2nd", &[]),
        ("f.b2frame", &["--disk", "0.01"]),
        ("p.blp", &[]),
    ] {
        let advice = advised(&folder, &[&[name], options].concat());
        assert_eq!(
            (advice["typesize"].as_u64(), advice["bytes"].as_u64()),
            (Some(4), Some(240_000)),
            "{name}"
        );
        let front = advice["front"].as_array().unwrap();
        // Fastest first, each smaller than the one before.
        let ratios: Vec<f64> = front.iter().map(|t| t["ratio"].as_f64().unwrap()).collect();
        assert!(
            !ratios.is_empty() && ratios.is_sorted() && *ratios.last().unwrap() > 1.5,
            "{name}: {ratios:?}"
        );
        let out = follow(&folder, &advice);
        let plain = folder.run(&["decompress", &out, "-o", "-"]);
        assert!(plain.ends_with(&field()), "{name}");
    }
}

#[test]
fn what_is_printed_fits_a_terminal_and_names_odd_files() {
    let folder = Folder::new("advise-odd");
    folder.write("it's odd", &field());
    let text =
        String::from_utf8(folder.run(&["advise", "it's odd", "--typesize", "4", "--time", "0.3"])).unwrap();
    assert!(text.contains(r"blosc compress 'it'\''s odd' -o 'it'\''s odd.b2frame' --codec "), "{text}");
    assert!(text.lines().filter(|l| !l.starts_with("blosc ")).all(|l| l.chars().count() <= 80), "{text}");
    for words in [
        &["advise", "it's odd", "--dtype", "q9"][..],
        &["advise", "it's odd", "--time", "0"],
        &["advise", "it's odd", "--typesize", "0"],
    ] {
        assert_eq!(folder.fail(words).0, 2, "{words:?}");
    }
    folder.write("empty", &[]);
    assert_ne!(folder.fail(&["advise", "empty"]).0, 0);
    assert_ne!(folder.fail(&["advise", "missing"]).0, 0);
}

/// No advice is given that `convert` would refuse: a frame whose items were never fetched, and a store.
#[test]
fn what_has_no_items_gets_no_advice() {
    let folder = Folder::new("advise-none");
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/wild");
    for (name, says) in [
        ("proxy.b2nd", "fetched"),
        ("store.b2z", "several arrays"),
        ("store.b2d", "several arrays"),
        ("embed.b2e", "several arrays"),
    ] {
        let path = fixtures.join(name);
        let (_, text) = folder.fail(&["advise", path.to_str().unwrap(), "--time", "0.1"]);
        assert!(text.contains(says), "{name}: {text}");
    }
}
