//! What the differential tests share: a seeded source of parameters and data, and how many rounds to run.
#![allow(dead_code)]

pub mod judge;

use blosc_core::{Codec, Filter, FilterSlot, Params, Split};
use blosc_peers::{CParams, Libblosc, Libblosc2};
use blosc_testkit::Random;

/// The oracle, or `None` and a line that says why there is none.
pub fn blosc2() -> Option<Libblosc2> {
    let Some(lib) = Libblosc2::from_env() else {
        eprintln!("skipped: BLOSC_LIBBLOSC2 does not name libblosc2.so");
        return None;
    };
    let lib = lib.expect("BLOSC_LIBBLOSC2 names a library");
    eprintln!("oracle: C-Blosc2 {}", lib.version());
    Some(lib)
}

/// Blosc 1, or `None` and a line that says why there is none.
pub fn blosc1() -> Option<Libblosc> {
    let Some(lib) = Libblosc::from_env() else {
        eprintln!("skipped: BLOSC_LIBBLOSC does not name libblosc.so (Blosc 1)");
        return None;
    };
    let lib = lib.expect("BLOSC_LIBBLOSC names a library");
    eprintln!("oracle: Blosc {}", lib.version());
    Some(lib)
}

/// `full` rounds with `BLOSC_LONG=1`, a tenth with `BLOSC_TENTH=1`, else a thirtieth.
pub fn rounds(full: u64) -> u64 {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| v == "1");
    if set("BLOSC_LONG") {
        full
    } else if set("BLOSC_TENTH") {
        full / 10
    } else {
        full / 30
    }
}

/// A size of at most `most`, whose magnitude, rather than value, is uniform.
pub fn any_size(random: &mut Random, most: usize) -> usize {
    let bits = random.below(usize::BITS as usize - most.leading_zeros() as usize + 1);
    random.below(1 << bits).min(most)
}

pub const TYPESIZES: [usize; 26] =
    [1, 1, 2, 2, 3, 4, 4, 4, 5, 6, 7, 8, 8, 8, 10, 12, 15, 16, 17, 24, 32, 64, 200, 255, 256, 1000];

/// Data of one of ten kinds, in items of `typesize` bytes.
pub fn data(rng: &mut Random, typesize: usize, len: usize) -> Vec<u8> {
    let kind = rng.below(10);
    let (a, b) = (rng.next() | 1, rng.next());
    let mut state = b;
    let byte = |i: usize, state: &mut u64| -> u8 {
        let (item, at) = ((i / typesize) as u64, (i % typesize) as u32);
        match kind {
            0 => 0,
            1 => b as u8,
            2 => (item * (a & 0xFF) + (b & 0xFFFF)).to_le_bytes()[(at & 7) as usize],
            3 => (item * item / 3 + b).to_le_bytes()[(at & 7) as usize],
            4 => ((item as f64 / 50.0).sin() * 1e3).to_le_bytes()[(at & 7) as usize],
            5 => b"the quick brown fox jumps over the lazy dog, twice; "[(i * 7 / 5) % 52],
            6 => (i as u64 % (a % 61 + 1)) as u8,
            _ => {
                *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(a);
                let random = (*state >> 40) as u8;
                match kind {
                    7 => random,
                    8 => random & 3,
                    _ if random < 250 => 0,
                    _ => random,
                }
            }
        }
    };
    (0..len).map(|i| byte(i, &mut state)).collect()
}

/// Random pipelines: the usual ones often, any lossless combination sometimes.
pub fn filters(rng: &mut Random) -> ([u8; 6], [u8; 6]) {
    let (mut ids, mut meta) = ([0; 6], [0; 6]);
    match rng.below(9) {
        0 => {}
        1 | 2 => ids[5] = 1,
        3 => ids[5] = 2,
        4 => [ids[4], ids[5]] = [3, rng.pick(&[0, 1, 2])],
        5 => ([ids[5], meta[5]]) = [1, rng.pick(&[2, 3, 4, 8, 16, 200])],
        6 => ([ids[4], ids[5], meta[5]]) = [1, 35, rng.pick(&[1, 2, 4, 7, 8, 255])],
        7 => ([ids[0], ids[3]]) = [rng.pick(&[1, 2, 3]), rng.pick(&[1, 2])],
        _ => {
            for slot in 0..6 {
                ids[slot] = rng.pick(&[0, 0, 1, 2, 3, 35]);
                meta[slot] = if ids[slot] == 35 { rng.pick(&[1, 4, 9]) } else { 0 };
            }
        }
    }
    (ids, meta)
}

