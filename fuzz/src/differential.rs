//! This library beside libblosc2, which runs in a process of its own (`blosc_peers::child`).
//!
//! ```text
//! any bytes, and chunks of ours with bytes changed     both decode -> to the same bytes
//! chunks by libblosc2, any parameters                  we read what went in
//! chunks by us, any parameters                         libblosc2 reads what went in
//! ```
//! A difference is a finding unless its cause is one of the defects of libblosc2 that the format document
//! lists (appendix B). One of the two refusing hostile bytes is none: each is strict in its own places.
//! A crash of libblosc2 is kept with its input in the folder `BLOSC_C_CRASHES`, and the run goes on.

use crate::chunks::{LIMITS, mutant};
use crate::resources::allow;
use arbitrary::{Result, Unstructured};
use blosc_core::{Chunk, Filter, Pool, Surroundings};
use blosc_peers::child::{Answer, Remote};
use blosc_peers::{CParams, Code};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use support::judge::{Read, judge};
use support::{Case, TYPESIZES};

#[path = "../../bench-harness/peers/tests/support/mod.rs"]
mod support;

thread_local! {
    static REMOTE: RefCell<Option<Remote>> = RefCell::new(start());
}

fn start() -> Option<Remote> {
    let remote = Remote::from_env();
    if remote.is_none() {
        eprintln!("skipped: BLOSC_ORACLE and BLOSC_LIBBLOSC2 do not name blosc-oracle and libblosc2.so");
    }
    remote
}

/// Asks libblosc2; `None` where there is none, or where it crashed.
fn ask(input: &[u8], call: impl FnOnce(&mut Remote) -> std::io::Result<Answer>) -> Option<Answer> {
    REMOTE.with_borrow_mut(|remote| {
        let answer = call(remote.as_mut()?).expect("blosc-oracle can be started");
        if let Answer::Crashed(how) = &answer {
            record(input, how);
            return None;
        }
        Some(answer)
    })
}

fn record(input: &[u8], how: &str) {
    let Some(folder) = std::env::var_os("BLOSC_C_CRASHES") else { return };
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let name: String = how.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let path = std::path::Path::new(&folder).join(format!("{name}-{:016x}", hasher.finish()));
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(path, input));
    kept.expect("the folder for crashes of libblosc2 can be written");
}

/// Both libraries on the same chunk or data.
pub fn both(data: &[u8]) {
    allow(64 << 20); // encoder contexts
    if REMOTE.with_borrow(Option::is_none) {
        return;
    }
    let Some((kind, rest)) = data.split_first() else { return };
    let mut u = Unstructured::new(rest);
    let _ = match kind % 4 {
        0 => {
            hostile(rest);
            Ok(())
        }
        1 => mutant(&mut u).map(|chunk| hostile(&chunk)),
        2 => case(&mut u).map(|case| theirs(&case)),
        _ => case(&mut u).map(|case| ours(&case)),
    };
}

fn hostile(bytes: &[u8]) {
    let Ok(chunk) = Chunk::parse_with(bytes, &LIMITS) else { return };
    let around = Surroundings { typesize: u32::from(chunk.header().typesize), ..Surroundings::default() };
    let Ok(ours) = Pool::new(1).decompress_in(&chunk, around) else { return };
    let Some(Answer::Done(theirs, written)) = ask(bytes, |c| c.decode(bytes, ours.len() as u32)) else {
        return;
    };
    if written && theirs != ours && excuse(&chunk, bytes, &ours, &theirs).is_none() {
        let at = ours.iter().zip(&theirs).position(|(a, b)| a != b);
        panic!(
            "{} bytes here, {} there, first difference at {at:?}: {:?}",
            ours.len(),
            theirs.len(),
            chunk.header()
        );
    }
}

