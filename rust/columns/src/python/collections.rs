//! Functions over what can be iterated: `min`, `sum`, `sorted`, `zip`, …

use std::cmp::Ordering;

use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::numbers::index_of;
use super::sequences::{collect, iterate, truth};
use super::{Answer, MOST_ITEMS, compare};
use crate::value::{Doubt, Value};

/// `min` and `max`, of several arguments or of the items of one; the first of equal ones.
pub fn extreme<'a>(bump: &'a Bump, arguments: &[Value<'a>], wanted: Ordering) -> Answer<'a> {
    let items = match arguments {
        [items] => iterate(bump, *items)?,
        several => several,
    };
    let (first, rest) = items.split_first().ok_or(Doubt)?;
    let mut best = *first;
    for item in rest {
        if compare::order(*item, best)? == Some(wanted) {
            best = *item;
        }
    }
    Ok(best)
}

/// `any` and `all`.
pub fn any<'a>(bump: &'a Bump, items: Value<'a>, wanted: bool) -> Answer<'a> {
    for item in iterate(bump, items)? {
        if truth(*item)? == wanted {
            return Ok(Value::Bool(wanted));
        }
    }
    Ok(Value::Bool(!wanted))
}

/// `sorted(items)` and `sorted(items, reverse)`.
pub fn sorted<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    let (items, reverse) = match arguments {
        [items] => (*items, false),
        [items, Value::Bool(reverse)] => (*items, *reverse),
        _ => return Err(Doubt),
    };
    let items = bump.alloc_slice_copy(iterate(bump, items)?);
    sort(bump, items, &|a, b| is_before(*a, *b, reverse))?;
    Ok(Value::List(items))
}

/// Pairs of a key and an item in the order of their keys, as `sorted(…, key=…, reverse=…)` has it.
pub fn sort_by_keys<'a>(bump: &'a Bump, pairs: &mut [(Value<'a>, Value<'a>)], reverse: bool) -> Result<(), Doubt> {
    sort(bump, pairs, &|a, b| is_before(a.0, b.0, reverse))
}

/// Whether one must come before the other; with NaN the result depends on how one sorts.
fn is_before(a: Value<'_>, b: Value<'_>, reverse: bool) -> Result<bool, Doubt> {
    let order = if reverse { compare::order(b, a)? } else { compare::order(a, b)? };
    order.map(Ordering::is_lt).ok_or(Doubt)
}

/// A stable merge sort that ends at the first pair without an order. In any sorted result neighbours have been compared, so a
/// sort of CPython's would have met a pair without an order too.
fn sort<T: Copy>(bump: &Bump, items: &mut [T], before: &impl Fn(&T, &T) -> Result<bool, Doubt>) -> Result<(), Doubt> {
    let middle = items.len() / 2;
    if middle == 0 {
        return Ok(());
    }
    sort(bump, &mut items[..middle], before)?;
    sort(bump, &mut items[middle..], before)?;
    if !before(&items[middle], &items[middle - 1])? {
        return Ok(());
    }
    let left = bump.alloc_slice_copy(&items[..middle]);
    let (mut at, mut right, mut next) = (0, middle, 0);
    while at < left.len() {
        if right < items.len() && before(&items[right], &left[at])? {
            items[next] = items[right];
            right += 1;
        } else {
            items[next] = left[at];
            at += 1;
        }
        next += 1;
    }
    Ok(())
}

/// `reversed(items)`, of a sequence or a dict.
pub fn reversed<'a>(bump: &'a Bump, value: Value<'a>) -> Answer<'a> {
    if let Value::Row(..) = value {
        return Err(Doubt);
    }
    let items = iterate(bump, value)?;
    Ok(Value::List(collect(bump, items.len(), items.iter().rev().copied())?))
}

/// `enumerate(items)` and `enumerate(items, start)`.
pub fn enumerated<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    let (items, start) = match arguments {
        [items] => (*items, 0),
        [items, start] => (*items, index_of(*start)?),
        _ => return Err(Doubt),
    };
    let items = iterate(bump, items)?;
    start.checked_add(items.len() as i64).ok_or(Doubt)?;
    let pairs = items.iter().zip(start..).map(|(item, n)| Value::Tuple(bump.alloc([Value::Int(n), *item])));
    Ok(Value::List(collect(bump, items.len(), pairs)?))
}

/// `zip(…)`, as long as the shortest.
pub fn zipped<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut sources = Vec::with_capacity_in(arguments.len(), bump);
    for argument in arguments {
        sources.push(iterate(bump, *argument)?);
    }
    let count = sources.iter().map(|items| items.len()).min().unwrap_or(0);
    let tuple = |at: usize| Value::Tuple(bump.alloc_slice_fill_iter(sources.iter().map(|items| items[at])));
    Ok(Value::List(collect(bump, count, (0..count).map(tuple))?))
}

/// `range(…)`.
pub fn range<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    let (start, stop, step) = match arguments {
        [stop] => (0, index_of(*stop)?, 1),
        [start, stop] => (index_of(*start)?, index_of(*stop)?, 1),
        [start, stop, step] => (index_of(*start)?, index_of(*stop)?, index_of(*step)?),
        _ => return Err(Doubt),
    };
    if step == 0 {
        return Err(Doubt);
    }
    let (start, stop, step) = (i128::from(start), i128::from(stop), i128::from(step));
    let span = if step > 0 { stop - start } else { start - stop };
    let count = if span > 0 { (span - 1) / step.abs() + 1 } else { 0 };
    let count = usize::try_from(count).ok().filter(|count| *count <= MOST_ITEMS).ok_or(Doubt)?;
    let numbers = (0..count as i128).map(|n| Value::Int((start + step * n) as i64));
    Ok(Value::List(collect(bump, count, numbers)?))
}

