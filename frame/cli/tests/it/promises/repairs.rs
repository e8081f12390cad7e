//! What `repair` writes opens, verifies and decodes, whatever was damaged; what is lost is told, with status 1. Where
//! nothing can be kept, nothing is written.

use super::Table;
use super::cells::{self, Shape, cells};
use crate::common::{Folder, json};

/// Cuts and flips of the container's largest file.
fn faults(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut faults = Vec::new();
    for k in 1..24 {
        let at = bytes.len() * k / 24;
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 0x10;
        faults.push((format!("byte {at} flipped"), flipped));
        faults.push((format!("cut at {at}"), bytes[..at].to_vec()));
    }
    faults
}

#[test]
fn what_a_repair_writes_opens() {
    let folder = Folder::new("promises-repair");
    cells::prepare(&folder);
    let mut table = Table::new("what repair writes opens");
    for cell in cells().filter(|cell| cell.verb.name == "repair" && cell.container.shape != Shape::Table) {
        cells::make(&folder, cell.container);
        let largest =
            cells::files(&folder.path(cell.container.path)).into_iter().max_by_key(|(_, b)| b.len());
        let (path, bytes) = largest.unwrap();
        let mut outcome = Ok(());
        for (what, damaged) in faults(&bytes) {
            std::fs::write(&path, damaged).unwrap();
            let (status, _, message) = folder.status(&["repair", cell.container.path, "-o", "out"], b"");
            let written = folder.path("out").exists();
            let wrong = match (status, written) {
                (0 | 1, true) => {
                    // A store of several arrays has no bytes of its own.
                    let (_, info, _) = folder.status(&["info", "out", "--json"], b"");
                    let kind = serde_json::from_slice::<serde_json::Value>(&info).unwrap_or_default();
                    let store = kind["kind"].as_str().is_some_and(|kind| kind.ends_with("store"));
                    let leaves = match store {
                        true => {
                            json(&folder.run(&["ls", "out", "--json"]))["entries"].as_array().unwrap().clone()
                        }
                        false => vec![serde_json::json!({"name": ""})],
                    };
                    let leaves = leaves.iter().map(|leaf| leaf["name"].as_str().unwrap());
                    let leaves: Vec<_> =
                        leaves.map(|name| if store { format!("out:{name}") } else { "out".into() }).collect();
                    let mut reads = vec![vec!["info", "out"], vec!["verify", "out"]];
                    reads.extend(leaves.iter().map(|leaf| vec!["decompress", leaf, "-o", "-"]));
                    reads.iter().find_map(|words| match folder.status(words, b"") {
                        (0, ..) => None,
                        (status, _, message) => {
                            Some(format!("{words:?}: status {status}: {}", message.trim()))
                        }
                    })
                }
                (1, false) => None,
                _ => Some(format!("status {status}, written: {written}: {}", message.trim())),
            };
            if let (Some(wrong), true) = (wrong, outcome.is_ok()) {
                outcome = Err(format!("{what}: {wrong}"));
            }
            cells::remove(&folder.path("out"));
        }
        table.cell(&cell, outcome);
    }
    table.end();
}

#[test]
fn what_is_lost_is_told() {
    let folder = Folder::new("promises-lost");
    cells::prepare(&folder);
    folder.run(&["compress", "plain", "-o", "f.b2frame", "--typesize", "4", "--chunksize", "1000"]);
    let frame = folder.read("f.b2frame");
    let repaired = |words: &[&str]| {
        let words = [&["repair", "f.b2frame", "-o", "out", "--force", "--json"], words].concat();
        let (status, out, message) = folder.status(&words, b"");
        (status, if out.is_empty() { serde_json::Value::Null } else { json(&out) }, message)
    };
    let (status, report, message) = repaired(&[]);
    assert_eq!((status, report["complete"].as_bool(), message.as_str()), (0, Some(true), ""));
    assert_eq!((&report["kept"], &report["lost_chunks"]), (&8.into(), &serde_json::json!([])));
    // One chunk is damaged: 250 items.
    let mut damaged = frame.clone();
    damaged[140] ^= 0xff;
    folder.write("f.b2frame", &damaged);
    let (status, report, message) = repaired(&[]);
    assert_eq!((status, report["complete"].as_bool(), &report["kept"]), (1, Some(false), &7.into()));
    assert_eq!(report["lost_chunks"], serde_json::json!([[0, 1]]));
    assert_eq!(report["lost_rows"], serde_json::json!([[0, 250]]));
    assert!(message.contains("out") && message.contains("0 to 249"), "{message}");
    assert_eq!(folder.run(&["decompress", "out", "-o", "-"])[..1000], [0; 1000]);
    repaired(&["--fill", "0x01020304"]);
    assert_eq!(folder.run(&["decompress", "out", "-o", "-"])[..1000], [1, 2, 3, 4].repeat(250));
    let (status, _, message) = repaired(&["--fill", "0x0102"]);
    assert!(status == 2 && message.contains("--fill"), "{status} {message}");
    // Nothing is left.
    cells::remove(&folder.path("out"));
    folder.write("f.b2frame", &frame[..100]);
    let (status, report, _) = repaired(&[]);
    assert_eq!((status, report.is_null(), folder.path("out").exists()), (1, true, false));
}

/// A table of checksums that is damaged refuses, one that is not known is told.
#[test]
fn checksums_protect_or_are_missed_aloud() {
    let folder = Folder::new("promises-checksums");
    cells::prepare(&folder);
    folder.run(&["compress", "plain", "-o", "f.b2frame", "--typesize", "4"]);
    let frame = folder.read("f.b2frame");
    let at = frame.windows(4).position(|window| window == b"XXH3").unwrap();
    let with = |place: usize, value: u8| {
        let mut bytes = frame.clone();
        bytes[place] = value;
        folder.write("f.b2frame", &bytes);
    };
    with(at + 4, 9);
    let (status, out, message) = folder.status(&["decompress", "f.b2frame", "-o", "-"], b"");
    assert!(status == 0 && out == folder.read("plain") && message.contains("checksum"), "{status} {message}");
    assert_eq!(folder.status(&["verify", "f.b2frame"], b"").0, 3);
    with(at, 0);
    let (status, _, message) = folder.status(&["decompress", "f.b2frame", "-o", "-"], b"");
    assert!(status == 1 && message.contains("--no-verify"), "{status} {message}");
    assert_eq!(folder.status(&["verify", "f.b2frame"], b"").0, 1);
    assert_eq!(folder.run(&["decompress", "f.b2frame", "-o", "-", "--no-verify"]), folder.read("plain"));
}
