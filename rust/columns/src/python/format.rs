//! `format(value, spec)`, of f-strings.

use bumpalo::Bump;

use super::show;
use crate::value::{Doubt, Value};

/// A value as an f-string has it: first `!r`, `!s` or `!a`, then the text behind the colon.
pub fn format<'a>(bump: &'a Bump, value: Value<'a>, spec: &str, conversion: Option<char>) -> Result<&'a str, Doubt> {
    let value = match conversion {
        None => value,
        Some('r') => Value::Text(show::repr(bump, value)?),
        Some('s') => Value::Text(show::text(bump, value)?),
        Some('a') => Value::Text(show::ascii(bump, value)?),
        Some(_) => return Err(Doubt),
    };
    if spec.is_empty() { show::text(bump, value) } else { Err(Doubt) }
}
