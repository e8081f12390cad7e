//! Contexts and bare chunks.

use super::api::*;
use super::data::{cparams, damage, is_exact, pattern};
use super::room::{guarded, steady, written};
use crate::abi::DParams;
use crate::memory::release;
use arbitrary::{Result, Unstructured};
use core::ptr;

/// The header's size of the chunk in `bytes`, if it has one that `bytes` holds.
pub fn told(bytes: &[u8]) -> Option<i32> {
    let cbytes = i32::from_le_bytes(*bytes.get(12..)?.first_chunk()?);
    let fits = usize::try_from(cbytes).is_ok_and(|n| (16..=bytes.len()).contains(&n));
    fits.then_some(cbytes)
}

/// Compresses and decodes by contexts, with room that is too small now and then.
pub fn contexts(u: &mut Unstructured<'_>, made: &mut Vec<Vec<u8>>) -> Result<()> {
    let cparams = cparams(u)?;
    let len = usize::from(u.arbitrary::<u16>()? % 5000);
    let data = pattern(u, len)?;
    let room = if u.ratio(1, 5)? { u.choose_index(len + 33)? } else { len + 32 };
    // SAFETY: every length is that of its buffer, and the contexts are freed once.
    unsafe {
        let cctx = blosc2_create_cctx(cparams);
        if cctx.is_null() {
            return Ok(());
        }
        let src = data.as_ptr().cast();
        let (n, chunk) = written(room, |dest, room| blosc2_compress_ctx(cctx, src, len as i32, dest, room));
        blosc2_free_ctx(cctx);
        if n <= 0 {
            return Ok(());
        }
        let dctx =
            blosc2_create_dctx(DParams { nthreads: 1 + u.arbitrary::<i16>()? % 2, ..DParams::DEFAULT });
        let mask = [u.arbitrary::<bool>()?, u.arbitrary()?, false].map(u8::from);
        let is_masked = u.ratio(1, 4)? && blosc2_set_maskout(dctx, mask.as_ptr(), 3) == 0;
        let src = chunk.as_ptr().cast();
        let (got, back) = written(len, |dest, room| blosc2_decompress_ctx(dctx, src, n, dest, room));
        if is_exact(&cparams) && !is_masked {
            assert!(got == len as i32 && back == data, "{got} bytes of {len} come back");
        }
        blosc2_free_ctx(dctx);
        made.insert(0, chunk);
    }
    Ok(())
}

/// A chunk of blocks of variable length, there and back.
pub fn of_blocks(u: &mut Unstructured<'_>, made: &mut Vec<Vec<u8>>) -> Result<()> {
    let cparams = cparams(u)?;
    let mut blocks = Vec::new();
    for _ in 0..u.int_in_range(1..=5)? {
        let len = usize::from(u.arbitrary::<u8>()?);
        blocks.push(pattern(u, len)?);
    }
    let sources: Vec<_> = blocks.iter().map(|block| block.as_ptr().cast()).collect();
    let sizes: Vec<i32> = blocks.iter().map(|block| block.len() as i32).collect();
    let count = blocks.len() as i32;
    let room = if u.ratio(1, 5)? { u.choose_index(2000)? } else { 4000 };
    // SAFETY: every length is that of its buffer; contexts and blocks are freed once.
    unsafe {
        let cctx = blosc2_create_cctx(cparams);
        if cctx.is_null() {
            return Ok(());
        }
        let (n, chunk) = written(room, |dest, room| {
            blosc2_vlcompress_ctx(cctx, sources.as_ptr(), sizes.as_ptr(), count, dest, room)
        });
        blosc2_free_ctx(cctx);
        if n > 0 {
            let read = split(&chunk);
            let known = is_exact(&cparams).then_some(blocks);
            assert!(known.is_none() || read == known, "blocks of a chunk just made");
            made.insert(0, chunk);
        }
    }
    Ok(())
}

/// The blocks of a chunk of variable blocks, by each of the two functions.
fn split(chunk: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (src, n) = (chunk.as_ptr().cast(), chunk.len() as i32);
    let (mut places, mut lens, mut list) = ([ptr::null_mut(); 8], [0i32; 8], Vec::new());
    // SAFETY: every length is that of its buffer; context and blocks are freed once.
    unsafe {
        let dctx = blosc2_create_dctx(DParams::DEFAULT);
        let mut told = 0;
        let counted = blosc2_vlchunk_get_nblocks(src, n, &raw mut told);
        let count = blosc2_vldecompress_ctx(dctx, src, n, places.as_mut_ptr(), lens.as_mut_ptr(), 8);
        assert!(count < 0 || (counted == 0 && told == count), "{count} blocks of {told}");
        for k in 0..usize::try_from(count).unwrap_or(0) {
            let block = std::slice::from_raw_parts(places[k].cast::<u8>(), lens[k] as usize).to_vec();
            release(places[k]);
            let (mut one, mut len) = (ptr::null_mut(), 0);
            let got = blosc2_vldecompress_block_ctx(dctx, src, n, k as i32, &raw mut one, &raw mut len);
            assert_eq!(got, lens[k]);
            assert!(std::slice::from_raw_parts(one, len as usize) == block, "block {k} alone");
            release(one);
            list.push(block);
        }
        blosc2_free_ctx(dctx);
        (count > 0).then_some(list)
    }
}

