//! What `info` and `ls` show, and what comes out of stores and tables.

use crate::common::{Folder, json};
#[cfg(unix)]
use std::process::Command;

fn wild(name: &str) -> String {
    format!("{}/../tests/fixtures/wild/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_first_screen_says_what_matters() {
    let folder = Folder::new("screen");
    folder.write("raw", &(0..6000u32).flat_map(|n| (n / 3).to_le_bytes()).collect::<Vec<_>>());
    let array = ["--dtype", "<i4", "--shape", "60,100", "--chunks", "20,100", "--blocks", "5,100"];
    folder.run(&[&["compress", "raw", "-o", "a.b2nd"], &array[..]].concat());
    folder.run(&["meta", "set", "--vl", "a.b2nd", "unit", "--json", "{\"m\": [1, null]}"]);
    // A file by itself asks what it is.
    let shown = text(folder.run(&["a.b2nd"]));
    assert_eq!(shown, text(folder.run(&["info", "a.b2nd"])));
    for wanted in [
        "Blosc2 array (b2nd) in a contiguous frame\n",
        "6,000 of dtype <i4, shape (60, 100)",
        "23.44 KiB → ",
        "shuffle → blosclz, level 5",
        "3 of (20, 100): 2,000 items, 7.81 KiB each",
        "(5, 100): 500 items, 1.95 KiB each",
        "xxh3",
        "vlmetalayer unit",
        "{\"m\":[1,null]}",
        "preview",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    assert!(!shown.contains("general_flags") && !shown.contains('\x1b'), "{shown}");
    assert!(text(folder.run(&["info", "a.b2nd", "--all"])).contains("general_flags"));
    for (name, options, wanted) in [
        ("x.b2frame", &["--typesize", "4"][..], "Blosc2 contiguous frame"),
        ("x.chunk", &["--typesize", "4"], "Blosc chunk of blocks"),
        ("x.blp", &["--typesize", "4"], "bloscpack file"),
        ("column", &["--format", "bcolz", "--dtype", "<i4"], "bcolz column"),
        ("set", &["--format", "blaze", "--dtype", "<i4"], "Blaze dataset"),
    ] {
        folder.run(&[&["compress", "raw", "-o", name], options].concat());
        let shown = text(folder.run(&["info", name]));
        assert!(shown.starts_with(wanted) && shown.contains("shuffle → blosclz"), "{name}: {shown}");
    }
    // The descriptors of bcolz count the last chunk as if it were full and plain.
    let files = std::fs::read_dir(folder.path("column/data")).unwrap();
    let stored: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    let told = json(&folder.run(&["info", "column", "--json"]));
    assert!(told["stored_bytes"] == stored && told["cbytes"].as_u64() > Some(stored), "{stored}: {told}");
    let ratio = format!("ratio {:.2}\n", 24_000.0 / stored as f64);
    assert!(text(folder.run(&["info", "column"])).contains(&ratio), "{ratio}");
    let (status, message) = folder.fail(&["comprss", "raw"]);
    assert!(status == 2 && message.contains("'compress'"), "{message}");
}

#[test]
fn directories_and_stores_are_listed() {
    let folder = Folder::new("list");
    folder.write("raw", &[7; 4000]);
    std::fs::create_dir_all(folder.path("d/deep")).unwrap();
    folder.run(&["compress", "raw", "-o", "d/deep/a.b2frame"]);
    folder.write("d/notes", b"words, and nothing that begins like Blosc data");
    let shown = text(folder.run(&["ls", "d"]));
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].starts_with("deep/")
            && lines[1].trim_start().starts_with("a.b2frame  Blosc2 contiguous frame"),
        "{shown}"
    );
    assert!(lines[2].starts_with("notes"), "{shown}");
    for name in ["store.b2d", "store.b2z"] {
        let shown = text(folder.run(&["ls", &wild(name)]));
        assert!(
            shown.contains("/deep/b.b2nd") && shown.contains("12 of dtype <u2, shape (3, 4)"),
            "{name}: {shown}"
        );
        let entries = json(&folder.run(&["ls", "--json", &wild(name)]));
        assert_eq!(entries["entries"][1]["info"]["dtype"], "<u2", "{entries}");
        let leaf = format!("{}:/deep/b", wild(name));
        let items: Vec<u8> = (0..12u16).flat_map(u16::to_le_bytes).collect();
        assert_eq!(folder.run(&["decompress", &leaf, "-o", "-"]), items);
        assert_eq!(folder.run(&["slice", &leaf, "--start", "1,0", "--stop", "2,1", "-o", "-"]), items[8..10]);
        assert_eq!(json(&folder.run(&["verify", &leaf, "--json"]))["ok"], true);
        folder.run(&["convert", &leaf, "-o", "leaf.npy", "--force"]);
        let (status, message) = folder.fail(&["info", &format!("{}:/none", wild(name))]);
        assert!(status == 1 && message.contains("/none"), "{message}");
    }
}

