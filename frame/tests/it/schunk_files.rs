//! Frames in real files: locks, growth seen by readers, failed writes, and a process that is killed.

use crate::common::{Random, count};
use crate::writers::can_start;

use blosc_core::Params;
use blosc_frame::io::{FsDir, Locking, MemDir, PathFile, SidecarLock};
use blosc_frame::{Error, Limits, SuperChunk};
use std::path::PathBuf;

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("blosc-frame-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_lock_counts_generations() {
    let folder = Folder::new("lock");
    let path = folder.0.join("f.b2frame");
    std::fs::write(&path, b"").unwrap();
    let mut a = SidecarLock::open(&path).unwrap();
    let mut b = SidecarLock::open(&path).unwrap();
    drop(a.write().unwrap());
    drop(a.write().unwrap());
    let sidecar = std::fs::read(folder.0.join("f.b2frame.b2lock")).unwrap();
    assert_eq!(
        sidecar,
        [[0; 8], 2u64.to_ne_bytes()].concat(),
        "unused bytes, then the count in native order"
    );
    assert!(b.read().unwrap().changed);
    assert!(!b.read().unwrap().changed);
    assert!(!a.read().unwrap().changed);
    assert!(SidecarLock::open(&folder.0).is_ok() && folder.0.join(".b2lock").is_file());
}

#[test]
fn a_reader_notices_growth_and_a_second_writer_is_told() {
    let folder = Folder::new("growth");
    let path = folder.0.join("f.b2frame");
    let mut writer = SuperChunk::create(PathFile::create_new(&path).unwrap(), &Params::new(4)).unwrap();
    writer.append_data(&[1; 400]).unwrap();
    writer.commit().unwrap();
    let mut reader = SuperChunk::open(PathFile::open(&path).unwrap(), &Limits::DEFAULT).unwrap();
    let mut second = SuperChunk::open(unlocked(&path), &Limits::DEFAULT).unwrap();
    assert!(!reader.refresh().unwrap());
    writer.append_data(&[2; 400]).unwrap();
    writer.commit().unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.read_chunk(1).unwrap(), [2; 400]);
    assert!(matches!(second.append_data(&[3; 400]), Err(Error::Changed { .. })));
    second.refresh().unwrap();
    second.append_data(&[3; 400]).unwrap();
    second.commit().unwrap();
    assert!(matches!(writer.append_data(&[4; 400]), Err(Error::Changed { .. })));
}

/// A commit to a directory may leave the header of the index as it was: another chunk or metalayer of the same size.
#[test]
fn changes_that_the_header_does_not_show_are_noticed() {
    let dir = MemDir::new();
    let mut writer = SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap();
    writer.set_metalayer("m", &[1]).unwrap();
    for k in 0..3 {
        writer.append_data(&[k; 400]).unwrap();
    }
    writer.commit().unwrap();
    let open = || SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT).unwrap();
    let (mut reader, mut late, mut half) = (open(), open(), open());
    half.append_data(&[7; 400]).unwrap();
    assert!(!reader.refresh().unwrap());

    writer.update(1, &[9; 400]).unwrap();
    writer.commit().unwrap();
    assert_eq!(reader.header(), writer.header());
    // Only a commit looks at more than the header.
    late.append_data(&[8; 400]).unwrap();
    for writer in [&mut late, &mut half] {
        assert!(matches!(writer.commit(), Err(Error::Changed { .. })));
        writer.discard().unwrap();
    }
    assert!(reader.refresh().unwrap() && !reader.refresh().unwrap());
    assert_eq!(reader.read_chunk(1).unwrap(), [9; 400]);

    writer.set_metalayer("m", &[2]).unwrap();
    writer.commit().unwrap();
    assert!(reader.refresh().unwrap() && !writer.refresh().unwrap());
    assert_eq!(reader.metalayer("m"), Some(&[2][..]));
    assert!(late.refresh().unwrap());
    late.append_data(&[8; 400]).unwrap();
    late.commit().unwrap();
    assert_eq!(open().read_chunk(3).unwrap(), [8; 400]);

    // Bytes behind the index are nobody's.
    let mut index = dir.get("chunks.b2frame").unwrap();
    index.extend(b"more");
    dir.put("chunks.b2frame", index);
    let mut last = open();
    assert!(!last.refresh().unwrap());
    last.append_data(&[5; 400]).unwrap();
    last.commit().unwrap();
    assert_eq!(open().nchunks(), 5);
}

/// A writer beside others in this process.
fn unlocked(path: &std::path::Path) -> PathFile {
    PathFile::open_rw_with(path, Locking::None).unwrap()
}

