//! Plain types: array-protocol strings (`<i4`, `|S5`, `<M8[25s]`) and their names (`float32`).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::types::{ByteOrder, DtypeError, Kind, MAX_ITEMSIZE, Scalar, Unit};

/// NumPy's names whose size is the same on every machine.
const NAMES: [(&str, &str); 24] = [
    ("bool", "b1"),
    ("bool_", "b1"),
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i4"),
    ("int64", "i8"),
    ("uint8", "u1"),
    ("uint16", "u2"),
    ("uint32", "u4"),
    ("uint64", "u8"),
    ("float16", "f2"),
    ("float32", "f4"),
    ("float64", "f8"),
    ("complex64", "c8"),
    ("complex128", "c16"),
    ("datetime64", "M8"),
    ("timedelta64", "m8"),
    ("float", "f8"),
    ("complex", "c16"),
    ("half", "f2"),
    ("single", "f4"),
    ("double", "f8"),
    ("byte", "i1"),
    ("ubyte", "u1"),
];

/// One-letter codes whose size is the same on every machine.
const CODES: [(char, &str); 14] = [
    ('?', "b1"),
    ('b', "i1"),
    ('B', "u1"),
    ('h', "i2"),
    ('H', "u2"),
    ('i', "i4"),
    ('I', "u4"),
    ('q', "i8"),
    ('Q', "u8"),
    ('e', "f2"),
    ('f', "f4"),
    ('d', "f8"),
    ('F', "c8"),
    ('D', "c16"),
];

/// Reads one plain type. `at` is where `text` stands in the whole text, for errors.
pub(super) fn parse(text: &str, at: usize) -> Result<Scalar, DtypeError> {
    let unknown = DtypeError::Unknown { offset: at };
    let (order, rest) = match text.split_at_checked(1) {
        Some(("<" | "=", rest)) => (ByteOrder::Little, rest),
        Some((">" | "!", rest)) => (ByteOrder::Big, rest),
        Some(("|", rest)) => (ByteOrder::Little, rest), // NumPy takes |i4 for the default order
        _ => (ByteOrder::Little, text),
    };
    let (body, unit) = match rest.split_once('[') {
        Some((body, unit)) => (body, Some(unit.strip_suffix(']').ok_or(unknown)?)),
        None => (rest, None),
    };
    if matches!(body, "O" | "O4" | "O8" | "object" | "object_" | "T" | "StringDType()") {
        return Err(DtypeError::Pointer { offset: at });
    }
    let body = NAMES.iter().find(|(name, _)| *name == body).map_or(body, |(_, code)| code);
    let mut chars = body.chars();
    let letter = chars.next().ok_or(unknown)?;
    let digits = chars.as_str();
    let body = match CODES.iter().find(|(code, _)| *code == letter && digits.is_empty()) {
        Some((_, code)) => code,
        None => body,
    };
    if matches!(body, "l" | "L" | "p" | "P" | "n" | "N" | "g" | "G" | "int" | "uint" | "longdouble") {
        return Err(DtypeError::PlatformDependent { offset: at });
    }
    let (letter, digits) = body.split_at_checked(1).ok_or(unknown)?;
    let number = match digits {
        "" => None,
        d if d.len() <= 10 && d.bytes().all(|b| b.is_ascii_digit()) => {
            Some(d.parse::<u64>().map_err(|_| unknown)?)
        }
        _ => return Err(unknown),
    };
    build(letter, number, order, unit, at)
}

fn build(
    letter: &str,
    number: Option<u64>,
    order: ByteOrder,
    unit: Option<&str>,
    at: usize,
) -> Result<Scalar, DtypeError> {
    let unknown = DtypeError::Unknown { offset: at };
    let (kind, sizes, per): (Kind, &[u64], u64) = match letter {
        "b" => (Kind::Bool, &[1], 1),
        "i" => (Kind::Int, &[1, 2, 4, 8], 1),
        "u" => (Kind::Uint, &[1, 2, 4, 8], 1),
        "f" => (Kind::Float, &[2, 4, 8, 12, 16], 1),
        "c" => (Kind::Complex, &[8, 16, 24, 32], 1),
        "M" => {
            let (unit, count) = datetime_unit(unit, at)?;
            (Kind::Datetime { unit, count }, &[8], 1)
        }
        "m" => {
            let (unit, count) = datetime_unit(unit, at)?;
            (Kind::Timedelta { unit, count }, &[8], 1)
        }
        "S" | "a" => (Kind::Bytes, &[], 1),
        "U" => (Kind::Unicode, &[], 4),
        "V" => (Kind::Void, &[], 1),
        _ => return Err(unknown),
    };
    if unit.is_some() && !matches!(kind, Kind::Datetime { .. } | Kind::Timedelta { .. }) {
        return Err(unknown);
    }
    // Without a number only the kinds of variable length mean something: length 0.
    let number = match number {
        Some(n) => n,
        None if sizes.is_empty() => 0,
        None => return Err(unknown),
    };
    if !sizes.is_empty() && !sizes.contains(&number) {
        return Err(DtypeError::Size { offset: at, size: number });
    }
    let size = number
        .checked_mul(per)
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n <= MAX_ITEMSIZE)
        .ok_or(DtypeError::Size { offset: at, size: number })?;
    let ordered = match kind {
        Kind::Bool | Kind::Bytes | Kind::Void => false,
        Kind::Unicode => true,
        _ => size > 1,
    };
    Ok(Scalar { kind, order: if ordered { order } else { ByteOrder::None }, size })
}

/// `ns`, `25s`, `generic`, or nothing.
fn datetime_unit(text: Option<&str>, at: usize) -> Result<(Unit, u32), DtypeError> {
    let Some(text) = text.filter(|t| *t != "generic") else {
        return Ok((Unit::Generic, 1));
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (count, name) = text.split_at_checked(digits).unwrap_or(("", text));
    let name = if name == "\u{3bc}s" || name == "\u{b5}s" { "us" } else { name };
    let unit = Unit::NAMES.iter().find(|(n, _)| *n == name).map(|(_, unit)| *unit);
    let count = if count.is_empty() { Some(1) } else { count.parse::<u32>().ok() };
    // NumPy keeps the count in an int and refuses zero.
    match (unit, count.filter(|n| (1..=i32::MAX as u32).contains(n))) {
        (Some(unit), Some(count)) => Ok((unit, count)),
        _ => Err(DtypeError::Unknown { offset: at }),
    }
}
