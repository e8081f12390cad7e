//! What a dtype is: a scalar, some items in one, or named fields; and why a text is none.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Longest text that is parsed, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;
/// Deepest nesting of brackets, and of dtypes in dtypes.
pub const MAX_DEPTH: usize = 32;
/// Largest item, in bytes: what a chunk could still hold.
pub const MAX_ITEMSIZE: u32 = i32::MAX as u32;

/// Byte order of the numbers in an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first, `<`.
    Little,
    /// Most significant byte first, `>`.
    Big,
    /// An item of one byte, or without numbers in it, has no order, `|`.
    None,
}

impl ByteOrder {
    /// The order of the machine this runs on.
    pub const NATIVE: ByteOrder =
        if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };

    pub(super) const fn char(self) -> char {
        match self {
            ByteOrder::Little => '<',
            ByteOrder::Big => '>',
            ByteOrder::None => '|',
        }
    }
}

/// Unit of a date or a time span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// No unit: a bare count.
    Generic,
    /// Years.
    Year,
    /// Months.
    Month,
    /// Weeks.
    Week,
    /// Days.
    Day,
    /// Hours.
    Hour,
    /// Minutes.
    Minute,
    /// Seconds.
    Second,
    /// 10^-3 s.
    Milli,
    /// 10^-6 s.
    Micro,
    /// 10^-9 s.
    Nano,
    /// 10^-12 s.
    Pico,
    /// 10^-15 s.
    Femto,
    /// 10^-18 s.
    Atto,
}

impl Unit {
    pub(super) const NAMES: [(&'static str, Unit); 13] = [
        ("Y", Unit::Year),
        ("M", Unit::Month),
        ("W", Unit::Week),
        ("D", Unit::Day),
        ("h", Unit::Hour),
        ("m", Unit::Minute),
        ("s", Unit::Second),
        ("ms", Unit::Milli),
        ("us", Unit::Micro),
        ("ns", Unit::Nano),
        ("ps", Unit::Pico),
        ("fs", Unit::Femto),
        ("as", Unit::Atto),
    ];

    /// NumPy's name, empty for [`Unit::Generic`].
    pub fn name(self) -> &'static str {
        Unit::NAMES.iter().find(|(_, u)| *u == self).map_or("", |(name, _)| name)
    }
}

/// What a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `b1`: zero or one.
    Bool,
    /// `i1` … `i8`.
    Int,
    /// `u1` … `u8`.
    Uint,
    /// `f2`, `f4`, `f8`, and the platform's long double, `f12` or `f16`.
    Float,
    /// Two floats of half the size: `c8`, `c16`, `c24`, `c32`.
    Complex,
    /// `M8`: `count` units since 1970 as `i8`.
    Datetime {
        /// The unit.
        unit: Unit,
        /// Units per step, 1 unless written `[25s]`.
        count: u32,
    },
    /// `m8`: `count` units as `i8`.
    Timedelta {
        /// The unit.
        unit: Unit,
        /// Units per step.
        count: u32,
    },
    /// `S`: bytes, padded with zeros.
    Bytes,
    /// `U`: UCS-4 characters, padded with zeros.
    Unicode,
    /// `V`: opaque bytes.
    Void,
}

/// A dtype without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// What it is.
    pub kind: Kind,
    /// Byte order; [`ByteOrder::None`] where there is nothing to order.
    pub order: ByteOrder,
    /// Bytes of one item.
    pub size: u32,
}

/// One field of a structured dtype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// A second name, rarely used.
    pub title: Option<String>,
    /// Where it begins in the item, in bytes.
    pub offset: u32,
    /// Its type.
    pub dtype: Dtype,
}

/// A structured dtype: named fields at fixed offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// The fields in order; offsets may leave gaps and may overlap.
    pub fields: Vec<Field>,
    /// Bytes of one item, padding included.
    pub itemsize: u32,
    /// Laid out as C would.
    pub aligned: bool,
}

/// The type of an array's items.
///
/// ```
/// use blosc_frame::dtype::Dtype;
/// let d = Dtype::parse("[('t', '>M8[ns]'), ('xyz', '<f4', (3,))]").unwrap();
/// assert_eq!(d.itemsize(), 20);
/// assert_eq!(d.to_string(), "[('t', '>M8[ns]'), ('xyz', '<f4', (3,))]");
/// assert_eq!(Dtype::parse("float32").unwrap().to_string(), "<f4");
/// assert!(Dtype::parse("|O").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// A plain type.
    Scalar(Scalar),
    /// A fixed-size array of another type in each item.
    Array {
        /// The type of its items.
        item: Box<Dtype>,
        /// Its shape, C order.
        shape: Vec<u32>,
    },
    /// Named fields.
    Struct(Struct),
}

