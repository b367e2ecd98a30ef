//! The memory that cells take.

use super::{Cells, Data};

impl Cells {
    /// How much memory the values take, in bytes. Recursive, to the depth of a column.
    pub fn memory(&self) -> usize {
        fn of<T>(values: &Vec<T>) -> usize {
            values.capacity() * size_of::<T>()
        }
        self.absent.capacity()
            + self.outside
            + match &self.data {
                Data::None => 0,
                Data::Bools(values) => of(values),
                Data::Ints(values) | Data::Moments(_, values) => of(values),
                Data::Floats(values) => of(values),
                Data::Texts(values) => of(values),
                Data::Bytes(values) => of(values),
                Data::Tuples(fields) | Data::Rows(_, fields) => fields.iter().map(Self::memory).sum(),
                Data::Lists(lists, _) => of(lists),
            }
    }

    /// Makes room for so many more, and not for twice as many as there are.
    pub fn reserve(&mut self, more: usize) {
        match &mut self.data {
            Data::None | Data::Lists(..) => {}
            Data::Bools(values) => values.reserve_exact(more),
            Data::Ints(values) | Data::Moments(_, values) => values.reserve_exact(more),
            Data::Floats(values) => values.reserve_exact(more),
            Data::Texts(values) => values.reserve_exact(more),
            Data::Bytes(values) => values.reserve_exact(more),
            Data::Tuples(fields) | Data::Rows(_, fields) => fields.iter_mut().for_each(|field| field.reserve(more)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn memory_is_that_of_what_is_there() {
        let (long, longer) = ("x".repeat(1_000), "x".repeat(5_000));
        let list = [Value::Text(&long), Value::Text("y")];
        for (value, other) in [(Value::Text(&long), Value::Text(&longer)), (Value::List(&list), Value::List(&list[..1]))] {
            let mut cells = Cells::with_lists();
            cells.push(Value::Tuple(&[value])).expect("it fits");
            let one = cells.memory();
            assert!((1_000..1_500).contains(&one), "{one}");
            cells.push(Value::Tuple(&[other])).expect("it fits");
            cells.set(1, Value::Tuple(&[value]));
            cells.set(0, Value::Tuple(&[other]));
            cells.swap_remove(0);
            assert!(cells.memory() >= one && cells.memory() < one + 500, "{}", cells.memory());
            cells.swap_remove(0);
            assert!(cells.memory() < 500, "{}", cells.memory());
        }
    }
}
