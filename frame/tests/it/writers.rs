//! Several writers of one container, and what the dead ones leave: nothing is lost, nothing stays locked, nothing lies
//! about. POSIX systems only: the tests end processes.

use crate::common::{count, emulated};
use blosc_core::{Params, Pool};
use blosc_frame::any::{AnyRows, open_any, open_any_mut, open_any_mut_with, open_raw};
use blosc_frame::blaze::MetaSyntax;
use blosc_frame::bloscpack::{Options, Spare};
use blosc_frame::convert::{Cut, Packing, Target, convert};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{FsDir, Locking, NewDir, NewFile, OLD, PathFile, SidecarLock, strays, sweep};
use blosc_frame::{Error, FileError, IoKind, Limits, SuperChunk};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("blosc-writers-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A container of the number 0 in each format.
    fn containers(&self) -> Vec<PathBuf> {
        fs::write(self.0.join("raw"), [0; 4]).unwrap();
        let raw = open_raw(self.0.join("raw"), Some(Dtype::parse("<u4").unwrap()), None, 4).unwrap();
        let packing = Packing::new(Params::new(4)).chunk(Some(4000));
        let options = Options {
            chunk_size: 4000,
            spare: Spare::Chunks(8 * count(200, 4000) as u64),
            ..Options::default()
        };
        let cut = Cut::default().shapes(Some(vec![1000]), Some(vec![100]));
        let targets = [
            ("f.b2frame", Target::Cframe(packing)),
            ("sparse", Target::Sframe(packing)),
            ("a.b2nd", Target::B2nd(packing, cut)),
            ("p.blp", Target::Bloscpack(options)),
            ("bcolz", Target::Bcolz(packing)),
            ("blaze", Target::Blaze(packing, Some(2), MetaSyntax::Json)),
        ];
        let place = |(name, target)| {
            let path = self.0.join(name);
            convert(&raw, &mut Pool::new(1), &mut Pool::new(1), &target, &path).unwrap();
            path
        };
        targets.map(place).to_vec()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the test `name` of this program as another process that is told `words`.
fn start(name: &str, words: &[&OsStr]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("writers::{name}")])
        .env("BLOSC_TEST_WRITER", words.join(OsStr::new("\n")));
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// Whether this program can start itself: one for another CPU, under an emulator, may not.
pub fn can_start() -> bool {
    let started = Command::new(std::env::current_exe().unwrap()).arg("--list").stdout(Stdio::null()).status();
    let can = started.is_ok_and(|status| status.success());
    if !can {
        eprintln!("skipped: tests of several processes, because this program cannot start itself here");
    }
    can
}

/// What the process that runs this test was told; nothing where it is run by itself.
fn told() -> Option<Vec<String>> {
    let words = std::env::var("BLOSC_TEST_WRITER").ok()?;
    Some(words.split('\n').map(String::from).collect())
}

fn numbers(opened: &AnyRows) -> Vec<u32> {
    let mut bytes = vec![0; opened.data.nbytes() as usize];
    opened.data.read_plain(&mut Pool::new(1), 0, &mut bytes).unwrap();
    bytes.as_chunks::<4>().0.iter().map(|n| u32::from_le_bytes(*n)).collect()
}

/// The other process of the next test; run by itself, it has nothing to do.
#[test]
fn append_numbers() {
    let Some(words) = told() else { return };
    let [path, from, to] = &words[..] else { panic!("{words:?}") };
    let (mut pool, range) = (Pool::new(1), from.parse::<u32>().unwrap()..to.parse().unwrap());
    for n in range {
        let mut opened = open_any_mut(path, &Limits::DEFAULT).unwrap();
        opened.data.append(&mut pool, &n.to_le_bytes().to_vec()).unwrap();
    }
}

/// Without the lock a contiguous frame was unreadable after each of six such rounds, and the others had lost rows.
#[test]
fn eight_processes_append_and_nothing_is_lost() {
    if !can_start() {
        return;
    }
    let folder = Folder::new("parallel");
    let each = if emulated() { 10 } else { count(200, 4000) as u32 };
    for path in folder.containers() {
        let of = |p: u32| (1 + p * each, 1 + (p + 1) * each);
        let start = |p| {
            let (from, to) = of(p);
            let words = [from.to_string(), to.to_string()];
            start("append_numbers", &[path.as_os_str(), words[0].as_ref(), words[1].as_ref()])
        };
        let children: Vec<Child> = (0..8).map(start).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success(), "{}", path.display());
        }
        let found = numbers(&open_any(&path, &Limits::DEFAULT).unwrap());
        let mut sorted = found.clone();
        sorted.sort_unstable();
        assert!(
            sorted.iter().copied().eq(0..=8 * each),
            "{}: {} of {}",
            path.display(),
            found.len(),
            8 * each + 1
        );
        for p in 0..8 {
            let (from, to) = of(p);
            let own: Vec<u32> = found.iter().copied().filter(|n| (from..to).contains(n)).collect();
            assert!(own.is_sorted(), "{}: a process's own appends stay in order", path.display());
        }
    }
}

