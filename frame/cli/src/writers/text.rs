//! Items of an array as text: CSV, a line for each run along the last axis.
//!
//! ```text
//! [[1, 2], [3, 4]]      1,2      an array of records      x,y
//!                       3,4      is a table               1,2.5
//! ```
//! Numbers are written so that reading them gives the same number. Control characters of a text are escaped, and one with a
//! comma or a quote in it is quoted.

use crate::cut::Cut;
use crate::failure::{Failure, Result};
use crate::readers::Items;
use blosc_frame::b2nd::{Take, show};
use blosc_frame::dtype::Dtype;
use std::io::{self, Write};

/// Writes decoded items as text.
pub struct TextItems<'a> {
    out: &'a mut dyn Write,
    dtype: Dtype,
    item: usize,
    /// Items on a line.
    width: u64,
    at: u64,
    /// The first bytes of an item that is not whole yet.
    rest: Vec<u8>,
}

impl<'a> TextItems<'a> {
    /// Text of what `cut` selects of `items`.
    ///
    /// # Errors
    /// Items without a type; those of writing the names of fields.
    pub fn new(items: &Items, cut: &Cut<'_>, out: &'a mut dyn Write) -> Result<TextItems<'a>> {
        let dtype = items.dtype.clone();
        let dtype = dtype.ok_or_else(|| Failure::Data("the type of the items is not known".into()))?;
        if let Dtype::Struct(record) = &dtype {
            let names: Vec<String> = record.fields.iter().map(|field| quoted(&field.name)).collect();
            writeln!(out, "{}", names.join(","))?;
        }
        // What has one axis is a column.
        let columns = items.shape.len() > 1 && !matches!(dtype, Dtype::Struct(_));
        let width = match cut.takes(&items.shape)?.last() {
            Some(Take::Run { count, .. }) if columns => (*count).max(1),
            _ => 1,
        };
        let item = usize::try_from(items.size).unwrap_or(usize::MAX).max(1);
        Ok(TextItems { out, dtype, item, width, at: 0, rest: Vec::new() })
    }

    fn one(&self, item: &[u8]) -> String {
        let Dtype::Struct(record) = &self.dtype else { return quoted(&show(&self.dtype, item)) };
        let fields = record.fields.iter().map(|field| {
            let start = field.offset as usize;
            let bytes = item.get(start..start.saturating_add(field.dtype.itemsize() as usize));
            quoted(&show(&field.dtype, bytes.unwrap_or_default()))
        });
        fields.collect::<Vec<_>>().join(",")
    }
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

impl Write for TextItems<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() - self.rest.len() % self.item;
        let rest = self.rest.split_off(whole);
        let items = std::mem::replace(&mut self.rest, rest);
        for item in items.chunks_exact(self.item) {
            self.at += 1;
            let end = if self.at.is_multiple_of(self.width) { '\n' } else { ',' };
            write!(self.out, "{}{end}", self.one(item))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
