//! ZFP: lossy compression of float arrays of one to four dimensions (docs/formats/chunk.md §2.12), by the crate `zfp-rs`.
//!
//! A block is one ZFP array without a ZFP header. Its shape is the array's block shape and its items are `f32` or `f64`, by
//! the typesize. The meta byte is the mode's parameter:
//!
//! ```text
//! zfp_acc   absolute error at most 10 to the power of the byte, -128 to 127
//! zfp_prec  bit planes, of which 5, 7, 9 or 11 come on top with 1, 2, 3 or 4 dimensions
//! zfp_rate  size in percent of the data's, 1 to 100
//! ```
//! This codec allocates: items and words of the stream must be aligned, which bytes in a chunk are not.

use super::error::{CodecError, CodecErrorKind};
use super::id::Codec;
use alloc::vec::Vec;
use zfp_rs::{
    ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpConfig, ZfpDimensionality, ZfpField, ZfpFieldMut, ZfpScalar,
    ZfpScalarType, ZfpStreamAlignment,
};

/// Why data cannot be given to ZFP.
pub(crate) const NEEDS: &str =
    "ZFP needs arrays of typesize 4 or 8 whose blocks have 1 to 4 dimensions, each of 4 items or more";

/// An array of floats, as ZFP sees a block.
#[derive(Clone, Copy)]
pub(crate) struct Floats {
    /// Items along each axis, the fastest first; 0 where there is no axis.
    sides: [usize; 4],
    axes: ZfpDimensionality,
    scalar: ZfpScalarType,
}

impl Floats {
    /// The array of a block of `len` bytes, or `None` if it is not as [`NEEDS`] says.
    pub(crate) fn of(typesize: u32, blockshape: &[u32], len: usize) -> Option<Floats> {
        let scalar = match typesize {
            4 => ZfpScalarType::F32,
            8 => ZfpScalarType::F64,
            _ => return None,
        };
        let axes = match blockshape.len() {
            1 => ZfpDimensionality::D1,
            2 => ZfpDimensionality::D2,
            3 => ZfpDimensionality::D3,
            4 => ZfpDimensionality::D4,
            _ => return None,
        };
        let mut sides = [0; 4];
        let mut bytes = typesize as usize;
        for (side, &n) in sides.iter_mut().zip(blockshape.iter().rev()) {
            *side = usize::try_from(n).ok().filter(|&n| n >= 4)?;
            bytes = bytes.checked_mul(*side)?;
        }
        (bytes == len).then_some(Floats { sides, axes, scalar })
    }

    /// `None` for a parameter that the mode does not have.
    fn config(&self, codec: Codec, meta: u8) -> Option<ZfpConfig> {
        match codec {
            Codec::ZFP_ACC => Some(ZfpConfig::fixed_accuracy(10f64.powi(i32::from(meta.cast_signed())))),
            Codec::ZFP_PREC => {
                let more = match self.axes {
                    ZfpDimensionality::D1 => 5,
                    ZfpDimensionality::D2 => 7,
                    ZfpDimensionality::D3 => 9,
                    ZfpDimensionality::D4 => 11,
                };
                Some(ZfpConfig::fixed_precision(u32::from(meta).saturating_add(more)))
            }
            _ => {
                let item = if self.scalar == ZfpScalarType::F32 { 32.0 } else { 64.0 };
                let rate = f64::from(meta) / 100.0 * item;
                ZfpConfig::fixed_rate(rate, self.scalar, self.axes, ZfpStreamAlignment::Unaligned).ok()
            }
        }
    }

    /// Compresses `src` into the start of `dst`; `None` where it does not fit.
    pub(crate) fn encode(&self, codec: Codec, meta: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let config = self.config(codec, meta)?;
        let mut words: Vec<u64> = alloc::vec![0; dst.len() / 8];
        let mut stream = ZfpBitStreamRefMut::from_words(&mut words);
        let n = match self.scalar {
            ZfpScalarType::F64 => {
                let items = items::<f64, 8>(src, f64::from_le_bytes);
                stream.compress(&config, &ZfpField::new(&items, self.sides).ok()?)
            }
            _ => {
                let items = items::<f32, 4>(src, f32::from_le_bytes);
                stream.compress(&config, &ZfpField::new(&items, self.sides).ok()?)
            }
        };
        let n = n.ok()?;
        for (to, word) in dst.get_mut(..n)?.chunks_exact_mut(8).zip(&words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        Some(n)
    }

    /// Expands `src` to exactly `out`, which has the length that the shape was checked with.
    ///
    /// # Errors
    /// The stream is shorter than its items need, or the meta byte is none of the mode's.
    pub(crate) fn decode(
        &self,
        codec: Codec,
        meta: u8,
        src: &[u8],
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let corrupt = |kind| CodecError { kind, offset: src.len() };
        let config = self.config(codec, meta).ok_or(corrupt(CodecErrorKind::Corrupt))?;
        let words = items::<u64, 8>(src, u64::from_le_bytes);
        let mut stream = ZfpBitStreamRef::from_words(&words);
        let done = match self.scalar {
            ZfpScalarType::F64 => self.expand::<f64, 8>(&config, &mut stream, out, f64::to_le_bytes),
            _ => self.expand::<f32, 4>(&config, &mut stream, out, f32::to_le_bytes),
        };
        done.ok_or(corrupt(CodecErrorKind::Truncated))
    }

    fn expand<T: ZfpScalar + Default, const N: usize>(
        &self,
        config: &ZfpConfig,
        stream: &mut ZfpBitStreamRef<'_>,
        out: &mut [u8],
        bytes: impl Fn(T) -> [u8; N],
    ) -> Option<()> {
        let mut items: Vec<T> = alloc::vec![T::default(); out.len() / N];
        stream.decompress(config, &mut ZfpFieldMut::new(&mut items, self.sides).ok()?).ok()?;
        for (to, item) in out.chunks_exact_mut(N).zip(items) {
            to.copy_from_slice(&bytes(item));
        }
        Some(())
    }
}

/// Little-endian items; what follows the last whole one is left out.
fn items<T, const N: usize>(bytes: &[u8], item: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| item(bytes)).collect()
}
