//! `levels`: no level is slower than one that it implies, and no length of a power of two than its neighbours.
//!
//! ```text
//! for each operation, item size and length
//!     for each round, on each side of a pair by turns: time one kernel, time the other; keep the ratio of the two
//!     a pair is slow if even the upper quartile of its ratios is below the bound, and so it is when measured four times more,
//!     in other buffers
//! ```
//! Ratios of neighbours in time cancel what else the machine does; the upper quartile, and the later looks, what they do not. Other
//! buffers lie in other pages: which sets of a cache these share is the system's choice, and no property of a kernel.

use super::kernels::{FILTERS, Kernel};
use crate::data::generate::random_bytes;
use crate::measure::stats::quantile_of;
use crate::report::table::parse_size;
use blosc_core::Level;
use clap::Args;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What is compared.
#[derive(Args, Clone, Debug)]
pub struct Choice {
    /// Item sizes instead of 1 to 32.
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1..=255),
        default_values_t = 1..=32, hide_default_value = true)]
    typesize: Vec<u16>,
    /// Lengths at which levels are compared (K, M allowed).
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = parse_size,
        default_value = "8K,248K,256K,4M")]
    size: Vec<usize>,
    /// Powers of two that are compared with 31/32 and 33/32 of them.
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = parse_size,
        default_value = "32K,64K,128K,256K,1M,4M")]
    power: Vec<usize>,
    /// Least speed of a level against each one that it implies.
    #[arg(long, default_value_t = 0.97)]
    level: f64,
    /// Least speed at a power of two against its neighbours.
    #[arg(long, default_value_t = 0.95)]
    neighbour: f64,
    /// Milliseconds for each pair.
    #[arg(long, default_value_t = 6.0, value_name = "MS")]
    time: f64,
}

/// A pair, and how fast its first kernel is against its second.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Operation, item size, length and the two sides.
    pub label: String,
    /// The median of the ratios.
    pub ratio: f64,
    /// Their upper quartile.
    pub upper: f64,
    /// Whether the upper quartile is below the bound.
    pub slow: bool,
}

/// One side of a pair: a kernel over buffers of a length.
struct Side<'a> {
    level: Level,
    bytes: usize,
    kernel: &'a Kernel,
    typesize: usize,
}

/// Buffers for either side.
struct Buffers {
    src: Vec<u8>,
    dst: Vec<u8>,
}

/// Rounds of a pair.
const ROUNDS: usize = 15;
/// Looks at a pair before it is called slow.
const LOOKS: usize = 5;

impl Side<'_> {
    /// Seconds for each byte, of `repeats` runs.
    fn run(&self, buffers: &mut Buffers, repeats: u32) -> Result<f64, String> {
        let src = buffers.src.get(..self.bytes).ok_or("the source is too short")?;
        let dst = buffers.dst.get_mut(..self.bytes).ok_or("the destination is too short")?;
        let start = Instant::now();
        for _ in 0..repeats {
            let done = (self.kernel.run)(self.level, self.typesize, black_box(src), black_box(&mut *dst));
            done.map_err(|e| e.0.to_string())?;
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(repeats) / self.bytes as f64)
    }
}

/// Speed of `a` against `b`.
fn compare(
    label: String,
    [a, b]: [&Side<'_>; 2],
    bound: f64,
    time: f64,
    buffers: &mut Buffers,
) -> Result<Pair, String> {
    let once = b.run(buffers, 1)?.max(b.run(buffers, 2)?) * b.bytes as f64;
    let repeats = (time / (2 * ROUNDS) as f64 / once.max(1e-9)).clamp(1.0, 1e6) as u32;
    let mut ratios = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        // Whoever is first warms what the other finds.
        let (one, other) = if round % 2 == 0 {
            let one = a.run(buffers, repeats)?;
            (one, b.run(buffers, repeats)?)
        } else {
            let other = b.run(buffers, repeats)?;
            (a.run(buffers, repeats)?, other)
        };
        ratios.push(other / one);
    }
    let at = |part| quantile_of(&ratios, part).ok_or("no ratio was measured");
    let (ratio, upper) = (at(0.5)?, at(0.75)?);
    Ok(Pair { label, ratio, upper, slow: upper < bound })
}

/// Compares all pairs; `tell` is given each one, the slow ones after four more looks.
///
/// # Errors
/// A kernel refuses its buffers.
pub fn run(choice: &Choice, mut tell: impl FnMut(&Pair)) -> Result<Vec<Pair>, String> {
    let longest = choice.size.iter().chain(&choice.power).max().copied().unwrap_or(0);
    let (room, time) = (longest + longest / 32, choice.time / 1e3);
    let new = || Buffers { src: random_bytes(room), dst: vec![0; room] };
    let mut buffers = new();
    let mut pairs = Vec::new();
    let mut judge = |label: String, sides: [&Side<'_>; 2], bound: f64| -> Result<(), String> {
        let mut pair = compare(label.clone(), sides, bound, time, &mut buffers)?;
        // Kept until the last look, so that none gets the pages of another.
        let mut elsewhere = Vec::new();
        while pair.slow && elsewhere.len() + 1 < LOOKS {
            std::thread::sleep(Duration::from_millis(20));
            let mut others = new();
            pair = compare(label.clone(), sides, bound, 4.0 * time, &mut others)?;
            elsewhere.push(others);
        }
        tell(&pair);
        pairs.push(pair);
        Ok(())
    };
    for kernel in &FILTERS {
        let typesizes = choice.typesize.iter().map(|t| usize::from(*t));
        for typesize in typesizes.filter(|t| *t > 1 || !kernel.trivial_at_1) {
            let side = |level, bytes| Side { level, bytes, kernel, typesize };
            let case =
                |bytes| format!("{} ts {typesize}, {}", kernel.name, crate::report::table::size(bytes));
            for &bytes in &choice.size {
                for level in Level::available() {
                    let implied =
                        |l: &Level| *l != level && level.isa().implies(l.isa()) && *l != Level::SCALAR;
                    for lower in Level::available().filter(implied) {
                        let label = format!("{}: {} against {}", case(bytes), level.isa(), lower.isa());
                        judge(label, [&side(level, bytes), &side(lower, bytes)], choice.level)?;
                    }
                }
            }
            for (&power, level) in choice.power.iter().flat_map(|p| Level::available().map(move |l| (p, l))) {
                for beside in [power - power / 32, power + power / 32] {
                    let label = format!(
                        "{}, {}: against {}",
                        case(power),
                        level.isa(),
                        crate::report::table::size(beside)
                    );
                    judge(label, [&side(level, power), &side(level, beside)], choice.neighbour)?;
                }
            }
        }
    }
    Ok(pairs)
}
