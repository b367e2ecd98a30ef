//! A running fold of one field by key, many records at a time: what [`reduce`](super::reduce) does where records are tuples or
//! rows, and the field has a number in each.

use bumpalo::Bump;

use super::cells::Cells;
use super::reduce::Fold;
use super::table::Table;
use crate::batch::Batch;
use crate::column::{Builder, Column, Data};
use crate::pipeline::Progress;
use crate::program::Program;
use crate::router::int_keys;
use crate::value::Value;
use crate::vectors::{Vector, evaluate};

/// Records whose keys are looked for together.
const TOGETHER: usize = 1 << 12;

/// Integer keys that are looked up before any of their records is added.
const LOOK: usize = 64;

/// A type of numbers that can be folded.
pub(super) trait Number: Copy + PartialOrd {
    /// The numbers of a column.
    fn column(data: &Data) -> Option<&[Self]>;
    /// A column of numbers.
    fn data(numbers: Vec<Self>) -> Data;
    /// The number in a field of a tuple or row.
    fn cell(cells: &mut Cells, number: usize, position: usize) -> Option<&mut Self>;
    /// Their sum; `None` beyond 64 bits.
    fn sum(self, other: Self) -> Option<Self>;

    /// This one and the next as one; `None` beyond 64 bits.
    #[inline]
    fn fold(self, fold: Fold, new: Self) -> Option<Self> {
        match fold {
            Fold::Sum => self.sum(new),
            Fold::Min => Some(if self < new { self } else { new }),
            Fold::Max => Some(if self > new { self } else { new }),
        }
    }
}

impl Number for i64 {
    fn column(data: &Data) -> Option<&[Self]> {
        if let Data::Ints(values) = data { Some(values) } else { None }
    }

    fn data(numbers: Vec<Self>) -> Data {
        Data::Ints(numbers.into())
    }

    #[inline]
    fn cell(cells: &mut Cells, number: usize, position: usize) -> Option<&mut Self> {
        cells.field_int_mut(number, position)
    }

    #[inline]
    fn sum(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }
}

impl Number for f64 {
    fn column(data: &Data) -> Option<&[Self]> {
        if let Data::Floats(values) = data { Some(values) } else { None }
    }

    fn data(numbers: Vec<Self>) -> Data {
        Data::Floats(numbers.into())
    }

    #[inline]
    fn cell(cells: &mut Cells, number: usize, position: usize) -> Option<&mut Self> {
        cells.field_float_mut(number, position)
    }

    #[inline]
    fn sum(self, other: Self) -> Option<Self> {
        Some(self + other)
    }
}

/// Folds a field of the records from one to before another, as [`KeyedReduce::run`](super::KeyedReduce::run) does; `None`
/// where they are not of that kind.
pub(super) fn folded(
    key: &Program,
    (position, fold): (usize, Fold),
    table: &mut Table,
    batch: &Batch,
    start: usize,
    end: usize,
) -> Option<Progress> {
    let records = batch.records();
    let field = records.fields()?.get(position)?;
    if records.presence().is_some() || field.presence().is_some() || !table.has_shape(records) {
        return None;
    }
    match field.data() {
        Data::Ints(_) => fold_numbers::<i64>(key, (position, fold), table, batch, start, end),
        Data::Floats(_) => fold_numbers::<f64>(key, (position, fold), table, batch, start, end),
        _ => None,
    }
}

fn fold_numbers<T: Number>(
    key: &Program,
    (position, fold): (usize, Fold),
    table: &mut Table,
    batch: &Batch,
    start: usize,
    end: usize,
) -> Option<Progress> {
    let records = batch.records();
    let news = T::column(records.fields()?[position].data())?;
    let constants = Bump::new();
    let of_key = key.constants(&constants);
    let (mut results, mut numbers) = (Vec::with_capacity(end - start), Vec::with_capacity(end - start));
    let mut arena = Bump::new();
    let (mut row, mut doubtful) = (start, false);
    if let Some(keys) = int_keys(key, records) {
        let mut known = [None; LOOK];
        while row < end && !doubtful {
            let some = &keys[row..end.min(row + LOOK)];
            // look-ups that do not wait for each other
            for (known, &key) in known.iter_mut().zip(some) {
                *known = table.hash(Value::Int(key)).ok().and_then(|hash| table.find_int(hash, key));
            }
            for (&known, &key) in known.iter().zip(some) {
                let reached = match known {
                    Some(number) => add(table, number, (position, fold), news[row]),
                    None => reach(table, Value::Int(key), (position, fold), news[row], || records.get(row, &arena)),
                };
                let Some((number, result)) = reached else {
                    doubtful = true;
                    break;
                };
                numbers.push(number);
                results.push(result);
                row += 1;
            }
        }
    }
    while row < end && !doubtful {
        let size = TOGETHER.min(end - row);
        let (keys, sure) = evaluate(key, of_key, arena.alloc([Vector::from((records, row))]), size, &arena);
        let done = (0..sure).find(|&index| {
            let new = news[row + index];
            let result = reach(table, keys.get(index, &arena), (position, fold), new, || records.get(row + index, &arena));
            let Some((number, result)) = result else { return true };
            numbers.push(number);
            results.push(result);
            false
        });
        let done = done.unwrap_or(sure);
        doubtful = done < size;
        row += done;
        arena.reset();
    }
    let counts = vec![results.len() as u64];
    let out = if results.is_empty() { None } else { out_of(key, position, table, batch, start, (&numbers, T::data(results))) };
    Some(Progress { out, counts, end: row, doubtful })
}

/// Folds a record into what its key has reached; `None` where that is in doubt.
#[inline]
fn reach<'v, T: Number>(
    table: &mut Table,
    key: Value<'_>,
    (position, fold): (usize, Fold),
    new: T,
    record: impl FnOnce() -> Value<'v>,
) -> Option<(u32, T)> {
    let hash = table.hash(key).ok()?;
    match table.find(hash, key) {
        None => Some((table.insert(hash, key, record(), true).ok()? as u32, new)),
        Some(number) => add(table, number, (position, fold), new),
    }
}

/// Folds a number into what a key has reached.
#[inline]
fn add<T: Number>(table: &mut Table, number: usize, (position, fold): (usize, Fold), new: T) -> Option<(u32, T)> {
    let cell = T::cell(&mut table.values, number, position)?;
    *cell = cell.fold(fold, new)?;
    let result = *cell;
    table.touch(number);
    Some((number as u32, result))
}

/// What comes out: the first record of each key, with what the field has reached.
fn out_of(key: &Program, position: usize, table: &Table, batch: &Batch, start: usize, results: (&[u32], Data)) -> Option<Batch> {
    let (numbers, folded) = results;
    let (count, records) = (numbers.len(), batch.records());
    let mut folded = Some(Column::new(folded, None, count)?);
    let fields = records.fields()?.iter().enumerate().map(|(at, field)| {
        if at == position {
            folded.take()
        } else if key.field() == Some(at) {
            Some(field.slice(start, start + count)) // it is the key, and so the same in all records of it
        } else {
            let (mut builder, mut arena) = (Builder::new(), Bump::new());
            for &number in numbers {
                builder.push(table.values.field(number as usize, at, &arena)?).ok()?;
                arena.reset();
            }
            Some(builder.finish())
        }
    });
    let fields = fields.collect::<Option<_>>()?;
    let data = match records.data() {
        Data::Rows(shape, _) => Data::Rows(shape.clone(), fields),
        _ => Data::Tuples(fields),
    };
    Batch::new(Column::new(data, None, count)?, batch.times().map(|times| times.slice(start, start + count)))
}
