//! Tables that order the bytes of a lane by plane or by item.

/// Byte `i` of a lane of packed items of `W` bytes, ordered by plane, `U` items: where it comes from.
const fn by_plane<const W: usize, const P: usize>() -> [u8; 16] {
    let u = 16 / P;
    let mut table = [0; 16];
    let mut i = 0;
    while i < W * u {
        table[i] = (i % u * W + i / u) as u8;
        i += 1;
    }
    table
}

/// The inverse of [`by_plane`].
const fn by_item<const W: usize, const P: usize>() -> [u8; 16] {
    let u = 16 / P;
    let mut table = [0; 16];
    let mut i = 0;
    while i < W * u {
        table[i] = (i % W * u + i / W) as u8;
        i += 1;
    }
    table
}

/// Promotes the tables to statics.
pub(super) struct Tables<const W: usize, const P: usize>;

impl<const W: usize, const P: usize> Tables<W, P> {
    pub(super) const BY_PLANE: &'static [u8; 16] = &by_plane::<W, P>();
    pub(super) const BY_ITEM: &'static [u8; 16] = &by_item::<W, P>();
}
