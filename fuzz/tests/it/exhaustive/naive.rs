//! A reader of chunks and of the geometry of arrays, written from `docs/formats/chunk.md` and `docs/formats/b2nd.md` alone and
//! without anything of the library: slow, short, and as close to the words of the documents as it can be.
//!
//! ```text
//! header checks (§1.7) -> empty | special value (§2.7) | stored (§2.5) | streams
//! streams: table of starts (§2.2), dictionary (§2.6), for each block its streams (§2.3, §2.4) or one of VL (§2.8),
//!          then the filters backward (§3)
//! ```

/// What a document says about a chunk.
#[derive(Debug)]
pub struct Reading {
    /// The bytes, or that there is no right answer but a refusal.
    pub bytes: Option<Vec<u8>>,
    /// The document lets a reader refuse this chunk, although others give these bytes.
    pub may_refuse: bool,
    /// A stream of a codec that this reader does not have: any answer may be right.
    pub unknown: bool,
}

/// Largest block of a chunk (§0).
const MOST_BLOCK: i64 = 536_866_816;

struct Chunk<'a> {
    all: &'a [u8],
    hdr: usize,
    version: u8,
    flags: u8,
    size: usize,
    nbytes: usize,
    filters: [(u8, u8); 6],
    codec: u8,
    flags1: u8,
    vl: bool,
    dictionary: &'a [u8],
    may_refuse: bool,
    unknown: bool,
}

fn word(bytes: &[u8], at: usize) -> Option<i64> {
    Some(i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?).into())
}

/// What a chunk decodes to, where at most `limit` bytes are wanted.
pub fn read(bytes: &[u8], limit: usize) -> Reading {
    let mut chunk = match open(bytes, limit) {
        Some((chunk, Some(blocksize))) => (chunk, blocksize),
        Some((chunk, None)) => {
            let Chunk { all, hdr, nbytes, size, flags1, may_refuse, .. } = chunk;
            let kind = if nbytes == 0 { 1 } else { flags1 >> 4 & 7 };
            let bytes = match (kind, size) {
                (0, _) => Some(all[hdr..].to_vec()),
                (1 | 4, _) => Some(vec![0; nbytes]),
                (2, 4) => Some([0, 0, 0xC0, 0x7F].repeat(nbytes / 4)),
                (2, 8) => Some([0, 0, 0, 0, 0, 0, 0xF8, 0x7F].repeat(nbytes / 8)),
                (3, _) => Some(all[32..].iter().copied().cycle().take(nbytes).collect()),
                _ => None,
            };
            return Reading { bytes, may_refuse, unknown: false };
        }
        None => return Reading { bytes: None, may_refuse: false, unknown: false },
    };
    let (chunk, blocksize) = (&mut chunk.0, chunk.1);
    let mut bytes = if chunk.vl { chunk.variable(blocksize) } else { chunk.regular(blocksize) };
    // Appendix B1: blocks were cut at another size than the header's, which some readers try.
    if bytes.is_none() && !chunk.vl && blocksize > chunk.size && !blocksize.is_multiple_of(chunk.size) {
        bytes = chunk.regular(blocksize - blocksize % chunk.size);
        chunk.may_refuse = true;
    }
    Reading { bytes, may_refuse: chunk.may_refuse, unknown: chunk.unknown }
}

