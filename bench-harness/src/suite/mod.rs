//! Suites: lists of jobs, each of which compares a few contenders over the same bytes.

pub mod chunks;
pub mod codecs;
pub mod containers;
pub mod files;
pub mod goals;
pub mod kernels;
pub mod latency;
pub mod others;
pub mod passes;
pub mod ratio;
pub mod threads;

use crate::data::Data;
use crate::engine::Engine;
use crate::engine::crates::Crate;
use crate::measure::{self, Before, Check, Contender, Group, Plan, Role, Timer, Work, probe};
use crate::result::{Row, round3};
use blosc_core::{Codec, Filter, Level};
use std::rc::Rc;

/// A set of cases that is asked for by name.
pub struct Suite {
    /// What `--suite` calls it.
    pub name: &'static str,
    /// Whether `--suite all` includes it.
    pub in_all: bool,
    /// Its steps.
    pub jobs: for<'a> fn(&'a Choice) -> Vec<Job<'a>>,
}

/// All suites, in the order they run.
pub const SUITES: [Suite; 11] = [
    Suite { name: "kernels", in_all: true, jobs: |c| kernels::jobs("kernels", c) },
    Suite { name: "split", in_all: true, jobs: |c| kernels::jobs("split", c) },
    Suite { name: "codecs", in_all: true, jobs: codecs::jobs },
    Suite { name: "chunks", in_all: true, jobs: chunks::jobs },
    Suite { name: "frames", in_all: true, jobs: |c| containers::jobs("frames", c) },
    Suite { name: "arrays", in_all: true, jobs: |c| containers::jobs("arrays", c) },
    Suite { name: "latency", in_all: true, jobs: latency::jobs },
    Suite { name: "threads", in_all: true, jobs: threads::jobs },
    Suite { name: "frame-files", in_all: false, jobs: files::frames },
    Suite { name: "array-files", in_all: false, jobs: files::arrays },
    Suite { name: "goals", in_all: false, jobs: goals::jobs },
];

/// What to run, as chosen on the command line.
#[derive(Clone)]
pub struct Choice {
    /// Kernel levels.
    pub isas: Vec<Level>,
    /// Item sizes of kernel suites.
    pub typesizes: Vec<usize>,
    /// Sizes in bytes of kernel suites.
    pub sizes: Vec<usize>,
    /// Arrays for chunk suites.
    pub data: Vec<Data>,
    /// Sizes they are cut or continued to; empty for their own.
    pub array_sizes: Vec<usize>,
    /// Kernel levels of chunk suites.
    pub chunk_isas: Vec<Level>,
    /// Codecs of chunk suites.
    pub codecs: Vec<Codec>,
    /// Filters of chunk suites.
    pub filters: Vec<Filter>,
    /// Compression levels of chunk suites.
    pub levels: Vec<u8>,
    /// Block size of chunk suites, or automatic.
    pub blocksize: Option<u32>,
    /// Numbers of threads of the suite `threads`.
    pub threads: Vec<usize>,
    /// Opponents; the first is the one ratios are given against.
    pub engines: Vec<Rc<dyn Engine>>,
    /// Codec crates of the suite `codecs`.
    pub crates: Vec<Crate>,
    /// Measure as if data were met for the first time, in the suites `chunks` and `latency`; `goals` always does.
    pub once: bool,
    /// What is worked through for that.
    pub others: others::Others,
    /// Goals of the suite `goals` by number; empty for all.
    pub goals: Vec<u32>,
    /// Test only: flip a byte of every result of ours.
    pub corrupt: bool,
}

impl Choice {
    /// What is worked through before each sample of a suite that measures data as if met for the first time.
    pub fn others_of(&self, suite: &str) -> Option<&others::Others> {
        (self.once || suite == "goals").then_some(&self.others)
    }
}

impl Default for Choice {
    /// What the quick run takes.
    fn default() -> Choice {
        Choice {
            isas: Level::available().collect(),
            typesizes: kernels::TYPESIZES.to_vec(),
            sizes: kernels::SIZES.to_vec(),
            data: crate::data::everything(),
            array_sizes: Vec::new(),
            chunk_isas: vec![Level::best()],
            codecs: chunks::CODECS.to_vec(),
            filters: chunks::FILTERS.to_vec(),
            levels: chunks::LEVELS.to_vec(),
            blocksize: None,
            threads: vec![1, 2],
            engines: Vec::new(),
            crates: Vec::new(),
            once: false,
            others: others::Others::default(),
            goals: Vec::new(),
            corrupt: cfg!(feature = "corrupt-one-byte"),
        }
    }
}

