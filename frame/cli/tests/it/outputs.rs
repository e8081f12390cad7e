//! What an output is, by its name and the options: written as its name says, or refused before anything is touched.

use crate::common::{Folder, json};
use blosc_frame::b2nd::{Dims, Dtype};
use blosc_frame::npy::NpyHeader;
use std::io::Write;

/// A `.npy` file of little-endian `u4` items `0..`.
fn npy(shape: &[u32]) -> Vec<u8> {
    let dims: Vec<u64> = shape.iter().map(|n| (*n).into()).collect();
    let (dtype, shape_of) = (Dtype::parse("<u4").unwrap(), Dims::new(&dims).unwrap());
    let mut out = NpyHeader { dtype, fortran: false, shape: shape_of }.to_bytes().unwrap();
    out.extend((0..shape.iter().product()).flat_map(u32::to_le_bytes));
    out
}

/// Bytes of a file that NumPy made, after its header.
fn items(file: &[u8]) -> (String, Vec<u8>) {
    assert!(file.starts_with(b"\x93NUMPY\x01\x00"), "no NumPy file");
    let end = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    (String::from_utf8_lossy(&file[10..end]).trim().to_string(), file[end..].to_vec())
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("a.npy", &npy(&[20, 6]));
    folder.write("raw", &(0..5000u32).flat_map(|n| (n / 3).to_le_bytes()).collect::<Vec<_>>());
    folder
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path(".")).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_extension_is_a_promise() {
    let folder = folder("promise");
    folder.run(&["compress", "a.npy"]);
    folder.run(&["compress", "raw", "-o", "r.b2frame", "--typesize", "4"]);
    let before = names(&folder);
    for (words, says) in [
        ("compress a.npy -o x.b2", "did you mean .b2f or .b2z or .b2d"),
        ("compress a.npy -o x.b2frame", "--plain"),
        ("compress a.npy -o x.chunk", "--plain"),
        ("compress a.npy -o x.npz", "not compressed"),
        ("compress a.npy -o x.zip", ".zip files are not written"),
        ("compress a.npy -o x.b2nd --format bloscpack", "contradict"),
        ("compress raw -o x.b2nd", "--dtype and --shape"),
        ("compress raw -o x.b2z", "--dtype and --shape"),
        ("convert a.b2nd -o x.chunk", "use compress"),
        ("convert a.b2nd -o x", "--format"),
        ("convert r.b2frame -o x.npy", "without dtype and shape"),
        ("decompress a.b2nd -o x.b2frame", "convert writes"),
        ("decompress a.b2nd -o x.json", ".json files are not written here; --plain"),
        ("slice a.b2nd -o x.tsv --stop 3,3", ".tsv files are not written here; --plain"),
        ("decompress r.b2frame -o x.npy", "without dtype and shape"),
        ("decompress r.b2frame -o x.npz", "without dtype and shape"),
        ("slice r.b2frame -o x.npy --stop 3", "without dtype and shape"),
        ("slice r.b2frame -o x.blp --stop 3", "convert writes"),
        ("repair r.b2frame -o x.npy", "repair writes frames and arrays, not npy"),
        ("append a.b2nd raw --reserve 100", "--reserve: a.b2nd: it applies to"),
        ("append r.b2frame raw --reserve 100", "--reserve: r.b2frame: it applies to"),
        ("set a.b2nd raw --in-place", "--in-place: a.b2nd: it applies to"),
        ("decompress a.b2nd -o x --anywhere", "--anywhere: a.b2nd is no manifest"),
        ("info . --anywhere", "--anywhere: . is no manifest"),
        ("ls . --column x", "this is a directory"),
        ("compress raw -o x.blp --typesize 300", "1 to 255 bytes"),
        ("compress raw -o x.chunk --typesize 300", "--typesize 300: a bare chunk"),
        ("compress raw -o x.blp --typesize 4 --filters trunc_prec:5", "for Blosc1"),
        ("compress a.npy -o x.blp --filters delta", "for Blosc1"),
        ("compress a.npy -o x.bcolz --codec ndlz", "codec"),
        ("convert a.b2nd -o x.bcolz --codec ndlz", "codec"),
        ("convert a.b2nd -o x.blp --filters bytedelta", "for Blosc1"),
        ("compress raw -o x.b2frame --layout v1", "--layout: does not apply"),
        ("compress raw -o x.b2frame --chunks 3", "--chunks: does not apply"),
        ("compress raw -o x.chunk --chunksize 1K", "--chunksize"),
        ("compress raw -o x.blp --superchunk 3", "--superchunk"),
        ("compress a.npy -o x.b2nd --chunksize 100", "--chunks"),
        ("compress a.npy -o x.b2nd --typesize 4", "the dtype says it"),
        ("compress a.npy -o x.b2nd --checksum md5", "--checksum"),
        ("compress a.npy -o x.blp --sparse", "--sparse"),
        ("compress a.npy -o x.b2nd --dtype <i4 --shape 120", "a .npy file says them itself"),
        ("convert a.b2nd -o x.npy --codec lz4", "--codec"),
        ("compress a.npy -o x.b2nd --chunks 0,1", "every side is at least 1"),
        ("compress a.npy -o x.b2nd --chunks 5", "--chunks has 1 number"),
        ("compress a.npy -o x.b2nd --chunks 5,5 --blocks 6,5", "larger than --chunks"),
        ("compress a.npy -o x.b2nd --chunks 40000,40000", "bytes at most"),
        ("convert a.b2nd -o x.b2nd --chunks 40000,40000", "bytes at most"),
    ] {
        let (status, text) = folder.fail(&words.split(' ').collect::<Vec<_>>());
        assert!(status == 2 && text.contains(says), "{words}: {status} {text}");
        assert_eq!(names(&folder), before, "{words}");
    }
    folder.write("deep.npy", &{
        let text = format!(
            "{{'descr': '<u4', 'fortran_order': False, 'shape': ({}), }}\n",
            "1, ".repeat(17).trim_end()
        );
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((text.len() as u16).to_le_bytes());
        file.extend(text.bytes().chain([0; 4]));
        file
    });
    let (status, text) = folder.fail(&["compress", "deep.npy"]);
    assert!(status == 1 && text.contains("has 17 dimensions; arrays have 16 at most"), "{text}");
    // What is called so is so.
    for name in ["x.npy", "x.npz", "x.b2z", "x.b2d", "x.blp", "x.b2nd"] {
        folder.run(&["convert", "a.b2nd", "-o", name]);
    }
    assert_eq!(folder.read("x.npy"), npy(&[20, 6]));
    for name in ["x.b2z", "x.b2d"] {
        assert_eq!(
            folder.run(&["decompress", &format!("{name}:/a"), "-o", "-"]),
            npy(&[20, 6])[128..],
            "{name}"
        );
    }
    folder.run(&["compress", "a.npy", "-o", "y.b2z", "--chunks", "5,6"]);
    assert_eq!(json(&folder.run(&["info", "y.b2z:/a", "--json"]))["chunks"], serde_json::json!([5, 6]));
    folder.run(&["compress", "x.npz", "-o", "z.b2z"]);
    folder.run(&["decompress", "z.b2z", "-o", "z.npz"]);
    assert_eq!(folder.read("z.npz").windows(9).filter(|w| w == b"arr_0.npy").count(), 2);
    // The bytes of the file itself, and back.
    folder.run(&["compress", "a.npy", "--plain", "-o", "plain.b2frame"]);
    folder.run(&["decompress", "plain.b2frame", "--plain", "-o", "back.npy"]);
    assert_eq!(folder.read("back.npy"), npy(&[20, 6]));
}

