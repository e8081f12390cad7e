//! A parser for the Python literals that dtypes and `.npy` headers are made of.
//!
//! ```text
//! value  = string | integer | True | False | None | list | tuple | dict
//! list   = '[' [value {',' value} [',']] ']'
//! tuple  = '(' ')' | '(' value ',' [value {',' value} [',']] ')'      ('(' value ')' is value)
//! dict   = '{' [value ':' value {',' value ':' value} [',']] '}'
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::types::{DtypeError, MAX_DEPTH, MAX_TEXT};
use alloc::string::String;
use alloc::vec::Vec;

/// A value and where its text begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Offset in the text, in bytes.
    pub at: usize,
    /// The value.
    pub value: Value,
}

/// A Python value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `'text'`, also with a `u` or `b` before it.
    Str(String),
    /// An integer.
    Int(i64),
    /// `True` or `False`.
    Bool(bool),
    /// `None`.
    None,
    /// `(..)`.
    Tuple(Vec<Node>),
    /// `[..]`.
    List(Vec<Node>),
    /// `{..}` in order.
    Dict(Vec<(Node, Node)>),
}

impl Node {
    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The items of a list or a tuple.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Tuple(v) | Value::List(v) => Some(v),
            _ => None,
        }
    }

    /// The value of a non-negative integer.
    pub fn as_u64(&self) -> Option<u64> {
        match self.value {
            Value::Int(n) => u64::try_from(n).ok(),
            _ => None,
        }
    }

    /// The value under the string `key` of a dict.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Dict(v) => v.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, v)| v),
            _ => None,
        }
    }
}

