//! Programs by hand.

use bumpalo::Bump;

use super::{Input, MOST_STEPS};
use crate::column::Builder;
use crate::program::Program;
use crate::value::{Doubt, Value};

/// A program of one function with one parameter and three locals more.
fn function(body: &str) -> Result<Program, String> {
    Program::parse(&format!(r#"{{"v": 1, "functions": [{{"params": 1, "locals": 4, "body": {body}}}]}}"#)).map_err(|error| error.0)
}

/// What it gives for a value by itself, which is also what it gives for one in a column.
fn result(program: &Program, value: Value<'_>) -> Result<String, Doubt> {
    let arena = Bump::new();
    let constants = program.constants(&arena);
    let call = |input, mut steps| program.call(constants, &mut [input], &arena, &mut steps).map(|value| format!("{value:?}"));
    let alone = call(Input::Value(value), MOST_STEPS);
    let mut builder = Builder::new();
    if builder.push(value).is_ok() {
        let column = builder.finish();
        let constants = program.constants(&arena);
        let mut steps = MOST_STEPS;
        let there = program.call(constants, &mut [Input::Row(&column, 0)], &arena, &mut steps).map(|value| format!("{value:?}"));
        assert_eq!(alone, there);
    }
    alone
}

fn gives(body: &str, value: Value<'_>, expected: &str) {
    let program = function(body).expect("it is a program");
    assert_eq!(result(&program, value).as_deref(), Ok(expected), "{body}");
}

fn doubts(body: &str, value: Value<'_>) {
    assert_eq!(result(&function(body).expect("it is a program"), value), Err(Doubt), "{body}");
}

const PAIR: Value<'static> = Value::Tuple(&[Value::Int(7), Value::Text("a b")]);

#[test]
fn fields_are_read_where_they_stand() {
    gives(r#"[["return", ["index", ["local", 0], ["const", 0]]]]"#, PAIR, "Int(7)");
    gives(r#"[["return", ["index", ["local", 0], ["const", -1]]]]"#, PAIR, r#"Text("a b")"#);
    doubts(r#"[["return", ["index", ["local", 0], ["const", 2]]]]"#, PAIR);
    gives(r#"[["return", ["local", 0]]]"#, PAIR, r#"Tuple([Int(7), Text("a b")])"#);
    gives(
        r#"[["return", ["tuple", ["index", ["local", 0], ["const", 1]], ["add", ["index", ["local", 0], ["const", 0]], ["const", 1]]]]]"#,
        PAIR,
        r#"Tuple([Text("a b"), Int(8)])"#,
    );
}

#[test]
fn conditions_are_seen_where_values_lie() {
    let triple = |one, two, three| [one, two, three];
    let within = r#"["compare", ["index", ["local", 0], ["const", 0]], "le", ["index", ["local", 0], ["const", 1]],
        "lt", ["index", ["local", 0], ["const", 2]]]"#;
    let returned = format!(r#"[["return", {within}]]"#);
    let branched = format!(r#"[["if", {within}, [["return", ["const", true]]], [["return", ["const", false]]]]]"#);
    let (int, text) = (Value::Int, Value::Text);
    for body in [&returned, &branched] {
        gives(body, Value::Tuple(&triple(int(1), int(1), int(2))), "Bool(true)");
        gives(body, Value::Tuple(&triple(int(1), int(2), int(2))), "Bool(false)");
        gives(body, Value::Tuple(&triple(int(3), int(2), text("never compared"))), "Bool(false)");
        gives(body, Value::Tuple(&triple(Value::Float(0.5), int(1), Value::Float(1.5))), "Bool(true)");
        gives(body, Value::Tuple(&triple(text("a"), text("b"), text("c"))), "Bool(true)");
        doubts(body, Value::Tuple(&triple(int(1), text("a"), int(2))));
        doubts(body, Value::Tuple(&triple(int(1), int(2), Value::None)));
    }
    let none = r#"[["if", ["compare", ["index", ["local", 0], ["const", 1]], "is", ["const", null]],
        [["return", ["const", 1]]], [["return", ["const", 2]]]]]"#;
    gives(none, Value::Tuple(&triple(int(1), Value::None, int(2))), "Int(1)");
    gives(none, Value::Tuple(&triple(int(1), int(0), int(2))), "Int(2)");
}

#[test]
fn tuples_are_compared_item_by_item() {
    let pair = |sign: &str| {
        format!(
            r#"[["return", ["compare", ["tuple", {sign}, ["index", ["local", 0], ["const", 1]]],
                "lt", ["tuple", ["const", -5], ["const", "b"]]]]]"#
        )
    };
    let (plain, negative) = (pair(r#"["index", ["local", 0], ["const", 0]]"#), pair(r#"["neg", ["index", ["local", 0], ["const", 0]]]"#));
    gives(&plain, Value::Tuple(&[Value::Int(-5), Value::Text("a")]), "Bool(true)");
    gives(&plain, Value::Tuple(&[Value::Int(-5), Value::Text("b")]), "Bool(false)");
    gives(&plain, Value::Tuple(&[Value::Int(-4), Value::None]), "Bool(false)");
    gives(&negative, Value::Tuple(&[Value::Int(6), Value::Text("z")]), "Bool(true)");
    gives(&negative, Value::Tuple(&[Value::Bool(true), Value::Text("a")]), "Bool(false)");
    doubts(&negative, Value::Tuple(&[Value::Int(i64::MIN), Value::Text("a")]));
    doubts(&plain, Value::Tuple(&[Value::Int(-5), Value::None]));
}

#[test]
fn numbers_are_divided_as_in_python() {
    let divided = |name: &str, by: i64| format!(r#"[["return", ["{name}", ["local", 0], ["const", {by}]]]]"#);
    for (value, by, quotient, rest) in [(7, -2, -4, -1), (-7, 3, -3, 2), (-6, 3, -2, 0), (6, 4, 1, 2), (0, -5, 0, 0), (-7, -2, 3, -1)] {
        gives(&divided("floordiv", by), Value::Int(value), &format!("Int({quotient})"));
        gives(&divided("mod", by), Value::Int(value), &format!("Int({rest})"));
    }
    doubts(&divided("floordiv", 0), Value::Int(1));
    doubts(&divided("mod", 0), Value::Int(1));
    doubts(&divided("floordiv", -1), Value::Int(i64::MIN));
    doubts(&divided("add", 1), Value::Int(i64::MAX));
}

#[test]
fn statements_go_as_in_python() {
    let counting = r#"[["set", 1, ["const", 0]], ["while", ["compare", ["local", 0], "gt", ["const", 0]],
        [["set", 1, ["add", ["local", 1], ["local", 0]]], ["set", 0, ["add", ["local", 0], ["const", -1]]],
         ["if", ["compare", ["local", 1], "gt", ["const", 50]], [["break"]], []]]],
        ["return", ["local", 1]]]"#;
    gives(counting, Value::Int(4), "Int(10)");
    gives(counting, Value::Int(20), "Int(57)");
    let yielding = r#"[["for", 1, ["method", "split", ["local", 0]],
        [["if", ["compare", ["builtin", "len", ["local", 1]], "eq", ["const", 0]], [["continue"]], []],
         ["yield", ["tuple", ["local", 1], ["const", 1]]]]]]"#;
    gives(yielding, Value::Text(" a bc "), r#"List([Tuple([Text("a"), Int(1)]), Tuple([Text("bc"), Int(1)])])"#);
    gives(
        r#"[["set", [1, [2, 3]], ["const", {"t": [1, {"l": [2, 3]}]}]], ["return", ["tuple", ["local", 3], ["local", 1]]]]"#,
        PAIR,
        "Tuple([Int(3), Int(1)])",
    );
    doubts(r#"[["set", [1, 2, 3], ["local", 0]]]"#, PAIR);
    doubts(r#"[["return", ["local", 1]]]"#, PAIR);
    gives(r#"[["set", 1, ["const", 1]]]"#, PAIR, "None");
    gives(
        r#"[["return", ["each", ["tuple", ["local", 1], ["local", 2]], [[1, ["const", {"t": [1, 2]}], []],
            [2, ["const", {"t": [1, 2]}], [["compare", ["local", 1], "lt", ["local", 2]]]]]]]]"#,
        PAIR,
        "List([Tuple([Int(1), Int(2)])])",
    );
}

#[test]
fn expressions_go_as_in_python() {
    gives(r#"[["return", ["and", ["const", 1], ["const", 0], ["const", 2]]]]"#, PAIR, "Int(0)");
    gives(r#"[["return", ["or", ["const", ""], ["const", null], ["const", "x"]]]]"#, PAIR, r#"Text("x")"#);
    gives(r#"[["return", ["not", ["const", {"t": []}]]]]"#, PAIR, "Bool(true)");
    gives(r#"[["return", ["compare", ["const", 1], "lt", ["const", 2], "lt", ["const", 2]]]]"#, PAIR, "Bool(false)");
    gives(r#"[["return", ["compare", ["index", ["local", 0], ["const", 0]], "in", ["const", {"s": [7, 8]}]]]]"#, PAIR, "Bool(true)");
    gives(r#"[["return", ["compare", ["index", ["local", 0], ["const", 1]], "not_in", ["const", {"s": ["a"]}]]]]"#, PAIR, "Bool(true)");
    doubts(r#"[["return", ["compare", ["const", {"l": []}], "in", ["const", {"s": ["a"]}]]]]"#, PAIR);
    gives(
        r#"[["return", ["row", ["a", "b"], ["const", 1], ["const", {"f": "4607182418800017408"}]]]]"#,
        PAIR,
        r#"Row(Shape { class: 0, names: Some(["a", "b"]) }, [Int(1), Float(1.0)])"#,
    );
    gives(r#"[["return", ["attr", ["row", ["a"], ["const", 1]], "a"]]]"#, PAIR, "Int(1)");
    doubts(r#"[["return", ["attr", ["row", ["as_dict"], ["const", 1]], "as_dict"]]]"#, PAIR);
    gives(r#"[["return", ["index", ["dict", [["const", "k"], ["const", 5]]], ["const", "k"]]]]"#, PAIR, "Int(5)");
    gives(r#"[["return", ["concat", ["const", "<"], ["format", ["const", "x"], "", "s"], ["const", ">"]]]]"#, PAIR, r#"Text("<x>")"#);
    gives(r#"[["return", ["const", {"b": "00ff"}]]]"#, PAIR, "Bytes([0, 255])");
}

#[test]
fn loops_and_texts_have_limits() {
    doubts(r#"[["while", ["const", true], []]]"#, PAIR);
    doubts(
        r#"[["set", 1, ["const", "0123456789abcdef"]], ["while", ["const", true], [["set", 1, ["concat", ["local", 1], ["local", 1]]]]]]"#,
        PAIR,
    );
    let calls = r#"{"v": 1, "functions": [{"params": 1, "locals": 1, "body": [["return", ["call", 1, ["local", 0]]]]},
        {"params": 1, "locals": 1, "body": [["while", ["const", 1], [["set", 0, ["call", 2]]]]]}, {"params": 0, "locals": 0, "body": []}]}"#;
    assert_eq!(result(&Program::parse(calls).expect("it is a program"), PAIR), Err(Doubt));
}

#[test]
fn what_is_no_program_is_refused() {
    let circle = r#"{"v": 1, "functions": [{"params": 0, "locals": 0, "body": [["return", ["call", 0]]]}]}"#;
    assert!(Program::parse(circle).expect_err("it calls itself").0.contains("circle"));
    let deep = format!("{}{}", r#"["not", "#.repeat(100_000), "]".repeat(100_000));
    for body in [
        &format!(r#"[["return", {deep}]]"#),
        r#"[["return", ["local", 4]]]"#,
        r#"[["break"]]"#,
        r#"[["return", ["builtin", "exec", ["const", 1]]]]"#,
        r#"[["return", ["builtin", "len"]]]"#,
        r#"[["return", ["call", 1]]]"#,
        r#"[["return", ["const", 9223372036854775808]]]"#,
        r#"[["return", ["const", {"s": []}]]]"#,
        r#"[["return", ["compare", ["const", 1], "add", ["const", 1]]]]"#,
        r#"[["return"]]"#,
        r#"[["return", ["row", ["a", "a"], ["const", 1], ["const", 2]]]]"#,
        r#"[["return", 3]]"#,
        "[[]]",
    ] {
        assert!(function(body).is_err(), "{body}");
    }
    assert!(Program::parse("{}").is_err() && Program::parse("").is_err() && Program::parse("[").is_err());
}

#[test]
fn a_constant_dict_is_looked_into_by_hash() {
    let texts = r#"["const", {"d": [["a", 1], ["b", {"t": [2, "x"]}]]}]"#;
    let at = format!(r#"[["return", ["index", {texts}, ["local", 0]]]]"#);
    gives(&at, Value::Text("a"), "Int(1)");
    gives(&at, Value::Text("b"), r#"Tuple([Int(2), Text("x")])"#);
    doubts(&at, Value::Text("c"));
    doubts(&at, Value::Int(1));
    let get = format!(r#"[["return", ["method", "get", {texts}, ["local", 0], ["const", 7]]]]"#);
    gives(&get, Value::Text("c"), "Int(7)");
    let ints = r#"[["return", ["method", "get", ["const", {"d": [[1, "one"]]}], ["local", 0]]]]"#;
    gives(ints, Value::Int(1), r#"Text("one")"#);
    gives(ints, Value::Int(2), "None");
    gives(ints, Value::Bool(true), r#"Text("one")"#);
    gives(ints, Value::Float(1.0), r#"Text("one")"#);
    doubts(ints, Value::List(&[]));
    let inside = r#"[["return", ["compare", ["local", 0], "not_in", ["const", {"d": [[1, "one"], ["x", 2]]}]]]]"#;
    gives(inside, Value::Float(1.0), "Bool(false)");
    gives(inside, Value::Text("y"), "Bool(true)");
    doubts(inside, Value::Float(f64::NAN));
}
