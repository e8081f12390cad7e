//! Work over threads: a panic of the caller's code comes back, and the bytes are those of one thread.

use crate::common::{Rng, encoders, encodes};
use blosc_core::chunk::plugin::{UserCodec, UserFilter};
use blosc_core::chunk::special;
use blosc_core::codec::CodecError;
use blosc_core::filter::FilterError;
use blosc_core::{Chunk, ChunkContext, Codec, Filter, FilterSlot, Params, Pool, Runner};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Runs `work` on a thread of its own; fails where it takes longer than any machine needs.
fn within_a_minute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(Duration::from_secs(60)).expect("it hangs")
}

/// Bytes at the start of each block that are zero, and that the codec leaves out.
const ZEROS: usize = 512;

/// Panics in its call number `at`.
struct Panics {
    at: usize,
    calls: AtomicUsize,
}

impl Panics {
    fn at(at: usize) -> Panics {
        Panics { at, calls: AtomicUsize::new(0) }
    }

    fn call(&self) {
        assert!(self.calls.fetch_add(1, Ordering::Relaxed) != self.at, "the user's own panic");
    }
}

impl UserCodec for Panics {
    fn id(&self) -> u8 {
        200
    }
    fn encode(&self, _: u8, _: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.call();
        let dst = dst.get_mut(..src.len() - ZEROS)?;
        dst.copy_from_slice(&src[ZEROS..]);
        Some(dst.len())
    }
    fn decode(&self, _: u8, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        self.call();
        dst[..ZEROS].fill(0);
        dst[ZEROS..].copy_from_slice(src);
        Ok(())
    }
}

impl UserFilter for Panics {
    fn id(&self) -> u8 {
        201
    }
    fn forward(&self, _: u8, _: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError> {
        self.call();
        dst.copy_from_slice(src);
        Ok(())
    }
    fn backward(&self, _: u8, _: u8, src: &[u8], dst: &mut [u8]) -> Result<(), FilterError> {
        self.call();
        dst.copy_from_slice(src);
        Ok(())
    }
}

fn random(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(len as u64);
    (0..len.div_ceil(8)).flat_map(|_| rng.next().to_le_bytes()).take(len).collect()
}

fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<&str>() {
        Ok(text) => text.to_string(),
        Err(panic) => *panic.downcast::<String>().unwrap(),
    }
}

#[test]
fn a_panic_of_the_caller_s_codec_or_filter_comes_back() {
    const BLOCK: usize = 64 << 10;
    let mut slots = [FilterSlot::NONE; 6];
    slots[5] = FilterSlot::new(Filter::Other(201), 0);
    let codec = Params::new(1).no_filter().codec(Codec::Other(200)).blocksize(Some(BLOCK as u32));
    let filter = Params::new(1).codec(Codec::Lz4).filters(slots).blocksize(Some(BLOCK as u32));
    for (name, params) in [("codec", codec), ("filter", filter)] {
        for at in [0, 1, 17, 63] {
            let result = within_a_minute(move || {
                // LZ4 shrinks it too: no chunk is stored, which would call nothing.
                let mut data = random(64 * BLOCK);
                data.chunks_mut(BLOCK).for_each(|block| block[..ZEROS].fill(0));
                let encode = |user: &Panics| {
                    let around =
                        ChunkContext { codecs: &[user], filters: &[user], ..ChunkContext::default() };
                    Pool::new(4).compress_in(&params, around, &data).unwrap()
                };
                let chunk = encode(&Panics::at(usize::MAX));
                let encoding = catch_unwind(AssertUnwindSafe(|| encode(&Panics::at(at))));
                let decoding = catch_unwind(|| {
                    let user = Panics::at(at);
                    let around =
                        ChunkContext { codecs: &[&user], filters: &[&user], ..ChunkContext::default() };
                    Pool::new(4).decompress_in(&Chunk::parse(&chunk).unwrap(), around)
                });
                [encoding.map(|_| ()), decoding.map(|_| ())].map(|result| message(result.unwrap_err()))
            });
            for text in result {
                assert!(text.contains("the user's own panic"), "{name}, call {at}: {text}");
            }
        }
    }
}

