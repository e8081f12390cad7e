//! What the tests of frames share: a source of chance, and a plain model of a super-chunk.
#![allow(dead_code, unused_imports)] // each module uses its part

pub mod hooked;

use blosc_core::{ChunkContext, Codec, Params, Pool, Special};
use blosc_frame::cframe::header::ChunkSize;
use blosc_frame::{Error, SuperChunk};

pub use blosc_testkit::{Folder, Random, emulated, of_short as count};

/// What a super-chunk should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub chunks: Vec<Vec<u8>>,
    pub metalayers: Vec<(String, Vec<u8>)>,
    pub vlmetalayers: Vec<(String, Vec<u8>)>,
    pub chunksize: usize,
    /// Only edits whose result C-Blosc2 reads as we do: no empty chunks, nothing uninitialised.
    pub portable: bool,
    /// Chunks that are given as wholes have blocks of variable length.
    pub vl: bool,
}

/// The bytes as a msgpack bin, which is what python-blosc2 takes metalayers for.
pub fn msgpack_bin(bytes: &[u8]) -> Vec<u8> {
    let len = (bytes.len() as u16).to_be_bytes();
    let head = if len[0] == 0 { vec![0xc4, len[1]] } else { vec![0xc5, len[0], len[1]] };
    [head, bytes.to_vec()].concat()
}

pub fn params(random: &mut Random) -> Params {
    let typesize = [1, 2, 4, 8, 3, 16, 300, 70_000][random.below(8)];
    let codec = [Codec::BloscLz, Codec::Lz4, Codec::Zstd, Codec::Zlib][random.below(4)];
    let params = Params::new(typesize).codec(codec).level([0, 1, 5][random.below(3)]);
    if random.below(3) == 0 { params.no_filter() } else { params }
}

fn set(list: &mut Vec<(String, Vec<u8>)>, name: &str, content: &[u8]) {
    match list.iter_mut().find(|(n, _)| n == name) {
        Some(slot) => slot.1 = content.to_vec(),
        None => list.push((name.into(), content.to_vec())),
    }
}

/// Makes one random edit in both; the frame may refuse it, and then must be unchanged.
pub fn edit(random: &mut Random, sc: &mut SuperChunk<'_>, model: &mut Model) -> Result<String, Error> {
    let n = model.chunks.len();
    let typesize = sc.typesize() as usize;
    let c = model.chunksize;
    let k = random.below(n.max(1));
    let usual = random.below(3) > 0;
    let least = usize::from(model.portable);
    let len = if usual { c } else { (random.below(2 * c / typesize + 1) + least) * typesize };
    let data = random.bytes(len);
    let blocks = model.vl && !data.is_empty();
    let vl = blocks.then(|| vl_chunk(random, &sc.params(), &data)).transpose()?;
    let before = model.clone();
    let what;
    let result = match random.below(12) {
        0 | 1 => {
            what = format!("append_data {len}");
            model.chunks.push(data.clone());
            match vl {
                Some(chunk) => sc.append_chunk(&chunk),
                None => sc.append_data(&data),
            }
        }
        2 => {
            let len = random.below(3 * c / typesize + 1) * typesize;
            let data = random.bytes(len);
            what = format!("append {len}");
            model_append(model, sc.chunksize() == ChunkSize::Variable, &data);
            sc.append(&data)
        }
        3 => {
            let k = random.below(n + 1);
            what = format!("insert {k} of {len}");
            model.chunks.insert(k, data.clone());
            match vl {
                Some(chunk) => sc.insert_chunk(k as u64, &chunk),
                None => sc.insert(k as u64, &data),
            }
        }
        4 | 5 if n > 0 => {
            what = format!("update {k} to {len}");
            model.chunks[k] = data.clone();
            match vl {
                Some(chunk) => sc.update_chunk(k as u64, &chunk),
                None => sc.update(k as u64, &data),
            }
        }
        6 if n > 0 => {
            what = format!("delete {k}");
            model.chunks.remove(k);
            sc.delete(k as u64)
        }
        7 if n > 1 => {
            let mut order: Vec<u64> = (0..n as u64).collect();
            for i in (1..n).rev() {
                order.swap(i, random.below(i + 1));
            }
            what = format!("reorder {order:?}");
            model.chunks = order.iter().map(|k| before.chunks[*k as usize].clone()).collect();
            sc.reorder(&order)
        }
        8 => {
            let nan = matches!(typesize, 4 | 8) && random.below(2) == 0;
            let items = random.below(3 * c / typesize + 1) + least;
            what = format!("fill {items} items, nan {nan}");
            if random.below(3) == 0 {
                let item = random.bytes(typesize);
                model_append(model, sc.chunksize() == ChunkSize::Variable, &item.repeat(items));
                return settle(sc.fill_value(&item, items as u64), what, before, model);
            }
            let zeros = model.portable || random.below(2) == 0;
            let kind = if nan {
                Special::Nan
            } else if zeros {
                Special::Zeros
            } else {
                Special::Uninit
            };
            let pattern: Vec<u8> = match (nan, typesize) {
                (true, 4) => f32::NAN.to_le_bytes().to_vec(),
                (true, _) => f64::NAN.to_le_bytes().to_vec(),
                _ => vec![0; typesize],
            };
            model_append(model, sc.chunksize() == ChunkSize::Variable, &pattern.repeat(items));
            sc.fill_special(kind, (items * typesize) as u64)
        }
        9 => {
            let name = format!("meta{}", random.below(3));
            let len = if random.below(2) == 0 { 9 } else { random.below(700) };
            let content = msgpack_bin(&random.bytes(len));
            what = format!("set_metalayer {name} {len}");
            set(&mut model.metalayers, &name, &content);
            sc.set_metalayer(&name, &content)
        }
        10 => {
            let name = format!("vl{}", random.below(18));
            let len = random.below(300);
            let content = msgpack_bin(&random.bytes(len));
            what = format!("set_vlmetalayer {name} {len}");
            set(&mut model.vlmetalayers, &name, &content);
            sc.set_vlmetalayer(&name, &content)
        }
        _ => {
            let name = format!("vl{}", random.below(5));
            what = format!("remove_vlmetalayer {name}");
            model.vlmetalayers.retain(|(n, _)| *n != name);
            sc.remove_vlmetalayer(&name);
            Ok(())
        }
    };
    settle(result, what, before, model)
}

