//! HDF5 datatypes as NumPy dtypes: of items as they lie in the file, so that no byte is changed.

use blosc_frame::dtype::Dtype;
use hdf5_pure::{Dataset, Datatype, DatatypeByteOrder, FloatingPointLayout};

/// Deepest datatypes within datatypes, and longest text of one.
const DEPTH: usize = 16;
const LONGEST: usize = 32 << 10;

/// The dtype of a datatype, or why there is none.
pub fn dtype(datatype: &Datatype) -> Result<Dtype, String> {
    let text = text(datatype, 0)?;
    if matches!(datatype, Datatype::Array { .. }) {
        return Err(format!("items that are arrays, {text}"));
    }
    let dtype = Dtype::parse(&text).map_err(|error| format!("datatype {text}: {error}"))?;
    match dtype.itemsize() == datatype.type_size() {
        true => Ok(dtype),
        false => Err(format!("datatype {text} of {} bytes", datatype.type_size())),
    }
}

/// What `info` says of the type.
pub fn name(datatype: &Datatype, dtype: &Result<Dtype, String>) -> String {
    match (dtype, datatype) {
        (Ok(dtype), _) => dtype.to_string(),
        (_, Datatype::VariableLength { is_string: true, .. }) => "variable-length string".into(),
        (_, Datatype::VariableLength { .. }) => "variable-length list".into(),
        (_, Datatype::Reference { .. }) => "reference".into(),
        (_, Datatype::Time { .. }) => "time".into(),
        _ => text(datatype, 0).unwrap_or_else(|why| why),
    }
}

fn order(order: &DatatypeByteOrder, size: u32) -> Result<char, String> {
    match order {
        _ if size == 1 => Ok('|'),
        DatatypeByteOrder::LittleEndian => Ok('<'),
        DatatypeByteOrder::BigEndian => Ok('>'),
        DatatypeByteOrder::Vax => Err("numbers in the byte order of a VAX".into()),
    }
}

fn is_ieee(size: u32, layout: &FloatingPointLayout) -> bool {
    let half = FloatingPointLayout {
        bit_precision: 16,
        exponent_location: 10,
        exponent_size: 5,
        mantissa_size: 10,
        exponent_bias: 15,
        ..FloatingPointLayout::IEEE754_BINARY32
    };
    match size {
        2 => *layout == half,
        4 => *layout == FloatingPointLayout::IEEE754_BINARY32,
        8 => *layout == FloatingPointLayout::IEEE754_BINARY64,
        _ => false,
    }
}

/// A dtype as NumPy writes it.
fn text(datatype: &Datatype, depth: usize) -> Result<String, String> {
    if depth > DEPTH {
        return Err("a datatype that is too deep".into());
    }
    Ok(match datatype {
        Datatype::FixedPoint { size, byte_order, layout } => {
            let whole = layout.bit_offset == 0 && u32::from(layout.bit_precision) == size.saturating_mul(8);
            if !whole || !matches!(size, 1 | 2 | 4 | 8) {
                return Err(format!("integers of {} bits in {size} bytes", layout.bit_precision));
            }
            format!("{}{}{size}", order(byte_order, *size)?, if layout.signed { 'i' } else { 'u' })
        }
        Datatype::FloatingPoint { size, byte_order, layout } => match is_ieee(*size, layout) {
            true => format!("{}f{size}", order(byte_order, *size)?),
            false => return Err(format!("floating-point numbers of {size} bytes that are not IEEE 754's")),
        },
        Datatype::String { size, .. } => format!("|S{size}"),
        Datatype::BitField { size, byte_order, .. } => match size {
            1 | 2 | 4 | 8 => format!("{}u{size}", order(byte_order, *size)?),
            _ => format!("|V{size}"),
        },
        // h5py stores what HDF5 has no type for, such as dates, with the dtype as tag.
        Datatype::Opaque { size, tag } => match tag.strip_prefix(b"NUMPY:").map(std::str::from_utf8) {
            Some(Ok(text)) => text.trim_end_matches('\0').to_string(),
            _ => format!("|V{size}"),
        },
        Datatype::Enumeration { base_type, members, .. } => {
            let named = |name: &str| members.iter().any(|member| member.name == name);
            match members.len() == 2 && base_type.type_size() == 1 && named("FALSE") && named("TRUE") {
                true => "|b1".into(),
                false => text(base_type, depth + 1)?,
            }
        }
        Datatype::Array { base_type, dimensions } => {
            let sides: Vec<String> = dimensions.iter().map(u32::to_string).collect();
            let base = element(base_type, depth)?;
            format!("({base}, ({},))", sides.join(", "))
        }
        Datatype::Compound { size, members } => return compound(*size, members, depth),
        Datatype::VariableLength { is_string: true, .. } => {
            return Err("variable-length strings are not read".into());
        }
        Datatype::VariableLength { .. } => return Err("variable-length lists are not read".into()),
        Datatype::Reference { .. } => return Err("references are not followed".into()),
        _ => return Err("a datatype that NumPy has none for".into()),
    })
}