/// `tuple(items)`.
pub fn tuple<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    match arguments {
        [] => Ok(Value::Tuple(&[])),
        [items] => iterate(bump, *items).map(Value::Tuple),
        _ => Err(Doubt),
    }
}

/// `list(items)`.
pub fn list<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    match arguments {
        [] => Ok(Value::List(&bump.alloc_slice_fill_copy(1, Value::None)[..0])), // at a place of its own
        [items] => iterate(bump, *items).map(Value::List),
        _ => Err(Doubt),
    }
}

/// `dict()`, `dict(mapping)` and `dict(pairs)`.
pub fn dict<'a>(bump: &'a Bump, arguments: &[Value<'a>]) -> Answer<'a> {
    match arguments {
        [] => Ok(Value::Dict(&[])),
        [Value::Dict(entries)] => Ok(Value::Dict(entries)),
        [pairs @ (Value::List(_) | Value::Tuple(_))] => {
            let pairs = iterate(bump, *pairs)?;
            let mut entries = Vec::with_capacity_in(pairs.len(), bump);
            for pair in pairs {
                match iterate(bump, *pair)? {
                    [key, value] => entries.push((*key, *value)),
                    _ => return Err(Doubt),
                }
            }
            dict_of(bump, entries)
        }
        _ => Err(Doubt),
    }
}

/// The most keys of a dict that is made without a table of hashes.
const MOST_KEYS: usize = 256;

/// A dict of entries, the last of equal keys in the place of the first.
pub fn dict_of<'a>(bump: &'a Bump, entries: Vec<'a, (Value<'a>, Value<'a>)>) -> Answer<'a> {
    if entries.len() > MOST_KEYS {
        return Err(Doubt);
    }
    let mut kept: Vec<'a, (Value<'a>, Value<'a>)> = Vec::with_capacity_in(entries.len(), bump);
    for (key, value) in entries {
        match compare::entry_place(&kept, key)? {
            Some(at) => kept[at].1 = value,
            None => kept.push((key, value)),
        }
    }
    Ok(Value::Dict(kept.into_bump_slice()))
}

/// `a | b` of two dicts: values of `b` in the places of `a`.
pub fn united<'a>(bump: &'a Bump, a: &[(Value<'a>, Value<'a>)], b: &[(Value<'a>, Value<'a>)]) -> Answer<'a> {
    let mut entries = Vec::with_capacity_in(a.len() + b.len(), bump);
    entries.extend_from_slice_copy(a);
    entries.extend_from_slice_copy(b);
    dict_of(bump, entries)
}

/// A list or a dict with an item changed, or an entry more.
pub fn with_item<'a>(bump: &'a Bump, old: Value<'a>, index: Value<'a>, value: Value<'a>) -> Answer<'a> {
    match old {
        Value::List(items) => {
            let at = index_of(index)?;
            let at = if at < 0 { at + items.len() as i64 } else { at };
            let items = bump.alloc_slice_copy(items);
            *usize::try_from(at).ok().and_then(|at| items.get_mut(at)).ok_or(Doubt)? = value;
            Ok(Value::List(items))
        }
        Value::Dict(entries) => {
            let place = compare::entry_place(entries, index)?;
            if place.is_none() && entries.len() >= MOST_KEYS {
                return Err(Doubt);
            }
            let mut changed = Vec::with_capacity_in(entries.len() + 1, bump);
            changed.extend_from_slice_copy(entries);
            match place {
                Some(at) => changed[at].1 = value,
                None => changed.push((index, value)),
            }
            Ok(Value::Dict(changed.into_bump_slice()))
        }
        _ => Err(Doubt),
    }
}

/// `keys`, `values` and `items` of a dict.
pub fn view<'a>(
    bump: &'a Bump,
    entries: &'a [(Value<'a>, Value<'a>)],
    part: impl Fn(&'a (Value<'a>, Value<'a>)) -> Value<'a>,
) -> Answer<'a> {
    Ok(Value::List(collect(bump, entries.len(), entries.iter().map(part))?))
}

/// `dict.get(key)` and `dict.get(key, default)`.
pub fn get<'a>(entries: &'a [(Value<'a>, Value<'a>)], arguments: &[Value<'a>]) -> Answer<'a> {
    match arguments {
        [key] => Ok(compare::entry(entries, *key)?.unwrap_or(Value::None)),
        [key, default] => Ok(compare::entry(entries, *key)?.unwrap_or(*default)),
        _ => Err(Doubt),
    }
}

/// `index(item)` of a list or tuple.
pub fn position<'a>(items: &'a [Value<'a>], arguments: &[Value<'a>]) -> Answer<'a> {
    let [wanted] = arguments else { return Err(Doubt) };
    for (at, item) in items.iter().enumerate() {
        if compare::same_item(*item, *wanted)? {
            return Ok(Value::Int(at as i64));
        }
    }
    Err(Doubt)
}

/// `count(item)` of a list or tuple.
pub fn count<'a>(items: &'a [Value<'a>], arguments: &[Value<'a>]) -> Answer<'a> {
    let [wanted] = arguments else { return Err(Doubt) };
    let mut count = 0;
    for item in items {
        count += i64::from(compare::same_item(*item, *wanted)?);
    }
    Ok(Value::Int(count))
}
