//! Suite `containers`: each kind of container is written and read in chunks of several sizes, against an array in chunks as
//! large. The data is the same, and so is what the codec does with it: what differs is the work for each chunk, be it a call
//! of the system or a file of its own.

use super::operation::{CODECS, Folder, Op, Side, arrays_of, counts, job, number, text};
use crate::data::Data;
use crate::engine::Spec;
use crate::measure::candidate::{Before, Check, Work};
use crate::measure::check::expect;
use crate::suite::choice::{Choice, Job};
use blosc_core::{Codec, Pool};
use blosc_frame::any::{AnyRows, Opened, of_raw, open};
use blosc_frame::b2nd::{Dtype, Selection};
use blosc_frame::blaze::MetaSyntax;
use blosc_frame::bloscpack::Options;
use blosc_frame::convert::{Cut, Packing, Target, convert};
use blosc_frame::plain::Plain;
use blosc_frame::store::{Form, Store};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Decoded bytes of a chunk.
const CHUNKS: [usize; 5] = [200, 4 << 10, 64 << 10, 1 << 20, 4 << 20];
/// Chunks of a container at most, as bcolz has a file for each, and bytes of all.
const MOST: (usize, usize) = (20_000, 64 << 20);

/// A kind of container: its name, what `convert` is told, and the form of the store in which that lies.
#[derive(Clone, Copy)]
struct Kind(&'static str, fn(Packing) -> Target, Option<Form>);

const ARRAY: Kind = Kind("array", array, None);
const KINDS: [Kind; 7] = [
    Kind("frame", Target::Cframe, None),
    Kind("sparse frame", Target::Sframe, None),
    Kind("bloscpack", bloscpack, None),
    Kind("bcolz", Target::Bcolz, None),
    Kind("Blaze", |packing| Target::Blaze(packing, None, MetaSyntax::Json), None),
    Kind("b2d", array, Some(Form::B2d)),
    Kind("b2z", array, Some(Form::B2z)),
];

fn array(packing: Packing) -> Target {
    let items = packing.chunk.unwrap_or(0) / u64::from(packing.params.typesize.max(1));
    Target::B2nd(packing, Cut::default().shapes(Some(vec![items as u32]), None))
}

fn bloscpack(Packing { params, chunk, .. }: Packing) -> Target {
    let chunk_size = chunk.unwrap_or(0) as u32;
    Target::Bloscpack(Options { chunk_size, params: params.blosc1(true), ..Options::default() })
}

/// Jobs of `containers`.
pub fn containers(choice: &Choice) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    // Another codec only where it is asked for: it would hide what a chunk costs.
    let codecs = || CODECS.into_iter().filter(|c| choice.codecs.contains(c));
    let codec = codecs().find(|c| *c == Codec::Lz4).or_else(|| codecs().next());
    for (data, most) in arrays_of(choice, &["smooth_f4"], MOST.1) {
        let cells = CHUNKS.iter().flat_map(|chunk| choice.threads.iter().map(move |n| (*chunk, *n)));
        for (codec, (chunk, threads)) in codec.iter().flat_map(|codec| cells.clone().map(|c| (*codec, c))) {
            // Whole chunks of whole items.
            let chunk = chunk - chunk % data.typesize;
            let bytes = most.min(chunk.saturating_mul(MOST.0)) / chunk * chunk;
            if bytes == 0 {
                continue;
            }
            let spec = Spec::new(codec, 5, data.typesize, threads);
            for kind in KINDS {
                jobs.push(job(
                    "containers",
                    spec,
                    (data.clone(), bytes),
                    choice,
                    move |folder, spec, data, _| cell(folder, spec, data, kind, chunk),
                ));
            }
        }
    }
    jobs
}

impl Kind {
    /// The array is what the others stand against.
    fn engine(self) -> Option<String> {
        (self.0 == ARRAY.0).then(|| "ours, an array".into())
    }

