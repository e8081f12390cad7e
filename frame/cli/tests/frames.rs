//! The program on frames: every command that promises `--offset`, limits and a lock keeps the promise, and an
//! array is not broken by edits of a plain frame.

mod common;

use common::{Folder, json};

#[test]
fn a_frame_from_a_pipe_is_edited_and_described() {
    let folder = Folder::new("pipe");
    let data: Vec<u8> = (0..100_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    folder.run_with(&["compress", "-", "-o", "a.b2frame", "--typesize", "4", "--chunksize", "64K"], &data);
    let info = json(&folder.run(&["info", "--json", "a.b2frame"]));
    assert_eq!((info["nchunks"].as_u64(), info["typesize"].as_u64()), (Some(7), Some(4)));
    assert_eq!((info["nbytes"].as_u64(), info["chunksize"].as_u64()), (Some(400_000), Some(65_536)));
    assert_eq!(folder.run(&["slice", "a.b2frame", "-o", "-", "--start", "9", "--stop", "12"]), data[36..48]);
    assert_eq!(folder.run(&["decompress", "a.b2frame", "-o", "-"]), data);

    folder.write("x", &[5; 64 << 10]);
    folder.write("script", b"# two edits\ninsert 1 x\ndelete 0\n\nreorder 0,1,2,3,4,5,6\n");
    folder.run(&["edit", "--script", "script", "a.b2frame", "--lock"]);
    assert!(folder.path("a.b2frame.b2lock").is_file());
    folder.run(&["edit", "a.b2frame", "update", "1", "x"]);
    folder.write("more", b"12345678");
    folder.run(&["append", "a.b2frame", "more"]);
    let mut wanted = vec![5; 128 << 10];
    wanted.extend(&data[128 << 10..]);
    wanted.extend(b"12345678");
    assert_eq!(folder.run(&["decompress", "a.b2frame", "-o", "-"]), wanted);

    let done = json(&folder.run(&["compact", "--json", "a.b2frame"]));
    assert!(done["saved"].is_u64());

    folder.run(&["meta", "set", "a.b2frame", "unit", "--json", "{\"m\": [1, null]}"]);
    folder.run(&["meta", "set", "--vl", "a.b2frame", "raw", "--hex", "00ff"]);
    assert_eq!(folder.run(&["meta", "get", "--vl", "a.b2frame", "raw"]), [0, 0xff]);
    let info = json(&folder.run(&["info", "--json", "a.b2frame"]));
    assert_eq!(info["metalayers"]["unit"]["value"]["m"][0].as_u64(), Some(1));
    assert_eq!(info["vlmetalayers"]["raw"]["hex"].as_str(), Some("00ff"));
    folder.run(&["meta", "rm", "a.b2frame", "unit"]);
    assert_eq!(json(&folder.run(&["meta", "list", "--json", "a.b2frame"])).as_object().unwrap().len(), 0);

    let report = json(&folder.run(&["verify", "--json", "a.b2frame"]));
    assert_eq!((report["verdict"].as_str(), report["garbage_bytes"].as_u64()), (Some("intact"), Some(0)));
    assert_eq!(folder.run(&["decompress", "a.b2frame", "-o", "-"]), wanted);
}

#[test]
fn a_frame_inside_a_larger_file_is_read_and_not_changed() {
    let folder = Folder::new("offset");
    let data: Vec<u8> = (0..60_000u32).map(|n| (n / 100) as u8).collect();
    folder.run_with(&["compress", "-", "-o", "a.b2frame", "--chunksize", "16K"], &data);
    folder.run(&["meta", "set", "--vl", "a.b2frame", "name", "--hex", "c0"]);
    let frame = folder.read("a.b2frame");
    let mut file = b"something before".to_vec();
    let at = file.len().to_string();
    file.extend(&frame);
    file.extend(b"something after");
    folder.write("large", &file);
    let with = |words: &[&str]| -> Vec<u8> { folder.run(&[words, &["--offset", &at]].concat()) };

    assert_eq!(json(&with(&["info", "--json", "large"]))["nbytes"].as_u64(), Some(60_000));
    assert_eq!(with(&["decompress", "large", "-o", "-"]), data);
    assert_eq!(with(&["slice", "large", "-o", "-", "--start", "7", "--stop", "20000"]), data[7..20_000]);
    assert_eq!(json(&with(&["verify", "--json", "large"]))["verdict"].as_str(), Some("intact"));
    assert_eq!(with(&["meta", "get", "--vl", "large", "name"]), [0xc0]);
    assert!(json(&with(&["meta", "list", "--vl", "--json", "large"])).get("name").is_some());
    with(&["repair", "large", "-o", "repaired.b2frame"]);
    assert_eq!(folder.run(&["decompress", "repaired.b2frame", "-o", "-"]), data);

    with(&["convert", "large", "-o", "copy.blp"]);
    assert_eq!(folder.run(&["decompress", "copy.blp", "-o", "-"]), data);
    with(&["convert", "large", "-o", "copy.b2frame", "--codec", "lz4"]);
    assert_eq!(folder.run(&["decompress", "copy.b2frame", "-o", "-"]), data);

    folder.write("x", b"x");
    for words in [
        &["append", "large", "x"][..],
        &["edit", "large", "delete", "0"],
        &["compact", "large"],
        &["meta", "set", "--vl", "large", "n", "--hex", "00"],
        &["meta", "rm", "--vl", "large", "name"],
    ] {
        let (status, text) = folder.fail(&[words, &["--offset", &at]].concat());
        assert_eq!(status, 1, "{words:?}: {text}");
        assert!(text.contains("inside a larger file"), "{words:?}: {text}");
    }
    assert_eq!(folder.read("large"), file);
}

#[test]
fn edits_that_break_an_array_are_refused() {
    let folder = Folder::new("array");
    let data: Vec<u8> = (0..240).collect();
    let dims = ["--dtype", "|u1", "--shape", "12,20", "--chunks", "6,20", "--blocks", "3,20"];
    folder.run_with(&[&["compress", "-", "-o", "a.b2nd"], &dims[..]].concat(), &data);
    let before = folder.read("a.b2nd");
    folder.write("x", &[1; 120]);
    folder.write("short", &[1; 7]);
    for words in [
        &["edit", "a.b2nd", "delete", "0"][..],
        &["edit", "a.b2nd", "insert", "1", "x"],
        &["edit", "a.b2nd", "update", "0", "short"],
        &["edit", "a.b2nd", "fill", "zeros", "120"],
        &["meta", "set", "a.b2nd", "b2nd", "--hex", "c0"],
        &["meta", "rm", "a.b2nd", "b2nd"],
    ] {
        let (status, text) = folder.fail(words);
        assert_eq!(status, 2, "{words:?}: {text}");
        assert!(text.contains("array"), "{words:?}: {text}");
        assert!(folder.read("a.b2nd").starts_with(&before), "{words:?}");
        assert_eq!(folder.run(&["decompress", "a.b2nd", "-o", "-"]), data, "{words:?}");
    }
    // What leaves the shape alone is allowed.
    folder.run(&["edit", "a.b2nd", "update", "1", "x"]);
    let report = json(&folder.run(&["verify", "--json", "a.b2nd"]));
    assert_eq!((report["kind"].as_str(), report["verdict"].as_str()), (Some("array"), Some("intact")));
}

#[test]
fn limits_hold_for_edits_too() {
    let folder = Folder::new("limits");
    folder.run_with(&["compress", "-", "-o", "a.b2frame", "--chunksize", "1M"], &vec![7; 900_000]);
    folder.write("x", b"x");
    let (status, text) = folder.fail(&["append", "a.b2frame", "x", "--max-output", "100K"]);
    assert_eq!((status, text.contains("--max-output")), (1, true), "{text}");
    let (status, text) = folder.fail(&["decompress", "a.b2frame", "-o", "-", "--max-output", "100K"]);
    assert_eq!((status, text.contains("--max-output")), (1, true), "{text}");
    folder.run(&["append", "a.b2frame", "x"]);
}