/// Checks the header. A chunk with streams comes with the size of its blocks, or their number in a VL chunk.
fn open(bytes: &[u8], limit: usize) -> Option<(Chunk<'_>, Option<usize>)> {
    let head = bytes.get(..16)?;
    let (version, flags, size) = (head[0], head[2], usize::from(head[3]));
    let [nbytes, mut blocksize, cbytes] = [4, 8, 12].map(|at| word(head, at).unwrap());
    let hdr = if flags & 5 == 5 { 32 } else { 16 };
    if cbytes < hdr || !(1..=MOST_BLOCK).contains(&blocksize) || size == 0 || nbytes < 0 {
        return None;
    }
    let (mut filters, mut codec, mut flags1, mut flags2) = ([(0, 0); 6], 0, 0, 0);
    if hdr == 32 {
        let more = bytes.get(..32)?;
        filters = std::array::from_fn(|k| (more[16 + k], more[24 + k]));
        (codec, flags2, flags1) = (more[22], more[30], more[31]);
        if version == 3 {
            (filters[5], flags2) = ((0, 0), 0);
        }
    } else {
        filters[5].0 = if flags & 1 != 0 { 1 } else { (flags & 4) / 2 };
        filters[4].0 = if flags & 8 != 0 { 3 } else { 0 };
    }
    let (vl, special, stored) = (flags2 & 1 != 0, flags1 >> 4 & 7, flags & 2 != 0);
    let value = cbytes - 32;
    let whole = match special {
        0 | 1 => true,
        3 => value >= 1 && value <= nbytes && nbytes % value == 0,
        2 | 4 => nbytes % size as i64 == 0,
        _ => false,
    };
    if !whole || vl && (special != 0 || stored) || version > 6 && flags2 & 0xFE != 0 || flags1 & 8 != 0 {
        return None;
    }
    if !vl && nbytes > 0 {
        blocksize = blocksize.min(nbytes);
    }
    if nbytes > limit as i64 || cbytes > bytes.len() as i64 || stored && cbytes != nbytes + hdr {
        return None;
    }
    let codec = match flags >> 5 {
        6 if hdr == 32 && codec >= 32 => codec,
        5.. => 255,
        field => field,
    };
    let (all, nbytes, hdr) = (&bytes[..cbytes as usize], nbytes as usize, hdr as usize);
    // What §1.5, §2.6 to §2.8 leave to the reader.
    let may_refuse = flags1 & 2 != 0
        || special != 0 && flags1 & 1 != 0
        || special == 2 && nbytes == 0 && size != 4 && size != 8
        || special == 3 && blocksize < value
        || vl && nbytes == 0;
    let dictionary = &[][..];
    let chunk = Chunk {
        all,
        hdr,
        version,
        flags,
        size,
        nbytes,
        filters,
        codec,
        flags1,
        vl,
        dictionary,
        may_refuse,
        unknown: false,
    };
    let streams = nbytes > 0 && special == 0 && !stored;
    Some((chunk, streams.then_some(blocksize as usize)))
}

impl<'a> Chunk<'a> {
    /// The starts of blocks; afterwards the dictionary is known.
    fn starts(&mut self, nblocks: usize) -> Option<Vec<usize>> {
        let mut end = self.hdr + 4 * nblocks;
        self.all.get(..end)?;
        let starts: Option<Vec<usize>> =
            (0..nblocks).map(|k| usize::try_from(word(self.all, self.hdr + 4 * k)?).ok()).collect();
        let starts = starts?;
        self.dictionary = &[];
        if self.flags1 & 1 != 0 {
            let len = word(self.all, end).filter(|len| (1..=32768).contains(len))? as usize;
            self.dictionary = self.all.get(end + 4..end + 4 + len)?;
            end += 4 + len;
        }
        // The reference takes starts before the end of what lies in front of the blocks; no writer makes them.
        self.may_refuse |= starts.iter().any(|start| *start < end);
        self.may_refuse |= self.codec == 2 && self.version > 2 || ![0, 1, 3, 4].contains(&self.codec);
        let known = |id: u8| matches!(id, 0..=4 | 34..=36);
        let instrumented = self.flags1 & 0x80 != 0;
        (instrumented || self.filters.iter().all(|(id, _)| known(*id))).then_some(starts)
    }

    fn regular(&mut self, blocksize: usize) -> Option<Vec<u8>> {
        let starts = self.starts(self.nbytes.div_ceil(blocksize))?;
        let mut out: Vec<u8> = Vec::new();
        for start in starts {
            let bsize = blocksize.min(self.nbytes - out.len());
            let old = self.hdr == 16 && self.version <= 2 && (self.size > 16 || blocksize / self.size < 128);
            let one = self.flags & 0x10 != 0 || bsize < blocksize || old;
            let nstreams = if one { 1 } else { self.size };
            if start == 0 || bsize < nstreams || !bsize.is_multiple_of(nstreams) {
                return None;
            }
            let (mut block, mut at) = (Vec::new(), start);
            for _ in 0..nstreams {
                at = self.stream(at, bsize / nstreams, &mut block)?;
            }
            let first = (!out.is_empty()).then(|| out[..blocksize.min(out.len())].to_vec());
            out.extend(self.backward(block, first.as_deref()));
        }
        Some(out)
    }

    /// Appends one stream of `len` bytes, and says where the next one begins.
    fn stream(&mut self, at: usize, len: usize, block: &mut Vec<u8>) -> Option<usize> {
        let csize = word(self.all, at)?;
        let at = at + 4;
        if csize <= 0 {
            block.extend(vec![u8::try_from(-csize).ok()?; len]);
            return match csize {
                0 => Some(at),
                _ => (self.all.get(at)? & 1 == 1).then_some(at + 1),
            };
        }
        let payload = self.all.get(at..)?.get(..csize as usize)?;
        block.extend(if payload.len() == len { payload.to_vec() } else { self.expand(payload, len)? });
        Some(at + payload.len())
    }

