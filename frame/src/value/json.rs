//! JSON as Python's `json` module writes it, and the literals Python prints, read.
//!
//! ```text
//! value  = null | true | false | number | string | [ value, … ] | { string : value, … }
//! number = -? int frac? exp? | NaN | Infinity | -Infinity
//! python = None | True | False | 'string' | ( value, … ), trailing commas, all of the above
//! ```
//! A surrogate that has no partner has no place in UTF-8: it is read as U+FFFD, or refused by `Strict`.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{TextError, TextLimits, Value};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Which texts are taken.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Syntax {
    Json,
    /// JSON without loss: no name twice in an object, no half of a surrogate pair.
    Strict,
    Python,
}

pub(super) fn parse(text: &[u8], limits: &TextLimits, syntax: Syntax) -> Result<Value, TextError> {
    if text.len() > limits.bytes {
        return Err(TextError { what: "the text is larger than the limit", offset: limits.bytes });
    }
    let text = match core::str::from_utf8(text) {
        Ok(t) => t,
        Err(e) => return Err(TextError { what: "not UTF-8", offset: e.valid_up_to() }),
    };
    let (python, strict) = (syntax == Syntax::Python, syntax == Syntax::Strict);
    let mut p = Parser { text, at: 0, left: limits.values, python, strict };
    let value = p.value(limits.depth)?;
    p.blank();
    match p.peek() {
        None => Ok(value),
        Some(_) => p.fail("text after the value"),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    left: u32,
    python: bool,
    strict: bool,
}

impl<'a> Parser<'a> {
    fn fail<T>(&self, what: &'static str) -> Result<T, TextError> {
        Err(TextError { what, offset: self.at })
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, n: usize) {
        self.at = self.at.saturating_add(n);
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.skip(1);
        }
    }

    fn eat(&mut self, c: u8) -> bool {
        self.blank();
        let hit = self.peek() == Some(c);
        if hit {
            self.skip(1);
        }
        hit
    }

    fn value(&mut self, depth: u32) -> Result<Value, TextError> {
        self.blank();
        self.left = match self.left.checked_sub(1) {
            Some(n) => n,
            None => return self.fail("more values than the limit"),
        };
        let Some(c) = self.peek() else { return self.fail("a value is missing") };
        let deeper = || depth.checked_sub(1).ok_or(TextError { what: "nested too deeply", offset: self.at });
        match c {
            b'{' => {
                let deeper = deeper()?;
                self.object(deeper)
            }
            b'[' => {
                let deeper = deeper()?;
                Ok(Value::List(self.list(b']', deeper)?))
            }
            b'(' if self.python => {
                let deeper = deeper()?;
                Ok(Value::Tuple(self.list(b')', deeper)?))
            }
            b'"' => Ok(Value::Text(self.string(b'"')?)),
            b'\'' if self.python => Ok(Value::Text(self.string(b'\'')?)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Value, TextError> {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = rest.get(..len).unwrap_or("");
        let value = match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "NaN" | "Infinity" => Value::Number(word.into()),
            "None" if self.python => Value::Null,
            "True" if self.python => Value::Bool(true),
            "False" if self.python => Value::Bool(false),
            _ => return self.fail("not a value"),
        };
        self.skip(len);
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, TextError> {
        let rest = self.rest();
        if rest.starts_with("-Infinity") {
            self.skip(9);
            return Ok(Value::Number("-Infinity".into()));
        }
        let len =
            rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let number = rest.get(..len).unwrap_or("");
        if !is_number(number) {
            return self.fail("not a number");
        }
        self.skip(len);
        Ok(Value::Number(number.into()))
    }

    fn list(&mut self, close: u8, depth: u32) -> Result<Vec<Value>, TextError> {
        self.skip(1);
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(b',') {
                return self.fail("',' or the end of the list is missing");
            }
            if self.python && self.eat(close) {
                return Ok(items);
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<Value, TextError> {
        self.skip(1);
        let mut pairs = Vec::new();
        if self.eat(b'}') {
            return Ok(Value::Object(pairs));
        }
        loop {
            self.blank();
            let name = match self.peek() {
                Some(b'"') => self.string(b'"')?,
                Some(b'\'') if self.python => self.string(b'\'')?,
                _ => return self.fail("a name in quotes is missing"),
            };
            if !self.eat(b':') {
                return self.fail("':' is missing");
            }
            pairs.push((name, self.value(depth)?));
            if self.eat(b'}') {
                break;
            }
            if !self.eat(b',') {
                return self.fail("',' or '}' is missing");
            }
            if self.python && self.eat(b'}') {
                break;
            }
        }
        let named = pairs.len();
        let pairs = last_wins(pairs);
        match self.strict && pairs.len() < named {
            true => self.fail("an object has two values of one name"),
            false => Ok(Value::Object(pairs)),
        }
    }

    fn string(&mut self, quote: u8) -> Result<String, TextError> {
        self.skip(1);
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let Some(plain) = rest.find(|c: char| c == char::from(quote) || c == '\\' || c < ' ') else {
                return self.fail("a closing quote is missing");
            };
            out.push_str(rest.get(..plain).unwrap_or(""));
            self.skip(plain);
            match self.peek() {
                Some(c) if c == quote => {
                    self.skip(1);
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.skip(1);
                    self.escape(&mut out)?;
                }
                _ => return self.fail("a control character inside quotes"),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), TextError> {
        let Some(c) = self.peek() else { return self.fail("a closing quote is missing") };
        let plain = match c {
            b'"' | b'\\' | b'/' => char::from(c),
            b'\'' if self.python => '\'',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'x' if self.python => {
                self.skip(1);
                let code = self.hex(2)?;
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                return Ok(());
            }
            b'u' => {
                self.skip(1);
                let high = self.hex(4)?;
                out.push(self.join_surrogates(high)?);
                return Ok(());
            }
            _ => return self.fail("an unknown escape"),
        };
        self.skip(1);
        out.push(plain);
        Ok(())
    }

    /// The character of `unit`, with the `\uXXXX` after it when the two are a surrogate pair.
    fn join_surrogates(&mut self, unit: u32) -> Result<char, TextError> {
        if (0xd800..0xdc00).contains(&unit) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.skip(2);
            let low = self.hex(4)?;
            if (0xdc00..0xe000).contains(&low) {
                let pair = [unit, low].map(|u| u16::try_from(u).unwrap_or(0));
                return Ok(char::decode_utf16(pair).next().and_then(Result::ok).unwrap_or('\u{fffd}'));
            }
            self.at = before;
        }
        match char::from_u32(unit) {
            Some(c) => Ok(c),
            None if self.strict => self.fail("half of a surrogate pair, which is no character"),
            None => Ok('\u{fffd}'),
        }
    }

    fn hex(&mut self, digits: usize) -> Result<u32, TextError> {
        let end = self.at.saturating_add(digits);
        let hex = self.text.get(self.at..end).filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()));
        match hex.and_then(|h| u32::from_str_radix(h, 16).ok()) {
            Some(n) => {
                self.skip(digits);
                Ok(n)
            }
            None => self.fail("a bad \\u or \\x escape"),
        }
    }
}

fn is_number(s: &str) -> bool {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let s = s.strip_prefix('-').unwrap_or(s);
    let n = digits(s);
    if n == 0 || (n > 1 && s.starts_with('0')) {
        return false;
    }
    let mut rest = s.get(n..).unwrap_or("");
    if let Some(frac) = rest.strip_prefix('.') {
        let n = digits(frac);
        if n == 0 {
            return false;
        }
        rest = frac.get(n..).unwrap_or("");
    }
    if let Some(exp) = rest.strip_prefix(['e', 'E']) {
        let exp = exp.strip_prefix(['+', '-']).unwrap_or(exp);
        let n = digits(exp);
        return n > 0 && n == exp.len();
    }
    rest.is_empty()
}

/// Keeps one of several pairs with one name: the last value, in the place of the first.
fn last_wins(pairs: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut place: BTreeMap<String, usize> = BTreeMap::new();
    let mut out: Vec<(String, Value)> = Vec::with_capacity(pairs.len());
    for (name, value) in pairs {
        match place.get(&name).and_then(|&i| out.get_mut(i)) {
            Some(slot) => slot.1 = value,
            None => {
                place.insert(name.clone(), out.len());
                out.push((name, value));
            }
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn json(s: &str) -> Result<Value, TextError> {
        Value::parse_json(s.as_bytes(), &TextLimits::JSON)
    }

    #[test]
    fn reads_what_python_writes_and_writes_it_back() {
        for s in [
            r#"{"shape": [1000], "nbytes": 4000, "cbytes": 2229}"#,
            r#"{"a": NaN, "b": [-Infinity, Infinity], "c": "h\u00e9\ud83d\ude00", "d": 1.50e-7, "e": {}}"#,
            "[]",
            "12",
            r#""\u0000\"\\/""#,
        ] {
            assert_eq!(json(s).unwrap().to_json(), s);
        }
        assert_eq!(json("\"\\ud83d\\ude00\"").unwrap(), Value::text("\u{1f600}"));
        assert_eq!(json("\"\\udbff\\udfff\"").unwrap(), Value::text("\u{10ffff}"));
        assert_eq!(json("\"\\ud83dx\\u0041\"").unwrap(), Value::text("\u{fffd}xA"));
    }

    #[test]
    fn last_duplicate_counts_in_the_first_place() {
        let v = json(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap();
        assert_eq!(v.to_json_compact(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn what_would_be_lost_is_refused() {
        let strict = |s: &str| Value::parse_json_strict(s.as_bytes(), &TextLimits::JSON);
        for s in [
            r#"{"a": 1, "a": 1}"#,
            r#"[{"a": {"b": 1, "b": 2}}]"#,
            r#""\ud800""#,
            r#""\ud800\u0041""#,
            r#""\udc00""#,
        ] {
            assert!(strict(s).is_err() && json(s).is_ok(), "{s}");
        }
        assert_eq!(strict(r#"{"a": "\ud83d\ude00"}"#), json(r#"{"a": "\ud83d\ude00"}"#));
    }

    #[test]
    fn refuses_with_the_place() {
        for (s, at) in [
            ("", 0),
            ("{", 1),
            ("[1,]", 3),
            ("01", 0),
            ("1.", 0),
            ("1e", 0),
            ("-", 0),
            ("{'a': 1}", 1),
            ("\"\n\"", 1),
            ("\"\\u12g4\"", 3),
            ("[1] x", 4),
            ("nul", 0),
            ("\"abc", 1),
        ] {
            assert_eq!(json(s).unwrap_err().offset, at, "{s}");
        }
        assert_eq!(Value::parse_json(b"\"\xff\"", &TextLimits::JSON).unwrap_err().what, "not UTF-8");
    }

    #[test]
    fn limits_hold() {
        let deep = alloc::format!("{}{}", "[".repeat(65), "]".repeat(65));
        assert_eq!(json(&deep).unwrap_err().what, "nested too deeply");
        let ok = alloc::format!("{}{}", "[".repeat(64), "]".repeat(64));
        assert!(json(&ok).is_ok());
        let few = TextLimits { values: 3, ..TextLimits::JSON };
        assert!(Value::parse_json(b"[1,2]", &few).is_ok());
        assert!(Value::parse_json(b"[1,2,3]", &few).is_err());
        let short = TextLimits { bytes: 4, ..TextLimits::JSON };
        assert!(Value::parse_json(b"[1,2]", &short).is_err());
    }

    #[test]
    fn python_literals() {
        let v = Value::parse_python(
            b"{'dtype': 'float64', 'shape': (1024,), 'others': [None, True,]}",
            &TextLimits::JSON,
        );
        assert_eq!(v.unwrap().to_json(), r#"{"dtype": "float64", "shape": [1024], "others": [null, true]}"#);
    }
}
