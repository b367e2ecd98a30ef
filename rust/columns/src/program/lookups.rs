//! Constant dicts and sets that are looked into: hash tables, made once for a program.

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet, HashTable};

use super::Constant;
use crate::python;
use crate::value::{Doubt, Value};

/// A constant dict that is looked into.
#[derive(Debug)]
pub enum Lookup {
    /// All keys are texts.
    Texts(HashMap<Box<str>, Constant, FixedState>),
    /// All keys are integers.
    Ints(HashMap<i64, Constant, FixedState>),
    /// Any keys, and their values.
    Mixed(Index, Box<[Constant]>),
}

impl Lookup {
    /// The dict as such a one; `None` where equality of its keys is not known here.
    pub(super) fn of(entries: &[(Constant, Constant)]) -> Option<Self> {
        let texts =
            entries.iter().map(|(key, value)| if let Constant::Text(key) = key { Some((key.clone(), value.clone())) } else { None });
        if let Some(texts) = texts.collect::<Option<_>>() {
            return Some(Self::Texts(texts));
        }
        let ints = entries.iter().map(|(key, value)| if let Constant::Int(key) = key { Some((*key, value.clone())) } else { None });
        if let Some(ints) = ints.collect::<Option<_>>() {
            return Some(Self::Ints(ints));
        }
        let index = Index::of(entries.iter().map(|(key, _)| key.clone()).collect())?;
        Some(Self::Mixed(index, entries.iter().map(|(_, value)| value.clone()).collect()))
    }

    /// What it has for a key; in doubt where the key has no hash, or one that is not known here.
    #[inline]
    pub(crate) fn get(&self, key: Value<'_>) -> Result<Option<&Constant>, Doubt> {
        match (self, key) {
            (Self::Texts(entries), Value::Text(key)) => Ok(entries.get(key)),
            (Self::Ints(entries), Value::Int(key)) => Ok(entries.get(&key)),
            (Self::Texts(_), Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_)) => Ok(None),
            (Self::Ints(entries), _) if !matches!(key, Value::Text(_) | Value::None) => {
                Ok(python::whole(key)?.and_then(|number| entries.get(&number)))
            }
            (Self::Ints(_), _) => Ok(None),
            (Self::Mixed(index, values), key) => Ok(index.find(key)?.map(|place| &values[place])),
            _ => Err(Doubt),
        }
    }
}

/// The items of a constant set.
#[derive(Debug)]
pub enum Set {
    /// Texts only.
    Texts(HashSet<Box<str>, FixedState>),
    /// Integers only.
    Ints(HashSet<i64, FixedState>),
    /// Anything.
    Mixed(Index),
}

impl Set {
    /// The set of these items; `None` where their equality is not known here.
    pub(super) fn of(items: Box<[Constant]>) -> Option<Self> {
        let texts = items.iter().map(|item| if let Constant::Text(text) = item { Some(text.clone()) } else { None });
        if let Some(texts) = texts.collect::<Option<_>>() {
            return Some(Self::Texts(texts));
        }
        let ints = items.iter().map(|item| if let Constant::Int(number) = item { Some(*number) } else { None });
        match ints.collect::<Option<_>>() {
            Some(ints) => Some(Self::Ints(ints)),
            None => Index::of(items).map(Self::Mixed),
        }
    }

    /// Whether a value is among the items; in doubt where it has no hash, or one that is not known here.
    #[inline]
    pub(crate) fn contains(&self, value: Value<'_>) -> Result<bool, Doubt> {
        match (self, value) {
            (Self::Texts(texts), Value::Text(text)) => Ok(texts.contains(text)),
            (Self::Texts(_), Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_)) => Ok(false),
            (Self::Ints(ints), Value::Int(number)) => Ok(ints.contains(&number)),
            (Self::Ints(_), Value::None | Value::Text(_)) => Ok(false),
            (Self::Ints(ints), _) => Ok(python::whole(value)?.is_some_and(|number| ints.contains(&number))),
            (Self::Mixed(index), _) => Ok(index.find(value)?.is_some()),
            _ => Err(Doubt),
        }
    }
}

