//! Printing dtypes as NumPy does: `str(dtype)` and the `descr` of `.npy` headers.

use super::types::{ByteOrder, Dtype, DtypeError, Field, Kind, Scalar, Struct, Unit};
use alloc::string::String;
use core::fmt::{self, Write};

/// As `dtype.str` for plain types and `str(dtype)` for the others: the form `b2nd` stores.
impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dtype::Scalar(s) => s.fmt(f),
            _ => nested(self, false, f),
        }
    }
}

/// As `dtype.str`: `<i4`, `|u1`, `<M8[ns]`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.order.char())?;
        self.body(f)
    }
}

impl Scalar {
    /// Kind, size and unit, without the byte order.
    fn body(&self, f: &mut dyn Write) -> fmt::Result {
        let unit = |f: &mut dyn Write, unit: Unit, count: u32| match (unit, count) {
            (Unit::Generic, _) => Ok(()),
            (unit, 1) => write!(f, "[{}]", unit.name()),
            (unit, n) => write!(f, "[{n}{}]", unit.name()),
        };
        match self.kind {
            Kind::Bool => f.write_str("b1"),
            Kind::Int => write!(f, "i{}", self.size),
            Kind::Uint => write!(f, "u{}", self.size),
            Kind::Float => write!(f, "f{}", self.size),
            Kind::Complex => write!(f, "c{}", self.size),
            Kind::Datetime { unit: u, count } => {
                f.write_str("M8")?;
                unit(f, u, count)
            }
            Kind::Timedelta { unit: u, count } => {
                f.write_str("m8")?;
                unit(f, u, count)
            }
            Kind::Bytes => write!(f, "S{}", self.size),
            Kind::Unicode => write!(f, "U{}", self.size / 4),
            Kind::Void => write!(f, "V{}", self.size),
        }
    }

    /// The shorter form NumPy uses for fields: `?`, `u1`, `S5`, `S` for length 0.
    fn short(&self, f: &mut dyn Write) -> fmt::Result {
        match self.kind {
            Kind::Bool => return f.write_str("?"),
            Kind::Bytes if self.size == 0 => return f.write_str("S"),
            Kind::Void if self.size == 0 => return f.write_str("V"),
            Kind::Unicode if self.size == 0 => return write!(f, "{}U", self.order.char()),
            _ => {}
        }
        if self.order != ByteOrder::None {
            f.write_char(self.order.char())?;
        }
        self.body(f)
    }
}

/// A type inside another, which says that all within it is aligned or not.
fn nested(dtype: &Dtype, aligned: bool, f: &mut dyn Write) -> fmt::Result {
    match dtype {
        Dtype::Scalar(s) => {
            f.write_char('\'')?;
            s.short(f)?;
            f.write_char('\'')
        }
        Dtype::Array { item, shape } => {
            f.write_char('(')?;
            nested(item, aligned, f)?;
            f.write_str(", ")?;
            tuple(shape, f)?;
            f.write_char(')')
        }
        Dtype::Struct(s) => structure(dtype, s, aligned, f),
    }
}

/// Whether the fields lie where a list would put them: without gaps, or as in C.
fn natural(s: &Struct, aligned: bool) -> bool {
    let (mut end, mut most) = (0u32, 1);
    let up = |n: u32, alignment| n.checked_next_multiple_of(alignment).unwrap_or(u32::MAX);
    for field in &s.fields {
        let alignment = if aligned { field.dtype.alignment() } else { 1 };
        if field.offset != up(end, alignment) {
            return false;
        }
        most = most.max(alignment);
        end = field.offset.saturating_add(field.dtype.itemsize());
    }
    up(end, most) == s.itemsize
}

/// Whether a text may say that this is aligned, which it then says of all records within.
fn all_aligned(dtype: &Dtype) -> bool {
    match dtype {
        Dtype::Scalar(_) => true,
        Dtype::Array { item, .. } => all_aligned(item),
        Dtype::Struct(s) => {
            let fits = |n: u32, dtype: &Dtype| n.is_multiple_of(dtype.alignment());
            s.aligned
                && fits(s.itemsize, dtype)
                && s.fields.iter().all(|f| fits(f.offset, &f.dtype) && all_aligned(&f.dtype))
        }
    }
}

/// A record. NumPy prints one that is aligned within one that is not as a list, without its gaps.
fn structure(dtype: &Dtype, s: &Struct, inherited: bool, f: &mut dyn Write) -> fmt::Result {
    let aligned = inherited || all_aligned(dtype);
    let say_aligned = aligned && !inherited;
    // In a list, an empty name would be read as `f<index>`; NumPy prints it all the same.
    let unnamed = s.fields.iter().any(|field| field.name.is_empty());
    if natural(s, aligned) && !say_aligned && !unnamed {
        f.write_char('[')?;
        for (index, field) in s.fields.iter().enumerate() {
            comma(index, f)?;
            f.write_char('(')?;
            name(field, f)?;
            f.write_str(", ")?;
            match &field.dtype {
                Dtype::Array { item, shape } => {
                    nested(item, aligned, f)?;
                    f.write_str(", ")?;
                    tuple(shape, f)?;
                }
                other => nested(other, aligned, f)?,
            }
            f.write_char(')')?;
        }
        return f.write_char(']');
    }
    f.write_str("{'names': ")?;
    list(s, f, |field, f| quote(&field.name, f))?;
    f.write_str(", 'formats': ")?;
    list(s, f, |field, f| nested(&field.dtype, aligned, f))?;
    f.write_str(", 'offsets': ")?;
    list(s, f, |field, f| write!(f, "{}", field.offset))?;
    if s.fields.iter().any(|field| field.title.is_some()) {
        f.write_str(", 'titles': ")?;
        list(s, f, |field, f| match &field.title {
            Some(title) => quote(title, f),
            None => f.write_str("None"),
        })?;
    }
    write!(f, ", 'itemsize': {}", s.itemsize)?;
    f.write_str(if say_aligned { ", 'aligned': True}" } else { "}" })
}

