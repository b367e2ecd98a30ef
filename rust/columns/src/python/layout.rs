//! The parts of a format specification, and numbers laid out by it.

use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::texts::Growing;
use super::{MOST_BYTES, texts};
use crate::value::Doubt;

/// A format specification: `[[fill]align][sign][#][0][width][grouping][.precision][type]`.
pub struct Spec {
    /// What fills the field.
    pub fill: char,
    /// `<`, `>`, `^` or `=`.
    pub align: char,
    /// `+`, `-` or a space.
    pub sign: Option<char>,
    /// `#`
    pub alternate: bool,
    /// The least width.
    pub width: usize,
    /// `,` or `_`.
    pub grouping: Option<char>,
    /// The number behind the point.
    pub precision: Option<usize>,
    /// The letter at the end.
    pub kind: Option<char>,
}

impl Spec {
    /// A specification; what only some versions know is doubtful, as what is wrong.
    pub fn parse(spec: &str, usual: char) -> Result<Self, Doubt> {
        let mut letters = Letters(spec);
        let is_align = |c: char| matches!(c, '<' | '>' | '^' | '=');
        let mut chars = spec.chars();
        let (first, second) = (chars.next(), chars.next());
        let (mut fill, mut align) = (None, None);
        if second.is_some_and(is_align) {
            (fill, align) = (first, second);
            letters.skip(2);
        } else {
            align = letters.one_of(is_align).or(align);
        }
        let sign = letters.one_of(|c| matches!(c, '+' | '-' | ' '));
        let alternate = letters.one_of(|c| c == '#').is_some();
        if fill.is_none() && letters.one_of(|c| c == '0').is_some() {
            fill = Some('0');
            align = align.or((usual == '>').then_some('='));
        }
        let width = letters.number()?.unwrap_or(0);
        let grouping = letters.one_of(|c| matches!(c, ',' | '_'));
        let precision = match letters.one_of(|c| c == '.') {
            Some(_) => Some(letters.number()?.ok_or(Doubt)?),
            None => None,
        };
        let kind = letters.one_of(|_| true);
        if !letters.0.is_empty() || width > MOST_BYTES {
            return Err(Doubt);
        }
        Ok(Self { fill: fill.unwrap_or(' '), align: align.unwrap_or(usual), sign, alternate, width, grouping, precision, kind })
    }
}

/// What is left of a specification.
struct Letters<'s>(&'s str);

impl Letters<'_> {
    fn skip(&mut self, count: usize) {
        self.0 = &self.0[super::sequences::byte_of(self.0, count)..];
    }

    fn one_of(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let c = self.0.chars().next().filter(|c| wanted(*c))?;
        self.0 = &self.0[c.len_utf8()..];
        Some(c)
    }

    fn number(&mut self) -> Result<Option<usize>, Doubt> {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        if digits.is_empty() { Ok(None) } else { digits.parse().map(Some).map_err(|_| Doubt) }
    }
}

/// The parts of a number.
pub struct Number<'t> {
    /// Whether a minus is before it.
    pub negative: bool,
    /// `0x` and the like.
    pub prefix: &'t str,
    /// The digits before the point.
    pub digits: &'t str,
    /// All behind them.
    pub rest: &'t str,
    /// How many digits are a group.
    pub group: usize,
}

impl Number<'_> {
    /// The number in its field.
    pub fn laid_out<'a>(&self, bump: &'a Bump, spec: &Spec) -> Result<&'a str, Doubt> {
        let sign = match spec.sign {
            _ if self.negative => "-",
            Some('+') => "+",
            Some(' ') => " ",
            _ => "",
        };
        let others = sign.len() + self.prefix.len() + self.rest.len();
        let least = if spec.fill == '0' && spec.align == '=' { spec.width.saturating_sub(others) } else { 0 };
        let digits = self.grouped(bump, spec.grouping, least)?;
        let missing = spec.width.saturating_sub(others + digits.len());
        let (left, inside) = match spec.align {
            '<' => (0, 0),
            '^' => (missing / 2, 0),
            '=' => (0, missing),
            _ => (missing, 0),
        };
        let mut result = Growing::new(bump, others + digits.len() + missing);
        result.fill(spec.fill, left)?;
        result.push(sign)?;
        result.push(self.prefix)?;
        result.fill(spec.fill, inside)?;
        result.push(digits)?;
        result.push(self.rest)?;
        result.fill(spec.fill, missing - left - inside)?;
        texts::text_of(result.value())
    }

    /// The digits with separators between groups, and zeros before them up to a width.
    fn grouped<'a>(&self, bump: &'a Bump, separator: Option<char>, least: usize) -> Result<&'a str, Doubt> {
        if self.digits.is_empty() {
            return Ok("");
        }
        let mut reversed = Vec::with_capacity_in(self.digits.len() + least, bump);
        let mut digits = self.digits.bytes().rev();
        let mut count = 0;
        loop {
            let next = digits.next();
            if next.is_none() && reversed.len() >= least {
                break;
            }
            if let Some(separator) = separator.filter(|_| count > 0 && count % self.group == 0) {
                reversed.push(separator as u8);
            }
            reversed.push(next.unwrap_or(b'0'));
            count += 1;
        }
        reversed.reverse();
        std::str::from_utf8(reversed.into_bump_slice()).map_err(|_| Doubt)
    }
}
