//! Huffman codes of limited length, in deflate's canonical order.

/// Symbols of the largest code.
pub(super) const MOST: usize = 288;
/// Symbols are the low bits of a leaf, which leaves 23 for how often they occur.
const SYMBOL_BITS: u32 = 9;

/// The symbol of a leaf.
fn symbol(leaf: u32) -> usize {
    (leaf % (1 << SYMBOL_BITS)) as usize
}

/// The code of each of `N` symbols, at most [`MOST`].
pub(super) struct Code<const N: usize> {
    /// Bits of it; 0 where the symbol does not occur.
    pub(super) lens: [u8; N],
    /// The code, first bit lowest, and above it its length.
    codes: [u32; N],
}

impl<const N: usize> Code<N> {
    /// The code that takes fewest bits for symbols that occur `freq` times, less than `1 << 23` in all, no symbol more
    /// than `limit` bits. At least two symbols get one, since some decoders refuse less.
    #[inline(always)]
    pub(super) fn of(freq: &[u32], limit: usize) -> Self {
        let mut code = Code { lens: [0; N], codes: [0; N] };
        suit(&mut code.lens, freq, limit);
        assign(&code.lens, &mut code.codes);
        code
    }

    /// The code with these lengths.
    #[inline(always)]
    pub(super) fn with(lens: impl Iterator<Item = u8>) -> Self {
        let mut code = Code { lens: [0; N], codes: [0; N] };
        code.lens.iter_mut().zip(lens).for_each(|(slot, len)| *slot = len);
        assign(&code.lens, &mut code.codes);
        code
    }

    /// The code of a symbol, and its length.
    #[inline(always)]
    pub(super) fn get(&self, symbol: usize) -> (u32, u32) {
        let code = self.codes.get(symbol).copied().unwrap_or(0);
        (code & 0xffff, code >> 16)
    }

    /// Bits that symbols take which occur `freq` times.
    pub(super) fn cost(&self, freq: &[u32]) -> u64 {
        freq.iter().zip(&self.lens).map(|(n, len)| u64::from(*n) * u64::from(*len)).sum()
    }
}

/// Sets the lengths of the best code, which are all 0.
#[inline(never)] // its stack is not its caller's
fn suit(lens: &mut [u8], freq: &[u32], limit: usize) {
    // Ascending by frequency, then symbol: the order is part of what makes the output reproducible.
    let mut sorted = [0u32; MOST];
    let mut n = 0;
    for (symbol, &freq) in freq.iter().enumerate().filter(|(_, freq)| **freq > 0) {
        if let Some(slot) = sorted.get_mut(n) {
            *slot = freq << SYMBOL_BITS | symbol as u32;
            n += 1;
        }
    }
    let leaves = sorted.get_mut(..n).unwrap_or_default();
    leaves.sort_unstable();
    if n < 2 {
        let only = leaves.first().map_or(0, |leaf| symbol(*leaf));
        for symbol in [only, usize::from(only == 0)] {
            set(lens, symbol, 1);
        }
        return;
    }
    let counts = depths(leaves, limit);
    // The rarest symbols get the longest codes.
    let mut leaves = leaves.iter();
    for len in (1..=limit).rev() {
        for leaf in leaves.by_ref().take(counts.get(len).map_or(0, |n| *n as usize)) {
            set(lens, symbol(*leaf), len as u8);
        }
    }
}

/// Numbers the codes of each length.
#[inline(never)]
fn assign(lens: &[u8], codes: &mut [u32]) {
    let mut counts = [0u16; 16];
    for &len in lens.iter().filter(|len| **len > 0) {
        if let Some(n) = counts.get_mut(usize::from(len)) {
            *n += 1;
        }
    }
    let (mut next, mut first) = ([0u16; 16], 0u16);
    for (slot, count) in next.iter_mut().zip(counts) {
        // The codes of a length follow those of the one before, which are prefixes of two each.
        *slot = first;
        first = (first + count) << 1;
    }
    for (code, &len) in codes.iter_mut().zip(lens).filter(|(_, len)| **len > 0) {
        if let Some(next) = next.get_mut(usize::from(len)) {
            *code = u32::from(next.reverse_bits() >> (16 - len)) | u32::from(len) << 16;
            *next += 1;
        }
    }
}

/// Sets `slice[at]`, if there is one.
fn set<T>(slice: &mut [T], at: usize, value: T) {
    if let Some(slot) = slice.get_mut(at) {
        *slot = value;
    }
}

/// How many of the `leaves`, two or more in ascending order, lie at each depth of a Huffman tree that is cut at `limit`.
fn depths(leaves: &[u32], limit: usize) -> [u32; 16] {
    let n = leaves.len();
    // Inner nodes in the order they are made, which is that of their weights; of each node the parent.
    let mut weights = [0u32; MOST];
    let (mut above_leaf, mut above_inner) = ([0u16; MOST], [0u16; MOST]);
    let (mut leaf, mut inner) = (0, 0);
    for made in 0..n - 1 {
        let mut weight = 0;
        for _ in 0..2 {
            let rarest = leaves.get(leaf).map_or(u32::MAX, |leaf| leaf >> SYMBOL_BITS);
            let lightest = if inner < made { weights.get(inner).copied().unwrap_or(0) } else { u32::MAX };
            if rarest <= lightest {
                set(&mut above_leaf, leaf, made as u16);
                leaf += 1;
                weight += rarest;
            } else {
                set(&mut above_inner, inner, made as u16);
                inner += 1;
                weight += lightest;
            }
        }
        set(&mut weights, made, weight);
    }
    // From the root down, each parent gives way to its depth: parents are made after their children.
    let root = n - 2;
    let depth = &mut above_inner;
    set(depth, root, 0);
    for node in (0..root).rev() {
        let parent = depth.get(node).map_or(0, |parent| usize::from(*parent));
        let above = depth.get(parent).copied().unwrap_or(0);
        set(depth, node, above + 1);
    }
    let mut counts = [0u32; 16];
    for parent in above_leaf.iter().take(n) {
        let above = depth.get(usize::from(*parent)).map_or(0, |depth| usize::from(*depth));
        if let Some(n) = counts.get_mut((above + 1).min(limit)) {
            *n += 1;
        }
    }
    // Cut leaves take more than there is: a shorter code becomes two, one of which takes in a cut leaf.
    let taken: u32 = counts.iter().enumerate().skip(1).map(|(len, n)| n << (limit.max(len) - len)).sum();
    for _ in 1 << limit..taken {
        let Some(len) = (1..limit).rev().find(|len| counts.get(*len).is_some_and(|n| *n > 0)) else { break };
        for (len, more) in [(len, -1), (len + 1, 2), (limit, -1)] {
            if let Some(n) = counts.get_mut(len) {
                *n = n.wrapping_add_signed(more);
            }
        }
    }
    counts
}
