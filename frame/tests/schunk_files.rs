//! Frames in real files: locks, growth seen by readers, failed writes, and a process that is killed.
#![cfg(unix)]

use blosc_core::Params;
use blosc_frame::io::{FsDir, PathFile, SidecarLock};
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
    let mut second = SuperChunk::open(PathFile::open_rw(&path).unwrap(), &Limits::DEFAULT).unwrap();
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
fn a_link_inside_a_sparse_frame_is_not_followed() {
    let folder = Folder::new("links");
    let dir = FsDir::create(folder.0.join("s")).unwrap();
    let mut sc = SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap();
    sc.append_data(&(0..400).map(|i| i as u8).collect::<Vec<_>>()).unwrap();
    sc.commit().unwrap();
    let chunk = folder.0.join("s/00000000.chunk");
    std::fs::rename(&chunk, folder.0.join("outside")).unwrap();
    std::os::unix::fs::symlink("../outside", &chunk).unwrap();
    let mut sc = SuperChunk::open_dir(dir, &Limits::DEFAULT).unwrap();
    assert!(sc.read_chunk(0).is_err());
}

/// The other half of the next test: appends and commits until it is killed.
#[test]
fn a_writer_for_the_next_test() {
    let Some(path) = std::env::var_os("BLOSC_TEST_KILLED_WRITER") else {
        println!("skipped: runs only as a child of the next test");
        return;
    };
    let mut sc = SuperChunk::create(PathFile::create_new(path).unwrap(), &Params::new(4)).unwrap();
    for k in 0u32.. {
        let data: Vec<u8> = (0..500).flat_map(|i| (k * 1000 + i).to_le_bytes()).collect();
        sc.append_data(&data).unwrap();
        sc.set_vlmetalayer("count", &(k + 1).to_le_bytes()).unwrap();
        sc.commit().unwrap();
    }
}

#[test]
fn a_process_killed_at_random_moments_leaves_a_whole_state() {
    let folder = Folder::new("killed");
    let mut states = 0;
    for round in 0..6u64 {
        let path = folder.0.join(format!("f{round}"));
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_writer_for_the_next_test"])
            .env("BLOSC_TEST_KILLED_WRITER", &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(25 + 17 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        // Killed before the first commit: there is no frame yet, which is the state before.
        let Ok(file) = PathFile::open(&path) else { continue };
        let Ok(mut sc) = SuperChunk::open(file, &Limits::DEFAULT) else {
            assert!(std::fs::read(&path).unwrap().iter().take(10).all(|b| *b == 0));
            continue;
        };
        let count = sc.vlmetalayer("count").unwrap().unwrap();
        assert_eq!(sc.nchunks(), u64::from(u32::from_le_bytes(count.try_into().unwrap())));
        for k in 0..sc.nchunks() as u32 {
            let data: Vec<u8> = (0..500).flat_map(|i| (k * 1000 + i).to_le_bytes()).collect();
            assert!(sc.read_chunk(u64::from(k)).unwrap() == data);
        }
        states += 1;
    }
    println!("{states} whole states after a kill");
}
