//! Every kind of input under every command, however it is named: what happens, and that nothing else does.

use crate::common;

use common::{Folder, json};
use std::path::Path;
#[cfg(unix)]
use std::process::{Command, Stdio};

/// A thousand little-endian `i4`.
pub fn raw() -> Vec<u8> {
    (0..1000i32).flat_map(i32::to_le_bytes).collect()
}

/// What each command does to each kind:
/// `ok` succeeds · `all` writes all items · `part` writes items 2 to 4 · `grows`, `sets`, `cuts` change the items ·
/// `no` refuses what cannot be, status 1, and leaves everything as it was · `use` refuses a use that makes no sense,
/// status 2 · `3` cannot tell.
const TABLE: &str = "
kind    info verify decompress slice convert append set  fill  resize
chunk   ok   ok     all        part  no      no     no   no    no
frame   ok   ok     all        part  all     grows  no   grows no
sframe  ok   ok     all        part  all     grows  no   grows no
b2nd    ok   ok     all        part  all     grows  sets use   cuts
sb2nd   ok   ok     all        part  all     grows  sets use   cuts
blp     ok   ok     all        part  all     grows  sets no    cuts
bcolz   ok   ok     all        part  all     grows  sets no    cuts
blaze   ok   ok     all        part  all     grows  sets no    cuts
npy     ok   ok     all        part  all     no     no   no    no
arrays  ok   ok     no         no    use     no     no   no    no
hdf5    no   3      no         no    no      no     no   no    no
zip     no   3      no         no    no      no     no   no    no
gzip    no   3      no         no    no      no     no   no    no
json    no   no     no         no    no      no     no   no    no
empty   no   no     no         no    no      no     no   no    no
folder  no   no     no         no    no      no     no   no    no
";

/// Kinds that are directories.
#[cfg(unix)]
const DIRECTORIES: [&str; 6] = ["sframe", "sb2nd", "bcolz", "blaze", "arrays", "folder"];