/// Names that promise nothing known: kept where they are like none that is, and else refused.
#[test]
fn names_are_kept_or_refused() {
    const FRAME: &[u8] = b"\x9e\xa8b2frame\0";
    let folder = folder("kept");
    folder.run(&["compress", "a.npy"]);
    folder.run(&["compress", "raw", "-o", "r.b2frame"]);
    folder.run(&["convert", "a.b2nd", "-o", "s.b2d"]);
    for (words, name, wanted) in [
        ("compress a.npy", "a", Some(FRAME)),
        ("compress a.npy", "x.b2", None),
        ("compress a.npy", "x.b2frame", None),
        ("compress a.npy", "x.b2z", Some(b"PK")),
        ("compress raw", "x.b2nd", None),
        ("compress raw", "x.dat", Some(FRAME)),
        ("compress raw", "x.zip", None),
        ("convert a.b2nd", "x.npz", Some(b"PK")),
        ("convert a.b2nd", "x.chunk", None),
        ("convert r.b2frame", "x.npy", None),
        ("decompress a.b2nd", "x.NPY", Some(b"\x93NUMPY")),
        ("decompress r.b2frame", "x.npy", None),
        ("decompress r.b2frame", "x.csv", Some(&[0, 0, 0, 0])),
        ("decompress a.b2nd", "x.b2nd", None),
        ("decompress a.b2nd", "x.h5", None),
        ("decompress a.b2nd", "x.nyp", None),
        ("decompress a.b2nd", "x.bin", Some(&[0, 0, 0, 0])),
        ("decompress s.b2d", "a", None),
    ] {
        let words: Vec<&str> = words.split(' ').chain(["-o", name, "--force"]).collect();
        let (status, _, text) = folder.status(&words, &[]);
        match wanted {
            Some(head) => assert!(status == 0 && folder.read(name).starts_with(head), "{words:?}: {text}"),
            None => assert!(status == 1 || status == 2, "{words:?}: {status}"),
        }
    }
    for near in ["b2n", "b2dn", "bnd", "b2nda", "b2ns"] {
        let (_, text) = folder.fail(&["compress", "a.npy", "-o", &format!("y.{near}")]);
        assert!(text.contains("did you mean") && text.contains(".b2nd"), "{near}: {text}");
    }
    for far in ["b", "dat", "bin", "b2xxx", "raw"] {
        folder.run(&["compress", "a.npy", "-o", &format!("y.{far}")]);
        assert!(folder.read(&format!("y.{far}")).starts_with(FRAME));
    }
}

