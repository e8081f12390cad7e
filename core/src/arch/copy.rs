//! Copies by whole words: what the output window and the pointer loops of the LZ decoders are made of.
//!
//! Some copy more bytes than they are asked for; their `# Safety` sections say for how many there must be room.

// A build with some of the codecs needs only part of this.
#![cfg_attr(
    not(all(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd", feature = "snappy")),
    allow(dead_code, unused_imports)
)]

/// A wide copy may write this many bytes past the end of what it appends.
pub(crate) const SLACK: usize = 32;

/// Longer copies are left to the library's: its start costs more, each byte less.
pub(in crate::arch) const LONG: usize = 256;

/// `p`, for sums that the compiler must not put together with others: one is ready before the other is needed.
#[cfg(any(feature = "blosclz", feature = "lz4"))]
#[inline(always)]
#[cfg_attr(any(not(target_arch = "x86_64"), miri), allow(unused_mut))]
#[allow(clippy::pointers_in_nomem_asm_block)]
pub(in crate::arch) fn early(mut p: *const u8) -> *const u8 {
    // SAFETY: no instruction at all, and nothing is read by the pointer.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) p, options(pure, nomem, nostack, preserves_flags));
    }
    p
}

/// Keeps the loop it stands in from being unrolled: most turn once or never, and the count of turns that an
/// unrolled one needs first costs more (for a step that varies, a division).
#[inline(always)]
pub(in crate::arch) fn rolled() {
    // SAFETY: no instruction at all.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        core::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

/// Copies `len` bytes in pieces of 32.
///
/// # Safety
/// `len + SLACK` bytes readable at `from` and writable at `to`, in different buffers.
#[inline(always)]
pub(in crate::arch) unsafe fn copy_more(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: each piece starts before `len`, or at 0.
    unsafe {
        copy32(from, to);
        let mut n = 32;
        while n < len {
            rolled();
            copy32(from.add(n), to.add(n));
            n += 32;
        }
    }
}

/// Copies `len` bytes by the library. Its `rep movs` is ten to twenty times slower on AMD's Zen 3 and 4 where the
/// destination lies just behind the source modulo the size of a page (glibc's bug 30994); short pieces do without it.
///
/// # Safety
/// `len` bytes readable at `from` and writable at `to`, which do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_library(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the pieces make up the whole.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if len > 2 * PIECE && (to.addr().wrapping_sub(from.addr()).wrapping_sub(1)) % PAGE < JUST_BEHIND {
            return copy_pieces(from, to, len);
        }
        core::ptr::copy_nonoverlapping(from, to, len);
    }
}

/// Bytes that libraries copy by vectors.
#[cfg(target_arch = "x86_64")]
const PIECE: usize = 1024;

/// The smallest page of memory.
#[cfg(target_arch = "x86_64")]
const PAGE: usize = 4096;

/// Nearer behind, `rep movs` is slow.
#[cfg(target_arch = "x86_64")]
const JUST_BEHIND: usize = 63;

/// # Safety
/// As for [`copy_library`].
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
unsafe fn copy_pieces(from: *const u8, to: *mut u8, len: usize) {
    let mut done = 0;
    while done < len {
        let piece = PIECE.min(len - done);
        // SAFETY: the rest of both.
        unsafe { core::ptr::copy_nonoverlapping(from.add(done), to.add(done), piece) };
        done += piece;
    }
}

/// Copies `len` bytes, many of them by the library.
///
/// # Safety
/// As for [`copy_more`].
#[inline(always)]
pub(in crate::arch) unsafe fn copy_long(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the conditions are those of `copy_more`, which both branches share.
    unsafe {
        if len <= LONG {
            copy_more(from, to, len);
        } else {
            copy_library(from, to, len);
        }
    }
}

/// 16 bytes, in a vector register where the target has them: two words in general registers would be stored one
/// by one, and read back from the stack in loops.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(in crate::arch) type Vector = core::arch::x86_64::__m128i;
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(in crate::arch) type Vector = [u64; 2];

