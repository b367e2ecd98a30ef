//! `split`, `rsplit` and `splitlines` of texts.

use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::characters::{is_line_end, is_space};
use super::numbers::index_of;
use super::texts::text_of;
use super::{Answer, MOST_ITEMS};
use crate::value::{Doubt, Value};

/// Texts in a list, as many as a list may have.
fn listed<'a>(bump: &'a Bump, parts: impl Iterator<Item = &'a str>) -> Result<&'a mut [Value<'a>], Doubt> {
    let mut items = Vec::with_capacity_in(8, bump);
    for part in parts {
        if items.len() == MOST_ITEMS {
            return Err(Doubt);
        }
        items.push(Value::Text(part));
    }
    Ok(items.into_bump_slice_mut())
}

fn reversed<'a>(bump: &'a Bump, parts: impl Iterator<Item = &'a str>) -> Answer<'a> {
    let items = listed(bump, parts)?;
    items.reverse();
    Ok(Value::List(items))
}

/// The separator, none for whitespace, and the most cuts.
fn limits<'a>(arguments: &[Value<'a>]) -> Result<(Option<&'a str>, usize), Doubt> {
    let (separator, most) = match arguments {
        [] => (Value::None, None),
        [separator] => (*separator, None),
        [separator, most] => (*separator, Some(index_of(*most)?)),
        _ => return Err(Doubt),
    };
    let separator = match separator {
        Value::None => None,
        _ => Some(text_of(separator)?).filter(|text| !text.is_empty()).map_or(Err(Doubt), |text| Ok(Some(text)))?,
    };
    Ok((separator, most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)))
}

/// `split`.
pub fn split<'a>(bump: &'a Bump, text: &'a str, arguments: &[Value<'a>]) -> Answer<'a> {
    let (separator, most) = limits(arguments)?;
    let pieces = most.saturating_add(1);
    let items = match separator {
        None => listed(bump, Words { rest: text, most })?,
        Some(separator) => match separator.as_bytes() {
            [byte] if pieces == usize::MAX => listed(bump, text.split(char::from(*byte)))?,
            _ => listed(bump, text.splitn(pieces, separator))?,
        },
    };
    Ok(Value::List(items))
}

/// `rsplit`.
pub fn split_from_end<'a>(bump: &'a Bump, text: &'a str, arguments: &[Value<'a>]) -> Answer<'a> {
    let (separator, most) = limits(arguments)?;
    match separator {
        None => reversed(bump, LastWords { rest: text, most }),
        Some(separator) => reversed(bump, text.rsplitn(most.saturating_add(1), separator)),
    }
}

/// The words of a text, as `split()` gives them.
pub fn words<'a>(text: &'a str, mut take: impl FnMut(&'a str)) {
    if !text.is_ascii() {
        Words { rest: text, most: usize::MAX }.for_each(take);
        return;
    }
    let mut start = None;
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        match (is_space(char::from(byte)), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                take(&text[from..at]);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        take(&text[from..]);
    }
}

/// Words between whitespace; after the most cuts the rest as it is.
struct Words<'a> {
    rest: &'a str,
    most: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_start_matches(is_space);
        if text.is_empty() {
            return None;
        }
        let end = if self.most == 0 { text.len() } else { text.find(is_space).unwrap_or(text.len()) };
        self.most = self.most.saturating_sub(1);
        self.rest = &text[end..];
        Some(&text[..end])
    }
}

/// The same from the end.
struct LastWords<'a> {
    rest: &'a str,
    most: usize,
}

impl<'a> Iterator for LastWords<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_end_matches(is_space);
        if text.is_empty() {
            return None;
        }
        let space = if self.most == 0 { None } else { text.char_indices().rev().find(|(_, c)| is_space(*c)) };
        let start = space.map_or(0, |(at, c)| at + c.len_utf8());
        self.most = self.most.saturating_sub(1);
        self.rest = &text[..start];
        Some(&text[start..])
    }
}

/// `splitlines`.
pub fn lines<'a>(bump: &'a Bump, text: &'a str, arguments: &[Value<'a>]) -> Answer<'a> {
    let keep = match arguments {
        [] => false,
        [Value::Bool(keep)] => *keep,
        _ => return Err(Doubt),
    };
    Ok(Value::List(listed(bump, Lines { rest: text, keep })?))
}

struct Lines<'a> {
    rest: &'a str,
    keep: bool,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let (text, mut next) = (self.rest, self.rest.len());
        let end = text.find(is_line_end).unwrap_or(next);
        if let Some(c) = text[end..].chars().next() {
            next = end + if text[end..].starts_with("\r\n") { 2 } else { c.len_utf8() };
        }
        self.rest = &text[next..];
        Some(&text[..if self.keep { next } else { end }])
    }
}
