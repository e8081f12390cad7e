//! Repairing a contiguous or sparse frame: whatever chunks can still be found go into a new frame.
//!
//! ```text
//! 1  the frame opens             its index is used; chunks that do not decode are replaced
//! 2  it does not open            the payload is searched for chunks, and for an index among them:
//!                                a chunk of 8-byte items that all point at chunks found, with a trailer
//! 3  an index was found          the newest one gives the order (an older state of the frame, perhaps)
//! 4  none was found              the chunks come in the order they are stored in
//! 5  an array                    gets the chunks that its shape demands: those that are missing are filled in. Where
//!                                the chunks do not fit its shape at all, a plain frame comes of it
//! 6  the root of a store         the frames embedded in it are repaired by themselves
//! ```
//! A lost chunk of known size becomes zeros, or what is asked for, so that what follows keeps its place; one whose size
//! nothing tells is counted as missing. A chunk that cannot be decoded here (its codec is not built in, say) is no damaged
//! one: it is copied as it is if its bytes are whole, else it ends the repair.
//!
//! The frame itself is never written to. What cannot be written to the new frame, or lies beyond the limits, ends the
//! repair with an error: a chunk counts as lost only when it is the chunk that is damaged.

#[cfg(feature = "store")]
mod leaves;
mod made;
mod report;
mod rescue;
mod search;
mod sparse;

use crate::error::Error;
use crate::io::ReadAt;
use crate::schunk::SuperChunk;
use blosc_core::Params;
pub use report::{Options, Order, Repaired, Substitute};
pub use sparse::repair_dir;

/// Saves what can be saved of a contiguous frame in `source`. `make` is given parameters and gives the
/// new, empty frame, which is committed at the end, and has the limits from then on.
///
/// # Errors
/// Errors of reading what tells where the chunks are and of writing the new frame; [`Error::Limit`] where more would
/// have to be decoded than the limits allow; the reason why a chunk cannot be decoded here, where its bytes are not known
/// to be whole; [`Error::NothingKept`] where there are chunks and all of them are lost. What `make` gave is not committed
/// then.
pub fn repair<'a>(
    source: &(impl ReadAt + Sync),
    options: impl Into<Options>,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    let options = options.into();
    #[cfg(feature = "store")]
    {
        let (mut report, mut made) = one(source, options.clone(), make)?;
        leaves::mend(&mut made, &mut report, &options, &|bytes| {
            one(&bytes, options.clone(), SuperChunk::memory)
        })?;
        Ok((report, made))
    }
    #[cfg(not(feature = "store"))]
    one(source, options, make)
}

/// Repairs one frame, be it the root of a store or not.
fn one<'a>(
    source: &(impl ReadAt + Sync),
    options: Options,
    make: impl FnOnce(&Params) -> Result<SuperChunk<'a>, Error>,
) -> Result<(Repaired, SuperChunk<'a>), Error> {
    match SuperChunk::open_read(source, &options.limits) {
        Ok(frame) if rescue::has_usable_index(&frame)? => rescue::rescue(frame, options, make),
        _ => search::search(source, options, make),
    }
}