/// The facts every row shares.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Widest vectors for the probes.
    pub arch: pulp::Arch,
    /// False under an emulator.
    pub timing: bool,
}

/// A contender with the row it fills in. One whose row says that it is left out is reported and not run.
pub struct Case<'a> {
    /// Everything known before timing.
    pub row: Row,
    /// Opponent of the others?
    pub peer: bool,
    /// The work.
    pub work: Work<'a>,
    /// The engine's own clock, if it runs elsewhere.
    pub timer: Option<Timer<'a>>,
    /// Done before each sample.
    pub before: Option<Before<'a>>,
    /// The judge.
    pub check: Check<'a>,
}

impl Case<'_> {
    /// An engine that does not take part in this case, and why.
    pub fn left_out(row: Row, why: String) -> Case<'static> {
        Case {
            row: Row { left_out: Some(why), ..row },
            peer: false,
            work: Box::new(|_, _| Err("left out".into())),
            timer: None,
            before: None,
            check: Box::new(|_| Ok(())),
        }
    }
}

/// One visit: measures and returns rows; the last argument says whether to stop early.
pub type Run<'a> = Box<dyn FnMut(&Setting, &Plan, &dyn Fn() -> bool) -> Vec<Row> + 'a>;

/// One step of a run.
pub struct Job<'a> {
    /// Shown while it runs.
    pub label: String,
    /// Does it.
    pub run: Run<'a>,
}

/// Verifies and times `cases` over `source` and fills in their rows. With `probes`, copy, memcpy, read and
/// write are measured in the same rounds; they fill the `vs_` fields, and rows of their own if
/// `probe_rows`.
pub struct Bout<'a> {
    /// What the cases read.
    pub source: &'a [u8],
    /// Room for what they write.
    pub room: usize,
    /// Uncompressed bytes of one run.
    pub bytes: usize,
    /// The contenders.
    pub cases: Vec<Case<'a>>,
    /// Suite whose name the probes' own rows carry; `None` for no such rows.
    pub probe_rows: Option<&'static str>,
    /// The contenders keep no memory between runs, as kernels do and codecs do not.
    pub stateless: bool,
}

