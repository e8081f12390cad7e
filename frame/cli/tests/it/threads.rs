//! The program where the system gives no threads.

use crate::common;

use common::Folder;
use std::process::{Command, Output};

/// No thread can have a stack of a petabyte: each attempt to start one fails.
fn without_threads(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blosc"));
    command.args(args).env("RUST_MIN_STACK", "900000000000000").current_dir(folder.path("."));
    command.output().expect("the command starts")
}

#[test]
fn work_is_done_without_threads_if_there_are_none() {
    let refused = std::thread::Builder::new().stack_size(900_000_000_000_000).spawn(|| ());
    assert!(refused.is_err(), "this system gives stacks of a petabyte: the test would show nothing");
    let folder = Folder::new("threads");
    let data: Vec<u8> = (0..4u32 << 20).flat_map(|i| (i / 5).to_le_bytes()).collect();
    folder.write("data", &data);
    folder.run(&["compress", "data", "-o", "with.b2frame", "--typesize", "4", "--threads", "4"]);
    let parts = [
        &["compress", "data", "-o", "without.b2frame", "--typesize", "4", "--threads", "4"][..],
        &["decompress", "without.b2frame", "-o", "back", "--threads", "4"],
    ];
    for args in parts {
        let output = without_threads(&folder, args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(folder.read("without.b2frame"), folder.read("with.b2frame"));
    assert_eq!(folder.read("back"), data);
}
