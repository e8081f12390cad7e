//! Frames: opening hostile ones, contiguous, sparse, and read piecewise.

use crate::resources::{Counted, Tally, allow};
use arbitrary::{Result, Unstructured};
use blosc_core::{Codec, Level, Params};
use blosc_frame::cframe::header::FrameType;
use blosc_frame::cframe::open_at;
use blosc_frame::cframe::view::View;
use blosc_frame::io::{MemDir, ReadOnly};
use blosc_frame::verify::Verdict;
use blosc_frame::{Error, Limits, SuperChunk};

/// Most decoded bytes a container may give.
pub const OUTPUT: usize = 4 << 20;
/// Most bytes a chunk may give.
const CHUNK: usize = 1 << 20;
/// What every container is opened under. The number of chunks bounds the time, as many of them may be the
/// same stored bytes.
pub const LIMITS: Limits = Limits {
    chunk: blosc_core::Limits { output: CHUNK as u64, ..blosc_core::Limits::DEFAULT },
    chunks: 256,
    metalayer: 1 << 20,
    output: OUTPUT as u64,
    ..Limits::DEFAULT
};

/// A contiguous frame, opened from bytes and read in every way; what can be read survives a copy.
pub fn open(data: &[u8]) {
    allow(4 * OUTPUT + 16 * CHUNK);
    let Ok(mut sc) = SuperChunk::from_bytes(data.to_vec(), &LIMITS) else { return };
    let chunks = read(&mut sc);
    if let Ok(view) = View::open(data, &LIMITS) {
        compare_view(&view, &chunks);
    }
    if chunks.iter().all(std::result::Result::is_ok) {
        let mut copy = SuperChunk::memory(&sc.params());
        if copy.copy_from(&mut sc).is_ok() {
            for (k, chunk) in (0..).zip(&chunks) {
                assert_eq!(copy.read_chunk(k).ok().as_ref(), chunk.as_ref().ok(), "chunk {k} of a copy");
            }
        }
    }
}

/// A sparse frame: the input is cut into named files of a directory in memory.
pub fn open_sparse(data: &[u8]) {
    allow(4 * OUTPUT + 16 * CHUNK);
    let dir = MemDir::new();
    for (name, content) in files(data) {
        dir.put(name, content.to_vec());
    }
    if let Ok(mut sc) = SuperChunk::open_dir(dir, &LIMITS) {
        read(&mut sc);
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
    let (mut chunks, mut total) = (Vec::new(), 0);
    for k in 0..sc.nchunks() {
        let (_, _, _) = (sc.entry(k), sc.chunk_header(k), sc.raw_chunk(k).is_ok());
        let chunk = sc.read_chunk(k);
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
    if let Ok(all) = sc.read_all() {
        assert!(chunks.iter().flatten().flatten().eq(&all), "the whole is not the sum of its chunks");
        assert_eq!(all.len(), total);
    }
    if let Ok(report) = sc.verify(|_| {})
        && report.verdict() != Verdict::Damaged
    {
        assert!(chunks.iter().all(std::result::Result::is_ok), "verified, but it cannot be read");
        assert_eq!((report.chunks, report.nbytes), (sc.nchunks(), total as u64));
    }
    chunks
}

/// What the view without an allocator reads is what the frame reads.
fn compare_view(view: &View<'_>, chunks: &[std::result::Result<Vec<u8>, Error>]) {
    let (mut work, mut out) = (vec![0x5A; 4 * CHUNK], vec![0xA5; CHUNK]);
    for (k, chunk) in (0..).zip(chunks) {
        if let (Ok(n), Ok(chunk)) = (view.decode_chunk(k, Level::best(), &mut work, &mut out), chunk) {
            assert!(out[..n] == chunk[..], "chunk {k} of the view differs");
        }
    }
}

/// A frame from a source that returns short is the frame from a slice; cut off anywhere, it is refused.
/// The first two bytes say how short and where.
pub fn cut_anywhere(data: &[u8]) {
    allow(2 * OUTPUT + 16 * CHUNK);
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
    let (Ok(mut a), Ok(mut b)) =
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
