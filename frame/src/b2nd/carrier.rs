//! Frames and arrays that stand for something else: the conventions of python-blosc2 met in the wild
//! (docs/formats/b2nd.md §7). They are named, so that placeholder zeros are not taken for data; nothing
//! is unpickled, executed, fetched or opened on their account.

use crate::error::Error;
use crate::schunk::SuperChunk;
use core::fmt;

/// What a frame carries besides, or instead of, its own data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carrier {
    /// The array is only the shape of an object; its recipe is in the vlmetalayer `b2o`.
    Object(ObjectKind),
    /// The older form of an expression or user function over other arrays.
    LazyArray,
    /// A cache of another array: chunks that were not fetched are placeholders.
    Proxy,
    /// One MessagePack value per chunk.
    ObjectArray,
    /// One batch of MessagePack values per chunk, in blocks of their own sizes.
    BatchArray,
    /// Lists of values, in one of these two forms.
    ListArray,
    /// A column of a table in one of these forms.
    Column,
    /// A frame of whole frames: `.b2e`.
    EmbedStore,
    /// The root of a `.b2d` or `.b2z` store.
    Store,
    /// A tensor of another library in a plain super-chunk.
    PackedTensor,
}

/// The kinds of [`Carrier::Object`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectKind {
    /// An expression over other arrays.
    LazyExpr,
    /// A user's function over other arrays: source code.
    LazyUdf,
    /// A reference to an array of a Caterva2 server.
    C2Array,
    /// A reference to an array elsewhere.
    RemoteArray,
    /// Something later than this library.
    Unknown,
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Carrier::Object(ObjectKind::LazyExpr) => {
                "a lazy expression over other arrays, which is not evaluated; the items here are placeholders"
            }
            Carrier::Object(ObjectKind::LazyUdf) => {
                "a lazy user function, which is never run; the items here are placeholders"
            }
            Carrier::Object(ObjectKind::C2Array) => {
                "a reference to a Caterva2 server (C2Array), which is not fetched; the items here are placeholders"
            }
            Carrier::Object(ObjectKind::RemoteArray) => {
                "a reference to a remote array, which is not fetched; the items here are placeholders"
            }
            Carrier::Object(ObjectKind::Unknown) => {
                "a python-blosc2 object of an unknown kind; the items here are placeholders"
            }
            Carrier::LazyArray => {
                "a lazy array over other arrays, which is not evaluated; the items here are placeholders"
            }
            Carrier::Proxy => "a cache of another array; chunks that were not fetched are placeholders",
            Carrier::ObjectArray => "a python-blosc2 ObjectArray: one MessagePack value per chunk",
            Carrier::BatchArray => "a python-blosc2 BatchArray: one batch of values per chunk",
            Carrier::ListArray => "a python-blosc2 ListArray: lists of values, some of them to a chunk",
            Carrier::Column => "a column of a python-blosc2 table",
            Carrier::EmbedStore => "a python-blosc2 EmbedStore: frames inside a frame",
            Carrier::Store => "the root of a python-blosc2 store",
            Carrier::PackedTensor => "a tensor packed by python-blosc2 in a plain super-chunk",
        })
    }
}

impl Carrier {
    /// Whether the items of the array are placeholders and not data.
    pub fn is_placeholder(&self) -> bool {
        matches!(self, Carrier::Object(_) | Carrier::LazyArray | Carrier::Proxy)
    }

    /// Whether the bytes of the chunks are records of another library, which know their own lengths and places.
    pub fn has_records(&self) -> bool {
        use Carrier::{BatchArray, Column, EmbedStore, ListArray, ObjectArray, Store};
        matches!(self, ObjectArray | BatchArray | ListArray | Column | EmbedStore | Store)
    }
}

/// What `frame` carries; `None` for ordinary data.
///
/// # Errors
/// A vlmetalayer that cannot be decoded.
pub fn of(frame: &SuperChunk<'_>) -> Result<Option<Carrier>, Error> {
    let has = |frame: &SuperChunk<'_>, name| frame.metalayer(name).is_some();
    if let Some(content) = frame.metalayer("b2o") {
        return Ok(Some(Carrier::Object(object_kind(content))));
    }
    let table = [
        ("b2embed", Carrier::EmbedStore),
        ("b2dict", Carrier::Store),
        ("b2tree", Carrier::Store),
        ("b2remote_store", Carrier::Store),
        ("LazyArray", Carrier::LazyArray),
        ("proxy-source", Carrier::Proxy),
        ("listarray", Carrier::ListArray),
        ("ctable_varlen_scalar", Carrier::Column),
        ("vlarray", Carrier::ObjectArray),
        ("batcharray", Carrier::BatchArray),
    ];
    if let Some((_, carrier)) = table.into_iter().find(|(name, _)| has(frame, name)) {
        return Ok(Some(carrier));
    }
    let packed = frame.vlmetalayer_names().any(|name| name == "__pack_tensor__");
    Ok(packed.then_some(Carrier::PackedTensor))
}

/// The kind is a string in a MessagePack map; finding it needs no parser.
fn object_kind(content: &[u8]) -> ObjectKind {
    let says = |text: &[u8]| content.windows(text.len()).any(|w| w == text);
    match () {
        () if says(b"lazyexpr") => ObjectKind::LazyExpr,
        () if says(b"lazyudf") => ObjectKind::LazyUdf,
        () if says(b"c2array") => ObjectKind::C2Array,
        () if says(b"remote_array") => ObjectKind::RemoteArray,
        () => ObjectKind::Unknown,
    }
}