    fn variable(&mut self, nblocks: usize) -> Option<Vec<u8>> {
        let starts = self.starts(nblocks)?;
        let mut out = Vec::new();
        let table = self.hdr + 4 * nblocks;
        for (k, start) in starts.iter().enumerate() {
            let end = starts.get(k + 1).copied().unwrap_or(self.all.len());
            let block = self.all.get(*start..end).filter(|block| *start >= table && block.len() > 4)?;
            let len = word(block, 0).filter(|len| *len > 0)? as usize;
            if out.len() + len > self.nbytes {
                return None;
            }
            let payload = &block[4..];
            let block = if payload.len() == len { payload.to_vec() } else { self.expand(payload, len)? };
            out.extend(self.backward(block, None));
        }
        (out.len() == self.nbytes).then_some(out)
    }

    fn expand(&mut self, payload: &[u8], len: usize) -> Option<Vec<u8>> {
        self.unknown |= !matches!(self.codec, 0 | 1 | 255);
        match self.codec {
            0 => blosclz(payload, len),
            1 => lz4(payload, self.dictionary, len),
            _ => None,
        }
    }

    /// Undoes the filters; `first` is the decoded first block, where this is another one.
    fn backward(&self, mut block: Vec<u8>, first: Option<&[u8]>) -> Vec<u8> {
        let filters = if self.flags1 & 0x80 != 0 { [(0, 0); 6] } else { self.filters };
        for (id, meta) in filters.into_iter().rev() {
            let (len, size, was) = (block.len(), self.size, block.clone());
            let width = if meta == 0 { size } else { usize::from(meta) };
            let n = len / width;
            match id {
                1 => (0..n * width).for_each(|k| block[k % n * width + k / n] = was[k]),
                2 => {
                    let n = len / size;
                    let rounded = if self.version == 2 && !n.is_multiple_of(8) { 0 } else { n / 8 * 8 };
                    block[..rounded * size].fill(0);
                    for bit in 0..8 * rounded * size {
                        // Bit `bit` of the input is bit r % 8 of byte r / 8 of an item.
                        let (row, item) = (bit / rounded, bit % rounded);
                        block[item * size + row / 8] |= (was[bit / 8] >> (bit % 8) & 1) << (row % 8);
                    }
                }
                3 => {
                    let word = if matches!(size, 1 | 2 | 4) {
                        size
                    } else if size % 8 == 0 {
                        8
                    } else {
                        1
                    };
                    let whole = len / word * word;
                    match first {
                        Some(first) => (0..whole).for_each(|k| block[k] ^= first[k]),
                        None => (word..whole).for_each(|k| block[k] ^= block[k - word]),
                    }
                }
                34 | 35 => {
                    for k in (0..n * width).filter(|k| k % n != 0 && (id == 35 || k % n != n / 16 * 16)) {
                        block[k] = block[k].wrapping_add(block[k - 1]);
                    }
                }
                _ => {}
            }
        }
        block
    }
}

/// BloscLZ (§4.1).
pub fn blosclz(s: &[u8], cap: usize) -> Option<Vec<u8>> {
    let (n, mut i, mut ctrl, mut out) = (s.len(), 1, usize::from(s.first()? & 0x1F), Vec::new());
    loop {
        if ctrl < 32 {
            if out.len() + ctrl + 1 > cap {
                return None;
            }
            out.extend_from_slice(s.get(i..i + ctrl + 1)?);
            i += ctrl + 1;
            if i == n {
                return (out.len() == cap).then_some(out);
            }
            ctrl = s[i].into();
            i += 1;
        } else {
            let mut len = (ctrl >> 5) + 2;
            let mut next = |more: bool| {
                let byte = usize::from(*s.get(i)?);
                i += 1;
                (!more || i < n).then_some(byte)
            };
            if ctrl >> 5 == 7 {
                loop {
                    let e = next(true)?;
                    len += e;
                    if e != 255 {
                        break;
                    }
                }
            }
            let low = next(true)?;
            let distance = match (ctrl & 31, low) {
                (31, 255) => 8192 + 256 * next(true)? + next(true)?,
                (high, low) => 256 * high + low + 1,
            };
            if out.len() + len > cap || distance > out.len() {
                return None;
            }
            ctrl = next(false)?;
            (0..len).for_each(|_| out.push(out[out.len() - distance]));
        }
    }
}

/// The LZ4 block format, with a dictionary in front of the output.
pub fn lz4(s: &[u8], dictionary: &[u8], cap: usize) -> Option<Vec<u8>> {
    let (mut out, mut i) = (dictionary.to_vec(), 0);
    let next = |i: &mut usize| {
        *i += 1;
        s.get(*i - 1).map(|byte| usize::from(*byte))
    };
    let long = |i: &mut usize, short: usize| {
        let mut len = short;
        while len >= 15 {
            let more = next(i)?;
            len += more;
            if more != 255 {
                break;
            }
        }
        Some(len)
    };
    loop {
        let token = next(&mut i)?;
        let literals = long(&mut i, token >> 4)?;
        out.extend_from_slice(s.get(i..)?.get(..literals)?);
        i += literals;
        if i == s.len() {
            return (out.len() == dictionary.len() + cap).then(|| out.split_off(dictionary.len()));
        }
        let distance = next(&mut i)? + 256 * next(&mut i)?;
        let len = long(&mut i, token & 15)? + 4;
        if distance == 0 || distance > out.len() || out.len() + len > dictionary.len() + cap {
            return None;
        }
        (0..len).for_each(|_| out.push(out[out.len() - distance]));
    }
}

