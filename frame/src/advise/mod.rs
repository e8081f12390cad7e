//! [`advise`]: which codec, filter, level and block size suit some data, found by trying them.
//!
//! ```text
//! sample      up to three pieces of 512 KiB, evenly spread over the file
//! 60 %        every codec and filter at levels 1, 5 and 9, the quick ones first
//! 25 %        for what no other beats in ratio and speed: levels 3 and 7, and other block sizes
//! 15 %        for what then is on that front: the same again, since what disturbs a time only lengthens it
//! recommended is what takes the least time to compress, write to a disk, read and decompress
//! ```
//! Times are of one thread. What does not come back as it was is dropped.
//!
//! # Example
//! ```no_run
//! use blosc_frame::advise::{Options, Sample, advise};
//!
//! let sample = Sample::of("field.bin".as_ref(), Some("f4"), None)?;
//! let advice = advise(&sample, &Options::default());
//! println!("{}", advice.text(&sample));
//! # Ok::<(), blosc_frame::Error>(())
//! ```

mod filters;
mod sample;
mod trial;

pub use filters::Filters;
pub use sample::{Sample, Verb, parse_dtype};
pub use trial::{Trial, Way};

use crate::value::Value;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use blosc_core::Codec;
use core::fmt::Write;
use std::time::{Duration, Instant};
use trial::front;

/// From the quickest to the one that takes longest.
const CODECS: [Codec; 5] = [Codec::Lz4, Codec::BloscLz, Codec::Zstd, Codec::Zlib, Codec::Lz4Hc];
/// Block sizes beside the automatic one.
const BLOCKSIZES: [u32; 4] = [16 << 10, 64 << 10, 256 << 10, 512 << 10];

/// How often what is on the front is tried again, if the time allows it.
const REPETITIONS: usize = 5;

/// What advice is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Time for all trials, about.
    pub time: Duration,
    /// GB a second of the disk, network or memory that the chunks go to and come from.
    pub disk: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { time: Duration::from_secs(5), disk: 1.0 }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Advice {
    /// Ways that were tried.
    pub tried: usize,
    /// Ways that the time did not suffice for.
    pub skipped: usize,
    /// What no other way beats both in ratio and in speed, fastest first.
    pub front: Vec<Trial>,
    /// Which of them takes the least time through the disk; `None` only where nothing could be compressed.
    pub best: Option<usize>,
    /// Speed of that disk.
    pub disk: f64,
}

/// Tries what there is.
pub fn advise(sample: &Sample, options: &Options) -> Advice {
    let started = Instant::now();
    let within = |share: f64| started.elapsed() < options.time.mul_f64(share);
    let (mut trials, mut skipped) = (Vec::new(), 0);
    let mut attempt = |ways: Vec<Way>, share: f64, trials: &mut Vec<Trial>| {
        for way in ways {
            match within(share) || trials.is_empty() {
                true => trials.extend(Trial::run(sample, way)),
                false => skipped += 1,
            }
        }
    };
    attempt(first_ways(sample), 0.6, &mut trials);
    let more = front(&trials).iter().flat_map(|t| further_ways(sample, t.way)).collect();
    attempt(more, 0.85, &mut trials);
    let mut front = front(&trials);
    for _ in 0..REPETITIONS {
        front.iter_mut().filter(|_| within(1.0)).for_each(|trial| trial.again(sample));
    }
    // Better times may have put one behind another.
    let front = trial::front(&front);
    let times = front.iter().map(|t| t.through(options.disk)).enumerate();
    let best = times.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index);
    Advice { tried: trials.len(), skipped, front, best, disk: options.disk }
}

fn first_ways(sample: &Sample) -> Vec<Way> {
    let mut ways = Vec::new();
    for level in [1, 5, 9] {
        for codec in CODECS {
            let filters = Filters::ALL.into_iter().filter(|filters| filters.is_tried(sample.typesize));
            ways.extend(filters.map(|filters| Way { codec, filters, level, blocksize: None }));
        }
    }
    ways
}

fn further_ways(sample: &Sample, way: Way) -> Vec<Way> {
    let mut ways: Vec<Way> = [3, 7].map(|level| Way { level, ..way }).into();
    // The blocks of an array are boxes, whose sides its shape decides.
    if sample.command == Verb::CompressBytes {
        let smallest = sample.pieces.iter().map(Vec::len).min().unwrap_or(0);
        let fits = |size: &u32| size.is_multiple_of(sample.typesize) && (*size as usize) < smallest;
        let sizes = BLOCKSIZES.into_iter().filter(fits);
        ways.extend(sizes.map(|size| Way { blocksize: Some(size), ..way }));
    }
    ways
}

