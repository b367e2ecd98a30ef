//! The texts of numbers.

use super::Floats;
use crate::python::shortest;

/// The text of a whole number.
pub fn write_int(out: &mut Vec<u8>, number: i64) {
    let (mut digits, mut at, mut rest) = ([0; 20], 20, number.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// The text of a float.
pub fn write(out: &mut Vec<u8>, number: f64, floats: Floats) {
    if !number.is_finite() {
        let quote: &[u8] = if floats == Floats::Java { b"" } else { b"\"" };
        let text: &[u8] = if number.is_nan() {
            b"NaN"
        } else if number > 0.0 {
            b"Infinity"
        } else {
            b"-Infinity"
        };
        [quote, text, quote].iter().for_each(|part| out.extend_from_slice(part));
        return;
    }
    if number.is_sign_negative() {
        out.push(b'-');
    }
    if number == 0.0 {
        out.extend_from_slice(b"0.0");
        return;
    }
    let (digits, count, exponent) = shortest(number.abs());
    let digits = &digits[..count];
    match floats {
        Floats::PythonJson if !(-4..16).contains(&exponent) => {
            write_head(out, digits, b"");
            out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
            if exponent.abs() < 10 {
                out.push(b'0');
            }
            write_int(out, i64::from(exponent.abs()));
        }
        Floats::Java | Floats::JavaJson if !(-3..7).contains(&exponent) => {
            write_head(out, digits, b".0");
            out.push(b'E');
            write_int(out, i64::from(exponent));
        }
        _ => write_plain(out, digits, exponent),
    }
}

/// Digits with a point behind the first, and what stands behind that if it is alone.
fn write_head(out: &mut Vec<u8>, digits: &[u8], alone: &[u8]) {
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    } else {
        out.extend_from_slice(alone);
    }
}

/// Digits, of which the first has a power of ten, without an exponent.
fn write_plain(out: &mut Vec<u8>, digits: &[u8], exponent: i32) {
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-1 - exponent) as usize));
        out.extend_from_slice(digits);
        return;
    }
    let before = exponent as usize + 1; // digits before the point
    out.extend_from_slice(&digits[..before.min(digits.len())]);
    out.extend(std::iter::repeat_n(b'0', before.saturating_sub(digits.len())));
    out.push(b'.');
    out.extend_from_slice(if digits.len() > before { &digits[before..] } else { b"0" });
}
