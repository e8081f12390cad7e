//! Frames: opening hostile ones, contiguous, sparse, and read piecewise.

use crate::primed::twice;
use crate::resources::{Counted, Tally, allow};
use arbitrary::{Result, Unstructured};
use blosc_core::{Chunk, Codec, Level, Params};
use blosc_frame::b2nd::carrier;
use blosc_frame::cframe::header::FrameType;
use blosc_frame::cframe::open_at;
use blosc_frame::cframe::view::View;
use blosc_frame::io::{MemDir, ReadAt, ReadOnly};
use blosc_frame::repair::{repair, repair_dir};
use blosc_frame::schunk::{Plan, RawChunk};
use blosc_frame::verify::Verdict;
use blosc_frame::{Error, IoKind, Limits, SuperChunk};

/// Most decoded bytes a container may give.
pub const OUTPUT: usize = 4 << 20;
/// From this size on two threads share the work of zlib and zstd.
pub const LARGE: usize = 1 << 20;
/// Most bytes a chunk may give.
const CHUNK: usize = 1 << 20;
/// What every container is opened under. The number of chunks bounds the time, as many of them may be the
/// same stored bytes.
pub const LIMITS: Limits = Limits::DEFAULT
    .chunk(blosc_core::Limits::DEFAULT.output(CHUNK as u64))
    .chunks(256)
    .metalayer(1 << 20)
    .output(OUTPUT as u64);

/// A contiguous frame, opened from bytes and read in every way; what can be read survives a copy.
pub fn open(data: &[u8]) {
    allow(4 * OUTPUT + 16 * CHUNK);
    let view = told(View::open(data, &LIMITS));
    let Some(mut sc) = told(SuperChunk::from_bytes(data.to_vec(), &LIMITS)) else { return mended(data, &[]) };
    let chunks = read(&mut sc);
    if let Some(view) = view {
        compare_view(data, &view, &chunks);
    }
    piecewise(data, &chunks);
    // A frame of our own mixes no blocks of variable length with others.
    let vl = (0..sc.nchunks()).any(|k| sc.chunk_header(k).is_ok_and(|h| h.is_some_and(|h| h.is_vl())));
    mended(data, if vl { &[] } else { &chunks });
    if chunks.iter().all(std::result::Result::is_ok) {
        // Parameters that are only read make no new frame.
        if let Ok(mut copy) = SuperChunk::memory(&sc.params())
            && copy.copy_from(&sc).is_ok()
        {
            for (k, chunk) in (0..).zip(&chunks) {
                assert_eq!(copy.read_chunk(k).ok().as_ref(), chunk.as_ref().ok(), "chunk {k} of a copy");
            }
        }
    }
}

/// A frame may be repaired, in memory or from a file; what comes of that is whole, and has the chunks that could be read.
fn mended(data: &[u8], chunks: &[std::result::Result<Vec<u8>, Error>]) {
    let (made, tally) = (SuperChunk::memory, Tally::default());
    let mended = repair(&data, &LIMITS, made);
    let of_file = repair(&Counted { data, most: usize::MAX, tally: &tally }, &LIMITS, made);
    assert_eq!(of_file.as_ref().map(|mended| &mended.0), mended.as_ref().map(|mended| &mended.0));
    if let Ok((report, sc)) = mended {
        assert_eq!(report.kept + report.lost.len() as u64, sc.nchunks());
        let unread =
            |k: &u64| chunks.get(*k as usize).is_none_or(|chunk| chunk.as_ref().map_or(true, Vec::is_empty));
        assert!(report.lost.iter().all(unread), "{report:?}");
        whole(sc);
    }
}

/// What worked; a refusal comes with words.
pub fn told<T>(result: std::result::Result<T, impl std::fmt::Display>) -> Option<T> {
    result.map_err(|error| assert!(!error.to_string().is_empty(), "refused without a word")).ok()
}

/// A frame of a file, of which only what is wanted is read.
pub fn from_file<'d>(data: &'d [u8], tally: &'d Tally) -> std::result::Result<SuperChunk<'d>, Error> {
    SuperChunk::open_read(Counted { data, most: usize::MAX, tally }, &LIMITS)
}

