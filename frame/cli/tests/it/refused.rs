//! What the command says when it cannot do what it is asked, and what it leaves behind: nothing.

use crate::common;

use common::Folder;
#[cfg(unix)]
use std::process::{Command, Stdio};

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("raw", &(0..50_000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    folder.write(
        "noise",
        &(0..300_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect::<Vec<_>>(),
    );
    folder.run(&["compress", "raw", "-o", "a.b2frame", "--typesize", "4", "--chunksize", "40000"]);
    folder.run(&["compress", "raw", "-o", "a.chunk", "--typesize", "4"]);
    folder.run(&["compress", "raw", "-o", "column", "--format", "bcolz", "--dtype", "<i4"]);
    folder.run(&["compress", "raw", "-o", "a.b2nd", "--dtype", "<i4", "--shape", "50000"]);
    folder
}

fn files(folder: &Folder, name: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path(name)).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What is the matter is said of the right file, and what to do about it.
#[test]
fn a_wrong_file_is_called_what_it_is() {
    let folder = folder("wrong");
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.run(&["slice", "a.b2nd", "--stop", "6", "-o", "x.npy"]);
    folder.run(&["slice", "a.b2nd", "--stop", "6", "-o", "x.npz"]);
    folder.run(&["compress", "x.npz", "-o", "s.b2d"]);
    let before = files(&folder, ".");
    for (words, status, says) in [
        ("compact noise", 1, "noise: no frame or array, and no whole chunk"),
        ("meta list a.chunk", 1, "a.chunk: no frame or array"),
        ("meta list noise", 1, "blosc repair"),
        ("set noise raw", 1, "no frame or array"),
        ("set s.b2d raw", 1, "append and edit change a plain frame, append a table"),
        ("append s.b2d raw", 1, "append takes frames, arrays, rows and tables"),
        ("append empty raw", 1, "empty: a directory, but neither a sparse frame"),
        ("compact nowhere", 1, "nowhere: No such file"),
        ("trim nowhere 1", 1, "nowhere: No such file"),
        ("column rm nowhere x", 1, "nowhere: No such file"),
        ("convert noise -o out.blp", 1, "noise: no frame or array"),
        ("append x.npy raw", 1, "x.npy: a NumPy file, not compressed"),
        ("repair x.npy -o out.b2frame", 1, "x.npy: a NumPy file; repair mends frames"),
        ("repair s.b2d -o out.b2frame", 1, "s.b2d: a directory of arrays: name one of them"),
        ("repair column -o out.b2frame", 1, "column: a bcolz directory; repair"),
        ("repair raw -o out.b2frame", 1, "raw: "),
        ("slice s.b2d --start 1 -o out", 1, "s.b2d: a store of several arrays: `blosc ls`"),
        ("decompress s.b2d --max-output 9 -o out.npz", 1, "s.b2d: decodes to 24 bytes"),
        ("info column --offset 3", 2, "--offset: column is a directory"),
        ("compress raw -o out.npy", 2, ".npy files are not compressed"),
        ("compress raw -o out.b2frame --chunksize 0", 2, "at least 1"),
        ("delete column --start 3 --stop 1", 2, "--start 3 lies behind --stop 1"),
        ("delete a.b2nd --start 3 --stop 1", 2, "--start 3 lies behind --stop 1"),
        ("decompress a.b2frame -o out --max-output 10", 1, "--max-output"),
    ] {
        let (code, text) = folder.fail(&words.split(' ').collect::<Vec<_>>());
        assert!(code == status && text.contains(says), "{words}: {code} {text}");
        assert_eq!(files(&folder, "."), before, "{words}");
    }
}

/// A directory that is there is not added to: `--force` replaces one that holds a container, or arrays and nothing else.
#[test]
fn a_directory_that_exists_is_replaced_or_refused() {
    let folder = folder("directories");
    folder.run(&["slice", "a.b2nd", "--stop", "6", "-o", "x.npz"]);
    folder.run(&["slice", "a.b2nd", "--stop", "7", "-o", "y.npy"]);
    for words in [
        "compress x.npz -o OUT",
        "compress x.npz -o OUT --sparse",
        "compress x.npz -o OUT.b2d",
        "compress y.npy -o OUT.b2nd --sparse",
        "compress y.npy -o OUT.b2d",
        "compress y.npy -o OUT --format bcolz",
        "compress y.npy -o OUT --format blaze",
        "compress raw -o OUT --format sframe --typesize 4",
        "convert a.b2nd -o OUT.b2nd --sparse",
        "convert a.b2nd -o OUT.b2d",
        "convert a.b2nd -o OUT --format bcolz",
        "convert a.b2nd -o OUT --format blaze",
        "convert a.b2frame -o OUT --format sframe",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let out = folder.path(words[3]);
        let other = |name: &str| {
            std::fs::create_dir_all(&out).unwrap();
            std::fs::write(out.join(name), b"mine").unwrap();
        };
        let told = |words: &[&str], wanted: i32, says: &str| {
            let before = crate::inputs::tree(&folder.path("."));
            let (status, text) = folder.fail(words);
            assert!(status == wanted && text.contains(says), "{words:?}: {status} {text}");
            assert!(crate::inputs::tree(&folder.path(".")) == before, "{words:?} touched something");
        };
        let forced = [&words[..], &["--force"]].concat();
        // An empty directory, one of the user's files, a result.
        std::fs::create_dir(&out).unwrap();
        told(&words, 2, "exists");
        other("notes.txt");
        told(&words, 2, "exists");
        told(&forced, 1, "not replaced");
        std::fs::remove_file(out.join("notes.txt")).unwrap();
        folder.run(&forced);
        told(&words, 2, "exists");
        let made = crate::inputs::tree(&out);
        folder.run(&forced);
        assert_eq!(crate::inputs::tree(&out).len(), made.len(), "{words:?}");
        std::fs::remove_dir_all(&out).unwrap();
        std::fs::write(&out, b"a file").unwrap();
        told(&forced, 1, "is a file");
        std::fs::remove_file(&out).unwrap();
    }
}

/// An option that changes nothing of what a command does is refused by its name, as is a number that cannot be right.
#[test]
fn options_that_do_nothing_and_numbers_that_cannot_be_are_refused() {
    let folder = folder("options");
    folder.run(&["compress", "raw", "-o", "a.blp", "--dtype", "<i4", "--shape", "50000"]);
    folder.run(&["convert", "a.blp", "-o", "blaze", "--format", "blaze"]);
    folder.run(&["slice", "a.b2nd", "-o", "a.npy"]);
    folder.run(&["slice", "a.b2nd", "--stop", "6", "-o", "six.npy"]);
    folder.run(&["convert", "a.b2frame", "-o", "sparse", "--format", "sframe"]);
    let before = crate::inputs::tree(&folder.path("."));
    for (words, says) in [
        ("decompress a.b2nd -o out --partial", "--partial"),
        ("decompress a.b2nd -o out.npy --partial", "--partial"),
        ("decompress a.blp -o out --partial", "--partial"),
        ("decompress a.chunk -o out --partial", "--partial"),
        ("slice a.b2nd -o out --partial", "--partial"),
        ("slice column -o out.npz --partial", "--partial"),
        ("convert a.b2nd -o out.b2nd --partial", "--partial"),
        ("convert a.b2nd -o out.b2z --partial", "--partial"),
        ("compress a.npy -o out.b2nd --partial", "--partial"),
        ("compress raw -o out.b2frame --partial", "--partial"),
        ("verify a.b2frame --no-verify", "--no-verify"),
        ("verify a.b2frame --quick", "--quick"),
        ("edit a.b2frame delete 0 --plain", "--plain"),
        ("append a.chunk raw --reserve 9", "--reserve"),
        ("append a.b2nd raw --reserve 9", "--reserve"),
        ("repair sparse -o out --offset 9", "--offset"),
        ("repair a.b2frame -o out.b2frame --offset 99999999", "past the end"),
        ("edit a.b2frame fill zeros 99999999999999", "too many"),
        ("edit a.b2frame fill zeros 999999999999", "--max-output none"),
        ("edit a.b2frame fill zeros 99999999999999999999", "not a number"),
        ("edit a.b2frame delete 99", "chunk 99"),
        ("edit a.b2frame reorder 0,0", "once"),
        ("resize a.blp --shape 99999999999999", "--max-output none"),
        ("resize a.blp --shape 18446744073709551615", "too many"),
        ("resize column --shape 18446744073709551615", "16777216"),
        ("resize column --shape 9999999999999999", "--max-output none"),
        ("resize blaze --shape 18446744073709551615", "16777216"),
        ("resize blaze --shape 9999999999999999", "--max-output none"),
        ("trim a.blp 50001", "row 50001"),
        ("insert a.blp six.npy --at 50001", "row 50001"),
        ("insert column six.npy --at 50001", "row 50001"),
        ("insert blaze six.npy --at 50001", "row 50001"),
        ("delete a.blp --start 9 --stop 50001", "row 50001"),
        ("delete blaze --start 9 --stop 50001", "row 50001"),
        ("set a.blp six.npy --start 49999", "rows 49999..50005"),
        ("set a.blp six.npy --start 49999 --in-place", "rows 49999..50005"),
        ("set column six.npy --start 49999", "rows 49999..50005"),
        ("set a.b2nd six.npy --start 9", "the part to be set"),
        ("set a.blp six.npy --start 9 --stop 10", "rows 9..10"),
        ("slice blaze -o out --superchunks 9", "super-chunk 9"),
        ("compress raw -o out.b2nd --dtype <i4 --shape 9", "more bytes"),
        ("compress raw -o out.b2nd --dtype <i4 --shape 99999", "too early"),
        ("compress raw -o out.blp --dtype <i4 --shape 99999", "dtype and shape need"),
        ("compress raw -o out.blp --chunksize 5G", "at most"),
        ("compress raw -o out.b2frame --chunksize 5G", "at most"),
        ("convert a.b2frame -o out.blp --chunksize 5G", "at most"),
        ("convert a.b2frame -o out2.b2frame --chunksize 5G", "at most"),
        ("compress raw -o out.blp --max-app 99999999999", "16777216"),
        ("advise -", "a stream"),
    ] {
        let (code, text) = folder.fail(&words.split(' ').collect::<Vec<_>>());
        assert!(code == 2 && text.contains(says), "{words}: {code} {text}");
        assert!(!text.contains("bcolz directory:"), "{words}: {text}");
        assert!(crate::inputs::tree(&folder.path(".")) == before, "{words} touched something");
    }
    // The items of a file that do not fit to a container are no fault of the command line.
    for words in ["set a.b2nd six.npy", "set six.blp a.npy"] {
        folder.run(&["convert", "six.npy", "-o", "six.blp", "--force"]);
        assert_eq!(folder.fail(&words.split(' ').collect::<Vec<_>>()).0, 1, "{words}");
    }
}

/// A chunk that shrinks to a hundredth is found, too.
#[test]
fn well_compressed_chunks_are_repaired() {
    let folder = Folder::new("dense");
    folder.write("raw", &vec![7; 4_000_000]);
    folder.run(&[
        "compress",
        "raw",
        "-o",
        "a.b2frame",
        "--chunksize",
        "1000000",
        "--codec",
        "zstd",
        "--filters",
        "none",
    ]);
    let mut frame = folder.read("a.b2frame");
    assert!(frame.len() < 40_000);
    frame.truncate(frame.len() - 10);
    folder.write("a.b2frame", &frame);
    folder.run(&["repair", "a.b2frame", "-o", "b.b2frame"]);
    assert!(folder.run(&["decompress", "b.b2frame", "-o", "-"]) == vec![7; 4_000_000]);
}

#[cfg(unix)]
fn start(folder: &Folder, words: &[&str]) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
    command.args(words).current_dir(folder.path(".")).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// Reads the beginning of what every kind of input decodes to, and closes the pipe.
#[cfg(unix)]
#[test]
fn a_reader_that_stops_is_no_error_whatever_is_read() {
    use std::io::Read;
    let folder = folder("pipe");
    folder.run(&["compress", "noise", "-o", "n.b2frame", "--chunksize", "10000"]);
    folder.run(&["compress", "noise", "-o", "n.blp", "--chunksize", "10000"]);
    folder.run(&[
        "compress",
        "noise",
        "-o",
        "n",
        "--format",
        "bcolz",
        "--dtype",
        "<i4",
        "--chunksize",
        "10000",
    ]);
    for words in
        [["decompress", "n.b2frame"], ["decompress", "n.blp"], ["decompress", "n"], ["slice", "a.b2nd"]]
    {
        let mut child = start(&folder, &[words[0], words[1], "-o", "-"]);
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 10]).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.is_empty(), "{words:?}: {text}");
    }
}

