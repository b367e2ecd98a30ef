//! A column of a table, which takes no space while all its values are equal.
//!
//! Most graphs give all their nodes one parallelism, one slot sharing group, no uid; a pass that reads such a column reads
//! one value over and over instead of a hundred megabytes once. Cost: O(1) per call, amortised for `push`; the first value
//! that differs, or that is set, costs O(values).

/// Values by position.
#[derive(Clone, Debug)]
pub enum Column<T> {
    /// `count` times one value; no value yet when there is none.
    Equal {
        /// The value.
        value: Option<T>,
        /// How many there are.
        count: usize,
    },
    /// One by one.
    Listed(Vec<T>),
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self::Equal { value: None, count: 0 }
    }
}

impl<T: Copy + PartialEq> Column<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Equal { count, .. } => *count,
            Self::Listed(values) => values.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a position below `len`.
    #[inline]
    pub fn get(&self, at: usize) -> T {
        match self {
            Self::Equal { value: Some(value), count } => {
                debug_assert!(at < *count);
                *value
            }
            Self::Equal { value: None, .. } => panic!("no value at {at} of an empty column"),
            Self::Listed(values) => values[at],
        }
    }

    /// Appends a value; `room` is how many are expected in all.
    #[inline]
    pub fn push(&mut self, next: T, room: usize) {
        match self {
            Self::Listed(values) => values.push(next),
            Self::Equal { value: Some(value), count } if *value == next => *count += 1,
            Self::Equal { value: value @ None, count } => (*value, *count) = (Some(next), 1),
            Self::Equal { .. } => {
                self.list(room);
                self.push(next, room);
            }
        }
    }

    /// The value pushed last.
    pub fn last(&self) -> Option<T> {
        self.len().checked_sub(1).map(|at| self.get(at))
    }

    /// Replaces a value.
    pub fn set(&mut self, at: usize, value: T) {
        if self.get(at) != value {
            self.list(0)[at] = value;
        }
    }

    /// Whether some value fulfils a condition. O(1) while all are equal.
    pub fn any(&self, holds: impl Fn(T) -> bool) -> bool {
        match self {
            Self::Equal { value, .. } => value.is_some_and(holds),
            Self::Listed(values) => values.iter().any(|&value| holds(value)),
        }
    }

    fn list(&mut self, room: usize) -> &mut Vec<T> {
        if let Self::Equal { value, count } = self {
            let mut values = Vec::with_capacity(room.max(*count));
            values.extend(value.iter().flat_map(|value| std::iter::repeat_n(*value, *count)));
            *self = Self::Listed(values);
        }
        let Self::Listed(values) = self else { unreachable!("listed above") };
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_as_a_vector(values in prop::collection::vec(0u8..3, 0..12), changes in prop::collection::vec((0usize..12, 0u8..3), 0..4)) {
            let (mut column, mut vector) = (Column::default(), Vec::new());
            for value in values {
                column.push(value, 4);
                vector.push(value);
            }
            let size = vector.len();
            for (at, value) in changes.into_iter().filter(|(at, _)| *at < size) {
                column.set(at, value);
                vector[at] = value;
            }
            prop_assert_eq!((0..column.len()).map(|at| column.get(at)).collect::<Vec<_>>(), vector.clone());
            prop_assert_eq!((column.is_empty(), column.any(|value| value == 2)), (vector.is_empty(), vector.contains(&2)));
        }
    }
}