/// Few bytes and single blocks of large chunks, read from a file, are those of the chunks as a whole.
fn piecewise(data: &[u8], chunks: &[std::result::Result<Vec<u8>, Error>]) {
    let tally = Tally::default();
    let sc = from_file(data, &tally).expect("a frame that opened from memory");
    for (k, chunk) in (0..).zip(chunks) {
        let Ok(chunk) = chunk else {
            let _ = (sc.read_chunk_bytes(k, 0..1, &mut [0]), sc.read_blocks(k, &[0, 1], |_, _| Ok(())));
            continue;
        };
        let n = chunk.len();
        for range in [0..n.min(1), n / 2..(n / 2 + 7).min(n), n / 3..n / 2, n.saturating_sub(5)..n] {
            let mut part = vec![0xA5; range.len()];
            assert_eq!(sc.read_chunk_bytes(k, range.clone(), &mut part), Ok(part.len()));
            assert!(part == chunk[range.clone()], "bytes {range:?} of chunk {k}");
        }
        assert!(sc.read_chunk_bytes(k, 0..n + 1, &mut vec![0; n + 1]).is_err());
        // Its header may give another block size than its streams have.
        let mut buf = Vec::new();
        let RawChunk::Stored(bytes) = sc.raw_chunk(k, &mut buf).expect("a chunk that was read") else {
            assert!(sc.read_blocks(k, &[1], |_, _| Ok(())).is_err());
            continue;
        };
        let header = *Chunk::parse_with(bytes, &LIMITS.chunk).expect("a chunk that was read").header();
        let (count, size) = (header.nblocks(), header.blocksize as usize);
        if count == 0 {
            continue;
        }
        let wanted = [count - 1, count / 2, 0];
        let mut seen = Vec::new();
        let read = sc.read_blocks(k, &wanted, |block, bytes| {
            let start = if header.is_vl() { 0 } else { block * size };
            assert!(header.is_vl() || chunk[start..].starts_with(bytes), "block {block} of chunk {k}");
            seen.push(block);
            Ok(())
        });
        assert_eq!((read, &seen[..]), (Ok(()), &wanted[..]));
        assert!(sc.read_blocks(k, &[count], |_, _| Ok(())).is_err());
    }
}

/// All of a repaired frame can be read, but for what a damaged header made larger than the limits and for chunks that were
/// kept although they cannot be decoded here.
fn whole(sc: SuperChunk<'_>) {
    let bytes = sc.into_bytes().expect("a frame of our own");
    let Ok(mut sc) = SuperChunk::from_bytes(bytes, &LIMITS) else { return };
    for (k, chunk) in read(&mut sc).iter().enumerate() {
        assert!(sound(chunk) || unreadable(chunk), "chunk {k} of a repaired frame: {chunk:?}");
    }
}

/// Whether a chunk was read, or refused for its size alone: one that was never stored may have any.
fn sound(chunk: &std::result::Result<Vec<u8>, Error>) -> bool {
    matches!(chunk, Ok(_) | Err(Error::Limit { .. }))
}

/// Whether a chunk needs what is not built in: it may be sound.
fn unreadable(chunk: &std::result::Result<Vec<u8>, Error>) -> bool {
    chunk.as_ref().is_err_and(Error::leaves_open)
}

/// A sparse frame: the input is cut into named files of a directory in memory.
pub fn open_sparse(data: &[u8]) {
    allow(4 * OUTPUT + 16 * CHUNK);
    let dir = MemDir::new();
    for (name, content) in files(data) {
        dir.put(name, content.to_vec());
    }
    match told(SuperChunk::open_dir(dir.clone(), &LIMITS)) {
        Some(mut sc) => drop(read(&mut sc)),
        None => {
            if let Ok((_, sc)) = repair_dir(&dir, &LIMITS, SuperChunk::memory) {
                whole(sc);
            }
        }
    }
}

/// Files out of an input: length of the name, name, length of the content (two bytes), content, again and
/// again. The last content may be cut short.
pub fn files(mut data: &[u8]) -> Vec<(&str, &[u8])> {
    let mut files = Vec::new();
    while let Some((len, rest)) = data.split_first() {
        let Some((name, rest)) = rest.split_at_checked(usize::from(*len)) else { break };
        let Some((len, rest)) = rest.split_first_chunk() else { break };
        let content = rest.split_at(usize::from(u16::from_le_bytes(*len)).min(rest.len()));
        let Ok(name) = std::str::from_utf8(name) else { break };
        files.push((name, content.0));
        data = content.1;
    }
    files
}

