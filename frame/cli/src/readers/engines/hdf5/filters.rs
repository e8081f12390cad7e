//! Filters of HDF5 chunks: 32001 (Blosc), 32026 (Blosc2), and those of HDF5 itself that may stand beside them.
//! `blosc_frame::hdf5` knows what the numbers of the first two mean.

use blosc_core::{Chunk, Limits as ChunkLimits, Pool};
use blosc_frame::hdf5::{BLOSC, BLOSC2, CdValues, decode_frame};
use hdf5_pure::Filter;
use serde_json::{Map, Value, json};

const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;

/// Filters before Blosc may add something to a chunk, such as a checksum.
const SLACK: u64 = 1 << 16;

pub fn is_blosc(id: u16) -> bool {
    matches!(id, BLOSC | BLOSC2)
}

/// A filter that neither the crate nor this file undoes.
pub fn unknown(filters: &[Filter]) -> Option<String> {
    let known = |id: u16| matches!(id, 1 | SHUFFLE | FLETCHER32 | 6 | 32000) || is_blosc(id);
    let filter = filters.iter().find(|filter| !known(filter.id))?;
    Some(format!("filter {} ({}) is not read", name(filter), filter.id))
}

/// A filter's name.
fn name(filter: &Filter) -> String {
    match filter.id {
        1 => "deflate".into(),
        SHUFFLE => "shuffle".into(),
        FLETCHER32 => "fletcher32".into(),
        4 => "szip".into(),
        5 => "nbit".into(),
        6 => "scaleoffset".into(),
        32000 => "lzf".into(),
        BLOSC => "blosc".into(),
        BLOSC2 => "blosc2".into(),
        id => filter.name.clone().unwrap_or_else(|| format!("filter {id}")),
    }
}

/// What `info` says of the filters: as HDF5 stores them, and what those numbers mean.
pub fn describe(filters: &[Filter], fields: &mut Map<String, Value>) {
    if filters.is_empty() {
        return;
    }
    let stored =
        |filter: &Filter| json!({"id": filter.id, "name": name(filter), "cd_values": filter.client_data});
    fields.insert("hdf5_filters".into(), filters.iter().map(stored).collect::<Vec<_>>().into());
    let Some((last, before)) = filters.iter().position(|filter| is_blosc(filter.id)).and_then(|at| {
        let (before, rest) = filters.split_at(at);
        rest.first().map(|last| (last, before))
    }) else {
        // The last one is what compresses, as far as one does.
        if let Some((last, before)) = filters.split_last() {
            let slots: Vec<Value> = before.iter().map(|filter| json!({"name": name(filter)})).collect();
            fields.insert("filters".into(), slots.into());
            fields.insert("codec".into(), name(last).into());
            if let (1, [level, ..]) = (last.id, last.client_data.as_slice()) {
                fields.insert("level".into(), (*level).into());
            }
        }
        return;
    };
    let values = CdValues(&last.client_data);
    let mut slots: Vec<Value> = before.iter().map(|filter| json!({"name": name(filter)})).collect();
    let filter = values.filter().map_or_else(|n| format!("filter {n}"), |filter| filter.name().into());
    slots.push(json!({"name": filter}));
    let codec = values.codec().map_or_else(|n| format!("codec {n}"), |codec| codec.name().into());
    fields.insert("filter".into(), name(last).into());
    fields.insert("filters".into(), slots.into());
    fields.insert("codec".into(), codec.into());
    fields.insert("level".into(), values.level().into());
    if let (BLOSC2, (Some(size), _)) = (last.id, values.sizes()) {
        fields.insert("blocksize".into(), size.into());
    }
}

/// The filters of a dataset, all of which are known here.
pub struct Pipeline {
    /// Ids, and how many dimensions each says that a chunk has.
    filters: Vec<(u16, u32)>,
    item: usize,
}

impl Pipeline {
    /// # Errors
    /// Names a filter that is not known.
    pub fn new(filters: &[Filter], item: u64) -> Result<Pipeline, String> {
        let known = |id: u16| is_blosc(id) || matches!(id, SHUFFLE | FLETCHER32);
        match filters.iter().find(|filter| !known(filter.id)) {
            Some(filter) => Err(format!("filter {} ({}) beside Blosc is not read", name(filter), filter.id)),
            None => Ok(Pipeline {
                filters: filters.iter().map(|f| (f.id, CdValues(&f.client_data).dimensions())).collect(),
                item: usize::try_from(item).unwrap_or(usize::MAX),
            }),
        }
    }

