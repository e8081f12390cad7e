//! Blosc 1: chunks of ours in its format read by it, and chunks of it read by us.

use crate::support;

use blosc_core::{Chunk, Codec, Decoder, Level, Params, Split, compress, decompress};
use blosc_peers::Libblosc;
use blosc_testkit::Random;
use support::{any_size, blosc1, data, rounds};

const CODECS: [(Codec, &str); 5] = [
    (Codec::BloscLz, "blosclz"),
    (Codec::Lz4, "lz4"),
    (Codec::Lz4Hc, "lz4hc"),
    (Codec::Zlib, "zlib"),
    (Codec::Zstd, "zstd"),
];

struct Case {
    codec: (Codec, &'static str),
    level: u8,
    filter: i32,
    typesize: usize,
    blocksize: usize,
    data: Vec<u8>,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut rng = Random::new(seed);
        let typesize = rng.pick(&[1, 2, 3, 4, 4, 7, 8, 8, 12, 16, 17, 24, 255]);
        let (codec, level) = (rng.pick(&CODECS), rng.below(10) as u8);
        let most = if codec.0 == Codec::Zstd && level > 5 { 20_000 } else { 150_000 };
        let len = any_size(&mut rng, most);
        let blocksize = if rng.once_in(2) { 0 } else { 128 + any_size(&mut rng, 60_000) };
        let data = data(&mut rng, typesize, len);
        Case { codec, level, filter: rng.below(3) as i32, typesize, blocksize, data }
    }

    fn about(&self, seed: u64) -> String {
        format!(
            "seed {seed}: {} level {}, filter {}, typesize {}, blocksize {}, {} bytes",
            self.codec.1,
            self.level,
            self.filter,
            self.typesize,
            self.blocksize,
            self.data.len()
        )
    }
}

#[test]
fn blosc1_reads_what_we_write_for_it() {
    let Some(lib) = blosc1() else { return };
    let total = rounds(5000);
    for seed in 0..total {
        let case = Case::random(seed);
        let mut rng = Random::new(!seed);
        let mut params = Params::new(case.typesize as u32)
            .codec(case.codec.0)
            .level(case.level)
            .split(rng.pick(&[Split::Always, Split::Never, Split::Auto, Split::ForwardCompat]))
            .blosc1(true);
        params = match case.filter {
            0 => params.no_filter(),
            1 => params.shuffle(),
            _ => params.bitshuffle(),
        };
        if case.blocksize != 0 {
            params = params.blocksize(Some(case.blocksize as u32));
        }
        let chunk = compress(&params.fit(case.data.len()), &case.data)
            .unwrap_or_else(|e| panic!("{e}\n{}", case.about(seed)));
        let mut theirs = vec![0xDD; case.data.len()];
        let n = lib.decompress(&chunk, &mut theirs);
        assert!(n == Ok(case.data.len()), "Blosc 1: {n:?}\n{}", case.about(seed));
        assert!(theirs == case.data, "Blosc 1 reads other bytes\n{}", case.about(seed));
        assert!(decompress(&chunk).as_ref() == Ok(&case.data), "{}", case.about(seed));
        let items = case.data.len() / case.typesize;
        let start = rng.below(items + 1);
        let count = any_size(&mut rng, items - start);
        if count != 0 {
            let mut part = vec![0xDD; count * case.typesize];
            let n = lib.getitem(&chunk, start as i32, count as i32, &mut part);
            assert!(n == Ok(part.len()), "Blosc 1 getitem: {n:?}\n{}", case.about(seed));
            assert!(part == case.data[start * case.typesize..][..part.len()], "{}", case.about(seed));
        }
    }
    eprintln!("{total} chunks, 0 mismatches");
}

#[test]
fn we_read_what_blosc1_writes() {
    let Some(lib) = blosc1() else { return };
    let total = rounds(5000);
    for seed in 0..total {
        let case = Case::random(seed ^ 0xB105C);
        let mut bytes = vec![0; Libblosc::max_compressed(case.data.len())];
        let settings = (case.codec.1, i32::from(case.level));
        let len = lib
            .compress(settings, case.filter, case.typesize, case.blocksize, &case.data, &mut bytes)
            .unwrap_or_else(|e| panic!("{e}\n{}", case.about(seed)));
        let chunk = Chunk::parse(&bytes[..len]).unwrap_or_else(|e| panic!("{e}\n{}", case.about(seed)));
        let mut work = vec![0; Decoder::work_len(&chunk)];
        let mut decoder = Decoder::new(Level::best(), &mut work);
        let mut ours = vec![0xDD; case.data.len()];
        let n = decoder.decode(&chunk, &mut ours[..]);
        assert!(n == Ok(ours.len()) && ours == case.data, "{n:?}\n{}", case.about(seed));
        let items = case.data.len() / case.typesize;
        let start = Random::new(seed).below(items + 1);
        let mut part = vec![0xDD; (items - start) * case.typesize];
        decoder.get_items(&chunk, start..items, &mut part[..]).unwrap();
        assert!(part == case.data[start * case.typesize..][..part.len()], "{}", case.about(seed));
    }
    eprintln!("{total} chunks, 0 mismatches");
}
