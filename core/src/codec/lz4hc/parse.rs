//! Which of the longest matches to take: the way through a stretch of input that costs the fewest bytes.
//!
//! ```text
//! node i: the cheapest way known to position i of the stretch, and its last step
//! for i = 0, 1, ..: a literal leads to i + 1; if the longest match at i leads beyond all nodes, it and its
//!                   beginnings lead to i + 4 ..= i + length
//! the stretch ends where nothing leads further, or with a match that is long enough to be taken as it is
//! ```

use super::chains::{Chains, Match};
use crate::arch::copy::Window;
use crate::codec::lz4::emit::sequence;
use crate::codec::lz4::{LAST_LITERALS, LAST_MATCH};

/// Nodes of a stretch.
const NODES: usize = 2048;
/// Bytes of scratch that [`sequences`] needs for them.
pub(super) const WORK_LEN: usize = NODES * Node::BYTES;

/// The last step to a position, and the price of the whole way in bytes.
#[derive(Clone, Copy)]
struct Node {
    price: u32,
    /// Literals since the last match, if the last step was one.
    literals: u32,
    distance: u16,
    /// 1 for a literal.
    len: u16,
}

impl Node {
    const BYTES: usize = 12;

    fn read(cell: &[u8; Node::BYTES]) -> Node {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *cell;
        Node {
            price: u32::from_le_bytes([a, b, c, d]),
            literals: u32::from_le_bytes([e, f, g, h]),
            distance: u16::from_le_bytes([i, j]),
            len: u16::from_le_bytes([k, l]),
        }
    }

    fn write(self) -> [u8; Node::BYTES] {
        let ([a, b, c, d], [e, f, g, h]) = (self.price.to_le_bytes(), self.literals.to_le_bytes());
        let ([i, j], [k, l]) = (self.distance.to_le_bytes(), self.len.to_le_bytes());
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }
}

/// The nodes of a stretch, in caller memory.
struct Nodes<'a> {
    cells: &'a mut [[u8; Node::BYTES]],
    /// The last node that something leads to.
    reach: usize,
}

impl Nodes<'_> {
    #[inline(always)]
    fn get(&self, i: usize) -> Node {
        let far = Node { price: u32::MAX, literals: 0, distance: 0, len: 1 };
        self.cells.get(i).map_or(far, Node::read)
    }

    #[inline(always)]
    fn set(&mut self, i: usize, node: Node) {
        if let Some(cell) = self.cells.get_mut(i) {
            *cell = node.write();
        }
    }

    /// A way to `i` that costs `node.price`.
    #[inline(always)]
    fn offer(&mut self, i: usize, node: Node) {
        if i > self.reach || node.price < self.get(i).price {
            self.set(i, node);
        }
    }

    /// From `i` by a literal.
    #[inline(always)]
    fn literal(&mut self, i: usize, from: Node) {
        let literals = from.literals + 1;
        let more = literals >= 15 && (literals - 15).is_multiple_of(255);
        let node = Node { price: from.price + 1 + u32::from(more), literals, distance: 0, len: 1 };
        self.offer(i + 1, node);
    }

    /// From `i` to beyond `i + known` by a match or its beginning.
    #[inline(always)]
    fn matched(&mut self, i: usize, known: usize, from: Node, found: Match) {
        // Nothing leads to what lies between yet.
        for gap in self.reach + 1..i + known.max(3) + 1 {
            self.set(gap, Node { price: u32::MAX, ..from });
        }
        for len in known.max(3) + 1..=found.len {
            let more = if len >= 19 { 1 + (len - 19) / 255 } else { 0 };
            let price = from.price + 3 + more as u32;
            self.offer(
                i + len,
                Node { price, literals: 0, distance: found.distance as u16, len: len as u16 },
            );
            self.reach = self.reach.max(i + len);
        }
    }

    /// Turns the steps to `end` round: node 0 then holds the first step, and so on.
    fn turn(&mut self, end: usize) {
        let (mut at, mut step) = (end, self.get(end));
        while at > 0 {
            at = at.saturating_sub(usize::from(step.len).max(1));
            let next = self.get(at);
            self.set(at, step);
            step = next;
        }
    }
}

/// Writes every sequence that has a match; returns where the last literals begin.
pub(super) fn sequences<const WRAP: bool, const DICT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    mut chains: Chains<'_, WRAP, DICT>,
    work: &mut [u8],
) -> Option<usize> {
    let last_start = src.len() - LAST_MATCH;
    let match_end = src.len() - LAST_LITERALS;
    let enough = match chains.level {
        0..=4 => 32,
        5 | 6 => 64,
        7 | 8 => 128,
        _ => 512,
    };
    let mut nodes = Nodes { cells: work.as_chunks_mut().0, reach: 0 };
    let (mut anchor, mut p) = (0, 0);
    while p <= last_start {
        let mut taken = chains.longest(p, 3, match_end);
        if taken.len == 0 {
            p += 1;
            continue;
        }
        let from = chains.history.base() + p - taken.distance;
        let back = chains.history.common_before(from, p, p - anchor);
        (p, taken.len) = (p - back, taken.len + back);
        if taken.len < enough {
            let end;
            (end, taken) =
                stretch(&mut nodes, &mut chains, (anchor, p), taken, enough, last_start, match_end);
            nodes.turn(end);
            let mut at = 0;
            while at < end {
                let step = nodes.get(at);
                let len = usize::from(step.len);
                if len > 1 {
                    sequence(out, src, anchor, p + at, usize::from(step.distance), len).ok()?;
                    anchor = p + at + len;
                }
                at += len.max(1);
            }
            p += end;
            if taken.len == 0 {
                continue;
            }
        }
        sequence(out, src, anchor, p, taken.distance, taken.len).ok()?;
        p += taken.len;
        anchor = p;
        chains.skip(taken, p);
    }
    Some(anchor)
}

/// Fills the nodes of the stretch that begins at `p` with the match `first`. Returns its length, and the match
/// to take after it, which is 0 long where there is none.
#[inline(always)]
fn stretch<const WRAP: bool, const DICT: bool>(
    nodes: &mut Nodes<'_>,
    chains: &mut Chains<'_, WRAP, DICT>,
    (anchor, p): (usize, usize),
    first: Match,
    enough: usize,
    last_start: usize,
    match_end: usize,
) -> (usize, Match) {
    let start = Node { price: 0, literals: (p - anchor) as u32, distance: 0, len: 1 };
    nodes.reach = 0;
    nodes.set(0, start);
    nodes.matched(0, 0, start, first);
    nodes.literal(0, start);
    let mut i = 1;
    while i < nodes.reach {
        let node = nodes.get(i);
        nodes.literal(i, node);
        // Where a step further costs nothing a match is under way; what goes on beyond its end may begin there.
        let rising = nodes.get(i + 1).price > node.price || i + 3 >= nodes.reach;
        if rising && p + i <= last_start {
            let found = chains.longest(p + i, nodes.reach - i, match_end);
            if found.len >= enough || i + found.len >= NODES - 4 {
                return (i, found);
            }
            if found.len > 0 {
                // It may have begun earlier, where the chain was too long to be followed this far.
                let from = chains.history.base() + p + i - found.distance;
                let back = chains.history.common_before(from, p + i, i);
                nodes.matched(i, 0, node, found);
                if back > 0 {
                    let whole = Match { len: found.len + back, ..found };
                    nodes.matched(i - back, back, nodes.get(i - back), whole);
                }
            }
        }
        i += 1;
    }
    (nodes.reach, Match { distance: 0, len: 0 })
}