fn comma(index: usize, f: &mut dyn Write) -> fmt::Result {
    if index > 0 { f.write_str(", ") } else { Ok(()) }
}

fn list(s: &Struct, f: &mut dyn Write, item: impl Fn(&Field, &mut dyn Write) -> fmt::Result) -> fmt::Result {
    f.write_char('[')?;
    for (index, field) in s.fields.iter().enumerate() {
        comma(index, f)?;
        item(field, f)?;
    }
    f.write_char(']')
}

fn name(field: &Field, f: &mut dyn Write) -> fmt::Result {
    let Some(title) = &field.title else {
        return quote(&field.name, f);
    };
    f.write_char('(')?;
    quote(title, f)?;
    f.write_str(", ")?;
    quote(&field.name, f)?;
    f.write_char(')')
}

fn tuple(dims: &[u32], f: &mut dyn Write) -> fmt::Result {
    f.write_char('(')?;
    for (index, n) in dims.iter().enumerate() {
        comma(index, f)?;
        write!(f, "{n}")?;
    }
    f.write_str(if dims.len() == 1 { ",)" } else { ")" })
}

/// As Python's `repr` of a string.
fn quote(text: &str, f: &mut dyn Write) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c == quote => write!(f, "\\{c}")?,
            // Rust's Debug knows which characters are printable; it writes the others as \u{..}.
            c if c.escape_debug().len() > 4 || c.is_control() || c == '\u{a0}' || c == '\u{ad}' => {
                match u32::from(c) {
                    n @ 0..=0xff => write!(f, "\\x{n:02x}")?,
                    n @ 0x100..=0xffff => write!(f, "\\u{n:04x}")?,
                    n => write!(f, "\\U{n:08x}")?,
                }
            }
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
}

/// The `descr` text: see [`Dtype::to_descr`].
pub(super) fn descr(dtype: &Dtype) -> Result<String, DtypeError> {
    let mut out = String::new();
    match dtype {
        Dtype::Scalar(s) => {
            quoted_scalar(s, &mut out);
        }
        // NumPy cannot save a bare sub-array; as opaque bytes it can.
        Dtype::Array { .. } => {
            quoted_scalar(
                &Scalar { kind: Kind::Void, order: ByteOrder::None, size: dtype.itemsize() },
                &mut out,
            );
        }
        Dtype::Struct(s) => descr_struct(s, &mut out)?,
    }
    Ok(out)
}

// Writing into a `String` cannot fail, so the `fmt::Result`s below carry nothing.
fn quoted_scalar(s: &Scalar, out: &mut String) {
    let _ = write!(out, "'{s}'");
}

fn descr_item(dtype: &Dtype, out: &mut String) -> Result<(), DtypeError> {
    match dtype {
        Dtype::Scalar(s) => quoted_scalar(s, out),
        Dtype::Struct(s) => descr_struct(s, out)?,
        Dtype::Array { item, shape } => {
            out.push('(');
            descr_item(item, out)?;
            out.push_str(", ");
            let _ = tuple(shape, out);
            out.push(')');
        }
    }
    Ok(())
}

fn descr_struct(s: &Struct, out: &mut String) -> Result<(), DtypeError> {
    let mut end = 0u32;
    let mut items = 0usize;
    let gap = |from: u32, to: u32, items: &mut usize, out: &mut String| {
        if to > from {
            let _ = comma(*items, out);
            let _ = write!(out, "('', '|V{}')", to - from);
            *items += 1;
        }
    };
    out.push('[');
    for field in &s.fields {
        if field.name.is_empty() {
            return Err(DtypeError::Layout {
                offset: 0,
                reason: "a field without a name, which a .npy header cannot say",
            });
        }
        if field.offset < end {
            return Err(DtypeError::Layout {
                offset: 0,
                reason: "fields overlap or are out of order, which a .npy header cannot say",
            });
        }
        gap(end, field.offset, &mut items, out);
        let _ = comma(items, out);
        items += 1;
        out.push('(');
        let _ = name(field, out);
        out.push_str(", ");
        match &field.dtype {
            Dtype::Array { item, shape } => {
                descr_item(item, out)?;
                out.push_str(", ");
                let _ = tuple(shape, out);
            }
            other => descr_item(other, out)?,
        }
        out.push(')');
        end = field.offset.saturating_add(field.dtype.itemsize());
    }
    gap(end, s.itemsize, &mut items, out);
    out.push(']');
    Ok(())
}