/// Data of which blocks shrink or do not, in every order that matters: what is held is copied, or never.
#[test]
fn stored_blocks_are_those_of_one_thread() {
    const BLOCK: usize = 32 << 10;
    let kinds: [&[(bool, usize)]; 7] = [
        &[(false, 64)],
        &[(true, 64)],
        &[(false, 63), (true, 1)],
        &[(true, 1), (false, 63)],
        &[(false, 20), (true, 3), (false, 20), (true, 21)],
        &[(true, 1), (false, 1), (true, 1), (false, 100)],
        &[(false, 40), (true, 1), (false, 40)],
    ];
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zstd].into_iter().filter(|&codec| encodes(codec)) {
        for (number, kind) in kinds.iter().enumerate() {
            let mut data = Vec::new();
            for &(shrinks, blocks) in *kind {
                let start = data.len();
                data.extend(random(blocks * BLOCK));
                if shrinks {
                    data[start..].chunks_mut(4).for_each(|word| word[0] = 3);
                    data[start..].iter_mut().for_each(|byte| *byte &= 3);
                }
            }
            data.truncate(data.len() - 5);
            let params = Params::new(1).codec(codec).no_filter().blocksize(Some(BLOCK as u32));
            let one = Pool::new(1).compress(&params, &data).unwrap();
            for threads in [2, 5] {
                let data = data.clone();
                let many = within_a_minute(move || Pool::new(threads).compress(&params, &data).unwrap());
                assert!(many == one, "{codec}, kind {number}, {threads} threads");
            }
            assert!(Pool::new(3).decompress(&Chunk::parse(&one).unwrap()).unwrap() == data);
        }
    }
}

/// A block of one byte is as long as a run as it is stored; which of both is written depends on the blocks before it.
#[test]
fn blocks_of_one_byte_are_those_of_one_thread() {
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zstd].into_iter().filter(|&codec| encodes(codec)) {
        let ends: Vec<u8> = [vec![0; 8264], vec![1; 1069]].concat();
        for (data, typesize, block) in [
            (&ends[..], 2, None),
            (&ends[..8001], 1, Some(4000)),
            (&random(4001), 1, Some(1000)),
            (&[7, 0, 9, 0, 0, 3, 3], 1, Some(1)),
            (&[1; 300], 1, Some(299)),
        ] {
            let params = Params::new(typesize).codec(codec).no_filter().blocksize(block);
            let many = crate::common::pool(3).compress(&params, data).unwrap();
            assert_eq!(many, Pool::new(1).compress(&params, data).unwrap(), "{codec} {block:?}");
            assert_eq!(crate::common::pool(3).decompress(&Chunk::parse(&many).unwrap()).unwrap(), data);
        }
    }
}

#[test]
fn chunks_without_streams_are_those_of_one_thread() {
    let data = random((9 << 20) + 13);
    let stored = Pool::new(3).compress(&Params::new(1).level(0), &data).unwrap();
    assert!(stored == Pool::new(1).compress(&Params::new(1).level(0), &data).unwrap());
    assert!(Pool::new(3).decompress(&Chunk::parse(&stored).unwrap()).unwrap() == data);
    let value = [1u8, 2, 3, 4, 5, 6, 7];
    let len = 7 * 1_000_003;
    let mut chunk = [0; 64];
    let size = special::repeated(&value, len, &mut chunk).unwrap();
    let back = Pool::new(4).decompress(&Chunk::parse(&chunk[..size]).unwrap()).unwrap();
    assert!(back.len() == len && back.chunks(7).all(|item| item == value));
    let zeros = special::zeros(4, 8 << 20).unwrap();
    assert!(Pool::new(4).decompress(&Chunk::parse(&zeros).unwrap()).unwrap() == vec![0; 8 << 20]);
}

/// Runs jobs one after the other, on threads, or only the first `jobs` of them, and counts them.
struct Jobs {
    jobs: usize,
    at_once: bool,
    ran: AtomicUsize,
}

impl Runner for Jobs {
    fn run(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        let job = |number| {
            self.ran.fetch_add(1, Ordering::Relaxed);
            job(number);
        };
        let numbers = 0..jobs.min(self.jobs);
        if !self.at_once {
            return numbers.for_each(job);
        }
        std::thread::scope(|scope| numbers.for_each(|number| drop(scope.spawn(move || job(number)))));
    }
}

#[test]
fn the_callers_threads_make_the_same_chunks() {
    let mut rng = Rng::new(7);
    let data: Vec<u8> =
        (0..64 * 1024).map(|i| if i % 64 == 0 { rng.next() as u8 } else { (i / 100) as u8 }).collect();
    let params = Params::new(4).codec(Codec::Lz4).shuffle().blocksize(Some(1024));
    let wanted = Pool::new(1).compress(&params, &data).unwrap();
    for (jobs, at_once) in [(4, false), (4, true), (1, false), (0, false)] {
        let runner: &'static Jobs = Box::leak(Box::new(Jobs { jobs, at_once, ran: AtomicUsize::new(0) }));
        let (plain, wanted) = (data.clone(), wanted.clone());
        within_a_minute(move || {
            let mut pool = Pool::new(4).runner(Some(runner));
            assert!(Chunk::parse(&wanted).unwrap().header().has_streams());
            assert_eq!(pool.compress(&params, &plain).unwrap(), wanted);
            assert_eq!(runner.ran.load(Ordering::Relaxed), jobs, "small chunks too");
            assert_eq!(pool.decompress(&Chunk::parse(&wanted).unwrap()).unwrap(), plain);
            assert_eq!(runner.ran.load(Ordering::Relaxed), 2 * jobs);
        });
        // A panic of the caller's codec comes back from the caller's threads.
        let panics = Panics::at(1);
        let around = ChunkContext { codecs: &[&panics], ..ChunkContext::default() };
        let params = params.codec(Codec::Other(200));
        let mut pool = Pool::new(4).runner(Some(runner));
        assert!(catch_unwind(AssertUnwindSafe(|| pool.compress_in(&params, around, &data))).is_err());
    }
}