/// The shapes of an array (docs/formats/b2nd.md §1, §2).
#[derive(Debug)]
pub struct Grid {
    pub shape: Vec<i64>,
    pub chunks: Vec<i64>,
    pub blocks: Vec<i64>,
}

fn product(numbers: impl Iterator<Item = i64>) -> i128 {
    numbers.fold(1i128, |all, n| all.saturating_mul(n.into()))
}

impl Grid {
    /// Reads a metalayer by position.
    pub fn read(meta: &[u8], typesize: i64) -> Option<Grid> {
        let ndim = usize::from(*meta.get(2)?);
        let list = |from: usize, width: usize| -> Option<Vec<i64>> {
            (0..ndim)
                .map(|axis| {
                    let number = meta.get(from + 1 + axis * (width + 1) + 1..)?.get(..width)?;
                    let first = if number[0] > 127 { -1 } else { 0 };
                    Some(number.iter().fold(first, |n, byte| n << 8 | i64::from(*byte)))
                })
                .collect()
        };
        let (shape, chunks, blocks) = (list(3, 8)?, list(4 + 9 * ndim, 4)?, list(5 + 14 * ndim, 4)?);
        let grid = Grid { shape, chunks, blocks };
        let sound = (0..ndim).all(|d| {
            let (s, c, b) = (grid.shape[d], grid.chunks[d], grid.blocks[d]);
            s >= 0 && c >= 0 && b >= 0 && (b != 0 || c == 0) && (c != 0 || s == 0)
        });
        let (most, items) = (1i128 << 31, 1i128 << 63);
        let within = sound
            && product(grid.shape.iter().copied()) < items
            && product(grid.chunks.iter().copied()) < most
            && product(grid.blocks.iter().copied()) < most
            && grid.chunk_bytes(typesize) <= most - 33;
        (ndim <= 16 && within).then_some(grid)
    }

    fn ceil(sizes: &[i64], parts: &[i64]) -> Vec<i64> {
        sizes.iter().zip(parts).map(|(s, c)| if *c == 0 { 0 } else { (s - 1).div_euclid(*c) + 1 }).collect()
    }

    /// Whether a reader may refuse it: axes without items do not excuse what the others say, and the offsets of the chunks
    /// are one chunk of 8 bytes each.
    pub fn may_be_refused(&self, typesize: i64) -> bool {
        let sides = |sides: &[i64]| product(sides.iter().map(|side| *side.max(&1)));
        let bytes = i128::from(typesize);
        let (grid, blocks) = (Self::ceil(&self.shape, &self.chunks), Self::ceil(&self.chunks, &self.blocks));
        let most = (1i128 << 31) - 33;
        sides(&self.shape).saturating_mul(bytes) >= 1 << 63
            || sides(&grid) > (most + 32) / 8
            || sides(&self.chunks) > most
            || sides(&blocks).saturating_mul(sides(&self.blocks)).saturating_mul(bytes) > most
    }

    pub fn nchunks(&self) -> i128 {
        product(Self::ceil(&self.shape, &self.chunks).into_iter())
    }

    pub fn chunk_bytes(&self, typesize: i64) -> i128 {
        let blocks = Self::ceil(&self.chunks, &self.blocks);
        product(blocks.into_iter().chain(self.blocks.iter().copied()).chain([typesize]))
    }

    /// The chunk of an item, and the item's number in it.
    pub fn locate(&self, index: &[i64]) -> (i64, i64) {
        let ravel =
            |index: Vec<i64>, sides: &[i64]| index.iter().zip(sides).fold(0, |n, (i, side)| n * side + i);
        let with = |of: &dyn Fn(usize) -> i64| (0..index.len()).map(of).collect::<Vec<_>>();
        let (chunks, blocks) =
            (Self::ceil(&self.shape, &self.chunks), Self::ceil(&self.chunks, &self.blocks));
        let rest = with(&|d| index[d] % self.chunks[d]);
        let block = ravel(with(&|d| rest[d] / self.blocks[d]), &blocks);
        let item = ravel(with(&|d| rest[d] % self.blocks[d]), &self.blocks);
        let chunk = ravel(with(&|d| index[d] / self.chunks[d]), &chunks);
        (chunk, block * self.blocks.iter().product::<i64>() + item)
    }
}