/// A link that leads where there is no directory says so of that, not of the folder that the link is in.
#[cfg(unix)]
#[test]
fn a_link_to_nowhere_is_explained() {
    let folder = folder("dangling");
    std::os::unix::fs::symlink("nowhere/x.b2nd", folder.path("link.b2nd")).unwrap();
    let (status, text) = folder.fail(&["compress", "a.npy", "-o", "link.b2nd"]);
    assert!(status == 1 && text.contains("there is no directory") && text.contains("nowhere"), "{text}");
    assert!(folder.path("link.b2nd").is_symlink());
}

#[test]
fn npy_files_come_of_all_that_knows_its_type() {
    let folder = folder("kinds");
    let whole = npy(&[20, 6]);
    for (name, options) in [
        ("x.blp", &[][..]),
        ("column", &["--format", "bcolz"]),
        ("set", &["--format", "blaze"]),
        ("x.b2nd", &[]),
    ] {
        folder.run(&[&["compress", "a.npy", "-o", name], options].concat());
        folder.run(&["decompress", name, "-o", "out.npy", "--force"]);
        assert_eq!(folder.read("out.npy"), whole, "{name}");
        let range: &[&str] = if name == "x.b2nd" {
            &["--start", "2,0", "--stop", "4,6"]
        } else {
            &["--start", "2", "--stop", "4"]
        };
        for out in ["out.npy", "out.npz"] {
            folder.run(&[&["slice", name, "-o", out, "--force"], range].concat());
        }
        let (header, rows) = items(&folder.read("out.npy"));
        assert!(header.contains("'shape': (2, 6)"), "{name}: {header}");
        assert_eq!(rows, whole[128 + 48..128 + 96], "{name}");
        folder.run(&["compress", "out.npz", "-o", "arrays", "--force"]);
        assert_eq!(folder.run(&["decompress", "arrays/arr_0.b2nd", "-o", "-"]), rows, "{name}");
    }
    let tensor = format!("{}/../tests/fixtures/wild/tensor.b2frame", env!("CARGO_MANIFEST_DIR"));
    folder.run(&["decompress", &tensor, "-o", "tensor.npy"]);
    let (header, data) = items(&folder.read("tensor.npy"));
    assert!(header.contains("'<i8'") && header.contains("(10,)"), "{header}");
    assert_eq!(data, (0..10u64).flat_map(u64::to_le_bytes).collect::<Vec<_>>());
}

