//! The program on frames: every command that promises `--offset`, limits and a lock keeps the promise, and an
//! array is not broken by edits of a plain frame.

use crate::common;

use blosc_frame::io::SidecarLock;
use common::{Folder, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
    assert!(info["carries"].is_null());
    folder.run(&["meta", "set", "a.b2frame", "batcharray", "--hex", "80"]);
    let info = json(&folder.run(&["info", "--json", "a.b2frame"]));
    assert!(info["carries"].as_str().is_some_and(|text| text.contains("BatchArray")));
    folder.run(&["meta", "rm", "a.b2frame", "batcharray"]);
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
        assert_eq!(status, 2, "{words:?}: {text}");
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

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let folder = Folder::new("sense");
    folder.write("noise", &[0x5a; 1000]);
    let seven = ["shuffle"; 7].join(",");
    for (words, status, wanted) in [
        (&["compress", "noise", "-o", "out", "--filters", &seven][..], 2, "at most six filters"),
        (&["repair", "noise", "-o", "out"], 1, "there is no chunk in it that is whole"),
        (&["info", "noise", "--as", "bcolz"], 2, "--as bcolz: noise: that is a directory, and this is none"),
        (&["info", ".", "--as", "chunk"], 2, "--as chunk: .: that is no directory, and this is one"),
        (&["compress", "noise", "-o", "no/out"], 1, "no/out: there is no directory no"),
    ] {
        let (found, text) = folder.fail(words);
        assert!(found == status && text.contains(wanted), "{words:?}: {found} {text}");
    }
    assert!(!folder.path("out").exists());
}

#[test]
fn what_a_frame_has_no_room_for_is_no_limit_to_raise() {
    let folder = Folder::new("full");
    folder.run_with(&["compress", "-", "-o", "a.b2frame"], b"data");
    for k in 0..16 {
        folder.run(&["meta", "set", "a.b2frame", &format!("m{k}"), "--hex", "c0"]);
    }
    let (status, text) = folder.fail(&["meta", "set", "a.b2frame", "one more", "--hex", "c0"]);
    assert_eq!((status, text.contains("16 at most"), text.contains("limit")), (1, true, false), "{text}");
}

#[test]
fn readers_that_lock_wait_for_a_writer() {
    let folder = Folder::new("lock");
    folder.run_with(&["compress", "-", "-o", "a.b2frame"], &[7; 5000]);
    folder.run_with(&["compress", "-", "-o", "a.blp"], &[7; 5000]);
    let mut writer = SidecarLock::open(&folder.path("a.b2frame")).unwrap();
    for words in [
        &["decompress", "a.b2frame", "-o", "-", "--lock"][..],
        &["slice", "a.b2frame", "-o", "-", "--stop", "2", "--lock"],
        &["info", "a.b2frame", "--lock"],
        &["verify", "a.b2frame", "--lock"],
        &["meta", "list", "a.b2frame", "--lock"],
        &["convert", "a.b2frame", "-o", "b.b2frame", "--force", "--lock"],
    ] {
        let held = writer.write().unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                folder.run(words);
                done.store(true, Ordering::Relaxed);
            });
            std::thread::sleep(Duration::from_millis(150));
            let early = done.load(Ordering::Relaxed);
            drop(held);
            reader.join().unwrap();
            assert!(!early, "{words:?} did not wait");
        });
    }
    // Readers do not wait for each other, and leave the generation alone.
    let held = writer.read().unwrap();
    assert!(!held.changed);
    folder.run(&["verify", "a.b2frame", "--lock"]);
    drop(held);
    // Other formats have locks as well.
    folder.run(&["verify", "a.blp", "--lock"]);
    assert!(folder.path("a.blp.b2lock").exists());
}

