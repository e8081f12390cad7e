//! What a power failure or SIGKILL leaves of what the program replaces. Linux only: the order of system calls is read
//! from `strace`, and limits are set by a shell.

use crate::common::Folder;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A frame, an array, a pack, a column, a dataset and a sparse frame.
const CONTAINERS: [(&str, &[&str]); 6] = [
    ("f.b2frame", &["compress", "plain", "-o", "f.b2frame"]),
    ("a.b2nd", &["compress", "plain", "-o", "a.b2nd", "--dtype", "<i4", "--shape", "2000"]),
    ("p.blp", &["compress", "plain", "-o", "p.blp", "--typesize", "4"]),
    ("col", &["compress", "plain", "-o", "col", "--format", "bcolz", "--dtype", "<i4"]),
    ("set", &["compress", "plain", "-o", "set", "--format", "blaze", "--dtype", "<i4"]),
    ("sparse", &["compress", "plain", "-o", "sparse", "--format", "sframe", "--typesize", "4"]),
];

fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("durable-{name}"));
    let plain: Vec<u8> = (0..2000u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
    folder.write("plain", &plain);
    folder
}

/// One system call of a trace.
enum Call {
    Sync(String),
    Rename(String, String),
    /// Another name of a file, which was flushed when it got its first.
    Link(String),
}

/// What `strace -y` noted, of those calls that succeeded.
fn calls(trace: &str) -> Vec<Call> {
    let quoted = |text: &str| text.split('"').skip(1).step_by(2).map(String::from).collect::<Vec<_>>();
    let call = |line: &str| {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let done = line.ends_with("= 0");
        let of_handle = || Some(line.split_once('<')?.1.rsplit_once('>')?.0.to_string());
        match line.split('(').next()? {
            "fsync" | "fdatasync" if done => of_handle().map(Call::Sync),
            "link" | "linkat" if done => quoted(line).pop().map(Call::Link),
            "rename" | "renameat" | "renameat2" if done => match &quoted(line)[..] {
                [from, to] => Some(Call::Rename(from.clone(), to.clone())),
                _ => None,
            },
            _ => None,
        }
    };
    trace.lines().filter_map(call).collect()
}

/// The files in a directory and in those inside it, or the file itself.
fn files(path: &Path) -> Vec<PathBuf> {
    match fs::read_dir(path) {
        Ok(entries) => entries.flat_map(|entry| files(&entry.unwrap().path())).collect(),
        Err(_) => vec![path.to_path_buf()],
    }
}

/// Checks the order of a command's calls: what is renamed was flushed, all files of a directory too, and the directory
/// it is in is flushed afterwards. In a temporary directory nothing replaces anything yet.
fn check_order(words: &[&str], calls: &[Call], root: &Path) {
    let mut flushed = BTreeSet::new();
    for (n, call) in calls.iter().enumerate() {
        match call {
            Call::Sync(path) => drop(flushed.insert(path.clone())),
            Call::Link(path) => {
                flushed.insert(root.join(path).to_string_lossy().replace("/./", "/"));
            }
            Call::Rename(from, to) => {
                let absolute = |path: &str| root.join(path).to_string_lossy().replace("/./", "/");
                let (from, to) = (absolute(from), absolute(to));
                if Path::new(&to).components().any(|part| part.as_os_str().to_string_lossy().contains(".tmp"))
                {
                    continue;
                }
                // Where a file was removed again, there is nothing to be lost.
                for file in files(Path::new(&to)).iter().filter(|file| file.exists()) {
                    let inside = file.strip_prefix(&to).unwrap();
                    let file = if inside.as_os_str().is_empty() {
                        from.clone().into()
                    } else {
                        Path::new(&from).join(inside)
                    };
                    let file = file.to_string_lossy().into_owned();
                    assert!(flushed.contains(&file), "{words:?}: {file} is renamed, but was not flushed");
                }
                let parent = Path::new(&to).parent().unwrap().to_string_lossy().into_owned();
                let after = |call: &Call| matches!(call, Call::Sync(path) if *path == parent);
                assert!(calls[n..].iter().any(after), "{words:?}: {parent} is not flushed after the rename");
            }
        }
    }
}

