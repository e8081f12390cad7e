//! A naive model of an array, and a small random source, for the tests of this module.

use super::defaults::default_parts;
use super::select::{Selection, Take};
use super::strided::transpose;
use crate::shape::Geometry;
use alloc::vec;
use alloc::vec::Vec;

/// Random geometries and selections; the same on every machine.
pub(super) struct Random(blosc_testkit::Random);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(blosc_testkit::Random(seed))
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0.next() % n.max(1)
    }

    /// Shapes of 0 to 8 axes, now and then empty, with odd chunks and blocks.
    pub(super) fn geometry(&mut self) -> Geometry {
        loop {
            let ndim = self.below(9) as usize;
            let most = [2000, 300, 40, 14, 8, 5, 4, 3, 3][ndim];
            let t = [1, 2, 3, 4, 8, 16, 5, 300][self.below(8) as usize];
            let mut side = |most: u64| 1 + self.below(most);
            let shape: Vec<u64> = (0..ndim).map(|_| side(most)).collect();
            let chunks: Vec<u32> = shape.iter().map(|s| side(s + s / 4 + 1) as u32).collect();
            let blocks: Vec<u32> = chunks.iter().map(|c| side(u64::from(*c)) as u32).collect();
            let items: u64 = shape.iter().product();
            let Ok(g) = Geometry::new(&shape, &chunks, &blocks, t) else { continue };
            if items * u64::from(t) < 200_000 && g.nchunks() * u64::from(g.chunk_bytes()) < 800_000 {
                return g;
            }
        }
    }

    /// A selection of an axis, and the indices it stands for.
    pub(super) fn take(&mut self, len: u64) -> (Take, Vec<u64>) {
        let take = match self.below(5) {
            _ if len == 0 => Take::range(0..0),
            0 => Take::range(0..len),
            1 => Take::List((0..self.below(len.min(20) + 1)).map(|_| self.below(len)).collect()),
            2 => {
                let at = self.below(len);
                Take::range(at..at + 1)
            }
            n => {
                let (a, b) = (self.below(len + 1), self.below(len + 1));
                let step = if n == 3 { 1 } else { 1 + self.below(5) as i64 };
                let step = if self.below(3) == 0 { -step } else { step };
                let (a, b) = if step > 0 { (a.min(b), a.max(b)) } else { (a.max(b), a.min(b)) };
                Take::slice(len, Some(a as i64), Some(b as i64), step).unwrap()
            }
        };
        let indices = match &take {
            Take::Run { start, step, count } => {
                (0..*count).map(|k| start.wrapping_add_signed(step * k as i64)).collect()
            }
            Take::List(list) => list.clone(),
        };
        (take, indices)
    }

    pub(super) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.below(256) as u8).collect()
    }
}

/// All index tuples of `counts`, in C order.
pub(super) fn indices(counts: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for n in counts {
        all = all.iter().flat_map(|head| (0..*n).map(move |i| [&head[..], &[i]].concat())).collect();
    }
    all
}

/// What `dense[lists[0], lists[1], ...]` gives, item by item.
pub(super) fn take(dense: &[u8], shape: &[u64], lists: &[Vec<u64>], t: usize) -> Vec<u8> {
    let counts: Vec<u64> = lists.iter().map(|l| l.len() as u64).collect();
    let mut out = Vec::new();
    for index in indices(&counts) {
        let at = index.iter().zip(lists).zip(shape).fold(0, |n, ((i, list), s)| n * s + list[*i as usize]);
        out.extend(&dense[at as usize * t..][..t]);
    }
    out
}

/// Puts `values` at `dense[lists[0], ...]`, item by item in C order.
pub(super) fn put(dense: &mut [u8], shape: &[u64], lists: &[Vec<u64>], t: usize, values: &[u8]) {
    let counts: Vec<u64> = lists.iter().map(|l| l.len() as u64).collect();
    for (n, index) in indices(&counts).iter().enumerate() {
        let at = index.iter().zip(lists).zip(shape).fold(0, |n, ((i, list), s)| n * s + list[*i as usize]);
        dense[at as usize * t..][..t].copy_from_slice(&values[n * t..][..t]);
    }
}

/// Decoded chunks of `dense`, by the address formula of docs/formats/b2nd.md §2.
fn chunks_of(g: &Geometry, dense: &[u8]) -> Vec<Vec<u8>> {
    let t = g.typesize() as usize;
    let mut chunks = vec![vec![0xee; g.chunk_bytes() as usize]; g.nchunks() as usize];
    for (n, index) in indices(g.shape()).iter().enumerate() {
        let (chunk, block, item) = g.locate(index).unwrap();
        let at = block as usize * g.block_bytes() as usize + item as usize * t;
        chunks[chunk as usize][at..at + t].copy_from_slice(&dense[n * t..][..t]);
    }
    chunks
}

/// What is selected of decoded chunks, and which chunks hold it.
fn gather(selection: &Selection, g: &Geometry, chunks: &[Vec<u8>]) -> (Vec<u8>, Vec<u64>) {
    let mut got = vec![0x55; selection.items() as usize * g.typesize() as usize];
    let (mut list, mut walk) = (Vec::new(), selection.walk(g));
    let size = g.block_bytes() as usize;
    while let Some(touched) = walk.next() {
        list.push(touched.chunk);
        for block in touched.blocks() {
            let data = &chunks[touched.chunk as usize][block.block as usize * size..][..size];
            block.copies(g, touched.counts(), |s| s.gather(data, &mut got, 0));
        }
    }
    (got, list)
}