/// The command that compresses the file this way.
pub fn command(sample: &Sample, way: &Way) -> String {
    let verb = if sample.command == Verb::Convert { "convert" } else { "compress" };
    let path = quoted(&sample.path);
    let ending = if sample.is_array { ".b2nd" } else { ".b2frame" };
    let to = quoted(&format!("{}{ending}", sample.path.trim_end_matches('/')));
    let mut line = format!("blosc {verb} {path} -o {to}");
    let filters = way.filters.option(sample.typesize);
    let _ = write!(line, " --codec {} --level {} --filters {filters}", way.codec, way.level);
    if sample.command == Verb::CompressBytes {
        let _ = write!(line, " --typesize {}", sample.typesize);
    }
    if let Some(size) = way.blocksize {
        let _ = write!(line, " --blocksize {size}");
    }
    line
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,~".contains(c);
    // A name that begins with a dash would be an option.
    let word = if word.starts_with('-') { format!("./{word}") } else { word.to_string() };
    if word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// A number of four decimals or more.
fn decimal(x: f64) -> Value {
    Value::Number(format!("{x:.*}", if x >= 0.1 { 4 } else { 7 }))
}

fn speed(gbps: f64) -> String {
    if gbps >= 0.1 { format!("{gbps:.2} GB/s") } else { format!("{:.1} MB/s", 1000.0 * gbps) }
}

impl Advice {
    /// The command that compresses the file in the way that is recommended.
    pub fn command(&self, sample: &Sample) -> Option<String> {
        let best = self.front.get(self.best?)?;
        Some(command(sample, &best.way))
    }

    /// The advice as text for a terminal.
    pub fn text(&self, sample: &Sample) -> String {
        let mut out = format!(
            "Sampled {} of {} bytes, items of {} bytes.\n{} ways tried{}; one thread. What no other way beats:\n\n  ",
            sample.len(),
            sample.total,
            sample.typesize,
            self.tried,
            if self.skipped > 0 { format!(", {} left out for time", self.skipped) } else { String::new() }
        );
        let _ = writeln!(
            out,
            "{:<7} {:<19} {:>5} {:>5} {:>7} {:>11} {:>11}",
            "codec", "filters", "level", "block", "ratio", "compress", "decompress"
        );
        for (index, trial) in self.front.iter().enumerate() {
            let Way { codec, filters, level, blocksize } = trial.way;
            let block = blocksize.map_or("auto".into(), |size| format!("{}K", size >> 10));
            let _ = writeln!(
                out,
                "{} {:<7} {:<19} {level:>5} {block:>5} {:>7.2} {:>11} {:>11}",
                if self.best == Some(index) { '>' } else { ' ' },
                codec.name(),
                filters.option(sample.typesize),
                trial.ratio,
                speed(trial.compress),
                speed(trial.decompress)
            );
        }
        if let Some(command) = self.command(sample) {
            let disk = self.disk;
            let _ = writeln!(
                out,
                "\nRecommended (>): the least time to compress, write to a disk of {disk} GB/s,\nread and decompress.\n\n{command}"
            );
        }
        out
    }

    /// As JSON.
    pub fn json(&self, sample: &Sample) -> String {
        let one = |trial: &Trial| {
            let Way { codec, filters, level, blocksize } = trial.way;
            Value::object([
                ("codec", Value::text(codec.name())),
                ("filters", Value::text(filters.option(sample.typesize))),
                ("level", Value::int(level)),
                ("blocksize", blocksize.map_or(Value::Null, Value::int)),
                ("ratio", decimal(trial.ratio)),
                ("compress_gbps", decimal(trial.compress)),
                ("decompress_gbps", decimal(trial.decompress)),
                ("command", Value::text(command(sample, &trial.way))),
            ])
        };
        let number = |n: usize| Value::int(i128::try_from(n).unwrap_or(0));
        Value::object([
            ("file", Value::text(sample.path.as_str())),
            ("bytes", Value::int(sample.total)),
            ("sampled", number(sample.len())),
            ("typesize", Value::int(sample.typesize)),
            ("tried", number(self.tried)),
            ("skipped", number(self.skipped)),
            ("disk_gbps", decimal(self.disk)),
            ("front", Value::List(self.front.iter().map(one).collect())),
            ("recommended", self.command(sample).map_or(Value::Null, Value::text)),
        ])
        .to_json()
    }
}