/// The file that cannot be written is named, not the one that is read.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_that_of_the_output() {
    let folder = folder("full");
    for words in [
        ["decompress", "a.b2frame", "-o", "-"],
        ["decompress", "column", "-o", "-"],
        ["info", "a.b2frame", "--json", "--threads=1"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
        let output = command.args(words).current_dir(folder.path(".")).stdout(full).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && text.starts_with("blosc: standard output: No space"),
            "{words:?}: {text}"
        );
    }
}

/// Ended while it waits for more input, the command leaves nothing where the result would have been.
#[cfg(unix)]
#[test]
fn a_command_ended_by_a_signal_leaves_no_temporary_files() {
    use std::io::Write;
    // What starts these tests may have signals ignored, as shells do for jobs in the background, and they stay so.
    let env = |words: &[&str]| {
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,TERM,HUP").args(words);
        command
    };
    if !env(&["true"]).output().is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: env has no --default-signal here");
    }
    let folder = folder("signals");
    std::fs::create_dir(folder.path("to")).unwrap();
    let noise = folder.read("noise");
    let file = ["compress", "-", "-o", "to/x.b2frame", "--chunksize", "10000"];
    let sparse = ["compress", "-", "-o", "to/x", "--format", "sframe", "--chunksize", "10000"];
    for (signal, words) in [("INT", &file[..]), ("INT", &sparse), ("TERM", &file), ("HUP", &file)] {
        let mut command = env(&[&[env!("CARGO_BIN_EXE_blosc")], words].concat());
        let mut child = command.current_dir(folder.path(".")).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&noise).unwrap();
        // It has begun to write once there is something.
        let begun = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            !files(&folder, "to").is_empty()
        });
        assert!(begun, "{words:?}");
        let (name, pid) = (format!("-{signal}"), child.id().to_string());
        assert!(Command::new("kill").args([&name, &pid]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal} {words:?}");
        drop(input);
        assert_eq!(files(&folder, "to"), Vec::<String>::new(), "{signal} {words:?}");
    }
}
