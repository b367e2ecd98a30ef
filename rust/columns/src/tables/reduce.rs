//! Running reductions by key.

use bumpalo::Bump;

use super::best::{Best, field_of};
use super::folds::folded;
use super::table::Table;
use super::uses::Uses;
use crate::batch::Batch;
use crate::column::{Builder, Column, Data, Refusal};
use crate::machine::{Input, MOST_STEPS};
use crate::pipeline::Progress;
use crate::program::Program;
use crate::python;
use crate::value::{Doubt, Value};

/// What becomes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Its sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl Fold {
    /// The fold of this name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "sum" => Some(Self::Sum),
            "min" => Some(Self::Min),
            "max" => Some(Self::Max),
            _ => None,
        }
    }

    /// As Python has it: `old + new`, or the old one where it is better, else the new one.
    #[inline]
    pub(super) fn apply<'a>(self, old: Value<'a>, new: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        let operator = |name| python::operator(name).ok_or(Doubt);
        match (self, old, new) {
            (Self::Sum, Value::Int(old), Value::Int(new)) => old.checked_add(new).map(Value::Int).ok_or(Doubt),
            (Self::Min, Value::Int(old), Value::Int(new)) => Ok(Value::Int(old.min(new))),
            (Self::Max, Value::Int(old), Value::Int(new)) => Ok(Value::Int(old.max(new))),
            (Self::Sum, Value::Float(old), Value::Float(new)) => Ok(Value::Float(old + new)),
            (Self::Sum, ..) => operator("add")?(arena, &[old, new]),
            (Self::Min, ..) => Ok(if python::truth(operator("lt")?(arena, &[old, new])?)? { old } else { new }),
            (Self::Max, ..) => Ok(if python::truth(operator("gt")?(arena, &[old, new])?)? { old } else { new }),
        }
    }
}

/// How two records of a key become one.
#[derive(Clone, Debug)]
pub enum Combine {
    /// The first, with one field folded.
    Field(usize, Fold),
    /// One of them, whole.
    Best(Best),
    /// What a function of both returns.
    Program(Program),
}

/// Reduces the records of each key; what each has reached is in a table.
#[derive(Debug)]
pub struct KeyedReduce {
    key: Program,
    combine: Combine,
}

impl KeyedReduce {
    /// `None` where the functions do not take as many arguments as they will be given.
    pub fn new(key: Program, combine: Combine) -> Option<Self> {
        let fits = |program: &Program, parameters| program.parameters() == parameters && !program.is_iterator();
        let combines = match &combine {
            Combine::Field(..) | Combine::Best(_) => true,
            Combine::Program(program) => fits(program, 2),
        };
        (fits(&key, 1) && combines).then_some(Self { key, combine })
    }

    /// Begins a turn of a table that has some of the keys of a store, as [`Uses::begin`] does.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn begin(&self, table: &Table, uses: &mut Uses, batch: &Batch, start: usize, end: usize) -> (Column, usize) {
        uses.begin(table, &self.key, batch, start, end)
    }

    /// The field that is folded of these records, and how, if the rest of the first one stays as it is.
    fn fold_of(&self, batch: &Batch) -> Option<(usize, Fold)> {
        match &self.combine {
            Combine::Field(position, fold) => Some((*position, *fold)),
            Combine::Best(_) => None,
            Combine::Program(program) => {
                let Data::Tuples(fields) = batch.records().data() else { return None };
                let (position, arity) = program.sum_of_field(self.key.field())?;
                (arity == fields.len()).then_some((position, Fold::Sum))
            }
        }
    }

    /// Reduces the records from one to before another, until one is doubtful; out comes the reduction after each.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn run(&self, table: &mut Table, batch: &Batch, start: usize, end: usize) -> Progress {
        assert!(start <= end && end <= batch.len(), "records are within their batch");
        if let Some(fold) = self.fold_of(batch)
            && let Some(progress) = folded(&self.key, fold, table, batch, start, end)
        {
            return progress;
        }
        let constants = Bump::new();
        let mut builder = Builder::new();
        let mut arena = Bump::new();
        let (key, combine) = (&self.key, &self.combine);
        let of_key = key.constants(&constants);
        let of_combine = match combine {
            Combine::Program(program) => program.constants(&constants),
            Combine::Field(..) | Combine::Best(_) => &[],
        };
        let (mut row, mut doubtful) = (start, false);
        while row < end {
            let mut call = Call { builder: &mut builder, table, arena: &arena };
            let record = Input::Row(batch.records(), row);
            let done = key
                .call(of_key, &mut [record], &arena, &mut MOST_STEPS.clone())
                .map_err(Refusal::from)
                .and_then(|key| call.reduce(combine, of_combine, key, record));
            if let Err(refusal) = done {
                doubtful = refusal == Refusal::Doubt || builder.is_empty();
                break;
            }
            arena.reset();
            row += 1;
        }
        let counts = vec![builder.len() as u64];
        let times = batch.times().map(|times| times.slice(start, row));
        let out = if builder.is_empty() { None } else { Batch::new(builder.finish(), times) };
        Progress { out, counts, end: row, doubtful }
    }
}

