//! Work on other arrays before each sample, so that the CPU unlearns where the branches of this one go.
//!
//! CPUs learn by heart where the branches of some hundred kilobytes of a stream go. A loop over one array therefore shows
//! a speed that no reader of files ever sees, and flatters whoever branches most. Between two samples every
//! candidate works through the other arrays of the corpus with the same parameters, outside the clock.

use crate::data::{Data, everything};
use crate::engine::spec::{Engine, Filters, Spec};
use crate::engine::{filtered, ours};
use crate::measure::candidate::Before;
use blosc_core::max_encoded_len;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Longer arrays are met for the first time all the way, since they hold no verbatim copies ([`Data::sized`]): nothing
/// precedes them.
const LEARNT: usize = 1 << 20;

/// Time for the others before each sample; one of them is always worked through.
const ENOUGH: Duration = Duration::from_millis(1);

/// An array and its chunk.
struct Other {
    name: String,
    bytes: Vec<u8>,
    chunk: Rc<[u8]>,
}

/// What others are made for: how they are written, and the filter they have been through before.
pub type Want = (Spec, Option<Filters>);

/// What has been made for one of them.
type Made = (Want, Rc<[Other]>);

/// The arrays of the corpus with their chunks, made once for each combination.
#[derive(Clone, Default)]
pub struct OtherArrays(Rc<RefCell<Vec<Made>>>);

impl OtherArrays {
    fn of(&self, want: Want) -> Rc<[Other]> {
        if let Some((_, made)) = self.0.borrow().iter().find(|(known, _)| *known == want) {
            return Rc::clone(made);
        }
        let made: Rc<[Other]> = everything().iter().filter_map(|data| other(data, want)).collect();
        self.0.borrow_mut().push((want, Rc::clone(&made)));
        made
    }
}

fn other(data: &Data, (spec, before): Want) -> Option<Other> {
    let data = before.map_or_else(|| Some(data.clone()), |filter| filtered(data, filter))?;
    let mut bytes = data.bytes.into_owned();
    bytes.truncate(bytes.len() - bytes.len() % spec.typesize.max(1));
    let chunk = ours::compress(&spec, &bytes).ok()?;
    Some(Other { name: data.name, bytes, chunk })
}

/// What a candidate does with each of the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Compresses it.
    Compress,
    /// Decompresses its chunk.
    Decompress,
    /// Both.
    RoundTrip,
}

/// The work of `engine` on the others before a sample of `data`; `None` where data need not be met for the first time.
/// `before` is the filter that `data` has been through already.
pub fn work_on_others(
    engine: &dyn Engine,
    task: Task,
    (spec, before): Want,
    data: &Data,
    others: Option<&OtherArrays>,
) -> Option<Before<'static>> {
    let others = others.filter(|_| data.bytes.len() <= LEARNT)?;
    let spec = Spec { threads: 1, ..spec };
    let own = data.original().to_string();
    let others = others.of((spec, before));
    let most = others.iter().map(|other| other.bytes.len()).max()?;
    let mut compress = engine.compressor(&spec, most).ok()?;
    let mut decompress = engine.decompress_any(&spec).ok()?;
    let (mut chunk, mut bytes) = (vec![0; max_encoded_len(most) + 1024], vec![0; most]);
    let mut next = 0;
    Some(Box::new(move || {
        let start = Instant::now();
        for _ in 0..others.len() {
            next = (next + 1) % others.len().max(1);
            let Some(other) = others.get(next).filter(|other| other.name != own) else { continue };
            // No result is looked at; an engine that cannot read a chunk has not learnt it either.
            if task != Task::Decompress {
                let _ = compress(&other.bytes, &mut chunk);
            }
            if task != Task::Compress {
                let _ = decompress(&other.chunk, &mut bytes);
            }
            if start.elapsed() >= ENOUGH {
                break;
            }
        }
    }))
}