/// Reads everything of a frame; the ways to read it agree.
pub fn read(sc: &mut SuperChunk<'_>) -> Vec<std::result::Result<Vec<u8>, Error>> {
    for name in sc.metalayer_names().collect::<Vec<_>>() {
        assert!(sc.metalayer(&name).is_some());
    }
    for name in sc.vlmetalayer_names().collect::<Vec<_>>() {
        assert_ne!(sc.vlmetalayer(&name), Ok(None));
    }
    if let Some(carrier) = told(carrier::of(sc)).flatten() {
        assert!(!carrier.to_string().is_empty());
    }
    let _ = (sc.checksum_state(), sc.checksums_left_out(), sc.container_bytes());
    assert_eq!((sc.header().typesize, sc.header().chunksize), (sc.typesize(), sc.chunksize()));
    let (mut chunks, mut total) = (Vec::new(), 0);
    for k in 0..sc.nchunks() {
        let (_, _, _) = (sc.entry(k), sc.chunk_header(k), sc.raw_chunk(k, &mut Vec::new()).is_ok());
        let chunk = twice(|_| sc.read_chunk(k));
        if let Ok(bytes) = &chunk {
            assert_eq!(sc.chunk_nbytes(k), Ok(bytes.len() as u32));
            let range = bytes.len() / 3..bytes.len() - bytes.len() / 4;
            let mut part = vec![0xA5; range.len()];
            assert_eq!(sc.read_chunk_bytes(k, range.clone(), &mut part), Ok(range.len()));
            assert_eq!(part, bytes[range]);
            total += bytes.len();
        }
        chunks.push(chunk);
        if total > OUTPUT {
            return chunks;
        }
    }
    // In another order: what a chunk leaves in scratch and contexts does not show in the next.
    for (k, chunk) in chunks.iter().enumerate().rev() {
        assert!(sc.read_chunk(k as u64) == *chunk, "chunk {k} depends on the one that was read before");
    }
    if let Ok(all) = twice(|_| sc.read_all()) {
        assert!(chunks.iter().flatten().flatten().eq(&all), "the whole is not the sum of its chunks");
        assert_eq!(all.len(), total);
        // Where the header says another size, only whole chunks can be had.
        if sc.nbytes() == total as u64 {
            parts(sc, &all);
            if total >= LARGE {
                sc.set_threads(2);
                let mut out = vec![0xA5; total];
                assert_eq!(sc.read_bytes(0..total as u64, &mut out), Ok(total));
                assert!(out == all, "two threads read something else");
                sc.set_threads(1);
            }
        }
    }
    if let Ok(report) = sc.verify(|_| {})
        && report.verdict() != Verdict::Damaged
    {
        let unknown = report.verdict() == Verdict::CannotTell;
        let told = |chunk: &_| sound(chunk) || unknown && unreadable(chunk);
        assert!(chunks.iter().all(told), "verified, but it cannot be read");
        let all = chunks.iter().all(std::result::Result::is_ok);
        assert!(!all || (report.chunks, report.nbytes) == (sc.nchunks(), total as u64), "{report:?}");
    }
    chunks
}

/// Ranges of bytes and items, and single blocks, are those parts of the whole.
fn parts(sc: &mut SuperChunk<'_>, all: &[u8]) {
    let (n, typesize) = (all.len() as u64, u64::from(sc.typesize()));
    for range in [0..n, n / 3..n - n / 5, n / 2..n / 2, n.saturating_sub(1)..n] {
        let out = twice(|before| {
            let mut out = before.bytes((range.end - range.start) as usize);
            assert_eq!(sc.read_bytes(range.clone(), &mut out), Ok(out.len()));
            out
        });
        assert!(out == all[range.start as usize..range.end as usize], "bytes {range:?}");
    }
    let items = sc.nitems() / 4..sc.nitems() / 2;
    let mut out = vec![0xA5; ((items.end - items.start) * typesize) as usize];
    assert_eq!(sc.read_items(items.clone(), &mut out), Ok(out.len()));
    assert!(out == all[(items.start * typesize) as usize..][..out.len()], "items {items:?}");
    assert!(sc.read_bytes(0..n + 1, &mut []).is_err() && sc.read_items(n + 1..n, &mut []).is_err());
}

