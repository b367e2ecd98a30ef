//! The record that is the smallest or the largest by one of its fields.

use std::cmp::Ordering;

use crate::python;
use crate::value::{Doubt, Value};

/// Which of two records stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    /// The field by which they are compared.
    pub position: usize,
    /// How the better one compares with the other.
    better: Ordering,
    /// Whether the first stays among equals; otherwise the last.
    first: bool,
}

impl Best {
    /// By its name: `min_by`, `max_by`, `min_by_last` or `max_by_last`.
    pub fn of(name: &str, position: usize) -> Option<Self> {
        let (better, first) = match name {
            "min_by" => (Ordering::Less, true),
            "max_by" => (Ordering::Greater, true),
            "min_by_last" => (Ordering::Less, false),
            "max_by_last" => (Ordering::Greater, false),
            _ => return None,
        };
        Some(Self { position, better, first })
    }

    /// Whether the later record takes the place of the one so far, by their fields. As Python has it: a NaN is no better than
    /// what comes after it, and gives way to it.
    #[inline]
    pub fn gives_way(self, old: Value<'_>, new: Value<'_>) -> Result<bool, Doubt> {
        let better = match (old, new) {
            (Value::Int(old), Value::Int(new)) => Some(old.cmp(&new)),
            _ => python::order(old, new)?,
        };
        Ok(match better {
            Some(Ordering::Equal) => !self.first,
            order => order != Some(self.better),
        })
    }
}

/// A field of a whole record.
#[inline]
pub fn field_of(record: Value<'_>, position: usize) -> Result<Value<'_>, Doubt> {
    match record {
        Value::Tuple(fields) => fields.get(position).copied().ok_or(Doubt),
        Value::Row(shape, fields) if shape.class == 0 => fields.get(position).copied().ok_or(Doubt),
        _ => Err(Doubt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn among_equals_the_first_stays_or_the_last() {
        let gives_way = |name: &str, old, new| Best::of(name, 0).and_then(|best| best.gives_way(old, new).ok());
        for (name, expected) in [("min_by", false), ("max_by", false), ("min_by_last", true), ("max_by_last", true)] {
            assert_eq!(gives_way(name, Value::Int(3), Value::Float(3.0)), Some(expected), "{name}");
        }
        assert_eq!(gives_way("min_by", Value::Int(3), Value::Int(2)), Some(true));
        assert_eq!(gives_way("max_by", Value::Int(3), Value::Int(2)), Some(false));
        assert_eq!(gives_way("max_by", Value::Float(f64::NAN), Value::Int(2)), Some(true));
        assert_eq!(gives_way("max_by", Value::Int(3), Value::Text("3")), None);
    }
}
