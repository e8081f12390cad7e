//! Suite `codecs`: single streams of filtered bytes, without chunk, blocks or split: our codecs beside the
//! crates `lz4_flex`, `zstd` and `zlib-rs`.

use super::choice::{Choice, Job, pace, seconds};
use super::chunks::{arrays, row, specs};
use crate::data::Data;
use crate::engine::crates::codec_of;
use crate::engine::{Spec, filtered};
use crate::measure::candidate::{Candidate, Check, Work};
use crate::measure::check::{expect, spoilt};
use crate::measure::comparison::Comparison;
use crate::result::round3;
use blosc_core::codec::context::{DecodeContext, EncodeContext};
use blosc_core::codec::dispatch::{decode_stream, decode_work_len, encode_stream, encode_work_len};
use blosc_core::{Codec, Out};
use std::rc::Rc;

/// A stream for every array, codec, filter and level.
pub fn jobs(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for data in arrays(choice) {
        let data = Rc::new(data);
        for spec in specs(choice, data.typesize, &choice.levels) {
            let data = Rc::clone(&data);
            let label = format!("{} stream l{}, {}", spec.codec, spec.level, data.name);
            let least = seconds(data.bytes.len(), 1 + choice.crates.len(), pace(spec.codec, spec.level));
            jobs.push(Job::new(label, least, move |setting, plan, stop| {
                let Some(data) = filtered(&data, spec.filter) else { return Vec::new() };
                let both = [false, true].map(|backward| streams(&spec, &data, choice, backward));
                both.into_iter().flatten().flat_map(|one| one.run(setting, plan, stop)).collect()
            }));
        }
    }
    jobs
}

fn streams<'a>(spec: &Spec, data: &'a Data, choice: &Choice, backward: bool) -> Option<Comparison<'a>> {
    let bytes = data.bytes.len();
    let room = bytes + bytes / 8 + 1024;
    let mut stream = vec![0; room];
    let n = encoder(spec, bytes)?(&data.bytes, &mut stream).ok()?;
    stream.truncate(n);
    let stream: Rc<[u8]> = stream.into();
    let crates = choice.crates.iter().filter(|c| codec_of(**c) == spec.codec).copied();
    let who = [None].into_iter().chain(crates.map(Some));
    let mut candidates = Vec::new();
    for name in who {
        let op = if backward { "decode" } else { "encode" };
        let mut row = row("codecs", op, spec, data);
        let work = match (name, backward) {
            (None, false) => spoilt(encoder(spec, bytes)?, choice.corrupt),
            (None, true) => spoilt(decoder(spec, bytes, Rc::clone(&stream)), choice.corrupt),
            (Some(c), false) => c.encoder(spec.level),
            (Some(c), true) => c.decoder(Rc::clone(&stream)),
        };
        if let Some(c) = name {
            row.engine = c.name().into();
        }
        let check: Check<'a> = if backward {
            row.cbytes = Some(stream.len());
            row.ratio = Some(round3(bytes as f64 / stream.len().max(1) as f64));
            expect(&data.bytes)
        } else {
            let spec = *spec;
            Box::new(move |got| {
                let mut back = vec![0; bytes];
                decoder(&spec, bytes, got.into())(&[], &mut back)
                    .map_err(|e| format!("wrong stream: {e}"))?;
                expect(&data.bytes)(&back)
            })
        };
        candidates.push(Candidate::new(row, work, check).peer(name.is_some()));
    }
    Some(Comparison::new(&data.bytes, room, bytes, candidates))
}

fn encoder(spec: &Spec, len: usize) -> Option<Work<'static>> {
    let Spec { codec, level, .. } = *spec;
    let mut context = EncodeContext::for_codec(codec, level.max(1), len)?;
    let mut work = vec![0; encode_work_len(codec, level, len)];
    Some(Box::new(move |src, dst| {
        encode_stream(codec, level, src, dst, &[], &mut work, &mut context)
            .ok_or_else(|| "does not shrink".into())
    }))
}

fn decoder(spec: &Spec, len: usize, stream: Rc<[u8]>) -> Work<'static> {
    let codec: Codec = spec.codec;
    let mut context = DecodeContext::for_codec(codec);
    let mut work = vec![0; decode_work_len(len)];
    Box::new(move |_, dst| {
        let room: Out<'_> = dst.get_mut(..len).ok_or("no room")?.into();
        decode_stream(codec, 0, &stream, room, &[], &mut work, &mut context).map_err(|e| format!("{e:?}"))?;
        Ok(len)
    })
}