#[test]
fn item_sizes_are_guessed_and_told() {
    let folder = folder("guess");
    let notice = folder.notice(&["compress", "raw", "-o", "x.b2frame"]);
    assert_eq!(notice, "blosc: raw: items look like 4 bytes; using --typesize 4\n");
    assert_eq!(json(&folder.run(&["info", "x.b2frame", "--json"]))["typesize"], 4);
    for options in [&["--typesize", "1"][..], &["--filters", "none"]] {
        assert_eq!(
            folder.notice(&[&["compress", "raw", "-o", "y.b2frame", "--force"], options].concat()),
            ""
        );
    }
    folder.run(&["compress", "raw", "-o", "x.chunk", "--filters", "shuffle,bytedelta"]);
    assert_eq!(folder.run(&["decompress", "x.chunk", "-o", "-"]), folder.read("raw"));
    folder.write("text", "some words, and some more of them; ".repeat(40).as_bytes());
    let (_, text) = folder.fail(&["compress", "text", "-o", "y.chunk", "--filters", "shuffle,bytedelta"]);
    assert!(text.contains("--typesize"), "{text}");
}

#[test]
fn a_block_larger_than_the_data_is_as_large_as_the_data() {
    let folder = folder("clamp");
    folder.write("short", &[7; 100]);
    for name in ["x.chunk", "x.blp", "x.b2frame", "x.sframe"] {
        folder.run(&["compress", "short", "-o", name, "--blocksize", "1K"]);
        assert_eq!(folder.run(&["decompress", name, "-o", "-"]), [7; 100], "{name}");
    }
}

/// Members whose names lead elsewhere, or say something to a terminal, are written nowhere.
#[test]
fn names_from_files_stay_where_they_belong() {
    let folder = folder("names");
    folder.run(&["compress", "a.npy"]);
    let array = folder.read("a.b2nd");
    for (kind, bytes, extension) in [("npz", npy(&[3]), "npy"), ("b2z", array, "b2nd")] {
        for name in ["../up", "/abs", "a/../../b", "esc\x1b[2J", "c:\\d", ".hidden", "new\nline"] {
            let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            let stored =
                zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            zip.start_file(format!("{name}.{extension}"), stored).unwrap();
            zip.write_all(&bytes).unwrap();
            folder.write(&format!("bad.{kind}"), &zip.finish().unwrap().into_inner());
            let words: &[&str] = match kind {
                "npz" => &["compress", "bad.npz", "-o", "out"],
                _ => &["decompress", "bad.b2z", "-o", "out.npz"],
            };
            let (status, text) = folder.fail(words);
            assert!(status == 1 && text.contains("plain name"), "{name:?}: {text}");
            assert!(!text.trim_end().contains(['\x1b', '\n']), "{text:?}");
            assert!(!folder.path("out").exists() && !folder.path("out.npz").exists());
            if kind == "b2z" {
                let shown = folder.run(&["info", "bad.b2z"]);
                assert!(!shown.contains(&0x1b), "{name:?}");
            }
        }
    }
    // Neither a folder nor a text in a .npz file is in the way of its arrays.
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.add_directory("deep/", options).unwrap();
    zip.start_file("README", options).unwrap();
    zip.write_all(b"about").unwrap();
    zip.start_file("deep/x.npy", options).unwrap();
    zip.write_all(&npy(&[3])).unwrap();
    folder.write("good.npz", &zip.finish().unwrap().into_inner());
    assert!(folder.notice(&["compress", "good.npz"]).contains("README"));
    assert_eq!(folder.run(&["decompress", "good/deep/x.b2nd", "-o", "-"]).len(), 12);
}

