//! What people get wrong, and inputs that are not what they seem: each is named in the user's words, and nothing is lost.

use crate::common;
use crate::inputs::{make, raw, tree, words};

use common::{Folder, json};

/// The user's mistake is named, not a byte of an encoding.
#[test]
fn mistakes_are_named() {
    let folder = Folder::new("named");
    make(&folder);
    for (words, says) in [
        ("info sframe/chunks.b2frame", "name the directory"),
        ("append sframe/chunks.b2frame more", "name the directory"),
        ("info hdf5", "HDF5 data"),
        ("decompress gzip -o out", "unpack it first"),
        ("info zip", "zip file"),
        ("compress raw -o out --dtype <i4 --shape 20,50 --chunks 0,50 --format b2nd", "--chunks 0,50"),
        ("compress raw -o out --dtype <i4 --shape 20,50 --blocks 0,50 --format b2nd", "--blocks 0,50"),
        (
            "compress raw -o out --dtype <i4 --shape 20000,50000 --chunks 20000,50000 --format b2nd",
            "2147483615 bytes at most",
        ),
        ("compress raw -o out --dtype <i4 --shape 20,51 --format b2nd", "tell 4080 bytes of items"),
        ("compress raw -o out --dtype |V0 --shape 20 --format b2nd", "--dtype |V0"),
        ("resize b2nd --shape 100000000000", "chunks = "),
        ("slice b2nd -o out --start 9 --stop 0 --step -1", "give the smaller number as --start"),
        ("set frame more", "no array"),
    ] {
        let (_, text) = folder.fail(&words.split(' ').collect::<Vec<_>>());
        assert!(text.contains(says) && !text.contains(" at byte "), "{words}: {text}");
    }
}

/// A column that cannot be opened is named, and the others can be read.
#[test]
fn a_damaged_column_is_named_and_the_others_are_read() {
    let folder = Folder::new("columns");
    folder.write("raw", &raw());
    folder.run(&[
        "compress",
        "raw",
        "-o",
        "pairs",
        "--format",
        "bcolz",
        "--dtype",
        "[('f0', '<i4'), ('f1', '<i4')]",
    ]);
    let column = folder.run(&["decompress", "pairs", "--column", "f1", "-o", "-"]);
    std::fs::remove_file(folder.path("pairs/f0/meta/sizes")).unwrap();
    for verb in ["info", "verify", "decompress"] {
        let (_, text) = folder.fail(&words(verb, "pairs"));
        assert!(text.contains("column f0") && text.contains("--column NAME"), "{verb}: {text}");
    }
    assert!(folder.run(&["decompress", "pairs", "--column", "f1", "-o", "-"]) == column);
    assert!(folder.fail(&["decompress", "pairs", "--column", "f0", "-o", "-"]).1.contains("f0"));
}

/// Members of a `.npz` file that are no arrays are left out, and no two become one.
#[test]
fn other_members_of_npz_files_are_left_out() {
    use std::io::Write;
    let folder = Folder::new("members");
    make(&folder);
    let npy = folder.read("npy");
    let archive = |name: &str, members: &[(&str, &[u8])]| {
        let mut zip = zip::ZipWriter::new(std::fs::File::create(folder.path(name)).unwrap());
        let options = zip::write::SimpleFileOptions::default();
        for (name, bytes) in members {
            match name.ends_with('/') {
                true => zip.add_directory(*name, options).unwrap(),
                false => {
                    zip.start_file(*name, options).unwrap();
                    zip.write_all(bytes).unwrap();
                }
            }
        }
        zip.finish().unwrap();
    };
    archive("a.npz", &[("g/", b""), ("README.txt", b"read me"), ("g/x.npy", &npy)]);
    let told = folder.notice(&["compress", "a.npz", "-o", "a"]);
    assert!(told.contains("README.txt"), "{told}");
    assert!(folder.run(&["decompress", "a/g/x.b2nd", "-o", "-"]) == raw());
    archive("inside.npz", &[("x.npy", &npy), ("x.b2nd/y.npy", &npy)]);
    let (status, text) = folder.fail(&["compress", "inside.npz", "-o", "inside"]);
    assert!(status == 1 && text.contains("x.b2nd and x.b2nd/y.b2nd"), "{status} {text}");
    archive("b.npz", &[("x", &npy), ("x.npy", &npy)]);
    let (status, text) = folder.fail(&["compress", "b.npz", "-o", "b"]);
    assert!(status == 1 && text.contains("two members would become x.b2nd"), "{text}");
    assert!(!folder.path("b").exists());
}

