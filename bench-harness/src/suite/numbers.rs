//! `pco`, a codec for sequences of numbers that needs no filter: each array at each level, as rows of the suite `chunks`.

use super::choice::{Choice, Job, seconds};
use crate::data::Data;
use crate::measure::candidate::{Candidate, Check, Work};
use crate::measure::check::expect;
use crate::measure::comparison::Comparison;
use crate::result::{Row, round3};
use bytemuck::Pod;
use pco::ChunkConfig;
use pco::data_types::Number;
use pco::standalone::{simple_compress, simple_decompress_into};
use std::rc::Rc;

/// Packs bytes that are numbers of one type.
type Pack = fn(&[u8], usize) -> Result<Vec<u8>, String>;
/// Unpacks them into a destination of their length.
type Unpack = fn(&[u8], &mut [u8]) -> Result<usize, String>;

/// Both for the type of an array; `None` for types that are no numbers of two bytes or more.
fn both(dtype: &str) -> Option<(Pack, Unpack)> {
    Some(match dtype {
        "u2" => (pack::<u16>, unpack::<u16>),
        "i2" => (pack::<i16>, unpack::<i16>),
        "u4" => (pack::<u32>, unpack::<u32>),
        "i4" => (pack::<i32>, unpack::<i32>),
        "u8" => (pack::<u64>, unpack::<u64>),
        "i8" => (pack::<i64>, unpack::<i64>),
        "f4" => (pack::<f32>, unpack::<f32>),
        "f8" => (pack::<f64>, unpack::<f64>),
        _ => return None,
    })
}

fn pack<T: Number + Pod>(src: &[u8], level: usize) -> Result<Vec<u8>, String> {
    let numbers: &[T] = bytemuck::try_cast_slice(src).map_err(|e| e.to_string())?;
    let config = ChunkConfig::default().with_compression_level(level);
    simple_compress(numbers, &config).map_err(|e| e.to_string())
}

fn unpack<T: Number + Pod>(stream: &[u8], dst: &mut [u8]) -> Result<usize, String> {
    let numbers: &mut [T] = bytemuck::try_cast_slice_mut(dst).map_err(|e| e.to_string())?;
    simple_decompress_into(stream, numbers).map_err(|e| e.to_string())?;
    Ok(dst.len())
}

/// Compression and decompression of an array at each level, if it holds numbers.
pub fn job(data: Data, choice: &Choice) -> Option<Job<'_>> {
    let (pack, unpack) = both(data.dtype)?;
    let (label, data_len) = (format!("pco, {}", data.name), data.bytes.len());
    let run = move |setting: &_, plan: &_, stop: &dyn Fn() -> bool| {
        let bytes = data.bytes.len();
        let (mut writers, mut readers) = (Vec::new(), Vec::new());
        for &level in &choice.levels {
            let row = |op: &str| Row {
                suite: "chunks".into(),
                engine: "pco".into(),
                op: op.into(),
                codec: "pco".into(),
                filter: "none".into(),
                level: Some(level),
                typesize: data.typesize,
                bytes,
                threads: 1,
                data: data.name.clone(),
                ..Row::default()
            };
            let write: Work<'_> = Box::new(move |src, dst| {
                let stream = pack(src, level.into())?;
                dst.get_mut(..stream.len()).ok_or("does not fit")?.copy_from_slice(&stream);
                Ok(stream.len())
            });
            let check: Check<'_> = Box::new(|stream| {
                let mut back = vec![0u64; bytes.div_ceil(8)];
                let back: &mut [u8] = bytemuck::cast_slice_mut(&mut back);
                let back = back.get_mut(..bytes).ok_or("too short")?;
                unpack(stream, back)?;
                expect(&data.bytes)(back)
            });
            writers.push(Candidate::new(row("compress"), write, check));
            let aligned: Vec<u64> = data.bytes.chunks(8).map(word).collect();
            let source: &[u8] = bytemuck::cast_slice(&aligned);
            let Ok(stream) = pack(source.get(..bytes).unwrap_or_default(), level.into()) else { continue };
            let stream: Rc<[u8]> = stream.into();
            let (cbytes, ratio) =
                (Some(stream.len()), Some(round3(bytes as f64 / stream.len().max(1) as f64)));
            let read: Work<'_> =
                Box::new(move |_, dst| unpack(&stream, dst.get_mut(..bytes).ok_or("does not fit")?));
            let row = Row { cbytes, ratio, ..row("decompress") };
            readers.push(Candidate::new(row, read, expect(&data.bytes)));
        }
        let mut rows =
            Comparison::new(&data.bytes, bytes + bytes / 2 + 4096, bytes, writers).run(setting, plan, stop);
        rows.extend(Comparison::new(&data.bytes, bytes, bytes, readers).run(setting, plan, stop));
        rows
    };
    Some(Job::new(label, seconds(data_len, choice.levels.len(), 0.1), run))
}

/// Up to eight bytes as they lie in memory.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_ne_bytes(word)
}