/// What the view without an allocator reads is what the frame reads; so is what comes of chunks that are pushed into it.
fn compare_view(data: &[u8], view: &View<'_>, chunks: &[std::result::Result<Vec<u8>, Error>]) {
    let (mut work, mut out) = (vec![0x5A; 4 * CHUNK], vec![0xA5; CHUNK]);
    assert!(view.decode_chunk(view.nchunks(), Level::best(), &mut work, &mut out).is_err());
    if view.index_work_len() > work.len() {
        return;
    }
    assert_eq!(view.nchunks(), chunks.len() as u64);
    for section in [view.metalayers(), view.vlmetalayers()] {
        assert_eq!(section.iter().count(), section.len());
        assert_eq!(section.is_empty(), section.iter().next().is_none());
        for entry in section.iter() {
            if let Ok(name) = std::str::from_utf8(entry.name) {
                let first = section.iter().find(|other| other.name == entry.name);
                assert_eq!(section.get(name), first.map(|first| first.content));
            }
        }
    }
    let (header, typesize) = (view.header(), view.header().typesize as usize);
    let index_at = header.index_at().expect("a view that opened") as usize;
    let rest = &data[index_at..header.frame_len as usize];
    let apart =
        || View::open_apart(&data[..header.header_len as usize], rest, &LIMITS).expect("a view that opened");
    let apart = told(apart().verified()).unwrap_or_else(apart);
    for (k, chunk) in (0..).zip(chunks) {
        let pushed = push(&apart, k, data, &mut work, &mut out);
        if let (Some(n), Ok(chunk)) = (pushed, chunk) {
            assert!(out[..n] == chunk[..], "chunk {k} that was pushed differs");
        }
        let decoded = told(view.decode_chunk(k, Level::best(), &mut work, &mut out));
        if let (Some(n), Ok(chunk)) = (decoded, chunk) {
            assert!(out[..n] == chunk[..], "chunk {k} of the view differs");
            let short = view.decode_chunk(k, Level::best(), &mut work, &mut out[..n.saturating_sub(1)]);
            assert!(n == 0 || short.is_err());
            let beyond = view.decode_items(k, 0..n / typesize + 1, Level::best(), &mut work, &mut out);
            assert!(beyond.is_err(), "items beyond chunk {k}");
            if n >= typesize {
                let short = view.decode_items(k, 0..1, Level::best(), &mut work, &mut out[..typesize - 1]);
                assert!(short.is_err());
            }
            let items = n / typesize / 3..n / typesize / 2;
            let part = view.decode_items(k, items.clone(), Level::best(), &mut work, &mut out);
            assert_eq!(part, Ok(items.len() * typesize));
            assert!(out[..items.len() * typesize] == chunk[items.start * typesize..items.end * typesize]);
        }
    }
}

/// Pushes a chunk in pieces; how many bytes it has, if it is right.
fn push(view: &View<'_>, k: u64, data: &[u8], memory: &mut [u8], out: &mut [u8]) -> Option<usize> {
    let mut chunk = told(view.push_chunk(k, Level::best(), memory))?;
    while !chunk.is_done() {
        let mut piece = data.get(chunk.position() as usize..)?.get(..chunk.needs().min(61))?;
        while let Some(block) = told(chunk.push(&mut piece))? {
            out[block.offset..][..block.bytes.len()].copy_from_slice(block.bytes);
        }
    }
    Some(chunk.decoded())
}

/// A frame from a source that returns short is the frame from a slice; cut off anywhere, it is refused.
/// The first two bytes say how short and where.
pub fn cut_anywhere(data: &[u8]) {
    allow(2 * OUTPUT + 24 * CHUNK);
    let Some(([most, at], data)) = data.split_first_chunk() else { return };
    let (most, tally) = (usize::from(*most).max(1), Tally::default());
    let dribble = || Counted { data, most, tally: &tally };
    let whole = open_at(data, FrameType::Contiguous, &LIMITS);
    let dribbled = open_at(&dribble(), FrameType::Contiguous, &LIMITS);
    dribble().check(2);
    assert_eq!(format!("{whole:?}"), format!("{dribbled:?}"));
    let Ok(opened) = whole else { return };
    let cut = opened.header.frame_len.saturating_sub(1 + u64::from(*at)) as usize;
    assert!(open_at(&data[..cut], FrameType::Contiguous, &LIMITS).is_err(), "a frame cut off opens");
    let (Ok(a), Ok(b)) =
        (SuperChunk::open(ReadOnly(data), &LIMITS), SuperChunk::open_read(dribble(), &LIMITS))
    else {
        return;
    };
    let mut total = 0;
    for k in 0..a.nchunks() {
        let (a, b) = (a.read_chunk(k).ok(), b.read_chunk(k).ok());
        assert_eq!(a, b, "chunk {k}");
        total += a.map_or(0, |a| a.len());
        if total > OUTPUT {
            break;
        }
    }
    // Many chunks may be the same stored bytes; beyond that no byte is read more than a few times.
    dribble().check(6 + 2 * a.nchunks() as usize);
    planned(a, &dribble(), usize::from(*at));
}

