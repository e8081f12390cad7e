//! Structured and sub-array types: from a Python literal to [`Dtype`].
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::literal::{Node, Value};
use super::{Dtype, DtypeError, Field, Kind, MAX_DEPTH, MAX_ITEMSIZE, Scalar, Struct, scalar};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a field without a name is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Padding {
    /// A field; NumPy names it `f<index>`.
    Named,
    /// In the `descr` of a `.npy` header, a gap if it is void.
    Unnamed,
}

fn layout(node: &Node, reason: &'static str) -> DtypeError {
    DtypeError::Layout { offset: node.at, reason }
}

fn syntax(node: &Node, expected: &'static str) -> DtypeError {
    DtypeError::Syntax { offset: node.at, expected }
}

/// The type a literal describes.
pub(super) fn from_literal(node: &Node, padding: Padding) -> Result<Dtype, DtypeError> {
    convert(node, padding, 0)
}

fn convert(node: &Node, padding: Padding, depth: usize) -> Result<Dtype, DtypeError> {
    // The literal's own depth is limited already; this says so again where the recursion is.
    if depth >= MAX_DEPTH {
        return Err(DtypeError::TooDeep { offset: node.at });
    }
    let depth = depth.saturating_add(1);
    match &node.value {
        Value::Str(text) => Ok(Dtype::Scalar(scalar::parse(text, node.at)?)),
        Value::List(fields) => list(node, fields, padding, depth),
        Value::Dict(items) if node.get("names").is_none() => by_name(node, items, padding, depth),
        Value::Dict(_) => dict(node, padding, depth),
        Value::Tuple(pair) => match pair.as_slice() {
            [item, shape] => sub_array(convert(item, padding, depth)?, shape),
            _ => Err(syntax(node, "a type and a shape")),
        },
        _ => Err(syntax(node, "a type")),
    }
}

fn sub_array(item: Dtype, shape: &Node) -> Result<Dtype, DtypeError> {
    let axis = |n: &Node| {
        let size = n.as_u64().ok_or_else(|| syntax(n, "a number of items"))?;
        u32::try_from(size).map_err(|_| layout(n, "too many items"))
    };
    let dims: Vec<u32> = match shape.items() {
        Some(items) => items.iter().map(axis).collect::<Result<_, _>>()?,
        None => alloc::vec![axis(shape)?],
    };
    if dims.is_empty() {
        return Ok(item); // ('<i4', ()) is <i4
    }
    Dtype::array(item, dims).ok_or_else(|| layout(shape, "the items are larger than 2 GiB"))
}

/// Collects fields, checking names as they come.
struct Builder {
    fields: Vec<Field>,
    names: BTreeSet<String>,
    end: u32,
}

impl Builder {
    fn new() -> Builder {
        Builder { fields: Vec::new(), names: BTreeSet::new(), end: 0 }
    }

    fn push(
        &mut self,
        at: &Node,
        name: String,
        title: Option<String>,
        offset: u32,
        dtype: Dtype,
    ) -> Result<(), DtypeError> {
        if !self.names.insert(name.clone()) {
            return Err(layout(at, "two fields have the same name"));
        }
        self.skip(at, offset, dtype.itemsize())?;
        self.fields.push(Field { name, title, offset, dtype });
        Ok(())
    }

    /// Makes the item reach to the end of `size` bytes at `offset`.
    fn skip(&mut self, at: &Node, offset: u32, size: u32) -> Result<(), DtypeError> {
        let end = offset
            .checked_add(size)
            .filter(|end| *end <= MAX_ITEMSIZE)
            .ok_or_else(|| layout(at, "the items are larger than 2 GiB"))?;
        self.end = self.end.max(end);
        Ok(())
    }
}

/// A name, or a `(title, name)` pair.
fn field_name(node: &Node) -> Result<(String, Option<String>), DtypeError> {
    match &node.value {
        Value::Str(name) => Ok((name.clone(), None)),
        Value::Tuple(pair) => match pair.as_slice() {
            [title, name] => match (title.as_str(), name.as_str()) {
                (Some(title), Some(name)) => Ok((name.to_string(), Some(title.to_string()))),
                _ => Err(syntax(node, "a title and a name")),
            },
            _ => Err(syntax(node, "a title and a name")),
        },
        _ => Err(syntax(node, "a field name")),
    }
}

