//! Logs: many small appends, each with an open of its own. Files stay small, and the work stays linear.

use crate::common::hooked::{Hooked, Hooks};
use crate::common::{Random, emulated};
use blosc_core::{Params, Pool};
use blosc_frame::any::{open_any, open_any_mut, open_raw};
use blosc_frame::blaze::MetaSyntax;
use blosc_frame::bloscpack::{Options, Spare};
use blosc_frame::convert::{Cut, Packing, Target, convert};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{DirFile, Directory};
use blosc_frame::{IoError, Limits, SuperChunk};
use blosc_testkit::long;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

const CHUNK: u32 = 1 << 20;

fn targets() -> [(&'static str, Target); 6] {
    let packing = Packing::new(Params::new(4)).chunk(Some(CHUNK.into()));
    let options = Options { chunk_size: CHUNK, spare: Spare::Chunks(10), ..Options::default() };
    let cut = Cut::default().shapes(Some(vec![CHUNK / 4]), Some(vec![1 << 14]));
    [
        ("f.b2frame", Target::Cframe(packing)),
        ("sparse", Target::Sframe(packing)),
        ("a.b2nd", Target::B2nd(packing, cut)),
        ("p.blp", Target::Bloscpack(options)),
        ("bcolz", Target::Bcolz(packing)),
        ("blaze", Target::Blaze(packing, Some(2), MetaSyntax::Json)),
    ]
}

/// Bytes of a file, or of all files in a directory.
fn size(path: &Path) -> u64 {
    if path.is_dir() {
        return std::fs::read_dir(path).unwrap().map(|entry| size(&entry.unwrap().path())).sum();
    }
    std::fs::metadata(path).unwrap().len()
}

#[test]
fn two_hundred_small_appends_stay_within_the_bound_in_every_format() {
    let folder = std::env::temp_dir().join(format!("blosc-appends-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let (times, mut random) = (if emulated() { 10 } else { 200 }, Random(38));
    let data = random.bytes(1_300_000 + times * 1000);
    let raw = |name: &str, data: &[u8]| {
        std::fs::write(folder.join(name), data).unwrap();
        open_raw(folder.join(name), Some(Dtype::parse("<u4").unwrap()), None, 4).unwrap()
    };
    let (first, all) = (raw("first", &data[..1_300_000]), raw("all", &data));
    for (name, target) in targets() {
        let (path, fresh) = (folder.join(name), folder.join(format!("fresh-{name}")));
        convert(&first, &mut Pool::new(1), &mut Pool::new(1), &target, &path).unwrap();
        convert(&all, &mut Pool::new(1), &mut Pool::new(1), &target, &fresh).unwrap();
        let live = size(&fresh);
        for piece in data[1_300_000..].chunks(1000) {
            let mut opened = open_any_mut(&path, &Limits::DEFAULT).unwrap();
            opened.data.append(&mut Pool::new(1), &piece.to_vec()).unwrap();
            drop(opened);
            let now = size(&path);
            assert!(now <= live + live / 2 + 2 * u64::from(CHUNK) + 4096, "{name}: {now} of {live}");
        }
        println!("{name}: {times} appends of 1,000 bytes: {:.2}", size(&path) as f64 / live as f64);
        let opened = open_any(&path, &Limits::DEFAULT).unwrap();
        let mut read = vec![0; data.len()];
        opened.data.read_plain(&mut Pool::new(1), 0, &mut read).unwrap();
        assert!(read == data, "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Bytes that were read and written.
#[derive(Default)]
struct Moved(AtomicU64);

impl Hooks for Moved {
    fn read(&self, _: &str, bytes: Range<u64>) {
        self.0.fetch_add(bytes.end - bytes.start, Ordering::Relaxed);
    }
    fn write(&self, len: usize) -> Result<(), IoError> {
        self.0.fetch_add(len as u64, Ordering::Relaxed);
        Ok(())
    }
}

/// What an append moves does not depend on how many came before, but for the index, which each commit writes.
/// `BLOSC_LONG=1` takes 50,000 and 100,000 appends.
#[test]
fn twice_as_many_appends_move_twice_as_much() {
    // An emulator takes a tenth, into chunks of a tenth.
    let (n, chunksize) = match () {
        () if long() => (50_000, 16_000),
        () if emulated() => (100, 1600),
        () => (1000, 16_000),
    };
    let each = |n: usize| {
        let (dir, mut random) = (Hooked::new(Moved::default()), Random(39));
        let new = DirFile::create(dir.clone(), "frame").unwrap();
        let mut sc = SuperChunk::create(new, &Params::new(1)).unwrap();
        sc.set_chunksize(chunksize).unwrap();
        sc.commit().unwrap();
        drop(sc);
        for _ in 0..n {
            let file = DirFile::open(dir.clone(), "frame").unwrap();
            let mut sc = SuperChunk::open(file, &Limits::DEFAULT).unwrap();
            sc.append(&random.bytes(100)).unwrap();
            sc.commit().unwrap();
        }
        let (moved, len) =
            (dir.hooks.0.load(Ordering::Relaxed), dir.open("frame", false).unwrap().size().unwrap());
        println!(
            "{n} appends of 100 bytes in separate opens: {moved} bytes read and written, {len} bytes in the file"
        );
        assert!(len < n as u64 * 150 + (64 << 10), "{len} bytes");
        moved
    };
    let (one, two) = (each(n), each(2 * n));
    assert!(two < 3 * one, "{one}, then {two}");
}
