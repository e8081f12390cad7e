//! Frames: opening hostile ones, contiguous and sparse, and histories of edits beside a plain model.

use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_core::{Codec, Level, Params, Special};
use blosc_frame::cframe::header::{ChunkSize, FrameType};
use blosc_frame::cframe::open_at;
use blosc_frame::cframe::view::View;
use blosc_frame::io::{MemDir, ReadAt, ReadOnly};
use blosc_frame::verify::Verdict;
use blosc_frame::{Error, IoError, Limits, SuperChunk};

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

/// A source that gives few bytes at a time, and never a slice.
struct Dribble<'d> {
    data: &'d [u8],
    most: usize,
}

impl ReadAt for Dribble<'_> {
    fn size(&self) -> std::result::Result<u64, IoError> {
        Ok(self.data.len() as u64)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> std::result::Result<usize, IoError> {
        let n = buf.len().min(self.most);
        self.data.read_at(offset, &mut buf[..n])
    }
}

/// A frame from a source that returns short is the frame from a slice; cut off anywhere, it is refused.
/// The first two bytes say how short and where.
pub fn cut_anywhere(data: &[u8]) {
    allow(2 * OUTPUT + 16 * CHUNK);
    let Some(([most, at], data)) = data.split_first_chunk() else { return };
    let most = usize::from(*most).max(1);
    let whole = open_at(data, FrameType::Contiguous, &LIMITS);
    let dribbled = open_at(&Dribble { data, most }, FrameType::Contiguous, &LIMITS);
    assert_eq!(format!("{whole:?}"), format!("{dribbled:?}"));
    let Ok(opened) = whole else { return };
    let cut = opened.header.frame_len.saturating_sub(1 + u64::from(*at)) as usize;
    assert!(open_at(&data[..cut], FrameType::Contiguous, &LIMITS).is_err(), "a frame cut off opens");
    let (Ok(mut a), Ok(mut b)) =
        (SuperChunk::open(ReadOnly(data), &LIMITS), SuperChunk::open_read(Dribble { data, most }, &LIMITS))
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
}

/// What a frame should hold.
#[derive(Clone, Default)]
struct Model {
    chunks: Vec<Vec<u8>>,
    metalayers: Vec<(String, Vec<u8>)>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
    chunksize: usize,
}

impl Model {
    /// Fills up the last chunk of a regular frame, then adds chunks.
    fn append(&mut self, variable: bool, mut data: &[u8]) {
        let (size, last) = (self.chunksize, self.chunks.last_mut());
        if let Some(last) = last.filter(|last| !variable && last.len() < size) {
            let (now, rest) = data.split_at((size - last.len()).min(data.len()));
            last.extend(now);
            data = rest;
        }
        self.chunks.extend(data.chunks(size).map(<[u8]>::to_vec));
    }

    fn check(&self, sc: &mut SuperChunk<'_>) {
        assert_eq!(sc.nchunks(), self.chunks.len() as u64);
        assert_eq!(sc.nbytes(), self.chunks.iter().map(|c| c.len() as u64).sum::<u64>());
        for (k, chunk) in (0..).zip(&self.chunks) {
            assert_eq!(sc.read_chunk(k).as_ref(), Ok(chunk), "chunk {k}");
        }
        assert!(sc.metalayer_names().eq(self.metalayers.iter().map(|(name, _)| name.clone())));
        for (name, content) in &self.metalayers {
            assert_eq!(sc.metalayer(name), Some(&content[..]));
        }
        assert!(sc.vlmetalayer_names().eq(self.vlmetalayers.iter().map(|(name, _)| name.clone())));
        for (name, content) in &self.vlmetalayers {
            assert_eq!(sc.vlmetalayer(name), Ok(Some(content.clone())));
        }
    }
}

