//! Text for terminals: what comes from files that anyone may have written is printed through these.

/// Text with nothing in it that a terminal would act upon: names come from files that anyone may have written.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.extend(c.escape_default()),
            c if is_active(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// [`printable`] of each line.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// A JSON text of equal value, with nothing in it that a terminal would act upon. Outside of strings there is nothing
/// of that kind but ends of lines.
pub fn printable_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_active(c) && c != '\n' {
            // All such characters are below U+10000.
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

/// Controls, and marks that change the direction of text and so the order in which a line is read.
fn is_active(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
