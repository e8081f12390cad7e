//! [`Comparison`]: candidates over the same bytes, timed in the same rounds, and the rows that come of it.

use super::arena::Arena;
use super::candidate::{Candidate, Probe, Role, Work};
use super::rounds::visit;
use super::{Plan, Setting, probe};
use crate::result::{Row, round3};
use blosc_peers::copy_past_caches;

/// From this size on a copy past the caches may be the fastest.
const STREAM_FROM: usize = 4 << 20;

/// Verifies and times its candidates beside copies of the same size, and fills in their rows.
pub struct Comparison<'a> {
    /// What the candidates read (one may ignore it and read its own).
    pub source: &'a [u8],
    /// Bytes of memory for what they write.
    pub room: usize,
    /// Uncompressed bytes of one run.
    pub bytes: usize,
    /// The candidates.
    pub candidates: Vec<Candidate<'a>>,
    /// Suite whose name the yardsticks' own rows carry; `None` for no such rows.
    pub probe_rows: Option<&'static str>,
    /// The candidates keep no memory between runs, as kernels do and codecs do not.
    pub stateless: bool,
}

impl<'a> Comparison<'a> {
    /// Compares candidates that keep memory between runs.
    pub fn new(
        source: &'a [u8],
        room: usize,
        bytes: usize,
        candidates: Vec<Candidate<'a>>,
    ) -> Comparison<'a> {
        Comparison { source, room, bytes, candidates, probe_rows: None, stateless: false }
    }

    /// One visit.
    pub fn run(self, setting: &Setting, plan: &Plan, stop: &dyn Fn() -> bool) -> Vec<Row> {
        let Comparison { source, room, bytes, candidates, probe_rows, stateless } = self;
        let (absent, mut candidates): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|c| c.row.left_out.is_some());
        // What is read from files has nothing to copy.
        let copied = source.len() >= bytes && room >= bytes;
        let streams = bytes >= STREAM_FROM && copy_past_caches(&[], &mut []).is_some();
        let copies = Probe::COPIES.iter().filter(|p| copied && (**p != Probe::Stream || streams));
        let others = [Probe::Read, Probe::Write].iter().filter(|_| probe_rows.is_some());
        candidates.extend(copies.chain(others).map(|p| yardstick(*p, bytes, probe_rows, setting)));
        match Arena::new(source, room, plan.visit) {
            Ok(mut arena) => {
                visit(&mut candidates, &mut arena, stateless, plan, stop);
                arena.hand_over();
            }
            Err(why) => candidates.iter_mut().for_each(|c| c.refuse(why.clone())),
        }
        let copies = Probe::COPIES
            .map(|p| candidates.iter().find(|c| c.role == Role::Probe(p)).and_then(|c| c.visit.figure()));
        let peers: Vec<(Row, Option<f64>, usize)> = (candidates.iter().filter(|c| c.role == Role::Peer))
            .map(|c| (c.row.clone(), c.visit.figure(), c.written))
            .collect();
        let mut rows: Vec<Row> = absent.into_iter().map(|c| c.row).collect();
        for candidate in candidates {
            let Candidate { mut row, role, mut visit, written, .. } = candidate;
            if matches!(role, Role::Probe(_)) && probe_rows.is_none() {
                continue;
            }
            row.timing = setting.timing;
            row.verified = row.refused.is_none();
            // A run that was stopped before this case had a sample says nothing about it.
            if visit.figure().is_none() {
                rows.extend(row.refused.is_some().then_some(row));
                continue;
            }
            if row.packs() && written > 0 {
                row.cbytes = Some(written);
                row.ratio = Some(round3(bytes as f64 / written as f64));
            }
            if !matches!(role, Role::Probe(_)) {
                visit.copies = copies;
            }
            // With as many threads; this library with fewer where it stands against itself.
            let peers = || peers.iter().filter(|(theirs, ..)| theirs.contest() == row.contest());
            let mut own = peers().filter(|(theirs, ..)| theirs.engine == row.engine);
            let opponent = peers().find(|(theirs, ..)| theirs.threads == row.threads).or_else(|| own.next());
            if let (Role::Subject, Some((theirs, figure, size))) = (role, opponent) {
                row.peer = Some(theirs.engine.clone());
                visit.peer = *figure;
                let sizes = row.cbytes.filter(|_| row.packs() && *size > 0);
                row.size_vs_peer = sizes.map(|mine| round3(mine as f64 / *size as f64));
            }
            row.visits.push(visit);
            row.settle();
            rows.push(row);
        }
        rows
    }
}

/// A probe over `bytes` bytes, with the row it has if the suite wants one.
fn yardstick(
    probe: Probe,
    bytes: usize,
    suite: Option<&'static str>,
    setting: &Setting,
) -> Candidate<'static> {
    let arch = setting.arch;
    let work: Work<'static> = match probe {
        Probe::Copy => Box::new(move |src, dst| Ok(probe::copy(arch, span(src, bytes), dst))),
        Probe::Read => Box::new(move |src, _| {
            std::hint::black_box(probe::read(arch, span(src, bytes)));
            Ok(0)
        }),
        Probe::Write => Box::new(move |_, dst| {
            let n = bytes.min(dst.len());
            probe::write(arch, dst.get_mut(..n).unwrap_or_default());
            Ok(0)
        }),
        Probe::Memcpy => Box::new(move |src, dst| {
            dst.get_mut(..bytes).ok_or("no room")?.copy_from_slice(span(src, bytes));
            Ok(bytes)
        }),
        Probe::Stream => Box::new(move |src, dst| {
            copy_past_caches(span(src, bytes), dst).ok_or_else(|| "no stores past the caches".to_string())
        }),
    };
    let (engine, op) = probe.names();
    Candidate::probe(Row::plain(suite.unwrap_or_default(), engine, op, 1, bytes), probe, work)
}

fn span(bytes: &[u8], n: usize) -> &[u8] {
    bytes.get(..n).unwrap_or(bytes)
}