/// A dtype inside another.
fn element(datatype: &Datatype, depth: usize) -> Result<String, String> {
    let text = text(datatype, depth + 1)?;
    Ok(if text.starts_with(['{', '(']) { text } else { format!("'{text}'") })
}

fn compound(size: u32, members: &[hdf5_pure::CompoundMember], depth: usize) -> Result<String, String> {
    if let [re, im] = members
        && (re.name.as_str(), im.name.as_str()) == ("r", "i")
        && re.datatype == im.datatype
        && re.byte_offset == 0
        && im.byte_offset == u64::from(re.datatype.type_size())
        && size == 2 * re.datatype.type_size().min(8)
        && let Datatype::FloatingPoint { size: 4 | 8, byte_order, .. } = &re.datatype
    {
        return Ok(format!("{}c{size}", order(byte_order, size)?));
    }
    let (mut names, mut formats, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for member in members {
        let name = &member.name;
        if name.contains(['\'', '\\']) || name.chars().any(char::is_control) {
            return Err(format!("a field that is called {name:?}"));
        }
        names.push(format!("'{name}'"));
        formats.push(element(&member.datatype, depth).map_err(|why| format!("field {name:?}: {why}"))?);
        offsets.push(member.byte_offset.to_string());
        if formats.iter().map(String::len).sum::<usize>() > LONGEST {
            return Err("a datatype of too many fields".into());
        }
    }
    Ok(format!(
        "{{'names': [{}], 'formats': [{}], 'offsets': [{}], 'itemsize': {size}}}",
        names.join(", "),
        formats.join(", "),
        offsets.join(", ")
    ))
}

/// An item of chunks that are not stored.
pub fn fill(dataset: &Dataset, datatype: &Datatype, item: u64) -> Result<Vec<u8>, String> {
    if matches!(dataset.fill_value::<u8>(), Ok(None)) {
        return Ok(vec![0; usize::try_from(item).map_err(|error| error.to_string())?]);
    }
    let unable = || "chunks are missing, and the fill value cannot be read".to_string();
    let (mut bytes, order, size) = match datatype {
        Datatype::FixedPoint { size, byte_order, layout } => {
            let number = match layout.signed {
                true => dataset.fill_value::<i64>().ok().flatten().map(i64::to_le_bytes),
                false => dataset.fill_value::<u64>().ok().flatten().map(u64::to_le_bytes),
            };
            (number.ok_or_else(unable)?.to_vec(), byte_order, *size)
        }
        Datatype::FloatingPoint { size: 4, byte_order, .. } => {
            let number = dataset.fill_value::<f32>().ok().flatten().ok_or_else(unable)?;
            (number.to_le_bytes().to_vec(), byte_order, 4)
        }
        Datatype::FloatingPoint { size: 8, byte_order, .. } => {
            let number = dataset.fill_value::<f64>().ok().flatten().ok_or_else(unable)?;
            (number.to_le_bytes().to_vec(), byte_order, 8)
        }
        _ => return Err(unable()),
    };
    bytes.truncate(usize::try_from(size).map_err(|error| error.to_string())?);
    if matches!(order, DatatypeByteOrder::BigEndian) {
        bytes.reverse();
    }
    Ok(bytes)
}
