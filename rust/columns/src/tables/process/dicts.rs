//! Values of states that are dicts. A column has none, so Python and this crate hand a list of their entries to each other, and
//! a field more: the time of the value, or None.

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use crate::tables::cells::Cells;
use crate::tables::kept::Kept;
use crate::value::{Doubt, Value};

/// Entries of a dict at the most: it is copied whenever it changes, which Python need not do.
const MOST_ENTRIES: usize = 8;

/// The entries of a stored value that is a dict, and its time; `lives` says whether values have one.
fn dict(stored: Value<'_>, lives: bool) -> Option<(&[(Value<'_>, Value<'_>)], Value<'_>)> {
    match stored {
        Value::Dict(entries) if !lives => Some((entries, Value::None)),
        Value::Tuple(&[Value::Dict(entries), time]) if lives => Some((entries, time)),
        _ => None,
    }
}

/// The row of a key and its value.
pub fn row<'a>(key: Value<'a>, stored: Value<'a>, lives: bool, arena: &'a Bump) -> &'a [Value<'a>] {
    let Some((entries, time)) = dict(stored, lives) else { return arena.alloc_slice_copy(&[key, stored]) };
    let pairs = entries.iter().map(|&(key, value)| Value::Tuple(arena.alloc_slice_copy(&[key, value])));
    arena.alloc_slice_copy(&[key, Value::List(arena.alloc_slice_fill_iter(pairs)), time])
}

/// What is stored for the entries of a dict, and its time.
pub fn kept(pairs: &[Value<'_>], time: Value<'_>) -> Result<Kept, Doubt> {
    let arena = Bump::new();
    let mut entries = Items::with_capacity_in(pairs.len(), &arena);
    for &pair in pairs {
        let Value::Tuple(&[key, value]) = pair else { return Err(Doubt) };
        entries.push((key, value));
    }
    let dict = Value::Dict(entries.into_bump_slice());
    let stored = [dict, time];
    Kept::new(if matches!(time, Value::None) { dict } else { Value::Tuple(&stored) })
}

/// Whether a stored value, or the keys and values of a dict, can be of the types that are known.
pub fn admits(keys: &mut Cells, values: &mut Cells, stored: Value<'_>, lives: bool) -> bool {
    match dict(stored, lives) {
        Some((entries, _)) => entries.len() <= MOST_ENTRIES && entries.iter().all(|&(key, value)| keys.admits(key) && values.admits(value)),
        None => values.admits(stored),
    }
}
