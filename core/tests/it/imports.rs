//! Imports run from higher floors to lower ones, no files import each other in a circle, rooms keep their budgets, and one
//! file dispatches.

use blosc_testkit::imports::{Module, circles, imports, name, sources};
use std::path::{Path, PathBuf};

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// A room of the project: a crate whose files stand on floors.
struct Room {
    /// Its sources, from the root of the repository.
    src: &'static str,
    /// The top modules of each floor, lowest first. A file imports from its own floor and those below. None where a
    /// test of the crate itself holds that.
    floors: &'static [&'static [&'static str]],
    /// Files that still stand in circles, or between two: fewer may, more may not.
    circles: usize,
    /// Most lines, tests and comments in them included, with room of 3 %. A room that is larger has its size of today
    /// in `above`, up to which alone it may grow.
    budget: usize,
    above: Option<usize>,
}

const ROOMS: [Room; 6] = [
    Room {
        src: "core/src",
        floors: &[&["arch"], &["filter", "codec"], &["error", "names"], &["chunk"], &["pool"]],
        circles: 0,
        budget: 22_500,
        above: Some(25_820),
    },
    Room {
        src: "frame/src",
        floors: &[
            &["value", "spare"],
            &["dtype"],
            &["error"],
            &["limits", "msgpack"],
            &["io"],
            &["shape"],
            &["parallel", "plain", "reversed", "rows", "packed"],
            &["cframe"],
            &["schunk", "npy"],
            &["b2nd", "tensor"],
            &["hdf5"],
            &["bloscpack"],
            &["bcolz"],
            &["blaze"],
            &["kind"],
            &["store"],
            &["table"],
            &["any"],
            &["verify", "repair", "convert", "advise"],
        ],
        circles: 0,
        budget: 32_500,
        above: Some(41_180),
    },
    Room {
        src: "frame/cli/src",
        floors: &[
            &["failure", "json", "limits", "printable", "progress", "paths", "cut"],
            &["args"],
            &["access", "signals", "replaced", "output", "streams", "trailing"],
            &["readers"],
            &["opened", "open", "leaves"],
            &["items", "writers"],
            &["commands", "blpk"],
        ],
        circles: 0,
        budget: 8_000,
        above: Some(12_440),
    },
    Room {
        src: "frame/capi/src",
        floors: &[
            &["error", "memory", "runner", "shapes"],
            &["abi", "lazy", "codec", "context", "chunk", "blosc1", "io", "store", "vl", "schunk", "b2nd"],
            &["library", "calls", "differential"],
        ],
        circles: 0,
        budget: 7_500,
        above: Some(9_170),
    },
    Room {
        src: "bench-harness/src",
        floors: &[
            &["data", "measure", "result", "machine", "report"],
            &["engine"],
            &["suite"],
            &["instructions"],
            &["cli"],
        ],
        circles: 0,
        budget: 10_000,
        above: Some(10_780),
    },
    Room {
        src: "fuzz/src",
        floors: &[&["resources", "primed"], &["chunks", "frames"]],
        circles: 0,
        budget: 3_600,
        above: None,
    },
];

fn room(room: &Room) -> PathBuf {
    src().join("../..").join(room.src)
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for each in &ROOMS {
        let imports = imports(&room(each));
        let edges = imports.values().map(|own| own.len()).sum::<usize>();
        assert!(edges > 20, "the parser finds imports in {}: {edges}", each.src);
        let found = circles(&imports);
        println!("{}: {} files in circles", each.src, found.len());
        assert!(
            found.len() <= each.circles,
            "{}: {} files in circles, or between two, and {} are listed:\n{}",
            each.src,
            found.len(),
            each.circles,
            found.join("\n")
        );
    }
}

#[test]
fn imports_run_downwards() {
    for each in &ROOMS {
        let floor = |module: &Module| {
            let first = module.first()?;
            // What no floor names stands over all of them.
            let named = each.floors.iter().position(|floor| floor.contains(&first.as_str()));
            Some(named.unwrap_or(each.floors.len()))
        };
        let mut upwards = Vec::new();
        for (module, imports) in imports(&room(each)).iter().filter(|_| !each.floors.is_empty()) {
            // All may import the error types.
            let error = |import: &&Module| name(import) != "codec::error" && name(import) != "error";
            for import in imports.iter().filter(error) {
                let (from, to) = (floor(module), floor(import));
                if from.is_some() && to > from {
                    upwards.push(format!("{}: {} imports {}", each.src, name(module), name(import)));
                }
            }
        }
        assert!(upwards.is_empty(), "imports from above:\n{}", upwards.join("\n"));
    }
}

/// Frames and arrays of Blosc2 on one side, the classic containers on the other: neither knows the other.
#[test]
fn the_wings_of_frame_do_not_import_from_each_other() {
    const WINGS: [&[&str]; 2] =
        [&["cframe", "schunk", "tensor", "b2nd", "hdf5"], &["bloscpack", "bcolz", "blaze"]];
    let wing = |module: &Module| {
        let first = module.first()?;
        WINGS.iter().position(|wing| wing.contains(&first.as_str()))
    };
    let (mut inside, mut across) = (0, Vec::new());
    for (module, imports) in &imports(&src().join("../../frame/src")) {
        for import in imports {
            match (wing(module), wing(import)) {
                (Some(from), Some(to)) if from != to => {
                    across.push(format!("{} imports {}", name(module), name(import)));
                }
                (Some(_), Some(_)) => inside += 1,
                _ => {}
            }
        }
    }
    assert!(inside > 20, "{inside} imports inside a wing");
    assert!(across.is_empty(), "imports from the other wing:\n{}", across.join("\n"));
}

/// Budgets are met by merging and deleting, never by longer lines or fewer tests.
#[test]
fn rooms_keep_their_budgets() {
    fn lines(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let of = |path: PathBuf| match path.is_dir() {
            true => lines(&path),
            false if path.extension().is_some_and(|e| e == "rs") => {
                std::fs::read_to_string(&path).unwrap().lines().count()
            }
            false => 0,
        };
        entries.map(of).sum()
    }
    let mut over = Vec::new();
    for each in &ROOMS {
        let (lines, within) = (lines(&room(each)), each.budget + each.budget * 3 / 100);
        println!("{:18} {lines:6} lines, budget {:6}", each.src, each.budget);
        assert!(each.above.is_none_or(|most| most > within), "{}: within its budget, and listed", each.src);
        if lines > each.above.unwrap_or(within) {
            over.push(format!("{}: {lines} lines, at most {}", each.src, each.above.unwrap_or(within)));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// One place dispatches: no other file than the kernel table asks a level which it is, and none but detection asks the CPU.
#[test]
fn one_file_dispatches() {
    for (module, text) in sources(&src()) {
        let file = name(&module);
        let asks = text.contains(".isa()") && file != "arch::kernels";
        let detects = text.contains("is_x86_feature_detected!") && !file.starts_with("arch::level");
        assert!(!asks && !detects, "{file} chooses instructions by itself: arch::kernels should");
    }
}
