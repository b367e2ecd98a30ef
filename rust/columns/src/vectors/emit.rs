//! Vectors on their way into columns.

use bumpalo::Bump;

use super::Vector;
use crate::column::{Builder, Refusal};
use crate::value::Value;

impl<'a> Vector<'a> {
    /// Adds so many values to a column, up to the first one that is refused: its index is known, and why.
    pub(crate) fn push_into(self, builder: &mut Builder, count: usize, arena: &'a Bump) -> Result<(), (usize, Refusal)> {
        if count == 0 || self.extend(builder, count, arena).is_ok() {
            return Ok(());
        }
        for index in 0..count {
            let pushed = match self {
                Self::Column(column, places) => builder.copy(column, places.at(index)),
                vector => builder.push(vector.get(index, arena)),
            };
            pushed.map_err(|refusal| (index, refusal))?;
        }
        Ok(())
    }

    /// Adds so many values, at least one, or none of them. Recursive, to the depth of a column.
    fn extend(self, builder: &mut Builder, count: usize, arena: &'a Bump) -> Result<(), Refusal> {
        match self {
            Self::Same(Value::Int(value)) => builder.extend_ints(arena.alloc_slice_fill_copy(count, value)),
            Self::Same(Value::Float(value)) => builder.extend_floats(arena.alloc_slice_fill_copy(count, value)),
            Self::Same(Value::Text(value)) => builder.extend_texts(arena.alloc_slice_fill_copy(count, value)),
            Self::Ints(values) => builder.extend_ints(&values[..count]),
            Self::Floats(values) => builder.extend_floats(&values[..count]),
            Self::Texts(values) => builder.extend_texts(&values[..count]),
            Self::Tuples(fields) => {
                let into = |builders: &mut [Builder]| {
                    builders.iter_mut().zip(fields).try_for_each(|(builder, field)| field.extend(builder, count, arena))
                };
                builder.extend_tuples(fields.len(), count, into)
            }
            Self::Column(..) => match self.read(count, arena) {
                Self::Column(..) => Err(Refusal::Misfit),
                read => read.extend(builder, count, arena),
            },
            vector => {
                let before = builder.len();
                let pushed = (0..count).try_for_each(|index| builder.push(vector.get(index, arena)));
                pushed.inspect_err(|_| builder.truncate(before))
            }
        }
    }
}
