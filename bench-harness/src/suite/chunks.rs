//! Suite `chunks`: whole chunks written and read, for each array, codec, filter and level.

use super::choice::{Choice, Job, pace, seconds};
use super::unlearn::{Task, Want, work_on_others};
use crate::data::Data;
use crate::engine::ours::{self, Ours, decodes_to};
use crate::engine::{Engine, Filters, Spec};
use crate::measure::candidate::{Candidate, Check, Timer, Work};
use crate::measure::check::expect;
use crate::measure::comparison::Comparison;
use crate::measure::{Plan, Setting};
use crate::result::{Row, round3};
use blosc_core::max_encoded_len;
use std::cell::OnceCell;
use std::rc::Rc;

/// Chunks of arrays up to this size are written once and kept for later visits.
const KEPT: usize = 1 << 20;

/// A job for every combination that makes sense: shuffling single bytes does not.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let each = |data: Rc<Data>| {
        let specs = specs(choice, data.typesize, &choice.levels);
        specs.into_iter().map(move |spec| job("chunks", vec![spec], Rc::clone(&data), choice))
    };
    arrays(choice).into_iter().map(Rc::new).flat_map(each).collect()
}

/// Compression and decompression of an array in each of these ways, all of one direction in the same rounds.
pub fn job<'a>(suite: &'static str, specs: Vec<Spec>, data: Rc<Data>, choice: &'a Choice) -> Job<'a> {
    let chunks: Vec<OnceCell<Result<Rc<[u8]>, String>>> = specs.iter().map(|_| OnceCell::new()).collect();
    let name = |s: &Spec| format!("{} {} l{}", s.codec, s.filter.name(), s.level);
    let who = choice.engines.len() + choice.chunk_isas.len();
    let one = |s: &Spec| seconds(data.bytes.len(), who, pace(s.codec, s.level));
    let least = specs.iter().map(one).sum();
    let label = match &specs[..] {
        [one] => format!("{}, {}", name(one), data.name),
        many => format!("{} ways, {}", many.len(), data.name),
    };
    let run = move |setting: &Setting, plan: &Plan, stop: &dyn Fn() -> bool| {
        let bytes = data.bytes.len();
        let both = specs.iter().map(|spec| compressors(suite, spec, None, &data, choice));
        let room = max_encoded_len(bytes) + 1024;
        let writing = Comparison::new(&data.bytes, room, bytes, both.flatten().collect());
        let mut rows = writing.run(setting, plan, stop);
        let mut readers = Vec::new();
        for (spec, chunk) in specs.iter().zip(&chunks) {
            let write = || ours::compress(spec, &data.bytes);
            let chunk = if bytes > KEPT { write() } else { chunk.get_or_init(write).clone() };
            match &chunk {
                Ok(chunk) => readers.extend(decompressors(suite, spec, None, &data, chunk, choice)),
                Err(why) => {
                    let row = row(suite, "decompress", spec, &data);
                    rows.push(Row { refused: Some(why.clone()), ..row });
                }
            }
        }
        rows.extend(Comparison::new(&data.bytes, bytes, bytes, readers).run(setting, plan, stop));
        rows
    };
    Job::new(label, least, run)
}

/// Every codec and filter at these levels; shuffling single bytes is left out.
pub fn specs(choice: &Choice, typesize: usize, levels: &[u8]) -> Vec<Spec> {
    let mut specs = Vec::new();
    for &codec in &choice.codecs {
        for &filter in choice.filters.iter().filter(|f| f.suits(typesize)) {
            for &level in levels {
                let blocksize = choice.blocksize;
                specs.push(Spec { codec, filter, level, typesize, threads: 1, blocksize });
            }
        }
    }
    specs
}

/// The arrays at the sizes asked for, or at their own.
pub fn arrays(choice: &Choice) -> Vec<Data> {
    if choice.array_sizes.is_empty() {
        return choice.data.clone();
    }
    choice.data.iter().flat_map(|d| choice.array_sizes.iter().map(|s| d.sized(*s))).collect()
}

/// The fixed part of a row.
pub fn row(suite: &str, op: &str, spec: &Spec, data: &Data) -> Row {
    Row {
        suite: suite.into(),
        engine: "ours".into(),
        op: op.into(),
        codec: spec.codec.name().into(),
        filter: spec.filter.name().into(),
        level: Some(spec.level),
        typesize: data.typesize,
        bytes: data.bytes.len(),
        blocksize: spec.blocksize,
        threads: spec.threads,
        data: data.name.clone(),
        ..Row::default()
    }
}

/// This library at each level asked for, then the others; with whether it is an opponent.
pub fn engines(choice: &Choice) -> Vec<(Rc<dyn Engine>, bool)> {
    let own = choice.chunk_isas.iter().map(|&level| {
        let ours: Rc<dyn Engine> = Rc::new(Ours { level, corrupt: choice.corrupt });
        (ours, false)
    });
    own.chain(choice.engines.iter().map(|e| (Rc::clone(e), true))).collect()
}

