//! `json.loads`: texts without escapes are slices of the input, and what nobody looks at is not made.

use bumpalo::Bump;
use bumpalo::collections::{String, Vec};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::wanted::Wanted;
use crate::python::{Answer, MOST_ITEMS};
use crate::scan::plain;
use crate::value::{Doubt, Value};

/// How deep arrays and objects may be nested.
const DEPTH: usize = 60;
/// From how many keys on an object is searched for equal ones with a table.
const MANY: usize = 12;

/// Digits that are a number of 64 bits whatever they are.
const SURE_DIGITS: usize = 18;

type Entry<'a> = (Value<'a>, Value<'a>);

/// A document as lists, dicts, texts and numbers.
pub fn loads<'a>(bump: &'a Bump, document: Value<'a>) -> Answer<'a> {
    loads_of(bump, document, &Wanted::All)
}

/// The parts of a document that are wanted. Doubt: some other part is wrong.
pub fn loads_of<'a>(bump: &'a Bump, document: Value<'a>, wanted: &Wanted) -> Answer<'a> {
    let text = match document {
        Value::Text(text) => text,
        Value::Bytes(bytes) if !bytes.iter().take(4).any(|byte| *byte == 0) => std::str::from_utf8(bytes).map_err(|_| Doubt)?,
        _ => return Err(Doubt),
    };
    let (items, entries) = (Vec::with_capacity_in(16, bump), Vec::with_capacity_in(16, bump));
    let mut reader = Reader { bump, text, at: 0, items, entries };
    let value = reader.value(DEPTH, wanted)?;
    if reader.peek().is_none() { Ok(value) } else { Err(Doubt) }
}

pub(super) struct Reader<'a> {
    bump: &'a Bump,
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Items of all arrays that are open, those of the innermost at the end.
    items: Vec<'a, Value<'a>>,
    /// Entries of all objects that are open.
    entries: Vec<'a, Entry<'a>>,
}

