//! Regular expressions, as Python's `re` matches them: from left to right, the first way that fits. It is called with patterns
//! in which nothing else depends on the version of Python: the compiler of functions has read them with Python's own parser.

mod matcher;

use bumpalo::Bump;

use self::matcher::Matcher;

use crate::value::{Doubt, Value};

/// Instructions of a matcher at the most.
const MOST_INSTRUCTIONS: usize = 1 << 12;
/// Steps in a text at the most: some patterns take very many.
const MOST_STEPS: usize = 1 << 20;

/// Characters: ranges and classes, or all others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Characters {
    /// From one to another, both included.
    pub ranges: Vec<(char, char)>,
    /// Of `d`, `s`, `w` and their opposites.
    pub classes: Vec<char>,
    /// Whether it is all others.
    pub negated: bool,
    /// Whether the case of letters does not matter.
    pub any_case: bool,
}

impl Characters {
    #[inline]
    fn has(&self, character: char) -> bool {
        let within = |wanted: char| self.ranges.iter().any(|&(first, last)| first <= wanted && wanted <= last);
        let inside = within(character)
            || (self.any_case && (within(character.to_ascii_lowercase()) || within(character.to_ascii_uppercase())))
            || self.classes.iter().any(|&class| is_of(class, character));
        inside != self.negated
    }
}

/// Whether an ASCII character is of a class; others are of the opposite ones, as with the flag for ASCII.
fn is_of(class: char, character: char) -> bool {
    let inside = match class.to_ascii_lowercase() {
        'd' => character.is_ascii_digit(),
        's' => matches!(character, '\t'..='\r' | '\x1c'..='\x1f' | ' '),
        _ => is_word(character),
    };
    inside != class.is_ascii_uppercase()
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// One character of these.
    One(Characters),
    /// A place: `^` and `$`, `m` and `n` for the same at each line, `A` and `Z` for the text's own ends, `b` at a word's.
    At(char),
    /// A group that is remembered under its number, from 1.
    Group(usize, Vec<Part>),
    /// The first of these that fits.
    Branch(Vec<Vec<Part>>),
    /// Some parts so often; whether as often as possible, or as seldom.
    Repeat(usize, Option<usize>, bool, Vec<Part>),
}

#[derive(Clone, Debug)]
enum Step {
    One(Characters),
    /// As many as possible, at least so many.
    Run(Characters, usize, usize),
    At(char),
    Save(usize),
    /// The first way, and then the other.
    Split(usize, usize),
    Jump(usize),
    Match,
}

/// A pattern that can be matched.
#[derive(Clone, Debug)]
pub struct Pattern {
    steps: Vec<Step>,
    groups: usize,
    /// Whether what it does with characters beyond ASCII is not known here.
    ascii_texts: bool,
}

/// What is done with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as the methods of these names")]
pub enum Call {
    Search,
    Match,
    Fullmatch,
    Findall,
    Split,
    Sub,
}

/// Where a pattern may begin and must end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Anywhere,
    Here,
    Whole,
}

impl Pattern {
    /// With so many groups; `None` where it has too many parts. `ascii_texts` says that it is not known here what it does with
    /// other texts.
    pub fn new(parts: &[Part], groups: usize, ascii_texts: bool) -> Option<Self> {
        let mut steps = Vec::new();
        add_all(&mut steps, parts)?;
        steps.push(Step::Match);
        Some(Self { steps, groups, ascii_texts })
    }

    /// The result for a text, and what takes the place of matches.
    pub fn call<'a>(&self, call: Call, values: &[Value<'a>], arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        let (text, more) = match values {
            [Value::Text(text)] if call != Call::Sub => (*text, ""),
            [Value::Text(more), Value::Text(text)] if call == Call::Sub => (*text, *more),
            _ => return Err(Doubt),
        };
        if self.ascii_texts && !text.is_ascii() {
            return Err(Doubt);
        }
        let mut matcher = Matcher::new(self, text, MOST_STEPS);
        match call {
            Call::Search => matcher.one(Mode::Anywhere, arena),
            Call::Match => matcher.one(Mode::Here, arena),
            Call::Fullmatch => matcher.one(Mode::Whole, arena),
            Call::Findall => matcher.all(arena),
            Call::Split => matcher.split(arena),
            Call::Sub => matcher.replaced(more, arena),
        }
    }
}

