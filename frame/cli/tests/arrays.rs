//! The program on arrays: to and from `.npy` and `.npz`, slices, changes of shape, `info` and `verify`.

mod common;

use common::{Folder, json};

/// A `.npy` file of little-endian `u4` items `0..`.
fn npy(shape: &[u32]) -> Vec<u8> {
    let dims: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut text = format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({}), }}", dims.trim_end());
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.as_bytes());
    out.extend((0..shape.iter().product()).flat_map(u32::to_le_bytes));
    out
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn npy_files_go_in_and_come_out() {
    let folder = Folder::new("npy");
    let file = npy(&[30, 40]);
    folder.write("a.npy", &file);
    folder.run(&["compress", "a.npy", "-o", "a.b2nd", "--chunks", "10,40", "--blocks", "5,8"]);
    folder.run(&["decompress", "a.b2nd", "-o", "back.npy"]);
    assert_eq!(folder.read("back.npy"), file);
    assert_eq!(folder.run(&["decompress", "a.b2nd", "-o", "-"]), file[file.len() - 4800..]);

    let info = json(&folder.run(&["info", "--json", "a.b2nd"]));
    assert_eq!(info["kind"].as_str(), Some("array"));
    for (name, wanted) in [("shape", [30, 40]), ("chunks", [10, 40]), ("blocks", [5, 8])] {
        let got: Vec<u64> = info[name].as_array().unwrap().iter().filter_map(|n| n.as_u64()).collect();
        assert_eq!(got, wanted, "{name}");
    }
    assert_eq!((info["dtype"].as_str(), info["nchunks"].as_u64()), (Some("<u4"), Some(3)));
    let text = String::from_utf8(folder.run(&["info", "a.b2nd"])).unwrap();
    assert!(text.contains("0 1 2 3 4 5 6 7"), "a preview: {text}");

    let items = folder.run(&["slice", "a.b2nd", "-o", "-", "--start", "1,38", "--stop", "4,40"]);
    assert_eq!(numbers(&items), [78, 79, 118, 119, 158, 159]);
    let steps = ["slice", "a.b2nd", "-o", "-", "--start", "0,0", "--stop", "30,3", "--step", "-29,2"];
    assert_eq!(numbers(&folder.run(&steps)), [29 * 40, 29 * 40 + 2, 0, 2]);
}

#[test]
fn arrays_change_their_shape() {
    let folder = Folder::new("shape");
    folder.write("a.npy", &npy(&[4, 3]));
    for (name, sparse) in [("a.b2nd", false), ("dir.b2nd", true)] {
        let mut words = vec!["compress", "a.npy", "-o", name, "--chunks", "2,2", "--blocks", "1,2"];
        words.extend(sparse.then_some("--sparse"));
        folder.run(&words);
        folder.write("row.npy", &npy(&[1, 3]));
        folder.run(&["append", name, "row.npy"]);
        folder.run(&["insert", name, "row.npy", "--at", "1"]);
        folder.run(&["delete", name, "--axis", "1", "--start", "0", "--stop", "1"]);
        let now = numbers(&folder.run(&["decompress", name, "-o", "-"]));
        assert_eq!(now, [1, 2, 1, 2, 4, 5, 7, 8, 10, 11, 1, 2], "{name}");
        folder.run(&["resize", name, "--shape", "2,3"]);
        folder.write("nine", &9u32.to_le_bytes());
        folder.run(&["set", name, "nine", "--start", "1,2", "--stop", "2,3"]);
        assert_eq!(numbers(&folder.run(&["decompress", name, "-o", "-"])), [1, 2, 0, 1, 2, 9], "{name}");
    }
    folder.run(&[
        "convert", "dir.b2nd", "-o", "b.b2nd", "--codec", "zstd", "--chunks", "1,3", "--blocks", "1,1",
    ]);
    let info = json(&folder.run(&["info", "--json", "b.b2nd"]));
    assert_eq!((info["codec"].as_str(), info["nchunks"].as_u64()), (Some("zstd"), Some(2)));
    assert_eq!(numbers(&folder.run(&["decompress", "b.b2nd", "-o", "-"])), [1, 2, 0, 1, 2, 9]);
}

#[test]
fn damage_is_found_and_named() {
    let folder = Folder::new("damage");
    folder.write("a.npy", &npy(&[64, 64]));
    folder
        .run(&["compress", "a.npy", "-o", "a.b2nd", "--chunks", "16,64", "--blocks", "4,64", "--level", "0"]);
    let report = json(&folder.run(&["verify", "--json", "a.b2nd"]));
    assert_eq!((report["verdict"].as_str(), report["chunks"].as_u64()), (Some("intact"), Some(4)));
    let mut bytes = folder.read("a.b2nd");
    // An item of the last chunk.
    let at = bytes.windows(4).rposition(|w| w == 4000u32.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    folder.write("a.b2nd", &bytes);
    let (status, text) = folder.fail(&["verify", "a.b2nd"]);
    assert_eq!(status, 1);
    assert!(text.contains("damaged") && text.contains("chunk 3"), "{text}");
    assert_eq!(json(&folder.run(&["info", "--json", "a.b2nd"]))["nchunks"].as_u64(), Some(4));
}