/// A directory that is no container, or no more than arrays among other files, is never replaced.
#[test]
fn folders_of_the_user_are_not_replaced() {
    let folder = folder("folders");
    for name in ["empty", "arrays"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    folder.run(&["compress", "a.npy", "-o", "arrays/a.b2nd"]);
    folder.write("arrays/notes", b"mine");
    for format in ["sframe", "bcolz", "blaze"] {
        let words = ["compress", "raw", "-o", "arrays", "--format", format, "--force"];
        let (status, text) = folder.fail(&words);
        assert!(status == 1 && text.contains("not replaced"), "{words:?}: {text}");
    }
    for name in ["empty", "arrays"] {
        let (status, text) = folder.fail(&["compress", "raw", "-o", name, "--force"]);
        assert!(status == 1 && text.contains("is a directory"), "{text}");
    }
    assert_eq!(folder.read("arrays/notes"), b"mine");
    for format in ["sframe", "bcolz", "blaze"] {
        folder.run(&["compress", "raw", "-o", "made", "--format", format, "--force"]);
    }
}

/// All members together are held to the limit.
#[test]
fn the_limit_is_that_of_all_members() {
    let folder = folder("limit");
    std::fs::create_dir(folder.path("many")).unwrap();
    for k in 0..5 {
        folder.run(&["compress", "a.npy", "-o", &format!("many/{k}.b2nd")]);
    }
    let (status, text) = folder.fail(&["decompress", "many", "-o", "x.npz", "--max-output", "1000"]);
    assert!(status == 1 && text.contains("--max-output"), "{text}");
    folder.run(&["decompress", "many", "-o", "x.npz", "--max-output", "2400"]);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_as_it_is() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = folder("devices");
    folder.run(&["compress", "a.npy"]);
    let raw = &npy(&[20, 6])[128..];
    for (words, wanted) in [
        (&["decompress", "a.b2nd"][..], raw),
        (&["slice", "a.b2nd", "--start", "0,0", "--stop", "1,1"], &[0, 0, 0, 0]),
    ] {
        for force in [&[][..], &["--force"]] {
            folder.run(&[words, &["-o", "/dev/null"], force].concat());
            assert_eq!(folder.run(&[words, &["-o", "/dev/stdout"], force].concat()), wanted);
            assert_eq!(folder.run(&[words, &["-o", "/proc/self/fd/1"], force].concat()), wanted);
        }
    }
    folder.run(&["compress", "a.npy", "-o", "/dev/null"]);
    folder.run(&["convert", "a.b2nd", "-o", "/dev/null", "--format", "bloscpack", "--force"]);
    folder.run(&["repair", "a.b2nd", "-o", "/dev/null"]);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(
        folder.fail(&["compress", "raw", "-o", "/dev/null", "--format", "sframe"]).1.contains("directory")
    );
    // A FIFO, read by another.
    let fifo = folder.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || std::fs::read(fifo).unwrap()
    });
    folder.run(&["convert", "a.b2nd", "-o", "fifo", "--format", "npy"]);
    assert_eq!(reader.join().unwrap(), npy(&[20, 6]));
    assert!(std::fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    // A link is followed, whether what it names is there or not.
    symlink("target.npy", folder.path("link.npy")).unwrap();
    folder.run(&["decompress", "a.b2nd", "-o", "link.npy"]);
    assert!(folder.fail(&["decompress", "a.b2nd", "-o", "link.npy"]).1.contains("exists"));
    std::fs::set_permissions(folder.path("target.npy"), std::fs::Permissions::from_mode(0o600)).unwrap();
    folder.run(&["decompress", "a.b2nd", "-o", "link.npy", "--force"]);
    assert!(std::fs::symlink_metadata(folder.path("link.npy")).unwrap().is_symlink());
    assert_eq!(folder.read("target.npy"), npy(&[20, 6]));
    let mode = |name: &str| std::fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("target.npy"), 0o600);
    for (name, words) in [
        ("p.b2frame", &["compress", "raw", "-o", "p.b2frame", "--typesize", "4"][..]),
        ("p.blp", &["compress", "raw", "-o", "p.blp", "--typesize", "4"]),
        ("p.b2z", &["compress", "a.npy", "-o", "p.b2z"]),
    ] {
        folder.run(words);
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(0o640)).unwrap();
        folder.run(&[words, &["--force"]].concat());
        assert_eq!(mode(name), 0o640, "{name}");
    }
}