/// Recursive, as deep as the pattern.
fn add_all(steps: &mut Vec<Step>, parts: &[Part]) -> Option<()> {
    for part in parts {
        match part {
            Part::One(characters) => steps.push(Step::One(characters.clone())),
            Part::At(place) => steps.push(Step::At(*place)),
            Part::Group(number, parts) => {
                steps.push(Step::Save(2 * number));
                add_all(steps, parts)?;
                steps.push(Step::Save(2 * number + 1));
            }
            Part::Branch(branches) => add_branches(steps, branches)?,
            Part::Repeat(least, most, true, parts) if matches!(&parts[..], [Part::One(_)]) => {
                let [Part::One(characters)] = &parts[..] else { return None };
                steps.push(Step::Run(characters.clone(), *least, most.unwrap_or(usize::MAX)));
            }
            Part::Repeat(least, most, greedy, parts) => add_repeated(steps, *least, *most, *greedy, parts)?,
        }
        if steps.len() > MOST_INSTRUCTIONS {
            return None;
        }
    }
    Some(())
}

fn add_branches(steps: &mut Vec<Step>, branches: &[Vec<Part>]) -> Option<()> {
    let mut ends = Vec::new();
    let (last, others) = branches.split_last()?;
    for branch in others {
        let split = steps.len();
        steps.push(Step::Match);
        add_all(steps, branch)?;
        ends.push(steps.len());
        steps.push(Step::Match);
        steps[split] = Step::Split(split + 1, steps.len());
    }
    add_all(steps, last)?;
    for end in ends {
        steps[end] = Step::Jump(steps.len());
    }
    Some(())
}

fn add_repeated(steps: &mut Vec<Step>, least: usize, most: Option<usize>, greedy: bool, parts: &[Part]) -> Option<()> {
    let split = |again, out| if greedy { Step::Split(again, out) } else { Step::Split(out, again) };
    if least.max(most.unwrap_or(0)) > MOST_INSTRUCTIONS {
        return None;
    }
    for _ in 0..least {
        add_all(steps, parts)?;
    }
    let Some(most) = most else {
        let start = steps.len();
        steps.push(Step::Match);
        add_all(steps, parts)?;
        steps.push(Step::Jump(start));
        steps[start] = split(start + 1, steps.len());
        return Some(());
    };
    let mut splits = Vec::new();
    for _ in least..most {
        splits.push(steps.len());
        steps.push(Step::Match);
        add_all(steps, parts)?;
    }
    let end = steps.len();
    splits.into_iter().for_each(|at| steps[at] = split(at + 1, end));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters() -> Characters {
        Characters { classes: vec!['w'], ..Characters::default() }
    }

    fn literal(character: char) -> Part {
        Part::One(Characters { ranges: vec![(character, character)], ..Characters::default() })
    }

    #[test]
    fn words_are_found_and_split() {
        let arena = Bump::new();
        let words = Pattern::new(&[Part::Repeat(1, None, true, vec![Part::One(letters())])], 0, true).expect("it is small");
        let found = words.call(Call::Findall, &[Value::Text("to be, or")], &arena).expect("it is known");
        assert_eq!(format!("{found:?}"), r#"List([Text("to"), Text("be"), Text("or")])"#);
        let split = words.call(Call::Split, &[Value::Text("a-b")], &arena).expect("it is known");
        assert_eq!(format!("{split:?}"), r#"List([Text(""), Text("-"), Text("")])"#);
        assert_eq!(words.call(Call::Findall, &[Value::Text("é")], &arena).err(), Some(Doubt));
    }

    #[test]
    fn a_run_gives_back_what_the_rest_needs() {
        let arena = Bump::new();
        let group = Part::Group(1, vec![Part::Repeat(0, None, true, vec![literal('a')])]);
        let pattern = Pattern::new(&[group, literal('a'), Part::At('$')], 1, false).expect("it is small");
        let groups = pattern.call(Call::Match, &[Value::Text("aaa\n")], &arena).expect("it is known");
        assert_eq!(format!("{groups:?}"), r#"Tuple([Text("aaa"), Text("aa")])"#);
        assert_eq!(format!("{:?}", pattern.call(Call::Match, &[Value::Text("é")], &arena)), "Ok(None)");
    }
}