/// The vector of two words in the order of memory.
#[inline(always)]
pub(in crate::arch) fn vector(first: u64, second: u64) -> Vector {
    let words = [first.to_le(), second.to_le()];
    // SAFETY: same size, and every bit pattern is a vector.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    let words = unsafe { core::mem::transmute::<[u64; 2], Vector>(words) };
    words
}

/// The two words of a vector, in the order of memory.
#[inline(always)]
pub(in crate::arch) fn words(v: Vector) -> [u64; 2] {
    // SAFETY: same size, and every bit pattern is two words.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    let v = unsafe { core::mem::transmute::<Vector, [u64; 2]>(v) };
    v
}

/// # Safety
/// 16 initialised bytes at `from`.
#[inline(always)]
pub(in crate::arch) unsafe fn load16(from: *const u8) -> Vector {
    // SAFETY: by the contract 16 initialised bytes lie at `from`; the read needs no alignment.
    unsafe { from.cast::<Vector>().read_unaligned() }
}

/// # Safety
/// Eight initialised bytes at `from`.
#[inline(always)]
pub(in crate::arch) unsafe fn load8(from: *const u8) -> u64 {
    // SAFETY: by the contract eight initialised bytes lie at `from`; the read needs no alignment.
    u64::from_le(unsafe { from.cast::<u64>().read_unaligned() })
}

/// # Safety
/// 16 writable bytes at `to`.
#[inline(always)]
pub(in crate::arch) unsafe fn store16(to: *mut u8, v: Vector) {
    // SAFETY: by the contract 16 bytes are writable at `to`; the write needs no alignment.
    unsafe { to.cast::<Vector>().write_unaligned(v) }
}

/// # Safety
/// Eight bytes readable at `from` and writable at `to`, at least eight bytes apart.
#[inline(always)]
pub(in crate::arch) unsafe fn copy8(from: *const u8, to: *mut u8) {
    // SAFETY: by the contract both ranges have eight bytes and lie eight bytes apart.
    unsafe { core::ptr::copy_nonoverlapping(from, to, 8) }
}

/// # Safety
/// 16 bytes readable at `from` and writable at `to`, at least 16 bytes apart.
#[inline(always)]
pub(in crate::arch) unsafe fn copy16(from: *const u8, to: *mut u8) {
    // SAFETY: by the contract both ranges have 16 bytes and lie 16 bytes apart.
    unsafe { core::ptr::copy_nonoverlapping(from, to, 16) }
}

/// Bytes that [`copy_on`] copies at a time.
#[cfg(any(feature = "blosclz", feature = "lz4"))]
pub(in crate::arch) const STRIDE: usize = 64;

/// Copies `len` bytes, [`STRIDE`] at a time: no branch depends on `len` up to [`STRIDE`].
///
/// # Safety
/// Whole strides may be read and written. Where `from` is in the buffer that is written, it is at least 32 bytes before
/// `to`, up to which that is initialised.
#[cfg(any(feature = "blosclz", feature = "lz4"))]
#[inline(always)]
pub(in crate::arch) unsafe fn copy_on(from: *const u8, to: *mut u8, len: usize) {
    let mut at = 0;
    loop {
        // SAFETY: each half ends at most where the one before has been written to.
        unsafe {
            copy32(from.add(at), to.add(at));
            copy32(from.add(at + 32), to.add(at + 32));
        }
        at += STRIDE;
        if at >= len {
            return;
        }
        rolled();
    }
}

/// # Safety
/// 32 bytes readable at `from` and writable at `to`, at least 32 bytes apart.
#[inline(always)]
pub(in crate::arch) unsafe fn copy32(from: *const u8, to: *mut u8) {
    // SAFETY: by the contract both ranges have 32 bytes and lie 32 bytes apart.
    unsafe { core::ptr::copy_nonoverlapping(from, to, 32) }
}