#[test]
fn a_missing_folder_for_temporary_files_is_named() {
    let folder = folder("tmpdir");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_blosc"));
    command
        .args(["compress", "a.npy", "-o", "-"])
        .current_dir(folder.path("."))
        .env("TMPDIR", "/no/such/folder");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && text.contains("TMPDIR") && text.contains("/no/such/folder"),
        "{text}"
    );
}

/// Without `-o` the output is called as the input, with an extension more or less; and what is compressed so comes back
/// under its own name.
#[test]
fn an_output_has_a_name_by_default() {
    let folder = folder("default-name");
    let (raw, array) = (folder.read("raw"), folder.read("a.npy"));
    folder.run(&["compress", "a.npy", "-o", "st.b2z"]);
    folder.write("t.csv", b"a,b\n1,2\n");
    folder.run(&["compress", "t.csv", "-o", "t.b2z"]);
    for (words, gives) in [
        ("compress raw", "raw.b2frame"),
        ("compress raw --format chunk", "raw.chunk"),
        ("compress raw --format bloscpack", "raw.blp"),
        ("compress raw --format bcolz", "raw.bcolz"),
        ("compress raw --dtype <u4 --shape 5000", "raw.b2nd"),
        ("compress a.npy", "a.b2nd"),
        ("compress a.npy --plain", "a.npy.b2frame"),
        ("decompress raw.b2nd --format csv", "raw.csv"),
        ("decompress raw.b2nd", "raw.npy"),
        ("decompress st.b2z", "st.npz"),
    ] {
        folder.run(&words.split(' ').collect::<Vec<_>>());
        assert!(folder.path(gives).exists(), "{words}");
        let (status, text) = folder.fail(&words.split(' ').collect::<Vec<_>>());
        assert!(status == 2 && text.contains("--force"), "{words} a second time: {status} {text}");
    }
    for (words, gives, bytes) in [
        ("decompress raw.b2frame", "raw", &raw),
        ("decompress raw.chunk", "raw", &raw),
        ("decompress raw.blp", "raw", &raw),
        ("decompress a.b2nd", "a.npy", &array),
        ("decompress a.npy.b2frame", "a.npy", &array),
        ("decompress st.b2z:/a", "a.npy", &array),
        ("decompress raw.b2nd --plain", "raw", &raw),
    ] {
        std::fs::remove_file(folder.path(gives)).unwrap();
        folder.run(&words.split(' ').collect::<Vec<_>>());
        assert!(folder.read(gives) == *bytes, "{words}");
    }
    let packed = folder.run_with(&["compress", "-", "--typesize", "4"], &raw);
    assert!(folder.run_with(&["decompress", "-"], &packed) == raw, "from standard input to standard output");
    for (words, says) in [
        ("decompress t.b2z", "name a .csv"),
        ("decompress a.npy", "name the file"),
        ("compress raw --format blaze", "name the file"),
        ("compress raw.bcolz", "convert DIRECTORY"),
    ] {
        let (status, text) = folder.fail(&words.split(' ').collect::<Vec<_>>());
        assert!(status != 0 && text.contains(says), "{words}: {status} {text}");
    }
}

#[test]
fn a_frame_says_how_much_room_in_it_is_free() {
    let folder = folder("free-room");
    folder.run(&[
        "compress",
        "raw",
        "-o",
        "r.b2frame",
        "--typesize",
        "4",
        "--chunksize",
        "4000",
        "--level",
        "0",
    ]);
    let screen = |folder: &Folder| String::from_utf8(folder.run(&["info", "r.b2frame"])).unwrap();
    assert!(!screen(&folder).contains("free room"), "{}", screen(&folder));
    folder.run(&["edit", "r.b2frame", "delete", "1"]);
    assert!(screen(&folder).contains("KiB, which blosc compact gives back"), "{}", screen(&folder));
    // A stored chunk of 4,000 bytes has a header of 32; the index and trailer before took some room as well.
    let free = json(&folder.run(&["info", "r.b2frame", "--json"]))["free_bytes"].as_u64().unwrap();
    assert!((4032..4400).contains(&free), "{free}");
    folder.run(&["compact", "r.b2frame"]);
    assert!(!screen(&folder).contains("free room"), "{}", screen(&folder));
}
