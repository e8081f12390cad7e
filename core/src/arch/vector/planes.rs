//! Where the planes of a join are: one address rule per kind, without a branch in the loops.

use crate::arch::planes::Plane;
use core::mem::MaybeUninit;

/// Finds bytes of planes.
pub(in crate::arch) trait PlaneSource: Copy {
    /// Where byte `i` of plane `j` is; of a constant plane, a line of it.
    ///
    /// # Safety
    /// Plane and byte exist.
    unsafe fn at(&self, j: usize, i: usize) -> *const u8;
    /// As [`at`](PlaneSource::at), where the address in the plane before is known: what need not be kept for each plane stays in a register.
    ///
    /// # Safety
    /// As for [`at`](PlaneSource::at).
    #[inline(always)]
    unsafe fn next(&self, _before: *const u8, j: usize, i: usize) -> *const u8 {
        // SAFETY: the conditions are those of `at`.
        unsafe { self.at(j, i) }
    }
}

/// Plane `j` is at `base + j * pitch`.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Pitched {
    /// Plane 0.
    pub base: *const u8,
    /// Distance of the planes.
    pub pitch: usize,
}

impl PlaneSource for Pitched {
    #[inline(always)]
    unsafe fn at(&self, j: usize, i: usize) -> *const u8 {
        // SAFETY: by the contract plane `j` exists and has byte `i`.
        unsafe { self.base.add(j * self.pitch + i) }
    }
    #[inline(always)]
    unsafe fn next(&self, before: *const u8, _j: usize, _i: usize) -> *const u8 {
        // SAFETY: the plane exists.
        unsafe { before.add(self.pitch) }
    }
}

/// Each plane has an address, and a mask for `i`: all ones, or 0 for a constant, whose address is a line of it.
#[derive(Clone, Copy)]
struct Entry {
    base: *const u8,
    mask: usize,
}

const MOST: usize = 32;

/// Up to 32 planes by themselves.
pub(in crate::arch) struct Table<'a> {
    entries: [MaybeUninit<Entry>; MOST],
    planes: core::marker::PhantomData<&'a [u8]>,
}

impl<'a> Table<'a> {
    /// Planes it has room for.
    pub const MOST: usize = MOST;

    /// A table of `planes`, as far as it has room.
    #[inline]
    pub fn new(planes: &[Plane<'a>]) -> Self {
        let mut entries = [const { MaybeUninit::uninit() }; MOST];
        for (entry, plane) in entries.iter_mut().zip(planes) {
            entry.write(match *plane {
                Plane::Bytes(bytes) => Entry { base: bytes.as_ptr(), mask: usize::MAX },
                Plane::Constant(byte) => Entry { base: LINES[usize::from(byte)].0.as_ptr(), mask: 0 },
            });
        }
        Table { entries, planes: core::marker::PhantomData }
    }

    /// The rule to find them.
    #[inline(always)]
    pub fn source(&self) -> Each<'_> {
        Each(&self.entries)
    }
}

/// The rule of a [`Table`].
#[derive(Clone, Copy)]
pub(in crate::arch) struct Each<'a>(&'a [MaybeUninit<Entry>; MOST]);

impl PlaneSource for Each<'_> {
    #[inline(always)]
    unsafe fn at(&self, j: usize, i: usize) -> *const u8 {
        // SAFETY: the plane exists, so its entry was written, and it has byte `i`; a constant's line
        // is as long as the longest register.
        unsafe {
            let entry = self.0.get_unchecked(j).assume_init_ref();
            entry.base.add(i & entry.mask)
        }
    }
}

/// A line of one byte, as long as the longest register.
#[repr(align(64))]
struct Line([u8; 64]);

/// One line per byte value.
static LINES: [Line; 256] = {
    let mut lines = [const { Line([0; 64]) }; 256];
    let mut value = 0;
    while value < 256 {
        lines[value] = Line([value as u8; 64]);
        value += 1;
    }
    lines
};
