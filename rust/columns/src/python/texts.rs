//! Methods of `str` that search, cut and put together.

use bumpalo::Bump;
use bumpalo::collections::String;

use super::characters::is_space;
use super::numbers::index_of;
use super::sequences::{byte_of, characters, iterate, window};
use super::{Answer, MOST_BYTES};
use crate::value::{Doubt, Value};

/// The text of an argument.
pub fn text_of<'a>(value: Value<'a>) -> Result<&'a str, Doubt> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(Doubt),
    }
}

/// Which ends of a text are stripped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Both.
    Both,
    /// The beginning.
    Left,
    /// The end.
    Right,
}

/// `strip`, `lstrip` and `rstrip`, of whitespace or of some characters.
pub fn stripped<'a>(text: &'a str, arguments: &[Value<'a>], ends: Ends) -> Answer<'a> {
    let part = match arguments {
        [] | [Value::None] => trimmed(text, is_space, ends),
        [Value::Text(letters)] => trimmed(text, |c| letters.contains(c), ends),
        _ => return Err(Doubt),
    };
    Ok(Value::Text(part))
}

fn trimmed(text: &str, unwanted: impl Fn(char) -> bool + Copy, ends: Ends) -> &str {
    let text = if ends == Ends::Right { text } else { text.trim_start_matches(unwanted) };
    if ends == Ends::Left { text } else { text.trim_end_matches(unwanted) }
}

/// The part of a text between optional positions, and how many code points are before it.
fn part<'a>(text: &'a str, bounds: &[Value<'_>]) -> Result<Option<(&'a str, usize)>, Doubt> {
    if bounds.is_empty() {
        return Ok(Some((text, 0)));
    }
    let window = window(characters(text), bounds)?;
    Ok(window.map(|(start, end)| (&text[byte_of(text, start)..byte_of(text, end)], start)))
}

/// `find` and `rfind`: the position of a part, or -1.
pub fn find<'a>(text: &'a str, arguments: &[Value<'a>], last: bool) -> Answer<'a> {
    let [wanted, bounds @ ..] = arguments else { return Err(Doubt) };
    let wanted = text_of(*wanted)?;
    let Some((text, before)) = part(text, bounds)? else { return Ok(Value::Int(-1)) };
    let byte = if last { text.rfind(wanted) } else { text.find(wanted) };
    Ok(Value::Int(byte.map_or(-1, |byte| (before + characters(&text[..byte])) as i64)))
}

/// `index` and `rindex`: the position of a part.
pub fn position<'a>(text: &'a str, arguments: &[Value<'a>], last: bool) -> Answer<'a> {
    match find(text, arguments, last)? {
        Value::Int(-1) => Err(Doubt),
        at => Ok(at),
    }
}

/// `count` of parts that do not overlap.
pub fn count<'a>(text: &'a str, arguments: &[Value<'a>]) -> Answer<'a> {
    let [wanted, bounds @ ..] = arguments else { return Err(Doubt) };
    let wanted = text_of(*wanted)?;
    let Some((text, _)) = part(text, bounds)? else { return Ok(Value::Int(0)) };
    let count = if wanted.is_empty() { characters(text) + 1 } else { text.matches(wanted).count() };
    Ok(Value::Int(count as i64))
}

/// `startswith` and `endswith`, of a text or of any of a tuple.
pub fn begins<'a>(text: &'a str, arguments: &[Value<'a>], end: bool) -> Answer<'a> {
    let [wanted, bounds @ ..] = arguments else { return Err(Doubt) };
    let part = part(text, bounds)?;
    let matches = |wanted: &str| part.is_some_and(|(text, _)| if end { text.ends_with(wanted) } else { text.starts_with(wanted) });
    match wanted {
        Value::Text(wanted) => Ok(Value::Bool(matches(wanted))),
        Value::Tuple(all) => {
            for wanted in *all {
                if matches(text_of(*wanted)?) {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        _ => Err(Doubt),
    }
}

/// `removeprefix` and `removesuffix`.
pub fn without<'a>(text: &'a str, affix: Value<'a>, end: bool) -> Answer<'a> {
    let affix = text_of(affix)?;
    let rest = if end { text.strip_suffix(affix) } else { text.strip_prefix(affix) };
    Ok(Value::Text(rest.unwrap_or(text)))
}

/// `partition` and `rpartition`.
pub fn partition<'a>(bump: &'a Bump, text: &'a str, separator: Value<'a>, last: bool) -> Answer<'a> {
    let separator = text_of(separator)?;
    if separator.is_empty() {
        return Err(Doubt);
    }
    let parts = match if last { text.rsplit_once(separator) } else { text.split_once(separator) } {
        Some((before, behind)) => [before, separator, behind],
        None if last => ["", "", text],
        None => [text, "", ""],
    };
    Ok(Value::Tuple(bump.alloc(parts.map(Value::Text))))
}

/// A text that grows no further than it may.
pub struct Growing<'a> {
    text: String<'a>,
}

impl<'a> Growing<'a> {
    /// An empty text in the arena.
    pub fn new(bump: &'a Bump, size: usize) -> Self {
        Self { text: String::with_capacity_in(size.min(MOST_BYTES), bump) }
    }

    /// Adds a text.
    pub fn push(&mut self, part: &str) -> Result<(), Doubt> {
        if self.text.len() + part.len() > MOST_BYTES {
            return Err(Doubt);
        }
        self.text.push_str(part);
        Ok(())
    }

    /// Adds a character some times.
    pub fn fill(&mut self, c: char, times: usize) -> Result<(), Doubt> {
        if times > MOST_BYTES || self.text.len() + times * c.len_utf8() > MOST_BYTES {
            return Err(Doubt);
        }
        self.text.extend(std::iter::repeat_n(c, times));
        Ok(())
    }

    /// The text as a value.
    pub fn value(self) -> Value<'a> {
        Value::Text(self.text.into_bump_str())
    }
}

/// `replace`, of all parts or of the first ones.
pub fn replaced<'a>(bump: &'a Bump, text: &'a str, arguments: &[Value<'a>]) -> Answer<'a> {
    let (old, new, most) = match arguments {
        [old, new] => (text_of(*old)?, text_of(*new)?, usize::MAX),
        [old, new, most] => (text_of(*old)?, text_of(*new)?, usize::try_from(index_of(*most)?).unwrap_or(usize::MAX)),
        _ => return Err(Doubt),
    };
    let mut places = text.match_indices(old).map(|(at, _)| at).take(most).peekable();
    if places.peek().is_none() {
        return Ok(Value::Text(text));
    }
    let mut result = Growing::new(bump, text.len() + new.len());
    let mut done = 0;
    for at in places {
        result.push(&text[done..at])?;
        result.push(new)?;
        done = at + old.len();
    }
    result.push(&text[done..])?;
    Ok(result.value())
}

/// `separator.join(texts)`.
pub fn join<'a>(bump: &'a Bump, separator: &'a str, texts: Value<'a>) -> Answer<'a> {
    let texts = iterate(bump, texts)?;
    let mut size = separator.len().saturating_mul(texts.len().saturating_sub(1));
    for text in texts {
        size = size.saturating_add(text_of(*text)?.len());
    }
    let mut result = Growing::new(bump, size);
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            result.push(separator)?;
        }
        result.push(text_of(*text)?)?;
    }
    Ok(result.value())
}

