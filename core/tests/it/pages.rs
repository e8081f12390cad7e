//! No kernel, decoder or encoder touches a byte before or after what it is given: all of it lies against pages that
//! nobody may read or write. Guard bytes see stray writes only, sanitizers x86-64 only.

use crate::common;

use blosc_core::filter::bitshuffle::{bitshuffle, bitunshuffle};
use blosc_core::filter::shuffle::{shuffle, unshuffle};
use blosc_core::{Isa, Level};

/// Memory between two pages without access.
struct Pages {
    base: *mut libc::c_void,
    page: usize,
    len: usize,
}

/// Which end of the memory a slice lies against.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edge {
    Start,
    End,
}

const EDGES: [Edge; 2] = [Edge::Start, Edge::End];

impl Pages {
    /// At least `len` bytes.
    fn new(len: usize) -> Pages {
        // SAFETY: new memory, of which only the outer pages lose their access.
        unsafe {
            let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).expect("a page size");
            let len = len.next_multiple_of(page);
            let (all, access) = (len + 2 * page, libc::PROT_READ | libc::PROT_WRITE);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let base = libc::mmap(core::ptr::null_mut(), all, access, flags, -1, 0);
            assert!(base != libc::MAP_FAILED, "no memory");
            for at in [0, page + len] {
                assert_eq!(libc::mprotect(base.byte_add(at), page, libc::PROT_NONE), 0);
            }
            Pages { base, page, len }
        }
    }

    /// `len` bytes at an edge, as they were left.
    fn at(&mut self, edge: Edge, len: usize) -> &mut [u8] {
        assert!(len <= self.len);
        let at = if edge == Edge::Start { 0 } else { self.len - len };
        // SAFETY: between the outer pages; the borrow of `self` is unique.
        unsafe { core::slice::from_raw_parts_mut(self.base.cast::<u8>().add(self.page + at), len) }
    }

    /// A copy of `bytes` at an edge.
    fn hold(&mut self, edge: Edge, bytes: &[u8]) -> &mut [u8] {
        let slice = self.at(edge, bytes.len());
        slice.copy_from_slice(bytes);
        slice
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, with this length.
        unsafe { libc::munmap(self.base, self.len + 2 * self.page) };
    }
}

/// Levels of this machine; says which ones it lacks.
fn levels() -> Vec<Level> {
    for isa in Isa::ALL.into_iter().filter(|isa| Level::new(*isa).is_none()) {
        println!("skipped: no {}", isa.name());
    }
    Level::available().collect()
}

#[test]
fn kernels_stay_within_their_buffers() {
    const MOST: usize = 80_000;
    let noise: Vec<u8> = {
        let mut rng = common::Rng::new(1);
        (0..MOST).map(|_| rng.next() as u8).collect()
    };
    let (mut from, mut to, mut back) = (Pages::new(MOST), Pages::new(MOST), Pages::new(MOST));
    // Few items, tiles and their leftovers, and buffers of which several lines of a row are taken at a time.
    let short = (0..=40).chain([47, 48, 63, 64, 65, 127, 128, 135, 255, 256, 264, 512, 520, 1031]);
    let counts: Vec<usize> = short.chain([2055, 4096, 8200]).collect();
    for level in levels() {
        for width in (1..=20).chain([24, 31, 32, 33, 48, 255]) {
            for items in counts.iter().map(|n| n * width).filter(|n| *n <= MOST) {
                for edge in EDGES {
                    let src = from.hold(edge, &noise[..items]);
                    let (dst, again) = (to.at(edge, items), back.at(edge, items));
                    shuffle(level, width, src, &mut *dst).unwrap();
                    unshuffle(level, width, dst, &mut *again).unwrap();
                    assert!(src == again, "shuffle, {level:?}, items of {width}, {items} bytes, {edge:?}");
                    bitshuffle(level, width, src, &mut *dst).unwrap();
                    bitunshuffle(level, width, dst, &mut *again).unwrap();
                    assert!(src == again, "bitshuffle, {level:?}, items of {width}, {items} bytes, {edge:?}");
                }
            }
        }
    }
}

#[cfg(all(feature = "std", feature = "codecs"))]
mod chunks {
    use super::*;
    use blosc_core::chunk::Plan;
    use blosc_core::{Chunk, Decoder, Encoder, Params, max_encoded_len};

    #[test]
    fn chunks_are_written_and_read_within_their_buffers() {
        let most = max_encoded_len(30_000);
        let (mut from, mut to, mut back) = (Pages::new(most), Pages::new(most), Pages::new(most));
        for (codec, len) in common::encoders()
            .into_iter()
            .flat_map(|codec| [1, 40, 1000, 4099, 30_000].map(|len| (codec, len)))
        {
            for (name, data) in common::kinds(len) {
                for (width, level) in [(1, 1), (4, 5), (8, 9), (7, 5)] {
                    let params = Params::new(width).codec(codec).level(level);
                    for params in [params, params.bitshuffle(), params.no_filter()] {
                        let edge = if (len + name.len()) % 2 == 0 { Edge::Start } else { Edge::End };
                        let mut work = vec![0; Plan::work_len_for(&params, len)];
                        let mut encoder = Encoder::new(Level::best(), &params, len, &mut work).unwrap();
                        let bytes = to.at(edge, max_encoded_len(len));
                        let n = encoder.encode(from.hold(edge, &data), &mut *bytes).unwrap();
                        let bytes = bytes[..n].to_vec();
                        for edge in EDGES {
                            let chunk = Chunk::parse(to.hold(edge, &bytes)).unwrap();
                            let mut work = vec![0; Decoder::work_len(&chunk)];
                            let out = back.at(edge, len);
                            Decoder::new(Level::best(), &mut work).decode(&chunk, &mut *out).unwrap();
                            assert!(*out == data, "{codec:?} {level}, {name}, items of {width}, {edge:?}");
                        }
                    }
                }
            }
        }
    }
}

/// Streams by themselves, as the decoders of builds without `std` read them.
#[cfg(all(feature = "std", feature = "codecs"))]
#[test]
fn zlib_streams_are_written_and_read_within_their_buffers() {
    use blosc_core::Out;
    use blosc_core::codec::zlib::{DECODE_WORK_LEN, decode, deflate};
    let most = 40_000;
    let (mut from, mut to, mut back) = (Pages::new(most), Pages::new(most), Pages::new(most));
    for len in [1, 40, 1000, 4099, 30_000] {
        for (name, data) in common::kinds(len) {
            for (level, edge) in [1, 5, 9].into_iter().flat_map(|level| EDGES.map(|edge| (level, edge))) {
                let mut work = vec![0; deflate::work_len(level, len)];
                let stream = to.at(Edge::End, len + len / 8 + 100);
                let n = deflate::encode(from.hold(edge, &data), stream, level, &mut work).unwrap();
                let stream = stream[..n].to_vec();
                let mut work = vec![0; DECODE_WORK_LEN];
                let out = back.at(edge, len);
                decode(to.hold(edge, &stream), Out::from(&mut *out), &mut work).unwrap();
                assert!(*out == data, "level {level}, {name}, {edge:?}");
            }
        }
    }
}
