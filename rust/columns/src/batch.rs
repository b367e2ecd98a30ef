//! A batch: a column of records, and their timestamps.

use crate::column::{Column, Data};

/// Records in order, with timestamps where they have some.
#[derive(Clone, Debug)]
pub struct Batch {
    records: Column,
    times: Option<Column>,
}

impl Batch {
    /// `None` where the timestamps are not integers or None, or not as many as the records.
    pub fn new(records: Column, times: Option<Column>) -> Option<Self> {
        let fits = |times: &Column| times.len() == records.len() && matches!(times.data(), Data::Ints(_) | Data::None);
        times.as_ref().is_none_or(fits).then_some(Self { records, times })
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The records.
    pub fn records(&self) -> &Column {
        &self.records
    }

    /// The timestamps, integers or None; `None` where no record has one.
    pub fn times(&self) -> Option<&Column> {
        self.times.as_ref()
    }

    /// The timestamp of a record.
    pub fn time(&self, row: usize) -> Option<i64> {
        let times = self.times.as_ref()?;
        match times.data() {
            Data::Ints(values) if !times.is_none(row) => Some(values[row]),
            _ => None,
        }
    }

    /// The records from one to before another, without a copy.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn slice(&self, start: usize, end: usize) -> Self {
        let times = self.times.as_ref().map(|times| times.slice(start, end));
        Self { records: self.records.slice(start, end), times }
    }

    /// The records at some places; `None` where one is beyond the end, or they are too large together. O(records taken).
    pub fn take(&self, rows: &[usize]) -> Option<Self> {
        let times = match &self.times {
            Some(times) => Some(times.take(rows)?),
            None => None,
        };
        Some(Self { records: self.records.take(rows)?, times })
    }

    /// The records of some batches, one after the other; `None` where they are of different types, or too large together.
    pub fn concat(parts: &[&Self]) -> Option<Self> {
        let records = Column::concat(&parts.iter().map(|part| &part.records).collect::<Vec<_>>())?;
        if parts.iter().all(|part| part.times.is_none()) {
            return Some(Self { records, times: None });
        }
        let times: Vec<Column> = parts.iter().map(|part| part.times.clone().unwrap_or_else(|| Column::none(part.len()))).collect();
        Some(Self { records, times: Some(Column::concat(&times.iter().collect::<Vec<_>>())?) })
    }
}