/// The other process of the next test; run by itself, it has nothing to do.
#[test]
fn hold() {
    let Some(words) = told() else { return };
    let mut opened = open_any_mut(&words[0], &Limits::DEFAULT).unwrap();
    opened.data.append(&mut Pool::new(1), &7u32.to_le_bytes().to_vec()).unwrap();
    let mut new = NewFile::create(words[1].as_ref()).unwrap();
    new.file().unwrap().set_len(100).unwrap();
    let dir = NewDir::create(words[2].as_ref()).unwrap();
    fs::write(dir.path().join("part"), b"part").unwrap();
    // Tells that all of it is there.
    fs::write(&words[3], b"").unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_killed_writer_leaves_no_lock_and_what_it_leaves_goes() {
    if !can_start() {
        return;
    }
    let folder = Folder::new("killed");
    for path in folder.containers() {
        let place = |name: &str| folder.0.join(name);
        let (ready, out, inside) = (place("ready"), place("out"), path.join("chunk"));
        let other = if path.is_dir() { &inside } else { &path };
        let words = [&path, other, &out, &ready].map(|p| p.as_os_str());
        let mut child = start("hold", &words);
        for _ in 0..3000 {
            if ready.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        // Alive, it is waited for, not by readers, and what it writes is left to it.
        assert_eq!(numbers(&open_any(&path, &Limits::DEFAULT).unwrap()), [0, 7]);
        assert!(strays(other).unwrap().is_empty() && !sweep(&out).unwrap());
        let (sender, receiver) = mpsc::channel();
        let waiting = path.clone();
        let thread = std::thread::spawn(move || {
            let opened = open_any_mut(&waiting, &Limits::DEFAULT).unwrap();
            sender.send(()).unwrap();
            numbers(&opened)
        });
        assert!(receiver.recv_timeout(Duration::from_millis(200)).is_err(), "{}", path.display());
        child.kill().unwrap();
        child.wait().unwrap();
        receiver.recv_timeout(Duration::from_secs(20)).expect("nothing is locked");
        assert_eq!(thread.join().unwrap(), [0, 7]);
        // What it left goes with the next writer, the one behind that too where the system lets go of one lock of a dead
        // process before the other; the directory for another path with the next one there.
        drop(open_any_mut(&path, &Limits::DEFAULT).unwrap());
        assert!(sweep(&out).unwrap());
        fs::remove_file(&ready).unwrap();
        for folder in [&folder.0, path.parent().unwrap()].into_iter().chain(path.is_dir().then_some(&*path)) {
            let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains(".tmp")).collect();
            assert!(left.is_empty(), "{}: {left:?}", path.display());
        }
    }
}

#[test]
fn a_writer_that_finds_another_state_refuses() {
    let folder = Folder::new("changed");
    for path in folder.containers() {
        let open = || open_any_mut_with(&path, &Limits::DEFAULT, Locking::None).unwrap();
        let (mut first, mut second) = (open(), open());
        second.data.append(&mut Pool::new(1), &1u32.to_le_bytes().to_vec()).unwrap();
        let refused = first.data.append(&mut Pool::new(1), &2u32.to_le_bytes().to_vec());
        assert!(matches!(refused, Err(Error::Changed { .. })), "{}: {refused:?}", path.display());
        assert_eq!(numbers(&open()), [0, 1], "{}", path.display());
    }
}

/// What was found under a name is what is read and changed, whatever has the name meanwhile.
#[test]
fn another_file_under_the_name_is_not_read() {
    let (folder, others) = (Folder::new("named"), Folder::new("named-others"));
    for (path, other) in folder.containers().into_iter().zip(others.containers()) {
        if path.is_dir() {
            continue;
        }
        let mut opened = open_any_mut(&other, &Limits::DEFAULT).unwrap();
        opened.data.set(&mut Pool::new(1), 0, &9u32.to_le_bytes().to_vec()).unwrap();
        drop(opened);
        let (read, mut changed) = (
            open_any(&path, &Limits::DEFAULT).unwrap(),
            open_any_mut_with(&path, &Limits::DEFAULT, Locking::None).unwrap(),
        );
        fs::rename(&other, &path).unwrap();
        let refused = changed.data.append(&mut Pool::new(1), &2u32.to_le_bytes().to_vec());
        assert!(matches!(refused, Err(Error::Changed { .. })), "{}: {refused:?}", path.display());
        for opened in [&read, &changed] {
            assert_eq!(numbers(opened), [0], "{}", path.display());
        }
        assert_eq!(numbers(&open_any(&path, &Limits::DEFAULT).unwrap()), [9]);
    }
}

/// The other process of the next test; run by itself, it has nothing to do.
#[test]
fn append_twos() {
    let Some(words) = told() else { return };
    fs::write(&words[1], b"").unwrap();
    let mut sc = SuperChunk::open(PathFile::open_rw(&words[0]).unwrap(), &Limits::DEFAULT).unwrap();
    sc.append(&[2; 400]).unwrap();
    sc.commit().unwrap();
}

/// A lock belongs to a file, not to its name: who waited for the one before must not write to that.
#[test]
fn a_lock_holds_across_a_replacing_rename() {
    if !can_start() {
        return;
    }
    let folder = Folder::new("renamed");
    let (path, ready) = (folder.0.join("f.b2frame"), folder.0.join("ready"));
    let mut sc = SuperChunk::create(PathFile::create_new(&path).unwrap(), &Params::new(4)).unwrap();
    sc.append(&[1; 400]).unwrap();
    sc.commit().unwrap();
    let mut child = start("append_twos", &[path.as_os_str(), ready.as_os_str()]);
    while !ready.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(100));
        assert!(child.try_wait().unwrap().is_none(), "it waits");
        sc.compact().unwrap();
        sc.append(&[3; 400]).unwrap();
        sc.commit().unwrap();
    }
    drop(sc);
    assert!(child.wait().unwrap().success());
    let sc = SuperChunk::open(PathFile::open(&path).unwrap(), &Limits::DEFAULT).unwrap();
    assert_eq!(sc.read_all().unwrap(), [[1; 400], [3; 400], [3; 400], [3; 400], [2; 400]].concat());
}

