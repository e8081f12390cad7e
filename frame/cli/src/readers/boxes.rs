//! Parts of arrays in C order: how a selection is cut into boxes, and how a box is copied.

use blosc_frame::b2nd::Take;
#[cfg(feature = "hdf5")]
use blosc_frame::b2nd::copy_box;

/// What is taken of one axis: every `step`th index, `count` of them, from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    first: u64,
    step: i64,
    count: u64,
}

impl Axis {
    /// Number of indices from the smallest to the largest that are taken.
    fn extent(self) -> u64 {
        match self.count {
            0 => 0,
            n => (n - 1).saturating_mul(self.step.unsigned_abs()).saturating_add(1),
        }
    }

    /// The smallest index.
    fn lowest(self) -> u64 {
        if self.step < 0 { (self.first + 1).saturating_sub(self.extent()) } else { self.first }
    }

    /// `count` of these, from number `skip` on.
    fn part(self, skip: u64, count: u64) -> Axis {
        let way = skip.saturating_mul(self.step.unsigned_abs());
        let first =
            if self.step < 0 { self.first.saturating_sub(way) } else { self.first.saturating_add(way) };
        Axis { first, step: self.step, count }
    }
}

/// The axes of a selection; `None` for one that lists indices, which the command line cannot ask for.
pub fn axes(takes: &[Take]) -> Option<Vec<Axis>> {
    let axis = |take: &Take| match *take {
        Take::Run { start, step, count } => Some(Axis { first: start, step, count }),
        Take::List(_) => None,
    };
    takes.iter().map(axis).collect()
}

/// Items that a selection takes.
pub fn items(axes: &[Axis]) -> u64 {
    axes.iter().fold(1, |n, axis| n.saturating_mul(axis.count))
}

/// A box that is read to get a part of a selection.
pub struct Piece {
    axes: Vec<Axis>,
    /// The first item of the box.
    pub start: Vec<u64>,
    /// Items per dimension of the box.
    pub shape: Vec<u64>,
}

impl Piece {
    fn new(axes: Vec<Axis>) -> Piece {
        let start = axes.iter().map(|axis| axis.lowest()).collect();
        let shape = axes.iter().map(|axis| axis.extent()).collect();
        Piece { axes, start, shape }
    }

    /// The selected items of the box, whose bytes are `data`.
    pub fn select(&self, data: Vec<u8>, item: usize) -> Vec<u8> {
        if self.axes.iter().all(|axis| axis.step == 1) {
            return data;
        }
        let mut out = Vec::new();
        self.gather(&data, item, 0, 0, &mut out);
        out
    }

    fn gather(&self, data: &[u8], item: usize, axis: usize, at: u64, out: &mut Vec<u8>) {
        let Some(Axis { first, step, count }) = self.axes.get(axis).copied() else {
            let from = usize::try_from(at).unwrap_or(usize::MAX).saturating_mul(item);
            out.extend_from_slice(data.get(from..from.saturating_add(item)).unwrap_or_default());
            return;
        };
        let (lowest, side) = (self.start.get(axis).copied().unwrap_or(0), self.shape.get(axis).copied());
        for n in 0..count {
            let index = Axis { first, step, count }.part(n, 1).first - lowest;
            self.gather(data, item, axis + 1, at * side.unwrap_or(1) + index, out);
        }
    }
}

/// Cuts a selection into boxes of about `most` bytes, in C order, and hands each to `f`. Boxes end where chunks end if
/// they are large enough, so that a chunk is decoded once.
pub fn pieces<E>(
    axes: &[Axis],
    chunks: &[u64],
    item: u64,
    most: u64,
    f: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    if items(axes) == 0 {
        return Ok(());
    }
    // Axes from `whole` on are taken as they are, the one before is cut into runs, and those before it are single indices.
    let (mut whole, mut inner) = (axes.len(), item.max(1));
    while let Some(axis) = whole.checked_sub(1).and_then(|k| axes.get(k)) {
        let larger = inner.saturating_mul(axis.extent());
        if larger > most {
            break;
        }
        (inner, whole) = (larger, whole - 1);
    }
    let Some(cut) = whole.checked_sub(1) else { return f(Piece::new(axes.to_vec())) };
    let (outer, rest) = axes.split_at(cut);
    let Some((axis, rest)) = rest.split_first() else { return Ok(()) };
    let fits = (most / inner).max(1);
    let mut outer_index = vec![0; outer.len()];
    loop {
        let mut done = 0;
        while done < axis.count {
            let run = run_length(axis.part(done, axis.count - done), fits, chunks.get(cut).copied());
            let mut piece: Vec<Axis> =
                outer.iter().zip(&outer_index).map(|(axis, index)| axis.part(*index, 1)).collect();
            piece.push(axis.part(done, run));
            piece.extend_from_slice(rest);
            f(Piece::new(piece))?;
            done += run;
        }
        if !advance(&mut outer_index, outer) {
            return Ok(());
        }
    }
}

/// How many indices of `axis` one box takes, if `fits` indices have room in it.
fn run_length(axis: Axis, fits: u64, chunk: Option<u64>) -> u64 {
    let run = ((fits - 1) / axis.step.unsigned_abs().max(1) + 1).min(axis.count);
    let Some(chunk) = chunk.filter(|chunk| axis.step == 1 && *chunk > 0 && run < axis.count) else {
        return run;
    };
    let end = axis.first.saturating_add(run);
    let aligned = end - end % chunk;
    if aligned > axis.first { aligned - axis.first } else { run }
}