/// Plans over what a source gives that returns short read what the frame reads. Pieces of other lengths are errors, and those
/// of other bytes, or in each other's places, as far as checksums tell.
fn planned(mut frame: SuperChunk<'_>, source: &Counted<'_>, at: usize) {
    frame.set_verify(true);
    let k = at as u64 % frame.nchunks().max(1);
    let (own, sum) = (frame.read_chunk(k).ok(), frame.chunk_checksum(k));
    assert_eq!(finish(frame.plan_chunk(k).ok(), CHUNK, source, |_| ()), own, "a plan of chunk {k}");
    let flip = |pieces: &mut [Vec<u8>]| pieces[0].iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
    let wrong = finish(frame.plan_chunk(k).ok(), CHUNK, source, flip).filter(|_| sum.is_some());
    assert!(wrong.is_none() || wrong == own, "chunk {k} and its checksum");
    let mut own = vec![0; frame.nbytes().min(CHUNK as u64) as usize];
    let read = frame.read_bytes(0..own.len() as u64, &mut own);
    let bytes = || frame.plan_bytes(0..own.len() as u64).and_then(|plan| plan.joined(0)).ok();
    assert!(
        read.is_err() || finish(bytes(), CHUNK, source, |_| ()).is_none_or(|right| right == own),
        "bytes"
    );
    finish(bytes(), CHUNK, source, |pieces| pieces.reverse());
}

/// Runs a plan to its end, over pieces of `source` that `change` may have changed; what it reads into `room` bytes, if it does.
pub fn finish(
    plan: Option<Plan<'_>>,
    room: usize,
    source: &Counted<'_>,
    change: impl Fn(&mut [Vec<u8>]),
) -> Option<Vec<u8>> {
    let (mut plan, mut out) = (plan?, vec![0; room]);
    for _ in 0..7 {
        if plan.ranges().is_empty() {
            return plan.finish(&mut out).ok().map(|n| out[..n].to_vec());
        }
        let ranges = plan.ranges().to_vec();
        let mut pieces: Vec<Vec<u8>> = ranges.iter().map(|r| vec![0; (r.end - r.start) as usize]).collect();
        for (range, piece) in ranges.iter().zip(&mut pieces) {
            source.read_exact_at(range.start, piece).expect("a range in the frame");
        }
        for first in [&[][..], &[pieces[0][1..].to_vec()], &[pieces[0].repeat(2)]] {
            assert!(matches!(plan.take([first, &pieces[1..]].concat()), Err(Error::Param { .. })));
        }
        assert_eq!((plan.ranges(), plan.finish(&mut out)), (&ranges[..], Err(IoKind::NotFetched.into())));
        change(&mut pieces);
        plan.take(pieces).ok()?;
    }
    panic!("a plan that does not end");
}

/// `len` bytes that are all the same, or a ramp, or noise.
pub fn pattern(u: &mut Unstructured<'_>, len: usize) -> Result<Vec<u8>> {
    let (style, seed) = (u.int_in_range(0..=3)?, u32::from(u.arbitrary::<u8>()?));
    let byte = |i: u32| match style {
        0 => 0,
        1 => seed as u8,
        2 => (i / 7 + seed) as u8,
        _ => ((i ^ seed << 9).wrapping_mul(0x9E37_79B9) >> 13) as u8,
    };
    Ok((0..len as u32).map(byte).collect())
}

/// Parameters of every kind of chunk.
pub fn params(u: &mut Unstructured<'_>) -> Result<Params> {
    let codec = *u.choose(&[Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd])?;
    let params =
        Params::new(*u.choose(&[1, 2, 3, 4, 8, 16, 300])?).codec(codec).level(*u.choose(&[0, 1, 5])?);
    Ok(match u.int_in_range(0..=2)? {
        0 => params.no_filter(),
        1 => params.bitshuffle(),
        _ => params.shuffle(),
    })
}