/// The documented defect that explains a difference, if one does.
fn excuse(chunk: &Chunk<'_>, bytes: &[u8], ours: &[u8], theirs: &[u8]) -> Option<&'static str> {
    let h = chunk.header();
    let (size, typesize) = (h.blocksize as usize, usize::from(h.typesize).max(1));
    let active: Vec<Filter> =
        h.filters.iter().map(|slot| slot.filter).filter(|f| *f != Filter::None).collect();
    let stored = u32::from_le_bytes(*bytes.get(8..12)?.first_chunk()?) as usize;
    if stored > typesize && !stored.is_multiple_of(typesize) {
        return Some("B1");
    }
    if h.version <= 2 {
        return Some("B2 or B3"); // old unsplit chunks, tails of old bitshuffle
    }
    if active.contains(&Filter::Delta) {
        let deltas = active.iter().filter(|f| **f == Filter::Delta).count();
        let tails = ours.len() == theirs.len()
            && ours.chunks(size.max(1)).zip(theirs.chunks(size.max(1))).all(|(a, b)| {
                let whole = a.len() - a.len() % 8;
                a[..whole] == b[..whole]
            });
        return match () {
            () if h.is_vl() => Some("B6"),
            () if tails => Some("B9"),
            () if deltas > 1 || active.len() > 3 => Some("DELTA inside a pipeline"),
            () => None,
        };
    }
    None
}

/// Parameters that either library takes, and data with structure.
fn case(u: &mut Unstructured<'_>) -> Result<Case> {
    let typesize = *u.choose(&TYPESIZES)?;
    let (mut filters, mut filters_meta) = ([0; 6], [0; 6]);
    for slot in 0..6 {
        filters[slot] = *u.choose(&[0, 0, 0, 1, 2, 3, 35])?;
        filters_meta[slot] = if filters[slot] == 35 { *u.choose(&[1, 4, 9])? } else { 0 };
    }
    let (codec, clevel) = (*u.choose(&[0, 1, 2, 4, 5])?, u.int_in_range(0..=9)?);
    let blocksize = if u.arbitrary()? { 0 } else { u.int_in_range(1..=5000usize)? };
    let params = CParams {
        codec,
        codec_meta: 0,
        clevel,
        use_dict: [1, 2, 5].contains(&codec) && clevel > 0 && u.ratio(1, 6)?,
        typesize: typesize as i32,
        nthreads: 1,
        blocksize: blocksize as i32,
        splitmode: u.int_in_range(1..=4)?,
        filters,
        filters_meta,
    };
    let turns = u.int_in_range(1..=40usize)?;
    let piece = u.bytes(u.len())?;
    let data = piece.iter().copied().cycle().take(piece.len() * turns).collect();
    Ok(Case { params, typesize, blocksize, data })
}

/// What libblosc2 writes is read here as what went in.
fn theirs(case: &Case) {
    let Some(Answer::Done(chunk, _)) = ask(&case.data, |c| c.encode(&case.params, &case.data)) else {
        return;
    };
    let room = case.data.len() as u32;
    let read = match ask(&chunk, |c| c.decode(&chunk, room)) {
        Some(Answer::Done(bytes, _)) => Ok(bytes),
        Some(Answer::Refused(code)) => Err(code),
        _ => Err(Code::REFUSED),
    };
    let ours = Chunk::parse(&chunk).and_then(|chunk| Pool::new(1).decompress(&chunk));
    if let Read::Wrong(why) = judge(case, &chunk, ours, read) {
        panic!("{why}\n{:?}, {} bytes", case.params, case.data.len());
    }
}

/// What is written here libblosc2 reads as what went in.
fn ours(case: &Case) {
    let params = case.ours().fit(case.data.len());
    let Ok(chunk) = Pool::new(1).compress(&params, &case.data) else { return };
    match ask(&chunk, |c| c.decode(&chunk, case.data.len() as u32)) {
        None => {}
        Some(Answer::Done(bytes, true)) if bytes == case.data => {}
        Some(_) if case.delta_is_misread() => {}
        Some(other) => panic!("libblosc2: {other:?}\n{:?}, {} bytes", case.params, case.data.len()),
    }
}