/// Writes a frame with garbage in it.
fn with_garbage(path: &std::path::Path) {
    let mut sc = SuperChunk::create(PathFile::create_new(path).unwrap(), &Params::new(4)).unwrap();
    for k in 0..3 {
        sc.append_data(&[k; 400]).unwrap();
        sc.commit().unwrap();
    }
}

#[test]
fn a_frame_whose_file_was_replaced_is_noticed() {
    let folder = Folder::new("replaced");
    let path = folder.0.join("f.b2frame");
    with_garbage(&path);
    let open = || SuperChunk::open(unlocked(&path), &Limits::DEFAULT).unwrap();
    let mut reader = SuperChunk::open(PathFile::open(&path).unwrap(), &Limits::DEFAULT).unwrap();
    let [mut late, mut half, mut compacting, mut other] = [open(), open(), open(), open()];
    half.append_data(&[7; 400]).unwrap();
    assert!(!reader.refresh().unwrap());
    other.compact().unwrap();
    other.append_data(&[3; 400]).unwrap();
    other.commit().unwrap();

    // Written to the file that was opened, all of this would be lost; compacted, the other's would be.
    assert!(matches!(late.append_data(&[8; 400]), Err(Error::Changed { .. })));
    assert!(matches!(half.commit(), Err(Error::Changed { .. })));
    assert!(matches!(compacting.compact(), Err(Error::Changed { .. })));
    assert!(reader.refresh().unwrap() && !reader.refresh().unwrap());
    assert_eq!((reader.nchunks(), reader.read_chunk(3).unwrap()), (4, vec![3; 400]));
    assert!(late.refresh().unwrap());
    late.append_data(&[8; 400]).unwrap();
    late.commit().unwrap();
    assert_eq!(open().read_chunk(4).unwrap(), [8; 400]);

    std::fs::remove_file(&path).unwrap();
    assert!(matches!(late.append_data(&[9; 400]), Err(Error::Changed { .. })));
    assert!(late.refresh().is_err());
}

#[test]
fn compacting_an_outdated_view_removes_nothing_new() {
    let folder = Folder::new("outdated");
    let dir = FsDir::create(folder.0.join("s")).unwrap();
    let noise = |seed: u32| -> Vec<u8> { (0..400u32).map(|i| ((i * i * (seed + 7)) >> 5) as u8).collect() };
    let mut first = SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap();
    first.append_data(&noise(1)).unwrap();
    first.commit().unwrap();
    let mut second = SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT).unwrap();
    second.append_data(&noise(2)).unwrap();
    second.commit().unwrap();
    assert!(matches!(first.compact(), Err(Error::Changed { .. })));
    let third = SuperChunk::open_dir(dir, &Limits::DEFAULT).unwrap();
    assert_eq!(third.read_chunk(1).unwrap(), noise(2));
}

#[test]
fn what_is_never_committed_leaves_no_trace() {
    let folder = Folder::new("dropped");
    let path = folder.0.join("f.b2frame");
    with_garbage(&path);
    let open = || SuperChunk::open(unlocked(&path), &Limits::DEFAULT).unwrap();
    // Only free room inside the frame may have been written to.
    let state = || {
        let mut sc = open();
        let len = std::fs::metadata(&path).unwrap().len();
        (len, sc.fingerprint(), sc.read_all().unwrap(), sc.verify(|_| ()).unwrap())
    };
    let before = state();
    let mut sc = open();
    sc.append_data(&(0..4000u32).map(|i| ((i * i) >> 3) as u8).collect::<Vec<_>>()).unwrap();
    sc.delete(0).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > before.0);
    drop(sc);
    assert!(state() == before);

    // But nothing of another writer's is cut off.
    let (mut late, mut other) = (open(), open());
    late.append_data(&[1; 400]).unwrap();
    other.append_data(&[2; 400]).unwrap();
    other.commit().unwrap();
    drop(late);
    assert_eq!(open().read_chunk(3).unwrap(), [2; 400]);
}

#[test]
fn a_read_only_frame_stays_as_it_is() {
    let folder = Folder::new("readonly");
    let path = folder.0.join("f.b2frame");
    let mut sc = SuperChunk::create(PathFile::create_new(&path).unwrap(), &Params::new(4)).unwrap();
    sc.append_data(&[1; 400]).unwrap();
    sc.commit().unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut sc = SuperChunk::open(PathFile::open(&path).unwrap(), &Limits::DEFAULT).unwrap();
    assert!(sc.append_data(&[2; 400]).is_err());
    sc.set_metalayer("m", b"longer than before").unwrap();
    assert!(sc.commit().is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "no stray files");
}