/// `chunk`, or one that the engine wrote itself where it cannot read that.
pub fn readable(engine: &dyn Engine, spec: &Spec, data: &[u8], chunk: &Rc<[u8]>) -> Result<Rc<[u8]>, String> {
    match engine.own_chunk(spec, data) {
        Some(own) => own,
        None if engine.reads(chunk) => Ok(Rc::clone(chunk)),
        None => written_by(engine, spec, data),
    }
}

/// A chunk by this engine, with one thread.
pub fn written_by(engine: &dyn Engine, spec: &Spec, data: &[u8]) -> Result<Rc<[u8]>, String> {
    let one = Spec { threads: 1, ..*spec };
    let mut chunk = vec![0; max_encoded_len(data.len()) + 1024];
    let n = engine.compressor(&one, data.len())?(data, &mut chunk)?;
    chunk.truncate(n);
    Ok(chunk.into())
}

/// Every engine compresses `data`, which has been through the filter `done` already.
pub fn compress<'a>(
    suite: &str,
    spec: &Spec,
    done: Option<Filters>,
    data: &'a Data,
    choice: &Choice,
) -> Comparison<'a> {
    let (bytes, candidates) = (data.bytes.len(), compressors(suite, spec, done, data, choice));
    Comparison::new(&data.bytes, max_encoded_len(bytes) + 1024, bytes, candidates)
}

/// Every engine decompresses the same chunk of `data`; one that cannot read its format, a chunk of its own.
pub fn decompress<'a>(
    suite: &str,
    spec: &Spec,
    done: Option<Filters>,
    data: &'a Data,
    chunk: &Rc<[u8]>,
    choice: &Choice,
) -> Comparison<'a> {
    let (bytes, candidates) = (data.bytes.len(), decompressors(suite, spec, done, data, chunk, choice));
    Comparison::new(&data.bytes, bytes, bytes, candidates)
}

/// How an engine takes part in a case: its work, its clock if it brings one, and the judge.
pub type Part<'a> = (Work<'static>, Option<Timer<'static>>, Check<'a>);

/// A candidate for every engine. `part` says how it takes part and may add to its row; where it cannot, its row says why.
pub fn candidates<'a>(
    (suite, op): (&str, &str),
    task: Task,
    want: Want,
    data: &'a Data,
    choice: &Choice,
    part: impl Fn(&dyn Engine, &mut Row) -> Result<Part<'a>, String>,
) -> Vec<Candidate<'a>> {
    let candidate = |(engine, peer): (Rc<dyn Engine>, bool)| {
        let mut row = Row { engine: engine.name(), isa: engine.isa(), ..row(suite, op, &want.0, data) };
        match part(engine.as_ref(), &mut row) {
            Ok((work, timer, check)) => {
                let before = work_on_others(engine.as_ref(), task, want, data, choice.others_of(suite));
                Candidate::new(row, work, check).peer(peer).timer(timer).before(before)
            }
            Err(why) => Candidate::left_out(row, why),
        }
    };
    engines(choice).into_iter().map(candidate).collect()
}

fn compressors<'a>(
    suite: &str,
    spec: &Spec,
    done: Option<Filters>,
    data: &'a Data,
    choice: &Choice,
) -> Vec<Candidate<'a>> {
    candidates((suite, "compress"), Task::Compress, (*spec, done), data, choice, |engine, _| {
        let check = engine.judge(spec, &data.bytes).unwrap_or_else(|| decodes_to(&data.bytes));
        match engine.self_timed("compress", spec, data.bytes.as_ref().into()) {
            Some(timed) => timed.map(|t| (t.work, Some(t.timer), check)),
            None => engine.compressor(spec, data.bytes.len()).map(|work| (work, None, check)),
        }
    })
}

fn decompressors<'a>(
    suite: &str,
    spec: &Spec,
    done: Option<Filters>,
    data: &'a Data,
    chunk: &Rc<[u8]>,
    choice: &Choice,
) -> Vec<Candidate<'a>> {
    candidates((suite, "decompress"), Task::Decompress, (*spec, done), data, choice, |engine, row| {
        let (chunk, check) = (readable(engine, spec, &data.bytes, chunk)?, expect(&data.bytes));
        row.cbytes = Some(chunk.len());
        row.ratio = Some(round3(data.bytes.len() as f64 / chunk.len().max(1) as f64));
        match engine.self_timed("decompress", spec, Rc::clone(&chunk)) {
            Some(timed) => timed.map(|t| (t.work, Some(t.timer), check)),
            None => engine.decompressor(spec, chunk).map(|work| (work, None, check)),
        }
    })
}
