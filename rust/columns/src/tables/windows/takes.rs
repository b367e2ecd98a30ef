//! Many records on their way into windows: together where that is known to be the same, or one by one.

use bumpalo::Bump;

use super::effects::Effects;
use super::entries::Entries;
use super::folds::Folds;
use super::out::Out;
use super::run::Fate;
use super::straight::Straight;
use super::together::Together;
use super::{MOST_RECORDS, Spec, Taken};
use crate::batch::Batch;
use crate::column::Refusal;
use crate::program::Program;

/// What is known of what records do.
#[derive(Debug)]
pub(super) struct Known {
    /// What an aggregate is, if that is known.
    pub folds: Option<Folds>,
    /// The field that records change, if they do nothing else.
    pub straight: Option<Straight>,
    /// What records do with accumulators that are changed in place, if that is known.
    pub effects: Option<Effects>,
    /// Which records may change the contents of windows.
    pub guard: Option<(Program, usize)>,
    /// Whether accumulators are kept as objects.
    pub objects: bool,
}

impl Known {
    /// `objects`: whether accumulators are kept as objects.
    pub fn of(spec: &Spec, objects: bool) -> Self {
        let Spec { contents, .. } = spec;
        let (folds, effects, guard) = (Folds::of(contents), Effects::of(contents), contents.guard());
        Self { folds, straight: Straight::of(spec), effects, guard, objects }
    }
}

/// What takes records.
pub(super) trait Takes<'r> {
    /// The windows.
    fn entries(&mut self) -> &mut Entries;
    /// What has fired.
    fn out(&mut self) -> &mut Out<'r>;
    /// Takes one record. When it is refused nothing has changed but what is out.
    fn take_one(&mut self, batch: &Batch, row: usize, arena: &Bump) -> Result<Fate, Refusal>;
    /// Does what is left to do where records were taken together.
    fn settle_together(&mut self);
}

/// Takes records up to one; `side`: whether late ones are wanted.
pub(super) fn take<'r>(
    run: &mut impl Takes<'r>,
    together: Option<&Together<'r>>,
    side: bool,
    batch: &Batch,
    end: usize,
    taken: &mut Taken,
) {
    let mut arena = Bump::new();
    let mut singles = taken.end; // records before this one go one by one
    while taken.end < end && run.out().size() < MOST_RECORDS {
        if let Some(together) = together.filter(|_| taken.end >= singles) {
            let done = together.take(run.entries(), taken.end, end, &arena);
            arena.reset();
            match done {
                Ok(count) => {
                    run.settle_together();
                    taken.end += count;
                    continue;
                }
                Err(count) => singles = taken.end + count,
            }
        }
        if !take_one(run, side, batch, taken, &arena) {
            break;
        }
        arena.reset();
    }
}

/// Takes one record; whether another one may follow.
fn take_one<'r>(run: &mut impl Takes<'r>, side: bool, batch: &Batch, taken: &mut Taken, arena: &Bump) -> bool {
    let (row, fired) = (taken.end, run.out().len());
    match run.take_one(batch, row, arena) {
        Ok(Fate::Late) if side && fired > 0 => return false,
        Ok(Fate::Late) if side => taken.late.push(row),
        Ok(Fate::Late) => taken.dropped += 1,
        Ok(Fate::Taken) => {}
        Err(refusal) => {
            run.out().truncate(fired);
            taken.doubtful = refusal == Refusal::Doubt || fired == 0;
            return false;
        }
    }
    taken.end = row + 1;
    taken.late.is_empty() || run.out().len() == 0
}
