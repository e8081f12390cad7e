//! Quantization of floats before compression (docs/formats/bcolz.md §4), lossy and off by default.
//!
//! ```text
//! s = 2^ceil(digits · log2 10)      x → round_half_even(s·x) / s
//! ```

use super::descriptor::Storage;
use crate::dtype::{ByteOrder, Dtype, Kind, Scalar};

/// Quantizes the items in place when the column asks for it.
pub(super) fn apply(storage: &Storage, plain: &mut [u8]) {
    let digits = storage.cparams.quantize;
    let Dtype::Scalar(Scalar { kind: Kind::Float, order, size }) = storage.dtype else { return };
    if digits == 0 {
        return;
    }
    let scale = (f64::from(digits) * core::f64::consts::LOG2_10).ceil().exp2();
    let big = order == ByteOrder::Big;
    match size {
        8 => {
            for item in plain.as_chunks_mut::<8>().0 {
                let x = if big { f64::from_be_bytes(*item) } else { f64::from_le_bytes(*item) };
                let y = (x * scale).round_ties_even() / scale;
                *item = if big { y.to_be_bytes() } else { y.to_le_bytes() };
            }
        }
        4 => {
            let scale = scale as f32;
            for item in plain.as_chunks_mut::<4>().0 {
                let x = if big { f32::from_be_bytes(*item) } else { f32::from_le_bytes(*item) };
                let y = (x * scale).round_ties_even() / scale;
                *item = if big { y.to_be_bytes() } else { y.to_le_bytes() };
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bcolz::CParams;
    use crate::value::Value;

    #[test]
    fn keeps_the_digits_asked_for() {
        let cparams = CParams { quantize: 2, ..CParams::default() };
        let dtype = Dtype::parse(">f8").unwrap();
        let storage = Storage { dtype, cparams, chunklen: 1, expectedlen: 0, dflt: Value::Null };
        let mut x = 1.23456789f64.to_be_bytes();
        apply(&storage, &mut x);
        assert_eq!(f64::from_be_bytes(x), (1.23456789f64 * 128.0).round_ties_even() / 128.0);
    }
}
