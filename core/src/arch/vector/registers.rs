//! [`Vector`]: the registers of a CPU as the kernels see them, and the jobs that a CPU's own functions are called with.

use super::planes::Pitched;

/// A line of a cache.
pub(in crate::arch) const LINE: usize = 64;

/// A register of `LANES` lanes of 16 bytes.
///
/// # Safety
/// Every method requires that the CPU has the instructions, and that the bytes named are readable or writable.
pub(in crate::arch) trait Vector: Copy {
    /// Number of 16-byte lanes.
    const LANES: usize;
    /// Bytes of a register.
    const BYTES: usize = 16 * Self::LANES;
    /// Items of a block, one or two registers of each plane: 64, the line of a cache, is best. Stores
    /// of half a line are slow where planes share a cache set and each turn evicts the other half.
    const BLOCK: usize;
    /// Whether [`Vector::table`] is one instruction.
    const TABLE: bool;
    /// Whether [`Vector::bits_8x8`] is one instruction.
    const BITS: bool = false;
    /// Whether loads take items of two to four bytes apart, and stores put them together.
    const STRUCTURES: bool = false;

    /// Least width from which splits stage planes that crowd a cache set.
    const STAGED: usize = usize::MAX;

    /// Whether items of `width` bytes are left to the level below, because its kernel is as fast or faster; 16 stands for all
    /// wider ones too. Their code is left out. The rows are in `docs/optimization-notes.md`, "Which level's kernel".
    #[inline(always)]
    fn leaves(_kernel: Kernel, _width: usize) -> bool {
        false
    }

    /// All lanes from `p`.
    unsafe fn load(p: *const u8) -> Self;
    /// All lanes to `p`.
    unsafe fn store(self, p: *mut u8);
    /// All lanes to `p`, which is a multiple of `BYTES`, past the cache.
    #[inline(always)]
    unsafe fn stream(self, p: *mut u8) {
        // SAFETY: the conditions are those of `store`.
        unsafe { self.store(p) }
    }
    /// [`stream`](Self::stream) or [`store`](Self::store).
    #[inline(always)]
    unsafe fn store_or_stream(self, p: *mut u8, stream: bool) {
        // SAFETY: the conditions are those of both.
        unsafe { if stream { self.stream(p) } else { self.store(p) } }
    }
    /// Orders what was streamed before what follows.
    #[inline(always)]
    unsafe fn fence() {}
    /// Whether this CPU is faster where the lines of rows are prefetched.
    #[inline(always)]
    fn wants_prefetch() -> bool {
        false
    }
    /// Prefetches the line of `p`, which may be any address.
    #[inline(always)]
    unsafe fn prefetch(_p: *const u8) {}
    /// Lane `l` from `p + l * stride`.
    #[inline(always)]
    unsafe fn load_lanes(p: *const u8, _stride: usize) -> Self {
        const { assert!(Self::LANES == 1) };
        // SAFETY: the only lane is the register.
        unsafe { Self::load(p) }
    }
    /// Lane `l` to `p`.
    #[inline(always)]
    unsafe fn store_lane(self, _l: usize, p: *mut u8) {
        const { assert!(Self::LANES == 1) };
        // SAFETY: the only lane is the register.
        unsafe { self.store(p) }
    }
    /// Lane `l`: its first 8 bytes to `p`, the others to `q`.
    unsafe fn store_halves(self, l: usize, p: *mut u8, q: *mut u8);
    /// From lanes `a0 a1 ..` and `b0 b1 ..`: `a0 b0 ..` and the rest, so that each is a run of lane pairs.
    #[inline(always)]
    unsafe fn pair_lanes(a: Self, b: Self) -> (Self, Self) {
        (a, b)
    }
    /// Transposes four registers of four lanes: register `l` of the result is lane `l` of each.
    #[inline(always)]
    unsafe fn transpose_lanes(r: [Self; 4]) -> [Self; 4] {
        debug_assert!(Self::LANES == 4);
        r
    }
    /// In every lane, the units of `UNIT` bytes of `a` and `b` alternating: lower and upper half.
    unsafe fn zip<const UNIT: usize>(a: Self, b: Self) -> (Self, Self);
    /// The even bytes of `a` and then `b`, and the odd ones. For registers of one lane with [`Vector::STRUCTURES`].
    #[inline(always)]
    unsafe fn unzip(a: Self, b: Self) -> (Self, Self) {
        debug_assert!(Self::STRUCTURES);
        (a, b)
    }
    /// `BYTES` items of `N` bytes, 2 to 4, as planes. With [`Vector::STRUCTURES`].
    #[inline(always)]
    unsafe fn load_structures<const N: usize>(p: *const u8) -> [Self; 4] {
        debug_assert!(Self::STRUCTURES);
        // SAFETY: the conditions are those of `load`.
        unsafe { [Self::load(p); 4] }
    }
    /// The inverse of [`Vector::load_structures`].
    #[inline(always)]
    unsafe fn store_structures<const N: usize>(_planes: [Self; 4], _p: *mut u8) {
        debug_assert!(Self::STRUCTURES);
    }
    /// In every lane, byte `i` becomes byte `table[i]`.
    unsafe fn table(self, table: &'static [u8; 16]) -> Self;
    /// The low bits of `a` and of `b` exchanged with the high ones, at the scale of `SHIFT` bits:
    /// in each byte, fields of `SHIFT` bits at odd places of `a` and even places of `b` swap.
    unsafe fn swap_bits<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self);
    /// Every 8 bytes transposed as an 8x8 bit matrix whose byte order is reversed before.
    #[inline(always)]
    unsafe fn bits_8x8(self) -> Self {
        self
    }

    /// The bits of every byte in reverse, where [`Vector::bits_8x8`] is one instruction.
    #[inline(always)]
    unsafe fn reverse_bits(self) -> Self {
        self
    }

    /// [`split`] compiled for this CPU, not inlined.
    unsafe fn call_split(job: Split);
    /// [`join`] compiled for this CPU, not inlined.
    unsafe fn call_join(job: Join<Pitched>);
}

/// Which kernel of a level.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::arch) enum Kernel {
    /// Items to planes.
    Split,
    /// Planes to items.
    Join,
    /// Either transposition of bits.
    Bits,
}

/// Items to be split.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Split {
    /// Number of planes, at least 2.
    pub width: usize,
    /// Distance of the items: `width`, or more where `width` is 16 or more.
    pub stride: usize,
    /// Number of items.
    pub n: usize,
    /// The items.
    pub src: *const u8,
    /// Readable bytes at `src`, at least the items.
    pub readable: usize,
    /// Plane `j` goes to `dst + j * pitch`.
    pub dst: *mut u8,
    /// Distance of the planes.
    pub pitch: usize,
}

/// Planes to be joined.
#[derive(Clone, Copy)]
pub(in crate::arch) struct Join<S> {
    /// Number of planes, at least 2.
    pub width: usize,
    /// Distance of the items: `width`, or more where `width` is 16 or more.
    pub stride: usize,
    /// Number of items.
    pub n: usize,
    /// Where the planes are.
    pub planes: S,
    /// The items.
    pub dst: *mut u8,
    /// Bytes at `dst` that may be overwritten, at least those of the items; those after the items get garbage.
    pub writable: usize,
    /// Store past the cache if `dst` and the width allow. A [`fence`](Vector::fence) has to follow.
    pub stream: bool,
}
