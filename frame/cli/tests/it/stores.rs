//! Stores lose nothing: form x verb, of a store with arrays, groups, attributes, a frame and a file of others.

use crate::common::{Folder, json};

const FORMS: [&str; 4] = ["s.b2d", "s.b2z", "s.b2e", "folder"];

/// The store in every form; `json` gets lost in a `.b2e` file, which is told.
fn make(folder: &Folder) {
    folder.write("raw", &(0..6000u32).flat_map(|n| (n / 3).to_le_bytes()).collect::<Vec<_>>());
    folder.run(&["compress", "raw", "-o", "a.b2nd", "--dtype", "<i4", "--shape", "60,100"]);
    folder.run(&["convert", "a.b2nd", "-o", "s.b2d"]);
    for group in ["g", "g/deep", "empty"] {
        std::fs::create_dir(folder.path("s.b2d").join(group)).unwrap();
    }
    std::fs::copy(folder.path("a.b2nd"), folder.path("s.b2d/g/b.b2nd")).unwrap();
    std::fs::copy(folder.path("a.b2nd"), folder.path("s.b2d/g/deep/c.b2nd")).unwrap();
    for (group, value) in [("", "1"), ("g/", "2")] {
        folder.run(&["compress", "raw", "-o", "layer.b2f"]);
        folder.run(&["meta", "set", "--vl", "layer.b2f", "unit", "--json", value]);
        std::fs::rename(folder.path("layer.b2f"), folder.path(&format!("s.b2d/{group}__vlmeta__.b2f")))
            .unwrap();
    }
    folder.write("s.b2d/dataset.json", b"{}");
    for form in &FORMS[1..] {
        let (status, message) = match *form {
            "s.b2e" => folder.fail(&["convert", "s.b2d", "-o", form]),
            _ => (0, folder.notice(&["convert", "s.b2d", "-o", form])),
        };
        assert!(status == 0 || message.contains("/dataset.json"), "{form}: {message}");
    }
    let told = folder.notice(&["convert", "s.b2d", "-o", "s.b2e", "--partial"]);
    assert!(told.contains("/dataset.json (file that is no frame)") && told.contains("/empty"), "{told}");
}

#[test]
fn every_form_has_every_verb() {
    let folder = Folder::new("store-verbs");
    make(&folder);
    let items = folder.run(&["decompress", "a.b2nd", "-o", "-"]);
    for form in FORMS {
        println!("{form}");
        let info = json(&folder.run(&["info", form, "--json"]));
        assert_eq!(info["attributes"], serde_json::json!({"/": {"unit": 1}, "/g": {"unit": 2}}), "{form}");
        let shown = String::from_utf8(folder.run(&["info", form])).unwrap();
        assert!(shown.contains("attributes of /g") && shown.contains("{\"unit\":2}"), "{shown}");
        for (place, wanted) in [(form.to_string(), 1), (format!("{form}:/g"), 2)] {
            if form != "s.b2e" || wanted == 2 {
                let layers = json(&folder.run(&["meta", "list", "--vl", &place, "--json"]));
                assert_eq!(layers["unit"]["value"], wanted, "{place}");
            }
        }
        let listed = json(&folder.run(&["ls", form, "--json"]));
        let listed = listed["entries"].to_string();
        assert_eq!(listed.contains("dataset.json"), form != "s.b2e", "{form}: {listed}");
        let group = json(&folder.run(&["ls", &format!("{form}:/g"), "--json"]));
        assert!(group["entries"].to_string().contains("/deep/c"), "{form}: {group}");
        folder.run(&["verify", form]);
        for leaf in ["/a", "/g/b", "/g/deep/c"] {
            let leaf = format!("{form}:{leaf}");
            assert!(folder.run(&["decompress", &leaf, "-o", "-"]) == items, "{leaf}");
            let part = folder.run(&["slice", &leaf, "--start", "1,0", "--stop", "2,2", "-o", "-"]);
            assert_eq!(part, items[400..408], "{leaf}");
        }
        // What no .npz file holds stops it, and is named.
        if form != "s.b2e" {
            let (status, message) = folder.fail(&["decompress", form, "-o", "x.npz"]);
            assert!(status == 1 && message.contains("/dataset.json"), "{form}: {message}");
        }
        let told = folder.notice(&["decompress", form, "-o", "x.npz", "--partial", "--force"]);
        assert!(told.contains("/__vlmeta__"), "{form}: {told}");
        folder.run(&["decompress", &format!("{form}:/g"), "-o", "g.npz", "--force"]);
        folder.run(&["compress", "g.npz", "-o", "g", "--force"]);
        assert!(folder.run(&["decompress", "g:/deep/c", "-o", "-"]) == items, "{form}");
        let (status, message) = folder.fail(&["convert", form, "-o", "y.b2z", "--codec", "zstd"]);
        assert!(status == 2 && message.contains("--codec"), "{message}");
    }
}

