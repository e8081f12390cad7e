//! What the suites of containers in files share: the folder they work in, one operation of both sides, and its run.

use crate::data::Data;
use crate::engine::Spec;
use crate::machine::unpinned;
use crate::measure::candidate::{Before, Candidate, Check, Work};
use crate::measure::check::{expect, spoilt};
use crate::measure::comparison::Comparison;
use crate::result::Row;
use crate::suite::choice::{Choice, Job, pace, seconds};
use crate::suite::chunks::row;
use blosc_core::{Codec, Level};
use blosc_frame::{Limits, SuperChunk};
use blosc_peers::blosc2::Containers;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub const CODECS: [Codec; 3] = [Codec::BloscLz, Codec::Lz4, Codec::Zstd];

/// A directory that goes when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// In `TMPDIR`, else in memory where it may be and there is a place for that.
    fn new(in_memory: bool) -> Result<Folder, String> {
        let shm = Path::new("/dev/shm");
        let parent = match std::env::var_os("TMPDIR") {
            Some(path) => PathBuf::from(path),
            None if in_memory && shm.is_dir() => shm.to_path_buf(),
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

/// Who does an operation, and how it is judged.
pub struct Side<'a> {
    /// The opponent's name; `None` for this library.
    pub engine: Option<String>,
    pub work: Work<'a>,
    pub check: Check<'a>,
    /// What is done before each sample, outside the clock.
    pub before: Option<Before<'a>>,
}

/// One operation, and how many bytes it is about.
#[derive(Default)]
pub struct Op<'a> {
    pub name: String,
    pub bytes: usize,
    pub room: usize,
    pub sides: Vec<Side<'a>>,
    /// Round trips and requests, where it has any.
    pub trips: Option<(usize, usize)>,
    /// Why it cannot be done here.
    pub left_out: Option<String>,
}

impl<'a> Op<'a> {
    /// This library's work, and the opponent's if there is one.
    pub fn new(
        name: impl Into<String>,
        (bytes, room): (usize, usize),
        check: impl Fn(&[u8]) -> Result<(), String> + 'a,
        ours: Work<'a>,
        theirs: Option<(String, Work<'a>)>,
    ) -> Op<'a> {
        let judge: Judge<'a> = Rc::new(check);
        let side = |engine, work| {
            let check = Rc::clone(&judge);
            Side { engine, work, check: Box::new(move |got| check(got)), before: None }
        };
        let theirs = theirs.map(|(name, work)| side(Some(name), work));
        let sides = [side(None, ours)].into_iter().chain(theirs).collect();
        Op { name: name.into(), bytes, room, sides, ..Op::default() }
    }
}

/// A job about `data` at `bytes` bytes, on unpinned threads. `prepare` makes files, and says what is done with them.
pub fn job<'a>(
    suite: &'static str,
    spec: Spec,
    (data, bytes): (Data, usize),
    choice: &'a Choice,
    prepare: impl for<'d> Fn(&Folder, &Spec, &'d Data, &Choice) -> Result<Vec<Op<'d>>, String> + 'a,
) -> Job<'a> {
    let label = format!("{suite} {} {}, {}, {} threads", spec.codec, spec.level, data.name, spec.threads);
    // Each is written for the operations, and written and read by them.
    let least = seconds(bytes, 2 + choice.engines.len(), pace(spec.codec, spec.level));
    Job::new(label, least, move |setting, plan, stop| {
        let data = data.sized(bytes);
        let ready = Folder::new(suite != "far")
            .and_then(|folder| Ok((prepare(&folder, &spec, &data, choice)?, folder)));
        let (ops, _folder) = match ready {
            Ok(ready) => ready,
            Err(why) => return vec![Row { refused: Some(why), ..row(suite, "prepare", &spec, &data) }],
        };
        let run = |op: Op<'_>| {
            let (round_trips, requests) = op.trips.unzip();
            let fixed = Row { bytes: op.bytes, round_trips, requests, ..row(suite, &op.name, &spec, &data) };
            let fixed = Row { left_out: op.left_out, ..fixed };
            // What they read lies in files.
            let source = data.bytes.get(..64).unwrap_or_default();
            let candidates =
                op.sides.into_iter().map(|side| candidate(&fixed, side, choice.corrupt)).collect();
            Comparison::new(source, op.room, op.bytes, candidates).run(setting, plan, stop)
        };
        ops.into_iter().flat_map(|op| unpinned(|| run(op))).collect()
    })
}

fn candidate<'d>(fixed: &Row, side: Side<'d>, corrupt: bool) -> Candidate<'d> {
    let (peer, row) = (side.engine.is_some(), fixed.clone());
    let (row, work) = match side.engine {
        Some(engine) => (Row { engine, ..row }, side.work),
        None => (Row { isa: Level::best().isa().name().into(), ..row }, spoilt(side.work, corrupt)),
    };
    Candidate::new(row, work, side.check).peer(peer).before(side.before)
}

/// The arrays with these names, if they are among the chosen ones, else all that were chosen; with the size asked for, or
/// `bytes`.
pub fn arrays_of(choice: &Choice, names: &[&str], bytes: usize) -> Vec<(Data, usize)> {
    let named = choice.data.iter().filter(|d| names.contains(&d.name.as_str()));
    let mut chosen: Vec<&Data> = named.collect();
    if chosen.is_empty() {
        chosen = choice.data.iter().collect();
    }
    let bytes = choice.array_sizes.first().copied().unwrap_or(bytes);
    chosen.into_iter().map(|data| (data.clone(), bytes)).collect()
}

pub fn open(path: &Path, threads: usize) -> Result<SuperChunk<'static>, String> {
    let file = File::open(path).map_err(text)?;
    let mut frame = SuperChunk::open_read(file, &Limits::NONE).map_err(text)?;
    frame.set_threads(threads);
    Ok(frame)
}

/// A file to write a frame to.
pub fn new_file(path: &Path) -> Result<File, String> {
    File::options().read(true).write(true).create(true).truncate(true).open(path).map_err(text)
}

/// Judges such a number.
pub fn counts(n: usize) -> impl Fn(&[u8]) -> Result<(), String> {
    move |got| expect(&(n as u64).to_le_bytes())(got)
}

/// What an operation writes whose result is a number, or a file of that length.
pub fn number(n: u64, dst: &mut [u8]) -> Result<usize, String> {
    let to = dst.first_chunk_mut::<8>().ok_or("no room for a number")?;
    *to = n.to_le_bytes();
    Ok(8)
}
