//! Triggers and evictors by example. Everything else is compared with the operator in Python.

use super::*;
use crate::column::{Builder, Column};
use crate::program::Program;
use crate::tables::reduce::Fold;
use crate::value::Value;

const FIRST: &str = r#"["index", ["local", 0], ["const", 0]]"#;
const TUMBLING: Assigner = Assigner::Panes { size: 10, slide: 10, offset: 0 };
const NEVER_YET: (i64, i64) = (i64::MIN, 0);

fn program(parameters: usize, body: &str) -> Program {
    let text = format!(r#"{{"v": 1, "functions": [{{"params": {parameters}, "locals": {parameters}, "body": [{body}]}}]}}"#);
    Program::parse(&text).expect("it is a program")
}

fn windows(assigner: Assigner, trigger: Trigger, purges: bool, evictor: Option<Evictor>) -> TriggerWindows {
    let key = program(1, &format!(r#"["return", {FIRST}]"#));
    let contents = Contents::Field(1, Fold::Sum);
    let windows = Spec { key, assigner, contents, lateness: 0, side: false, shows: false, clears: false, seeing: None };
    TriggerWindows::new(TriggerSpec { windows, trigger, purges, evictor, event: true }).expect("they fit")
}

/// Records of one key: value and time.
fn batch(records: &[(i64, i64)]) -> Batch {
    let mut builder = Builder::new();
    for &(value, _) in records {
        builder.push(Value::Tuple(&[Value::Int(0), Value::Int(value)])).expect("it fits");
    }
    let times = Column::ints(records.iter().map(|record| record.1).collect());
    Batch::new(builder.finish(), Some(times)).expect("there are as many")
}

fn sums(out: Option<&Batch>) -> Vec<i64> {
    let arena = Bump::new();
    let value = |batch: &Batch, row| match batch.records().get(row, &arena) {
        Value::Tuple(&[_, Value::Int(value)]) => value,
        other => panic!("{other:?} is no pair"),
    };
    out.map_or_else(Vec::new, |batch| (0..batch.len()).map(|row| value(batch, row)).collect())
}

#[test]
fn a_count_is_remembered_and_goes_with_its_window() {
    let mut windows = windows(TUMBLING, Trigger::Count(2), true, None);
    let taken = windows.run(&batch(&[(1, 0), (2, 1), (4, 2)]), 0, 3, NEVER_YET);
    assert_eq!((sums(taken.out.as_ref()), taken.end, windows.entries()), (vec![3], 3, 2));
    assert!(windows.advance(Domain::Event, i64::MAX, (i64::MAX, 0)).out.is_none());
    assert!(windows.is_empty());
}

#[test]
fn a_window_fires_again_and_again() {
    let mut windows = windows(TUMBLING, Trigger::Every(Domain::Event, 4), false, None);
    windows.run(&batch(&[(1, 1), (2, 7)]), 0, 2, NEVER_YET);
    let due: Vec<_> = [5, 8, 9].map(|time| sums(windows.advance(Domain::Event, time, (time, 0)).out.as_ref())).into();
    assert_eq!(due, [vec![3], vec![3], vec![3]]);
    assert!(windows.is_empty());
}

#[test]
fn an_evictor_leaves_the_last_records() {
    let evictor = Evictor { rule: Rule::Count(2), after: true };
    let mut windows = windows(Assigner::Global, Trigger::Count(1), false, Some(evictor));
    let taken = windows.run(&batch(&[(1, 0), (2, 0), (4, 0), (8, 0)]), 0, 4, NEVER_YET);
    assert_eq!(sums(taken.out.as_ref()), [1, 3, 7, 14]);
}

#[test]
fn what_python_does_not_know_is_handed_over_once() {
    let mut windows = windows(TUMBLING, Trigger::Count(9), false, None);
    windows.run(&batch(&[(1, 0), (2, 11)]), 0, 2, NEVER_YET);
    let rows = |batches: &[Batch]| batches.iter().map(Batch::len).sum::<usize>();
    let news = windows.news().expect("it fits");
    assert_eq!((rows(&news.windows.values), rows(&news.remembered), rows(&news.timers[0])), (2, 2, 2));
    let again = windows.news().expect("it fits");
    assert_eq!((rows(&again.windows.values), rows(&again.remembered), rows(&again.timers[0])), (0, 0, 0));
    let mut other = super::tests::windows(TUMBLING, Trigger::Count(9), false, None);
    let rows: Vec<_> = news.timers.iter().map(|batches| timers_of(batches)).collect();
    assert_eq!(other.load(&[], &news.windows.values, &news.remembered, [&rows[0], &rows[1]], &[], &[]), Ok(()));
    assert_eq!((other.entries(), other.next_due(Domain::Event)), (4, Some(9)));
}

/// Timers without the word whether they were added.
fn timers_of(batches: &[Batch]) -> Vec<Batch> {
    let (mut builder, arena) = (Builder::new(), Bump::new());
    for batch in batches {
        for row in 0..batch.len() {
            let Value::Tuple(fields) = batch.records().get(row, &arena) else { panic!("a row") };
            builder.push(Value::Tuple(&fields[1..])).expect("it fits");
        }
    }
    Batch::new(builder.finish(), None).into_iter().collect()
}

#[test]
fn a_trigger_that_registers_the_same_timers_for_each_record_is_steady() {
    let element = r#"["register", ["index", ["local", 2], ["const", 0]]], ["register_by_clock", ["const", 7]], ["return", ["const", 0]]"#;
    let own = |text: &str| {
        let [on_event_time, on_processing_time, on_merge, clear] = [const { None }; 4];
        Trigger::Own(Box::new(Own { on_element: program(3, text), on_event_time, on_processing_time, on_merge, clear }))
    };
    let timers = vec![(Domain::Event, Place::Last), (Domain::Clock, Place::At(7))];
    assert_eq!(own(element).steady(true), Some(timers));
    assert_eq!(own(r#"["return", ["const", 1]]"#).steady(true), None);
    assert_eq!(Trigger::Count(2).steady(true), None);
}
