//! One function that decodes a chunk, to be linked alone: its text is what decoding costs in flash. With feature `push` it takes
//! the chunk in pieces instead, with `codec` it expands one LZ4 stream without any chunk. And, with feature
//! `parts`, one that calls whatever else reads a chunk, for the same look at the symbols. Built together they would
//! share code that is otherwise inlined, and the text of the first would not be that of decoding alone.
//!
//! The panic handler calls a function that does not exist. `../run` links with unresolved symbols ignored and then
//! looks for this one: if the name is in the symbol table, something in the decode path can panic.
#![no_std]

#[cfg(not(any(feature = "push", feature = "codec")))]
use blosc_core::{Chunk, Decoder, Level};
use core::panic::PanicInfo;
use core::slice;

unsafe extern "C" {
    fn blosc_panicked() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never linked into anything that runs.
    unsafe { blosc_panicked() }
}

/// Decodes the chunk of `n` bytes at `src` to `dst` of `m` bytes, with `w` bytes of scratch at `work`.
/// Returns the decoded length, -1 for a malformed header, -2 for a chunk that cannot be decoded.
///
/// # Safety
/// The three regions are valid for their lengths and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn decode(
    src: *const u8,
    n: usize,
    dst: *mut u8,
    m: usize,
    work: *mut u8,
    w: usize,
) -> isize {
    // SAFETY: as the caller promises.
    let (src, dst, work) = unsafe {
        (slice::from_raw_parts(src, n), slice::from_raw_parts_mut(dst, m), slice::from_raw_parts_mut(work, w))
    };
    run(src, dst, work)
}

#[cfg(not(any(feature = "push", feature = "codec")))]
fn run(src: &[u8], dst: &mut [u8], work: &mut [u8]) -> isize {
    let Ok(chunk) = Chunk::parse(src) else { return -1 };
    match Decoder::new(Level::SCALAR, work).decode(&chunk, dst) {
        Ok(len) => isize::try_from(len).unwrap_or(-2),
        Err(_) => -2,
    }
}

#[cfg(feature = "push")]
fn run(src: &[u8], dst: &mut [u8], work: &mut [u8]) -> isize {
    let mut decoder = blosc_core::PushDecoder::new(blosc_core::Level::SCALAR, work);
    let (mut rest, mut len) = (src, 0);
    loop {
        match decoder.push(&mut rest) {
            Ok(Some(block)) => {
                let place = dst.get_mut(block.offset..).unwrap_or_default();
                place.iter_mut().zip(block.bytes).for_each(|(to, from)| *to = *from);
                len += block.bytes.len();
            }
            Ok(None) => return isize::try_from(len).unwrap_or(-2),
            Err(_) => return -2,
        }
    }
}

#[cfg(feature = "codec")]
fn run(src: &[u8], dst: &mut [u8], _: &mut [u8]) -> isize {
    let len = dst.len();
    blosc_core::codec::lz4::decode(src, dst.into(), &[]).map_or(-2, |()| isize::try_from(len).unwrap_or(-2))
}

#[cfg(feature = "parts")]
mod parts {
    use blosc_core::chunk::Stream;
    use blosc_core::chunk::lazy::LazyChunk;
    use blosc_core::{Chunk, ChunkContext, Decoder, Error, Level, Limits, PushDecoder, PushState};
    use core::slice;

    /// Everything else that reads a chunk, by every door there is: items, bytes, single blocks, masks, the streams and the
    /// dictionary, a chunk that is only partly there. For the proof that nothing here can panic; never run.
    ///
    /// # Safety
    /// As [`decode`](super::decode).
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn read_parts(
        src: *const u8,
        n: usize,
        dst: *mut u8,
        m: usize,
        work: *mut u8,
        w: usize,
        from: usize,
        to: usize,
    ) -> isize {
        // SAFETY: as the caller promises.
        let (src, dst, work) = unsafe {
            (
                slice::from_raw_parts(src, n),
                slice::from_raw_parts_mut(dst, m),
                slice::from_raw_parts_mut(work, w),
            )
        };
        parts(src, dst, work, from, to).map_or(-1, |len| isize::try_from(len).unwrap_or(-2))
    }

    fn parts(src: &[u8], dst: &mut [u8], work: &mut [u8], from: usize, to: usize) -> Result<usize, Error> {
        let lazy = LazyChunk::parse(src, &Limits::DEFAULT)?;
        let mut sum = lazy.block_extent(from)?.len().wrapping_add(lazy.header().nblocks());
        let chunk = Chunk::parse_partial(src, &Limits::DEFAULT)?;
        sum = sum.wrapping_add(chunk.dictionary()?.len()).wrapping_add(chunk.block_range(from)?.len());
        let mut streams = chunk.streams(from)?;
        while let Some(stream) = streams.next_stream()? {
            sum = sum.wrapping_add(usize::from(matches!(stream, Stream::Stored(_))));
        }
        let around = ChunkContext { typesize: 4, ..ChunkContext::default() };
        let mut decoder = Decoder::new(Level::SCALAR, &mut *work).chunk_context(around);
        sum = sum.wrapping_add(decoder.get_items(&chunk, from..to, &mut *dst)?);
        sum = sum.wrapping_add(decoder.get_bytes(&chunk, from..to, &mut *dst)?);
        sum = sum.wrapping_add(decoder.decode_block(&chunk, from, &mut *dst)?);
        sum = sum.wrapping_add(decoder.decode_masked(&chunk, &[true, false], &mut *dst)?);
        sum = sum.wrapping_add(PushDecoder::memory_len(chunk.header()).wrapping_add(chunk.in_place_margin()?));
        let mut decoder = PushDecoder::new(Level::SCALAR, &mut *work).chunk_context(around);
        let state = src.first_chunk().and_then(PushState::from_bytes);
        let mut rest = src;
        while let Some(block) = decoder.push(&mut rest)? {
            sum = sum.wrapping_add(block.bytes.len());
        }
        if let Some(state) = state {
            decoder.resume(state)?;
            sum = sum.wrapping_add(usize::from(state.to_bytes()[0])).wrapping_add(decoder.needs());
        }
        sum = sum.wrapping_add(PushDecoder::new(Level::SCALAR, work).decode_in_place(dst, from)?);
        Ok(sum)
    }
}
