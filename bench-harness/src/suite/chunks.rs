//! Suite `chunks`: whole chunks written and read, for each array, codec, filter and level.

use super::others::{Doing, worked_through};
use super::{Bout, Case, Choice, Job, expect};
use crate::data::Data;
use crate::engine::ours::{self, Ours, decodes_to};
use crate::engine::{Engine, SelfTimed, Spec};
use crate::measure::{Timer, Work};
use crate::result::{Row, round3};
use blosc_core::{Codec, Filter, max_encoded_len};
use std::cell::OnceCell;
use std::rc::Rc;

/// Codecs that are written.
pub const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
/// Filters that are compared.
pub const FILTERS: [Filter; 3] = [Filter::None, Filter::Shuffle, Filter::BitShuffle];
/// Compression levels that are compared.
pub const LEVELS: [u8; 3] = [1, 5, 9];

/// Chunks of arrays up to this size are written once and kept for later visits.
const KEPT: usize = 1 << 20;

/// Jobs for every combination that makes sense: shuffling single bytes does not.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for data in arrays(choice) {
        let data = Rc::new(data);
        for spec in specs(choice, data.typesize) {
            let data = Rc::clone(&data);
            let chunk: OnceCell<Result<Rc<[u8]>, String>> = OnceCell::new();
            jobs.push(Job {
                label: format!("{} {} l{}, {}", spec.codec, spec.filter.name(), spec.level, data.name),
                run: Box::new(move |setting, plan, stop| {
                    let mut rows = compress("chunks", &spec, None, &data, choice).run(setting, plan, stop);
                    let write = || ours::compress(&spec, &data.bytes);
                    let chunk = if data.bytes.len() > KEPT { &write() } else { chunk.get_or_init(write) };
                    match chunk {
                        Ok(chunk) => {
                            let bout = decompress("chunks", &spec, None, &data, Rc::clone(chunk), choice);
                            rows.extend(bout.run(setting, plan, stop));
                        }
                        Err(why) => {
                            let row = row("chunks", "decompress", &spec, &data);
                            rows.push(Row { refused: Some(why.clone()), ..row });
                        }
                    }
                    rows
                }),
            });
        }
    }
    jobs
}

/// Every codec, filter and level; shuffling single bytes is left out.
pub fn specs(choice: &Choice, typesize: usize) -> Vec<Spec> {
    let mut specs = Vec::new();
    for &codec in &choice.codecs {
        for &filter in choice.filters.iter().filter(|f| typesize > 1 || **f != Filter::Shuffle) {
            for &level in &choice.levels {
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
    if engine.reads(chunk) { Ok(Rc::clone(chunk)) } else { written_by(engine, spec, data) }
}

/// The work, and the clock of an engine that brings one.
fn contend(
    timed: Option<Result<SelfTimed, String>>,
    ours: impl FnOnce() -> Result<Work<'static>, String>,
) -> Result<(Work<'static>, Option<Timer<'static>>), String> {
    match timed {
        Some(timed) => timed.map(|t| (t.work, Some(t.timer))),
        None => ours().map(|work| (work, None)),
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

/// Everybody compresses `data`, which has been through the filter `done` already.
pub fn compress<'a>(
    suite: &str,
    spec: &Spec,
    done: Option<Filter>,
    data: &'a Data,
    choice: &Choice,
) -> Bout<'a> {
    let mut cases = Vec::new();
    for (engine, peer) in engines(choice) {
        let others = choice.others_of(suite);
        let row = Row { engine: engine.name(), isa: engine.isa(), ..row(suite, "compress", spec, data) };
        let timed = engine.self_timed("compress", spec, data.bytes.as_ref().into());
        cases.push(match contend(timed, || engine.compressor(spec, data.bytes.len())) {
            Ok((work, timer)) => {
                let before = worked_through(engine.as_ref(), Doing::Compress, (*spec, done), data, others);
                Case { row, peer, work, timer, before, check: decodes_to(&data.bytes) }
            }
            Err(why) => Case::left_out(row, why),
        });
    }
    let bytes = data.bytes.len();
    Bout {
        source: &data.bytes,
        room: max_encoded_len(bytes) + 1024,
        bytes,
        cases,
        probe_rows: None,
        stateless: false,
    }
}

/// Everybody decompresses the same chunk of `data`; an engine that cannot read its format, one of its own.
pub fn decompress<'a>(
    suite: &str,
    spec: &Spec,
    done: Option<Filter>,
    data: &'a Data,
    chunk: Rc<[u8]>,
    choice: &Choice,
) -> Bout<'a> {
    let mut cases = Vec::new();
    let bytes = data.bytes.len();
    for (engine, peer) in engines(choice) {
        let others = choice.others_of(suite);
        let row = Row { engine: engine.name(), isa: engine.isa(), ..row(suite, "decompress", spec, data) };
        let chunk = match readable(engine.as_ref(), spec, &data.bytes, &chunk) {
            Ok(chunk) => chunk,
            Err(why) => {
                cases.push(Case::left_out(row, why));
                continue;
            }
        };
        let row = Row {
            cbytes: Some(chunk.len()),
            ratio: Some(round3(bytes as f64 / chunk.len().max(1) as f64)),
            ..row
        };
        let timed = engine.self_timed("decompress", spec, Rc::clone(&chunk));
        cases.push(match contend(timed, || engine.decompressor(spec, Rc::clone(&chunk))) {
            Ok((work, timer)) => {
                let before = worked_through(engine.as_ref(), Doing::Decompress, (*spec, done), data, others);
                Case { row, peer, work, timer, before, check: expect(&data.bytes) }
            }
            Err(why) => Case::left_out(row, why),
        });
    }
    Bout { source: &data.bytes, room: bytes, bytes, cases, probe_rows: None, stateless: false }
}