#[test]
fn every_replacement_is_flushed_before_its_rename_and_its_directory_after() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("SKIPPED: the order of flushes and renames, for strace is not there");
        return;
    }
    let folder = folder("order");
    folder.write("script", b"delete 0\n");
    let root = fs::canonicalize(folder.path(".")).unwrap();
    let traced = |words: &[&str]| {
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-s", "4096", "-o", "trace"]);
        command.args(["-e", "trace=fsync,fdatasync,rename,renameat,renameat2,linkat"]);
        command.arg(env!("CARGO_BIN_EXE_blosc")).args(words).current_dir(&root);
        let run = command.output().unwrap();
        assert!(run.status.success(), "{words:?}: {}", String::from_utf8_lossy(&run.stderr));
        calls(&String::from_utf8(folder.read("trace")).unwrap())
    };
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for (name, words) in CONTAINERS {
        commands.push(words.to_vec());
        commands.push([words, &["--force"]].concat());
        commands.push(vec!["decompress", name, "-o", "out", "--force"]);
        commands.push(vec!["append", name, "plain"]);
    }
    commands.extend([
        vec!["compress", "plain", "-o", "c.chunk"],
        vec!["convert", "a.b2nd", "-o", "b.b2nd"],
        vec!["convert", "p.blp", "-o", "c.b2nd"],
        vec!["convert", "a.b2nd", "-o", "d.npy"],
        vec!["convert", "col", "-o", "e.blp"],
        vec!["slice", "a.b2nd", "--start", "1", "--stop", "5", "-o", "part"],
        vec!["compact", "f.b2frame"],
        vec!["compact", "sparse", "--strays", "drop"],
        vec!["repair", "f.b2frame", "-o", "g.b2frame"],
        vec!["repair", "sparse", "-o", "repaired"],
        vec!["set", "p.blp", "plain"],
        vec!["set", "col", "plain"],
        vec!["set", "set", "plain"],
        vec!["set", "a.b2nd", "--start", "0", "--stop", "2000", "plain"],
        vec!["resize", "col", "--shape", "5"],
        vec!["resize", "set", "--shape", "5"],
        vec!["resize", "a.b2nd", "--shape", "5"],
        vec!["trim", "p.blp", "5"],
    ]);
    for words in &commands {
        let calls = traced(words);
        assert!(!calls.is_empty(), "{words:?} flushes nothing");
        check_order(words, &calls, &root);
    }
}

/// The numbers of a run: 1,000 kills with `BLOSC_LONG=1`, a tenth of the usual ones with `BLOSC_TENTH=1`.
fn count(short: u64, long: u64) -> u64 {
    let set = |name| std::env::var_os(name).is_some_and(|value| value == "1");
    match () {
        () if set("BLOSC_LONG") => long,
        () if set("BLOSC_TENTH") => short.div_ceil(10),
        () => short,
    }
}

/// Changes of each container, and what it holds afterwards beside what it held: nothing else, or `plain` once more.
const CHANGES: [(&str, &[&str], bool); 15] = [
    ("f.b2frame", &["append", "f.b2frame", "plain"], true),
    ("f.b2frame", &["compact", "f.b2frame"], false),
    ("f.b2frame", &["meta", "set", "f.b2frame", "name", "--vl", "--json", "1"], false),
    ("f.b2frame", &["edit", "f.b2frame", "append", "plain"], true),
    ("sparse", &["append", "sparse", "plain"], true),
    ("sparse", &["compact", "sparse"], false),
    ("sparse", &["edit", "sparse", "append", "plain"], true),
    ("a.b2nd", &["append", "a.b2nd", "plain"], true),
    ("p.blp", &["append", "p.blp", "plain"], true),
    ("p.blp", &["set", "p.blp", "plain", "--start", "0", "--stop", "2000"], false),
    ("col", &["append", "col", "plain"], true),
    ("col", &["set", "col", "plain", "--start", "0", "--stop", "2000"], false),
    ("set", &["append", "set", "plain"], true),
    ("c.b2nd", &["convert", "src.b2nd", "-o", "c.b2nd", "--force"], false),
    (
        "other",
        &["compress", "plain", "-o", "other", "--force", "--format", "sframe", "--typesize", "4"],
        false,
    ),
];

