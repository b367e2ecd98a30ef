//! A running fold of one field by key, many records at a time: what [`reduce`](super::reduce) does where records are tuples or
//! rows, and the field has a number in each.

use bumpalo::Bump;

use super::cells::Cells;
use super::reduce::Fold;
use super::table::Table;
use crate::batch::Batch;
use crate::column::{Builder, Codes, Column, Data, Strings, text};
use crate::pipeline::Progress;
use crate::program::Program;
use crate::router::{coded_keys, int_keys};
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
    let mut folding = Folding { position, fold, table, records, news, numbers: Vec::new(), results: Vec::new() };
    folding.numbers.reserve_exact(end - start);
    folding.results.reserve_exact(end - start);
    let done = match (int_keys(key, records), coded_keys(key, records)) {
        (Some(keys), _) => folding.by_integer(&keys[start..end], start),
        (_, Some((keys, codes))) if codes.end as usize <= end - start => folding.by_code(keys, codes, start, end),
        _ => folding.by_value(key, start, end),
    };
    let Folding { table, numbers, results, .. } = folding;
    let (counts, end) = (vec![results.len() as u64], start + results.len());
    let out = if results.is_empty() { None } else { out_of(key, position, table, batch, start, (&numbers, T::data(results))) };
    Some(Progress { out, counts, end, doubtful: done.is_none() })
}

/// A fold on the way.
struct Folding<'f, T> {
    position: usize,
    fold: Fold,
    table: &'f mut Table,
    records: &'f Column,
    /// The field of all records.
    news: &'f [T],
    /// Numbers of keys, and what they have reached.
    numbers: Vec<u32>,
    results: Vec<T>,
}

impl<T: Number> Folding<'_, T> {
    /// Folds records with these keys from a row on; `None` where one is in doubt.
    fn by_integer(&mut self, keys: &[i64], start: usize) -> Option<()> {
        let arena = Bump::new();
        let mut known = [None; LOOK];
        let mut row = start;
        for some in keys.chunks(LOOK) {
            // look-ups that do not wait for each other
            for (known, &key) in known.iter_mut().zip(some) {
                *known = self.table.hash(Value::Int(key)).ok().and_then(|hash| self.table.find_int(hash, key));
            }
            for (&known, &key) in known.iter().zip(some) {
                match known {
                    Some(number) => self.add(number, row)?,
                    None => self.reach(Value::Int(key), row, &arena)?,
                }
                row += 1;
            }
        }
        Some(())
    }

    /// The same with texts of which it is known which are equal: each is looked up once.
    fn by_code(&mut self, keys: &Strings, codes: &Codes, start: usize, end: usize) -> Option<()> {
        let arena = Bump::new();
        let mut known = vec![None; codes.end as usize];
        for row in start..end {
            let known = &mut known[codes.numbers[row] as usize];
            match *known {
                Some(number) => self.add(number as usize, row)?,
                None => {
                    self.reach(Value::Text(text(keys, row)), row, &arena)?;
                    *known = self.numbers.last().copied();
                }
            }
        }
        Some(())
    }

    /// The same with keys of any kind.
    fn by_value(&mut self, key: &Program, start: usize, end: usize) -> Option<()> {
        let constants = Bump::new();
        let of_key = key.constants(&constants);
        let mut arena = Bump::new();
        for row in (start..end).step_by(TOGETHER) {
            let size = TOGETHER.min(end - row);
            let (keys, sure) = evaluate(key, of_key, arena.alloc([Vector::from((self.records, row))]), size, &arena);
            for index in 0..sure {
                self.reach(keys.get(index, &arena), row + index, &arena)?;
            }
            if sure < size {
                return None;
            }
            arena.reset();
        }
        Some(())
    }

    /// Folds a record into what its key has reached; `None` where that is in doubt.
    #[inline]
    fn reach(&mut self, key: Value<'_>, row: usize, arena: &Bump) -> Option<()> {
        let hash = self.table.hash(key).ok()?;
        if let Some(number) = self.table.find(hash, key) {
            return self.add(number, row);
        }
        let number = self.table.insert(hash, key, self.records.get(row, arena), true).ok()?;
        self.numbers.push(number as u32);
        self.results.push(self.news[row]);
        Some(())
    }

    /// The same where the key is known by its number.
    #[inline]
    fn add(&mut self, number: usize, row: usize) -> Option<()> {
        let cell = T::cell(&mut self.table.values, number, self.position)?;
        *cell = cell.fold(self.fold, self.news[row])?;
        self.results.push(*cell);
        self.numbers.push(number as u32);
        self.table.touch(number);
        Some(())
    }
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
