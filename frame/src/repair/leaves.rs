//! The root of a store whose frames are embedded in it: what a repair kept of it is their bytes, which must be frames again.
//!
//! ```text
//! every frame is whole     the root stays as it is
//! some are not             each is repaired by itself; the root gets what is left of them, under their keys
//! no map, or no frame      nothing says where a frame is: the root becomes a plain frame of the bytes that are left
//! ```

use super::report::{Options, Repaired, is_of_the_caller};
use crate::b2nd::NdArray;
use crate::error::Error;
use crate::limits::resize;
use crate::schunk::SuperChunk;
use crate::store::{ROOTS, Said, is_root, said, set_map};
use crate::value::Value;
use crate::verify::Verdict;
use alloc::string::String;
use alloc::vec::Vec;

/// How a frame in memory is repaired.
type Again<'a> = &'a dyn Fn(&[u8]) -> Result<(Repaired, SuperChunk<'static>), Error>;

/// Mends the frames in a root that was repaired, and commits it; nothing of a frame that is no root.
pub(super) fn mend(
    root: &mut SuperChunk<'_>,
    report: &mut Repaired,
    options: &Options,
    again: Again<'_>,
) -> Result<(), Error> {
    if !is_root(root) {
        return Ok(());
    }
    let map = said(root).unwrap_or_default();
    if root.nbytes() > 0 && !map.iter().any(|(_, said)| matches!(said, Said::Here(..))) {
        return dissolve(root, report);
    }
    let (mut kept, mut changed) = (Vec::new(), false);
    // Frames lie one behind the other: a map whose frames overlap is damaged.
    let mut left = root.nbytes();
    for (key, said) in map {
        let (offset, length) = match said {
            Said::Here(offset, length) => (offset, length),
            // A reference names what it refers to; one that does not is no reference, but a place that is damaged.
            Said::Elsewhere(target) if !target.is_empty() => continue,
            Said::Elsewhere(_) => (u64::MAX, u64::MAX),
        };
        let end = offset.checked_add(length).filter(|end| *end <= root.nbytes());
        let frame = match (end, left.checked_sub(length)) {
            (Some(end), Some(rest)) => {
                left = rest;
                let mut bytes = Vec::new();
                resize(&mut bytes, length)?;
                root.read_bytes(offset..end, &mut bytes)?;
                match is_sound(&bytes, options)? {
                    true => Some(bytes),
                    false => repaired(&bytes, &key, report, again)?,
                }
            }
            _ => None,
        };
        changed |= frame.as_ref().is_none_or(|frame| frame.len() as u64 != length);
        changed |= report.leaves_in_part.last() == Some(&key);
        match frame {
            Some(frame) => kept.push((key, frame)),
            None => report.leaves_lost.push(key),
        }
    }
    match (changed, kept.is_empty()) {
        (false, _) => Ok(()),
        (true, true) => dissolve(root, report),
        (true, false) => replace(root, kept),
    }
}

/// Whether a frame opens, decodes, and is an array where it says so.
fn is_sound(bytes: &[u8], options: &Options) -> Result<bool, Error> {
    let checked = SuperChunk::open_read(bytes, &options.limits).and_then(|mut frame| {
        let array = frame.metalayer("b2nd").is_none() || NdArray::check(&frame).is_ok();
        Ok(array && frame.verify(|_| ())?.verdict() != Verdict::Damaged)
    });
    match checked {
        Err(error) if is_of_the_caller(&error) => Err(error),
        checked => Ok(checked.unwrap_or(false)),
    }
}

/// What is left of a frame, if anything is.
fn repaired(
    bytes: &[u8],
    key: &str,
    report: &mut Repaired,
    again: Again<'_>,
) -> Result<Option<Vec<u8>>, Error> {
    match again(bytes) {
        Ok((_, mut frame)) => {
            report.leaves_in_part.push(key.into());
            frame.to_bytes().map(Some)
        }
        Err(error) if is_of_the_caller(&error) || error.leaves_open() => Err(error),
        Err(_) => Ok(None),
    }
}

/// Puts these frames in the place of all that is embedded.
fn replace(root: &mut SuperChunk<'_>, kept: Vec<(String, Vec<u8>)>) -> Result<(), Error> {
    while let Some(last) = root.nchunks().checked_sub(1) {
        root.delete(last)?;
    }
    let mut map = Vec::new();
    for (key, frame) in kept {
        let place = [("offset", Value::int(root.nbytes())), ("length", Value::int(frame.len() as u64))];
        map.push((key, Value::object(place)));
        root.append(&frame)?;
    }
    let end = root.nbytes();
    set_map(root, map, end)?;
    root.commit()?;
    root.compact().map(drop)
}

/// Makes the root a plain frame: without their map, the bytes of the frames are no store.
fn dissolve(root: &mut SuperChunk<'_>, report: &mut Repaired) -> Result<(), Error> {
    for name in ROOTS {
        if root.remove_metalayer(name) {
            report.dropped.push(name.into());
        }
    }
    root.commit()
}