fn blosc(folder: &Folder, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
    command.args(words).current_dir(folder.path(".")).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Makes all containers anew.
fn containers(folder: &Folder) {
    for (_, words) in CONTAINERS {
        folder.run(&[words, &["--force"]].concat());
    }
    folder.run(&["convert", "a.b2nd", "-o", "src.b2nd", "--force"]);
    folder.run(&["convert", "src.b2nd", "-o", "c.b2nd", "--force"]);
    folder.run(&["compress", "plain", "-o", "other", "--force", "--format", "sframe", "--typesize", "4"]);
}

/// Checks that a container holds what it held, or what the change gives; then that the next writer leaves nothing of
/// what the one before left lying about.
fn check(folder: &Folder, (name, words, grows): (&str, &[&str], bool), before: &[u8], what: &str) {
    let plain = folder.read("plain");
    folder.run(&["verify", name]);
    let now = folder.run(&["decompress", name, "-o", "-"]);
    let new = [before, if grows { &plain } else { &[] }].concat();
    assert!(
        now == before || now == new,
        "{words:?}, {what}: {} bytes are left of {}",
        now.len(),
        before.len()
    );
    folder.run(words);
    let report = crate::common::json(&folder.run(&["verify", name, "--json"]));
    assert!(report.get("strays").is_none(), "{words:?}, {what}: {report}");
    let inside = fs::read_dir(folder.path(name)).into_iter().flatten();
    let names = fs::read_dir(folder.path(".")).unwrap().chain(inside).map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains(".tmp")).collect();
    assert!(left.is_empty(), "{words:?}, {what}: {left:?}");
}

#[test]
fn a_command_killed_at_any_moment_leaves_a_whole_state_and_the_next_one_tidies_up() {
    let folder = folder("kills");
    let mut killed = 0;
    containers(&folder);
    let mut random = blosc_testkit::Random(1);
    for round in 0..count(100, 1000) {
        let change = CHANGES[(round % CHANGES.len() as u64) as usize];
        if round % 60 == 59 {
            containers(&folder);
        }
        let before = folder.run(&["decompress", change.0, "-o", "-"]);
        let mut child = blosc(&folder, change.1).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(random.next() % 30_000));
        let _ = child.kill();
        killed += u64::from(!child.wait().unwrap().success());
        check(&folder, change, &before, &format!("round {round}"));
    }
    println!("{killed} commands were killed at work");
}

