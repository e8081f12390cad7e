//! What the suites of containers in files share: the folder they work in, one operation of both sides, and its run.

use crate::data::Data;
use crate::engine::{Filters, Spec};
use crate::machine::unpinned;
use crate::measure::candidate::{Candidate, Check, Work};
use crate::measure::comparison::Comparison;
use crate::measure::{Plan, Setting};
use crate::result::Row;
use crate::suite::choice::Choice;
use crate::suite::chunks::row;
use blosc_core::{Codec, Level};
use blosc_frame::{Limits, SuperChunk};
use blosc_peers::blosc2::Containers;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Bytes of data in a file.
pub const BYTES: usize = 256 << 20;
pub const CODECS: [Codec; 3] = [Codec::BloscLz, Codec::Lz4, Codec::Zstd];

/// A directory that goes when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Result<Folder, String> {
        let shm = Path::new("/dev/shm");
        let parent = match std::env::var_os("TMPDIR") {
            Some(path) => PathBuf::from(path),
            None if shm.is_dir() => shm.to_path_buf(),
            None => std::env::temp_dir(),
        };
        let path = parent.join(format!("blosc-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Folder(path))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn text(e: impl std::fmt::Display) -> String {
    e.to_string()
}

/// The library that reads the same files, if one was given with `--engine`.
pub fn opponent(choice: &Choice) -> Option<(String, Containers)> {
    let engine = choice.engines.iter().find(|e| e.library().is_some())?;
    Some((engine.name(), engine.library()?.containers().ok()?))
}

/// A judge that both sides share.
pub type Judge<'a> = Rc<dyn Fn(&[u8]) -> Result<(), String> + 'a>;

/// One operation: who does it, how it is judged, and how many bytes it is about.
pub struct Op<'a> {
    pub name: String,
    pub ours: Work<'a>,
    pub theirs: Option<(String, Work<'a>)>,
    pub check: Judge<'a>,
    pub bytes: usize,
    pub room: usize,
}

/// Runs operations unpinned and with few rounds: a round takes up to seconds.
pub fn run<'a>(
    suite: &str,
    spec: &Spec,
    data: &'a Data,
    ops: Vec<Op<'a>>,
    (setting, plan, stop): (&Setting, &Plan, &dyn Fn() -> bool),
) -> Vec<Row> {
    let plan = Plan { min_rounds: 5, ..*plan };
    let mut rows = Vec::new();
    for op in ops {
        let fixed = Row { bytes: op.bytes, ..row(suite, &op.name, spec, data) };
        let judge = |check: &Judge<'a>| -> Check<'a> {
            let check = Rc::clone(check);
            Box::new(move |got| check(got))
        };
        let ours = Row { isa: Level::best().isa().name().into(), ..fixed.clone() };
        let mut candidates = vec![Candidate::new(ours, op.ours, judge(&op.check))];
        if let Some((engine, work)) = op.theirs {
            let row = Row { engine, ..fixed };
            candidates.push(Candidate::new(row, work, judge(&op.check)).peer(true));
        }
        // What they read lies in files.
        let source = data.bytes.get(..64).unwrap_or_default();
        let comparison = Comparison::new(source, op.room, op.bytes, candidates);
        rows.extend(unpinned(|| comparison.run(setting, &plan, stop)));
    }
    rows
}

pub fn refused(suite: &str, spec: &Spec, data: &Data, why: String) -> Vec<Row> {
    vec![Row { refused: Some(why), ..row(suite, "prepare", spec, data) }]
}

pub fn smooth(len: usize) -> Data {
    crate::data::generate::SEEDED.first().map_or_else(
        || Data {
            name: "none".into(),
            dtype: "u1",
            typesize: 1,
            origin: crate::data::Origin::Seeded,
            bytes: Vec::new().into(),
        },
        |s| s.array(len),
    )
}

pub fn spec(codec: Codec, typesize: usize, threads: usize) -> Spec {
    let filter = if typesize > 1 { Filters::Shuffle } else { Filters::None };
    Spec { codec, filter, level: 5, typesize, threads, blocksize: None }
}

pub fn open(path: &Path, threads: usize) -> Result<SuperChunk<'static>, String> {
    let file = File::open(path).map_err(text)?;
    let mut frame = SuperChunk::open_read(file, &Limits::NONE).map_err(text)?;
    frame.set_threads(threads);
    Ok(frame)
}

pub fn number(n: u64, dst: &mut [u8]) -> Result<usize, String> {
    let to = dst.first_chunk_mut::<8>().ok_or("no room for a number")?;
    *to = n.to_le_bytes();
    Ok(8)
}
