//! Suites `kernels` (the filters at every level) and `split` (items into byte planes and back, with the
//! padded pitch that the pipeline uses).

use super::choice::{Choice, Job, seconds};
use crate::data::generate::random_bytes;
use crate::measure::candidate::{Candidate, Check};
use crate::measure::check::{expect, spoilt};
use crate::measure::comparison::Comparison;
use crate::result::Row;
use blosc_core::filter::blocksplit::{Planes, Stores, join, split};
use blosc_core::filter::{FilterError, bitshuffle, shuffle};
use blosc_core::{Isa, Level, arch};
use std::cell::{LazyCell, OnceCell};
use std::rc::Rc;

/// Item sizes of a full run.
pub const ALL_TYPESIZES: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 24, 32];

/// Level, item size, source, destination.
pub type Transform = fn(Level, usize, &[u8], &mut [u8]) -> Result<(), FilterError>;

/// A kernel: from one buffer to another of the same length (plus padding).
pub struct Kernel {
    /// Name of the operation in results.
    pub name: &'static str,
    /// Its row in the core's kernel table.
    pub table: &'static str,
    /// Whether it changes nothing but the order of bytes in items of one byte (then it is a copy).
    pub trivial_at_1: bool,
    /// Runs it.
    pub run: Transform,
}

impl Kernel {
    /// How many bytes it reads and writes for about `bytes` bytes of items.
    pub fn lengths(&self, typesize: usize, bytes: usize) -> (usize, usize) {
        let whole = bytes - bytes % typesize;
        let padded = whole + (typesize - 1) * PAD;
        match self.name {
            "split" => (whole, padded),
            "join" => (padded, whole),
            _ => (bytes, bytes),
        }
    }
}

/// The filters.
pub const FILTERS: [Kernel; 4] = [
    Kernel {
        name: "shuffle",
        table: "split",
        trivial_at_1: true,
        run: |l, t, s, d| shuffle::shuffle(l, t, s, d),
    },
    Kernel {
        name: "unshuffle",
        table: "join",
        trivial_at_1: true,
        run: |l, t, s, d| shuffle::unshuffle(l, t, s, d),
    },
    Kernel {
        name: "bitshuffle",
        table: "bitshuffle",
        trivial_at_1: false,
        run: |l, t, s, d| bitshuffle::bitshuffle(l, t, s, d),
    },
    Kernel {
        name: "bitunshuffle",
        table: "bitunshuffle",
        trivial_at_1: false,
        run: |l, t, s, d| bitshuffle::bitunshuffle(l, t, s, d),
    },
];

/// GB/s of the scalar form and the fastest one in the mean.
pub const PACE: f64 = 5.0;

/// Bytes between the ends of neighbouring planes: breaks the power-of-two stride.
const PAD: usize = 64;

/// Block split and join.
pub const SPLITS: [Kernel; 2] = [
    Kernel {
        name: "split",
        table: "split",
        trivial_at_1: true,
        run: |l, t, s, d| split(l, t, s, d, s.len() / t.max(1) + PAD).map(|_| ()),
    },
    Kernel {
        name: "join",
        table: "join",
        trivial_at_1: true,
        run: |l, t, s, d| {
            let n = (s.len().saturating_sub((t - 1) * PAD)) / t.max(1);
            let planes = Planes::Pitched { bytes: s, pitch: n + PAD };
            let out = d.get_mut(..n * t).unwrap_or_default();
            join(l, t, planes, out, Stores::for_len(n * t)).map(|_| ())
        },
    },
];