/// The next index, the last axis first; false behind the last.
fn advance(index: &mut [u64], axes: &[Axis]) -> bool {
    for (n, axis) in index.iter_mut().zip(axes).rev() {
        *n += 1;
        if *n < axis.count {
            return true;
        }
        *n = 0;
    }
    false
}

/// Hands the first item of each chunk that a box touches to `f`, in C order.
///
/// # Errors
/// A side of zero, and what `f` gives.
#[cfg(feature = "hdf5")]
pub fn each_chunk(
    start: &[u64],
    shape: &[u64],
    sides: &[u64],
    f: &mut dyn FnMut(&[u64]) -> Result<(), String>,
) -> Result<(), String> {
    if sides.len() != start.len() || sides.contains(&0) {
        return Err(format!("chunks of shape {sides:?}"));
    }
    let axis = |((start, len), side): ((&u64, &u64), &u64)| {
        let (first, end) = (start / side, start.saturating_add(*len).div_ceil(*side));
        Axis { first, step: 1, count: end - first }
    };
    let axes: Vec<Axis> = start.iter().zip(shape).zip(sides).map(axis).collect();
    let mut index = vec![0; axes.len()];
    loop {
        let first = axes.iter().zip(&index).zip(sides).map(|((axis, n), side)| (axis.first + n) * side);
        f(&first.collect::<Vec<_>>())?;
        if !advance(&mut index, &axes) {
            return Ok(());
        }
    }
}

/// A box whose items come from several places.
#[cfg(feature = "hdf5")]
pub struct Room {
    shape: Vec<u64>,
    item: u32,
    /// Its items, in C order.
    pub bytes: Vec<u8>,
}

#[cfg(feature = "hdf5")]
impl Room {
    /// A part filled with zeros.
    pub fn new(shape: &[u64], item: u64) -> Result<Room, String> {
        let nbytes = shape.iter().try_fold(item, |n, side| n.checked_mul(*side));
        let nbytes = nbytes.and_then(|n| usize::try_from(n).ok()).ok_or("a part that is too large")?;
        let item = u32::try_from(item).map_err(|error| error.to_string())?;
        Ok(Room { shape: shape.to_vec(), item, bytes: vec![0; nbytes] })
    }

    /// Copies the box of shape `part` at `from` in `data`, which has the shape `whole`, to `to`.
    pub fn copy(
        &mut self,
        to: &[u64],
        data: &[u8],
        whole: &[u64],
        from: &[u64],
        part: &[u64],
    ) -> Result<(), String> {
        copy_box(self.item, part, (data, whole, from), (&mut self.bytes, &self.shape, to))
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every selection, cut in any way, gives the items that a naive loop gives.
    #[test]
    fn pieces_make_up_the_selection() {
        let shape = [5u64, 7, 6];
        let take = |start, step, count| Axis { first: start, step, count };
        let selections = [
            [take(0, 1, 5), take(0, 1, 7), take(0, 1, 6)],
            [take(1, 1, 3), take(2, 2, 3), take(5, -1, 6)],
            [take(4, -2, 3), take(6, -3, 3), take(0, 5, 2)],
            [take(2, 1, 1), take(0, 1, 7), take(3, 1, 0)],
        ];
        for axes in selections {
            let mut want = Vec::new();
            let index = |axis: &Axis, n: u64| axis.part(n, 1).first;
            let [a, b, c] = axes;
            for i in 0..a.count {
                for j in 0..b.count {
                    want.extend(
                        (0..c.count).map(|k| {
                            ((index(&a, i) * shape[1] + index(&b, j)) * shape[2] + index(&c, k)) as u8
                        }),
                    );
                }
            }
            for most in [1, 5, 6, 13, 42, 100, 1000] {
                let mut got = Vec::new();
                let mut read = |piece: Piece| {
                    let mut data = Vec::new();
                    for i in 0..piece.shape[0] {
                        for j in 0..piece.shape[1] {
                            data.extend((0..piece.shape[2]).map(|k| {
                                let at = (piece.start[0] + i) * shape[1] + piece.start[1] + j;
                                (at * shape[2] + piece.start[2] + k) as u8
                            }));
                        }
                    }
                    assert!(data.len() as u64 <= most.max(1), "{most}: {:?}", piece.shape);
                    got.extend(piece.select(data, 1));
                    Ok::<(), ()>(())
                };
                pieces(&axes, &[2, 3, 4], 1, most, &mut read).unwrap();
                assert_eq!(got, want, "{axes:?} {most}");
            }
        }
    }

    #[test]
    fn boxes_end_where_chunks_do() {
        let mut shapes = Vec::new();
        let axes = [Axis { first: 0, step: 1, count: 100 }, Axis { first: 0, step: 1, count: 10 }];
        let _ = pieces(&axes, &[8, 10], 1, 200, &mut |piece| {
            shapes.push(piece.shape);
            Ok::<(), ()>(())
        });
        assert_eq!(
            shapes,
            [vec![16, 10], vec![16, 10], vec![16, 10], vec![16, 10], vec![16, 10], vec![20, 10]]
        );
    }
}