/// An array that cannot be decoded is named, and `--partial` goes on without it.
#[test]
fn a_damaged_leaf_is_named_and_left_out() {
    let folder = Folder::new("store-damaged");
    make(&folder);
    let mut bytes = folder.read("s.b2d/g/b.b2nd");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(0xff);
    folder.write("s.b2d/g/b.b2nd", &bytes);
    std::fs::remove_file(folder.path("s.b2d/dataset.json")).unwrap();
    let (status, message) = folder.fail(&["decompress", "s.b2d", "-o", "x.npz"]);
    assert!(status == 1 && message.contains("/g/b") && !folder.path("x.npz").exists(), "{message}");
    let told = folder.notice(&["decompress", "s.b2d", "-o", "x.npz", "--partial"]);
    assert!(told.contains("not kept: /g/b"), "{told}");
    folder.run(&["compress", "x.npz", "-o", "x"]);
    assert!(folder.path("x/a.b2nd").is_file() && !folder.path("x/g/b.b2nd").exists());
}

/// A root of which one frame is damaged becomes one of the others; what is lost is told in words and as JSON.
#[test]
fn a_root_is_repaired_without_the_frame_that_is_lost() {
    let folder = Folder::new("store-root");
    for name in ["a", "b", "c"] {
        let noise = (0..600u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 ^ name.as_bytes()[0]);
        folder.write("raw", &noise.collect::<Vec<_>>());
        std::fs::create_dir_all(folder.path("s.b2d")).unwrap();
        folder.run(&[
            "compress",
            "raw",
            "-o",
            &format!("s.b2d/{name}.b2nd"),
            "--dtype",
            "|u1",
            "--shape",
            "600",
        ]);
    }
    folder.run(&["convert", "s.b2d", "-o", "s.b2e"]);
    let mut root = blosc_frame::SuperChunk::open_path_mut(folder.path("s.b2e")).unwrap();
    let mut bytes = root.read_all().unwrap();
    let heads: Vec<usize> = (2..bytes.len() - 7).filter(|at| &bytes[*at..*at + 7] == b"b2frame").collect();
    assert_eq!((heads.len(), root.nchunks()), (3, 1));
    bytes[heads[1] - 2..heads[2] - 2].fill(0);
    root.update(0, &bytes).unwrap();
    root.commit().unwrap();
    drop(root);
    let (status, told, message) = folder.status(&["repair", "s.b2e", "-o", "mended.b2frame"], b"");
    let told = String::from_utf8(told).unwrap();
    assert!(status == 1 && message.contains("frames in it lost: /b"), "{status} {message}");
    assert!(told.lines().any(|line| line.starts_with("frames in it lost") && line.ends_with("/b")), "{told}");
    let (status, report, _) =
        folder.status(&["repair", "s.b2e", "-o", "mended.b2frame", "--force", "--json"], b"");
    assert_eq!((status, &json(&report)["leaves_lost"]), (1, &serde_json::json!(["/b"])));
    let left = json(&folder.run(&["ls", "mended.b2frame", "--json"]));
    let keys: Vec<&str> =
        left["entries"].as_array().unwrap().iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(keys, ["/a", "/c"], "{left}");
}