    fn write(self, input: &AnyRows, packing: Packing, threads: usize, path: &Path) -> Result<(), String> {
        let make = |path: &Path| {
            let (mut decoder, mut encoder) = (Pool::new(1), Pool::new(threads));
            convert(input, &mut decoder, &mut encoder, &self.1(packing), path).map(drop).map_err(text)
        };
        let Some(form) = self.2 else { return make(path) };
        let folder = if form == Form::B2d { path.to_path_buf() } else { path.with_extension("b2d") };
        Store::create(&folder, Form::B2d).map_err(text)?;
        make(&folder.join("leaf.b2nd"))?;
        if folder != path {
            Store::open(&folder).and_then(|store| store.save(path, form)).map_err(text)?;
            fs::remove_dir_all(folder).map_err(text)?;
        }
        Ok(())
    }

    fn read(self, path: &Path, pool: &mut Pool, out: &mut [u8]) -> Result<usize, String> {
        let opened = match open(path).map_err(text)? {
            Opened::Store(store) => {
                let leaf = store.get("/leaf").ok_or("the store has no leaf")?;
                Opened::of_frame(store.frame(leaf).map_err(text)?).map_err(text)?
            }
            other => other,
        };
        match opened {
            Opened::Array(mut array) => {
                array.set_threads(pool.threads());
                array.get_into(&Selection::all(array.shape()), out)
            }
            Opened::Frame(mut frame) => {
                frame.set_threads(pool.threads());
                frame.read_bytes(0..out.len() as u64, out).map(drop)
            }
            other => other.into_rows().and_then(|rows| rows.data.read_plain(pool, 0, out)),
        }
        .map_err(text)?;
        Ok(out.len())
    }
}

/// Removes what was made last time.
fn clear(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

fn cell<'a>(
    folder: &Folder,
    spec: &Spec,
    data: &'a Data,
    kind: Kind,
    chunk: usize,
) -> Result<Vec<Op<'a>>, String> {
    let (len, threads) = (data.bytes.len(), spec.threads);
    let packing = Packing::new(spec.params()).chunk(Some(chunk as u64));
    let dtype = Dtype::parse(&format!("<{}", data.dtype)).map_err(text)?;
    let source: Arc<[u8]> = data.bytes.as_ref().into();
    let input = Rc::new(of_raw(source, Some(dtype), None, 1).map_err(text)?);
    // Each is written beside those before it, which go outside the clock.
    let writing = [kind, ARRAY].map(|kind| {
        let made = Rc::new(RefCell::new(Vec::<PathBuf>::new()));
        let (input, base, all, last) =
            (Rc::clone(&input), folder.file(kind.0), Rc::clone(&made), Rc::clone(&made));
        let work: Work<'a> = Box::new(move |_, dst| {
            let path = base.with_extension(all.borrow().len().to_string());
            all.borrow_mut().push(path.clone());
            kind.write(&input, packing, threads, &path)?;
            number(len as u64, dst)
        });
        let check: Check<'a> = Box::new(move |got| {
            counts(len)(got)?;
            let (made, mut back) = (last.borrow(), vec![0; len]);
            kind.read(made.last().ok_or("nothing was written")?, &mut Pool::new(1), &mut back)?;
            expect(&data.bytes)(&back)
        });
        let before: Before<'a> = Box::new(move || made.borrow_mut().drain(..).for_each(|path| clear(&path)));
        Side { engine: kind.engine(), work, check, before: Some(before) }
    });
    let mut reading = Vec::new();
    for kind in [kind, ARRAY] {
        let (path, mut pool) = (folder.file(kind.0), Pool::new(threads));
        kind.write(&input, packing, threads, &path)?;
        let work: Work<'a> = Box::new(move |_, dst| kind.read(&path, &mut pool, dst));
        reading.push(Side { engine: kind.engine(), work, check: expect(&data.bytes), before: None });
    }
    let op = |verb: &str, room, sides| {
        let name = format!("{verb} {}, chunks of {chunk}", kind.0);
        Op { name, bytes: len, room, sides, ..Op::default() }
    };
    Ok(vec![op("write", 64, writing.into()), op("read", len, reading)])
}
