//! Which channel each record of a batch leaves through, by its key.

use bumpalo::Bump;
use penstock_runtime::hash;
use penstock_runtime::key_groups::{Channels, murmur};
use penstock_runtime::key_type::{DEPTH, KeyType};

use crate::batch::Batch;
use crate::column::{Codes, Column, Data, Strings};
use crate::program::Program;
use crate::value::{Doubt, Moment, Unit, Value};
use crate::vectors::{Vector, evaluate};

/// Records whose keys are looked for together.
const TOGETHER: usize = 1 << 12;
/// Flink's longest tuple.
const MAX_ARITY: usize = 25;

/// Sends records to the subtasks that own their keys.
#[derive(Debug)]
pub struct Router {
    key: Program,
    key_type: KeyType,
    channels: Channels,
}

impl Router {
    /// `None` where the function does not give a key of a record.
    pub fn new(key: Program, key_type: KeyType, channels: Channels) -> Option<Self> {
        (key.parameters() == 1 && !key.is_iterator()).then_some(Self { key, key_type, channels })
    }

    /// The records of each channel, by channel. Doubt: some key is not one that native code vouches for. O(records +
    /// channels).
    pub fn split(&self, batch: &Batch) -> Result<Vec<Vec<usize>>, Doubt> {
        let constants = Bump::new();
        let of_key = self.key.constants(&constants);
        let mut parts = vec![Vec::new(); self.channels.count() as usize];
        if let (Some(keys), KeyType::Long | KeyType::Undeclared) = (int_keys(&self.key, batch.records()), &self.key_type) {
            let share = keys.len() / parts.len() + keys.len() / 8;
            parts.iter_mut().for_each(|rows: &mut Vec<usize>| rows.reserve(share));
            for (row, &key) in keys.iter().enumerate() {
                parts.get_mut(self.channels.of_hash(hash::long(key)) as usize).ok_or(Doubt)?.push(row);
            }
            return Ok(parts);
        }
        let mut arena = Bump::new();
        for start in (0..batch.len()).step_by(TOGETHER) {
            let size = TOGETHER.min(batch.len() - start);
            let (keys, sure) = evaluate(&self.key, of_key, arena.alloc([Vector::from((batch.records(), start))]), size, &arena);
            if sure < size {
                return Err(Doubt);
            }
            for index in 0..size {
                let channel = self.channels.of_hash(hash_of(keys.get(index, &arena), &self.key_type, DEPTH)?);
                parts.get_mut(channel as usize).ok_or(Doubt)?.push(start + index);
            }
            arena.reset();
        }
        Ok(parts)
    }
}

/// The keys of records, where they are a field that has a whole number in each.
pub(crate) fn int_keys<'a>(key: &Program, records: &'a Column) -> Option<&'a [i64]> {
    let field = records.fields()?.get(key.field()?)?;
    match field.data() {
        Data::Ints(keys) if records.presence().is_none() && field.presence().is_none() => Some(keys),
        _ => None,
    }
}

/// The keys of records, where they are a field that has a text in each and it is known which of them are equal.
pub(crate) fn coded_keys<'a>(key: &Program, records: &'a Column) -> Option<(&'a Strings, &'a Codes)> {
    let field = records.fields()?.get(key.field()?)?;
    match field.data() {
        Data::Texts(keys) if records.presence().is_none() && field.presence().is_none() => Some((keys, keys.codes()?)),
        _ => None,
    }
}

/// The key group of a key, of so many.
pub fn key_group(key: Value<'_>, key_type: &KeyType, max_parallelism: u32) -> Result<u32, Doubt> {
    Ok(murmur(hash_of(key, key_type, DEPTH)?) % max_parallelism)
}

/// The Java hash code of a key. Recursive, to [`DEPTH`].
fn hash_of(key: Value<'_>, key_type: &KeyType, depth: usize) -> Result<i32, Doubt> {
    match (key_type, key) {
        (KeyType::Undeclared, _) => undeclared(key, depth),
        (KeyType::Text, Value::Text(text)) => Ok(hash::text(text)),
        (KeyType::Integer(bits), Value::Int(value)) if value >> (bits - 1) == value >> 63 => Ok(value as i32),
        (KeyType::Long, Value::Int(value)) => Ok(hash::long(value)),
        (KeyType::Boolean, Value::Bool(flag)) => Ok(hash::boolean(flag)),
        (KeyType::Double, Value::Float(number)) => Ok(hash::double(number)),
        (KeyType::Float, Value::Float(number)) => Ok(hash::float(number)),
        (KeyType::Date, Value::Moment(moment @ Moment::Day(_)))
        | (KeyType::Timestamp, Value::Moment(moment @ Moment::At(..)))
        | (KeyType::Time, Value::Moment(moment @ Moment::Clock(_))) => of_moment(moment),
        (KeyType::Tuple(types), Value::Tuple(fields)) if types.len() == fields.len() => {
            fields.iter().zip(types).try_fold(0, |so_far, (&field, field_type)| {
                Ok(hash::fold(so_far, nullable(field, |field| hash_of(field, field_type, depth - 1))?))
            })
        }
        _ => Err(Doubt),
    }
}

fn undeclared(key: Value<'_>, depth: usize) -> Result<i32, Doubt> {
    match key {
        Value::Text(text) => Ok(hash::text(text)),
        Value::Int(value) => Ok(hash::long(value)),
        Value::Float(number) => Ok(hash::double(number)),
        Value::Bool(flag) => Ok(hash::boolean(flag)),
        Value::Moment(moment) => of_moment(moment),
        Value::Tuple(fields) if depth > 0 && fields.len() <= MAX_ARITY => {
            fields.iter().try_fold(0, |so_far, &field| Ok(hash::fold(so_far, nullable(field, |field| undeclared(field, depth - 1))?)))
        }
        _ => Err(Doubt),
    }
}

fn of_moment(moment: Moment) -> Result<i32, Doubt> {
    moment.number().map(|(unit, number)| hash_of_moment(unit, number)).ok_or(Doubt)
}

/// The Java hash code of a date or time.
pub fn hash_of_moment(unit: Unit, number: i64) -> i32 {
    let since = number - unit.epoch();
    if unit == Unit::Days { hash::date(since) } else { hash::timestamp(since) }
}

fn nullable(field: Value<'_>, hash: impl FnOnce(Value<'_>) -> Result<i32, Doubt>) -> Result<i32, Doubt> {
    if matches!(field, Value::None) { Ok(0) } else { hash(field) }
}