#[test]
fn a_limit_of_the_size_of_files_at_any_place_leaves_a_whole_state() {
    let folder = folder("limits");
    // Does not compress: each write meets the limit at some place.
    let noise = |n: u32| n.wrapping_mul(2_654_435_761).rotate_left(n % 31).to_le_bytes();
    folder.write("plain", &(0..2000).flat_map(noise).collect::<Vec<_>>());
    containers(&folder);
    for change in CHANGES {
        // Killed by the signal, and told of a full disk.
        for trap in ["", "trap '' XFSZ; "] {
            for blocks in (0..count(40, 40)).step_by(if count(10, 10) == 1 { 20 } else { 9 }) {
                let before = folder.run(&["decompress", change.0, "-o", "-"]);
                let mut shell = Command::new("bash");
                shell.arg("-c").arg(format!("{trap}ulimit -f {blocks}; exec \"$@\"")).arg("bash");
                shell.arg(env!("CARGO_BIN_EXE_blosc")).args(change.1).current_dir(folder.path("."));
                let run = shell.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
                let after = folder.run(&["decompress", change.0, "-o", "-"]);
                assert!(run.success() || after == before, "{:?}: it failed, and changed", change.1);
                check(&folder, change, &before, &format!("{blocks} KiB"));
                containers(&folder);
            }
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_an_error_and_changes_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("readonly");
    containers(&folder);
    let root = folder.path(".");
    let mode = |mode| fs::set_permissions(&root, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    if fs::write(folder.path("probe"), b"").is_ok() {
        mode(0o755);
        println!("SKIPPED: folders that cannot be written to; to root they can");
        return;
    }
    let before = folder.read("f.b2frame");
    for words in [
        &["compress", "plain", "-o", "f.b2frame", "--force"][..],
        &["compact", "f.b2frame"],
        &["convert", "a.b2nd", "-o", "new.b2nd"],
    ] {
        assert_eq!(folder.fail(words).0, 1, "{words:?}");
    }
    assert!(folder.read("f.b2frame") == before);
    mode(0o755);
}

#[test]
fn parallel_appends_lose_nothing_in_any_format() {
    let folder = folder("parallel");
    containers(&folder);
    folder.write("row", &[7; 4]);
    let each = count(20, 200) as usize;
    for (name, _) in CONTAINERS {
        let before = folder.run(&["decompress", name, "-o", "-"]);
        let append = || {
            for _ in 0..each {
                assert!(blosc(&folder, &["append", name, "row"]).status().unwrap().success(), "{name}");
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(append))));
        let now = folder.run(&["decompress", name, "-o", "-"]);
        assert!(now == [before, vec![7; 4 * 4 * each]].concat(), "{name}: {} bytes", now.len());
    }
}

/// Few descriptors, and directories that their maker may not enter: what is made is whole, or it fails and nothing is left.
#[test]
fn a_command_without_the_means_leaves_no_temporary_directories() {
    let folder = folder("means");
    let left = || {
        let names = fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with('.')).collect::<Vec<_>>()
    };
    let shell = |settings: &str, words: &[&str]| {
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(format!("{settings}; exec \"$@\"")).arg("bash").arg(env!("CARGO_BIN_EXE_blosc"));
        shell.args(words).current_dir(folder.path(".")).stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().unwrap().success()
    };
    let of_directories =
        || CONTAINERS.into_iter().filter(|(name, _)| ["col", "set", "sparse"].contains(name));
    let settings = ["umask 0777".to_string()].into_iter().chain((3..14).map(|n| format!("ulimit -n {n}")));
    for settings in settings {
        for (name, words) in of_directories() {
            let done = shell(&settings, words);
            assert_eq!(done, folder.path(name).exists(), "{settings}: {name}");
            assert_eq!(left(), Vec::<std::ffi::OsString>::new(), "{settings}: {name}");
            let _ = Command::new("chmod").args(["-R", "u+rwx"]).arg(folder.path(name)).status();
            let _ = fs::remove_dir_all(folder.path(name));
        }
    }
    for (name, words) in of_directories() {
        folder.run(words);
        for n in 3..14 {
            let before = folder.run(&["decompress", name, "-o", "-"]);
            let done = shell(&format!("ulimit -n {n}"), &["append", name, "plain"]);
            let after = folder.run(&["decompress", name, "-o", "-"]);
            assert_eq!(done, after.len() > before.len(), "{name}: {n} descriptors");
            assert_eq!(left(), Vec::<std::ffi::OsString>::new(), "{name}: {n} descriptors");
        }
    }
}

/// What others left in a directory is told of and stays, until `compact --strays` says what becomes of it.
#[test]
fn what_is_not_counted_is_told_and_kept() {
    let folder = folder("uncounted");
    folder.write("row", &[7; 4]);
    let plain = folder.read("plain");
    let sizes = |rows: &str| format!("{{\"shape\": [{rows}], \"nbytes\": 2000, \"cbytes\": 0}}\n");
    for (name, format) in [("col", "bcolz"), ("set", "blaze")] {
        let make: &[&str] = &["compress", "plain", "-o", name, "--format", format, "--dtype", "<i4"];
        for how in ["take", "drop"] {
            folder.run(&[make, &["--chunksize", "1000", "--force"]].concat());
            folder.write(&format!("{name}/meta/sizes"), sizes("500").as_bytes());
            let before =
                files(&folder.path(name)).into_iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
            let verified = crate::common::json(&folder.run(&["verify", name, "--json"]));
            assert!(
                verified["notes"].to_string().contains("1500 rows more than meta/sizes counts"),
                "{verified}"
            );
            assert!(String::from_utf8_lossy(&folder.run(&["info", name])).contains("not counted"), "{name}");
            let (status, message) = folder.fail(&["append", name, "row"]);
            assert!(status == 1 && message.contains("compact --strays take"), "{message}");
            let after =
                files(&folder.path(name)).into_iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
            assert!(before == after, "{name}: nothing is touched");
            let report = crate::common::json(&folder.run(&["compact", name, "--strays", how, "--json"]));
            let rows = if how == "take" { 2000 } else { 500 };
            assert_eq!((report["rows"].as_u64(), report["found_rows"].as_u64()), (Some(rows), Some(1500)));
            folder.run(&["append", name, "row"]);
            folder.run(&["verify", name]);
            let want = [&plain[..rows as usize * 4], &[7; 4]].concat();
            assert!(folder.run(&["decompress", name, "-o", "-"]) == want, "{name} {how}");
        }
    }
    folder.run(&["compress", "plain", "-o", "sparse", "--format", "sframe", "--typesize", "4"]);
    folder.write("sparse/000000AA.chunk", b"left");
    let strays = |words: &[&str], key: &str| crate::common::json(&folder.run(words))[key].clone();
    for words in [&["append", "sparse", "row"][..], &["compact", "sparse"]] {
        folder.run(words);
        assert_eq!(strays(&["verify", "sparse", "--json"], "strays")[0], "000000AA.chunk", "{words:?}");
    }
    let (status, message) = folder.fail(&["compact", "sparse", "--strays", "take"]);
    assert!(status == 2 && message.contains("repair"), "{message}");
    let removed = strays(&["compact", "sparse", "--strays", "drop", "--json"], "strays_removed");
    assert_eq!(removed[0], "000000AA.chunk");
    assert!(!folder.path("sparse/000000AA.chunk").exists());
    assert!(folder.run(&["decompress", "sparse", "-o", "-"]) == [&plain[..], &[7; 4]].concat());
}
