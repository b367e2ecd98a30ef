//! Records through functions, one after the other and depth first, as Flink runs a chain.

use bumpalo::Bump;

use crate::batch::Batch;
use crate::column::{Builder, Refusal};
use crate::machine::{Input, MOST_STEPS, truth};
use crate::program::Program;
use crate::python;
use crate::value::{Doubt, Value};

/// Records that come out of one run at the most, and of the record that reaches that number.
const MOST_RECORDS: usize = 1 << 16;
/// Functions of a pipeline.
const MOST_STAGES: usize = 64;

/// What becomes of the result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It goes on.
    Map,
    /// The record goes on if it is true.
    Filter,
    /// What is in it goes on.
    FlatMap,
}

impl Stage {
    /// The stage of this name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "map" => Some(Self::Map),
            "filter" => Some(Self::Filter),
            "flat_map" => Some(Self::FlatMap),
            _ => None,
        }
    }
}

/// Functions, one behind the other.
#[derive(Clone, Debug)]
pub struct Pipeline {
    stages: Vec<(Stage, Program)>,
}

/// How far a run has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// What came out, with the timestamps of the records that it came from; `None` where nothing did.
    pub out: Option<Batch>,
    /// Records out of each stage.
    pub counts: Vec<u64>,
    /// The place behind the last record that is done.
    pub end: usize,
    /// Whether the record there is doubtful; if not, another run continues with it.
    pub doubtful: bool,
}

impl Pipeline {
    /// `None` where a function does not take one argument, gives an iterator and is no flat map, or there are more than 64.
    pub fn new(stages: Vec<(Stage, Program)>) -> Option<Self> {
        let fits = |(stage, program): &(Stage, Program)| program.parameters() == 1 && (!program.is_iterator() || *stage == Stage::FlatMap);
        (stages.len() <= MOST_STAGES && stages.iter().all(fits)).then_some(Self { stages })
    }

    /// Runs the records from one to before another, until one is doubtful or what came out has to end.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn run(&self, batch: &Batch, start: usize, end: usize) -> Progress {
        assert!(start <= end && end <= batch.len(), "records are within their batch");
        let constants = Bump::new();
        let stages = self.stages.iter().map(|(stage, program)| (*stage, program, program.constants(&constants))).collect();
        let kept = self.stages.iter().all(|(stage, _)| *stage == Stage::Filter);
        let mut run = Run { stages, counts: vec![0; self.stages.len()], kept, rows: Vec::new(), builder: Builder::new() };
        let mut before = run.counts.clone();
        let mut arena = Bump::new();
        let (mut row, mut doubtful) = (start, false);
        while row < end && run.rows.len() < MOST_RECORDS {
            before.copy_from_slice(&run.counts);
            let length = run.rows.len();
            let done = run.record(batch, row, &arena);
            arena.reset();
            if let Err(refusal) = done {
                run.counts.copy_from_slice(&before);
                run.rows.truncate(length);
                run.builder.truncate(length);
                doubtful = refusal == Refusal::Doubt || length == 0;
                break;
            }
            row += 1;
        }
        let counts = std::mem::take(&mut run.counts);
        Progress { out: run.finish(batch), counts, end: row, doubtful }
    }
}