/// It waited for itself for ever.
#[test]
fn a_process_that_opens_twice_for_writing_is_told_so() {
    let folder = Folder::new("twice");
    for path in folder.containers() {
        for locking in [Locking::System, Locking::Sidecar] {
            let sparse = path.join("chunks.b2frame").exists();
            if locking == Locking::Sidecar && path.is_dir() && !sparse {
                continue;
            }
            let open = || open_any_mut_with(&path, &Limits::DEFAULT, locking);
            let mut opened = open().unwrap();
            let refused = |error: FileError| {
                assert_eq!(error.error, IoKind::Locked.into());
                assert!(error.path.starts_with(&path), "{error}");
            };
            refused(open().map(drop).unwrap_err());
            std::thread::scope(|scope| {
                refused(scope.spawn(|| open().map(drop)).join().unwrap().unwrap_err())
            });
            // Also when it has been replaced meanwhile; readers are let in.
            opened.data.resize(&mut Pool::new(1), 100).unwrap();
            opened.data.resize(&mut Pool::new(1), 1).unwrap();
            refused(open().map(drop).unwrap_err());
            assert_eq!(numbers(&open_any(&path, &Limits::DEFAULT).unwrap()), [0]);
            drop(opened);
            open().unwrap();
        }
    }
}

#[test]
fn the_sidecar_lock_is_held_by_a_writer_that_asks_for_it() {
    let folder = Folder::new("sidecar");
    for path in folder.containers().into_iter().take(2) {
        let opened = open_any_mut_with(&path, &Limits::DEFAULT, Locking::Sidecar).unwrap();
        let (sender, receiver) = mpsc::channel();
        let waiting = path.clone();
        let thread = std::thread::spawn(move || {
            let mut lock = SidecarLock::open(&waiting).unwrap();
            sender.send(lock.read().unwrap().changed).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(100)).is_err(), "it waits");
        drop(opened);
        assert!(receiver.recv().unwrap(), "a writer announces a change");
        thread.join().unwrap();
    }
}