/// Parameters and the data they are for, in both libraries' terms.
#[derive(Clone, Debug)]
pub struct Case {
    pub params: CParams,
    pub typesize: usize,
    pub blocksize: usize,
    pub data: Vec<u8>,
}

impl Case {
    pub fn random(seed: u64) -> Case {
        let mut rng = Random::new(seed);
        let typesize = rng.pick(&TYPESIZES);
        let codec = rng.pick(&[0, 0, 1, 1, 2, 4, 5, 5]);
        let clevel = rng.below(10) as u8;
        // The best levels of zstd take a second per megabyte.
        let most = if codec == 5 && clevel > 5 { 30_000 } else { 200_000 };
        let mut len = if rng.once_in(4) { any_size(&mut rng, most) } else { rng.below(most / 4) };
        if !rng.once_in(3) {
            len -= len % typesize;
        }
        let mut blocksize = if rng.once_in(2) { 0 } else { any_size(&mut rng, 70_000) + 1 };
        if !rng.once_in(4) && blocksize > typesize {
            blocksize -= blocksize % typesize;
        }
        // Thousands of tiny blocks teach nothing new, slowly.
        if blocksize != 0 && len / blocksize > 2000 {
            blocksize = len / 100;
        }
        let (filters, filters_meta) = filters(&mut rng);
        let params = CParams {
            codec,
            codec_meta: 0,
            clevel,
            use_dict: [1, 2, 5].contains(&codec) && clevel > 0 && rng.once_in(6),
            typesize: typesize as i32,
            nthreads: if rng.once_in(5) { 2 } else { 1 },
            blocksize: blocksize as i32,
            splitmode: rng.below(4) as i32 + 1,
            filters,
            filters_meta,
        };
        let data = data(&mut rng, typesize, len);
        Case { params, typesize, blocksize, data }
    }

    /// The parameters of this case for our writer.
    pub fn ours(&self) -> Params {
        let p = &self.params;
        let slot = |i: usize| FilterSlot::new(Filter::from_id(p.filters[i]), p.filters_meta[i]);
        let mut params = Params::new(self.typesize as u32)
            .codec(Codec::from_id(p.codec))
            .level(p.clevel)
            .filters(std::array::from_fn(slot))
            .dictionary(p.use_dict)
            .split(u8::try_from(p.splitmode).ok().and_then(Split::from_mode).unwrap_or_default())
            .codec_meta(p.codec_meta);
        if self.blocksize != 0 {
            params = params.blocksize(Some(self.blocksize as u32));
        }
        params
    }

    pub fn has(&self, filter: u8) -> bool {
        self.params.filters.contains(&filter)
    }

    pub fn delta_is_misread(&self) -> bool {
        delta_is_misread(self.params.filters.into_iter())
    }

    pub fn active_filters(&self) -> usize {
        self.params.filters.iter().filter(|&&f| f != 0).count()
    }
}

/// Whether libblosc2 3.3 may misread a pipeline, whoever wrote it: DELTA twice among three or more filters, or
/// once with three filters before it and one after.
pub fn delta_is_misread(filters: impl Iterator<Item = u8>) -> bool {
    let active: Vec<u8> = filters.filter(|&f| f != 0).collect();
    let mut deltas = (0..active.len()).filter(|&i| active[i] == 3);
    match (deltas.next(), deltas.next()) {
        (Some(_), Some(_)) => active.len() > 2,
        (Some(at), None) => at >= 3 && at + 1 < active.len(),
        _ => false,
    }
}