    /// Undoes the filters of a stored chunk that decodes to `nbytes` bytes; those in `mask` were not applied to it.
    pub fn decode(
        &self,
        pool: &mut Pool,
        stored: Vec<u8>,
        mask: u32,
        nbytes: u64,
    ) -> Result<Vec<u8>, String> {
        let mut data = stored;
        for (k, (id, dimensions)) in self.filters.iter().enumerate().rev() {
            if u32::try_from(k).ok().and_then(|k| mask.checked_shr(k)).is_some_and(|bits| bits & 1 == 1) {
                continue;
            }
            data = match *id {
                SHUFFLE => unshuffle(&data, self.item),
                FLETCHER32 => checked(data)?,
                BLOSC => blosc1(pool, &data, nbytes.saturating_add(SLACK))?,
                _ => blosc2(&data, nbytes.saturating_add(SLACK), *dimensions)?,
            };
        }
        match data.len() as u64 == nbytes {
            true => Ok(data),
            false => Err(format!("decodes to {} bytes where the dataset has {nbytes}", data.len())),
        }
    }
}

fn blosc1(pool: &mut Pool, data: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let chunk = Chunk::parse_with(data, &ChunkLimits::DEFAULT.output(most)).map_err(|e| e.to_string())?;
    pool.decompress(&chunk).map_err(|e| e.to_string())
}

/// A frame of one chunk.
fn blosc2(data: &[u8], most: u64, dimensions: u32) -> Result<Vec<u8>, String> {
    let room = |nbytes| Ok(vec![0; usize::try_from(nbytes).unwrap_or(usize::MAX)]);
    decode_frame(data, most, dimensions, room).map_err(|error| error.to_string())
}

/// HDF5's own shuffle: first bytes of all items, second bytes, and so on; bytes behind the last whole item stay.
fn unshuffle(data: &[u8], item: usize) -> Vec<u8> {
    let items = data.len().checked_div(item).unwrap_or(0);
    if item < 2 || items < 2 {
        return data.to_vec();
    }
    let (planes, rest) = data.split_at(items * item);
    let mut out = vec![0; planes.len()];
    for (k, plane) in planes.chunks_exact(items).enumerate() {
        for (to, byte) in out.iter_mut().skip(k).step_by(item).zip(plane) {
            *to = *byte;
        }
    }
    out.extend_from_slice(rest);
    out
}

/// A chunk without the Fletcher checksum at its end, which must be right.
fn checked(mut data: Vec<u8>) -> Result<Vec<u8>, String> {
    let start = data.len().checked_sub(4).ok_or("no room for a checksum")?;
    let stored = data.split_off(start);
    let (mut a, mut b) = (0u32, 0u32);
    for word in data.chunks(2) {
        let high = u32::from(word.first().copied().unwrap_or(0));
        let low = u32::from(word.get(1).copied().unwrap_or(0));
        a = (a + (high << 8 | low)) % 65535;
        b = (b + a) % 65535;
    }
    // Sums of all ones and of all zeros are the same here; HDF5 folds, and may have stored either.
    let same = |sum: u32, stored: u32| sum == stored % 65535;
    let number = stored.iter().rev().fold(0u32, |n, byte| n << 8 | u32::from(*byte));
    match same(a, number & 0xffff) && same(b, number >> 16) {
        true => Ok(data),
        false => Err("its Fletcher checksum does not match".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_frame::SuperChunk;

    #[test]
    fn shuffled_bytes_come_back() {
        // Two items of three bytes and a byte behind them.
        assert_eq!(unshuffle(&[1, 4, 2, 5, 3, 6, 7], 3), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(unshuffle(&[1, 2], 0), [1, 2]);
    }

    #[test]
    fn the_dataset_bounds_a_frame_and_the_frames_size_does_not() {
        let params = blosc_core::Params::new(8).codec(blosc_core::Codec::Lz4);
        let nbytes = (1 << 28) + 8;
        let mut frame = SuperChunk::memory(&params).unwrap();
        frame.set_chunksize(nbytes).unwrap();
        frame.append(&vec![0; nbytes as usize]).unwrap();
        let bytes = frame.into_bytes().unwrap();
        assert_eq!(blosc2(&bytes, nbytes.into(), 1).unwrap().len(), nbytes as usize);
        assert!(blosc2(&bytes, u64::from(nbytes) / 8, 1).is_err());
    }

    #[test]
    fn a_wrong_checksum_is_told() {
        let mut data = vec![1, 2, 3, 4];
        // Words 0102 and 0304: sums 0406 and 0508.
        data.extend([0x06, 0x04, 0x08, 0x05]);
        assert_eq!(checked(data.clone()).unwrap(), [1, 2, 3, 4]);
        data[0] = 9;
        assert!(checked(data).is_err());
        assert!(checked(vec![1]).is_err());
    }
}
