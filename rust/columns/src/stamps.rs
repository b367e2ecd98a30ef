//! Timestamps that a function gives to records.

use bumpalo::Bump;

use crate::batch::Batch;
use crate::column::{Builder, Data, Refusal};
use crate::machine::{Input, MOST_STEPS};
use crate::program::Program;
use crate::value::{Doubt, Value};

/// Gives records from one to before another the timestamps that a function of a record and its timestamp returns, until one
/// is doubtful. `unset` stands for no timestamp. Returns the records that are done, with the latest of their timestamps, and
/// the place behind the last.
///
/// # Panics
///
/// There are not so many.
pub fn stamped(assigner: &Program, batch: &Batch, start: usize, end: usize, unset: Value<'_>) -> Stamped {
    assert!(start <= end && end <= batch.len(), "records are within their batch");
    let constants = Bump::new();
    let of_assigner = assigner.constants(&constants);
    let mut times = Builder::new();
    let mut arena = Bump::new();
    let mut row = start;
    while row < end {
        let before = batch.time(row).map_or(unset, Value::Int);
        let mut inputs = [Input::Row(batch.records(), row), Input::Value(before)];
        let time = assigner.call(of_assigner, &mut inputs, &arena, &mut MOST_STEPS.clone());
        let pushed = time.and_then(|time| if matches!(time, Value::Int(_)) { Ok(time) } else { Err(Doubt) });
        if pushed.map_err(Refusal::from).and_then(|time| times.push(time)).is_err() {
            break;
        }
        arena.reset();
        row += 1;
    }
    let times = times.finish();
    let latest = match times.data() {
        Data::Ints(values) => values.iter().copied().max(),
        _ => None,
    };
    Stamped { done: Batch::new(batch.slice(start, row).records().clone(), Some(times)), latest, end: row }
}

/// Records with their new timestamps.
#[derive(Debug)]
pub struct Stamped {
    /// The records; never `None`, as they have as many timestamps.
    pub done: Option<Batch>,
    /// The latest timestamp.
    pub latest: Option<i64>,
    /// The place behind the last record.
    pub end: usize,
}