fn set(list: &mut Vec<(String, Vec<u8>)>, name: String, content: Vec<u8>) {
    match list.iter_mut().find(|(n, _)| *n == name) {
        Some(slot) => slot.1 = content,
        None => list.push((name, content)),
    }
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

/// A history of edits, compared with a vector of vectors after each.
pub fn edit_sequence(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    let _ = edits(&mut Unstructured::new(data));
}

fn edits(u: &mut Unstructured<'_>) -> Result<()> {
    let params = params(u)?;
    let typesize = params.typesize as usize;
    let mut model = Model { chunksize: u.int_in_range(1..=60)? * typesize, ..Model::default() };
    let mut sc = match u.arbitrary()? {
        true => SuperChunk::memory(&params),
        false => SuperChunk::create_dir(MemDir::new(), &params).expect("an empty directory"),
    };
    sc.set_chunksize(model.chunksize as u32).expect("a size of a new frame");
    sc.set_checksums(u.arbitrary()?).expect("checksums of a new frame");
    for _ in 0..40 {
        if u.is_empty() {
            break;
        }
        let before = model.clone();
        if let Err(error) = step(u, &mut sc, &mut model)? {
            assert!(matches!(error, Error::Param { .. } | Error::Limit { .. }), "{error}");
            model = before;
        }
        model.check(&mut sc);
    }
    let bytes = sc.to_bytes().expect("a frame of our own");
    let mut again = SuperChunk::from_bytes(bytes, &Limits::DEFAULT).expect("a frame of our own");
    model.check(&mut again);
    let report = again.verify(|_| {}).expect("a frame of our own");
    assert!(report.damage.is_empty(), "{report:?}");
    Ok(())
}

/// Makes one edit in both.
fn step(
    u: &mut Unstructured<'_>,
    sc: &mut SuperChunk<'_>,
    model: &mut Model,
) -> Result<std::result::Result<(), Error>> {
    let typesize = sc.typesize() as usize;
    let (n, most) = (model.chunks.len(), 2 * model.chunksize / typesize);
    let variable = sc.chunksize() == ChunkSize::Variable;
    let len = match u.arbitrary()? {
        true => model.chunksize,
        false => u.int_in_range(0..=most)? * typesize,
    };
    let k = u.int_in_range(0..=n.max(1) - 1)?;
    Ok(match u.int_in_range(0..=9)? {
        0 => {
            let data = pattern(u, len)?;
            model.chunks.push(data.clone());
            sc.append_data(&data)
        }
        1 => {
            let data = pattern(u, 2 * len)?;
            model.append(variable, &data);
            sc.append(&data)
        }
        2 => {
            let data = pattern(u, len)?;
            model.chunks.insert(k, data.clone());
            sc.insert(k as u64, &data)
        }
        3 if n > 0 => {
            let data = pattern(u, len)?;
            model.chunks[k].clone_from(&data);
            sc.update(k as u64, &data)
        }
        4 if n > 0 => {
            model.chunks.remove(k);
            sc.delete(k as u64)
        }
        5 if n > 1 => {
            let mut order: Vec<u64> = (0..n as u64).collect();
            order.rotate_left(k);
            order.swap(0, u.int_in_range(0..=n - 1)?);
            model.chunks = order.iter().map(|k| model.chunks[*k as usize].clone()).collect();
            sc.reorder(&order)
        }
        6 => {
            model.append(variable, &vec![0; len]);
            sc.fill_special(*u.choose(&[Special::Zeros, Special::Uninit])?, len as u64)
        }
        7 => {
            let (name, content) = (format!("m{}", u.int_in_range(0..=3)?), pattern(u, len)?);
            set(&mut model.metalayers, name.clone(), content.clone());
            sc.set_metalayer(&name, &content)
        }
        8 => {
            let (name, content) = (format!("v{}", u.int_in_range(0..=5)?), pattern(u, len)?);
            set(&mut model.vlmetalayers, name.clone(), content.clone());
            sc.set_vlmetalayer(&name, &content)
        }
        _ => match u.arbitrary()? {
            true => sc.commit(),
            false => sc.compact().map(drop),
        },
    })
}
