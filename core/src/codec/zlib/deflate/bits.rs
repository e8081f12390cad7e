//! Bits of a deflate stream, lowest bit of the first byte first.

/// Writes bits into a slice. Bits beyond its end are dropped without an error, so callers compare [`room`](Self::room)
/// before, or ask `fits` afterwards.
pub(super) struct BitWriter<'a> {
    dst: &'a mut [u8],
    /// The next byte.
    at: usize,
    /// The low `held` bits are not written yet.
    bits: u64,
    held: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        BitWriter { dst, at: 0, bits: 0, held: 0 }
    }

    /// Moves the writer out, to be kept in registers, and leaves one of an empty slice.
    pub(super) fn take(&mut self) -> Self {
        core::mem::replace(self, BitWriter::new(&mut []))
    }

    /// Bits that can still be written.
    pub(super) fn room(&self) -> u64 {
        8 * (self.dst.len() - self.at) as u64 - u64::from(self.held)
    }

    /// Whether all that has been flushed was written.
    #[cfg(feature = "std")]
    pub(super) fn fits(&self) -> bool {
        self.at <= self.dst.len()
    }

    /// Bits missing to a whole byte.
    pub(super) fn missing(&self) -> u32 {
        self.held.wrapping_neg() & 7
    }

    /// Appends the low `n` bits of `value`, whose other bits are 0. At most 56 bits fit between two
    /// [`flush`](Self::flush)es.
    #[inline(always)]
    pub(super) fn push_bits(&mut self, value: u32, n: u32) {
        self.bits |= u64::from(value) << (self.held & 63);
        self.held += n;
    }

    /// Writes out whole bytes.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        let whole = (self.held / 8) as usize;
        match self.dst.get_mut(self.at..).and_then(|dst| dst.first_chunk_mut::<8>()) {
            Some(dst) => *dst = self.bits.to_le_bytes(),
            None => self.flush_near_end(whole),
        }
        self.at += whole;
        self.bits >>= self.held & 56;
        self.held &= 7;
    }

    #[cold]
    #[inline(never)]
    fn flush_near_end(&mut self, whole: usize) {
        let bytes = self.bits.to_le_bytes();
        let dst = self.dst.get_mut(self.at..).unwrap_or_default();
        dst.iter_mut().zip(bytes).take(whole).for_each(|(to, byte)| *to = byte);
    }

    /// Fills up the last byte with zeros.
    pub(super) fn align(&mut self) {
        self.push_bits(0, self.missing());
        self.flush();
    }

    /// Appends `bytes` where a whole byte ends.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if let Some(dst) = self.dst.get_mut(self.at..).and_then(|dst| dst.get_mut(..bytes.len())) {
            dst.copy_from_slice(bytes);
            self.at += bytes.len();
        }
    }

    /// How many bytes there are, after [`align`](Self::align).
    pub(super) fn len(&self) -> usize {
        self.at
    }
}
