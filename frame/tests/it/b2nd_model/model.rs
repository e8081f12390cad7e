//! The naive model of an array, and random shapes, partitions, types and selections.

use blosc_core::{Codec, Params};
use blosc_frame::b2nd::{Dtype, Spec, Take};

/// Random shapes, partitions, types and selections; the same on every machine.
pub struct Random(blosc_testkit::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(blosc_testkit::Random(seed))
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.next() % n.max(1)
    }

    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        // Runs, zeros and noise, so that every path of the codecs and special chunks are met.
        let style = self.below(4);
        (0..n)
            .map(|i| match style {
                0 => 0,
                1 => (i / 37) as u8,
                2 => self.below(4) as u8,
                _ => self.below(256) as u8,
            })
            .collect()
    }

    pub fn shape(&mut self, ndim: usize) -> Vec<u64> {
        let most = [0, 900, 60, 16, 9, 6, 4, 4, 3][ndim];
        let zero = self.below(15) == 0;
        let mut shape: Vec<u64> = (0..ndim).map(|_| 1 + self.below(most)).collect();
        if zero && ndim > 0 {
            shape[self.below(ndim as u64) as usize] = 0;
        }
        shape
    }

    pub fn spec(&mut self, shape: &[u64]) -> Spec {
        let dtype = [
            "|u1",
            "<i2",
            "<f4",
            ">f8",
            "|b1",
            "<c16",
            "|S5",
            "<U3",
            "<M8[ns]",
            "|V7",
            "[('a', '<i4'), ('b', '<f8', (2,))]",
            "|V300",
        ][self.below(12) as usize];
        let spec = Spec::new(shape, Dtype::parse(dtype).unwrap()).unwrap();
        let mut params = Params::new(1)
            .codec([Codec::BloscLz, Codec::Lz4, Codec::Zstd, Codec::Zlib][self.below(4) as usize])
            .level([0, 1, 5][self.below(3) as usize]);
        params = match self.below(3) {
            0 => params.shuffle(),
            1 => params.bitshuffle(),
            _ => params.no_filter(),
        };
        let spec = spec.params_from(&params);
        if self.below(4) == 0 {
            return spec;
        }
        let chunks: Vec<u32> = shape.iter().map(|s| 1 + self.below(s + s / 3 + 1) as u32).collect();
        let blocks: Vec<u32> = chunks.iter().map(|c| 1 + self.below(u64::from(*c)) as u32).collect();
        spec.chunks(&chunks).unwrap().blocks(&blocks).unwrap()
    }

    pub fn take(&mut self, len: u64) -> (Take, Vec<u64>) {
        let take = match self.below(5) {
            _ if len == 0 => Take::range(0..0),
            0 => Take::range(0..len),
            1 => Take::List((0..self.below(len.min(9) + 1)).map(|_| self.below(len)).collect()),
            n => {
                let (a, b) = (self.below(len + 1), self.below(len + 1));
                let step = if n == 2 { 1 } else { 1 + self.below(5) as i64 };
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
}

/// A dense array, changed item by item.
#[derive(Clone)]
pub struct Model {
    pub shape: Vec<u64>,
    /// Bytes of an item.
    pub t: usize,
    pub data: Vec<u8>,
}

impl Model {
    /// Positions of the items at the product of `lists`, in C order.
    pub fn positions(&self, lists: &[Vec<u64>]) -> Vec<u64> {
        let mut all = vec![0u64];
        for (list, side) in lists.iter().zip(&self.shape) {
            all = all.iter().flat_map(|n| list.iter().map(move |i| n * side + i)).collect();
        }
        all
    }

    pub fn get(&self, lists: &[Vec<u64>]) -> Vec<u8> {
        self.positions(lists)
            .iter()
            .flat_map(|n| self.data[*n as usize * self.t..][..self.t].to_vec())
            .collect()
    }

    pub fn set(&mut self, lists: &[Vec<u64>], values: &[u8]) {
        for (n, value) in self.positions(lists).iter().zip(values.chunks(self.t)) {
            self.data[*n as usize * self.t..][..self.t].copy_from_slice(value);
        }
    }

    pub fn full(&self) -> Vec<Vec<u64>> {
        self.shape.iter().map(|s| (0..*s).collect()).collect()
    }

    pub fn resize(&mut self, shape: &[u64]) {
        let common: Vec<Vec<u64>> =
            self.shape.iter().zip(shape).map(|(a, b)| (0..*a.min(b)).collect()).collect();
        let kept = self.get(&common);
        let items: u64 = shape.iter().product();
        *self = Model { shape: shape.to_vec(), t: self.t, data: vec![0; items as usize * self.t] };
        self.set(&common, &kept);
    }

    pub fn insert(&mut self, axis: usize, at: u64, rows: u64, values: &[u8]) {
        let mut new = Model { shape: self.shape.clone(), t: self.t, data: Vec::new() };
        new.shape[axis] += rows;
        new.data = vec![0; new.shape.iter().product::<u64>() as usize * self.t];
        let mut lists = new.full();
        lists[axis].retain(|i| *i < at || *i >= at + rows);
        new.set(&lists, &self.data);
        lists[axis] = (at..at + rows).collect();
        new.set(&lists, values);
        *self = new;
    }

    pub fn delete(&mut self, axis: usize, rows: std::ops::Range<u64>) {
        let mut lists = self.full();
        lists[axis].retain(|i| !rows.contains(i));
        self.data = self.get(&lists);
        self.shape[axis] -= rows.end - rows.start;
    }
}
