//! Suite `far`: an array is opened and parts of it are read, from a file in memory, from one that the system has to fetch, and
//! from a source of which each request takes a while.
//!
//! ```text
//! time of a call of `read_ranges` = latency * (ranges / AT_ONCE, rounded up) + bytes / BANDWIDTH
//! ```
//! That source is the file behind a sleep: a model, which waits alike on every machine, and no network. One call is a round
//! trip, as readers wait for its answer before they ask again. The array lies in about 100 chunks, and in about 1,000.

use super::arrays::{Array, Places, Read, reader};
use super::operation::{CODECS, Folder, Op, Side, arrays_of, counts, job, number, text};
use crate::data::Data;
use crate::engine::Spec;
use crate::suite::choice::{Choice, Job};
use blosc_core::Codec;
use blosc_frame::b2nd::{Cache, NdArray};
use blosc_frame::io::{Part, ReadAt};
use blosc_frame::{IoError, Limits, SuperChunk};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Requests that are answered side by side.
const AT_ONCE: usize = 16;
/// Bytes that arrive in a second, as on a network of a Gbit/s.
const BANDWIDTH: f64 = 100e6;
/// Numbers of chunks, powers of two as the sides of the arrays are.
const CHUNKS: [u64; 2] = [128, 1024];

/// Where the file is: in words, and the milliseconds of a round trip.
const PLACES: [(&str, Option<u64>); 5] =
    [("in memory", None), (COLD, None), ("at 1 ms", Some(1)), ("at 10 ms", Some(10)), ("at 50 ms", Some(50))];
const COLD: &str = "cold";

/// What is read: a name, and the sides of the box, of which 0 stands for the whole axis.
const READS: [(&str, [u64; 4]); 5] = [
    ("row", [1, 1, 1, 0]),
    ("column", [0, 0, 1, 1]),
    ("box", [2, 20, 20, 20]),
    ("item", [1, 1, 1, 1]),
    ("all", [0, 0, 0, 0]),
];

/// Jobs of `far`.
pub fn far(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    // Another codec only where it is asked for: waiting does not depend on it.
    let codecs = || CODECS.into_iter().filter(|c| choice.codecs.contains(c));
    let codec = codecs().find(|c| *c == Codec::Lz4).or_else(|| codecs().next());
    for (data, bytes) in arrays_of(choice, &["smooth_f4"], 16 << 20) {
        for (codec, place) in codec.iter().flat_map(|codec| PLACES.map(|place| (*codec, place))) {
            for count in CHUNKS {
                let spec = Spec::new(codec, 5, data.typesize, 1);
                let mut one =
                    job("far", spec, (data.clone(), bytes), choice, move |folder, spec, data, _| {
                        reads(folder, spec, data, place, count)
                    });
                // Two round trips of each operation, and of opening for it; five runs are the fewest.
                let trips = 2 * 5 * (READS.len() + 1);
                one.least += place.1.unwrap_or(0) as f64 / 1e3 * trips as f64;
                jobs.push(one);
            }
        }
    }
    jobs
}

/// A file whose requests are counted, and wait where that is asked for.
struct Slow {
    file: File,
    latency: Option<Duration>,
    trips: AtomicUsize,
    requests: AtomicUsize,
}

impl Slow {
    fn wait(&self, requests: usize, bytes: usize) {
        self.trips.fetch_add(1, Relaxed);
        self.requests.fetch_add(requests, Relaxed);
        if let Some(latency) = self.latency {
            let turns = u32::try_from(requests.div_ceil(AT_ONCE)).unwrap_or(u32::MAX);
            std::thread::sleep(latency * turns + Duration::from_secs_f64(bytes as f64 / BANDWIDTH));
        }
    }

    /// Round trips and requests since the last call.
    fn taken(&self) -> (usize, usize) {
        (self.trips.swap(0, Relaxed), self.requests.swap(0, Relaxed))
    }
}

impl ReadAt for Slow {
    fn size(&self) -> Result<u64, IoError> {
        self.file.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let n = self.file.read_at(offset, buf)?;
        self.wait(1, n);
        Ok(n)
    }
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        self.file.read_ranges(parts)?;
        self.wait(parts.len(), parts.iter().map(|part| part.1.len()).sum());
        Ok(())
    }
    fn is_far(&self) -> bool {
        self.latency.is_some()
    }
}

