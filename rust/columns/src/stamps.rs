//! Timestamps that a function gives to records.

use bumpalo::Bump;

use crate::batch::Batch;
use crate::column::{Column, Data};
use crate::program::Program;
use crate::value::Value;
use crate::vectors::{Places, Vector, evaluate};

/// Records whose timestamps are looked for together.
const TOGETHER: usize = 1 << 12;

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
    let mut parts = Vec::new();
    let mut arena = Bump::new();
    let mut row = start;
    while row < end {
        let size = TOGETHER.min(end - row);
        let before = batch.times().map_or(Vector::Same(unset), |_| Vector::Values(before(batch, row, size, unset, &arena)));
        let inputs = arena.alloc([Vector::from((batch.records(), row)), before]);
        let (times, sure) = evaluate(assigner, of_assigner, inputs, size, &arena);
        let times = times_of(times, sure, &arena);
        let done = times.len();
        parts.push(times);
        row += done;
        if done < size {
            break;
        }
        arena.reset();
    }
    let times = Column::concat(&parts.iter().collect::<Vec<_>>()).unwrap_or_else(|| Column::none(0));
    let latest = match times.data() {
        Data::Ints(values) => values.iter().copied().max(),
        _ => None,
    };
    Stamped { done: Batch::new(batch.slice(start, row).records().clone(), Some(times)), latest, end: row }
}

/// The timestamps of some records so far.
fn before<'a>(batch: &Batch, start: usize, size: usize, unset: Value<'a>, arena: &'a Bump) -> &'a [Value<'a>] {
    arena.alloc_slice_fill_iter((start..start + size).map(|row| batch.time(row).map_or(unset, Value::Int)))
}

/// The first timestamps of a vector, up to one that is no integer.
fn times_of(times: Vector<'_>, sure: usize, arena: &Bump) -> Column {
    if let Vector::Column(column, Places::From(start)) = times
        && matches!(column.data(), Data::Ints(_))
        && column.presence().is_none()
    {
        return column.slice(start, start + sure);
    }
    let whole = |index| if let Value::Int(time) = times.get(index, arena) { Some(time) } else { None };
    Column::ints((0..sure).map_while(whole).collect())
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