/// Where a text is put in a wider field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `ljust`
    Left,
    /// `rjust`
    Right,
    /// `center`
    Middle,
}

/// `ljust`, `rjust` and `center`.
pub fn justified<'a>(bump: &'a Bump, text: &'a str, arguments: &[Value<'a>], side: Side) -> Answer<'a> {
    let (width, fill) = match arguments {
        [width] => (index_of(*width)?, ' '),
        [width, fill] => (index_of(*width)?, one_character(text_of(*fill)?)?),
        _ => return Err(Doubt),
    };
    let missing = width.saturating_sub(characters(text) as i64).max(0);
    let left = match side {
        Side::Left => 0,
        Side::Right => missing,
        Side::Middle => missing / 2 + (missing & width & 1),
    };
    padded(bump, text, fill, left as usize, (missing - left) as usize)
}

/// A text with a character before and behind it, some times.
pub fn padded<'a>(bump: &'a Bump, text: &'a str, fill: char, left: usize, right: usize) -> Answer<'a> {
    if left == 0 && right == 0 {
        return Ok(Value::Text(text));
    }
    let mut result = Growing::new(bump, text.len() + left.saturating_add(right));
    result.fill(fill, left)?;
    result.push(text)?;
    result.fill(fill, right)?;
    Ok(result.value())
}

/// The character of a text that has one.
pub fn one_character(text: &str) -> Result<char, Doubt> {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(c), None) => Ok(c),
        _ => Err(Doubt),
    }
}

/// `zfill`.
pub fn zero_filled<'a>(bump: &'a Bump, text: &'a str, width: Value<'a>) -> Answer<'a> {
    let missing = index_of(width)?.saturating_sub(characters(text) as i64);
    if missing <= 0 {
        return Ok(Value::Text(text));
    }
    let sign = if text.starts_with(['+', '-']) { 1 } else { 0 };
    let mut result = Growing::new(bump, text.len() + missing as usize);
    result.push(&text[..sign])?;
    result.fill('0', missing as usize)?;
    result.push(&text[sign..])?;
    Ok(result.value())
}

/// `expandtabs`.
pub fn expanded<'a>(bump: &'a Bump, text: &'a str, arguments: &[Value<'a>]) -> Answer<'a> {
    let size = match arguments {
        [] => 8,
        [size] => index_of(*size)?.max(0),
        _ => return Err(Doubt),
    };
    let mut result = Growing::new(bump, text.len());
    let mut column: i64 = 0;
    for c in text.chars() {
        if c != '\t' {
            result.fill(c, 1)?;
            column = if matches!(c, '\n' | '\r') { 0 } else { column + 1 };
        } else if size > 0 {
            let spaces = size - column % size;
            result.fill(' ', spaces as usize)?;
            column = column.checked_add(spaces).ok_or(Doubt)?;
        }
    }
    Ok(result.value())
}