/// An archive that comes as a stream, or under another name, is what it holds all the same.
#[test]
fn archives_are_known_by_what_they_hold() {
    let folder = Folder::new("archives");
    make(&folder);
    std::fs::copy(folder.path("npy"), folder.path("a.npy")).unwrap();
    folder.run(&["convert", "a.npy", "-o", "a.npz"]);
    let npz = folder.read("a.npz");
    folder.write("a.zip", &npz);
    for (name, input) in [("a.npz", &[][..]), ("a.zip", &[]), ("-", &npz)] {
        folder.run_with(&["compress", name, "-o", "made.b2z", "--force"], input);
        assert!(folder.run(&["decompress", "made.b2z:/arr_0", "-o", "-"]) == raw(), "{name}");
        let b2z = folder.read("made.b2z");
        for verb in ["info", "ls", "verify"] {
            folder.run_with(&[verb, "-"], &b2z);
        }
        folder.run_with(&["decompress", "-", "-o", "back.npz", "--force"], &b2z);
        folder.run(&["compress", "back.npz", "-o", "back.b2d"]);
        assert!(folder.run(&["decompress", "back.b2d/arr_0.b2nd", "-o", "-"]) == raw(), "{name}");
        std::fs::remove_dir_all(folder.path("back.b2d")).unwrap();
    }
    // As plain bytes, and other archives, all is taken as it is.
    folder.run_with(&["compress", "-", "--plain", "-o", "plain.b2frame"], &npz);
    assert!(folder.run(&["decompress", "plain.b2frame", "-o", "-"]) == npz);
    let empty = folder.read("zip");
    folder.run_with(&["compress", "-", "-o", "other.b2frame"], &empty);
    assert!(folder.run(&["decompress", "other.b2frame", "-o", "-"]) == empty);
    let told = folder.notice(&["compress", "frame", "-o", "twice.b2frame"]);
    assert!(told.contains("compressed by Blosc already"), "{told}");
}

/// More than there is room for is not read to its end, which it may not have.
#[cfg(unix)]
#[test]
fn endless_inputs_end() {
    let folder = Folder::new("endless");
    make(&folder);
    for (words, says) in [
        (&["set", "b2nd", "/dev/zero"][..], "more than the 4000 bytes"),
        (&["edit", "frame", "--script", "/dev/zero"], "more than 67108864 bytes"),
        (&["repair", "/dev/zero", "-o", "out.b2frame"], "a stream"),
    ] {
        let (_, text) = folder.fail(words);
        assert!(text.contains(says), "{words:?}: {text}");
    }
}

/// A result does not take the place of a container's own files.
#[test]
fn nothing_is_put_into_a_container() {
    let folder = Folder::new("inside");
    make(&folder);
    let kinds =
        [("sframe", "00000000.chunk"), ("bcolz", "data/__0.blp"), ("bcolz", "x.b2frame"), ("blaze", "a.blp")];
    for (kind, name) in kinds {
        let before = tree(&folder.path(kind));
        let out = format!("{kind}/{name}");
        for words in [
            &["compress", "raw", "--typesize", "4"][..],
            &["convert", "frame"],
            &["decompress", "frame", "--plain"],
            &["convert", kind],
        ] {
            let (status, text) = folder.fail(&[words, &["-o", &out, "--force"]].concat());
            assert!(status == 2, "{words:?} {out}: {status} {text}");
        }
        assert!(tree(&folder.path(kind)) == before, "{out}");
    }
}

/// Names that something else is called by, or that cannot be any.
#[test]
fn names_that_are_taken_are_refused() {
    let folder = Folder::new("taken");
    make(&folder);
    folder.run(&[
        "compress",
        "raw",
        "-o",
        "t",
        "--format",
        "bcolz",
        "--dtype",
        "[('f0', '<i4'), ('f1', '<i4')]",
    ]);
    for name in ["../evil", "x/y", "f1", "__attrs__"] {
        for words in
            [&["column", "add", "t", name, "raw", "--dtype", "<i8"][..], &["column", "mv", "t", "f0", name]]
        {
            let (status, text) = folder.fail(words);
            assert!(status == 2 && text.contains(&format!("{name:?}")), "{words:?}: {status} {text}");
        }
    }
    for kind in ["frame", "sframe", "b2nd"] {
        let (status, text) = folder.fail(&["meta", "set", kind, ".checksums", "--vl", "--hex", "00"]);
        assert!(status == 2 && text.contains("kept for the checksums"), "{text}");
    }
}

