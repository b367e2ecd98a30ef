//! A batch: a column of records, and their timestamps.

use crate::column::{Column, Data};

/// Records in order, with timestamps where they have some.
#[derive(Clone, Debug)]
pub struct Batch {
    records: Column,
    times: Option<Column>,
}

/// Timestamps of many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// Those that follow one another and are equal, each with the place of its first record; records before have none.
    Runs(Vec<(usize, Option<i64>)>),
    /// One for each record.
    Times(Vec<i64>),
}

/// The mean length from which runs are used.
const LONG: usize = 8;

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

    /// The timestamps in their shorter form: runs where they have eight records on average, or one is None.
    pub fn stamps(&self) -> Stamps {
        let count = self.len();
        let times = self.times.as_ref().map(|times| (times.data(), times.presence()));
        if let Some((Data::Ints(values), None)) = times
            && values.windows(2).filter(|pair| pair[0] != pair[1]).count() >= count / LONG
        {
            return Stamps::Times(values.to_vec());
        }
        let mut runs: Vec<(usize, Option<i64>)> = Vec::new();
        for row in 0..count {
            let time = self.time(row);
            if runs.last().is_none_or(|&(_, last)| last != time) {
                runs.push((row, time));
            }
        }
        Stamps::Runs(runs)
    }

    /// The same records with other timestamps; `None` where there are not as many.
    pub fn with_stamps(&self, stamps: Stamps) -> Option<Self> {
        let times = match stamps {
            Stamps::Times(times) => Column::ints(times),
            Stamps::Runs(runs) => {
                let first = runs.first().map_or(self.len(), |&(start, _)| start);
                let ends = runs.iter().skip(1).map(|&(start, _)| start).chain([self.len()]);
                let mut all = vec![None; first.min(self.len())];
                for (&(_, time), end) in runs.iter().zip(ends) {
                    all.resize(end.clamp(all.len(), self.len().max(all.len())), time);
                }
                Column::ints_or_none(&all)
            }
        };
        Self::new(self.records.clone(), Some(times))
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
