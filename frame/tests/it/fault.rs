//! The directory that stops and crashes, which the tests of edits lean on, does what disks do.

use blosc_frame::IoKind;
use blosc_frame::io::{Directory, FaultDir};

#[test]
fn a_flushed_file_survives_and_an_unflushed_one_tears_at_sectors() {
    let dir = FaultDir::new();
    let mut file = dir.create("a").unwrap();
    file.write_at(0, &[1; 2048]).unwrap();
    file.sync().unwrap();
    dir.sync().unwrap();
    file.write_at(100, &[2; 1500]).unwrap();
    let (mut torn, mut old, mut new) = (false, false, false);
    for seed in 1..200 {
        let files = dir.crash(seed);
        let content = &files[0].1;
        assert_eq!(content.len(), 2048);
        let kept: Vec<u8> = [100, 512, 1024, 1536].map(|i| content[i]).to_vec();
        torn |= kept.contains(&1) && kept.contains(&2);
        old |= !kept.contains(&2);
        new |= !kept.contains(&1);
    }
    assert!(torn && old && new);
}

#[test]
fn nothing_works_after_the_stop() {
    let dir = FaultDir::new();
    dir.stop_after(2);
    let mut file = dir.create("a").unwrap();
    file.write_at(0, b"x").unwrap();
    assert_eq!(file.write_at(1, b"y").unwrap_err().kind, IoKind::Injected);
    assert_eq!(file.sync().unwrap_err().kind, IoKind::Injected);
    assert_eq!(dir.operations(), 3);
}

#[test]
fn a_rename_without_a_directory_flush_may_be_lost() {
    let dir = FaultDir::from_files([("a".into(), vec![1]), ("t".into(), vec![2])]);
    dir.rename("t", "a").unwrap();
    let counts: std::collections::BTreeSet<usize> = (1..50).map(|s| dir.crash(s).len()).collect();
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [1, 2]);
    Directory::sync(&dir).unwrap();
    assert_eq!(dir.crash(1), [(String::from("a"), vec![2])]);
}
