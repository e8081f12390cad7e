//! Items as text, for previews.

use crate::dtype::{ByteOrder, Dtype, Kind, Scalar};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// One item as people write it; hexadecimal digits where there is no such form.
///
/// ```
/// use blosc_frame::b2nd::{Dtype, show};
/// assert_eq!(show(&Dtype::parse(">i2")?, &[1, 2]), "258");
/// assert_eq!(show(&Dtype::parse("|S4")?, b"ab\0\0"), "ab");
/// # Ok::<(), blosc_frame::Error>(())
/// ```
pub fn show(dtype: &Dtype, item: &[u8]) -> String {
    match dtype {
        Dtype::Scalar(s) => scalar(s, item).unwrap_or_else(|| hex(item)),
        Dtype::Array { item: inner, .. } => {
            let size = (inner.itemsize() as usize).max(1);
            let parts: Vec<String> = item.chunks_exact(size).map(|part| show(inner, part)).collect();
            format!("[{}]", parts.join(" "))
        }
        Dtype::Struct(s) => {
            let field = |f: &crate::dtype::Field| {
                let start = f.offset as usize;
                let part = item.get(start..start.saturating_add(f.dtype.itemsize() as usize));
                show(&f.dtype, part.unwrap_or(&[]))
            };
            let parts: Vec<String> = s.fields.iter().map(field).collect();
            format!("({})", parts.join(", "))
        }
    }
}

fn hex(item: &[u8]) -> String {
    item.iter().map(|b| format!("{b:02x}")).collect()
}

/// The bytes of a number of at most eight, most significant first.
fn bits(order: ByteOrder, item: &[u8]) -> Option<u64> {
    let push = |n: u64, b: &u8| (n << 8) | u64::from(*b);
    (item.len() <= 8).then(|| match order {
        ByteOrder::Big => item.iter().fold(0, push),
        _ => item.iter().rev().fold(0, push),
    })
}

fn float(order: ByteOrder, item: &[u8]) -> Option<String> {
    let n = bits(order, item)?;
    match item.len() {
        2 => Some(half(n as u16).to_string()),
        4 => Some(f32::from_bits(n as u32).to_string()),
        8 => Some(f64::from_bits(n).to_string()),
        _ => None,
    }
}

/// Half precision to single.
fn half(n: u16) -> f32 {
    let (sign, exponent, fraction) = (u32::from(n >> 15), i32::from(n >> 10 & 31), u32::from(n & 1023));
    let magnitude = match exponent {
        // 2^-24 each: exact in single precision.
        0 => fraction as f32 * f32::from_bits(0x3380_0000),
        31 => f32::from_bits(0x7f80_0000 | fraction << 13),
        e => f32::from_bits(((e + 112) as u32) << 23 | fraction << 13),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

fn scalar(s: &Scalar, item: &[u8]) -> Option<String> {
    let signed = || {
        let n = bits(s.order, item)?;
        let unused = 64u32.checked_sub((item.len() as u32).checked_mul(8)?)?;
        Some(((n.checked_shl(unused)? as i64) >> unused).to_string())
    };
    match s.kind {
        Kind::Bool => Some(if item.first() == Some(&0) { "False" } else { "True" }.to_string()),
        Kind::Uint => Some(bits(s.order, item)?.to_string()),
        Kind::Int => signed(),
        Kind::Datetime { unit, .. } | Kind::Timedelta { unit, .. } => {
            let number = signed()?;
            Some(if number == i64::MIN.to_string() { "NaT".to_string() } else { number + unit.name() })
        }
        Kind::Float => float(s.order, item),
        Kind::Complex => {
            let (re, im) = item.split_at_checked(item.len() / 2)?;
            let (re, im) = (float(s.order, re)?, float(s.order, im)?);
            let sign = if im.starts_with('-') { "" } else { "+" };
            Some(format!("{re}{sign}{im}j"))
        }
        Kind::Bytes => {
            let end = item.iter().rposition(|b| *b != 0).map_or(0, |n| n.saturating_add(1));
            Some(item.get(..end)?.escape_ascii().to_string())
        }
        Kind::Unicode => {
            let chars = item.as_chunks::<4>().0.iter().map(|c| bits(s.order, c));
            let text: Option<String> =
                chars.map(|n| n.and_then(|n| char::from_u32(u32::try_from(n).ok()?))).collect();
            Some(text?.trim_end_matches('\0').escape_debug().to_string())
        }
        Kind::Void => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind() {
        for (dtype, item, want) in [
            ("|b1", &[1][..], "True"),
            ("|i1", &[0xff], "-1"),
            (">i4", &[0xff, 0xff, 0xff, 0xfe], "-2"),
            ("<u8", &[1, 0, 0, 0, 0, 0, 0, 0x80], "9223372036854775809"),
            ("<f2", &[0, 0x3e], "1.5"),
            ("<f2", &[0, 0xfc], "-inf"),
            ("<f2", &[1, 0], "0.000000059604645"),
            (">f4", &[0x3f, 0xc0, 0, 0], "1.5"),
            ("<c8", &[0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0xbf], "1.5-1j"),
            ("<M8[ns]", &[5, 0, 0, 0, 0, 0, 0, 0], "5ns"),
            ("<m8", &[0, 0, 0, 0, 0, 0, 0, 0x80], "NaT"),
            ("<U2", &[b'a', 0, 0, 0, 0, 0, 0, 0], "a"),
            ("|V2", &[1, 0xab], "01ab"),
            ("[('a', 'u1'), ('b', '<i2', (2,))]", &[1, 2, 0, 3, 0], "(1, [2 3])"),
        ] {
            assert_eq!(show(&Dtype::parse(dtype).unwrap(), item), want, "{dtype}");
        }
    }
}
