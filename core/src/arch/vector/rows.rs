//! From the generic kernels to rows of the kernel table.

/// A [`Vector`](super::Vector)'s calls of the functions that [`rows!`] defines in the same module.
macro_rules! calls {
    () => {
        #[inline(always)]
        unsafe fn call_split(job: Split) {
            // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instructions.
            unsafe { split_job(job) }
        }
        #[inline(always)]
        unsafe fn call_join(job: Join<Pitched>) {
            // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instructions.
            unsafe { join_pitched(job) }
        }
    };
}
pub(in crate::arch) use calls;

/// Defines a CPU's rows (`split`, `join`, `bitshuffle`, `bitunshuffle`) from its [`Vector`](super::Vector).
/// Blocks shorter than a register are left to the rows of `$below`, a slower level of the same CPU.
macro_rules! rows {
    (bytes $V:ty, $features:literal, $below:ident) => {
        #[target_feature(enable = $features)]
        pub(super) unsafe fn split_job(job: Split) {
            // SAFETY: the row has made the job of its slices, and enables the features that its level proves.
            unsafe { vector::split::<$V>(job) }
        }

        /// A function of its own: it needs more stack.
        #[target_feature(enable = $features)]
        unsafe fn split_crowded(job: Split) {
            // SAFETY: the row has made the job of its slices, and enables the features that its level proves.
            unsafe { vector::split_staged::<$V>(job, split_job) }
        }

        #[target_feature(enable = $features)]
        pub(super) unsafe fn join_pitched(job: Join<Pitched>) {
            // SAFETY: the row has made the job of its slices, and enables the features that its level proves.
            unsafe { vector::join::<$V, _>(job) }
        }

        #[target_feature(enable = $features)]
        unsafe fn join_each(job: Join<Each<'_>>) {
            // SAFETY: the row has made the job of its slices, and enables the features that its level proves.
            unsafe { vector::join::<$V, _>(job) }
        }

        /// Row of the kernel table.
        ///
        /// # Safety
        /// The CPU is one of the level that has this row, and the buffers are as long as [`kernels`](crate::arch::kernels)
        /// checks.
        pub(in crate::arch) unsafe fn split(width: usize, src: &[u8], mut out: Out<'_>, pitch: usize) {
            let n = src.len().checked_div(width).unwrap_or(0);
            // SAFETY: the kernel table states the lengths; a slice has at least a block of items, or another row is called.
            unsafe {
                if n < <$V>::BLOCK || <$V>::leaves(vector::Kernel::Split, width) {
                    return $below::split(width, src, out, pitch);
                }
                let (readable, src, dst) = (src.len(), src.as_ptr(), out.as_mut_ptr());
                let job = Split { width, stride: width, n, src, readable, dst, pitch };
                if width >= <$V>::STAGED && vector::crowded(width, n, pitch) {
                    split_crowded(job);
                } else {
                    split_job(job);
                }
            }
        }

        /// Row of the kernel table.
        ///
        /// # Safety
        /// The CPU is one of the level that has this row, and the buffers are as long as [`kernels`](crate::arch::kernels)
        /// checks.
        pub(in crate::arch) unsafe fn join(
            width: usize,
            planes: Planes<'_>,
            mut out: Out<'_>,
            stores: Stores,
        ) {
            let n = out.len().checked_div(width).unwrap_or(0);
            // SAFETY: the kernel table states the lengths; a slice has at least a block of items, or another row is called.
            unsafe {
                if n < <$V>::BLOCK || <$V>::leaves(vector::Kernel::Join, width) {
                    return $below::join(width, planes, out, stores);
                }
                let (writable, dst) = (out.len(), out.as_mut_ptr());
                let (stride, stream) = (width, stores == Stores::Streaming);
                let list = match planes {
                    Planes::Pitched { bytes, pitch } => {
                        let planes = Pitched { base: bytes.as_ptr(), pitch };
                        join_pitched(Join { width, stride, n, planes, dst, writable, stream });
                        return if stream {
                            <$V>::fence()
                        };
                    }
                    Planes::Each(list) => list,
                };
                // More planes than the table has room for are joined 16 at a time.
                let width = if width <= Table::MOST { width } else { 16 };
                let mut next = 0;
                while next < stride {
                    let first = next.min(stride - width);
                    let table = Table::new(list.get(first..).unwrap_or_default());
                    let (planes, dst, writable) = (table.source(), dst.add(first), writable - first);
                    join_each(Join { width, stride, n, planes, dst, writable, stream });
                    next += width;
                }
                if stream {
                    <$V>::fence();
                }
            }
        }
    };
    (bits $V:ty, $features:literal, $below:ident) => {
        #[target_feature(enable = $features)]
        unsafe fn bitshuffle_items<const ROOM: usize>(
            typesize: usize,
            items: usize,
            src: *const u8,
            dst: *mut u8,
        ) {
            // SAFETY: the row has made the job of its slices, and enables the features that its level proves.
            unsafe { vector::bitshuffle::<$V, ROOM>(typesize, items, src, dst) }
        }

        #[target_feature(enable = $features)]
        unsafe fn bitunshuffle_items<const ROOM: usize>(
            typesize: usize,
            items: usize,
            src: *const u8,
            dst: *mut u8,
            stream: bool,
        ) {
            // SAFETY: the row has made the job of its slices, and enables the features that its level proves.
            unsafe { vector::bitunshuffle::<$V, ROOM>(typesize, items, src, dst, stream) }
        }

        /// Row of the kernel table.
        ///
        /// # Safety
        /// The CPU is one of the level that has this row, and the buffers are as long as [`kernels`](crate::arch::kernels)
        /// checks.
        pub(in crate::arch) unsafe fn bitshuffle(typesize: usize, src: &[u8], mut out: Out<'_>) {
            let items = src.len().checked_div(typesize).unwrap_or(0);
            // SAFETY: the kernel table states the lengths; a slice has at least a tile of items, or another row is called.
            unsafe {
                if items < 8 * <$V>::BYTES
                    || <$V>::leaves(vector::Kernel::Bits, typesize)
                    || (<$V>::LANES == 4 && vector::half_empty(items))
                {
                    return $below::bitshuffle(typesize, src, out);
                }
                let kernel = if src.len() < vector::LONG {
                    bitshuffle_items::<{ vector::little(<$V>::BYTES) }>
                } else {
                    bitshuffle_items::<{ vector::AMPLE }>
                };
                kernel(typesize, items, src.as_ptr(), out.as_mut_ptr());
            }
        }

        /// Row of the kernel table.
        ///
        /// # Safety
        /// The CPU is one of the level that has this row, and the buffers are as long as [`kernels`](crate::arch::kernels)
        /// checks.
        pub(in crate::arch) unsafe fn bitunshuffle(
            typesize: usize,
            src: &[u8],
            mut out: Out<'_>,
            stores: Stores,
        ) {
            let items = src.len().checked_div(typesize).unwrap_or(0);
            // SAFETY: the kernel table states the lengths; a slice has at least a tile of items, or another row is called.
            unsafe {
                if items < 8 * <$V>::BYTES
                    || <$V>::leaves(vector::Kernel::Bits, typesize)
                    || (<$V>::LANES == 4 && vector::half_empty(items))
                {
                    return $below::bitunshuffle(typesize, src, out, stores);
                }
                let kernel = if src.len() < vector::LONG {
                    bitunshuffle_items::<{ vector::little(<$V>::BYTES) }>
                } else {
                    bitunshuffle_items::<{ vector::AMPLE }>
                };
                kernel(typesize, items, src.as_ptr(), out.as_mut_ptr(), stores == Stores::Streaming);
            }
        }
    };
}
pub(in crate::arch) use rows;
