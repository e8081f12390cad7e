//! What is written as text is read back, for the items of every type and their extremes.

use super::bytes::{array_of, items};
use super::exact::fit;
use super::lines::TextReader;
use super::rows::{Rows, batch};
use super::schema::{lists, scalar_type};
use super::text::TextWriter;
use crate::dtype::{Dtype, Scalar};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};

/// Items of a dtype: every byte pattern that is an extreme of some type, as far as it is an item.
fn extremes(scalar: &Scalar) -> Vec<u8> {
    let size = scalar.size as usize;
    let floats =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, f64::MIN, f64::MAX, 5e-324, 0.1, -1e-7];
    let singles = floats.map(|x| if x == f64::MAX { f32::MAX } else { x as f32 });
    match (scalar.kind, size) {
        (crate::dtype::Kind::Bool, _) => [1, 0].to_vec(),
        (crate::dtype::Kind::Float, 2) => {
            [0x7e00u16, 0x7c00, 0xfc00, 0x8000, 0x7bff, 0x0001].map(u16::to_le_bytes).concat()
        }
        (crate::dtype::Kind::Float, 4) | (crate::dtype::Kind::Complex, 8) => {
            singles.map(f32::to_le_bytes).concat()
        }
        (crate::dtype::Kind::Float, 8) | (crate::dtype::Kind::Complex, 16) => {
            floats.map(f64::to_le_bytes).concat()
        }
        (crate::dtype::Kind::Bytes, _) => b"\0\xffa\0\0\0,\"\n".to_vec(),
        (crate::dtype::Kind::Unicode, _) => {
            "ü\u{10ffff}\"\0 ,\n\0\0\0\0\0".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect()
        }
        _ => {
            let high = 1u64 << (8 * size - 1);
            // The least count of a time stands for no time.
            let all = [high + 1, high - 1, 0, 1, u64::MAX, high];
            all.iter().flat_map(|n| n.to_le_bytes()[..size].to_vec()).collect()
        }
    }
}

#[test]
fn items_of_every_type_come_back_from_text() {
    let types = [
        "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16",
        "|S3", "<U3",
    ];
    let mut all: Vec<(Scalar, DataType)> = Vec::new();
    for dtype in types {
        let Ok(Dtype::Scalar(scalar)) = Dtype::parse(dtype) else { unreachable!() };
        all.push((scalar, scalar_type(&scalar).unwrap()));
    }
    let time = all[4].0;
    for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
        for zone in [None, Some("UTC")] {
            all.push((time, DataType::Timestamp(unit, zone.map(Into::into))));
        }
    }
    for (scalar, data_type) in all {
        for shape in [&[][..], &[1], &[1, 1]] {
            let bytes = extremes(&scalar);
            let count = bytes.len() / scalar.size as usize;
            let field = Field::new("x", lists(data_type.clone(), shape).unwrap(), true);
            // A row of null at the end.
            let valid: Vec<bool> = (0..=count).map(|row| row < count).collect();
            let stored = [bytes.clone(), alloc::vec![0; scalar.size as usize]].concat();
            let array = array_of(stored, &scalar, shape, field.data_type(), Some(valid.into())).unwrap();
            let key = array_of(
                [1u64, 2].iter().cycle().take(count + 1).flat_map(|n| n.to_le_bytes()).collect(),
                &Scalar { kind: crate::dtype::Kind::Uint, size: 8, ..time },
                &[],
                &DataType::UInt64,
                None,
            )
            .unwrap();
            let fields: Fields = Vec::from([field, Field::new("key", DataType::UInt64, true)]).into();
            let schema = Arc::new(Schema::new(fields.clone()));
            let rows = batch(&schema, Vec::from([Arc::clone(&array), key])).unwrap();
            for csv in [true, false] {
                let mut text = Vec::new();
                let writer = if csv {
                    TextWriter::csv(&schema, &mut text).unwrap()
                } else {
                    TextWriter::json(&schema)
                };
                writer.write(&rows, &mut text).unwrap();
                let shown = String::from_utf8(text.clone()).unwrap();
                let mut reader = TextReader::new(Box::new(std::io::Cursor::new(text)), csv, 1 << 20).unwrap();
                let found = reader.next(&fields).unwrap_or_else(|e| panic!("{e}: {shown}")).unwrap();
                let found = found.column(0);
                assert!(found.is_null(count) && found.null_count() == 1, "{shown}");
                assert_eq!(
                    items(found, &scalar).unwrap()[..bytes.len()],
                    bytes,
                    "{data_type} {shape:?}\n{shown}"
                );
            }
            let same =
                fit(&array, &fields[0], &Field::new("x", lists(data_type.clone(), shape).unwrap(), false));
            assert_eq!(&same.unwrap(), &array);
        }
    }
}
