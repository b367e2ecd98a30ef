//! A function that keeps values from record to record: it takes them with a record, and gives them as they are then.

use bumpalo::Bump;

use crate::batch::Batch;
use crate::column::{Builder, Column};
use crate::machine::{Input, MOST_STEPS};
use crate::program::Program;
use crate::value::Value;
use crate::vectors::{Vector, grown, only_adds};

/// Records that are looked at together.
const MANY: usize = 1 << 10;

/// Such a function. Its last parameter is the record.
#[derive(Debug)]
pub struct Accumulator {
    program: Program,
    /// How many values it keeps.
    kept: usize,
    /// Whether all that it does is to add to them.
    adds: bool,
}

impl Accumulator {
    /// `None` where it takes no record, has state, or gives an iterator.
    pub fn new(program: Program) -> Option<Self> {
        let kept = program.parameters().checked_sub(1)?;
        let fits = program.states() == 0 && !program.is_iterator();
        fits.then(|| Self { adds: only_adds(&program, kept), program, kept })
    }

    /// How many values it keeps.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Takes the records from one to before another, until one is in doubt, which is the place that it gives, with the values
    /// as they are then. They are columns of one value each.
    ///
    /// # Panics
    ///
    /// There are not so many records, or values.
    pub fn run(&self, batch: &Batch, start: usize, end: usize, kept: &[Column]) -> (Vec<Column>, usize) {
        assert!(start <= end && end <= batch.len() && kept.len() == self.kept, "records are within their batch");
        let constants = Bump::new();
        let constants = self.program.constants(&constants);
        let (mut kept, mut row, mut arena) = (kept.to_vec(), start, Bump::new());
        while row < end {
            let size = MANY.min(end - row);
            let (values, done) = self.some(batch, row, size, &kept, constants, &arena);
            kept = values;
            row += done;
            if done < size {
                break;
            }
            arena.reset();
        }
        (kept, row)
    }

    /// Takes so many records, or those before one that is in doubt.
    fn some<'a>(
        &'a self,
        batch: &'a Batch,
        row: usize,
        size: usize,
        kept: &'a [Column],
        constants: &'a [Value<'a>],
        arena: &'a Bump,
    ) -> (Vec<Column>, usize) {
        let values: Vec<Value<'a>> = kept.iter().map(|value| value.get(0, arena)).collect();
        let quick = if self.adds { self.together(batch, row, size, &values, constants, arena) } else { None };
        let (values, done) = quick.unwrap_or_else(|| self.one_by_one(batch, row, size, values, constants, arena));
        (values.into_iter().map(column).collect(), done)
    }

    fn together<'a>(
        &'a self,
        batch: &'a Batch,
        row: usize,
        size: usize,
        values: &[Value<'a>],
        constants: &'a [Value<'a>],
        arena: &'a Bump,
    ) -> Option<(Vec<Value<'a>>, usize)> {
        let records = Vector::from((batch.records(), row));
        let inputs = arena.alloc_slice_fill_iter(values.iter().map(|&value| Vector::Same(value)).chain([records]).collect::<Vec<_>>());
        grown(&self.program, constants, inputs, size, arena)
    }

    fn one_by_one<'a>(
        &'a self,
        batch: &'a Batch,
        row: usize,
        size: usize,
        mut values: Vec<Value<'a>>,
        constants: &'a [Value<'a>],
        arena: &'a Bump,
    ) -> (Vec<Value<'a>>, usize) {
        let mut inputs = Vec::with_capacity(self.kept + 1);
        for at in 0..size {
            inputs.clear();
            inputs.extend(values.iter().map(|&value| Input::Value(value)));
            inputs.push(Input::Row(batch.records(), row + at));
            match self.program.call(constants, &mut inputs, arena, &mut MOST_STEPS.clone()) {
                Ok(Value::Tuple(next)) if next.iter().all(|&value| can_stay(value)) => {
                    values.clear();
                    values.extend_from_slice(next);
                }
                _ => return (values, at),
            }
        }
        (values, size)
    }
}

