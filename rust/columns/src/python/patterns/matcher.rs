//! Goes through a text: the last way that has not been tried is next.

use bumpalo::Bump;
use bumpalo::collections::{String, Vec as Items};

use super::{Characters, MOST_STEPS, Mode, Pattern, Step, is_word};
use crate::value::{Doubt, Value};

/// A way that has not been tried yet.
enum Other {
    Way(usize, usize),
    /// The same with fewer characters, down to the first place.
    Shorter(usize, usize, usize),
    /// What a group's end was before.
    Slot(usize, Option<usize>),
}

/// A pattern on its way through a text.
pub(super) struct Matcher<'p, 'a> {
    pattern: &'p Pattern,
    text: &'a str,
    slots: Vec<Option<usize>>,
    others: Vec<Other>,
    left: usize,
}

impl<'p, 'a> Matcher<'p, 'a> {
    /// With so many steps at the most.
    pub(super) fn new(pattern: &'p Pattern, text: &'a str, steps: usize) -> Self {
        Self { pattern, text, slots: vec![None; 2 * pattern.groups + 2], others: Vec::new(), left: steps }
    }

    /// The first match from a place on, which is not empty there if it must advance; its groups are in the slots.
    fn next(&mut self, from: usize, advances: bool, mode: Mode) -> Result<bool, Doubt> {
        let mut start = from;
        loop {
            if self.at(start, advances && start == from, mode == Mode::Whole)? {
                return Ok(true);
            }
            if mode != Mode::Anywhere || start == self.text.len() {
                return Ok(false);
            }
            start += self.text[start..].chars().next().map_or(1, char::len_utf8);
        }
    }

    /// Whether the pattern matches at a place.
    fn at(&mut self, start: usize, advances: bool, whole: bool) -> Result<bool, Doubt> {
        self.slots.fill(None);
        self.others.clear();
        let (pattern, mut step, mut at) = (self.pattern, 0, start);
        loop {
            self.left = self.left.checked_sub(1).ok_or(Doubt)?;
            let next = match &pattern.steps[step] {
                Step::Match if (advances && at == start) || (whole && at != self.text.len()) => None,
                Step::Match => {
                    (self.slots[0], self.slots[1]) = (Some(start), Some(at));
                    return Ok(true);
                }
                other => self.behind(other, step, at)?,
            };
            match next.or_else(|| self.other()) {
                Some(next) => (step, at) = next,
                None => return Ok(false),
            }
        }
    }

    /// Where a step leads, if it does: the number of the next one, and a place.
    #[inline]
    fn behind(&mut self, step: &Step, number: usize, at: usize) -> Result<Option<(usize, usize)>, Doubt> {
        let place = match step {
            Step::One(characters) => {
                let next = self.text[at..].chars().next().filter(|&character| characters.has(character));
                next.map(|character| at + character.len_utf8())
            }
            Step::Run(characters, least, most) => match self.run(characters, *least, *most, at) {
                Some((low, high)) => {
                    self.left = self.left.checked_sub(high - at).ok_or(Doubt)?;
                    if low < high {
                        self.others.push(Other::Shorter(number + 1, low, high));
                    }
                    Some(high)
                }
                None => None,
            },
            Step::At(place) => self.is_at(*place, at).then_some(at),
            Step::Save(slot) => {
                self.others.push(Other::Slot(*slot, self.slots[*slot]));
                self.slots[*slot] = Some(at);
                Some(at)
            }
            Step::Split(first, other) => {
                self.others.push(Other::Way(*other, at));
                return Ok(Some((*first, at)));
            }
            Step::Jump(to) => return Ok(Some((*to, at))),
            Step::Match => None,
        };
        Ok(place.map(|place| (number + 1, place)))
    }

