//! `strptime`: texts with all digits of their numbers.

use super::calendar;
use super::read::digits;
use crate::value::Doubt;

/// The fields of a time, in the order of the constructor, by their letters.
const LETTERS: &[u8; 7] = b"YmdHMSf";

/// A time by its own clock, in microseconds, out of a text of a form such as `%Y-%m-%d %H:%M`. Each number has all its digits,
/// but for a fraction, and the rest is the same in both; what Python may read in another way is doubtful.
pub fn time_of(text: &str, form: &str) -> Result<i64, Doubt> {
    let (mut rest, mut form) = (text.as_bytes(), form.as_bytes());
    let (mut fields, mut seen) = ([1900, 1, 1, 0, 0, 0, 0], [false; 7]);
    while let [first, after @ ..] = form {
        form = after;
        if *first != b'%' {
            rest = literal(*first, rest, after)?;
            continue;
        }
        let (letter, after) = after.split_first().ok_or(Doubt)?;
        form = after;
        let Some(place) = LETTERS.iter().position(|other| other == letter) else {
            rest = if *letter == b'%' { rest.strip_prefix(b"%").ok_or(Doubt)? } else { return Err(Doubt) };
            continue;
        };
        if std::mem::replace(&mut seen[place], true) {
            return Err(Doubt);
        }
        let width = match letter {
            b'Y' => 4,
            b'f' => rest.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count(),
            _ => 2,
        };
        let (number, others) = rest.split_at_checked(width).filter(|(number, _)| !number.is_empty()).ok_or(Doubt)?;
        let number = digits(number)?;
        fields[place] = if *letter == b'f' { number * 10_i64.pow(6 - width as u32) } else { number };
        if *letter == b'f' && form.first().is_some_and(|next| *next == b'%' || next.is_ascii_digit()) {
            return Err(Doubt);
        }
        rest = others;
    }
    if rest.is_empty() { calendar::local(&fields) } else { Err(Doubt) }
}

/// What follows a character that both have. A space stands for others in a form, so it must be the only one.
fn literal<'t>(character: u8, rest: &'t [u8], form: &[u8]) -> Result<&'t [u8], Doubt> {
    let rest = rest.strip_prefix(&[character]).ok_or(Doubt)?;
    let is_space = |byte: Option<&u8>| byte.is_some_and(|byte| !byte.is_ascii_graphic());
    let doubtful = is_space(Some(&character)) && (character != b' ' || is_space(rest.first()) || is_space(form.first()));
    if doubtful { Err(Doubt) } else { Ok(rest) }
}