/// An emulator is 10 to 30 times slower: there a few rounds do.
#[cfg(feature = "std")]
pub(super) fn emulated() -> bool {
    std::env::var_os("BLOSC_EMULATED").is_some() && std::env::var_os("BLOSC_LONG").is_none()
}
#[cfg(not(feature = "std"))]
pub(super) fn emulated() -> bool {
    false
}

#[test]
fn selections_agree_with_the_model() {
    let mut r = Random::new(7);
    for round in 0..if emulated() { 50 } else { 300 } {
        let g = r.geometry();
        let t = g.typesize() as usize;
        let mut dense = r.bytes(g.nbytes() as usize);
        let mut chunks = chunks_of(&g, &dense);
        for _ in 0..10 {
            let (takes, lists): (Vec<Take>, Vec<Vec<u64>>) = g.shape().iter().map(|s| r.take(*s)).unzip();
            let items: usize = lists.iter().map(Vec::len).product();
            if items * t > 100_000 {
                continue;
            }
            let selection = Selection::new(g.shape(), &takes).unwrap();
            assert_eq!(selection.items(), items as u64);
            let (got, touched) = gather(&selection, &g, &chunks);
            assert!(touched.is_sorted_by(|a, b| a < b), "chunks ascend and never repeat");
            assert_eq!(got, take(&dense, g.shape(), &lists, t), "round {round}: {g:?} {takes:?}");
            #[cfg(feature = "std")]
            if let parts @ [_, ..] = &selection.cut(&g, 1 + r.below(6))[..] {
                let parts: Vec<_> = parts.iter().map(|part| gather(part, &g, &chunks)).collect();
                assert_eq!(parts.iter().flat_map(|part| part.1.clone()).collect::<Vec<_>>(), touched);
                assert_eq!(parts.into_iter().flat_map(|part| part.0).collect::<Vec<_>>(), got);
            }

            let values = r.bytes(items * t);
            let unique =
                lists.iter().all(|l| l.iter().collect::<alloc::collections::BTreeSet<_>>().len() == l.len());
            if !unique {
                continue;
            }
            let mut walk = selection.walk(&g);
            while let Some(touched) = walk.next() {
                for block in touched.blocks() {
                    let data = &mut chunks[touched.chunk as usize]
                        [block.block as usize * g.block_bytes() as usize..]
                        [..g.block_bytes() as usize];
                    block.copies(&g, touched.counts(), |s| s.scatter(data, &values));
                }
            }
            put(&mut dense, g.shape(), &lists, t, &values);
            assert!(chunks == chunks_of(&g, &dense), "round {round}: padding was touched or items misplaced");
        }
    }
}

#[test]
fn python_slices() {
    for (start, stop, step, want) in [
        (None, None, 1, &[0u64, 1, 2, 3, 4][..]),
        (None, None, -1, &[4, 3, 2, 1, 0]),
        (Some(-2), None, 1, &[3, 4]),
        (Some(1), Some(100), 2, &[1, 3]),
        (Some(-100), Some(2), 1, &[0, 1]),
        (Some(3), Some(1), 1, &[]),
        (Some(3), Some(0), -2, &[3, 1]),
        (Some(100), Some(-100), -3, &[4, 1]),
    ] {
        let take = Take::slice(5, start, stop, step).unwrap();
        let Take::Run { start, step, count } = take else { panic!() };
        let got: Vec<u64> = (0..count).map(|k| start.wrapping_add_signed(step * k as i64)).collect();
        assert_eq!(got, want);
    }
    assert!(Take::slice(5, None, None, 0).is_err());
    assert_eq!(Take::mask(&[true, false, true]), Take::List(vec![0, 2]));
}

#[test]
fn what_is_outside_is_refused() {
    for take in [
        Take::range(0..6),
        Take::range(5..6),
        Take::List(vec![0, 5]),
        Take::Run { start: 1, step: -1, count: 3 },
        Take::Run { start: 0, step: i64::MAX, count: 3 },
        Take::Run { start: 0, step: 1, count: u64::MAX },
        Take::Run { start: u64::MAX, step: 1, count: 1 },
        Take::Run { start: 0, step: 0, count: 1 },
    ] {
        assert!(Selection::new(&[5], core::slice::from_ref(&take)).is_err(), "{take:?}");
    }
    assert!(Selection::new(&[5], &[]).is_err());
    assert_eq!(Selection::new(&[5], &[Take::range(7..7)]).unwrap().items(), 0);
    let huge = Selection::new(&[1 << 62, 1 << 62], &[Take::range(0..1 << 62), Take::range(0..1 << 62)]);
    assert!(huge.is_err());
}

#[test]
fn a_vast_array_costs_what_is_asked() {
    let (c, b) = default_parts(&[1 << 52], 1, None, None, &Default::default());
    assert!(Geometry::new(&[1 << 52], &c, &b, 1).is_err(), "more chunks than a frame can have");
    let g = Geometry::new(&[1 << 40], &[1 << 20], &[1 << 15], 1).unwrap();
    let s = Selection::new(g.shape(), &[Take::range(1 << 39..(1 << 39) + 3)]).unwrap();
    let mut walk = s.walk(&g);
    let touched = walk.next().unwrap();
    assert_eq!((touched.chunk, touched.nblocks()), (1 << 19, 1));
    assert!(walk.next().is_none());
}

#[test]
fn transposing_twice_is_nothing() {
    let data: Vec<u8> = (0..48).collect();
    let (mut once, mut twice) = (vec![0; 48], vec![0; 48]);
    transpose(&data, &[2, 3, 4], &[2, 0, 1], 2, &mut once).unwrap();
    transpose(&once, &[4, 2, 3], &[1, 2, 0], 2, &mut twice).unwrap();
    assert_eq!(twice, data);
}
