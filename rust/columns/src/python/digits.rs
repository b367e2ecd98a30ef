//! Decimal digits of floats, as many as a format asks for, rounded by the exact value.

use std::fmt::Write;

use bumpalo::Bump;
use bumpalo::collections::String;

use crate::value::Doubt;

/// The most digits behind the point.
const MOST_DIGITS: usize = 10_000;

/// How a float is written.
#[derive(Clone, Copy)]
pub struct Style {
    /// One of `e`, `f`, `g`, `r`, or the same in capitals; `r` is as `repr` has it.
    pub kind: char,
    /// Digits behind the point; for `g` all of them.
    pub precision: usize,
    /// With a point and the zeros at the end in any case.
    pub alternate: bool,
    /// With a digit behind the point, unless there is an exponent.
    pub point: bool,
}

/// The text of a float without its sign.
pub fn unsigned<'a>(bump: &'a Bump, f: f64, style: Style) -> Result<String<'a>, Doubt> {
    let mut text = String::new_in(bump);
    let size = f.abs();
    if style.precision > MOST_DIGITS {
        return Err(Doubt);
    }
    match style.kind.to_ascii_lowercase() {
        _ if size.is_nan() => text.push_str("nan"),
        _ if size.is_infinite() => text.push_str("inf"),
        'r' => show_float(&mut text, size)?,
        'f' => {
            write!(text, "{size:.*}", style.precision).map_err(|_| Doubt)?;
            if style.alternate && style.precision == 0 {
                text.push('.');
            }
        }
        'e' => {
            let (digits, exponent) = scientific(bump, size, style.precision)?;
            with_exponent(&mut text, &digits, exponent, style.alternate)?;
        }
        'g' => general(bump, &mut text, size, style)?,
        _ => return Err(Doubt),
    }
    if style.kind.is_ascii_uppercase() {
        text.as_mut_str().make_ascii_uppercase();
    }
    Ok(text)
}

/// All digits of a number, one before the point, and its power of ten.
fn scientific<'a>(bump: &'a Bump, size: f64, behind: usize) -> Result<(String<'a>, i32), Doubt> {
    let mut text = String::new_in(bump);
    write!(text, "{size:.behind$e}").map_err(|_| Doubt)?;
    let (number, exponent) = text.split_once('e').ok_or(Doubt)?;
    let exponent = exponent.parse().map_err(|_| Doubt)?;
    let mut digits = String::with_capacity_in(number.len(), bump);
    digits.extend(number.chars().filter(char::is_ascii_digit));
    Ok((digits, exponent))
}

fn with_exponent(text: &mut String<'_>, digits: &str, exponent: i32, alternate: bool) -> Result<(), Doubt> {
    text.push_str(&digits[..1]);
    if digits.len() > 1 || alternate {
        text.push('.');
    }
    text.push_str(&digits[1..]);
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(text, "e{sign}{:02}", exponent.abs()).map_err(|_| Doubt)
}

/// As few digits as that precision needs, with an exponent where the number is large or small.
fn general(bump: &Bump, text: &mut String<'_>, size: f64, style: Style) -> Result<(), Doubt> {
    let precision = style.precision.max(1);
    let (digits, exponent) = scientific(bump, size, precision - 1)?;
    let digits = if style.alternate { &*digits } else { digits.trim_end_matches('0') };
    let digits = if digits.is_empty() { "0" } else { digits };
    let most = precision as i64 - i64::from(style.point);
    if exponent < -4 || i64::from(exponent) >= most {
        return with_exponent(text, digits, exponent, style.alternate);
    }
    if exponent < 0 {
        text.push_str("0.");
        text.extend(std::iter::repeat_n('0', (-1 - exponent) as usize));
        text.push_str(digits);
        return Ok(());
    }
    let before = exponent as usize + 1;
    text.push_str(&digits[..before.min(digits.len())]);
    text.extend(std::iter::repeat_n('0', before.saturating_sub(digits.len())));
    if digits.len() > before {
        text.push('.');
        text.push_str(&digits[before..]);
    } else if style.point {
        text.push_str(".0");
    } else if style.alternate {
        text.push('.');
    }
    Ok(())
}

/// The shortest digits of a finite float that is not negative, how many, and the power of ten of the first one.
pub(crate) fn shortest(f: f64) -> ([u8; 24], usize, i32) {
    let (mut digits, mut count, mut first, mut point) = ([0; 24], 0, None, None);
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(f).as_bytes();
    let end = text.iter().position(|byte| *byte == b'e').unwrap_or(text.len());
    for (at, byte) in text[..end].iter().enumerate() {
        match byte {
            b'.' => point = Some(at as i32),
            b'0' if count == 0 => {}
            byte => {
                first.get_or_insert(at as i32);
                digits[count] = *byte;
                count += 1;
            }
        }
    }
    let (first, point) = (first.unwrap_or(0), point.unwrap_or(end as i32));
    let power = std::str::from_utf8(&text[(end + 1).min(text.len())..]).map_or(0, |power| power.parse().unwrap_or(0));
    while count > 1 && digits[count - 1] == b'0' {
        count -= 1;
    }
    (digits, count.max(1), power + point - first - i32::from(point > first))
}

/// `repr` of a float: with an exponent from 1e16 on, and below 1e-4.
pub fn show_float(shown: &mut String<'_>, f: f64) -> Result<(), Doubt> {
    if f.is_nan() {
        shown.push_str("nan");
        return Ok(());
    }
    if f.is_sign_negative() {
        shown.push('-');
    }
    if f.is_infinite() {
        shown.push_str("inf");
        return Ok(());
    }
    if f == 0.0 {
        shown.push_str("0.0");
        return Ok(());
    }
    let (digits, count, exponent) = shortest(f.abs());
    let digits = std::str::from_utf8(&digits[..count]).map_err(|_| Doubt)?;
    if !(-4..16).contains(&exponent) {
        return with_exponent(shown, digits, exponent, false);
    }
    let before = (exponent + 1).max(0) as usize; // digits before the point
    if before == 0 {
        shown.push_str("0.");
        shown.extend(std::iter::repeat_n('0', (-1 - exponent) as usize));
        shown.push_str(digits);
        return Ok(());
    }
    shown.push_str(&digits[..before.min(count)]);
    shown.extend(std::iter::repeat_n('0', before.saturating_sub(count)));
    shown.push('.');
    shown.push_str(if count > before { &digits[before..] } else { "0" });
    Ok(())
}