/// Constants by value, as a dict has its keys: 1, 1.0 and True are one.
#[derive(Debug)]
pub struct Index {
    items: Box<[Constant]>,
    places: HashTable<u32>,
    hasher: FixedState,
}

impl Index {
    /// `None` where the equality of one of the constants is not known here.
    fn of(items: Box<[Constant]>) -> Option<Self> {
        let mut index = Self { items, places: HashTable::new(), hasher: FixedState::default() };
        let arena = bumpalo::Bump::new();
        let hashes = index.items.iter().map(|item| index.hash(item.value(&arena)).ok()).collect::<Option<Vec<_>>>()?;
        for (place, &hash) in hashes.iter().enumerate() {
            index.places.insert_unique(hash, place as u32, |&other| hashes[other as usize]);
        }
        Some(index)
    }

    /// Where a value is; in doubt where it has no hash, or where equality depends on more than values.
    fn find(&self, value: Value<'_>) -> Result<Option<usize>, Doubt> {
        let (hash, mut doubt) = (self.hash(value)?, false);
        let found = self.places.find(hash, |&place| {
            is_equal(&self.items[place as usize], value).unwrap_or_else(|Doubt| {
                doubt = true;
                false
            })
        });
        if doubt { Err(Doubt) } else { Ok(found.map(|&place| place as usize)) }
    }

    fn hash(&self, value: Value<'_>) -> Result<u64, Doubt> {
        python::hash_of(&self.hasher, value)
    }
}

/// Whether a constant is equal to a value. Recursive, as deep as both are.
fn is_equal(constant: &Constant, value: Value<'_>) -> Result<bool, Doubt> {
    let scalar = match (constant, value) {
        (Constant::Tuple(items), Value::Tuple(values)) if items.len() == values.len() => {
            for (item, &value) in items.iter().zip(values) {
                if !is_equal(item, value)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        (Constant::None, _) => Value::None,
        (Constant::Bool(flag), _) => Value::Bool(*flag),
        (Constant::Int(number), _) => Value::Int(*number),
        (Constant::Float(number), _) => Value::Float(*number),
        (Constant::Text(text), _) => Value::Text(text),
        (Constant::Bytes(bytes), _) => Value::Bytes(bytes),
        (Constant::Moment(moment), _) => Value::Moment(*moment),
        (Constant::Tuple(_) | Constant::List(_) | Constant::Dict(_), _) => return Ok(false),
    };
    python::same_item(scalar, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_one_key() {
        let pair = Constant::Tuple([Constant::Int(1), Constant::Text("x".into())].into());
        let entries = [(Constant::Int(1), Constant::Int(10)), (Constant::Text("1".into()), Constant::Int(20)), (pair, Constant::Int(30))];
        let lookup = Lookup::of(&entries).expect("their equality is known");
        for (key, expected) in [
            (Value::Int(1), Some(10)),
            (Value::Float(1.0), Some(10)),
            (Value::Bool(true), Some(10)),
            (Value::Text("1"), Some(20)),
            (Value::Tuple(&[Value::Float(1.0), Value::Text("x")]), Some(30)),
            (Value::Tuple(&[Value::Float(1.5), Value::Text("x")]), None),
            (Value::None, None),
            (Value::Float(-0.0), None),
        ] {
            assert_eq!(lookup.get(key).expect("it has a hash"), expected.map(Constant::Int).as_ref(), "{key:?}");
        }
        for key in [Value::Float(f64::NAN), Value::List(&[]), Value::Bytes(b"1")] {
            assert!(lookup.get(key).is_err(), "{key:?}");
        }
    }

    #[test]
    fn large_floats_are_equal_to_the_same_integers() {
        let set =
            Set::of([Constant::Int(1 << 60), Constant::Float(2.0_f64.powi(63)), Constant::Float(0.5)].into()).expect("they are known");
        let holds = |value| set.contains(value);
        assert_eq!([holds(Value::Float(2.0_f64.powi(60))), holds(Value::Float(2.0_f64.powi(63))), holds(Value::Float(0.5))], [Ok(true); 3]);
        assert_eq!([holds(Value::Int((1 << 60) + 1)), holds(Value::Int(i64::MAX)), holds(Value::Float(f64::INFINITY))], [Ok(false); 3]);
    }
}
