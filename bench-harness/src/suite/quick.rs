//! The quick run: 300 to 600 rows, by levels and opponents, each visited often within a minute, for the questions people ask.
//!
//! | question | rows |
//! |---|---|
//! | which CPU? | the best level of each kernel from the first-level cache to memory, beside plain copies; threads |
//! | which SIMD level? | every level of each kernel, at 256 KiB |
//! | which codec, which filter, which level? | chunks of three real arrays, and one with constant byte planes |
//!
//! All answers to one question are candidates of one comparison, so that they are timed in the same rounds.

use super::choice::{Choice, Job, seconds};
use super::chunks::{self, specs};
use super::{kernels, threads};
use crate::data::{corpus, generate};
use crate::engine::{Filters, Spec};
use crate::machine::unpinned;
use blosc_core::{Codec, Level};
use std::cell::OnceCell;
use std::rc::Rc;

/// Bytes at which all levels are compared: second-level cache.
const LEVELS_AT: usize = 256 << 10;
/// Item sizes there.
const TYPESIZES: [usize; 5] = [1, 2, 4, 8, 16];
/// Item sizes at the other sizes.
const SIZED: [usize; 2] = [4, 8];
/// Items of two, four and eight bytes.
const ARRAYS: [&str; 3] = ["elevation", "goes_flux", "oil_prices"];
/// Bytes of the chunk that threads share: it fits no second-level cache.
const SHARED: usize = 16 << 20;

/// All jobs.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = levels(choice);
    jobs.extend([8 << 10, 4 << 20, 64 << 20].map(|bytes| best_kernels(bytes, choice)));
    jobs.extend(arrays(choice));
    jobs.extend(scaling(choice));
    jobs
}

fn levels(choice: &Choice) -> Vec<Job<'_>> {
    let source: Rc<OnceCell<Vec<u8>>> = Rc::default();
    let mut jobs = Vec::new();
    for kernel in &kernels::FILTERS {
        for typesize in TYPESIZES.into_iter().filter(|t| *t > 1 || !kernel.trivial_at_1) {
            let source = Rc::clone(&source);
            let probe_rows = jobs.is_empty().then_some("kernels");
            let run = move |setting: &_, plan: &_, stop: &dyn Fn() -> bool| {
                let all = source.get_or_init(|| kernels::source(LEVELS_AT));
                let candidates = kernels::candidates("kernels", kernel, typesize, LEVELS_AT, all, choice);
                kernels::comparison(all, LEVELS_AT, candidates, probe_rows).run(setting, plan, stop)
            };
            let least = seconds(LEVELS_AT, choice.isas.len(), kernels::PACE);
            jobs.push(Job::new(format!("{} ts {typesize}", kernel.name), least, run));
        }
    }
    jobs
}

fn best_kernels(bytes: usize, choice: &Choice) -> Job<'_> {
    let best = Choice { isas: vec![Level::best()], ..choice.clone() };
    let source: OnceCell<Vec<u8>> = OnceCell::new();
    let run = move |setting: &_, plan: &_, stop: &dyn Fn() -> bool| {
        let all = source.get_or_init(|| kernels::source(bytes));
        let each = kernels::FILTERS.iter().flat_map(|kernel| SIZED.map(|typesize| (kernel, typesize)));
        let candidates =
            each.flat_map(|(k, t)| kernels::candidates("kernels", k, t, bytes, all, &best)).collect();
        kernels::comparison(all, bytes, candidates, Some("kernels")).run(setting, plan, stop)
    };
    let least = seconds(bytes, kernels::FILTERS.len() * SIZED.len(), kernels::PACE);
    Job::new(format!("kernels, {}", crate::report::table::size(bytes)), least, run)
}

fn arrays(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for data in corpus::REAL.iter().filter(|r| ARRAYS.contains(&r.name)).map(corpus::Real::array) {
        let (data, edges) = (Rc::new(data), Choice { filters: vec![Filters::Shuffle], ..choice.clone() });
        for specs in [specs(choice, data.typesize, &[5]), specs(&edges, data.typesize, &[1, 9])] {
            jobs.push(chunks::job("chunks", specs, Rc::clone(&data), choice));
        }
    }
    if let Some(planes) = generate::find("narrow_i8") {
        let data = planes.array(64 << 10);
        let some = Choice {
            codecs: vec![Codec::BloscLz, Codec::Lz4, Codec::Zstd],
            filters: vec![Filters::Shuffle],
            ..choice.clone()
        };
        jobs.push(chunks::job("chunks", specs(&some, data.typesize, &[5]), Rc::new(data), choice));
    }
    jobs
}

fn scaling(choice: &Choice) -> Option<Job<'_>> {
    let data = generate::find("smooth_f4")?.array(SHARED);
    let spec = Spec::new(Codec::Lz4, 5, data.typesize, 1);
    let run = move |setting: &_, plan: &_, stop: &dyn Fn() -> bool| {
        let both = ["compress", "decompress"]
            .map(|op| threads::scaling("threads", op, &spec, &data, choice, &choice.engines));
        both.into_iter().flatten().flat_map(|one| unpinned(|| one.run(setting, plan, stop))).collect()
    };
    Some(Job::new("threads", threads::least(&spec, SHARED, choice), run))
}