impl<'a> Reader<'a> {
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not whitespace.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    pub(super) fn skip(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize, wanted: &Wanted) -> Answer<'a> {
        match self.peek().ok_or(Doubt)? {
            b'"' => self.string().map(Value::Text),
            b'{' => self.some_object(depth.checked_sub(1).ok_or(Doubt)?, wanted),
            b'[' => self.some_array(depth.checked_sub(1).ok_or(Doubt)?, wanted),
            b'0'..=b'9' | b'-' => self.number(),
            _ => self.constant(),
        }
    }

    pub(super) fn constant(&mut self) -> Answer<'a> {
        const CONSTANTS: [(&str, Value<'static>); 6] = [
            ("null", Value::None),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
            ("-Infinity", Value::Float(f64::NEG_INFINITY)),
        ];
        let rest = &self.text.as_bytes()[self.at..];
        let (name, value) = CONSTANTS.iter().find(|(name, _)| rest.starts_with(name.as_bytes())).ok_or(Doubt)?;
        self.at += name.len();
        Ok(*value)
    }

    fn some_array(&mut self, depth: usize, wanted: &Wanted) -> Answer<'a> {
        if let Some(item) = wanted.items() {
            return self.array(depth, item);
        }
        let start = self.at;
        self.pass(depth + 1)?;
        let is_empty = self.text.as_bytes()[start + 1..self.at - 1].iter().all(u8::is_ascii_whitespace);
        Ok(Value::List(if is_empty { self.bump.alloc_slice_copy(&[]) } else { &[Value::None] }))
    }

    fn array(&mut self, depth: usize, wanted: &Wanted) -> Answer<'a> {
        self.at += 1;
        let start = self.items.len();
        if !self.skip(b']') {
            loop {
                let item = self.value(depth, wanted)?;
                if self.items.len() >= MOST_ITEMS {
                    return Err(Doubt);
                }
                self.items.push(item);
                if !self.skip(b',') {
                    break;
                }
            }
            if !self.skip(b']') {
                return Err(Doubt);
            }
        }
        let items = self.bump.alloc_slice_copy(&self.items[start..]);
        self.items.truncate(start);
        Ok(Value::List(items))
    }

    fn some_object(&mut self, depth: usize, wanted: &Wanted) -> Answer<'a> {
        match wanted.keys() {
            Some(keys) => self.fields(depth, keys),
            None => self.object(depth),
        }
    }

    fn key(&mut self) -> Result<&'a str, Doubt> {
        if self.peek() != Some(b'"') {
            return Err(Doubt);
        }
        let key = self.string()?;
        if self.skip(b':') { Ok(key) } else { Err(Doubt) }
    }

    /// What an object has at some keys; where it has something at others only, one of these with None. Of equal keys the last
    /// value counts.
    fn fields(&mut self, depth: usize, keys: &[(Box<str>, Wanted)]) -> Answer<'a> {
        self.at += 1;
        if self.skip(b'}') {
            return Ok(Value::Dict(self.bump.alloc_slice_copy(&[])));
        }
        let entries = self.bump.alloc_slice_fill_copy(keys.len().max(1), (Value::None, Value::None));
        let (mut found, mut next) = (0_u64, 0);
        loop {
            let key = self.key()?;
            if let Some(at) = place(keys, key, next) {
                entries[at] = (Value::Text(key), self.value(depth, &keys[at].1)?);
                (found, next) = (found | 1 << at, at + 1);
            } else {
                self.pass(depth)?;
                if found == 0 {
                    entries[0] = (Value::Text(key), Value::None);
                }
            }
            if !self.skip(b',') {
                break;
            }
        }
        if !self.skip(b'}') {
            return Err(Doubt);
        }
        let mut count = 0;
        for at in (0..keys.len()).filter(|at| found & 1 << at != 0) {
            entries[count] = entries[at];
            count += 1;
        }
        Ok(Value::Dict(&entries[..count.max(1)]))
    }

    fn object(&mut self, depth: usize) -> Answer<'a> {
        self.at += 1;
        let start = self.entries.len();
        if !self.skip(b'}') {
            loop {
                if self.entries.len() >= MOST_ITEMS {
                    return Err(Doubt);
                }
                let key = self.key()?;
                let value = self.value(depth, &Wanted::All)?;
                self.entries.push((Value::Text(key), value));
                if !self.skip(b',') {
                    break;
                }
            }
            if !self.skip(b'}') {
                return Err(Doubt);
            }
        }
        Ok(Value::Dict(self.close(start)))
    }

    /// The entries of the innermost object; of equal keys the place of the first and the value of the last.
    fn close(&mut self, start: usize) -> &'a [Entry<'a>] {
        let end = if self.entries.len() - start < MANY { self.merge_few(start) } else { self.merge_many(start) };
        let entries = self.bump.alloc_slice_copy(&self.entries[start..end]);
        self.entries.truncate(start);
        entries
    }

    fn merge_few(&mut self, start: usize) -> usize {
        let (mut end, mut kinds) = (start, 0u64);
        for at in start..self.entries.len() {
            let (key, value) = self.entries[at];
            let kind = kind(key);
            let same = |(other, _): &Entry<'a>| same_text(*other, key);
            // keys of one kind may be the same, and others are not
            let before = if kinds & kind == 0 { None } else { self.entries[start..end].iter().position(same) };
            kinds |= kind;
            match before {
                Some(before) => self.entries[start + before].1 = value,
                None => {
                    self.entries[end] = (key, value);
                    end += 1;
                }
            }
        }
        end
    }

    fn merge_many(&mut self, start: usize) -> usize {
        let mut places: HashMap<&'a str, usize, FixedState> =
            HashMap::with_capacity_and_hasher(self.entries.len() - start, FixedState::default());
        let mut end = start;
        for at in start..self.entries.len() {
            let (key, value) = self.entries[at];
            let Value::Text(text) = key else { continue };
            let place = *places.entry(text).or_insert(end);
            if place == end {
                self.entries[end] = (key, value);
                end += 1;
            } else {
                self.entries[place].1 = value;
            }
        }
        end
    }

    /// A number: without a point and an exponent an integer.
    fn number(&mut self) -> Answer<'a> {
        let start = self.at;
        let negative = self.byte() == Some(b'-');
        self.at += usize::from(negative);
        let first = self.at;
        let mut number: Option<i64> = Some(0);
        while let Some(digit @ b'0'..=b'9') = self.byte() {
            let digit = i64::from(digit - b'0');
            number = match number {
                Some(sure) if self.at - first < SURE_DIGITS => Some(10 * sure + if negative { -digit } else { digit }),
                number => number.and_then(|number| number.checked_mul(10)?.checked_add(if negative { -digit } else { digit })),
            };
            self.at += 1;
        }
        let digits = self.at - first;
        if digits == 0 && negative {
            self.at = start;
            return self.constant();
        }
        if digits == 0 || (digits > 1 && self.text.as_bytes()[first] == b'0') {
            return Err(Doubt);
        }
        let float = self.fraction()? | self.exponent()?;
        if !float {
            return number.map(Value::Int).ok_or(Doubt);
        }
        self.text[start..self.at].parse().map(Value::Float).map_err(|_| Doubt)
    }

    pub(super) fn fraction(&mut self) -> Result<bool, Doubt> {
        if self.byte() != Some(b'.') {
            return Ok(false);
        }
        self.at += 1;
        self.digits()
    }

    pub(super) fn exponent(&mut self) -> Result<bool, Doubt> {
        if !matches!(self.byte(), Some(b'e' | b'E')) {
            return Ok(false);
        }
        self.at += 1;
        if let Some(b'+' | b'-') = self.byte() {
            self.at += 1;
        }
        self.digits()
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<bool, Doubt> {
        let start = self.at;
        self.pass_digits();
        if self.at > start { Ok(true) } else { Err(Doubt) }
    }

    pub(super) fn pass_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<&'a str, Doubt> {
        self.at += 1;
        let (start, length) = (self.at, plain(&self.text.as_bytes()[self.at..]));
        self.at += length;
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(&self.text[start..start + length]);
        }
        let mut text = String::with_capacity_in(2 * length + 16, self.bump);
        text.push_str(&self.text[start..self.at]);
        loop {
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(Doubt),
            }
            let length = plain(&self.text.as_bytes()[self.at..]);
            text.push_str(&self.text[self.at..self.at + length]);
            self.at += length;
        }
        self.at += 1;
        Ok(text.into_bump_str())
    }

    /// A character behind a backslash; half of a pair of surrogates is doubtful.
    fn escape(&mut self) -> Result<char, Doubt> {
        self.at += 1;
        let letter = self.byte().ok_or(Doubt)?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                if !(0xd800..0xdc00).contains(&unit) {
                    return char::from_u32(unit).ok_or(Doubt);
                }
                if self.byte() != Some(b'\\') || self.text.as_bytes().get(self.at + 1) != Some(&b'u') {
                    return Err(Doubt);
                }
                self.at += 2;
                let low = self.unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400).ok_or(Doubt)?;
                char::from_u32(0x10000 + ((unit - 0xd800) << 10) + low).ok_or(Doubt)?
            }
            _ => return Err(Doubt),
        })
    }

    /// Four hexadecimal digits.
    pub(super) fn unit(&mut self) -> Result<u32, Doubt> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or(Doubt)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, digit| Ok(unit * 16 + char::from(*digit).to_digit(16).ok_or(Doubt)?))
    }
}

/// Where a key is among others, often the next one.
fn place(keys: &[(Box<str>, Wanted)], key: &str, next: usize) -> Option<usize> {
    let is_it = |(known, _): &(Box<str>, Wanted)| **known == *key;
    if keys.get(next).is_some_and(is_it) { Some(next) } else { keys.iter().position(is_it) }
}

/// One bit of 64, by the length and the ends of a key.
fn kind(key: Value<'_>) -> u64 {
    let Value::Text(text) = key else { return u64::MAX };
    let bytes = text.as_bytes();
    let end = |byte: Option<&u8>| byte.map_or(0, |&byte| usize::from(byte));
    1 << ((bytes.len() + 5 * end(bytes.first()) + 11 * end(bytes.last())) % 64)
}

fn same_text(a: Value<'_>, b: Value<'_>) -> bool {
    matches!((a, b), (Value::Text(a), Value::Text(b)) if a == b)
}