    /// The last way that has not been tried.
    fn other(&mut self) -> Option<(usize, usize)> {
        loop {
            match self.others.pop()? {
                Other::Way(step, at) => return Some((step, at)),
                Other::Slot(slot, before) => self.slots[slot] = before,
                Other::Shorter(step, low, high) => {
                    let shorter = self.text[low..high].char_indices().next_back().map_or(low, |(at, _)| low + at);
                    if low < shorter {
                        self.others.push(Other::Shorter(step, low, shorter));
                    }
                    return Some((step, shorter));
                }
            }
        }
    }

    /// Where the least and the most of some characters end.
    fn run(&self, characters: &Characters, least: usize, most: usize, at: usize) -> Option<(usize, usize)> {
        let (mut count, mut end, mut low) = (0, at, at);
        for character in self.text[at..].chars() {
            if count == most || !characters.has(character) {
                break;
            }
            end += character.len_utf8();
            count += 1;
            if count == least {
                low = end;
            }
        }
        (count >= least).then_some((low, end))
    }

    fn is_at(&self, place: char, at: usize) -> bool {
        let (bytes, end) = (self.text.as_bytes(), self.text.len());
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let next = bytes.get(at).copied();
        match place {
            '^' | 'A' => at == 0,
            'm' => before.is_none_or(|before| before == b'\n'),
            '$' => at == end || (at + 1 == end && next == Some(b'\n')),
            'n' => next.is_none_or(|next| next == b'\n'),
            'Z' => at == end,
            _ => before.is_some_and(|before| is_word(char::from(before))) != next.is_some_and(|next| is_word(char::from(next))),
        }
    }

    /// What a group has matched.
    fn group(&self, number: usize) -> Option<&'a str> {
        let (start, end) = (self.slots[2 * number]?, self.slots[2 * number + 1]?);
        self.text.get(start..end)
    }

    /// Nothing, or a tuple of all groups, the whole match first.
    pub(super) fn one(&mut self, mode: Mode, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        if !self.next(0, false, mode)? {
            return Ok(Value::None);
        }
        let groups = (0..self.pattern.groups + 1).map(|number| self.group(number).map_or(Value::None, Value::Text));
        Ok(Value::Tuple(arena.alloc_slice_fill_iter(groups)))
    }

    /// Goes through all matches.
    fn each(&mut self, mut take: impl FnMut(&Self, usize, usize)) -> Result<(), Doubt> {
        let (mut from, mut advances) = (0, false);
        while self.next(from, advances, Mode::Anywhere)? {
            let (Some(start), Some(end)) = (self.slots[0], self.slots[1]) else { return Err(Doubt) };
            take(self, start, end);
            (from, advances) = (end, start == end);
        }
        Ok(())
    }

    pub(super) fn all(&mut self, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        let (mut found, groups) = (Items::new_in(arena), self.pattern.groups);
        self.each(|matcher, _, _| {
            let text = |number| Value::Text(matcher.group(number).unwrap_or(""));
            found.push(match groups {
                0 | 1 => text(groups),
                _ => Value::Tuple(arena.alloc_slice_fill_iter((1..groups + 1).map(text))),
            });
        })?;
        Ok(Value::List(found.into_bump_slice()))
    }

    pub(super) fn split(&mut self, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        let (mut parts, mut last, text, groups) = (Items::new_in(arena), 0, self.text, self.pattern.groups);
        self.each(|matcher, start, end| {
            parts.push(Value::Text(&text[last..start]));
            parts.extend((1..=groups).map(|number| matcher.group(number).map_or(Value::None, Value::Text)));
            last = end;
        })?;
        parts.push(Value::Text(&text[last..]));
        Ok(Value::List(parts.into_bump_slice()))
    }

    pub(super) fn replaced(&mut self, new: &str, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        let (mut whole, mut last, text) = (String::new_in(arena), 0, self.text);
        if new.contains('\\') || new.len().saturating_mul(text.len() + 1) > MOST_STEPS << 2 {
            return Err(Doubt);
        }
        self.each(|_, start, end| {
            whole.push_str(&text[last..start]);
            whole.push_str(new);
            last = end;
        })?;
        whole.push_str(&text[last..]);
        Ok(Value::Text(whole.into_bump_str()))
    }
}