/// A run while it goes.
struct Run<'p> {
    stages: Vec<(Stage, &'p Program, &'p [Value<'p>])>,
    counts: Vec<u64>,
    /// Whether records come out as they are.
    kept: bool,
    /// The record that each of what came out is from.
    rows: Vec<usize>,
    builder: Builder,
}

impl<'p> Run<'p> {
    fn record<'a>(&mut self, batch: &'a Batch, row: usize, arena: &'a Bump) -> Result<(), Refusal>
    where
        'p: 'a,
    {
        let mut steps = MOST_STEPS;
        self.feed(0, Input::Row(batch.records(), row), row, arena, &mut steps)
    }

    /// A record through the stages from this one. Recursive, once per flat map.
    fn feed<'a>(&mut self, first: usize, input: Input<'a>, row: usize, arena: &'a Bump, steps: &mut u32) -> Result<(), Refusal>
    where
        'p: 'a,
    {
        let mut inputs = [input];
        for at in first..self.stages.len() {
            let (stage, program, constants): (Stage, &'a Program, &'a [Value<'a>]) = self.stages[at];
            let record = inputs[0];
            let value = program.call(constants, &mut inputs, arena, steps)?;
            match stage {
                Stage::Map => inputs[0] = Input::Value(value),
                Stage::Filter if truth(value)? => inputs[0] = record,
                Stage::Filter => return Ok(()),
                Stage::FlatMap => {
                    for &item in items(value, arena)? {
                        *steps = steps.checked_sub(1).ok_or(Doubt)?;
                        self.counts[at] += 1;
                        self.feed(at + 1, Input::Value(item), row, arena, steps)?;
                    }
                    return Ok(());
                }
            }
            self.counts[at] += 1;
        }
        self.emit(inputs[0], row)
    }

    #[inline]
    fn emit(&mut self, record: Input<'_>, row: usize) -> Result<(), Refusal> {
        match record {
            _ if self.kept => {}
            Input::Row(column, row) => self.builder.copy(column, row)?,
            Input::Value(value) => self.builder.push(value)?,
        }
        self.rows.push(row);
        Ok(())
    }

    fn finish(self, batch: &Batch) -> Option<Batch> {
        if self.rows.is_empty() {
            return None;
        }
        if self.kept {
            return batch.take(&self.rows);
        }
        let times = batch.times().and_then(|times| times.take(&self.rows));
        Batch::new(self.builder.finish(), times)
    }
}

/// What is in the result of a flat map.
fn items<'a>(value: Value<'a>, arena: &'a Bump) -> Result<&'a [Value<'a>], Doubt> {
    match value {
        Value::Tuple(items) | Value::List(items) => Ok(items),
        Value::Row(..) => Err(Doubt),
        value => python::iterate(arena, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Column;
    use crate::program::Constant;

    fn program(body: &str) -> Program {
        let text = format!(r#"{{"v": 1, "functions": [{{"params": 1, "locals": 2, "body": {body}}}]}}"#);
        Program::parse(&text).expect("it is a program")
    }

    fn batch(values: &[Constant], times: Option<Vec<i64>>) -> Batch {
        let (mut builder, arena) = (Builder::new(), Bump::new());
        values.iter().for_each(|value| builder.push(value.value(&arena)).expect("it fits"));
        Batch::new(builder.finish(), times.map(Column::ints)).expect("there are as many")
    }

    fn shown(batch: Option<&Batch>) -> Vec<String> {
        let arena = Bump::new();
        let rows =
            |batch: &Batch| (0..batch.len()).map(|row| format!("{:?}@{:?}", batch.records().get(row, &arena), batch.time(row))).collect();
        batch.map_or_else(Vec::new, rows)
    }

    #[test]
    fn records_pass_the_stages_and_keep_their_times() {
        let split = program(r#"[["for", 1, ["method", "split", ["local", 0]], [["yield", ["tuple", ["local", 1], ["const", 1]]]]]]"#);
        let keep = program(r#"[["return", ["compare", ["index", ["local", 0], ["const", 0]], "ne", ["const", "b"]]]]"#);
        let pipeline = Pipeline::new(vec![(Stage::FlatMap, split), (Stage::Filter, keep)]).expect("it is a pipeline");
        let batch = batch(&[Constant::Text("a b".into()), Constant::Text("".into()), Constant::Text("b c".into())], Some(vec![5, 6, 7]));
        let progress = pipeline.run(&batch, 0, 3);
        assert_eq!(shown(progress.out.as_ref()), [r#"Tuple([Text("a"), Int(1)])@Some(5)"#, r#"Tuple([Text("c"), Int(1)])@Some(7)"#]);
        assert_eq!((progress.counts, progress.end, progress.doubtful), (vec![4, 2], 3, false));
    }

    #[test]
    fn a_doubtful_record_leaves_nothing() {
        let pairs = program(r#"[["yield", ["local", 0]], ["yield", ["add", ["local", 0], ["const", 1]]]]"#);
        let pipeline = Pipeline::new(vec![(Stage::FlatMap, pairs)]).expect("it is a pipeline");
        let batch = batch(&[Constant::Int(1), Constant::Int(i64::MAX), Constant::Int(3)], None);
        let progress = pipeline.run(&batch, 0, 3);
        assert_eq!(shown(progress.out.as_ref()), ["Int(1)@None", "Int(2)@None"]);
        assert_eq!((progress.counts, progress.end, progress.doubtful), (vec![2], 1, true));
        assert_eq!(shown(pipeline.run(&batch, 2, 3).out.as_ref()), ["Int(3)@None", "Int(4)@None"]);
    }

    #[test]
    fn another_type_ends_the_batch() {
        let varying = program(r#"[["return", ["if", ["compare", ["local", 0], "lt", ["const", 2]], ["local", 0], ["const", "many"]]]]"#);
        let pipeline = Pipeline::new(vec![(Stage::Map, varying)]).expect("it is a pipeline");
        let batch = batch(&[Constant::Int(1), Constant::Int(2), Constant::Int(0)], None);
        let first = pipeline.run(&batch, 0, 3);
        assert_eq!((shown(first.out.as_ref()).len(), first.counts, first.end, first.doubtful), (1, vec![1], 1, false));
        let second = pipeline.run(&batch, 1, 3);
        assert_eq!((second.counts, second.end, second.doubtful), (vec![1], 2, false));
    }

    #[test]
    fn types_that_differ_within_a_record_are_doubtful() {
        let both = program(r#"[["return", ["tuple", ["local", 0], ["const", "x"]]]]"#);
        let pipeline = Pipeline::new(vec![(Stage::FlatMap, both)]).expect("it is a pipeline");
        let progress = pipeline.run(&batch(&[Constant::Int(1)], None), 0, 1);
        assert_eq!((progress.counts, progress.end, progress.doubtful), (vec![0], 0, true));
        assert!(progress.out.is_none());
    }

    #[test]
    fn filters_keep_records_as_they_are() {
        let pipeline = Pipeline::new(vec![(Stage::Filter, program(r#"[["return", ["local", 0]]]"#))]).expect("it is a pipeline");
        let batch = batch(&[Constant::None, Constant::Int(2), Constant::Int(0), Constant::Int(4)], Some(vec![1, 2, 3, 4]));
        let progress = pipeline.run(&batch, 1, 4);
        assert_eq!(shown(progress.out.as_ref()), ["Int(2)@Some(2)", "Int(4)@Some(4)"]);
        assert_eq!((progress.counts, progress.end), (vec![2], 4));
    }
}
