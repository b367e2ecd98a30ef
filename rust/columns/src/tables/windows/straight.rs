//! Folds of one field in panes that do not overlap: a record changes a number in the window of its key, and nothing else.

use super::contents::Contents;
use super::entries::Entries;
use super::Spec;
use crate::batch::Batch;
use crate::column::Data;
use crate::tables::folds::Number;
use crate::tables::reduce::Fold;
use crate::value::Doubt;

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
