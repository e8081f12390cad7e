//! Structured and sub-array types: from a Python literal to [`Dtype`].
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::literal::{Node, Value};
use super::scalar;
use super::types::{Dtype, DtypeError, Field, Kind, MAX_DEPTH, MAX_ITEMSIZE, Scalar, Struct};
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
    convert(node, Inside { padding, aligned: false, depth: 0 })
}

/// What a type stands in.
#[derive(Clone, Copy)]
struct Inside {
    padding: Padding,
    /// A dict that says `'aligned': True`, as NumPy has it, is about all records within it.
    aligned: bool,
    depth: usize,
}

fn convert(node: &Node, inside: Inside) -> Result<Dtype, DtypeError> {
    // The literal's own depth is limited already; this says so again where the recursion is.
    if inside.depth >= MAX_DEPTH {
        return Err(DtypeError::TooDeep { offset: node.at });
    }
    let inside = Inside { depth: inside.depth.saturating_add(1), ..inside };
    match &node.value {
        Value::Str(text) => Ok(Dtype::Scalar(scalar::parse(text, node.at)?)),
        Value::List(fields) => list(node, fields, inside),
        Value::Dict(items) if node.get("names").is_none() => by_name(node, items, inside),
        Value::Dict(_) => dict(node, inside),
        Value::Tuple(pair) => match pair.as_slice() {
            [item, shape] => sub_array(convert(item, inside)?, shape),
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

/// Collects fields, checking names and offsets as they come.
struct Builder {
    fields: Vec<Field>,
    names: BTreeSet<String>,
    end: u32,
    aligned: bool,
    /// The largest of the fields.
    alignment: u32,
}

impl Builder {
    fn new(aligned: bool) -> Builder {
        Builder { fields: Vec::new(), names: BTreeSet::new(), end: 0, aligned, alignment: 1 }
    }

    /// Adds a field, behind the others if no offset is given.
    fn push(
        &mut self,
        at: &Node,
        name: String,
        title: Option<String>,
        offset: Option<u32>,
        dtype: Dtype,
    ) -> Result<(), DtypeError> {
        if !self.names.insert(name.clone()) {
            return Err(layout(at, "two fields have the same name"));
        }
        let alignment = if self.aligned { dtype.alignment() } else { 1 };
        self.alignment = self.alignment.max(alignment);
        let offset =
            offset.unwrap_or_else(|| self.end.checked_next_multiple_of(alignment).unwrap_or(u32::MAX));
        if !offset.is_multiple_of(alignment) {
            return Err(layout(at, "a field of an aligned type does not lie where C would put it"));
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

    /// The type, of the size that its fields need or of the one given.
    fn finish(self, at: &Node, itemsize: Option<u32>) -> Result<Dtype, DtypeError> {
        let Builder { fields, end, aligned, alignment, .. } = self;
        let minimum = end.checked_next_multiple_of(alignment).unwrap_or(u32::MAX);
        let itemsize = itemsize.unwrap_or(minimum);
        if itemsize < end || itemsize > MAX_ITEMSIZE {
            return Err(layout(at, "the itemsize is too small for the fields, or above 2 GiB"));
        }
        if !itemsize.is_multiple_of(alignment) {
            return Err(layout(at, "the itemsize of an aligned type is not what C would give it"));
        }
        Ok(Dtype::Struct(Struct { fields, itemsize, aligned }))
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
fn list(node: &Node, fields: &[Node], inside: Inside) -> Result<Dtype, DtypeError> {
    let mut b = Builder::new(inside.aligned);
    for field in fields {
        let (name, format, shape) = match field.items() {
            Some([name, format]) => (name, format, None),
            Some([name, format, shape]) => (name, format, Some(shape)),
            _ => return Err(syntax(field, "a (name, type) or (name, type, shape) tuple")),
        };
        let mut dtype = convert(format, inside)?;
        if let Some(shape) = shape {
            dtype = sub_array(dtype, shape)?;
        }
        let (mut name, title) = field_name(name)?;
        if name.is_empty() {
            let void = matches!(dtype, Dtype::Scalar(Scalar { kind: Kind::Void, .. }));
            if inside.padding == Padding::Unnamed && void && title.is_none() {
                b.skip(field, b.end, dtype.itemsize())?;
                continue;
            }
            name = alloc::format!("f{}", b.fields.len());
        }
        b.push(field, name, title, None, dtype)?;
    }
    b.finish(node, None)
}

/// `{'names': [..], 'formats': [..], 'offsets': [..], 'titles': [..], 'itemsize': n, 'aligned': b}`
fn dict(node: &Node, inside: Inside) -> Result<Dtype, DtypeError> {
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
        None => inside.aligned,
        Some(Value::Bool(b)) => inside.aligned || *b,
        Some(_) => return Err(layout(node, "aligned is neither True nor False")),
    };
    let inside = Inside { aligned, ..inside };
    let mut b = Builder::new(aligned);
    for (index, (name, format)) in names.iter().zip(formats).enumerate() {
        let dtype = convert(format, inside)?;
        let (name, mut title) = (field_name(name)?.0, None);
        if let Some(t) = titles.and_then(|t| t.get(index)) {
            title = match &t.value {
                Value::None => None,
                Value::Str(s) => Some(s.clone()),
                _ => return Err(syntax(t, "a title")),
            };
        }
        let offset = offsets.and_then(|o| o.get(index)).map(field_offset).transpose()?;
        b.push(format, name, title, offset, dtype)?;
    }
    let size = |n: &Node| n.as_u64().and_then(|v| u32::try_from(v).ok()).unwrap_or(u32::MAX);
    b.finish(node, node.get("itemsize").map(size))
}

fn field_offset(node: &Node) -> Result<u32, DtypeError> {
    let offset = node.as_u64().and_then(|v| u32::try_from(v).ok());
    offset.ok_or_else(|| layout(node, "not an offset of a field"))
}

/// `{'a': ('<i4', 0), 'b': ('<f8', 8, 'title')}`: in the order of the offsets.
fn by_name(node: &Node, items: &[(Node, Node)], inside: Inside) -> Result<Dtype, DtypeError> {
    let mut columns = Vec::new();
    for (name, value) in items {
        let (format, offset, title) = match value.items() {
            Some([format, offset]) => (format, offset, None),
            Some([format, offset, title]) => (format, offset, title.as_str()),
            _ => return Err(syntax(value, "a (type, offset) tuple")),
        };
        columns.push((field_offset(offset)?, name, format, title));
    }
    columns.sort_by_key(|(offset, ..)| *offset);
    let mut b = Builder::new(inside.aligned);
    for (offset, name, format, title) in columns {
        let text = name.as_str().ok_or_else(|| syntax(name, "a field name"))?;
        let dtype = convert(format, inside)?;
        b.push(name, text.to_string(), title.map(ToString::to_string), Some(offset), dtype)?;
    }
    if b.fields.is_empty() {
        return Err(syntax(node, "a dict with names"));
    }
    b.finish(node, None)
}