/// `[('a', '<i4'), ('b', '<f8', (2,))]`
fn list(node: &Node, fields: &[Node], padding: Padding, depth: usize) -> Result<Dtype, DtypeError> {
    let mut b = Builder::new();
    for field in fields {
        let (name, format, shape) = match field.items() {
            Some([name, format]) => (name, format, None),
            Some([name, format, shape]) => (name, format, Some(shape)),
            _ => return Err(syntax(field, "a (name, type) or (name, type, shape) tuple")),
        };
        let mut dtype = convert(format, padding, depth)?;
        if let Some(shape) = shape {
            dtype = sub_array(dtype, shape)?;
        }
        let (mut name, title) = field_name(name)?;
        if name.is_empty() {
            let void = matches!(dtype, Dtype::Scalar(Scalar { kind: Kind::Void, .. }));
            if padding == Padding::Unnamed && void && title.is_none() {
                b.skip(field, b.end, dtype.itemsize())?;
                continue;
            }
            name = alloc::format!("f{}", b.fields.len());
        }
        let offset = b.end;
        b.push(field, name, title, offset, dtype)?;
    }
    let _ = node;
    Ok(Dtype::Struct(Struct { fields: b.fields, itemsize: b.end, aligned: false }))
}

/// `{'names': [..], 'formats': [..], 'offsets': [..], 'titles': [..], 'itemsize': n, 'aligned': b}`
fn dict(node: &Node, padding: Padding, depth: usize) -> Result<Dtype, DtypeError> {
    let column = |key: &str| match node.get(key) {
        None => Ok(None),
        Some(n) => n.items().map(Some).ok_or_else(|| syntax(n, "a list")),
    };
    let names = column("names")?.unwrap_or(&[]);
    let formats = column("formats")?.ok_or_else(|| syntax(node, "a dict with formats"))?;
    let (offsets, titles) = (column("offsets")?, column("titles")?);
    let lengths = [Some(formats), offsets, titles];
    if lengths.iter().flatten().any(|c| c.len() != names.len()) {
        return Err(layout(node, "names, formats, offsets and titles differ in length"));
    }
    let aligned = match node.get("aligned").map(|n| &n.value) {
        None => false,
        Some(Value::Bool(b)) => *b,
        Some(_) => return Err(layout(node, "aligned is neither True nor False")),
    };
    let mut b = Builder::new();
    let mut alignment = 1u32;
    for (index, (name, format)) in names.iter().zip(formats).enumerate() {
        let dtype = convert(format, padding, depth)?;
        let (name, mut title) = (field_name(name)?.0, None);
        if let Some(t) = titles.and_then(|t| t.get(index)) {
            title = match &t.value {
                Value::None => None,
                Value::Str(s) => Some(s.clone()),
                _ => return Err(syntax(t, "a title")),
            };
        }
        let align = if aligned { dtype.alignment() } else { 1 };
        alignment = alignment.max(align);
        let offset = match offsets.and_then(|o| o.get(index)) {
            Some(n) => n
                .as_u64()
                .and_then(|v| u32::try_from(v).ok())
                .ok_or_else(|| layout(n, "not an offset of a field"))?,
            None => b.end.checked_next_multiple_of(align).unwrap_or(u32::MAX),
        };
        b.push(format, name, title, offset, dtype)?;
    }
    let minimum = b.end.checked_next_multiple_of(alignment).unwrap_or(u32::MAX);
    let itemsize = match node.get("itemsize") {
        None => minimum,
        Some(n) => n.as_u64().and_then(|v| u32::try_from(v).ok()).unwrap_or(u32::MAX),
    };
    if itemsize < b.end || itemsize > MAX_ITEMSIZE {
        return Err(layout(node, "the itemsize is too small for the fields, or above 2 GiB"));
    }
    Ok(Dtype::Struct(Struct { fields: b.fields, itemsize, aligned }))
}

/// `{'a': ('<i4', 0), 'b': ('<f8', 8, 'title')}`: in the order of the offsets.
fn by_name(node: &Node, items: &[(Node, Node)], padding: Padding, depth: usize) -> Result<Dtype, DtypeError> {
    let mut columns = Vec::new();
    for (name, value) in items {
        let (format, offset, title) = match value.items() {
            Some([format, offset]) => (format, offset, None),
            Some([format, offset, title]) => (format, offset, title.as_str()),
            _ => return Err(syntax(value, "a (type, offset) tuple")),
        };
        let offset = offset
            .as_u64()
            .and_then(|v| u32::try_from(v).ok())
            .ok_or_else(|| layout(offset, "not an offset of a field"))?;
        columns.push((offset, name, format, title));
    }
    columns.sort_by_key(|(offset, ..)| *offset);
    let mut b = Builder::new();
    for (offset, name, format, title) in columns {
        let text = name.as_str().ok_or_else(|| syntax(name, "a field name"))?;
        let dtype = convert(format, padding, depth)?;
        b.push(name, text.to_string(), title.map(ToString::to_string), offset, dtype)?;
    }
    if b.fields.is_empty() {
        return Err(syntax(node, "a dict with names"));
    }
    Ok(Dtype::Struct(Struct { fields: b.fields, itemsize: b.end, aligned: false }))
}