/// Special chunks of any size.
pub fn special(u: &mut Unstructured<'_>, made: &mut Vec<Vec<u8>>) -> Result<()> {
    let cparams = cparams(u)?;
    let nbytes = *u.choose(&[0, 1, 600, 2400, -1, i32::MAX])?;
    let room = *u.choose(&[340, 64, 32, 31, 0])?;
    let value = [3u8; 512];
    let which = u.int_in_range(0..=3)?;
    // A value must be there in full; parameters that no value fits are left to the others.
    let fits = (1..=512).contains(&cparams.typesize);
    // SAFETY: room for what is told, and a value of the typesize.
    let (_, chunk) = written(room, |dest, len| unsafe {
        match which {
            0 => blosc2_chunk_zeros(cparams, nbytes, dest, len),
            1 => blosc2_chunk_nans(cparams, nbytes, dest, len),
            2 if fits => blosc2_chunk_repeatval(cparams, nbytes, dest, len, value.as_ptr().cast()),
            _ => blosc2_chunk_uninit(cparams, nbytes, dest, len),
        }
    });
    if !chunk.is_empty() {
        made.insert(0, chunk);
    }
    Ok(())
}

/// Bytes that need not be a chunk, given to all that takes one.
pub fn hostile(u: &mut Unstructured<'_>, made: &[Vec<u8>]) -> Result<()> {
    if made.is_empty() {
        return Ok(());
    }
    let mut bytes = u.choose(made)?.clone();
    if u.ratio(3, 4)? {
        damage(u, &mut bytes)?;
    }
    // A heap buffer of its own: AddressSanitizer sees each byte beyond it.
    let bytes = bytes.into_boxed_slice();
    let (src, n) = (bytes.as_ptr().cast(), bytes.len() as i32);
    let (start, count) = (any_number(u)?, any_number(u)?);
    let room = usize::from(u.arbitrary::<u16>()? % 6000);
    // SAFETY: every length is that of its buffer; the context is freed once; functions without a length get what the
    // header tells.
    unsafe {
        let dctx = blosc2_create_dctx(DParams::DEFAULT);
        // In between the context decodes other chunks, with dictionaries of their own or damaged.
        let mut others = made.iter().cycle();
        let mut other = || {
            let Some(other) = others.next() else { return };
            let (src, n) = (other.as_ptr().cast(), other.len() as i32);
            written(6000, |dest, room| blosc2_decompress_ctx(dctx, src, n, dest, room));
        };
        steady(room, |dest, room| (blosc2_decompress_ctx(dctx, src, n, dest, room), other()).0);
        steady(room, |dest, room| (blosc2_getitem_ctx(dctx, src, n, start, count, dest, room), other()).0);
        steady(room, |dest, room| {
            (blosc2_getitem_bytes_ctx(dctx, src, n, start, count, dest, room), other()).0
        });
        steady(room, |dest, room| blosc2_decompress(src, n, dest, room));
        steady(room, |dest, room| blosc2_getitem(src, n, start, count, dest, room));
        blosc2_free_ctx(dctx);
        // Blocks may announce as much as a chunk may have.
        split_small(&bytes);
        if told(&bytes).is_some() {
            guarded(room, |dest| blosc1_decompress(src, dest, room));
            let typesize = i64::from(bytes[3]);
            let len = i64::from(count).checked_mul(typesize).filter(|len| (0..6000).contains(len));
            if let Some(len) = len {
                guarded(len as usize, |dest| blosc1_getitem(src, start, count, dest));
            }
        }
        if bytes.len() >= 16 {
            let mut sizes = [0i32; 3];
            let [a, b, c] = &mut sizes;
            blosc2_cbuffer_sizes(src, a, b, c);
            let mut nbytes = 0;
            blosc1_cbuffer_validate(src, bytes.len(), &raw mut nbytes);
            blosc2_cbuffer_complib(src);
        }
    }
    Ok(())
}

/// As `split`, of chunks that do not announce more than a few kilobytes.
fn split_small(bytes: &[u8]) {
    let nbytes = bytes.get(4..).and_then(|rest| rest.first_chunk()).map_or(0, |n| i32::from_le_bytes(*n));
    if (0..100_000).contains(&nbytes) {
        split(bytes);
    }
}

/// A number that is small, or one of those that overflow.
pub fn any_number(u: &mut Unstructured<'_>) -> Result<i32> {
    if u.ratio(1, 6)? {
        return Ok(*u.choose(&[i32::MAX, i32::MIN, -1, 1 << 24, 1 << 30])?);
    }
    Ok(i32::from(u.arbitrary::<u16>()? % 700))
}