/// Data as a chunk of blocks of variable length.
fn vl_chunk(random: &mut Random, params: &Params, data: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut blocks, mut rest) = (Vec::new(), data);
    while !rest.is_empty() {
        let (block, after) = rest.split_at(1 + random.below(rest.len()));
        blocks.push(block);
        rest = after;
    }
    let params = params.fit(data.len());
    Pool::new(1).compress_vl(&params, ChunkContext::default(), &blocks).map_err(Error::Codec)
}

/// What came of an edit; a refused one leaves the model as it was.
fn settle(
    result: Result<(), Error>,
    what: String,
    before: Model,
    model: &mut Model,
) -> Result<String, Error> {
    let zero_first = model.chunks.first().is_some_and(Vec::is_empty);
    if zero_first || model.vlmetalayers.len() > 16 {
        assert!(result.is_err(), "{what} should have been refused");
    }
    if let Err(error) = result {
        *model = before;
        return match error {
            Error::Param { .. } | Error::Capacity { .. } | Error::Limit { .. } => {
                Ok(format!("{what}: refused, {error}"))
            }
            other => Err(other),
        };
    }
    Ok(what)
}

fn model_append(model: &mut Model, variable: bool, mut data: &[u8]) {
    if !variable
        && let Some(last) = model.chunks.last_mut()
        && last.len() < model.chunksize
    {
        let (now, rest) = data.split_at((model.chunksize - last.len()).min(data.len()));
        last.extend(now);
        data = rest;
    }
    model.chunks.extend(data.chunks(model.chunksize).map(<[u8]>::to_vec));
}

/// Compares everything; `random` picks some slices.
pub fn compare(sc: &mut SuperChunk<'_>, model: &Model, random: &mut Random) -> Result<(), String> {
    let fail = |what: &str, error: Error| format!("{what}: {error}");
    if sc.nchunks() != model.chunks.len() as u64 {
        return Err(format!("{} chunks instead of {}", sc.nchunks(), model.chunks.len()));
    }
    let all: Vec<u8> = model.chunks.concat();
    if sc.nbytes() != all.len() as u64 {
        return Err(format!("{} bytes instead of {}", sc.nbytes(), all.len()));
    }
    for _ in 0..3 {
        let a = random.below(all.len() + 1);
        let b = a + random.below(all.len() + 1 - a);
        let mut out = vec![1; b - a];
        sc.read_bytes(a as u64..b as u64, &mut out).map_err(|e| fail("slice", e))?;
        if out != all[a..b] {
            return Err(format!("bytes {a}..{b} differ"));
        }
    }
    for (k, chunk) in model.chunks.iter().enumerate() {
        let got = sc.read_chunk(k as u64).map_err(|e| fail("chunk", e))?;
        if got != *chunk {
            return Err(format!("chunk {k} differs: {} bytes, want {}", got.len(), chunk.len()));
        }
        let len = sc.chunk_nbytes(k as u64).map_err(|e| fail("size of a chunk", e))?;
        if len as usize != chunk.len() {
            return Err(format!("chunk {k} is said to have {len} bytes, but has {}", chunk.len()));
        }
    }
    if sc.chunk_nbytes(sc.nchunks()).is_ok() || sc.read_chunk(sc.nchunks()).is_ok() {
        return Err("there is a chunk after the last one".into());
    }
    let names: Vec<String> = sc.metalayer_names().collect();
    let got: Vec<_> = names.into_iter().map(|n| (n.clone(), sc.metalayer(&n).unwrap().to_vec())).collect();
    if got != model.metalayers {
        return Err("metalayers differ".into());
    }
    let names: Vec<String> = sc.vlmetalayer_names().collect();
    let mut got = Vec::new();
    for name in names {
        let content = sc.vlmetalayer(&name).map_err(|e| fail("vlmetalayer", e))?;
        got.push((name, content.unwrap()));
    }
    if got != model.vlmetalayers {
        return Err("vlmetalayers differ".into());
    }
    Ok(())
}