/// Has the system drop what it keeps of a file in memory, if it can, and tells whether it has: then a read that may not wait
/// gives nothing.
#[cfg(target_os = "linux")]
fn forget(file: &File) -> Result<(), String> {
    use rustix::fs::{Advice, fadvise};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    fadvise(file, 0, None, Advice::DontNeed).map_err(text)?;
    let mut byte = [0];
    match preadv2(file, &mut [std::io::IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::NOWAIT) {
        Err(Errno::AGAIN) => Ok(()),
        _ => Err("the system keeps files of this folder in memory: set TMPDIR to one on a disk".into()),
    }
}
#[cfg(not(target_os = "linux"))]
fn forget(_: &File) -> Result<(), String> {
    Err("this system is not told to drop a file from memory".into())
}

/// Opens an array of which nothing is kept decoded.
fn open(source: &Arc<Slow>) -> Result<NdArray<'static>, String> {
    let frame = SuperChunk::open_read(Arc::clone(source), &Limits::NONE).map_err(text)?;
    let mut array = NdArray::open(frame).map_err(text)?;
    array.set_cache(Cache::new(0));
    Ok(array)
}

/// Chunks that cut an array into `count`, the first axes first: a column goes through all of them.
fn chunks_of(shape: [u64; 4], mut count: u64) -> [u64; 4] {
    shape.map(|side| {
        let parts = count.clamp(1, side);
        count /= parts;
        side / parts
    })
}

fn reads<'a>(
    folder: &Folder,
    spec: &Spec,
    data: &'a Data,
    (place, millis): (&'static str, Option<u64>),
    count: u64,
) -> Result<Vec<Op<'a>>, String> {
    let (path, t) = (folder.file("far.b2nd"), data.typesize);
    let array = Array::new(data, spec, Some(&|shape| chunks_of(shape, count)))?;
    array.write(&path, 1)?;
    let file = File::open(&path).map_err(text)?;
    // The system keeps what it has not written yet.
    file.sync_all().map_err(text)?;
    let left_out = if place == COLD { forget(&file).err() } else { None };
    let (latency, trips) = (millis.map(Duration::from_millis), AtomicUsize::default());
    let source = Arc::new(Slow { file, latency, trips, requests: AtomicUsize::default() });
    let opened = open(&source)?;
    let (trips, nchunks) = (Some(source.taken()), opened.frame().nchunks() as usize);
    let name = |what: &str| format!("{what} of {nchunks} chunks {place}");
    let again = Arc::clone(&source);
    let work = Box::new(move |_: &[u8], dst: &mut [u8]| number(open(&again)?.frame().nchunks(), dst));
    let sides = vec![Side { engine: None, work, check: Box::new(counts(nchunks)), before: None }];
    let mut ops = vec![Op { name: name("open"), bytes: 8 * nchunks, room: 64, sides, trips, left_out: None }];
    for (what, sides) in READS {
        let places = Places::new(array.shape, sides, 1);
        let room = places.items() * t;
        let opened = open(&source)?;
        let mut read: Read<'a> = Box::new(move |place, to| opened.get_slice(place, to).map_err(text));
        source.taken();
        places.list.iter().try_for_each(|place| read(place, &mut vec![0; room]))?;
        let trips = Some(source.taken());
        let sides = vec![reader(None, read, places, array.bytes, t)];
        ops.push(Op { name: name(what), bytes: room, room, sides, trips, left_out: None });
    }
    for op in &mut ops {
        op.left_out.clone_from(&left_out);
        op.trips = op.trips.filter(|_| latency.is_some());
        for side in op.sides.iter_mut().filter(|_| place == COLD) {
            let (source, mut moved) = (Arc::clone(&source), side.before.take());
            side.before = Some(Box::new(move || {
                // What is not forgotten shows as a time that is too good; whether it can be was asked above.
                let _ = forget(&source.file);
                moved.iter_mut().for_each(|on| on());
            }));
        }
    }
    Ok(ops)
}
