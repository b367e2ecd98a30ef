//! Folds of one field in panes that do not overlap: a record changes a number in the window of its key, and nothing else.

use super::Spec;
use bumpalo::Bump;

use super::contents::Contents;
use super::entries::{Entries, Window};
use super::together::{Together, keys};
use crate::batch::Batch;
use crate::column::Data;
use crate::tables::folds::Number;
use crate::tables::reduce::Fold;
use crate::value::{Doubt, Value};

/// Records whose windows are looked up before any of them is added.
const FEW: usize = 64;

/// The only window of a record, and its number if something is in it.
#[derive(Clone, Copy)]
struct Place {
    hash: u64,
    window: Window,
    full: Option<usize>,
}

/// Which field is folded, and how.
#[derive(Clone, Copy, Debug)]
pub struct Straight {
    position: usize,
    fold: Fold,
    /// How many fields a function gives; `None` where the record stays as it is.
    arity: Option<usize>,
}

/// The numbers of a batch.
#[derive(Clone, Copy)]
pub enum Field<'a> {
    Ints(&'a [i64]),
    Floats(&'a [f64]),
}

impl Straight {
    /// `None` where contents are something else.
    pub fn of(spec: &Spec) -> Option<Self> {
        match &spec.contents {
            Contents::Field(position, fold) => Some(Self { position: *position, fold: *fold, arity: None }),
            Contents::Reduce(program) => {
                let (position, arity) = program.sum_of_field(spec.key.field())?;
                Some(Self { position, fold: Fold::Sum, arity: Some(arity) })
            }
            _ => None,
        }
    }

    /// The numbers of a batch; `None` where its records have others.
    pub fn field(self, batch: &Batch) -> Option<Field<'_>> {
        let records = batch.records();
        let fields = records.fields().filter(|_| records.presence().is_none())?;
        let plain = matches!(records.data(), Data::Tuples(_));
        if self.arity.is_some_and(|arity| !plain || arity != fields.len()) {
            return None;
        }
        let field = fields.get(self.position).filter(|field| field.presence().is_none())?;
        match field.data() {
            Data::Ints(values) => Some(Field::Ints(values)),
            Data::Floats(values) => Some(Field::Floats(values)),
            _ => None,
        }
    }

    /// Folds a record into the record that is in a window. Doubt: there are other values, or the sum has more than 64 bits.
    #[inline]
    pub fn apply(self, entries: &mut Entries, number: usize, field: Field<'_>, row: usize) -> Result<(), Doubt> {
        match field {
            Field::Ints(values) => self.put(entries, number, values[row]),
            Field::Floats(values) => self.put(entries, number, values[row]),
        }
    }

    #[inline]
    fn put<T: Number>(self, entries: &mut Entries, number: usize, new: T) -> Result<(), Doubt> {
        let cell = T::cell(&mut entries.values, number, self.position).ok_or(Doubt)?;
        *cell = cell.fold(self.fold, new).ok_or(Doubt)?;
        entries.note(number);
        Ok(())
    }
}

impl Together<'_> {
    /// Lets each record change its window. Returns how many are done; an error if
    /// some are to go one by one, as nothing has changed.
    pub(super) fn fold_each(
        &self,
        entries: &mut Entries,
        straight: (Straight, Field<'_>),
        start: usize,
        count: usize,
        arena: &Bump,
    ) -> Result<usize, usize> {
        let Ok(keys) = keys(&self.spec.key, self.of_key, self.batch, start, count, arena) else { return Err(count) };
        let mut places = [Err(Doubt); FEW];
        for some in (0..count).step_by(FEW) {
            let end = count.min(some + FEW);
            // look-ups that do not wait for each other
            for (place, at) in places.iter_mut().zip(some..end) {
                *place = self.place(entries, start + at, keys.get(at, arena));
            }
            for (&place, at) in places.iter().zip(some..end) {
                let key = keys.get(at, arena);
                match place.and_then(|place| self.fold_one(entries, straight, (start + at, key), place, arena)) {
                    Ok(()) => {}
                    Err(Doubt) if at == 0 => return Err(1),
                    Err(Doubt) => return Ok(at),
                }
            }
        }
        Ok(count)
    }

    /// Where a record goes.
    #[inline]
    fn place(&self, entries: &Entries, row: usize, key: Value<'_>) -> Result<Option<Place>, Doubt> {
        let time = self.now.or_else(|| self.times.map(|times| times[row])).ok_or(Doubt)?;
        let Some(window) = self.windows(self.pane(time)?).next() else { return Ok(None) };
        let hash = entries.hash(key)?;
        let full = entries.find(hash, key, window).filter(|&number| entries.is_full(number));
        Ok(Some(Place { hash, window, full }))
    }

    #[inline]
    fn fold_one(
        &self,
        entries: &mut Entries,
        (straight, field): (Straight, Field<'_>),
        (row, key): (usize, Value<'_>),
        place: Option<Place>,
        arena: &Bump,
    ) -> Result<(), Doubt> {
        let Some(Place { hash, window, full }) = place else { return Ok(()) };
        let known = full.or_else(|| entries.find(hash, key, window));
        if let Some(number) = known.filter(|&number| entries.is_full(number)) {
            straight.apply(entries, number, field, row)?;
            entries.enter(number);
            return Ok(());
        }
        let record = self.batch.records().get(row, arena);
        if !entries.admits(key, record) || !entries.has_room(1) {
            return Err(Doubt);
        }
        let number = known.unwrap_or_else(|| entries.create(hash, key, window, window));
        entries.set(number, record);
        entries.enter(number);
        Ok(())
    }
}
