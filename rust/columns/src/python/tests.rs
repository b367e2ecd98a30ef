//! Rules of Python's operations; `tests/runtime/columns` holds all of them against CPython.

use bumpalo::Bump;
use proptest::prelude::*;

use super::*;
use crate::value::Shape;

const NONE: Value<'static> = Value::None;

fn int<'a>(n: i64) -> Value<'a> {
    Value::Int(n)
}

fn float<'a>(f: f64) -> Value<'a> {
    Value::Float(f)
}

fn text(text: &str) -> Value<'_> {
    Value::Text(text)
}

/// The result as `repr` shows it; `Doubt` for that.
fn shown(answer: Answer<'_>) -> String {
    let bump = Bump::new();
    match answer {
        Ok(value) => show::repr(&bump, value).map_or("?".to_owned(), str::to_owned),
        Err(Doubt) => "Doubt".to_owned(),
    }
}

fn op(name: &str, values: &[Value<'_>]) -> String {
    let bump = Bump::new();
    let values = bump.alloc_slice_copy(values);
    shown(operator(name).expect(name)(&bump, values))
}

fn call(name: &str, values: &[Value<'_>]) -> String {
    let bump = Bump::new();
    let values = bump.alloc_slice_copy(values);
    shown(builtin(name, values.len()).expect(name)(&bump, values))
}

fn send(name: &str, values: &[Value<'_>]) -> String {
    let bump = Bump::new();
    let values = bump.alloc_slice_copy(values);
    shown(method(name, values.len()).expect(name)(&bump, values))
}

#[test]
fn integers_round_down_and_floats_too() {
    assert_eq!(op("floordiv", &[int(7), int(-2)]), "-4");
    assert_eq!(op("mod", &[int(-7), int(3)]), "2");
    assert_eq!(op("mod", &[int(i64::MIN), int(-1)]), "0");
    assert_eq!(op("floordiv", &[int(i64::MIN), int(-1)]), "Doubt");
    assert_eq!(op("floordiv", &[float(-7.5), int(2)]), "-4.0");
    assert_eq!(op("mod", &[float(-0.0), float(3.0)]), "0.0");
    assert_eq!(op("mod", &[float(-1.0), float(f64::INFINITY)]), "inf");
    assert_eq!(op("truediv", &[int(1), int(0)]), "Doubt");
}

#[test]
fn a_quotient_of_large_integers_is_rounded_once() {
    assert_eq!(op("truediv", &[int(i64::MAX), int(3)]), "3.0744573456182584e+18");
    assert_eq!(op("truediv", &[int((1 << 53) + 1), int(1)]), "9007199254740992.0");
    assert_eq!(op("truediv", &[int(-1), int(i64::MIN)]), "1.0842021724855044e-19");
}

#[test]
fn powers_are_integers_until_the_exponent_is_negative() {
    assert_eq!(op("pow", &[int(2), int(62)]), "4611686018427387904");
    assert_eq!(op("pow", &[int(2), int(63)]), "Doubt");
    assert_eq!(op("pow", &[int(2), int(-1)]), "0.5");
    assert_eq!(op("pow", &[float(-8.0), float(0.5)]), "Doubt");
    assert_eq!(op("lshift", &[Value::Bool(true), int(62)]), "4611686018427387904");
    assert_eq!(op("rshift", &[int(-1), int(1000)]), "-1");
}

#[test]
fn integers_and_floats_are_compared_exactly() {
    assert_eq!(op("eq", &[int((1 << 53) + 1), float(9_007_199_254_740_992.0)]), "False");
    assert_eq!(op("lt", &[float(9_223_372_036_854_775_808.0), int(i64::MAX)]), "False");
    assert_eq!(op("eq", &[Value::Bool(true), float(1.0)]), "True");
    assert_eq!(op("eq", &[int(1), text("1")]), "False");
    assert_eq!(op("lt", &[int(1), text("1")]), "Doubt");
}

#[test]
fn nan_within_containers_is_doubtful() {
    let nan = [float(f64::NAN)];
    assert_eq!(op("eq", &[nan[0], nan[0]]), "False");
    assert_eq!(op("eq", &[Value::Tuple(&nan), Value::Tuple(&nan)]), "Doubt");
    assert_eq!(op("in", &[nan[0], Value::List(&nan)]), "Doubt");
    assert_eq!(op("in", &[int(1), Value::List(&nan)]), "False");
}

#[test]
fn texts_are_counted_in_code_points() {
    assert_eq!(op("index", &[text("aé中"), int(-1)]), "'中'");
    assert_eq!(op("slice", &[text("aé中d"), NONE, NONE, int(-2)]), "'dé'");
    assert_eq!(send("find", &[text("é中"), text("中")]), "1");
    assert_eq!(call("len", &[text("😀")]), "1");
}

#[test]
fn words_are_between_whitespace() {
    assert_eq!(send("split", &[text(" a\u{a0}b \x1c c ")]), "['a', 'b', 'c']");
    assert_eq!(send("split", &[text(" a b  c "), NONE, int(1)]), "['a', 'b  c ']");
    assert_eq!(send("rsplit", &[text(" a b  c "), NONE, int(1)]), "[' a b', 'c']");
    assert_eq!(send("split", &[text(",a,"), text(",")]), "['', 'a', '']");
    assert_eq!(send("split", &[text("a"), text("")]), "Doubt");
}

#[test]
fn numbers_are_read_as_python_writes_them() {
    assert_eq!(call("int", &[text(" 1_000\n")]), "1000");
    assert_eq!(call("int", &[text("0x_1f"), int(0)]), "31");
    assert_eq!(call("int", &[text("\x1c1")]), "Doubt");
    assert_eq!(call("float", &[text("1_0.5e-1")]), "1.05");
    assert_eq!(call("float", &[text("-Infinity")]), "-inf");
    assert_eq!(call("float", &[text("0x1p3")]), "Doubt");
}

#[test]
fn floats_are_shown_and_rounded_by_their_exact_value() {
    assert_eq!(call("str", &[float(1e16)]), "'1e+16'");
    assert_eq!(call("str", &[float(0.0001)]), "'0.0001'");
    assert_eq!(call("round", &[float(2.675), int(2)]), "2.67");
    assert_eq!(call("round", &[float(2.5)]), "2");
    assert_eq!(call("round", &[float(1250.0), int(-2)]), "1200.0");
    assert_eq!(call("round", &[int(-15), int(-1)]), "-20");
}

#[test]
fn a_sum_of_floats_that_depends_on_the_version_is_doubtful() {
    assert_eq!(call("sum", &[Value::List(&[float(0.5), int(1), float(0.25)])]), "1.75");
    assert_eq!(call("sum", &[Value::List(&[float(0.1); 10])]), "Doubt");
    assert_eq!(call("sum", &[Value::List(&[float(1e16), float(1.0), float(1.0)])]), "Doubt");
}

#[test]
fn too_much_is_doubtful() {
    assert_eq!(op("mul", &[text("a"), int(1_000_000_000)]), "Doubt");
    assert_eq!(call("range", &[int(i64::MAX)]), "Doubt");
    assert_eq!(send("ljust", &[text("a"), int(i64::MAX)]), "Doubt");
    assert_eq!(send("expandtabs", &[text("\t"), int(i64::MAX)]), "Doubt");
}

#[test]
fn fields_of_rows_by_name() {
    let shape = Shape { class: 0, names: Some(["a".into(), "as_dict".into()].into()) };
    let fields = [int(1), int(2)];
    let row = Value::Row(&shape, &fields);
    assert_eq!(shown(attribute(row, "a")), "1");
    assert_eq!(shown(attribute(row, "as_dict")), "Doubt");
    assert_eq!(op("index", &[row, text("as_dict")]), "2");
    assert_eq!(shown(Ok(row)), "Row(a=1, as_dict=2)");
}

#[test]
fn unknown_names_and_numbers_of_arguments_are_not_found() {
    assert!(builtin("open", 1).is_none());
    assert!(builtin("len", 2).is_none());
    assert!(method("split", 4).is_none());
    assert!(operator("matmul").is_none());
}

const OPERATORS: [&str; 28] = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "in",
    "not_in",
    "in_set",
    "not_in_set",
    "is",
    "is_not",
    "index",
    "neg",
    "pos",
    "invert",
];

proptest! {
    #[test]
    fn nothing_panics(texts in prop::collection::vec(any::<String>(), 1..3), n in any::<i64>(), f in any::<f64>(), small in -9_i64..9) {
        let bump = Bump::new();
        let mut values = vec![NONE, Value::Bool(true), int(n), int(small), float(f), Value::Bytes(texts[0].as_bytes())];
        values.extend(texts.iter().map(|text| Value::Text(text)));
        let items = bump.alloc_slice_copy(&values);
        let pairs: Vec<_> = values.iter().map(|value| (*value, *value)).collect();
        values.extend([Value::List(items), Value::Tuple(items), Value::Dict(&pairs)]);
        for a in &values {
            prop_assert!(truth(*a).is_ok() || iterate(&bump, *a).is_err());
            for b in &values {
                for name in OPERATORS {
                    let _ = operator(name).map(|operator| (operator(&bump, &[*a, *b]), operator(&bump, &[*a])));
                }
                for name in tables::NAMES {
                    for values in [&[*a][..], &[*a, *b], &[*a, *b, int(small)], &[*a, *b, int(n)], &[*a, *b, int(small), int(n)]] {
                        let _ = builtin(name, values.len()).map(|function| function(&bump, values));
                        let _ = method(name, values.len()).map(|function| function(&bump, values));
                        let _ = library(name, values.len()).map(|function| function(&bump, values));
                    }
                }
            }
            for step in [NONE, int(small), int(n)] {
                let _ = operator("slice").map(|slice| slice(&bump, &[*a, int(small), int(n), step]));
            }
        }
    }
}
