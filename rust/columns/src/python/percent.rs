//! `text % values`.

use bumpalo::Bump;

use super::Answer;
use crate::value::{Doubt, Value};

/// A text formatted with values.
pub fn formatted<'a>(_: &'a Bump, _: &'a str, _: Value<'a>) -> Answer<'a> {
    Err(Doubt)
}
