//! Programs out of JSON: regular expressions.

use serde_json::Value as Json;

use crate::json::{Malformed, list, malformed, text};
use crate::python::patterns::{Call, Characters, Part, Pattern};

/// What is done with a pattern, by name.
pub fn call_of(name: &str) -> Result<Call, Malformed> {
    Ok(match name {
        "search" => Call::Search,
        "match" => Call::Match,
        "fullmatch" => Call::Fullmatch,
        "findall" => Call::Findall,
        "split" => Call::Split,
        "sub" => Call::Sub,
        _ => return Err(malformed(format!("nothing like {name:?} is done with a pattern"))),
    })
}

/// A pattern of its parts, the number of its groups, and whether it is for texts of ASCII only.
pub fn pattern_of(json: &Json) -> Result<Pattern, Malformed> {
    let [parts, groups, ascii] = list(json)? else { return Err(malformed("a pattern has three parts")) };
    let pattern = Pattern::new(&all(parts, groups)?, size(groups)?, ascii.as_bool().unwrap_or(true));
    pattern.ok_or_else(|| malformed("a pattern is too large"))
}

/// Recursive, as deep as a text of JSON may be.
fn all(json: &Json, groups: &Json) -> Result<Vec<Part>, Malformed> {
    list(json)?.iter().map(|part| one(part, groups)).collect()
}

fn one(json: &Json, groups: &Json) -> Result<Part, Malformed> {
    let (kind, rest) = list(json)?.split_first().ok_or_else(|| malformed("a part of a pattern is empty"))?;
    Ok(match (text(kind)?, rest) {
        ("one", [ranges, classes, negated, any_case]) => {
            let ranges = list(ranges)?.iter().map(range).collect::<Result<_, _>>()?;
            let classes = text(classes)?.chars().collect();
            let [negated, any_case] = [negated, any_case].map(|flag| flag == &Json::Bool(true));
            Part::One(Characters { ranges, classes, negated, any_case })
        }
        ("at", [place]) => Part::At(text(place)?.chars().next().ok_or_else(|| malformed("a place has a letter"))?),
        ("group", [number, parts]) => {
            let known = number.as_u64().zip(groups.as_u64()).is_some_and(|(number, groups)| (1..=groups).contains(&number));
            if !known {
                return Err(malformed("a pattern has fewer groups"));
            }
            Part::Group(size(number)?, all(parts, groups)?)
        }
        ("branch", [branches]) => Part::Branch(list(branches)?.iter().map(|branch| all(branch, groups)).collect::<Result<_, _>>()?),
        ("repeat", [least, most, greedy, parts]) => {
            let most = if most.is_null() { None } else { Some(size(most)?) };
            Part::Repeat(size(least)?, most, greedy == &Json::Bool(true), all(parts, groups)?)
        }
        (kind, _) => return Err(malformed(format!("{kind:?} is no part of a pattern"))),
    })
}

fn size(json: &Json) -> Result<usize, Malformed> {
    json.as_u64().and_then(|size| usize::try_from(size).ok()).ok_or_else(|| malformed("a number of a pattern is not positive"))
}

fn range(json: &Json) -> Result<(char, char), Malformed> {
    let character = |json: &Json| json.as_u64().and_then(|code| char::from_u32(u32::try_from(code).ok()?));
    match list(json)? {
        [first, last] => character(first).zip(character(last)).ok_or_else(|| malformed("a character has a code")),
        _ => Err(malformed("a range has two ends")),
    }
}
