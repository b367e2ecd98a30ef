use bumpalo::Bump;

use super::*;
use crate::column::{Builder, Column};
use crate::program::Constant;

/// A process function of one input whose key is the first field; `states` of numbers, then the bodies of functions.
fn process(states: &[Kind], body: &str, on_timer: &str) -> Process {
    process_of(states.iter().map(|&kind| kind.into()).collect(), body, on_timer)
}

fn process_of(states: Vec<StateSpec>, body: &str, on_timer: &str) -> Process {
    let program = |body: &str| {
        let text = format!(r#"{{"v": 1, "functions": [{{"params": 1, "locals": 4, "body": [{body}]}}], "states": {}}}"#, states.len());
        Program::parse(&text).expect("it is a program")
    };
    let key = r#"{"v": 1, "functions": [{"params": 1, "locals": 1, "body": [["return", ["index", ["local", 0], ["const", 0]]]]}]}"#;
    let key = Program::parse(key).expect("it is a program");
    let inputs = vec![ProcessInput { key, function: program(body) }];
    Process::new(ProcessSpec { inputs, on_timer: Some(program(on_timer)), states, bounds: None }).expect("they fit")
}

fn batch(records: &[(&str, i64, i64)]) -> Batch {
    let (mut builder, arena) = (Builder::new(), Bump::new());
    for &(name, number, _) in records {
        let record = Constant::Tuple([Constant::Text(name.into()), Constant::Int(number)].into());
        builder.push(record.value(&arena)).expect("it fits");
    }
    Batch::new(builder.finish(), Some(Column::ints(records.iter().map(|record| record.2).collect()))).expect("there are as many")
}

fn shown(out: Option<&Batch>) -> Vec<(String, Option<i64>)> {
    let arena = Bump::new();
    out.map_or_else(Vec::new, |out| (0..out.len()).map(|row| (format!("{:?}", out.records().get(row, &arena)), out.time(row))).collect())
}

fn number(value: i64, time: i64) -> (String, Option<i64>) {
    (format!("Int({value})"), Some(time))
}

/// Adds the record's number to the state, registers a timer at that number, and yields the sum.
const ADDING: &str = r#"
    ["set", 1, ["add", ["or", ["state", 0], ["const", 0]], ["index", ["local", 0], ["const", 1]]]],
    ["update", 0, ["local", 1]],
    ["register", ["index", ["local", 0], ["const", 1]]],
    ["yield", ["local", 1]]"#;
const SHOWING: &str = r#"["yield", ["state", 0]], ["clear", 0]"#;

#[test]
fn state_lasts_from_record_to_record() {
    let mut process = process(&[Kind::Value], ADDING, SHOWING);
    let records = batch(&[("a", 3, 0), ("b", 5, 1), ("a", 4, 2)]);
    let done = process.run(0, &records, 0, 3, (0, 0));
    assert_eq!(shown(done.out.as_ref()), [number(3, 0), number(5, 1), number(7, 2)]);
    assert_eq!((done.end, done.doubtful, process.len(), process.next_due(Domain::Event)), (3, false, 2, Some(3)));
    let done = process.advance(Domain::Event, 4, (4, 0));
    assert_eq!(shown(done.out.as_ref()), [number(7, 3), ("None".to_owned(), Some(4))]);
    assert_eq!((done.end, process.len(), process.next_due(Domain::Event)), (2, 1, Some(5)));
}

/// Registers a timer of the clock, and yields the time.
const BY_CLOCK: &str = r#"
    ["register_by_clock", ["add", ["around", "now"], ["index", ["local", 0], ["const", 1]]]],
    ["register", ["const", 3]],
    ["yield", ["around", "now"]]"#;

#[test]
fn timers_of_the_clock_are_others() {
    let mut process = process(&[], BY_CLOCK, r#"["yield", ["tuple", ["around", "domain"], ["around", "time"]]]"#);
    let done = process.run(0, &batch(&[("a", 5, 7), ("b", 2, 7)]), 0, 2, (0, 100));
    assert_eq!(shown(done.out.as_ref()), [number(100, 7), number(100, 7)]);
    assert_eq!((process.next_due(Domain::Event), process.next_due(Domain::Clock)), (Some(3), Some(102)));
    let done = process.advance(Domain::Clock, 104, (0, 104));
    assert_eq!(shown(done.out.as_ref()), [("Tuple([Int(1), Int(102)])".to_owned(), None)]);
    assert_eq!((done.end, process.next_due(Domain::Clock)), (1, Some(105)));
    let news = process.news().expect("it can be shown");
    assert_eq!(news.timers.map(|news| news.timers[0].len()), [2, 3]);
}

#[test]
fn what_is_in_doubt_changes_nothing() {
    let mut process = process(&[Kind::Value], ADDING, SHOWING);
    let done = process.run(0, &batch(&[("a", i64::MAX, 0), ("a", 1, 0), ("b", 1, 0)]), 0, 3, (0, 0));
    assert_eq!((shown(done.out.as_ref()).len(), done.end, done.doubtful), (1, 1, true));
    assert_eq!((process.len(), process.next_due(Domain::Event)), (1, Some(i64::MAX)));
}

#[test]
fn a_timer_in_doubt_stays() {
    let mut process = process(&[Kind::Value], ADDING, r#"["doubt"]"#);
    process.run(0, &batch(&[("a", 1, 0)]), 0, 1, (0, 0));
    let done = process.advance(Domain::Event, 1, (1, 0));
    assert_eq!((done.end, done.doubtful, process.next_due(Domain::Event)), (0, true, Some(1)));
}

#[test]
fn lists_grow_and_are_replaced() {
    let body = r#"
        ["add", 0, ["local", 0]],
        ["if", ["compare", ["index", ["local", 0], ["const", 1]], "eq", ["const", 0]],
            [["replace", 0, ["slice", ["state", 0], ["const", 1], null, null]]], []],
        ["yield", ["builtin", "len", ["state", 0]]]"#;
    let mut process = process(&[Kind::List], body, SHOWING);
    let done = process.run(0, &batch(&[("a", 1, 0), ("a", 2, 0), ("a", 0, 0), ("a", 0, 0)]), 0, 4, (0, 0));
    assert_eq!(shown(done.out.as_ref()), [number(1, 0), number(2, 0), number(2, 0), number(2, 0)]);
    let news = process.news().expect("it can be shown");
    let expected = r#"Tuple([Text("a"), List([Tuple([Text("a"), Int(0)]), Tuple([Text("a"), Int(0)])])])"#;
    assert_eq!(shown(news.states[0].values.first())[0].0, expected);
}

/// Counts the record's number in a map, forgets the number before it, and yields what is in the map.
const COUNTING: &str = r#"
    ["set", 1, ["index", ["local", 0], ["const", 1]]],
    ["put_entry", 0, ["local", 1], ["add", ["or", ["map_get", 0, ["local", 1]], ["const", 0]], ["const", 1]]],
    ["remove", 0, ["sub", ["local", 1], ["const", 1]]],
    ["yield", ["tuple", ["map_items", 0], ["map_has", 0, ["const", true]], ["map_empty", 0]]]"#;

#[test]
fn maps_keep_their_order() {
    let mut process = process(&[Kind::Map], COUNTING, SHOWING);
    let numbers = [5, 1, 5, 9, 2, 1];
    let records: Vec<_> = numbers.iter().map(|&number| ("a", number, 0)).collect();
    let done = process.run(0, &batch(&records), 0, 6, (0, 0));
    let last = shown(done.out.as_ref()).pop().expect("there are results").0;
    let items = "List([Tuple([Int(5), Int(2)]), Tuple([Int(9), Int(1)]), Tuple([Int(2), Int(1)]), Tuple([Int(1), Int(1)])])";
    assert_eq!(last, format!("Tuple([{items}, Bool(true), Bool(false)])"));
    assert_eq!((process.len(), process.weight()), (1, 4));
}

#[test]
fn python_learns_what_has_changed_in_a_map() {
    let mut process = process(&[Kind::Map], COUNTING, SHOWING);
    let records: Vec<_> = (0..20).map(|number| ("a", 10 * number, 0)).collect();
    process.run(0, &batch(&records), 0, 20, (0, 0));
    let news = process.news().expect("it can be shown");
    assert_eq!((news.states[0].removed.len(), news.states[0].dropped.len(), news.states[0].values[0].len()), (0, 0, 20));
    process.run(0, &batch(&[("a", 31, 0), ("a", 50, 0), ("a", 71, 0), ("a", 70, 0)]), 0, 4, (0, 0));
    let news = process.news().expect("it can be shown");
    let [dropped, values] = [&news.states[0].dropped, &news.states[0].values].map(|rows| shown(rows.first()));
    assert_eq!(dropped.iter().map(|row| &*row.0).collect::<Vec<_>>(), [30, 70].map(|key| format!(r#"Tuple([Text("a"), Int({key})])"#)));
    let changed = [(50, 2), (31, 1), (71, 1), (70, 1)].map(|(key, value)| format!(r#"Tuple([Text("a"), Int({key}), Int({value})])"#));
    assert_eq!(values.iter().map(|row| &*row.0).collect::<Vec<_>>(), changed);
}

#[test]
fn what_python_knows_comes_back() {
    let mut process = process(&[Kind::Value], ADDING, SHOWING);
    process.run(0, &batch(&[("a", 1, 0), ("b", 2, 0)]), 0, 2, (0, 0));
    let news = process.news().expect("it can be shown");
    assert_eq!((news.states[0].values[0].len(), news.timers[0].timers[0].len()), (2, 2));
    let again = process.news().expect("it can be shown");
    assert!(again.states[0].values.is_empty() && again.timers[0].timers.is_empty());
    process.advance(Domain::Event, 1, (1, 0));
    let last = process.news().expect("it can be shown");
    assert_eq!((last.states[0].removed[0].len(), last.states[0].values.len()), (1, 0));
    let rows = Builder::new();
    assert!(process.load(&[vec![]], [&[Batch::new(rows.finish(), None).expect("it is empty")], &[]], &[]).is_ok());
    assert!(process.load(&[news.states[0].values.clone()], [&[], &[]], &[]).is_ok());
    assert_eq!((process.len(), process.next_due(Domain::Event)), (2, None));
}

#[test]
fn a_program_with_more_states_is_refused() {
    let mut spec = process(&[Kind::Value], ADDING, SHOWING).spec;
    spec.states.clear();
    assert!(Process::new(spec).is_none());
}

/// A join from 2 before to 3 behind of records by their first field; it yields both numbers and the timestamp of the right one.
fn join() -> Process {
    let key = process(&[Kind::Value], ADDING, SHOWING).spec.inputs.remove(0).key;
    let body = r#"["yield", ["tuple", ["index", ["local", 0], ["const", 1]], ["index", ["local", 1], ["const", 1]], ["around", "right"]]]"#;
    let text = format!(r#"{{"v": 1, "functions": [{{"params": 2, "locals": 2, "body": [{body}]}}]}}"#);
    let function = Program::parse(&text).expect("it is a program");
    let inputs = vec![ProcessInput { key, function }; 2];
    let bounds = Some(Bounds { lower: -2, upper: 3 });
    Process::new(ProcessSpec { inputs, on_timer: None, states: vec![Kind::Buffer.into(); 2], bounds }).expect("they fit")
}

fn triple(one: i64, two: i64, right: i64, time: i64) -> (String, Option<i64>) {
    (format!("Tuple([Int({one}), Int({two}), Int({right})])"), Some(time))
}

#[test]
fn records_meet_within_bounds() {
    let mut join = join();
    assert!(join.run(0, &batch(&[("a", 1, 10), ("b", 2, 10), ("a", 3, 12)]), 0, 3, (0, 0)).out.is_none());
    let done = join.run(1, &batch(&[("a", 4, 8), ("a", 5, 13), ("a", 6, 16), ("c", 7, 10)]), 0, 4, (0, 0));
    assert_eq!(shown(done.out.as_ref()), [triple(1, 4, 8, 10), triple(1, 5, 13, 13), triple(3, 5, 13, 13)]);
    assert_eq!((done.end, done.doubtful, join.len(), join.next_due(Domain::Event)), (4, false, 4, Some(10)));
    assert_eq!(join.weight(), 7);
}

#[test]
fn buffers_and_keys_are_forgotten_when_nothing_can_come() {
    let mut join = join();
    join.run(0, &batch(&[("a", 1, 10), ("b", 2, 11)]), 0, 2, (0, 0));
    join.run(1, &batch(&[("b", 3, 10)]), 0, 1, (0, 0));
    assert_eq!((join.advance(Domain::Event, 12, (12, 0)).end, join.len()), (1, 2));
    assert_eq!((join.advance(Domain::Event, 13, (13, 0)).end, join.len()), (1, 1));
    let done = join.run(1, &batch(&[("a", 4, 12), ("b", 5, 13), ("c", 6, 14)]), 0, 3, (13, 0));
    assert_eq!((shown(done.out.as_ref()), join.len()), (vec![triple(2, 5, 13, 13)], 3));
    let news = join.news().expect("it can be shown");
    let expected = r#"Tuple([Text("c"), Int(16), Int(14), Tuple([Text("c"), Int(6)])])"#;
    assert_eq!(shown(news.states[1].values.first())[0].0, expected);
    assert_eq!((news.states[0].values[0].len(), news.states[1].values[0].len()), (1, 2));
    assert_eq!((join.advance(Domain::Event, 100, (100, 0)).end, join.is_empty(), join.weight()), (3, true, 0));
    let news = join.news().expect("it can be shown");
    assert_eq!((news.states[0].removed[0].len(), news.states[1].removed[0].len()), (1, 2));
}

#[test]
fn joins_are_of_two_buffers() {
    let mut spec = join().spec;
    assert!(Process::new(ProcessSpec { bounds: None, ..spec.clone() }).is_none());
    assert!(Process::new(ProcessSpec { states: vec![Kind::Buffer.into(); 1], ..spec.clone() }).is_none());
    spec.bounds = Some(Bounds { lower: i64::MIN, upper: 0 });
    assert!(Process::new(spec).is_none());
}

/// A state whose values live for 5 milliseconds; each access looks at two.
fn mortal(kind: Kind, shows: bool) -> StateSpec {
    StateSpec { kind, life: Some(Life { millis: 5, renews: false, shows, size: 2 }), default: None }
}

/// Yields the value of before, and sets the record's number.
const SETTING: &str = r#"["yield", ["state", 0]], ["update", 0, ["index", ["local", 0], ["const", 1]]]"#;

#[test]
fn values_end_by_the_clock() {
    for shows in [false, true] {
        let mut process = process_of(vec![mortal(Kind::Value, shows)], SETTING, SHOWING);
        process.run(0, &batch(&[("a", 1, 0)]), 0, 1, (0, 10));
        let still = process.run(0, &batch(&[("a", 2, 0)]), 0, 1, (0, 14));
        assert_eq!(shown(still.out.as_ref()), [number(1, 0)]);
        let over = process.run(0, &batch(&[("a", 3, 0)]), 0, 1, (0, 19));
        assert_eq!(shown(over.out.as_ref())[0].0, "None"); // the look at values has removed it
        let news = process.news().expect("it can be shown");
        assert_eq!(shown(news.states[0].values.first())[0].0, r#"Tuple([Text("a"), Tuple([Int(3), Int(19)])])"#);
    }
}

#[test]
fn values_of_other_keys_are_removed() {
    let mut process = process_of(vec![mortal(Kind::Value, false)], SETTING, SHOWING);
    let records: Vec<_> = ["a", "b", "c", "d", "e", "f"].iter().map(|&name| (name, 1, 0)).collect();
    process.run(0, &batch(&records), 0, 6, (0, 0));
    assert_eq!(process.len(), 6);
    for _ in 0..3 {
        process.run(0, &batch(&[("g", 1, 0)]), 0, 1, (0, 5));
    }
    assert_eq!(process.len(), 1);
    let news = process.news().expect("it can be shown");
    assert_eq!((news.states[0].removed.len(), news.states[0].values[0].len()), (0, 1));
    process.run(0, &batch(&[("h", 1, 0)]), 0, 1, (0, 10));
    assert_eq!((process.len(), process.news().expect("it can be shown").states[0].removed[0].len()), (1, 1));
}

#[test]
fn what_has_no_time_is_in_doubt() {
    let mut process = process_of(vec![mortal(Kind::Value, false)], SETTING, SHOWING);
    assert!(process.load(&[vec![batch(&[("a", 1, 0)])]], [&[], &[]], &[]).is_err());
}

/// The keys that are asked for.
fn asked(keys: &Column) -> Vec<String> {
    let arena = Bump::new();
    (0..keys.len()).map(|row| format!("{:?}", keys.get(row, &arena))).collect()
}

fn in_part(body: &str, on_timer: &str) -> Process {
    let Process { spec, .. } = process(&[Kind::Value], body, on_timer);
    Process::in_part(spec).expect("it has no look at others")
}

#[test]
fn a_part_of_the_keys_is_brought_and_forgotten() {
    let mut process = in_part(ADDING, SHOWING);
    let records = batch(&[("a", 3, 0), ("b", 5, 1), ("a", 4, 2)]);
    let (keys, end) = process.begin(0, &records, 0, 3);
    assert_eq!((asked(&keys), end), (vec!["Text(\"a\")".to_owned(), "Text(\"b\")".to_owned()], 3));
    let python = batch(&[("b", 100, 0)]);
    assert!(process.bring(&[vec![python.clone()]]).is_ok());
    let done = process.run(0, &records, 0, 3, (0, 0));
    assert_eq!(shown(done.out.as_ref()), [number(3, 0), number(105, 1), number(7, 2)]);
    assert_eq!((process.fresh(), process.keys()), (1, 2));
    let news = process.news().expect("it can be shown");
    assert_eq!(news.states[0].known, [false, true]);
    assert!(process.is_over(10) && !process.is_over(10_000));
    process.forget_idle(10);
    assert_eq!((process.keys(), process.len(), process.next_due(Domain::Event)), (0, 0, Some(3)));
    // a timer waits for its key
    assert_eq!(process.advance(Domain::Event, 4, (4, 0)).end, 0);
    assert_eq!(process.due(Domain::Event, 4, 9).map(|keys| asked(&keys)), Some(vec!["Text(\"a\")".to_owned()]));
    assert!(process.bring(&[vec![batch(&[("a", 7, 0)])]]).is_ok());
    let done = process.advance(Domain::Event, 5, (5, 0));
    assert_eq!((shown(done.out.as_ref()), done.end), (vec![number(7, 3), ("None".to_owned(), Some(4))], 2));
    assert_eq!(process.due(Domain::Event, 5, 9).map(|keys| asked(&keys)), Some(vec!["Text(\"b\")".to_owned()]));
}

#[test]
fn what_does_not_fit_is_not_brought_at_all() {
    let mut process = in_part(ADDING, SHOWING);
    process.begin(0, &batch(&[("a", 3, 0)]), 0, 1);
    assert!(process.bring(&[Vec::new()]).is_ok());
    process.run(0, &batch(&[("a", 3, 0)]), 0, 1, (0, 0));
    let records = batch(&[("b", 5, 1), ("c", 5, 1)]);
    process.begin(0, &records, 0, 2);
    let mut builder = Builder::new();
    builder.push(Value::Tuple(&[Value::Text("b"), Value::Float(0.5)])).expect("it fits");
    let other = Batch::new(builder.finish(), None).expect("there are as many");
    assert!(process.bring(&[vec![batch(&[("c", 1, 0)]), other]]).is_err());
    assert_eq!((process.keys(), process.len(), process.fresh()), (1, 1, 1));
    let news = process.news().expect("it can be shown");
    assert_eq!((news.states[0].removed.len(), shown(news.states[0].values.first()).len()), (0, 1));
}
