//! The program on arrays: to and from `.npy` and `.npz`, slices, changes of shape, `info` and `verify`.

use crate::common;

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
fn floats_go_through_zfp() {
    let folder = Folder::new("zfp");
    let plain = npy(&[16, 16]);
    let mut file = plain[..plain.len() - 1024].to_vec();
    let kind = file.windows(3).position(|text| text == b"<u4").unwrap() + 1;
    file[kind] = b'f';
    let header = file.len();
    file.extend((0..256).flat_map(|i| (i as f32 / 16.0).sin().to_le_bytes()));
    folder.write("a.npy", &file);
    folder.write("int.npy", &plain);
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let close = |name: &str, bound: f32| {
        let back = floats(&folder.run(&["decompress", name, "-o", "-"]));
        assert!(back.iter().zip(floats(&file[header..])).all(|(a, b)| (a - b).abs() <= bound), "{back:?}");
        let info = json(&folder.run(&["info", "--json", name]));
        assert!(info["cbytes"].as_u64() < Some(900), "{info}");
    };
    let options = ["--codec", "zfp_acc", "--codec-meta", "-2", "--blocks", "8,8", "--chunks", "16,16"];
    folder.run(&[&["compress", "a.npy", "-o", "acc.b2nd"][..], &options].concat());
    close("acc.b2nd", 0.01);
    folder.run(&["compress", "a.npy", "-o", "z.b2nd", "--codec", "zlib", "--chunks", "16,16"]);
    folder.run(&[
        "convert",
        "z.b2nd",
        "-o",
        "rate.b2nd",
        "--codec",
        "zfp_rate",
        "--codec-meta",
        "50",
        "--force",
    ]);
    close("rate.b2nd", 0.01);
    for words in [
        "compress int.npy -o out.b2nd --codec zfp_acc",
        "compress a.npy -o out.b2nd --codec zfp_rate",
        "compress a.npy -o out.b2nd --codec zfp_acc --filters shuffle",
        "compress a.npy -o out.b2nd --codec zfp_acc --blocks 2,16 --chunks 16,16",
        "compress a.npy -o out.chunk --typesize 4 --codec zfp_acc",
    ] {
        let (code, text) = folder.fail(&words.split(' ').collect::<Vec<_>>());
        assert!(
            code == 2 && !folder.path("out.b2nd").exists() && !folder.path("out.chunk").exists(),
            "{words}: {text}"
        );
    }
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
fn npz_files_become_directories_of_arrays_and_come_back() {
    let folder = Folder::new("npz");
    // Without -o the array takes the file's name.
    folder.write("a.npy", &npy(&[3, 4]));
    folder.run(&["compress", "a.npy"]);
    folder.run(&["decompress", "a.b2nd", "-o", "one.npz"]);
    folder.run(&["compress", "one.npz"]);
    folder.run(&["decompress", "one/arr_0.b2nd", "-o", "back.npy"]);
    assert_eq!(folder.read("back.npy"), npy(&[3, 4]));
    // Several, one in a folder of its own.
    folder.write("b.npy", &npy(&[2]));
    folder.run(&["compress", "b.npy", "-o", "one/b.b2nd"]);
    std::fs::create_dir(folder.path("one/deep")).unwrap();
    folder.run(&["compress", "b.npy", "-o", "one/deep/c.b2nd", "--sparse"]);
    let info = json(&folder.run(&["info", "--json", "one"]));
    assert_eq!(info["kind"].as_str(), Some("directory of arrays"));
    let keys: Vec<_> =
        info["entries"].as_array().unwrap().iter().map(|e| e["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["/arr_0.b2nd", "/b.b2nd", "/deep/c.b2nd"]);
    folder.run(&["decompress", "one", "-o", "all.npz"]);
    folder.run(&["compress", "all.npz", "-o", "again"]);
    for (name, shape) in [("arr_0", &[3, 4][..]), ("b", &[2]), ("deep/c", &[2])] {
        folder.run(&["decompress", &format!("again/{name}.b2nd"), "-o", "x.npy", "--force"]);
        assert_eq!(folder.read("x.npy"), npy(shape), "{name}");
    }
    // What cannot be is said, and leaves nothing behind.
    let (status, text) = folder.fail(&["compress", "all.npz", "-o", "again"]);
    assert!(status == 2 && text.contains("exists"), "{text}");
    assert!(folder.fail(&["compress", "all.npz", "-o", "-"]).1.contains("directory"));
    folder.write("plain", b"bytes");
    folder.run(&["compress", "plain", "-o", "plain.b2frame"]);
    assert!(folder.fail(&["decompress", "plain.b2frame", "-o", "p.npz"]).1.contains("holds arrays"));
    let mut zip = folder.read("one.npz");
    let at = zip.windows(3).position(|w| w == b"<u4").unwrap();
    zip[at..at + 3].copy_from_slice(b"|O'");
    folder.write("object.npz", &zip);
    folder.fail(&["compress", "object.npz"]);
    assert!(!folder.path("object").exists() && !folder.path("p.npz").exists());
}

/// As bombs do.
#[test]
fn a_member_that_goes_on_where_its_size_ends_is_refused() {
    let folder = Folder::new("size");
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("a.npy", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut zip, &npy(&[100, 100])).unwrap();
    let mut zip = zip.finish().unwrap().into_inner();
    let entry = zip.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    zip[entry + 24..entry + 28].copy_from_slice(&20_000u32.to_le_bytes());
    folder.write("a.npz", &zip);
    let (status, text) = folder.fail(&["compress", "a.npz", "-o", "a"]);
    assert!(status == 1 && text.contains("a.npz") && text.contains("ends too early"), "{status} {text}");
    assert!(!folder.path("a").exists());
}

#[test]
fn what_python_writes_besides_arrays_is_named_and_never_followed() {
    let folder = Folder::new("wild");
    let wild = |name: &str| format!("{}/../tests/fixtures/wild/{name}", env!("CARGO_MANIFEST_DIR"));
    for (name, wanted) in [
        ("lazyexpr.b2nd", "lazy expression"),
        ("lazyudf.b2nd", "lazy array"),
        ("c2array.b2nd", "Caterva2 server"),
        ("proxy.b2nd", "cache of another array"),
    ] {
        let info = json(&folder.run(&["info", "--json", &wild(name)]));
        assert!(info["carries"].as_str().unwrap().contains(wanted), "{name}: {info}");
        assert!(info.get("preview").is_none(), "{name}: its zeros are no data");
        for words in [&["decompress"][..], &["slice", "--start", "0", "--stop", "1"]] {
            for output in ["x.npy", "x"] {
                let (status, text) = folder.fail(&[words, &[&wild(name), "-o", output]].concat());
                assert!(status == 1 && text.contains(wanted), "{name}: {text}");
            }
        }
    }
    assert!(!folder.path("x.npy").exists() && !folder.path("x").exists());
    for (name, wanted) in
        [("objects.b2f", "ObjectArray"), ("batches.b2b", "BatchArray"), ("tensor.b2frame", "tensor")]
    {
        let info = json(&folder.run(&["info", "--json", &wild(name)]));
        assert!(info["carries"].as_str().unwrap().contains(wanted), "{name}: {info}");
    }
    // Stores are listed, their arrays read by themselves or all together.
    for name in ["store.b2d", "store.b2z"] {
        let info = json(&folder.run(&["info", "--json", &wild(name)]));
        let entries = info["entries"].as_array().unwrap();
        let leaf = entries.iter().find(|e| e["key"] == "/deep/b.b2nd").unwrap();
        let at = leaf["offset"].as_u64().unwrap_or(0).to_string();
        let path = leaf["path"].as_str().map_or(wild(name), str::to_string);
        let items: Vec<u8> = (0..12u16).flat_map(u16::to_le_bytes).collect();
        assert_eq!(folder.run(&["decompress", &path, "--offset", &at, "-o", "-"]), items);
        folder.run(&["decompress", &wild(name), "-o", "all.npz", "--force"]);
        folder.run(&["compress", "all.npz", "-o", name]);
        assert_eq!(folder.run(&["decompress", &format!("{name}:/deep/b"), "-o", "-"]), items);
        assert!(folder.fail(&["decompress", &wild(name), "-o", "-"]).1.contains(".npz"));
    }
}

#[test]
fn mistakes_are_explained() {
    let folder = Folder::new("mistakes");
    folder.write("a.npy", &npy(&[50, 40]));
    folder.write("row.npy", &npy(&[40]));
    folder.write("short.npy", &npy(&[3]));
    folder.write("raw", &[0; 24]);
    folder.run(&["compress", "a.npy"]);
    // Numbers count from the end as in Python.
    let last = folder.run(&["slice", "a.b2nd", "-o", "-", "--start", "-1,-3", "--stop", "50,-1"]);
    assert_eq!(numbers(&last), [1997, 1998]);
    folder.run(&["append", "a.b2nd", "row.npy"]);
    folder.run(&["set", "a.b2nd", "row.npy", "--start", "-1,0"]);
    for (words, wanted) in [
        (
            &["append", "a.b2nd", "short.npy"][..],
            "items of shape (3,), but rows of dimension 0 of the array have (40,)",
        ),
        (&["append", "a.b2nd", "raw"], "24 bytes are no whole number of rows of shape (40,), 160 bytes each"),
        (
            &["insert", "a.b2nd", "row.npy", "--axis", "1", "--at", "0"],
            "rows of dimension 1 of the array have (51,)",
        ),
        (&["append", "a.b2nd", "row.npy", "--axis", "2"], "axis 2 is out of range: there are 2"),
        (
            &["set", "a.b2nd", "short.npy", "--start", "0,0", "--stop", "1,40"],
            "items of shape (3,), but the part to be set has (1, 40)",
        ),
        (
            &["set", "a.b2nd", "raw", "--stop", "1,40"],
            "24 bytes, but the part to be set, of shape (1, 40), takes 160",
        ),
        (&["resize", "a.b2nd", "--shape", "10"], "--shape has 1 number, but the array has 2 dimensions"),
        (
            &["slice", "a.b2nd", "-o", "-", "--start", "1,2,3"],
            "--start has 3 numbers, but the array has 2 dimensions",
        ),
        (
            &["slice", "a.b2nd", "-o", "-", "--start", "-60,0"],
            "--start -60 lies before the first of the 51 items",
        ),
        (&["delete", "a.b2nd", "--start", "40", "--stop", "70"], "index 70 is out of range: there are 51"),
    ] {
        let (_, text) = folder.fail(words);
        assert!(text.contains(wanted), "{words:?}: {text}");
    }
    let text = String::from_utf8(folder.run(&["info", "a.b2nd"])).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("40 41 42")).collect();
    assert_eq!(rows.len(), 1, "rows below each other: {text}");
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
    // A script is told too, in a store of arrays as well.
    let report = folder.bad_report(&["verify", "--json", "a.b2nd"]);
    assert_eq!((report["ok"].as_bool(), report["verdict"].as_str()), (Some(false), Some("damaged")));
    assert!(report["damage"][0].as_str().unwrap().contains("chunk 3"), "{report}");
    std::fs::create_dir(folder.path("store")).unwrap();
    folder.write("store/bad.b2nd", &bytes);
    folder.run(&["compress", "a.npy", "-o", "store/good.b2nd"]);
    let report = folder.bad_report(&["verify", "--json", "store"]);
    let oks = [0, 1].map(|k| report["entries"][k]["report"]["ok"].as_bool());
    assert_eq!((report["ok"].as_bool(), oks), (Some(false), [Some(false), Some(true)]), "{report}");
    folder.write("a.b2nd", &bytes[..50]);
    assert_eq!(folder.bad_report(&["verify", "--json", "a.b2nd"])["ok"].as_bool(), Some(false));
    folder.write("a.b2nd", &bytes);
    assert_eq!(json(&folder.run(&["info", "--json", "a.b2nd"]))["nchunks"].as_u64(), Some(4));
}

/// Fewer numbers than dimensions are those of the first ones, whatever holds the array.
#[test]
fn axes_that_are_not_named_are_taken_whole() {
    let folder = Folder::new("first-axes");
    let items: Vec<u8> = (0..5 * 3 * 4).collect();
    folder.write("raw", &items);
    folder.run(&["compress", "raw", "-o", "a.b2nd", "--dtype", "|u1", "--shape", "5,3,4"]);
    for name in ["a.npy", "a.blp", "a.bcolz"] {
        let verb = if name == "a.npy" { "decompress" } else { "convert" };
        folder.run(&[verb, "a.b2nd", "-o", name]);
    }
    let part = |rows: std::ops::Range<usize>, second: std::ops::Range<usize>| -> Vec<u8> {
        let rows = rows.flat_map(|i| second.clone().map(move |j| i * 12 + j * 4));
        rows.flat_map(|at| items[at..at + 4].to_vec()).collect()
    };
    for name in ["a.b2nd", "a.npy", "a.blp", "a.bcolz"] {
        let slice = |words: &[&str]| folder.run(&[&["slice", name, "-o", "-"], words].concat());
        assert_eq!(slice(&["--start", "1", "--stop", "3"]), part(1..3, 0..3), "{name}");
        assert_eq!(slice(&["--start", "-2"]), part(3..5, 0..3), "{name}");
        assert_eq!(slice(&["--start", "1,2", "--stop", "4"]), part(1..4, 2..3), "{name}");
        assert_eq!(slice(&["--step", "4"]), [part(0..1, 0..3), part(4..5, 0..3)].concat(), "{name}");
    }
    folder.write("new", &[99; 12]);
    folder.run(&["set", "a.b2nd", "new", "--start", "2", "--stop", "3"]);
    assert_eq!(folder.run(&["slice", "a.b2nd", "-o", "-", "--start", "2", "--stop", "3"]), [99; 12]);
}

/// Items as text: a line for each run along the last axis, a table of records with the names of their fields.
#[test]
fn items_are_written_as_text() {
    let folder = Folder::new("text");
    let items: Vec<u8> =
        [1.5f32, -2.0, f32::NAN, 1e30, 0.1, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    folder.write("raw", &items);
    let compress = |name: &str, dtype: &str, shape: &str| {
        folder.run(&["compress", "raw", "-o", name, "--dtype", dtype, "--shape", shape]);
    };
    compress("a.b2nd", "<f4", "3,2");
    compress("one.b2nd", "<f4", "6");
    compress("r.b2nd", "[('x', '<f4'), ('a, b', '<u4')]", "3");
    let text = |words: &[&str]| String::from_utf8(folder.run(words)).unwrap();
    let whole = "1.5,-2\nNaN,1000000000000000000000000000000\n0.1,6\n";
    assert_eq!(text(&["cat", "a.b2nd"]), whole);
    folder.run(&["decompress", "a.b2nd", "-o", "a.csv"]);
    assert_eq!(folder.read("a.csv"), whole.as_bytes());
    assert_eq!(
        text(&["slice", "a.b2nd", "--format", "csv", "-o", "-", "--start", "0,1"]),
        "-2\n1000000000000000000000000000000\n6\n"
    );
    assert_eq!(text(&["cat", "a.b2nd", "--start", "-1"]), "0.1,6\n");
    assert_eq!(text(&["head", "a.b2nd", "-n", "1"]), "1.5,-2\n");
    assert_eq!(text(&["head", "a.b2nd"]), whole);
    assert_eq!(text(&["head", "one.b2nd", "-n", "2"]), "1.5\n-2\n");
    let bits = |x: f32| x.to_bits();
    let records = format!("x,\"a, b\"\n1.5,{}\nNaN,{}\n0.1,{}\n", bits(-2.0), bits(1e30), bits(6.0));
    assert_eq!(text(&["cat", "r.b2nd"]), records);
    folder.run(&["convert", "a.b2nd", "-o", "a.blp"]);
    assert_eq!(text(&["cat", "a.blp"]), whole);
    // Bytes have no type to be shown by.
    folder.run(&["compress", "raw", "-o", "raw.b2frame"]);
    let (status, said) = folder.fail(&["cat", "raw.b2frame"]);
    assert!(status == 2 && said.contains("plain bytes"), "{said}");
}
