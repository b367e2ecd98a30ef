//! Records through functions, one behind the other. As functions have no effects it cannot be told from Flink's way, each record
//! through all of them, that many go through one function before the next.

use std::sync::atomic::{AtomicUsize, Ordering};

use bumpalo::Bump;

use crate::batch::Batch;
use crate::column::{Builder, Refusal};
use crate::program::Program;
use crate::python::Wanted;
use crate::value::Value;
use crate::vectors::{Exploded, Vector, evaluate, truths};

/// About as many records as come out of one run at the most.
const MOST_RECORDS: usize = 1 << 16;
/// Records that go through the stages together.
const MANY: usize = 1 << 10;
/// The same after one was in doubt, as those behind it were in vain.
const FEW: usize = 16;
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
#[derive(Debug)]
pub struct Pipeline {
    stages: Vec<(Stage, Program)>,
    /// Records that are tried together.
    together: AtomicUsize,
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
        (stages.len() <= MOST_STAGES && stages.iter().all(fits)).then(|| Self { stages: looked(stages), together: AtomicUsize::new(MANY) })
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
        let mut run =
            Run { stages, counts: vec![0; self.stages.len()], kept, rows: Vec::new(), builder: Builder::new(), total: end - start };
        let mut arena = Bump::new();
        let (mut row, mut end_of) = (start, None);
        while row < end && run.rows.len() < MOST_RECORDS {
            let size = self.together.load(Ordering::Relaxed).min(end - row);
            let (done, refusal) = run.records(batch, row, size, &arena);
            arena.reset();
            row += done;
            if let Some(refusal) = refusal {
                self.together.store(FEW, Ordering::Relaxed);
                end_of = Some(refusal);
                break;
            }
            if size < MANY {
                self.together.store((2 * size).clamp(FEW, MANY), Ordering::Relaxed);
            }
        }
        let doubtful = end_of.is_some_and(|refusal| refusal == Refusal::Doubt || run.rows.is_empty());
        let counts = std::mem::take(&mut run.counts);
        Progress { out: run.finish(batch), counts, end: row, doubtful }
    }
}

/// The stages without what none of them looks at in documents of JSON: of what is between two stages nobody else knows.
fn looked(mut stages: Vec<(Stage, Program)>) -> Vec<(Stage, Program)> {
    if stages.iter().any(|(_, program)| program.reads_documents()) {
        let mut wanted = Wanted::All;
        for (stage, program) in stages.iter_mut().rev() {
            let mut looked = match stage {
                Stage::Map => program.look(&wanted, &Wanted::All),
                Stage::Filter => program.look(&Wanted::nothing(), &Wanted::All),
                Stage::FlatMap => program.look(&Wanted::of_items(wanted.clone()), &wanted),
            };
            let argument = looked.swap_remove(0);
            wanted = if *stage == Stage::Filter { argument.and(&wanted) } else { argument };
        }
    }
    stages
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
    /// How many records it may take.
    total: usize,
}

/// The records between two stages: the value of each, and which record of the run it is from. One record's are together.
#[derive(Clone, Copy)]
struct Between<'a> {
    values: Vector<'a>,
    records: &'a [u32],
}

impl<'a> Between<'a> {
    /// Those of the first records.
    fn before(self, record: usize) -> Self {
        Self { records: &self.records[..self.records.partition_point(|&of| (of as usize) < record)], ..self }
    }
}

impl<'p> Run<'p> {
    /// So many records through all stages, stage by stage. Returns how many are done, and why not all.
    fn records<'a>(&mut self, batch: &'a Batch, row: usize, size: usize, arena: &'a Bump) -> (usize, Option<Refusal>)
    where
        'p: 'a,
    {
        let records = arena.alloc_slice_fill_iter(0..size as u32);
        let mut after = vec![Between { values: Vector::from((batch.records(), row)), records }];
        let mut sure = size;
        for &(stage, program, constants) in &self.stages {
            let (next, doubtful) = through(stage, program, constants, after[after.len() - 1], arena);
            sure = doubtful.map_or(sure, |record| sure.min(record as usize));
            after.push(next);
        }
        let out = after[after.len() - 1].before(sure);
        let (done, refusal) = match self.emit(out, (row, size), arena) {
            Ok(()) => (sure, if sure < size { Some(Refusal::Doubt) } else { None }),
            Err((record, refusal)) => (record, Some(refusal)),
        };
        for (count, between) in self.counts.iter_mut().zip(&after[1..]) {
            *count += between.before(done).records.len() as u64;
        }
        (done, refusal)
    }

    /// Adds what came out of some records; where it is refused, those of whole records before.
    fn emit(&mut self, out: Between<'_>, (row, size): (usize, usize), arena: &Bump) -> Result<(), (usize, Refusal)> {
        let before = self.rows.len();
        let mut added = Ok(());
        if before == 0 {
            self.builder.expect((out.records.len() * self.total / size).min(MOST_RECORDS));
        }
        if !self.kept {
            added = out.values.push_into(&mut self.builder, out.records.len(), arena);
        }
        let Err((index, refusal)) = added else {
            self.rows.extend(out.records.iter().map(|&record| row + record as usize));
            return Ok(());
        };
        let record = out.records[index] as usize;
        let whole = out.before(record).records;
        self.builder.truncate(before + whole.len());
        self.rows.extend(whole.iter().map(|&record| row + record as usize));
        Err((record, refusal))
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

/// Records through a stage, and the record of the run that is doubtful, if one is.
fn through<'a>(
    stage: Stage,
    program: &'a Program,
    constants: &'a [Value<'a>],
    before: Between<'a>,
    arena: &'a Bump,
) -> (Between<'a>, Option<u32>) {
    let whole = before.records.len();
    let (values, count) = evaluate(program, constants, arena.alloc([before.values]), whole, arena);
    let records = &before.records[..count];
    let (between, count) = match stage {
        Stage::Map => (Between { values, records }, count),
        Stage::Filter => {
            let (flags, count) = truths(values, count, arena);
            let kept = arena.alloc_slice_fill_iter(
                flags.iter().enumerate().filter(|(_, flag)| **flag).map(|(index, _)| index as u32).collect::<Vec<_>>(),
            );
            let records = arena.alloc_slice_fill_iter(kept.iter().map(|&index| records[index as usize]));
            (Between { values: before.values.pick(kept, arena), records }, count)
        }
        Stage::FlatMap => {
            let Exploded { items, records: of, count } = Exploded::of(values, count, arena);
            (Between { values: items, records: arena.alloc_slice_fill_iter(of.iter().map(|&index| records[index as usize])) }, count)
        }
    };
    (between, before.records.get(count).copied())
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