impl Bout<'_> {
    /// Runs it.
    pub fn run(self, setting: &Setting, plan: &Plan, stop: &dyn Fn() -> bool) -> Vec<Row> {
        let Bout { source, room, bytes, cases, probe_rows, stateless } = self;
        let arch = setting.arch;
        let (absent, cases): (Vec<_>, Vec<_>) = cases.into_iter().partition(|c| c.row.left_out.is_some());
        let mut rows: Vec<(Row, bool)> = Vec::new();
        let mut contenders = Vec::new();
        for (id, case) in cases.into_iter().enumerate() {
            let role = if case.peer { Role::Peer } else { Role::Subject };
            let (mut row, work, timer, before) = (case.row, case.work, case.timer, case.before);
            row.once = before.is_some();
            rows.push((row, case.peer));
            contenders.push(Contender { role, id, work, timer, before, check: Some(case.check) });
        }
        let probe = move |role: Role| -> Work<'static> {
            match role {
                Role::Copy => Box::new(move |src, dst| Ok(probe::copy(arch, span(src, bytes), dst))),
                Role::Read => Box::new(move |src, _| {
                    std::hint::black_box(probe::read(arch, span(src, bytes)));
                    Ok(0)
                }),
                Role::Write => Box::new(move |_, dst| {
                    let n = bytes.min(dst.len());
                    probe::write(arch, dst.get_mut(..n).unwrap_or_default());
                    Ok(0)
                }),
                _ => Box::new(move |src, dst| {
                    let n = bytes.min(src.len()).min(dst.len());
                    if let (Some(d), Some(s)) = (dst.get_mut(..n), src.get(..n)) {
                        d.copy_from_slice(s);
                    }
                    Ok(n)
                }),
            }
        };
        for role in [Role::Copy, Role::Memcpy, Role::Read, Role::Write] {
            contenders.push(Contender {
                role,
                id: rows.len(),
                work: probe(role),
                timer: None,
                before: None,
                check: None,
            });
        }
        let mut group = Group { source, room, bytes, contenders, stateless };
        let outcomes = measure::measure(&mut group, plan, stop);
        let by_role = |role: Role| outcomes.iter().find(|o| o.role == role);
        let peer_row = rows.iter().find(|(_, peer)| *peer).map(|(row, _)| row.clone());
        let peer_written = by_role(Role::Peer).map(|o| o.written);
        let mut out: Vec<Row> = absent.into_iter().map(|c| c.row).collect();
        for (id, (mut row, is_peer)) in rows.into_iter().enumerate() {
            let Some(o) = outcomes.iter().find(|o| o.id == id) else { continue };
            fill(&mut row, o, setting);
            if matches!(row.op.as_str(), "compress" | "encode") && row.verified && o.written > 0 {
                row.cbytes = Some(o.written);
                row.ratio = Some(round3(bytes as f64 / o.written as f64));
            }
            let against = |role: Role| vec![by_role(role).map_or_else(Vec::new, |p| o.speed_against(p))];
            row.samples.copy = against(Role::Copy);
            row.samples.memcpy = against(Role::Memcpy);
            row.samples.read = against(Role::Read);
            row.samples.write = against(Role::Write);
            if let (false, Some(peer)) = (is_peer, &peer_row) {
                row.peer = Some(peer.engine.clone());
                row.samples.peer = against(Role::Peer);
                let packs = matches!(row.op.as_str(), "compress" | "encode");
                if let (true, Some(mine), Some(theirs)) = (packs, row.cbytes, peer_written) {
                    row.size_vs_peer = Some(round3(mine as f64 / theirs.max(1) as f64));
                }
            }
            row.settle();
            // A run that was stopped before this case had a sample says nothing about it.
            if row.median_ns.is_some() || row.refused.is_some() {
                out.push(row);
            }
        }
        if let Some(suite) = probe_rows {
            let roles = [
                (Role::Copy, "copy", "copy"),
                (Role::Memcpy, "memcpy", "copy"),
                (Role::Read, "probe", "read"),
                (Role::Write, "probe", "write"),
            ];
            for (role, engine, op) in roles {
                let Some(o) = by_role(role) else { continue };
                let mut row = Row {
                    suite: suite.into(),
                    engine: engine.into(),
                    op: op.into(),
                    typesize: 1,
                    bytes,
                    threads: 1,
                    data: "random".into(),
                    ..Row::default()
                };
                fill(&mut row, o, setting);
                row.settle();
                out.push(row);
            }
        }
        out
    }
}

/// Whether it was right, and the rounds of this visit.
fn fill(row: &mut Row, outcome: &measure::Outcome, setting: &Setting) {
    row.timing = setting.timing;
    row.iterations = outcome.iterations;
    match &outcome.samples {
        Err(why) => row.refused = Some(why.clone()),
        Ok(samples) => {
            row.verified = true;
            row.samples.ns.push(samples.clone());
            row.samples.counts.push(outcome.counts.clone());
            row.samples.disturbed = usize::from(outcome.disturbed);
        }
    }
}

fn span(bytes: &[u8], n: usize) -> &[u8] {
    bytes.get(..n).unwrap_or(bytes)
}

/// A judge that wants exactly these bytes.
pub fn expect(bytes: &[u8]) -> Check<'_> {
    Box::new(move |got| {
        if got == bytes {
            return Ok(());
        }
        let at = got.iter().zip(bytes).position(|(a, b)| a != b).unwrap_or(got.len().min(bytes.len()));
        Err(format!("wrong output: first difference at byte {at} of {}", bytes.len()))
    })
}

/// Flips a byte in the middle of a result, for the test that nothing wrong is ever timed.
pub fn spoil(corrupt: bool, out: &mut [u8]) {
    let middle = out.len() / 2;
    if corrupt && let Some(byte) = out.get_mut(middle) {
        *byte ^= 1;
    }
}