/// Every room that the chunk fits gives the same chunk, on one thread and on three, with every codec; in a smaller one it
/// is an error.
#[test]
fn the_bytes_depend_neither_on_the_room_nor_on_threads() {
    let mut rng = Rng::new(50);
    // Blocks that shrink, that do not, and that are one byte again and again.
    let mut data: Vec<u8> = (0..4 * 512).map(|i| (i % 32 * (i / 512)) as u8).collect();
    data[512..1024].fill_with(|| rng.below(256) as u8);
    data.extend((0..100).map(|_| rng.below(256) as u8));
    for codec in encoders() {
        for filter in [Filter::None, Filter::Shuffle] {
            let params = Params::new(4).codec(codec).blocksize(Some(512)).no_filter().slot(5, filter, 0);
            let whole = Pool::new(1).compress(&params, &data).unwrap();
            for threads in [1, 3] {
                let mut pool = crate::common::pool(threads);
                for room in whole.len() - 40..data.len() + 80 {
                    let mut chunk = vec![0xA5; room];
                    let done = pool.compress_into(&params, ChunkContext::default(), &data, &mut chunk);
                    match done {
                        Ok(len) => {
                            assert!(chunk[..len] == whole, "{codec:?} {filter:?}, room {room} of {threads}")
                        }
                        Err(error) => {
                            assert!(
                                room < whole.len(),
                                "{codec:?} {filter:?}, room {room} of {threads}: {error}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// What threads keep makes no difference to the next chunk: neither what other codecs, levels and block sizes left there, nor
/// an error, nor a panic.
#[test]
fn what_threads_keep_makes_no_difference() {
    let mut data = random(300_000);
    data.chunks_mut(4096).for_each(|block| block[..ZEROS].fill(0));
    let mut all = Vec::new();
    for codec in encoders() {
        for (level, block) in [(1, 32 << 10), (6, 4096), (1, 4096)] {
            let params = Params::new(4).codec(codec).level(level).shuffle().blocksize(Some(block));
            all.push((params, Pool::new(1).compress(&params, &data).unwrap()));
        }
    }
    let own = Params::new(1).no_filter().codec(Codec::Other(200)).blocksize(Some(4096));
    let runner: &'static Jobs =
        Box::leak(Box::new(Jobs { jobs: 4, at_once: true, ran: AtomicUsize::new(0) }));
    for runner in [None, Some(runner as &dyn Runner)] {
        let (data, all) = (data.clone(), all.clone());
        within_a_minute(move || {
            let mut pool = Pool::new(4).runner(runner);
            let good = |pool: &mut Pool, (params, wanted): &(Params, Vec<u8>), after: &str| {
                assert!(pool.compress(params, &data).unwrap() == *wanted, "{params:?} after {after}");
                let back = pool.decompress(&Chunk::parse(wanted).unwrap()).unwrap();
                assert!(back == data, "{params:?} after {after}");
            };
            fn around<'a>(codecs: &'a [&'a dyn UserCodec]) -> ChunkContext<'a> {
                ChunkContext { codecs, ..ChunkContext::default() }
            }
            let calm = Panics::at(usize::MAX);
            let theirs = pool.compress_in(&own, around(&[&calm]), &data[..294_912]).unwrap();
            let theirs = Chunk::parse(&theirs).unwrap();
            assert!(theirs.header().has_streams());
            for (each, other) in all.iter().zip(all.iter().rev()) {
                good(&mut pool, each, "others");
                good(&mut pool, other, "others");
                let room = &mut vec![0; each.1.len() / 2];
                let error = pool.compress_into(&each.0, ChunkContext::default(), &data, room);
                assert!(error.is_err());
                good(&mut pool, each, "an error of encoding");
                // The codec is not there.
                assert!(pool.decompress(&theirs).is_err());
                good(&mut pool, each, "an error of decoding");
                let user = Panics::at(5);
                let panic = || pool.compress_in(&own, around(&[&user]), &data);
                assert!(catch_unwind(AssertUnwindSafe(panic)).is_err());
                good(&mut pool, each, "a panic of encoding");
                let user = Panics::at(5);
                let panic = || pool.decompress_in(&theirs, around(&[&user]));
                assert!(catch_unwind(AssertUnwindSafe(panic)).is_err());
                good(&mut pool, each, "a panic of decoding");
            }
        });
    }
}