/// Why a text is not a dtype. Offsets count bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DtypeError {
    /// The text is longer than [`MAX_TEXT`].
    TooLong {
        /// Its length.
        len: usize,
    },
    /// More brackets inside each other than [`MAX_DEPTH`].
    TooDeep {
        /// Where.
        offset: usize,
    },
    /// Not a Python literal of the kind a dtype is.
    Syntax {
        /// Where.
        offset: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// Items would be pointers into the memory of the process that wrote them.
    Pointer {
        /// Where.
        offset: usize,
    },
    /// No type of this name.
    Unknown {
        /// Where.
        offset: usize,
    },
    /// A type whose size depends on the machine, such as `l` or `g`.
    PlatformDependent {
        /// Where.
        offset: usize,
    },
    /// A kind that does not come in this size.
    Size {
        /// Where.
        offset: usize,
        /// The size asked for.
        size: u64,
    },
    /// Fields that cannot be laid out.
    Layout {
        /// Where.
        offset: usize,
        /// What is wrong, for people.
        reason: &'static str,
    },
}

impl fmt::Display for DtypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DtypeError::TooLong { len } => {
                write!(f, "dtype text of {len} bytes: more than {MAX_TEXT} are not read")
            }
            DtypeError::TooDeep { offset } => {
                write!(f, "dtype text at byte {offset}: nested more than {MAX_DEPTH} deep")
            }
            DtypeError::Syntax { offset, expected } => {
                write!(f, "dtype text at byte {offset}: expected {expected}")
            }
            DtypeError::Pointer { offset } => write!(
                f,
                "dtype text at byte {offset}: object items are pointers into the process that wrote \
                 them, so their bytes mean nothing here, and pickles are never opened"
            ),
            DtypeError::Unknown { offset } => write!(f, "dtype text at byte {offset}: no such type"),
            DtypeError::PlatformDependent { offset } => write!(
                f,
                "dtype text at byte {offset}: the size of this type depends on the machine; \
                 write it with its size, such as <i8"
            ),
            DtypeError::Size { offset, size } => {
                write!(f, "dtype text at byte {offset}: this kind has no size {size}")
            }
            DtypeError::Layout { offset, reason } => write!(f, "dtype text at byte {offset}: {reason}"),
        }
    }
}

impl core::error::Error for DtypeError {}

impl Dtype {
    /// A plain type; `size` in bytes.
    pub const fn scalar(kind: Kind, order: ByteOrder, size: u32) -> Dtype {
        Dtype::Scalar(Scalar { kind, order, size })
    }

    /// `|V<size>`: opaque items.
    pub const fn opaque(size: u32) -> Dtype {
        Dtype::scalar(Kind::Void, ByteOrder::None, size)
    }

    /// Bytes of one item.
    pub fn itemsize(&self) -> u32 {
        match self {
            Dtype::Scalar(s) => s.size,
            // Checked when it was built: see `Dtype::array`.
            Dtype::Array { item, shape } => {
                shape.iter().fold(item.itemsize(), |size, n| size.saturating_mul(*n))
            }
            Dtype::Struct(s) => s.itemsize,
        }
    }

    /// `shape` items of `item` as one; `None` when that is more than [`MAX_ITEMSIZE`] bytes.
    pub fn array(item: Dtype, shape: Vec<u32>) -> Option<Dtype> {
        let mut size = u64::from(item.itemsize()).max(1);
        // A zero makes the product zero whatever the others are, so bound the others too.
        for n in &shape {
            size = size.checked_mul(u64::from(*n).max(1)).filter(|s| *s <= u64::from(MAX_ITEMSIZE))?;
        }
        Some(Dtype::Array { item: Box::new(item), shape })
    }

    /// Alignment C would give it, in bytes.
    pub(super) fn alignment(&self) -> u32 {
        match self {
            Dtype::Scalar(s) => match s.kind {
                Kind::Bytes | Kind::Void => 1,
                Kind::Unicode => 4,
                Kind::Complex => (s.size / 2).max(1).next_power_of_two(),
                _ => s.size.max(1).next_power_of_two(),
            },
            Dtype::Array { item, .. } => item.alignment(),
            Dtype::Struct(s) if s.aligned => s.fields.iter().map(|f| f.dtype.alignment()).max().unwrap_or(1),
            Dtype::Struct(_) => 1,
        }
    }
}
