//! Sizes against another library's: same codec, filter, level and block size, array by array.
//!
//! Two bounds hold for each codec, filter and level: no chunk more than [`MOST`] times the opponent's, and
//! the geometric mean over arrays and block sizes not above it.

use crate::data::{self, Data};
use crate::engine::{Engine, Filters, Spec, ours};
use crate::measure::stats::geometric_mean;
use crate::report::table::Table;
use crate::suite::choice::Choice;

/// How much larger one chunk may be.
pub const MOST: f64 = 1.01;

/// Filters that are compared where nothing is said.
pub const FILTERS: [Filters; 3] = [Filters::None, Filters::Shuffle, Filters::BitShuffle];
/// Block sizes; `None` is the automatic one.
pub const BLOCKSIZES: [Option<u32>; 3] = [None, Some(32 << 10), Some(256 << 10)];

/// Every real array at its own size, seeded ones of 1 MiB, and [`data::shapes`].
pub fn sets() -> Vec<Data> {
    let real = data::corpus::REAL.iter().map(data::corpus::Real::array);
    let seeded = data::generate::SEEDED.iter().map(|s| s.array(1 << 20));
    real.chain(seeded).chain(data::shapes::all()).collect()
}

/// One chunk by both.
#[derive(Clone, Debug)]
pub struct Pair {
    /// How it was written.
    pub spec: Spec,
    /// The array.
    pub data: String,
    /// Bytes of the array.
    pub bytes: usize,
    /// Bytes of our chunk.
    pub ours: usize,
    /// Bytes of theirs.
    pub theirs: usize,
}

impl Pair {
    /// Our size as a fraction of theirs.
    pub fn ratio(&self) -> f64 {
        self.ours as f64 / self.theirs.max(1) as f64
    }

    /// `name/block size`.
    pub fn label(&self) -> String {
        match self.spec.blocksize {
            None => format!("{}/auto", self.data),
            Some(b) => format!("{}/{}K", self.data, b >> 10),
        }
    }
}

/// Compresses everything with both; what we write is read back first.
///
/// # Errors
/// A chunk that cannot be written or does not read back.
pub fn compare(
    choice: &Choice,
    blocksizes: &[Option<u32>],
    peer: &dyn Engine,
    mut each: impl FnMut(&[Pair]),
) -> Result<Vec<Pair>, String> {
    let mut all = Vec::new();
    for &codec in &choice.codecs {
        for &filter in &choice.filters {
            for &level in &choice.levels {
                let group = all.len();
                for data in &choice.data {
                    for &blocksize in blocksizes {
                        let blocksize = blocksize.map(|b| b.min(data.bytes.len() as u32));
                        let spec =
                            Spec { codec, filter, level, typesize: data.typesize, threads: 1, blocksize };
                        all.push(pair(spec, data, peer).map_err(|e| {
                            format!("{} {} {level} {}: {e}", codec.name(), filter.name(), data.name)
                        })?);
                    }
                }
                each(all.get(group..).unwrap_or_default());
            }
        }
    }
    Ok(all)
}

fn pair(spec: Spec, data: &Data, peer: &dyn Engine) -> Result<Pair, String> {
    let bytes = data.bytes.len();
    let chunk = ours::compress(&spec, &data.bytes)?;
    ours::decodes_to(&data.bytes)(&chunk)?;
    let theirs = peer.compressor(&spec, bytes)?(&data.bytes, &mut vec![0; bytes + 32])?;
    Ok(Pair { spec, data: data.name.clone(), bytes, ours: chunk.len(), theirs })
}

/// What one group of pairs (one codec, filter and level) came to.
pub struct Verdict {
    /// The largest ratio.
    pub worst: f64,
    /// Whose it is.
    pub worst_of: String,
    /// The geometric mean.
    pub mean: f64,
}

impl Verdict {
    /// The verdict on a group of pairs.
    pub fn of(group: &[Pair]) -> Option<Verdict> {
        let worst = group.iter().max_by(|a, b| a.ratio().total_cmp(&b.ratio()))?;
        let mean = geometric_mean(group.iter().map(Pair::ratio))?;
        Some(Verdict { worst: worst.ratio(), worst_of: worst.label(), mean })
    }

    /// Whether both bounds hold.
    pub fn holds(&self) -> bool {
        self.worst <= MOST && self.mean <= 1.0
    }
}

/// Codec, filter and level of a pair.
fn group_of(pair: &Pair) -> (u8, &'static str, u8) {
    (pair.spec.codec.id(), pair.spec.filter.name(), pair.spec.level)
}

/// One line for each group, and whether every one holds.
pub fn table(pairs: &[Pair]) -> (Table, bool) {
    let mut table = Table::new(&["codec filter level", "worst", "of", "mean", "chunks", "holds"]);
    let mut all = true;
    for group in pairs.chunk_by(|a, b| group_of(a) == group_of(b)) {
        let (Some(first), Some(verdict)) = (group.first(), Verdict::of(group)) else { continue };
        all &= verdict.holds();
        table.row(vec![
            format!("{} {} {}", first.spec.codec.name(), first.spec.filter.name(), first.spec.level),
            format!("{:.4}", verdict.worst),
            verdict.worst_of.clone(),
            format!("{:.4}", verdict.mean),
            group.len().to_string(),
            if verdict.holds() { "yes".into() } else { "NO".into() },
        ]);
    }
    (table, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ours::Ours;
    use blosc_core::{Codec, Level};

    #[test]
    fn against_ourselves_everything_is_equal() {
        let choice = Choice {
            codecs: vec![Codec::BloscLz],
            levels: vec![5],
            data: sets().into_iter().take(2).collect(),
            filters: FILTERS.to_vec(),
            ..Choice::default()
        };
        let peer = Ours { level: Level::best(), corrupt: false };
        let pairs = compare(&choice, &BLOCKSIZES, &peer, |_| {}).expect("legal parameters");
        assert_eq!(pairs.len(), 3 * 2 * 3);
        assert!(table(&pairs).1 && pairs.iter().all(|p| p.ours == p.theirs));
        let mut bigger = pairs;
        bigger.iter_mut().take(1).for_each(|p| p.ours += p.ours / 50);
        assert!(!table(&bigger).1);
    }
}
