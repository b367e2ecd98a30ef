use super::*;
use crate::column::Builder;
use crate::value::Value;

fn written(layout: &str, values: &[Value<'_>]) -> (String, Written) {
    let mut builder = Builder::new();
    values.iter().for_each(|value| builder.push(*value).expect("the values are of one type"));
    let (column, mut out) = (builder.finish(), Vec::new());
    let layout = Layout::parse(layout).expect("the layout is one");
    let done = layout.write(&column, 0, column.len(), None, &mut out, |_| {});
    (String::from_utf8(out).expect("what is written is UTF-8"), done)
}

#[test]
fn fields_stand_between_texts() {
    let layout = r#"{"parts": ["<", {"as": "int", "bits": 32, "none": "-"}, "|", {"as": "json"}, ">"], "none": "?", "end": "."}"#;
    let rows = [[Value::Int(1), Value::Text("a\"\u{1f}\u{1f600}")], [Value::None, Value::Text("")]];
    let rows = [Value::Tuple(&rows[0]), Value::None, Value::Tuple(&rows[1])];
    assert_eq!(written(layout, &rows), ("<1|\"a\\\"\\u001f\u{1f600}\">.?.<-|\"\">.".into(), Written { end: 3, doubtful: false }));
}

#[test]
fn a_record_in_doubt_leaves_nothing() {
    let layout = r#"{"parts": ["", {"as": "int", "bits": 8}, ",", {"as": "int", "bits": 8}, ";"]}"#;
    let rows = [[Value::Int(127), Value::Int(-128)], [Value::Int(1), Value::Int(128)]];
    let (text, done) = written(layout, &[Value::Tuple(&rows[0]), Value::Tuple(&rows[1])]);
    assert_eq!((text.as_str(), done), ("127,-128;", Written { end: 1, doubtful: true }));
    let (text, done) = written(r#"{"as": "int", "bits": 64}"#, &[Value::Text("a")]);
    assert_eq!((text.as_str(), done), ("", Written { end: 0, doubtful: true }));
}

#[test]
fn floats_are_those_of_java() {
    for (number, text) in [
        (0.001, "0.001"),
        (0.000_999_9, "9.999E-4"),
        (9_999_999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-0.0, "-0.0"),
        (123.25, "123.25"),
        (1.5e300, "1.5E300"),
        (5e-324, "4.9E-324"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        let shortest = text.replace("4.9E-324", "5.0E-324");
        assert_eq!(written(r#"{"as": "java"}"#, &[Value::Float(number)]).0, shortest);
    }
    assert_eq!(written(r#"{"as": "java_json"}"#, &[Value::Float(f64::NAN)]).0, "\"NaN\"");
    assert_eq!(written(r#"{"as": "python_json"}"#, &[Value::Float(1e16)]).0, "1e+16");
    assert_eq!(written(r#"{"as": "java"}"#, &[Value::Int(3)]).0, "3.0");
}

#[test]
fn texts_of_csv_stand_in_quotes_where_they_need_them() {
    let layout = r##"{"as": "csv", "quote": "\"", "escape": "", "special": ",\"\n\\", "first": "#", "longest": 5}"##;
    for (text, expected) in
        [("a", "a"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("#a", "\"#a\""), ("éééé", "éééé"), ("abcdef", "\"abcdef\"")]
    {
        assert_eq!(written(layout, &[Value::Text(text)]).0, expected);
    }
}

#[test]
fn writing_ends_where_there_is_no_room() {
    let column = Column::ints(vec![10, 11, 12]);
    let (layout, mut out, mut ends) = (Layout::parse(r#"{"as": "int", "bits": 64}"#).expect("the layout is one"), Vec::new(), Vec::new());
    let done = layout.write(&column, 0, 3, Some(3), &mut out, |end| ends.push(end));
    assert_eq!((done, ends), (Written { end: 2, doubtful: false }, vec![2, 4]));
}
