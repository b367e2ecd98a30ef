//! Texts in vectors: lengths, parts, numbers in them.

use bumpalo::collections::Vec as Items;

use super::Vector;
use super::evaluate::Evaluator;
use crate::program::Expr;
use crate::python;
use crate::scan::places;
use crate::value::Value;

/// Digits that are a number of 64 bits whatever they are.
const SURE_DIGITS: usize = 18;

impl<'a> Evaluator<'a> {
    /// `int(…)` of texts and integers.
    pub(super) fn ints(&mut self, of: Vector<'a>) -> Option<Vector<'a>> {
        let texts = match of.read(self.count, self.arena) {
            Vector::Ints(values) => return Some(Vector::Ints(values)),
            Vector::Texts(texts) => &texts[..self.count],
            _ => return None,
        };
        let mut values = Items::with_capacity_in(texts.len(), self.arena);
        for (index, text) in texts.iter().enumerate() {
            match number(text.as_bytes()).or_else(|| python::number(text)) {
                Some(value) => values.push(value),
                None => {
                    self.doubt(index);
                    break;
                }
            }
        }
        Some(Vector::Ints(values.into_bump_slice()))
    }

    /// `len(…)` of texts.
    pub(super) fn lengths(&mut self, of: Vector<'a>) -> Option<Vector<'a>> {
        if let Some(items) = of.items(self.arena) {
            return Some(Vector::Same(Value::Int(items.len() as i64)));
        }
        let Vector::Texts(texts) = of.read(self.count, self.arena) else { return None };
        let characters = |text: &&str| if text.is_ascii() { text.len() } else { text.chars().count() } as i64;
        Some(Vector::Ints(self.arena.alloc_slice_fill_iter(texts[..self.count].iter().map(characters))))
    }

    /// The character at a place of each; `None` where that is not easily found.
    pub(super) fn characters(&mut self, texts: &'a [&'a str], at: i64) -> Option<Vector<'a>> {
        let at = usize::try_from(at).ok()?;
        let mut characters = Items::with_capacity_in(self.count, self.arena);
        for (index, text) in texts[..self.count].iter().enumerate() {
            let some = text.as_bytes().get(..=at);
            match some {
                Some(bytes) if bytes.is_ascii() => characters.push(&text[at..=at]),
                None if text.is_ascii() => {
                    self.doubt(index);
                    break;
                }
                _ => return None,
            }
        }
        Some(Vector::Texts(characters.into_bump_slice()))
    }

    /// `….split(…)` into so many: the parts by place.
    pub(super) fn split_fields(&mut self, arguments: &'a [Expr], arity: usize) -> Option<&'a [Vector<'a>]> {
        let [text, Expr::Text(separator)] = arguments else { return None };
        let [separator] = separator.as_bytes() else { return None };
        let (whole, text) = (self.count, self.eval(text));
        let Vector::Texts(texts) = text.read(self.count, self.arena) else {
            self.count = whole;
            return None;
        };
        let count = self.count;
        let mut fields: Vec<&'a mut [&'a str]> = (0..arity).map(|_| self.arena.alloc_slice_fill_copy(count, "")).collect();
        for (index, text) in texts[..count].iter().enumerate() {
            let (mut start, mut field) = (0, 0);
            let mut cut = |end| {
                if let Some(field) = fields.get_mut(field) {
                    field[index] = between(text, start, end);
                }
                (start, field) = (end + 1, field + 1);
            };
            places(*separator, text.as_bytes(), &mut cut);
            cut(text.len());
            if field != arity {
                self.doubt(index);
                break;
            }
        }
        Some(self.arena.alloc_slice_fill_iter(fields.into_iter().map(|field| Vector::Texts(field))))
    }

    /// `….split(…)`, by one character or by whitespace.
    pub(super) fn split(&mut self, of: Vector<'a>, separator: Option<Vector<'a>>) -> Option<Vector<'a>> {
        let Vector::Texts(texts) = of.read(self.count, self.arena) else { return None };
        let separator = match separator {
            None => None,
            Some(Vector::Same(Value::Text(text))) => match text.as_bytes() {
                [byte] => Some(*byte),
                _ => return None,
            },
            Some(_) => return None,
        };
        let (mut ends, mut items) = (Items::with_capacity_in(self.count, self.arena), Items::with_capacity_in(4 * self.count, self.arena));
        for text in &texts[..self.count] {
            match separator {
                Some(byte) => {
                    let mut start = 0;
                    places(byte, text.as_bytes(), |end| {
                        items.push(between(text, start, end));
                        start = end + 1;
                    });
                    items.push(between(text, start, text.len()));
                }
                None => python::words(text, |word| items.push(word)),
            }
            ends.push(u32::try_from(items.len()).ok()?);
        }
        Some(Vector::Lists(ends.into_bump_slice(), self.arena.alloc(Vector::Texts(items.into_bump_slice()))))
    }
}

/// What is between two separators that are one byte each, or the ends of the text.
#[inline]
fn between(text: &str, start: usize, end: usize) -> &str {
    debug_assert!(text.get(start..end).is_some(), "a character begins and ends there");
    // SAFETY: such a byte is a character, and `places` has found it in this text; so one begins behind it
    unsafe { text.get_unchecked(start..end) }
}

/// The number that plain digits are; `None` where it takes more to know.
#[inline]
fn number(digits: &[u8]) -> Option<i64> {
    let (negative, digits) = match digits {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > SURE_DIGITS {
        return None;
    }
    let mut value = 0i64;
    let (first, rest) = digits.as_rchunks::<8>();
    for digit in first {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    for eight in rest {
        value = value * 100_000_000 + i64::from(eight_digits(*eight)?);
    }
    Some(if negative { -value } else { value })
}

/// The number that eight digits are: pairs, fours and the whole, each in one step for all.
#[inline]
fn eight_digits(digits: [u8; 8]) -> Option<u32> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    let word = u64::from_le_bytes(digits);
    if word & HIGH != ZEROS || (word + 0x0606_0606_0606_0606) & HIGH != ZEROS {
        return None;
    }
    let ones = word - ZEROS;
    let pairs = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_the_number(value in any::<i64>(), length in 0usize..20) {
            let text: String = value.to_string().chars().take(length).collect();
            let expected = text.parse().ok().filter(|_| text.trim_start_matches('-').len() <= SURE_DIGITS);
            prop_assert_eq!(number(text.as_bytes()), expected);
        }

        #[test]
        fn what_has_no_digits_only_is_no_number(text in "[0-9/:;+ -]{0,19}") {
            let digits = text.strip_prefix('-').unwrap_or(&text);
            let plain = !digits.is_empty() && digits.len() <= SURE_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
            prop_assert_eq!(number(text.as_bytes()), if plain { text.parse().ok() } else { None });
        }
    }
}
