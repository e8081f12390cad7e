//! Constants of `core/src/codec` that were fitted name their row of `docs/optimization-notes.md`, or have none, and these become fewer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// How many fitted constants name no row. Lower it with them; it never rises.
const WITHOUT: usize = 1;

const NOTES: &str = "docs/optimization-notes.md#";

/// Files whose constants are those of a format.
const FORMATS: [&str; 13] = [
    "blosclz/format.rs",
    "id.rs",
    "lz4/format.rs",
    "ndlz.rs",
    "zlib/deflate/block.rs",
    "zlib/deflate/code.rs",
    "zlib/inflate.rs",
    "zlib/mod.rs",
    "zstd/block.rs",
    "zstd/dictionary.rs",
    "zstd/frame.rs",
    "zstd/fse.rs",
    "zstd/xxh64.rs",
];
/// Constants in other files that a format, the width of a word or a unit gives.
const GIVEN: [(&str, &[&str]); 11] = [
    ("blosclz/encode.rs", &["NEAR"]),
    ("blosclz/levels.rs", &["KIB"]),
    ("lz4hc/parse.rs", &["SHORTEST", "CHEAP", "DEARER"]),
    ("search/chains.rs", &["WINDOW"]),
    ("search/mod.rs", &["RUN_END"]),
    ("snappy/encode.rs", &["REACH", "LONGEST", "SHORTEST"]),
    ("zlib/deflate/quick.rs", &["COUNT"]),
    (
        "zlib/deflate/tokens.rs",
        &["REACH", "LONGEST", "LITLENS", "DISTANCES", "END", "SHORTEST", "MOST_BYTES"],
    ),
    ("zstd/huffman.rs", &["ROUND"]),
    ("zstd/tables.rs", &["STATES"]),
    ("zstd_c.rs", &["MIN_SAMPLES"]),
];

/// The sources in `folder` by their paths, which begin with `path`.
fn sources(folder: &Path, path: &str, found: &mut BTreeMap<String, String>) {
    for entry in read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{path}{}", entry.file_name().to_str().unwrap());
        match entry.path().is_dir() {
            true => sources(&entry.path(), &format!("{name}/"), found),
            false => drop(found.insert(name, read_to_string(entry.path()).unwrap())),
        }
    }
}

/// Name and comment of each constant whose value is a number above 2 that does not follow from other constants. One without a
/// comment has that of the constant above it.
fn constants(source: &str) -> Vec<(&str, String)> {
    let (mut found, mut comment, mut after_constant) = (Vec::new(), String::new(), false);
    for line in source.lines().map(str::trim).take_while(|line| !line.starts_with("mod tests")) {
        if let Some(text) = line.strip_prefix("///") {
            if after_constant {
                comment.clear();
            }
            comment += text;
            after_constant = false;
            continue;
        }
        let shown = line
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub(super) ")
            .trim_start_matches("pub(in crate::codec) ");
        let constant = shown.strip_prefix("const ").and_then(|rest| rest.split_once(": "));
        match constant {
            Some((name, value)) => {
                let value = value.split_once(" = ").map_or("", |(_, value)| value);
                let mut words = value.split(|c: char| !c.is_ascii_alphanumeric());
                let follows = value.contains(|c: char| c.is_ascii_uppercase() || c == '(');
                if !follows && words.any(|word| word.parse().is_ok_and(|number: u64| number > 2)) {
                    found.push((name, comment.clone()));
                }
                after_constant = true;
            }
            None if line.starts_with("#[") => {}
            None => {
                comment.clear();
                after_constant = false;
            }
        }
    }
    found
}

#[test]
fn fitted_constants_name_their_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let notes = read_to_string(root.join("../docs/optimization-notes.md")).unwrap();
    let (mut files, mut without, mut cited) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
    sources(&root.join("src/codec"), "", &mut files);
    for (file, source) in &files {
        for part in source.split(NOTES).skip(1).chain(source.split("| #").skip(1)) {
            let row: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            assert!(
                notes.contains(&format!("<a id=\"{row}\"></a>")),
                "{file}: {NOTES}{row} is not in the notes"
            );
            cited.insert(row);
        }
        if FORMATS.contains(&file.as_str()) || file.ends_with("tests.rs") {
            continue;
        }
        let given = GIVEN.iter().find(|(of, _)| *of == file).map_or(&[][..], |(_, names)| names);
        let fitted = constants(source).into_iter().filter(|(name, _)| !given.contains(name));
        without.extend(
            fitted.filter(|(_, text)| !text.contains(NOTES)).map(|(name, _)| format!("{file}: {name}")),
        );
    }
    println!("{} fitted constants without a row:\n{}", without.len(), without.join("\n"));
    let anchors = notes.matches("<a id=").count();
    assert_eq!(anchors, cited.len(), "each anchor of the notes is named by a constant, of {cited:?}");
    assert_eq!(
        without.len(),
        WITHOUT,
        "a fitted constant names its row; WITHOUT follows when there are fewer"
    );
}