/// Reads one literal that makes up all of `text` (blanks around it are allowed).
///
/// # Errors
/// Text above [`MAX_TEXT`] bytes, brackets deeper than [`MAX_DEPTH`], anything but a literal.
pub fn parse(text: &str) -> Result<Node, DtypeError> {
    if text.len() > MAX_TEXT {
        return Err(DtypeError::TooLong { len: text.len() });
    }
    let mut p = Parser { text, at: 0 };
    let node = p.value(0)?;
    p.blanks();
    if p.at == text.len() { Ok(node) } else { Err(p.expected("the end of the text")) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn expected(&self, expected: &'static str) -> DtypeError {
        DtypeError::Syntax { offset: self.at, expected }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at = self.at.saturating_add(c.len_utf8());
        Some(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.next();
        }
        found
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | '\r')) {
            self.next();
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, DtypeError> {
        self.blanks();
        let at = self.at;
        if depth >= MAX_DEPTH {
            return Err(DtypeError::TooDeep { offset: at });
        }
        let deeper = depth.saturating_add(1);
        let value = match self.peek() {
            Some('\'' | '"') => Value::Str(self.string()?),
            Some('[') => Value::List(self.sequence(']', deeper)?.0),
            Some('(') => {
                let (mut items, comma) = self.sequence(')', deeper)?;
                match items.pop() {
                    Some(only) if items.is_empty() && !comma => return Ok(only),
                    Some(last) => items.push(last),
                    None => {}
                }
                Value::Tuple(items)
            }
            Some('{') => Value::Dict(self.dict(deeper)?),
            Some(c) if c.is_ascii_digit() || c == '-' || c == '+' => Value::Int(self.integer()?),
            Some(_) => self.word()?,
            None => return Err(self.expected("a value")),
        };
        Ok(Node { at, value })
    }

    /// Items up to `close`, and whether the last was followed by a comma.
    fn sequence(&mut self, close: char, depth: usize) -> Result<(Vec<Node>, bool), DtypeError> {
        self.next();
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.blanks();
            if self.eat(close) {
                return Ok((items, comma));
            }
            if !items.is_empty() && !comma {
                return Err(self.expected("a comma or a closing bracket"));
            }
            items.push(self.value(depth)?);
            self.blanks();
            comma = self.eat(',');
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Vec<(Node, Node)>, DtypeError> {
        self.next();
        let mut items = Vec::new();
        let mut comma = true;
        loop {
            self.blanks();
            if self.eat('}') {
                return Ok(items);
            }
            if !comma {
                return Err(self.expected("a comma or a closing bracket"));
            }
            let key = self.value(depth)?;
            self.blanks();
            if !self.eat(':') {
                return Err(self.expected("a colon"));
            }
            items.push((key, self.value(depth)?));
            self.blanks();
            comma = self.eat(',');
        }
    }

    fn integer(&mut self) -> Result<i64, DtypeError> {
        let at = self.at;
        let negative = self.eat('-');
        if !negative {
            self.eat('+');
        }
        let mut value = None::<i64>;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let digit = i64::from(digit);
            value = value.unwrap_or(0).checked_mul(10).and_then(|v| v.checked_add(digit));
            if value.is_none() {
                return Err(DtypeError::Syntax { offset: at, expected: "an integer of at most 63 bits" });
            }
            self.next();
        }
        self.eat('L'); // Python 2 wrote long integers so.
        match value {
            Some(v) if negative => Ok(v.saturating_neg()),
            Some(v) => Ok(v),
            None => Err(self.expected("a digit")),
        }
    }

    fn word(&mut self) -> Result<Value, DtypeError> {
        let rest = self.text.get(self.at..).unwrap_or("");
        for (word, value) in
            [("True", Value::Bool(true)), ("False", Value::Bool(false)), ("None", Value::None)]
        {
            if rest.starts_with(word) {
                self.at = self.at.saturating_add(word.len());
                return Ok(value);
            }
        }
        let mut chars = rest.chars();
        if matches!(chars.next(), Some('u' | 'b')) && matches!(chars.next(), Some('\'' | '"')) {
            self.next();
            return Ok(Value::Str(self.string()?));
        }
        Err(self.expected("a string, a number, a bracket, True, False or None"))
    }

    fn string(&mut self) -> Result<String, DtypeError> {
        let at = self.at;
        let unfinished = DtypeError::Syntax { offset: at, expected: "a closing quote" };
        let quote = self.next().ok_or(unfinished)?;
        let mut out = String::new();
        loop {
            match self.next().ok_or(unfinished)? {
                c if c == quote => return Ok(out),
                '\\' => out.push(self.escape()?),
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, DtypeError> {
        let bad = self.expected("an escape Python writes");
        let digits = match self.next().ok_or(bad)? {
            c @ ('\\' | '\'' | '"') => return Ok(c),
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return Err(bad),
        };
        let mut code = 0u32;
        for _ in 0..digits {
            let digit = self.next().and_then(|c| c.to_digit(16)).ok_or(bad)?;
            code = code.checked_mul(16).and_then(|v| v.checked_add(digit)).ok_or(bad)?;
        }
        char::from_u32(code).ok_or(bad)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn int(text: &str) -> Value {
        parse(text).unwrap().value
    }

    #[test]
    fn values() {
        assert_eq!(int(" 12 "), Value::Int(12));
        assert_eq!(int("-12L"), Value::Int(-12));
        assert_eq!(int("(7)"), Value::Int(7));
        assert_eq!(parse("(7,)").unwrap().items().unwrap().len(), 1);
        assert_eq!(parse("()").unwrap().items().unwrap().len(), 0);
        assert_eq!(parse("[1, 2,]").unwrap().items().unwrap().len(), 2);
        assert_eq!(int("None"), Value::None);
        assert_eq!(int(r#""it's""#), Value::Str("it's".into()));
        assert_eq!(int(r"'\x41\u00e9\\\n\U0001f600'"), Value::Str("Aé\\\n😀".into()));
        assert_eq!(int("u'a'"), Value::Str("a".into()));
        assert_eq!(parse("{'a': True, 'b': (1, 2)}").unwrap().get("b").unwrap().items().unwrap().len(), 2);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "[",
            "[1",
            "[1 2]",
            "(,)",
            "[,]",
            "{1}",
            "{1:}",
            "{1:2 3:4}",
            "'a",
            "1 2",
            "a",
            "__import__('os')",
            "'\\q'",
            "'\\ud800'",
            "9223372036854775808",
            "-",
            "1.5",
            "[1]]",
            "{,}",
            "b",
            "f'x'",
        ] {
            assert!(matches!(parse(text), Err(DtypeError::Syntax { .. })), "{text}");
        }
    }

    #[test]
    fn deep_and_long_texts_are_refused_at_once() {
        for open in ["[", "(", "{1:"] {
            assert!(matches!(parse(&open.repeat(10_000)), Err(DtypeError::TooDeep { .. })));
        }
        assert_eq!(parse(&"[".repeat(1_000_000)), Err(DtypeError::TooLong { len: 1_000_000 }));
    }
}