/// The leaf of a store is an array or frame for every command that takes one.
#[test]
fn leaves_of_stores_are_frames() {
    let folder = Folder::new("leaves");
    make(&folder);
    std::fs::copy(folder.path("npy"), folder.path("a.npy")).unwrap();
    folder.run(&["compress", "a.npy", "-o", "s.b2d"]);
    folder.run(&["meta", "set", "s.b2d:/a", "unit", "--vl", "--json", "\"m\""]);
    let list = json(&folder.run(&["meta", "list", "s.b2d:/a", "--vl", "--json"]));
    assert_eq!(list["unit"]["value"].as_str(), Some("m"), "{list}");
    folder.run(&["compact", "s.b2d:/a"]);
    // Its items are taken like those of any container.
    folder.run(&["append", "b2nd", "s.b2d:/a"]);
    assert!(folder.run(&["decompress", "b2nd", "-o", "-"]) == [raw(), raw()].concat());
    let (status, text) = folder.fail(&["append", "b2nd", "s.b2d:/none"]);
    assert!(status == 1 && text.contains("/none"), "{text}");
    assert!(folder.run(&["decompress", "s.b2d:/a", "-o", "-"]) == raw());
    folder.run(&["compress", "a.npy", "-o", "s.b2z"]);
    assert!(folder.fail(&["meta", "set", "s.b2z:/a", "unit", "--vl", "--hex", "00"]).1.contains("zip file"));
    folder.run(&["meta", "list", "s.b2z:/a"]);
}

/// What follows the items of a NumPy file, such as a second one, is told of, and read where that is asked for.
#[test]
fn bytes_behind_a_numpy_file_are_not_passed_over() {
    let folder = Folder::new("behind");
    folder.write("raw", &[1, 2, 3, 4]);
    folder.run(&["compress", "raw", "-o", "a.b2nd", "--dtype", "|u1", "--shape", "4"]);
    folder.run(&["decompress", "a.b2nd", "-o", "a.npy"]);
    folder.run(&["slice", "a.b2nd", "--start", "1", "-o", "b.npy"]);
    let (a, b) = (folder.read("a.npy"), folder.read("b.npy"));
    folder.write("two.npy", &[&a[..], &b].concat());
    let told = folder.notice(&["decompress", "two.npy", "-o", "copy.npy"]);
    assert!(told.contains("--offset 132 reads them") && folder.read("copy.npy") == a, "{told}");
    assert_eq!(folder.run(&["decompress", "two.npy", "--offset", "132", "-o", "-"]), [2, 3, 4]);
    assert!(folder.notice(&["convert", "two.npy", "-o", "copy.blp"]).contains("--offset 132"));
    let (status, text) = folder.fail(&["verify", "two.npy"]);
    assert!(status == 3 && text.contains("--offset 132"), "{status} {text}");
    for output in ["out.b2nd", "out.blp", "out.b2z"] {
        let (status, text) = folder.fail(&["compress", "two.npy", "-o", output]);
        assert!(status == 1 && text.contains("more bytes than type and shape tell"), "{output}: {text}");
    }
}

/// What lies behind a container in its file and could be read is not written over.
#[test]
fn changes_do_not_overwrite_what_is_behind() {
    let folder = Folder::new("over");
    make(&folder);
    folder.run(&["compress", "raw", "-o", "a.b2frame", "--typesize", "4"]);
    folder.run(&["convert", "a.b2frame", "-o", "a.blp"]);
    folder.run(&["compress", "raw", "-o", "a.b2nd", "--dtype", "<i4", "--shape", "1000"]);
    for name in ["a.b2frame", "a.b2nd", "a.blp"] {
        let one = folder.read(name);
        folder.write(name, &[&one[..], &one].concat());
        let two = folder.read(name);
        let at = format!("--offset {}", one.len());
        for words in [
            &["append", name, "raw", "--plain"][..],
            &["resize", name, "--shape", "1"],
            &["edit", name, "delete", "0"],
            &["compact", name],
            &["meta", "set", name, "x", "--hex", "00"],
        ] {
            let (status, text) = folder.fail(words);
            let told = text.contains(&at) || text.contains("no frame") || text.contains("no array");
            assert!(status == 1 && told && folder.read(name) == two, "{words:?}: {status} {text}");
        }
    }
}

/// An item without dimensions is read as a whole: no part of it makes a file whose header promises an item.
#[test]
fn an_item_without_dimensions_has_no_rows() {
    let folder = Folder::new("scalar");
    folder.write("raw", &[1, 2, 3, 4]);
    folder.run(&["compress", "raw", "-o", "one.b2nd", "--dtype", "<i4", "--shape", "1"]);
    folder.run(&["decompress", "one.b2nd", "-o", "one.npy"]);
    let mut npy = folder.read("one.npy");
    let at = npy.windows(4).position(|text| text == b"(1,)").unwrap();
    npy[at..at + 4].copy_from_slice(b"()  ");
    folder.write("a.npy", &npy);
    folder.run(&["compress", "a.npy", "-o", "a.b2nd"]);
    folder.run(&["compress", "a.npy", "-o", "a.blp"]);
    for name in ["a.npy", "a.b2nd", "a.blp"] {
        assert_eq!(folder.run(&["slice", name, "-o", "-"]), [1, 2, 3, 4], "{name}");
        for output in ["out.npy", "out"] {
            let (status, text) = folder.fail(&["slice", name, "--start", "0", "--stop", "0", "-o", output]);
            assert!(status == 2 && text.contains("0 dimensions"), "{name}: {status} {text}");
        }
    }
}