#[test]
fn a_frame_behind_a_link_is_changed_there_and_stays_private() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = Folder::new("link");
    let (path, link) = (folder.0.join("f.b2frame"), folder.0.join("link"));
    let mut sc = SuperChunk::create(PathFile::create_new(&path).unwrap(), &Params::new(4)).unwrap();
    sc.append_data(&[1; 400]).unwrap();
    sc.commit().unwrap();
    drop(sc);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("f.b2frame", &link).unwrap();
    let before = std::fs::metadata(&path).unwrap();
    let mut sc = SuperChunk::open(PathFile::open_rw(&link).unwrap(), &Limits::DEFAULT).unwrap();
    // A longer header: the frame is written anew and renamed into place.
    sc.set_metalayer("m", b"\xc0").unwrap();
    sc.commit().unwrap();
    let after = std::fs::metadata(&path).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink() && after.ino() != before.ino());
    assert_eq!(after.mode() & 0o777, 0o600);
    let sc = SuperChunk::open(PathFile::open(&path).unwrap(), &Limits::DEFAULT).unwrap();
    assert_eq!(sc.metalayer("m"), Some(&b"\xc0"[..]));
}

#[test]
fn a_link_inside_a_sparse_frame_is_not_followed() {
    let folder = Folder::new("links");
    let dir = FsDir::create(folder.0.join("s")).unwrap();
    let mut sc = SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap();
    sc.append_data(&(0..400).map(|i| i as u8).collect::<Vec<_>>()).unwrap();
    sc.commit().unwrap();
    let chunk = folder.0.join("s/00000000.chunk");
    std::fs::rename(&chunk, folder.0.join("outside")).unwrap();
    std::os::unix::fs::symlink("../outside", &chunk).unwrap();
    let sc = SuperChunk::open_dir(dir, &Limits::DEFAULT).unwrap();
    assert!(sc.read_chunk(0).is_err());
}

/// The other half of the next test: appends, deletes and commits until it is killed.
#[test]
fn a_writer_for_the_next_test() {
    let Some(path) = std::env::var_os("BLOSC_TEST_KILLED_WRITER").map(PathBuf::from) else {
        println!("skipped: runs only as a child of the next test");
        return;
    };
    let mut sc = match path.extension() {
        Some(_) => SuperChunk::create_dir(FsDir::create(path).unwrap(), &Params::new(4)).unwrap(),
        None => SuperChunk::create(PathFile::create_new(path).unwrap(), &Params::new(4)).unwrap(),
    };
    for k in 0u32.. {
        sc.append_data(&numbers(k)).unwrap();
        if k >= 9 {
            sc.delete(0).unwrap();
        }
        sc.set_vlmetalayer("last", &k.to_le_bytes()).unwrap();
        sc.commit().unwrap();
        if k % 50 == 49 {
            sc.compact().unwrap();
        }
    }
}

fn numbers(k: u32) -> Vec<u8> {
    (0..500).flat_map(|i| (k * 1000 + i).to_le_bytes()).collect()
}

#[test]
fn a_process_killed_at_random_moments_leaves_a_whole_state() {
    if !can_start() {
        return;
    }
    let folder = Folder::new("killed");
    let (rounds, mut states, mut random) = (count(8, 1000), 0, Random(38));
    for round in 0..rounds {
        let sparse = round % 2 == 1;
        let path = folder.0.join(format!("f{round}{}", if sparse { ".dir" } else { "" }));
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "schunk_files::a_writer_for_the_next_test"])
            .env("BLOSC_TEST_KILLED_WRITER", &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let open = || match sparse {
            true => SuperChunk::open_dir(FsDir::open(&path)?, &Limits::DEFAULT),
            false => SuperChunk::open_read(std::fs::File::open(&path)?, &Limits::DEFAULT),
        };
        // Mostly after its first commit; some are killed while there is no frame yet, which is the state before.
        let begun = std::time::Instant::now();
        while round % 8 != 7 && open().is_err() && begun.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_micros(random.below(40_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let index = if sparse { path.join("chunks.b2frame") } else { path.clone() };
        let Ok(written) = std::fs::read(&index) else { continue };
        let Ok(sc) = open() else {
            assert!(!sparse && written.iter().take(10).all(|b| *b == 0));
            continue;
        };
        let last = sc.vlmetalayer("last").unwrap().unwrap();
        let last = u32::from_le_bytes(last.try_into().unwrap());
        assert_eq!(sc.nchunks(), u64::from(last.min(8)) + 1);
        for (chunk, k) in sc.chunks().zip(last.saturating_sub(8)..) {
            assert!(chunk.unwrap() == numbers(k), "chunk {k} of {last}");
        }
        states += 1;
        drop(sc);
        match sparse {
            true => std::fs::remove_dir_all(&path).unwrap(),
            false => std::fs::remove_file(&path).unwrap(),
        }
    }
    println!("{rounds} kills, {states} whole states");
    assert!(states >= rounds - rounds / 8, "{states} states of {rounds}");
}