/// A folder that cannot be read is named, and the list goes on to its end.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_does_not_end_the_list() {
    let folder = Folder::new("unread");
    folder.write("raw", &[7; 4000]);
    folder.run(&["compress", "raw", "-o", "z.b2frame"]);
    // So deep that no path of the system's length leads to the last folder.
    let name = "d".repeat(250);
    let deep = format!("for i in $(seq 18); do mkdir {name} && cd -P {name} || exit 1; done");
    let made = Command::new("sh").args(["-c", &deep]).current_dir(folder.path(".")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (status, out, message) = folder.status(&["ls", "."], &[]);
    let shown = text(out);
    let last = shown.lines().last().unwrap();
    assert!(last.starts_with("z.b2frame") && last.contains("Blosc2 contiguous frame"), "{shown}");
    assert_eq!(status, 1);
    assert!(message.contains(&format!("{name}: ")) && message.contains("in 1 of the folders"), "{message}");
    let out = folder.status(&["ls", ".", "--json"], &[]).1;
    let entries = json(&out)["entries"].as_array().unwrap().len();
    assert_eq!(entries, shown.lines().count());
}

/// A directory that is no container is not walked through: what lies in it is listed, and how to see more is said.
#[test]
fn info_of_a_directory_lists_what_lies_in_it() {
    let folder = Folder::new("level");
    folder.write("raw", &[7; 4000]);
    std::fs::create_dir_all(folder.path("d/deep")).unwrap();
    folder.run(&["compress", "raw", "-o", "d/deep/inner.b2frame"]);
    folder.run(&["compress", "raw", "-o", "d/a.b2frame"]);
    let (status, out, message) = folder.status(&["info", "d"], &[]);
    let shown = text(out);
    assert!(status == 0 && shown.contains("a.b2frame  Blosc2") && shown.contains("deep/"), "{shown}");
    assert!(!shown.contains("inner") && message.contains("`blosc ls` lists"), "{shown}{message}");
    let info = json(&folder.run(&["info", "d", "--json"]));
    assert!(info["kind"] == "directory" && info["entries"].as_array().unwrap().len() == 2, "{info}");
    let (status, message) = folder.fail(&["info", "d", "--column", "x"]);
    assert!(status == 2 && message.contains("--column"), "{message}");
}

/// What lies embedded in a store's root comes out, too; what no array is stops it.
#[test]
fn a_store_comes_out_whole_or_not_at_all() {
    let folder = Folder::new("whole");
    let store = wild("dict.b2z");
    let (status, message) = folder.fail(&["decompress", &store, "-o", "x.npz"]);
    assert!(
        status == 1 && message.contains("/s (frame)") && message.contains("/ba (batch array)"),
        "{message}"
    );
    assert!(!folder.path("x.npz").exists());
    let notice = folder.notice(&["decompress", &store, "-o", "x.npz", "--partial"]);
    assert!(notice.contains("not kept: /s"), "{notice}");
    folder.run(&["compress", "x.npz", "-o", "x"]);
    for name in ["a", "g/b"] {
        assert_eq!(
            folder.run(&["decompress", &format!("x/{name}.b2nd"), "-o", "-"]),
            folder.run(&["decompress", &format!("{store}:/{name}"), "-o", "-"]),
            "{name}"
        );
    }
}

/// Rows that were deleted from a table do not come out.
#[test]
fn a_table_gives_the_rows_that_live() {
    let folder = Folder::new("table");
    folder.run(&["decompress", &wild("table.b2d"), "-o", "t.npz"]);
    folder.run(&["compress", "t.npz", "-o", "t"]);
    let shown = text(folder.run(&["info", &wild("table.b2d")]));
    assert!(shown.starts_with("table of python-blosc2 in a b2d store: 97 rows, 100 stored"), "{shown}");
    let info = json(&folder.run(&["info", "t/x.b2nd", "--json"]));
    assert_eq!(info["shape"], serde_json::json!([97]));
    let stored = folder.run(&["decompress", &format!("{}:/_cols/x", wild("table.b2d")), "-o", "-"]);
    let living = folder.run(&["decompress", &format!("{}:/_valid_rows", wild("table.b2d")), "-o", "-"]);
    let wanted: Vec<u8> = stored
        .chunks(4)
        .zip(&living)
        .filter(|(_, lives)| **lives != 0)
        .flat_map(|(item, _)| item.to_vec())
        .collect();
    assert_eq!(folder.run(&["decompress", "t/x.b2nd", "-o", "-"]), wanted);
}

/// Labels stand out on a terminal only, and not where NO_COLOR is set.
#[cfg(target_os = "linux")]
#[test]
fn colours_are_for_terminals() {
    let folder = Folder::new("colours");
    folder.write("raw", &[7; 4000]);
    folder.run(&["compress", "raw", "-o", "a.b2frame"]);
    let run = |value: &str| {
        let line = format!("{} info a.b2frame", env!("CARGO_BIN_EXE_blosc"));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path(".")).env("NO_COLOR", value);
        command.stdin(std::process::Stdio::null()).output()
    };
    match (run(""), run("1")) {
        (Ok(coloured), Ok(plain)) if coloured.status.success() => {
            assert!(coloured.stdout.contains(&0x1b) && !plain.stdout.contains(&0x1b));
        }
        _ => eprintln!("skipped: there is no `script` to make a terminal with"),
    }
}
