//! What decodes all of a container, or changes it, is refused where the container decodes to more than `--max-output`;
//! nothing has been touched then.

use super::Table;
use super::cells::{self, Origin, Shape, cells};
use crate::common::Folder;

/// Verbs that decode nothing, or only as much as they hand out.
const FREE: [&str; 7] = ["advise", "info", "ls", "meta list", "meta get", "meta set", "meta rm"];

#[test]
fn limits_bind_every_verb() {
    let folder = Folder::new("promises-limits");
    cells::prepare(&folder);
    let mut table = Table::new("--max-output");
    for cell in cells().filter(|cell| cell.refused().is_none() && !FREE.contains(&cell.verb.name)) {
        cells::make(&folder, cell.container);
        let path = folder.path(cell.container.path);
        let before = cells::files(&path);
        // The containers of 8,000 bytes have chunks of 1,000 or 2,000.
        let limit = match (&cell.container.origin, cell.verb.name) {
            (_, "slice" | "head") | (Origin::Fixture(_), _) => "1",
            _ => "2500",
        };
        let mut words = cell.words();
        words.extend(["--max-output".into(), limit.into()]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (status, _, message) = folder.status(&words, b"");
        let wanted = if cell.verb.name == "verify" { 3 } else { 1 };
        let outcome = match () {
            () if status != wanted => Err(format!("status {status}: {}", message.trim())),
            () if !message.contains("--max-output") => Err(format!("the message is: {}", message.trim())),
            () if cells::files(&path) != before => Err("it was changed".into()),
            () if folder.path("out").exists() || folder.path("out.b2nd").exists() => {
                Err("an output is left".into())
            }
            () => Ok(()),
        };
        table.cell(&cell, outcome);
        ["out", "out.b2nd", "out.csv"].iter().for_each(|name| cells::remove(&folder.path(name)));
    }
    table.end();
}

/// The limit of a store is that of all that is in it.
#[test]
fn a_store_has_one_limit() {
    let folder = Folder::new("promises-store-limit");
    cells::prepare(&folder);
    std::fs::create_dir(folder.path("arrays")).unwrap();
    for name in ["arrays/a.b2nd", "arrays/b.b2nd"] {
        folder.run(&["compress", "items.npy", "-o", name]);
    }
    folder.run(&["convert", "arrays", "-o", "s.b2z"]);
    for (store, all) in [("arrays", "16000"), ("s.b2z", "17000")] {
        for (words, refused) in
            [(&["decompress", store, "-o", "x.npz", "--force"][..], 1), (&["verify", store], 3)]
        {
            let limited = |limit| folder.status(&[words, &["--max-output", limit]].concat(), b"");
            let (status, _, message) = limited("10000");
            assert!(status == refused && message.contains("--max-output"), "{words:?}: {status} {message}");
            assert!(!folder.path("x.npz").exists(), "{words:?}");
            let (status, _, message) = limited(all);
            assert_eq!(status, 0, "{words:?}: {message}");
            cells::remove(&folder.path("x.npz"));
        }
    }
}

/// A small file that says it decodes to gigabytes costs no more than the default allows.
#[test]
fn the_default_limit_binds_every_verb() {
    let folder = Folder::new("promises-default");
    cells::prepare(&folder);
    let bomb = bomb(40);
    folder.write("row1", &[7]);
    let mut table = Table::new("default of --max-output");
    for cell in cells().filter(|cell| cell.container.shape == Shape::Frame && cell.container.name == "frame")
    {
        if cell.refused().is_some() || FREE.contains(&cell.verb.name) || cell.verb.name == "slice" {
            continue;
        }
        folder.write("f.b2frame", &bomb);
        let words = cell.words();
        let words: Vec<&str> =
            words.iter().map(String::as_str).map(|word| if word == "row4" { "row1" } else { word }).collect();
        let (status, _, message) = folder.status(&words, b"");
        // Chunks that are shared are checked and copied once.
        let cheap = ["verify", "repair"].contains(&cell.verb.name) && status == 0;
        let small = cells::files(&folder.path("out")).iter().all(|(_, bytes)| bytes.len() < 1 << 20);
        let outcome = match cheap && small || status == 1 && message.contains("--max-output") {
            true => Ok(()),
            false => Err(format!("status {status}: {}", message.trim())),
        };
        table.cell(&cell, outcome);
        cells::remove(&folder.path("out"));
    }
    table.end();
}

/// A frame that stores one chunk of 128 MiB of zeros, and an index that names it `n` times.
fn bomb(n: u64) -> Vec<u8> {
    let params = blosc_core::Params::new(1).codec(blosc_core::Codec::Zstd);
    let mut data = vec![0; 128 << 20];
    data[5] = 1;
    let chunk = blosc_core::compress(&params, &data).unwrap();
    let mut frame = blosc_frame::SuperChunk::memory(&params).unwrap();
    frame.set_checksums(false);
    frame.append_chunk(&chunk).unwrap();
    frame.commit().unwrap();
    let start = usize::try_from(frame.header().header_len).unwrap();
    let one = frame.into_bytes().unwrap();
    let rest = &one[start + chunk.len()..];
    let old = usize::try_from(u32::from_le_bytes(rest[12..16].try_into().unwrap())).unwrap();
    let index =
        blosc_core::compress(&blosc_core::Params::new(8), &vec![0; usize::try_from(n * 8).unwrap()]).unwrap();
    let mut bytes = [&one[..start], &chunk, &index, &rest[old..]].concat();
    let len = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&len.to_be_bytes());
    bytes[30..38].copy_from_slice(&(n * (128 << 20)).to_be_bytes());
    bytes
}