/// Jobs of one of the two suites: a group for each operation, item size and size, in which all levels meet.
pub fn jobs<'a>(suite: &'static str, choice: &'a Choice) -> Vec<Job<'a>> {
    let kernels: &'static [Kernel] = if suite == "split" { &SPLITS } else { &FILTERS };
    let mut jobs = Vec::new();
    for &bytes in &choice.sizes {
        let source: Rc<OnceCell<Vec<u8>>> = Rc::default();
        for kernel in kernels {
            for &typesize in &choice.typesizes {
                if typesize > bytes || (typesize == 1 && kernel.trivial_at_1) {
                    continue;
                }
                let source = Rc::clone(&source);
                let label = format!("{} ts {typesize}, {}", kernel.name, crate::report::table::size(bytes));
                // Every operation of a size shares the probes' figures; one row of each is enough.
                let first = kernel.name == kernels[0].name && Some(&typesize) == choice.typesizes.last();
                let least = seconds(bytes, choice.isas.len() + choice.engines.len(), PACE);
                jobs.push(Job::new(label, least, move |setting, plan, stop| {
                    let all = source.get_or_init(|| self::source(bytes));
                    let candidates = candidates(suite, kernel, typesize, bytes, all, choice);
                    let probe_rows = first.then_some(suite);
                    comparison(all, bytes, candidates, probe_rows).run(setting, plan, stop)
                }));
            }
        }
    }
    jobs
}

/// What kernels over `bytes` bytes read: joining reads the padding between planes as well.
pub fn source(bytes: usize) -> Vec<u8> {
    random_bytes(bytes + 64 * PAD)
}

/// Kernels over `bytes` bytes of `random`, which is a [`source`].
pub fn comparison<'a>(
    random: &'a [u8],
    bytes: usize,
    candidates: Vec<Candidate<'a>>,
    probe_rows: Option<&'static str>,
) -> Comparison<'a> {
    Comparison { probe_rows, stateless: true, ..Comparison::new(random, random.len(), bytes, candidates) }
}

/// One operation, item size and size: every level asked for, and the opponents that have the kernel.
pub fn candidates<'a>(
    suite: &'static str,
    kernel: &'static Kernel,
    typesize: usize,
    bytes: usize,
    random: &'a [u8],
    choice: &Choice,
) -> Vec<Candidate<'a>> {
    let (input, output) = kernel.lengths(typesize, bytes);
    let source = random.get(..input).unwrap_or(random);
    // The scalar form is the specification; padding between planes keeps what the arena put there. It is worked out
    // when a candidate is judged.
    let right: Rc<LazyCell<Result<Vec<u8>, String>, _>> = Rc::new(LazyCell::new(move || {
        let mut right = vec![0xA5; output];
        (kernel.run)(Level::SCALAR, typesize, source, &mut right).map_err(|e| e.0.to_string())?;
        Ok(right)
    }));
    let judge = || -> Check<'a> {
        let right = Rc::clone(&right);
        Box::new(move |got| expect(LazyCell::force(&right).as_ref().map_err(String::clone)?)(got))
    };
    let own = arch::OPERATIONS.iter().find(|o| o.name == kernel.table).map_or(&[][..], |o| o.isas);
    let row = Row::plain(suite, "ours", kernel.name, typesize, bytes);
    let theirs = choice.engines.iter().filter_map(|engine| {
        let mut work = engine.kernel(kernel.name, typesize)?;
        let row = Row { engine: engine.name(), ..row.clone() };
        let work = Box::new(move |src: &[u8], dst: &mut [u8]| {
            work(src.get(..input).unwrap_or_default(), dst.get_mut(..output).unwrap_or_default())
        });
        Some(Candidate::new(row, work, judge()).peer(true))
    });
    let levels = choice.isas.iter().filter(|l| own.contains(&l.isa()) || l.isa() == Isa::Scalar);
    let ours = levels.map(|&level| {
        let corrupt = choice.corrupt;
        let row = Row { isa: level.isa().name().into(), ..row.clone() };
        let work = Box::new(move |src: &[u8], dst: &mut [u8]| {
            let src = src.get(..input).unwrap_or_default();
            let dst = dst.get_mut(..output).unwrap_or_default();
            (kernel.run)(level, typesize, src, dst).map_err(|e| e.0.to_string())?;
            Ok(output)
        });
        Candidate::new(row, spoilt(work, corrupt), judge())
    });
    theirs.chain(ours).collect()
}