#[test]
fn every_edit_and_metalayer_command_on_both_kinds_of_frame() {
    for kind in ["b2frame", "sframe"] {
        let folder = Folder::new(kind);
        let data: Vec<u8> = (0..1000u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        folder.run_with(
            &["compress", "-", "-o", "f", "--format", kind, "--typesize", "4", "--chunksize", "1000"],
            &data,
        );
        assert_eq!(folder.path("f").is_dir(), kind == "sframe");
        let mut chunks: Vec<Vec<u8>> = data.chunks(1000).map(<[u8]>::to_vec).collect();
        folder.write("x", &[9; 1000]);
        folder.run(&["edit", "f", "insert", "1", "x"]);
        chunks.insert(1, vec![9; 1000]);
        folder.run(&["edit", "f", "update", "0", "x"]);
        chunks[0] = vec![9; 1000];
        folder.run(&["edit", "f", "delete", "2"]);
        chunks.remove(2);
        folder.run(&["edit", "f", "reorder", "3,2,1,0"]);
        chunks.reverse();
        for (value, item) in
            [("zeros", [0; 4]), ("nan", f32::NAN.to_le_bytes()), ("0x01020304", [1, 2, 3, 4])]
        {
            folder.run(&["edit", "f", "fill", value, "250"]);
            chunks.push(item.repeat(250));
        }
        assert_eq!(folder.run(&["decompress", "f", "-o", "-"]), chunks.concat());
        // All of a script, or nothing of it.
        let before = folder.run(&["info", "--json", "f"]);
        folder.write("script", b"delete 0\nupdate 0 x\ndelete 99\n");
        let (_, text) = folder.fail(&["edit", "f", "--script", "script"]);
        assert!(text.contains("f: line 3: chunk 99"), "{text}");
        assert_eq!(folder.run(&["info", "--json", "f"]), before);
        for words in [&["insert", "99", "x"][..], &["update", "99", "x"], &["delete", "99"]] {
            let (_, text) = folder.fail(&[&["edit", "f"], words].concat());
            assert!(text.contains("f: chunk 99 is out of range"), "{text}");
        }
        assert_eq!(folder.run(&["info", "--json", "f"]), before);

        folder.write("content", b"\x93\x01\x02\x03");
        for vl in [&[][..], &["--vl"]] {
            let run = |words: &[&str]| folder.run(&[words, vl].concat());
            run(&["meta", "set", "f", "a", "--file", "content"]);
            run(&["meta", "set", "f", "b", "--json", "[1, \"two\"]"]);
            run(&["meta", "set", "f", "c", "--hex", "c1"]);
            assert_eq!(run(&["meta", "get", "f", "a"]), b"\x93\x01\x02\x03");
            assert_eq!(run(&["meta", "get", "f", "b"]), b"\x92\x01\xa3two");
            let list = json(&run(&["meta", "list", "f", "--json"]));
            assert_eq!(list["a"]["value"], serde_json::json!([1, 2, 3]));
            assert_eq!((list["c"]["hex"].as_str(), list["c"].get("value")), (Some("c1"), None));
            run(&["meta", "rm", "f", "c"]);
            let (status, text) = folder.fail(&[&["meta", "get", "f", "c"], vl].concat());
            assert_eq!((status, text.contains("called \"c\"")), (1, true), "{text}");
        }
        folder.run(&["compact", "f"]);
        assert_eq!(json(&folder.run(&["verify", "--json", "f"]))["verdict"].as_str(), Some("intact"));
        assert_eq!(folder.run(&["decompress", "f", "-o", "-"]), chunks.concat());

        // The table of checksums has one of the 16 slots, and keeps it.
        for n in 0..13 {
            folder.run(&["meta", "set", "f", "--vl", &format!("n{n}"), "--hex", "00"]);
        }
        let (status, text) = folder.fail(&["meta", "set", "f", "--vl", "n13", "--hex", "00"]);
        assert_eq!((status, text.contains("beside the table of checksums: 16")), (1, true), "{text}");
        folder.run(&["meta", "set", "f", "--vl", "n12", "--hex", "01"]);
    }
}

#[test]
fn fields_of_other_writers_are_shown_and_kept() {
    let folder = Folder::new("odd");
    folder
        .run_with(&["compress", "-", "-o", "f.b2frame", "--no-checksum", "--chunksize", "1000"], &[7; 5000]);
    let mut frame = folder.read("f.b2frame");
    let end = frame.len();
    (frame[0x40], frame[0x43], frame[0x56], frame[end - 17]) = (7, 9, 0x5a, 2);
    frame[0x1c] |= 0xa4;
    frame[0x55] |= 0x40;
    frame[end - 16..].copy_from_slice(b"0123456789abcdef");
    folder.write("f.b2frame", &frame);
    for edit in
        [&["append", "f.b2frame", "x"][..], &["edit", "f.b2frame", "delete", "1"], &["compact", "f.b2frame"]]
    {
        let info = json(&folder.run(&["info", "--json", "f.b2frame"]));
        assert_eq!(info["threads"], serde_json::json!([7, 9]));
        assert_eq!((info["reserved"].as_u64(), info["other_flags2"].as_u64()), (Some(0x5a), Some(0x40)));
        assert_eq!(info["other_flags"].as_u64().map(|flags| flags & 0xfc), Some(0xa4));
        assert_eq!(info["fingerprint"]["type"].as_u64(), Some(2));
        assert_eq!(info["fingerprint"]["hex"].as_str(), Some("30313233343536373839616263646566"));
        assert_eq!(info["checksums"].as_str(), Some("unknown, type 2"));
        folder.write("x", &[7; 5000]);
        folder.run(edit);
    }
    // Another index width is refused by name, by every command.
    frame[0x19] &= 0xcf;
    folder.write("f.b2frame", &frame);
    for words in
        [&["info", "f.b2frame"][..], &["decompress", "f.b2frame", "-o", "-"], &["append", "f.b2frame", "x"]]
    {
        let (status, text) = folder.fail(words);
        assert_eq!((status, text.contains("32-bit offsets")), (1, true), "{text}");
    }
}

#[test]
fn files_that_are_something_else_are_named() {
    let folder = Folder::new("else");
    folder.write("a.npy", b"\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }");
    folder.write("text", b"just some text, longer than the header of a chunk would be");
    let (status, text) = folder.fail(&["info", "a.npy"]);
    assert_eq!((status, text.contains("npy file: header")), (1, true), "{text}");
    let (status, text) = folder.fail(&["decompress", "text", "-o", "-"]);
    assert_eq!((status, text.contains("no whole chunk")), (1, true), "{text}");
}
