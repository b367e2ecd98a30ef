//! `template % values`.

use std::fmt::Write;

use bumpalo::Bump;
use bumpalo::collections::String;

use super::digits::{Style, unsigned};
use super::numbers::{float_of, int_of};
use super::sequences::{between, characters};
use super::texts::Growing;
use super::{Answer, convert, show};
use crate::value::{Doubt, Value};

/// One field of a template: `%[flags][width][.precision]type`.
struct Field {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

/// A text formatted with the values of a tuple, or with one value. Names of fields and widths from values are doubtful.
pub fn formatted<'a>(bump: &'a Bump, template: &str, values: Value<'a>) -> Answer<'a> {
    let single = [values];
    let mut values = match values {
        Value::Tuple(items) => items.iter(),
        Value::Dict(_) | Value::Row(..) => return Err(Doubt),
        _ => single.iter(),
    };
    let mut result = Growing::new(bump, template.len());
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('%') {
        result.push(before)?;
        let (field, behind) = Field::parse(behind)?;
        rest = behind;
        if field.kind == '%' {
            if !field.is_plain() {
                return Err(Doubt);
            }
            result.push("%")?;
            continue;
        }
        field.add(bump, &mut result, *values.next().ok_or(Doubt)?)?;
    }
    result.push(rest)?;
    if values.next().is_some() { Err(Doubt) } else { Ok(result.value()) }
}

impl Field {
    fn parse(text: &str) -> Result<(Self, &str), Doubt> {
        let end = text.find(|c: char| !matches!(c, '-' | '+' | ' ' | '#' | '0')).ok_or(Doubt)?;
        let (flags, rest) = text.split_at(end);
        let (width, rest) = number(rest)?;
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => number(rest).map(|(precision, rest)| (Some(precision), rest))?,
            None => (None, rest),
        };
        let kind = rest.chars().next().filter(char::is_ascii).ok_or(Doubt)?;
        let has = |flag| flags.contains(flag);
        let (left, zeros, plus, space, alternate) = (has('-'), has('0'), has('+'), has(' '), has('#'));
        Ok((Self { left, zeros, plus, space, alternate, width, precision, kind }, &rest[1..]))
    }

    /// Whether there is nothing but the type.
    fn is_plain(&self) -> bool {
        !(self.left || self.zeros || self.plus || self.space || self.alternate) && self.width == 0 && self.precision.is_none()
    }

    fn add<'a>(&self, bump: &'a Bump, result: &mut Growing<'a>, value: Value<'a>) -> Result<(), Doubt> {
        match self.kind {
            's' => self.text(result, show::text(bump, value)?),
            'r' => self.text(result, show::repr(bump, value)?),
            'a' => self.text(result, show::ascii(bump, value)?),
            'd' | 'i' | 'u' => {
                let number = match value {
                    Value::Float(f) => int_of(convert::whole(f.trunc())?),
                    _ => int_of(value),
                };
                self.int(bump, result, number.ok_or(Doubt)?)
            }
            'x' | 'X' | 'o' => self.int(bump, result, int_of(value).ok_or(Doubt)?),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => self.float(bump, result, float_of(value).ok_or(Doubt)?),
            _ => Err(Doubt),
        }
    }

    fn text(&self, result: &mut Growing<'_>, text: &str) -> Result<(), Doubt> {
        let text = self.precision.map_or(text, |precision| between(text, 0, precision));
        let missing = self.width.saturating_sub(characters(text));
        result.fill(' ', if self.left { 0 } else { missing })?;
        result.push(text)?;
        result.fill(' ', if self.left { missing } else { 0 })
    }

    fn int<'a>(&self, bump: &'a Bump, result: &mut Growing<'a>, number: i64) -> Result<(), Doubt> {
        let mut digits = String::new_in(bump);
        let size = number.unsigned_abs();
        let (written, prefix) = match self.kind {
            'x' => (write!(digits, "{size:x}"), "0x"),
            'X' => (write!(digits, "{size:X}"), "0X"),
            'o' => (write!(digits, "{size:o}"), "0o"),
            _ => (write!(digits, "{size}"), ""),
        };
        written.map_err(|_| Doubt)?;
        let zeros = self.precision.unwrap_or(0).saturating_sub(digits.len());
        self.number(result, number < 0, if self.alternate { prefix } else { "" }, zeros, &digits)
    }

    fn float<'a>(&self, bump: &'a Bump, result: &mut Growing<'a>, f: f64) -> Result<(), Doubt> {
        let precision = self.precision.unwrap_or(6);
        let text = unsigned(bump, f, Style { kind: self.kind, precision, alternate: self.alternate, point: false })?;
        self.number(result, f.is_sign_negative() && !f.is_nan(), "", 0, &text)
    }

    /// A number in its field; `zeros` come before its digits in any case.
    fn number(&self, result: &mut Growing<'_>, negative: bool, prefix: &str, zeros: usize, digits: &str) -> Result<(), Doubt> {
        let sign = match () {
            () if negative => "-",
            () if self.plus => "+",
            () if self.space => " ",
            () => "",
        };
        let size = (sign.len() + prefix.len() + digits.len()).saturating_add(zeros);
        let missing = self.width.saturating_sub(size);
        let (before, inside) = match (self.left, self.zeros) {
            (true, _) => (0, 0),
            (false, true) => (0, missing),
            (false, false) => (missing, 0),
        };
        result.fill(' ', before)?;
        result.push(sign)?;
        result.push(prefix)?;
        result.fill('0', inside.saturating_add(zeros))?;
        result.push(digits)?;
        result.fill(' ', missing - before - inside)
    }
}

/// A number at the beginning of a text, zero if there is none.
fn number(text: &str) -> Result<(usize, &str), Doubt> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    match digits {
        "" => Ok((0, rest)),
        _ if digits.len() > 6 => Err(Doubt),
        _ => digits.parse().map(|number| (number, rest)).map_err(|_| Doubt),
    }
}