/// Makes one of each kind, under its kind's name.
pub fn make(folder: &Folder) {
    folder.write("raw", &raw());
    folder.write("more", &raw()[..40]);
    let array = ["--dtype", "<i4", "--shape", "1000", "--chunks", "300"];
    for (kind, options) in [
        ("chunk", &["--format", "chunk", "--typesize", "4"][..]),
        ("frame", &["--format", "b2frame", "--typesize", "4", "--chunksize", "1200"]),
        ("sframe", &["--format", "sframe", "--typesize", "4", "--chunksize", "1200"]),
        ("b2nd", &[&["--format", "b2nd"][..], &array].concat()),
        ("sb2nd", &[&["--format", "b2nd", "--sparse"][..], &array].concat()),
        ("blp", &["--format", "bloscpack", "--typesize", "4", "--chunksize", "1200"]),
        ("bcolz", &["--format", "bcolz", "--dtype", "<i4", "--chunksize", "1200"]),
        ("blaze", &["--format", "blaze", "--dtype", "<i4", "--chunksize", "1200"]),
    ] {
        folder.run(&[&["compress", "raw", "-o", kind][..], options].concat());
    }
    folder.run(&["convert", "b2nd", "-o", "x.npy", "--format", "npy"]);
    std::fs::rename(folder.path("x.npy"), folder.path("npy")).unwrap();
    std::fs::create_dir(folder.path("arrays")).unwrap();
    std::fs::copy(folder.path("b2nd"), folder.path("arrays/a.b2nd")).unwrap();
    folder.write("hdf5", b"\x89HDF\r\n\x1a\n rest of it, of some length");
    folder.write("zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    folder.write("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    folder.write("json", b"{\"a\": 1}");
    folder.write("empty", b"");
    std::fs::create_dir(folder.path("folder")).unwrap();
}

pub fn words<'a>(verb: &'a str, path: &'a str) -> Vec<&'a str> {
    match verb {
        "info" | "verify" => vec![verb, path],
        "decompress" => vec![verb, path, "-o", "-"],
        "slice" => vec![verb, path, "-o", "-", "--start", "2", "--stop", "5"],
        "convert" => vec![verb, path, "-o", "converted.blp", "--force"],
        "append" => vec![verb, path, "more"],
        "set" => vec![verb, path, "more", "--start", "1", "--stop", "11"],
        "fill" => vec!["edit", path, "fill", "zeros", "10"],
        "resize" => vec![verb, path, "--shape", "990"],
        other => panic!("no command {other}"),
    }
}

/// Every file below a path.
pub fn tree(path: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    if path.is_file() {
        return vec![(path.to_path_buf(), std::fs::read(path).unwrap())];
    }
    let mut all: Vec<_> =
        std::fs::read_dir(path).unwrap().flat_map(|entry| tree(&entry.unwrap().path())).collect();
    all.sort();
    all
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

fn cells() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut lines = TABLE.trim().lines().map(|line| line.split_whitespace());
    let verbs: Vec<_> = lines.next().unwrap().skip(1).collect();
    let mut cells = Vec::new();
    for mut line in lines {
        let kind = line.next().unwrap();
        let row: Vec<_> = line.collect();
        assert_eq!(row.len(), verbs.len(), "{kind}");
        cells.extend(verbs.iter().zip(row).map(|(verb, cell)| (kind, *verb, cell)));
    }
    cells
}

/// Runs one cell of the table on `name`, which is `kind` under some name, and checks what is there afterwards.
fn check(folder: &Folder, verb: &str, name: &str, cell: &str) {
    let (at, mut after) = (folder.path(name), raw());
    let before = tree(&at);
    let (status, out, text) = folder.status(&words(verb, name), &[]);
    let what = format!("{verb} {name}: {status} {text}");
    assert!(!text.contains("panicked"), "{what}");
    match cell {
        "no" => assert!(status == 1 && text.starts_with("blosc: ") && out.is_empty(), "{what}"),
        "3" => assert!(status == 3 && text.contains("cannot tell") && out.is_empty(), "{what}"),
        "use" => assert!(status == 2 && out.is_empty(), "{what}"),
        _ => assert!(status == 0, "{what}"),
    }
    match cell {
        "all" if verb == "convert" => {
            assert!(folder.run(&["decompress", "converted.blp", "-o", "-"]) == after, "{what}");
        }
        "all" => assert!(out == after, "{what}"),
        "part" => assert!(out == after[8..20], "{what}"),
        "grows" if verb == "fill" => after.extend([0; 40]),
        "grows" => after.extend(&raw()[..40]),
        "sets" => after[4..44].copy_from_slice(&raw()[..40]),
        "cuts" => after.truncate(3960),
        _ => {}
    }
    match cell {
        "grows" | "sets" | "cuts" => {
            assert!(folder.run(&["decompress", name, "-o", "-"]) == after, "{what}")
        }
        _ => assert!(tree(&at) == before, "{what}: something has changed"),
    }
}

/// By its own name, under another extension, and through a symbolic link.
#[test]
fn every_command_does_to_every_kind_what_the_table_says() {
    let folder = Folder::new("table");
    make(&folder);
    for (kind, verb, cell) in cells() {
        for name in ["copy", "copy.txt", "copy.npz"] {
            let at = folder.path(name);
            copy(&folder.path(kind), &at);
            check(&folder, verb, name, cell);
            let _ = std::fs::remove_file(&at).or_else(|_| std::fs::remove_dir_all(&at));
        }
        #[cfg(unix)]
        {
            copy(&folder.path(kind), &folder.path("target"));
            std::os::unix::fs::symlink("target", folder.path("link")).unwrap();
            check(&folder, verb, "link", cell);
            assert!(folder.path("link").is_symlink(), "{verb} {kind}: the link has been replaced");
            std::fs::remove_file(folder.path("link")).unwrap();
            let target = folder.path("target");
            let _ = std::fs::remove_file(&target).or_else(|_| std::fs::remove_dir_all(&target));
        }
    }
}

/// From standard input, a FIFO and a device: read like a file, and not changed.
#[cfg(unix)]
#[test]
fn streams_are_read_like_files_and_not_changed() {
    let folder = Folder::new("streams");
    make(&folder);
    assert!(Command::new("mkfifo").arg(folder.path("fifo")).status().unwrap().success());
    for (kind, verb, cell) in cells() {
        if DIRECTORIES.contains(&kind) {
            continue;
        }
        let bytes = folder.read(kind);
        let changes = ["append", "set", "fill", "resize"].contains(&verb);
        // A chunk has no end but its own: nothing is behind it in a stream either.
        for name in ["-", "fifo"] {
            let feed = (name == "fifo" && !changes).then(|| {
                let mut cat = Command::new("sh");
                cat.args(["-c", &format!("cat {kind} > fifo")]).current_dir(folder.path("."));
                cat.stderr(Stdio::null()).spawn().unwrap()
            });
            let (status, out, text) =
                folder.status(&words(verb, name), if name == "-" { &bytes } else { &[] });
            if let Some(mut feed) = feed {
                let _ = feed.kill();
                feed.wait().unwrap();
            }
            let what = format!("{verb} {kind} from {name}: {status} {text}");
            match cell {
                _ if changes => assert!(status == 2 && text.contains("stream"), "{what}"),
                "no" => assert!(status == 1 && out.is_empty(), "{what}"),
                "3" => assert!(status == 3, "{what}"),
                "all" if verb == "convert" => {
                    assert!(status == 0, "{what}");
                    assert!(folder.run(&["decompress", "converted.blp", "-o", "-"]) == raw(), "{what}");
                }
                "all" => assert!(status == 0 && out == raw(), "{what}"),
                "part" => assert!(status == 0 && out == raw()[8..20], "{what}"),
                _ => assert!(status == 0, "{what}"),
            }
        }
        // Devices: one with nothing in it, and one that never ends.
        for device in ["/dev/null", "/dev/zero"] {
            let (status, out, text) = folder.status(&words(verb, device), &[]);
            assert!(
                status == if changes { 2 } else { 1 } && out.is_empty(),
                "{verb} {device}: {status} {text}"
            );
        }
    }
}

/// `--as` another kind is refused, or finds no such thing: it never reads something else.
#[test]
fn a_wrong_kind_is_not_read() {
    let folder = Folder::new("askind");
    make(&folder);
    let kinds = ["chunk", "frame", "sframe", "b2nd", "bloscpack", "bcolz", "blaze"];
    for kind in ["chunk", "frame", "sframe", "b2nd", "sb2nd", "blp", "bcolz", "blaze", "npy", "hdf5", "empty"]
    {
        for named in kinds {
            let right = match (kind, named) {
                ("blp", "bloscpack") | ("sb2nd", "b2nd" | "sframe") | ("b2nd", "frame") => true,
                _ => kind == named,
            };
            for verb in ["verify", "decompress"] {
                let words = [&words(verb, kind)[..], &["--as", named]].concat();
                let (status, out, text) = folder.status(&words, &[]);
                let what = format!("{words:?}: {status} {text}");
                match right {
                    true => assert!(status == 0, "{what}"),
                    false => assert!(status != 0 && out.is_empty() && !text.contains("panicked"), "{what}"),
                }
            }
        }
    }
}

/// Items are taken from whatever holds them, when they are of the container's size and type.
#[test]
fn items_come_from_any_container() {
    let folder = Folder::new("items");
    make(&folder);
    folder.write("bytes", &[1; 12]);
    folder.run(&["compress", "bytes", "-o", "bytes.chunk"]);
    folder.run(&["compress", "raw", "-o", "floats", "--format", "b2nd", "--dtype", "<f4", "--shape", "1000"]);
    let twice = [raw(), raw()].concat();
    for to in ["frame", "sframe", "b2nd", "sb2nd", "blp", "bcolz", "blaze"] {
        for from in ["chunk", "frame", "sframe", "b2nd", "sb2nd", "blp", "bcolz", "blaze", "npy", "raw"] {
            copy(&folder.path(to), &folder.path("to"));
            folder.run(&["append", "to", from]);
            assert!(folder.run(&["decompress", "to", "-o", "-"]) == twice, "append {to} {from}");
            let _ = std::fs::remove_file(folder.path("to"))
                .or_else(|_| std::fs::remove_dir_all(folder.path("to")));
        }
        for (from, says) in [
            ("bytes.chunk", "items of 1 bytes, but the container's have 4"),
            ("hdf5", "HDF5 data"),
            ("gzip", "gzip data"),
            ("zip", "--plain"),
            ("arrays", "several arrays"),
            ("folder", "a directory"),
        ] {
            let (status, text) = folder.fail(&["append", to, from]);
            assert!(status == 1 && text.contains(says), "append {to} {from}: {status} {text}");
        }
    }
    // From standard input, too; and the type counts where both sides tell one.
    let npy = folder.read("npy");
    folder.run_with(&["append", "b2nd", "-"], &npy);
    assert!(folder.run(&["decompress", "b2nd", "-o", "-"]) == twice);
    let (status, text) = folder.fail(&["append", "sb2nd", "floats"]);
    assert!(status == 1 && text.contains("items of <f4, but the container has <i4"), "{text}");
    // Plain bytes, as they are.
    folder.run(&["append", "frame", "npy", "--plain"]);
    assert!(folder.run(&["decompress", "frame", "-o", "-"]) == [raw(), npy].concat());
    for edit in [&["append", "chunk"][..], &["insert", "0", "chunk"], &["update", "0", "sb2nd"]] {
        let mut frame = vec!["edit", "fresh"];
        frame.extend(edit);
        folder.run(&["compress", "raw", "-o", "fresh", "--typesize", "4", "--force"]);
        folder.run(&frame);
        let all = folder.run(&["decompress", "fresh", "-o", "-"]);
        assert!(all == if edit[0] == "update" { raw() } else { twice.clone() }, "{edit:?}");
    }
}

/// Bytes behind the last whole item are part of the whole, and of no item.
#[test]
fn bytes_behind_the_last_item_are_kept() {
    let folder = Folder::new("tail");
    let data = [&raw()[..], b"abc"].concat();
    folder.write("data", &data);
    for format in ["chunk", "b2frame", "sframe", "bloscpack"] {
        folder.run(&["compress", "data", "-o", format, "--format", format, "--typesize", "4"]);
        assert!(folder.run(&["decompress", format, "-o", "-"]) == data, "{format}");
        assert!(folder.run(&["slice", format, "-o", "-", "--start", "-1"]) == raw()[3996..], "{format}");
    }
}

/// What stands for other data is told of, and neither read nor changed.
#[test]
fn placeholders_are_no_data() {
    let folder = Folder::new("placeholders");
    make(&folder);
    for kind in ["frame", "sframe", "b2nd", "sb2nd"] {
        for layer in ["proxy-source", "LazyArray", "b2o"] {
            copy(&folder.path(kind), &folder.path("p"));
            folder.run(&["meta", "set", "p", layer, "--hex", "80"]);
            let before = tree(&folder.path("p"));
            for verb in ["decompress", "slice", "convert", "append", "set", "fill", "resize"] {
                let (status, text) = folder.fail(&words(verb, "p"));
                assert!(
                    status == 1 && text.contains("placeholders"),
                    "{verb} {kind} {layer}: {status} {text}"
                );
            }
            let (status, text) = folder.fail(&["append", "blp", "p"]);
            assert!(status == 1 && text.contains("placeholders"), "{text}");
            assert!(!folder.path("out").exists() && tree(&folder.path("p")) == before);
            assert!(json(&folder.run(&["info", "p", "--json"]))["carries"].as_str().is_some());
            folder.run(&["verify", "p"]);
            let _ =
                std::fs::remove_file(folder.path("p")).or_else(|_| std::fs::remove_dir_all(folder.path("p")));
        }
    }
    // Records of another library are read, but not added to byte by byte.
    folder.run(&["meta", "set", "frame", "vlarray", "--hex", "80"]);
    folder.run(&["decompress", "frame", "-o", "-"]);
    assert!(folder.fail(&["append", "frame", "more"]).1.contains("would break it"));
}

/// What lies behind the end of a frame, chunk or bloscpack file is told of.
#[test]
fn bytes_behind_the_end_are_not_passed_over() {
    let folder = Folder::new("behind");
    make(&folder);
    for kind in ["chunk", "frame", "b2nd", "blp"] {
        let one = folder.read(kind);
        let second = if kind == "chunk" { folder.read("chunk") } else { folder.read("frame") };
        let at = one.len().to_string();
        folder.write("two", &[&one[..], &second].concat());
        let (status, text) = folder.fail(&["verify", "two"]);
        assert!(status == 3 && text.contains("cannot tell") && text.contains(&at), "{kind}: {status} {text}");
        let report: serde_json::Value = json(&folder.status(&["verify", "two", "--json"], &[]).1);
        assert_eq!(report["trailing_bytes"].as_u64(), Some(second.len() as u64), "{kind}");
        assert_eq!((report["verdict"].as_str(), report["ok"].as_bool()), (Some("cannot tell"), Some(false)));
        let told = folder.notice(&["decompress", "two", "-o", "out", "--force"]);
        assert!(told.contains(&format!("--offset {at} reads them")), "{kind}: {told}");
        assert!(folder.run(&["decompress", "two", "-o", "-", "--offset", &at]) == raw(), "{kind}");
        folder.run(&["verify", "two", "--offset", &at]);
        // Bytes that are nothing are counted.
        folder.write("two", &[&one[..], b"rest"].concat());
        assert_eq!(
            json(&folder.run(&["verify", "two", "--json"]))["trailing_bytes"].as_u64(),
            Some(4),
            "{kind}"
        );
        assert!(
            folder.notice(&["decompress", "two", "-o", "out", "--force"]).contains("4 more bytes"),
            "{kind}"
        );
    }
}

/// A mistake in the data is never called one of the command line, and what cannot be checked is not called damaged.
#[test]
fn statuses_say_whose_fault_it_is() {
    let folder = Folder::new("statuses");
    make(&folder);
    // A filter that needs the shape of an array's blocks, in a chunk by itself.
    folder.write("square", &(0..1024).map(|i| (i / 32 + i % 32) as u8).collect::<Vec<_>>());
    let array = ["compress", "square", "-o", "cells.b2nd", "--dtype", "|u1", "--shape", "32,32"];
    folder.run(&[&array[..], &["--chunks", "32,32", "--blocks", "16,16", "--filters", "ndcell:4"]].concat());
    let info = json(&folder.run(&["info", "cells.b2nd", "--json"]));
    let at = info["header_len"].to_string();
    for words in [["decompress", "cells.b2nd"], ["slice", "cells.b2nd"]] {
        let words = [&words[..], &["-o", "-", "--as", "chunk", "--offset", &at]].concat();
        let (status, text) = folder.fail(&words);
        assert!(status == 1, "{words:?}: {status} {text}");
    }
    let (status, text) = folder.fail(&["verify", "cells.b2nd", "--as", "chunk", "--offset", &at]);
    assert!(status == 3 && text.contains("cannot tell"), "{status} {text}");
    // A codec that nothing here has: bits 5 to 7 of the chunk's flags.
    let mut chunk = folder.read("chunk");
    chunk[2] |= 0xe0;
    chunk[22] = 77;
    folder.write("codec", &chunk);
    let report = json(&folder.status(&["verify", "codec", "--json"], &[]).1);
    assert_ne!(report["verdict"].as_str(), Some("intact"), "{report}");
    for (words, status) in [
        ("compress square -o out.chunk --filters ndcell:4", 2),
        ("compress square -o out.b2frame --typesize 4 --codec ndlz", 2),
        ("edit frame delete 99", 2),
        ("decompress nowhere -o out", 1),
        ("verify nowhere", 3),
        ("slice b2nd -o out --start 2000 --stop 2001", 2),
        ("slice b2nd -o out --start 9 --stop 0 --step -1", 2),
        ("slice b2nd -o out --step 0", 2),
        ("decompress frame -o out --column x", 2),
        ("info chunk --lock --offset 99999", 2),
    ] {
        let (code, text) = folder.fail(&words.split(' ').collect::<Vec<_>>());
        assert!(code == status && !folder.path("out").exists(), "{words}: {code} {text}");
    }
}

/// The file is opened once, when its lock is held.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_changed_is_opened_once() {
    let folder = Folder::new("once");
    make(&folder);
    let strace = |words: &[&str]| {
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=open,openat,openat2,flock,fcntl", "-o", "log"]);
        command.arg(env!("CARGO_BIN_EXE_blosc")).args(words).current_dir(folder.path("."));
        command.stdout(Stdio::null()).stderr(Stdio::null()).status()
    };
    if !strace(&["info", "frame"]).is_ok_and(|status| status.success()) {
        return eprintln!("SKIPPED: no strace that works here: how often a file is opened is not counted");
    }
    for (kind, verb) in [
        ("frame", "append"),
        ("frame", "fill"),
        ("b2nd", "append"),
        ("b2nd", "set"),
        ("b2nd", "resize"),
        ("blp", "append"),
        ("blp", "set"),
        ("frame", "info"),
        ("b2nd", "slice"),
        ("chunk", "decompress"),
    ] {
        let words = [&words(verb, kind)[..], &["--lock"]].concat();
        assert!(strace(&words).unwrap().success(), "{words:?}");
        let log = String::from_utf8(folder.read("log")).unwrap();
        let name = format!("/{kind}\"");
        let named = |line: &&str| line.contains(&name) || line.contains(&format!("\"{kind}\""));
        let opened: Vec<_> = log.lines().filter(|line| line.contains("open") && named(line)).collect();
        assert_eq!(opened.len(), 1, "{words:?}: {opened:#?}");
        let at = |what: &str| log.lines().position(|line| line.contains(what));
        assert!(at("LOCK_").unwrap() < at(&name).unwrap(), "{words:?}: opened before its lock is held");
    }
}

/// Only the formats' own modules, and the one place that decides, know how files begin.
#[test]
fn what_files_begin_with_is_known_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let magic = ["b2frame\\0", "b\"blpk", "\\x93NUMPY", "PK\\x03", "PK\\x05", "\\x89HDF", "PAR1", "MAGIC"];
    let home = [
        "src/kind.rs",
        "cframe/",
        "bloscpack/",
        "npy/",
        "schunk/checksum.rs",
        "bcolz/",
        "blpk/",
        "store/zip.rs",
    ];
    let mut files = tree(&root.join("src"));
    files.extend(tree(&root.join("../src")));
    assert!(files.len() > 100);
    for (path, text) in files {
        let (path, text) = (path.to_string_lossy().replace('\\', "/"), String::from_utf8(text).unwrap());
        if home.iter().any(|home| path.contains(home)) {
            continue;
        }
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let found = magic.iter().find(|magic| line.contains(**magic));
            assert!(found.is_none(), "{path}:{}: knows how a file begins: {line}", n + 1);
        }
    }
}
