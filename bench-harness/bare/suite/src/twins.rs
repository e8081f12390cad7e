//! Every kernel of a level against the scalar form.

use crate::{Memory, Random};
use blosc_core::filter::{FilterError, bitshuffle, bytedelta, delta, shuffle};
use blosc_core::{Isa, Level};
use core::fmt::Write;

type Filter = fn(Level, usize, &[u8], &mut [u8]) -> Result<(), FilterError>;

const FILTERS: [(&str, Filter); 8] = [
    ("shuffle", |l, w, s, o| shuffle::shuffle(l, w, s, o)),
    ("unshuffle", |l, w, s, o| shuffle::unshuffle(l, w, s, o)),
    ("bitshuffle", |l, w, s, o| bitshuffle::bitshuffle(l, w, s, o)),
    ("bitunshuffle", |l, w, s, o| bitshuffle::bitunshuffle(l, w, s, o)),
    ("delta", |l, w, s, o| delta::forward(l, w, s, None, o.into())),
    ("undelta", |l, w, s, o| delta::backward(l, w, s, None, o.into())),
    ("bytedelta", |l, w, s, o| bytedelta::forward(l, w, s, o.into())),
    ("unbytedelta", |l, w, s, o| bytedelta::backward(l, w, s, o.into())),
];

const WIDTHS: [usize; 12] = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32, 255];
/// Items, near the edges of vectors and tiles.
const ITEMS: [usize; 13] = [0, 1, 7, 8, 15, 17, 32, 63, 65, 128, 129, 257, 520];
/// Longest source.
const LEN: usize = 4100;

/// Runs each filter of `level` and its scalar form on the same bytes; returns how many results were compared, or
/// `None` after telling `log` of a difference. The buffers of `memory` must hold 4200 bytes each.
pub fn twins(level: Level, memory: &mut Memory<'_>, log: &mut impl Write) -> Option<usize> {
    let mut random = Random(0x5851_F42D);
    let source = memory.work.get_mut(..LEN + 3)?;
    source.iter_mut().for_each(|b| *b = random.next() as u8);
    let mut compared = 0;
    for width in WIDTHS {
        for items in ITEMS {
            for extra in [0, width - 1] {
                let len = items * width + extra;
                if len > LEN {
                    continue;
                }
                // Neither side aligned.
                let src = source.get(items % 4..)?.get(..len)?;
                for (name, filter) in FILTERS {
                    let want = memory.out.get_mut(1..=len)?;
                    let got = memory.chunk.get_mut(3..len + 3)?;
                    want.fill(0);
                    got.fill(1);
                    let same = filter(Level::SCALAR, width, src, want) == filter(level, width, src, got);
                    if !same || want != got {
                        let _ = writeln!(log, "FAILED: {name}, {len} bytes of {width} at {}", level.isa());
                        return None;
                    }
                    compared += 1;
                }
            }
        }
    }
    Some(compared)
}

/// Instruction sets that this build has kernels for, slowest first.
pub fn built() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| blosc_core::arch::OPERATIONS.iter().any(|op| op.isas.contains(isa)))
}
