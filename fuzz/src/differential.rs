//! This library beside libblosc2, which runs in a process of its own (`blosc_peers::child`).
//!
//! ```text
//! any bytes, and chunks of ours with bytes changed     both decode to the same bytes, or both refuse
//! chunks by libblosc2, any parameters                  we read what went in
//! chunks by us, any parameters                         libblosc2 reads what went in
//! ```
//! A difference is a finding unless its cause is one of the defects of libblosc2 that `docs/formats/chunk.md`
//! lists, and so is a chunk that only one of the two takes, unless it has something that the document says only
//! one takes ([`excuses`](crate::excuses)).
//! A crash of libblosc2 is kept with its input in the folder `BLOSC_C_CRASHES`, and the run goes on. Hostile chunks
//! can also damage its memory without a crash, and a later answer shows it: only what a new process answers too is a
//! finding.

use crate::chunks::{LIMITS, decoded, mutant};
use crate::excuses::{Theirs, claimed, count, explain, refused_here, refused_there};
use crate::resources::allow;
use crate::support::judge::{Read, judge};
use crate::support::{Case, TYPESIZES};
use arbitrary::Unstructured;
use blosc_core::{Chunk, Error, Pool};
use blosc_peers::CParams;
use blosc_peers::child::{Answer, Remote};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};

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
    match kind % 4 {
        0 => confirmed(|| hostile(rest)),
        1 => mutant(&mut u).into_iter().for_each(|chunk| confirmed(|| hostile(&chunk))),
        2 => case(&mut u).into_iter().for_each(|case| confirmed(|| theirs(&case))),
        _ => case(&mut u).into_iter().for_each(|case| confirmed(|| ours(&case))),
    }
}

/// What is wrong, and with what.
pub type Finding = String;

/// Panics with a finding that a process of libblosc2 which has read nothing else shows too.
fn confirmed(check: impl Fn() -> Result<(), Finding>) {
    let Err(first) = check() else { return };
    REMOTE.with_borrow_mut(|remote| remote.as_mut().map(Remote::restart));
    match check() {
        Ok(()) => {
            eprintln!("not a finding, a new process answers otherwise: {first}");
            count("answered otherwise by a new process".into());
        }
        Err(finding) => panic!("{finding}"),
    }
}

fn hostile(bytes: &[u8]) -> Result<(), Finding> {
    let ours = decoded(bytes);
    let room = usize::min(claimed(bytes), LIMITS.output as usize) as u32;
    if matches!(ours, Err(Error::Limit { .. })) {
        return Ok(());
    }
    ask(bytes, |c| c.decode(bytes, room)).map_or(Ok(()), |answer| compare(bytes, &ours, answer))
}

/// Compares what was made of a chunk here with what libblosc2 made of it.
///
/// # Errors
/// They differ, or one of them refuses it, and no documented reason explains that.
pub fn compare(bytes: &[u8], ours: &Result<Vec<u8>, Error>, answer: Answer) -> Result<(), Finding> {
    let theirs = match answer {
        Answer::Done(bytes) => Ok(Theirs { zeros: bytes.clone(), ones: bytes }),
        Answer::Gaps { zeros, ones } => Ok(Theirs { zeros, ones }),
        Answer::Refused(code) => Err(code),
        Answer::Crashed(_) => return Ok(()),
    };
    let header = || bytes.get(..32).unwrap_or(bytes);
    match (ours, theirs) {
        (Err(_), Err(_)) => {}
        (Err(error), Ok(theirs)) => match refused_here(bytes, &theirs) {
            Some(reason) => count(format!("refused here, {reason:?}")),
            None => return Err(format!("refused here: {error}; libblosc2 takes it; {:02x?}", header())),
        },
        (Ok(_), Err(code)) => match refused_there(bytes) {
            Some(reason) => count(format!("refused there, {reason:?}")),
            None => return Err(format!("libblosc2 refuses what is taken here: {code:?}; {:02x?}", header())),
        },
        (Ok(ours), Ok(theirs)) => {
            let chunk = Chunk::parse_with(bytes, &LIMITS).expect("a chunk that was decoded");
            match explain(&chunk, ours, &theirs) {
                Ok(defects) => defects.into_iter().for_each(|defect| count(format!("excused, {defect:?}"))),
                Err(at) => {
                    let [our, zero, one] = [ours, &theirs.zeros, &theirs.ones].map(|all| all.get(at));
                    return Err(format!(
                        "{} bytes here, {} there; byte {at}: {our:?} here, {zero:?} and {one:?} there; {:02x?}",
                        ours.len(),
                        theirs.zeros.len(),
                        header()
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Parameters that either library takes, and data with structure.
fn case(u: &mut Unstructured<'_>) -> arbitrary::Result<Case> {
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
fn theirs(case: &Case) -> Result<(), Finding> {
    let Some(Answer::Done(chunk)) = ask(&case.data, |c| c.encode(&case.params, &case.data)) else {
        return Ok(());
    };
    let room = case.data.len() as u32;
    let read = match ask(&chunk, |c| c.decode(&chunk, room)) {
        Some(Answer::Done(bytes)) => Ok(bytes),
        // Right over zeros only is not right.
        Some(Answer::Gaps { zeros, ones }) => Ok(if zeros == case.data { ones } else { zeros }),
        Some(Answer::Refused(code)) => Err(code),
        Some(Answer::Crashed(_)) | None => return Ok(()),
    };
    let ours = Chunk::parse(&chunk).and_then(|chunk| Pool::new(1).decompress(&chunk));
    match judge(case, &chunk, ours, read) {
        Read::Right => {}
        Read::Defect(name) => count(format!("excused in what it wrote, {name}")),
        Read::Wrong(why) => return Err(format!("{why}\n{:?}, {} bytes", case.params, case.data.len())),
    }
    Ok(())
}

/// What is written here libblosc2 reads as what went in.
fn ours(case: &Case) -> Result<(), Finding> {
    let params = case.ours().fit(case.data.len());
    let Ok(chunk) = Pool::new(1).compress(&params, &case.data) else { return Ok(()) };
    ask(&chunk, |c| c.decode(&chunk, case.data.len() as u32))
        .map_or(Ok(()), |answer| compare_written(case, answer))
}

/// Compares what libblosc2 read of our chunk with what went in.
///
/// # Errors
/// They differ, and the defect of its pipelines with DELTA is not the reason.
pub fn compare_written(case: &Case, answer: Answer) -> Result<(), Finding> {
    match answer {
        Answer::Crashed(_) => {}
        Answer::Done(bytes) if bytes == case.data => {}
        _ if case.delta_is_misread() => count("excused in what it read of ours, Delta".into()),
        other => return Err(format!("libblosc2: {other:?}\n{:?}, {} bytes", case.params, case.data.len())),
    }
    Ok(())
}
