//! Windows against windows by definition. The order among timers of one time, and everything that state in Python is to
//! know, is compared with the operator in Python.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::column::{Builder, Column};
use crate::tables::Fold;
use crate::value::Value;

const FIRST: &str = r#"["index", ["local", 0], ["const", 0]]"#;

fn program(parameters: usize, expr: &str) -> Program {
    let text = format!(r#"{{"v": 1, "functions": [{{"params": {parameters}, "locals": {parameters}, "body": [["return", {expr}]]}}]}}"#);
    Program::parse(&text).expect("it is a program")
}

fn windows(assigner: Assigner, lateness: i64) -> Windows {
    let contents = Contents::Field(1, Fold::Sum);
    let spec = Spec { key: program(1, FIRST), assigner, contents, lateness, side: true, shows: false, clears: false, seeing: None };
    Windows::new(spec).expect("it is one")
}

fn batch(records: &[(i64, i64, i64)]) -> Batch {
    let mut builder = Builder::new();
    for &(key, value, _) in records {
        builder.push(Value::Tuple(&[Value::Int(key), Value::Int(value)])).expect("it fits");
    }
    let times = Column::ints(records.iter().map(|record| record.2).collect());
    Batch::new(builder.finish(), Some(times)).expect("there are as many")
}

/// Time, key and value of each.
fn shown(out: Option<&Batch>) -> Vec<(i64, i64, i64)> {
    let arena = Bump::new();
    let row = |batch: &Batch, row| {
        let Value::Tuple(&[Value::Int(key), Value::Int(value)]) = batch.records().get(row, &arena) else { panic!("a pair") };
        (batch.time(row).expect("it has one"), key, value)
    };
    out.map_or_else(Vec::new, |batch| (0..batch.len()).map(|index| row(batch, index)).collect())
}

/// Panes by definition.
struct Slow {
    size: i64,
    slide: i64,
    lateness: i64,
    watermark: i64,
    sums: BTreeMap<(i64, i64), i64>,
}

impl Slow {
    fn take(&mut self, (key, value, time): (i64, i64, i64), out: &mut Vec<(i64, i64, i64)>, late: &mut usize) {
        let mut alive = false;
        for start in (time - self.size + 1..=time).rev().filter(|start| start.rem_euclid(self.slide) == 0) {
            let last = start + self.size - 1;
            if last + self.lateness > self.watermark {
                alive = true;
                let sum = self.sums.entry((start, key)).and_modify(|sum| *sum += value).or_insert(value);
                if last <= self.watermark {
                    out.push((last, key, *sum));
                }
            }
        }
        *late += usize::from(!alive && time + self.lateness <= self.watermark);
    }

    fn advance(&mut self, watermark: i64) -> Vec<(i64, i64, i64)> {
        let mut out = Vec::new();
        for (&(start, key), &sum) in &self.sums {
            let last = start + self.size - 1;
            if last > self.watermark && last <= watermark {
                out.push((last, key, sum));
            }
        }
        self.watermark = watermark;
        let (size, lateness) = (self.size, self.lateness);
        self.sums.retain(|&(start, _), _| start + size - 1 + lateness > watermark);
        out.sort_unstable();
        out
    }
}

proptest! {
    #[test]
    fn panes_are_those_of_the_definition(
        (size, slide) in prop_oneof![Just((10, 10)), Just((10, 4)), Just((3, 7))],
        lateness in prop_oneof![Just(0i64), Just(6)],
        steps in prop::collection::vec((prop::collection::vec((0i64..3, -9i64..9, 0i64..50), 0..12), 0i64..15), 0..8),
    ) {
        let mut windows = windows(Assigner::Panes { size, slide, offset: 0 }, lateness);
        let mut slow = Slow { size, slide, lateness, watermark: -1, sums: BTreeMap::new() };
        for (records, step) in steps {
            let (batch, mut end) = (batch(&records), 0);
            let (mut fired, mut expected, mut late, mut expected_late) = (Vec::new(), Vec::new(), 0, 0);
            while end < records.len() {
                let taken = windows.run(&batch, end, records.len(), slow.watermark, None);
                prop_assert!(!taken.doubtful && taken.end > end);
                end = taken.end;
                fired.extend(shown(taken.out.as_ref()));
                late += taken.late.len();
            }
            for record in records {
                slow.take(record, &mut expected, &mut expected_late);
            }
            prop_assert_eq!(fired, expected);
            prop_assert_eq!(late, expected_late);
            let watermark = slow.watermark + step;
            let mut fired = shown(windows.advance(watermark).out.as_ref());
            prop_assert!(fired.is_sorted_by_key(|result| result.0));
            fired.sort_unstable();
            prop_assert_eq!(fired, slow.advance(watermark));
            prop_assert_eq!(windows.len(), slow.sums.len());
            windows.news().expect("it is plain");
        }
        windows.advance(i64::MAX);
        prop_assert!(windows.is_empty());
    }
}

#[test]
fn sessions_merge_and_keep_one_timer() {
    let mut sessions = windows(Assigner::Sessions { gap: 5 }, 0);
    let batch = batch(&[(1, 1, 0), (1, 2, 10), (2, 4, 3), (1, 8, 5)]);
    let taken = sessions.run(&batch, 0, 4, i64::MIN, None);
    assert_eq!((taken.end, taken.doubtful, sessions.len()), (4, false, 2));
    assert_eq!(shown(sessions.advance(20).out.as_ref()), [(7, 2, 4), (14, 1, 11)]);
    assert!(sessions.is_empty());
}

#[test]
fn a_doubtful_record_leaves_nothing() {
    let mut panes = windows(Assigner::Panes { size: 10, slide: 5, offset: 0 }, 0);
    let batch = batch(&[(1, i64::MAX, 7), (1, 1, 12)]);
    let taken = panes.run(&batch, 0, 2, i64::MIN, None);
    assert_eq!((taken.end, taken.doubtful, panes.len()), (1, true, 2));
    assert_eq!(shown(panes.advance(i64::MAX).out.as_ref()), [(9, 1, i64::MAX), (14, 1, i64::MAX)]);
}

#[test]
fn news_are_what_another_one_takes() {
    let assigner = Assigner::Panes { size: 10, slide: 10, offset: 0 };
    let (mut one, mut other) = (windows(assigner, 3), windows(assigner, 3));
    one.run(&batch(&[(1, 1, 7), (2, 1, 12), (1, 5, 8)]), 0, 3, i64::MIN, None);
    let news = one.news().expect("it is plain");
    assert_eq!((news.values.iter().map(Batch::len).sum::<usize>(), news.all), (2, false));
    let arena = Bump::new();
    let mut timers = Builder::new();
    for timer in &news.timers {
        for row in 0..timer.len() {
            let Value::Tuple(fields) = timer.records().get(row, &arena) else { panic!("a tuple") };
            timers.push(Value::Tuple(&fields[1..])).expect("it fits"); // all were added, in the order of their times
        }
    }
    let timers = Batch::new(timers.finish(), None).expect("it is one");
    other.load(&[], &news.values, &[timers], &[]).expect("it fits");
    assert_eq!(shown(other.advance(i64::MAX).out.as_ref()), [(9, 1, 6), (19, 2, 1)]);
    assert!(one.news().expect("it is plain").values.is_empty());
}