/// The reduction of one record.
struct Call<'c> {
    builder: &'c mut Builder,
    table: &'c mut Table,
    arena: &'c Bump,
}

impl Call<'_> {
    fn reduce(&mut self, combine: &Combine, constants: &[Value<'_>], key: Value<'_>, record: Input<'_>) -> Result<(), Refusal> {
        let hash = self.table.hash(key)?;
        let Some(number) = self.table.find(hash, key) else {
            let first = record.value(self.arena);
            self.builder.push(first)?;
            let Err(_) = self.table.insert(hash, key, first, true) else { return Ok(()) };
            self.builder.truncate(self.builder.len() - 1);
            return Err(Refusal::Doubt);
        };
        match combine {
            Combine::Field(position, fold) => self.fold(number, *position, *fold, record),
            Combine::Best(best) => self.choose(number, *best, record),
            Combine::Program(program) => self.call(number, program, constants, record),
        }
    }

    fn fold(&mut self, number: usize, position: usize, fold: Fold, record: Input<'_>) -> Result<(), Refusal> {
        let arena = self.arena;
        let new = field(record, position, arena)?;
        let before = self.table.value(number, arena);
        let (Value::Tuple(fields) | Value::Row(_, fields)) = before else { return Err(Refusal::Doubt) };
        let fields = arena.alloc_slice_copy(fields);
        let place = fields.get_mut(position).ok_or(Doubt)?;
        *place = fold.apply(*place, new, arena)?;
        let value = place.copied(arena);
        let result = match before {
            Value::Row(shape, _) => Value::Row(shape, fields),
            _ => Value::Tuple(fields),
        };
        if !self.table.fits(result) {
            return Err(Refusal::Doubt);
        }
        self.builder.push(result)?;
        self.table.set_field(number, position, value);
        Ok(())
    }

    fn choose(&mut self, number: usize, best: Best, record: Input<'_>) -> Result<(), Refusal> {
        let new = field(record, best.position, self.arena)?;
        let before = self.table.value(number, self.arena);
        if !best.gives_way(field_of(before, best.position)?, new)? {
            self.builder.push(before)?;
            self.table.touch(number);
            return Ok(());
        }
        let record = record.value(self.arena);
        if !self.table.fits(record) {
            return Err(Refusal::Doubt);
        }
        self.builder.push(record)?;
        self.table.set(number, record);
        Ok(())
    }

    fn call(&mut self, number: usize, program: &Program, constants: &[Value<'_>], record: Input<'_>) -> Result<(), Refusal> {
        let before = Input::Value(self.table.value(number, self.arena));
        let result = program.call(constants, &mut [before, record], self.arena, &mut MOST_STEPS.clone())?;
        if !self.table.fits(result) {
            return Err(Refusal::Doubt);
        }
        self.builder.push(result)?;
        let result = result.copied(self.arena);
        self.table.set(number, result);
        Ok(())
    }
}

/// A field of a record.
#[inline]
pub(super) fn field<'a>(record: Input<'a>, position: usize, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    match record {
        Input::Row(column, row) if !column.is_none(row) && !matches!(column.data(), Data::Rows(shape, _) if shape.class != 0) => {
            column.fields().and_then(|fields| fields.get(position)).map(|field| field.get(row, arena)).ok_or(Doubt)
        }
        Input::Value(value) => field_of(value, position),
        Input::Row(..) => Err(Doubt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Constant;

    fn program(parameters: usize, expr: &str) -> Program {
        let text =
            format!(r#"{{"v": 1, "functions": [{{"params": {parameters}, "locals": {parameters}, "body": [["return", {expr}]]}}]}}"#);
        Program::parse(&text).expect("it is a program")
    }

    fn key() -> Program {
        program(1, r#"["index", ["local", 0], ["const", 0]]"#)
    }

    fn batch(records: &[(&str, i64)]) -> Batch {
        let (mut builder, arena) = (Builder::new(), Bump::new());
        for (name, number) in records {
            let record = Constant::Tuple([Constant::Text((*name).into()), Constant::Int(*number)].into());
            builder.push(record.value(&arena)).expect("it fits");
        }
        Batch::new(builder.finish(), Some(Column::ints((0..records.len() as i64).collect()))).expect("there are as many")
    }

    fn shown(progress: &Progress) -> Vec<String> {
        let arena = Bump::new();
        let rows =
            |batch: &Batch| (0..batch.len()).map(|row| format!("{:?}@{:?}", batch.records().get(row, &arena), batch.time(row))).collect();
        progress.out.as_ref().map_or_else(Vec::new, rows)
    }

    #[test]
    fn a_field_is_folded_by_key() {
        let sums = KeyedReduce::new(key(), Combine::Field(1, Fold::Sum)).expect("it is one");
        let mut table = Table::default();
        let progress = sums.run(&mut table, &batch(&[("a", 1), ("b", 2), ("a", 3)]), 0, 3);
        let expected =
            ["Tuple([Text(\"a\"), Int(1)])@Some(0)", "Tuple([Text(\"b\"), Int(2)])@Some(1)", "Tuple([Text(\"a\"), Int(4)])@Some(2)"];
        assert_eq!(shown(&progress), expected);
        assert_eq!((progress.end, progress.doubtful, table.len()), (3, false, 2));
    }

    #[test]
    fn a_function_of_two_records_reduces() {
        let later = program(
            2,
            r#"["tuple", ["index", ["local", 0], ["const", 0]], ["mul", ["index", ["local", 0], ["const", 1]], ["index", ["local", 1], ["const", 1]]]]"#,
        );
        let products = KeyedReduce::new(key(), Combine::Program(later)).expect("it is one");
        let progress = products.run(&mut Table::default(), &batch(&[("a", 3), ("a", 4), ("a", i64::MAX), ("b", 1)]), 0, 4);
        assert_eq!(shown(&progress), ["Tuple([Text(\"a\"), Int(3)])@Some(0)", "Tuple([Text(\"a\"), Int(12)])@Some(1)"]);
        assert_eq!((progress.end, progress.doubtful), (2, true));
    }

    #[test]
    fn a_key_continues_with_what_the_table_has_of_it() {
        let sums = KeyedReduce::new(key(), Combine::Field(1, Fold::Sum)).expect("it is one");
        let (mut table, arena) = (Table::default(), Bump::new());
        table.put(Value::Text("a"), batch(&[("a", 100)]).records().get(0, &arena)).expect("it fits");
        let progress = sums.run(&mut table, &batch(&[("a", 1), ("b", 1), ("a", 1)]), 0, 3);
        assert_eq!(shown(&progress)[2], "Tuple([Text(\"a\"), Int(102)])@Some(2)");
        assert_eq!(table.changed(), [0, 1]);
        table.written();
        assert!(table.changed().is_empty());
        sums.run(&mut table, &batch(&[("b", 5)]), 0, 1);
        assert_eq!(table.changed(), [1]);
    }
}