/// Whether a value is one that nothing can change.
fn can_stay(value: Value<'_>) -> bool {
    match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Bytes(_) => true,
        Value::Moment(moment) => moment.number().is_some(),
        Value::Tuple(items) => items.iter().all(|&item| can_stay(item)),
        _ => false,
    }
}

/// A column of one value that can stay.
fn column(value: Value<'_>) -> Column {
    let mut builder = Builder::new();
    builder.push(value).expect("a column can hold what cannot be changed");
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Constant;

    fn accumulator(kept: usize, body: &str) -> Accumulator {
        let text = format!(r#"{{"v": 1, "functions": [{{"params": {}, "locals": {}, "body": {body}}}]}}"#, kept + 1, kept + 2);
        Accumulator::new(Program::parse(&text).expect("it is a program")).expect("it is an accumulator")
    }

    fn batch(values: &[Constant]) -> Batch {
        let (mut builder, arena) = (Builder::new(), Bump::new());
        values.iter().for_each(|value| builder.push(value.value(&arena)).expect("it fits"));
        Batch::new(builder.finish(), None).expect("there are as many")
    }

    fn run(accumulator: &Accumulator, records: &[Constant], kept: &[Constant]) -> (Vec<String>, usize) {
        let (arena, batch) = (Bump::new(), batch(records));
        let kept: Vec<Column> = kept.iter().map(|value| column(value.value(&arena))).collect();
        let (kept, done) = accumulator.run(&batch, 0, batch.len(), &kept);
        (kept.iter().map(|value| format!("{:?}", value.get(0, &arena))).collect(), done)
    }

    const SUMS: &str = r#"[["set", 0, ["add", ["local", 0], ["const", 1]]], ["set", 1, ["add", ["local", 1], ["local", 2]]],
        ["return", ["tuple", ["local", 0], ["local", 1]]]]"#;

    #[test]
    fn sums_are_known_and_end_before_a_record_that_leaves_64_bits() {
        let sums = accumulator(2, SUMS);
        assert!(sums.adds);
        let records = [Constant::Int(5), Constant::Int(i64::MAX), Constant::Int(7)];
        assert_eq!(run(&sums, &records, &[Constant::Int(0), Constant::Int(1)]), (vec!["Int(1)".into(), "Int(6)".into()], 1));
        assert_eq!(run(&sums, &records[2..], &[Constant::Int(2), Constant::Int(0)]), (vec!["Int(3)".into(), "Int(7)".into()], 1));
    }

    #[test]
    fn what_depends_on_kept_values_goes_record_by_record() {
        let greatest = accumulator(
            1,
            r#"[["if", ["compare", ["local", 1], "gt", ["local", 0]], [["set", 0, ["local", 1]]], []],
            ["return", ["tuple", ["local", 0]]]]"#,
        );
        assert!(!greatest.adds);
        let records: Vec<Constant> = (0..3_000).map(|number| Constant::Int(number * 7919 % 3_000)).collect();
        assert_eq!(run(&greatest, &records, &[Constant::Int(-1)]), (vec!["Int(2999)".into()], 3_000));
        let mixed = [Constant::Int(4), Constant::None, Constant::Int(9)];
        assert_eq!(run(&greatest, &mixed, &[Constant::Int(0)]), (vec!["Int(4)".into()], 1));
    }

    #[test]
    fn floats_are_added_in_their_order_and_other_types_by_the_machine() {
        let sums = accumulator(2, SUMS);
        let records: Vec<Constant> = (1..2_000).map(|number| Constant::Float(0.1 * f64::from(number))).collect();
        let expected = (1..2_000).fold(0.0, |sum, number| sum + 0.1 * f64::from(number));
        let (kept, done) = run(&sums, &records, &[Constant::Int(0), Constant::Float(0.0)]);
        assert_eq!((kept, done), (vec!["Int(1999)".into(), format!("{:?}", Value::Float(expected))], 1_999));
        let texts = [Constant::Text("a".into()), Constant::Text("b".into())];
        let (kept, done) = run(&sums, &texts, &[Constant::Int(0), Constant::Text(">".into())]);
        assert_eq!((kept, done), (vec!["Int(2)".into(), r#"Text(">ab")"#.into()], 2));
    }
}