#[test]
fn a_link_in_the_place_of_the_sidecar_lock_is_not_followed() {
    let folder = Folder::new("locklink");
    let outside = folder.0.join("outside");
    fs::write(&outside, b"outside").unwrap();
    for path in folder.containers().into_iter().take(2) {
        let lock = if path.is_dir() { path.join(".b2lock") } else { folder.0.join("f.b2frame.b2lock") };
        for target in [&outside, &folder.0.join("nothing")] {
            std::os::unix::fs::symlink(target, &lock).unwrap();
            let refused = SidecarLock::open(&path).map(drop).unwrap_err();
            assert_eq!(refused, IoKind::LockFile.into(), "{}", path.display());
            let refused = open_any_mut_with(&path, &Limits::DEFAULT, Locking::Sidecar).map(drop).unwrap_err();
            assert!(refused.to_string().contains("lock file"), "{refused}");
            fs::remove_file(&lock).unwrap();
        }
        fs::create_dir(&lock).unwrap();
        let refused = SidecarLock::open(&path).map(drop).unwrap_err();
        assert_eq!(refused, IoKind::LockFile.into(), "{}", path.display());
        fs::remove_dir(&lock).unwrap();
    }
    assert_eq!(fs::read(&outside).unwrap(), b"outside");
    assert!(!folder.0.join("nothing").exists());
}

#[test]
fn what_stood_there_before_a_killed_replacement_is_put_back() {
    let folder = Folder::new("old");
    let (path, temporary) = (folder.0.join("array"), folder.0.join(".array.tmp1234-0"));
    let put_aside = |to: &Path| {
        fs::create_dir_all(to.join(OLD)).unwrap();
        fs::write(to.join(OLD).join("chunk"), b"old").unwrap();
        fs::create_dir(to.join("new")).unwrap();
    };
    // Killed between the two renames of a system that cannot exchange directories.
    put_aside(&temporary);
    assert!(sweep(&path).unwrap() && !temporary.exists());
    assert_eq!(fs::read(path.join("chunk")).unwrap(), b"old");
    // Killed after them.
    fs::write(path.join("chunk"), b"new").unwrap();
    put_aside(&temporary);
    drop(NewDir::create(&path).unwrap());
    assert_eq!((fs::read(path.join("chunk")).unwrap(), temporary.exists()), (b"new".to_vec(), false));
}

#[test]
fn a_directory_opened_for_reading_refuses_to_be_changed() {
    use blosc_frame::io::Directory;
    let folder = Folder::new("reading");
    fs::write(folder.0.join("file"), b"file").unwrap();
    let dir = FsDir::open(&folder.0).unwrap();
    let read_only = Some(IoKind::ReadOnly);
    let kind = |result: Result<(), blosc_frame::IoError>| result.err().map(|error| error.kind);
    assert_eq!(kind(dir.create("new").map(drop)), read_only);
    assert_eq!(kind(dir.open("file", true).map(drop)), read_only);
    assert_eq!(kind(dir.rename("file", "other")), read_only);
    assert_eq!(kind(dir.remove("file")), read_only);
    assert!(dir.replace("file", &mut |_| Ok(())).is_err());
    assert_eq!(dir.read("file", 10).unwrap(), b"file");
}

/// Whoever takes the sidecar lock is told whether another handle wrote since it last held it.
#[test]
fn the_sidecar_lock_tells_of_other_writers() {
    let folder = blosc_testkit::Folder::new("frame-sidecar-tells");
    folder.write("frame", b"");
    let path = folder.path("frame");
    let mut mine = SidecarLock::open(&path).unwrap();
    let mut other = SidecarLock::open(&path).unwrap();
    // Writing, reading: (who, whether to write, whether another was there).
    let steps = [
        (0, true, false),
        (0, true, false),
        (0, false, false),
        (1, false, true),
        (1, false, false),
        (1, true, false),
        (0, false, true),
        (0, true, false),
        (1, true, true),
        (1, true, false),
    ];
    for (step, (who, write, changed)) in steps.into_iter().enumerate() {
        let lock = if who == 0 { &mut mine } else { &mut other };
        let held = if write { lock.write() } else { lock.read() };
        assert_eq!(held.unwrap().changed, changed, "step {step}");
    }
}
