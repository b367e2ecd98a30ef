use super::*;

const JSON: &str = r#"{"format": "json", "names": ["id", "x"], "fields": [{"as": "int", "bits": 32}, {"as": "double"}]}"#;
const AVRO: &str = r#"{"format": "avro", "names": ["id", "name"], "fields": [{"as": "int", "bits": 64}, {"as": "text", "null": 0}]}"#;

fn records(reading: &str, messages: &[&[u8]]) -> (Vec<String>, usize) {
    let reading = Reading::parse(reading).expect("it says what messages are");
    let ((column, count), arena) = (reading.read(messages.iter().map(|message| Some(*message))), Bump::new());
    let fields = |row| match column.get(row, &arena) {
        Value::Row(_, fields) => format!("{fields:?}"),
        other => format!("{other:?}"),
    };
    ((0..column.len()).map(fields).collect(), count)
}

#[test]
fn objects_are_rows() {
    let messages: [&[u8]; 4] = [br#"{"id": 1, "x": 2}"#, br#" {"x": 1.5, "y": [1], "id": null}"#, b"{}", br#"{"id": 2147483648}"#];
    let expected = ["[Int(1), Float(2.0)]", "[None, Float(1.5)]", "[None, None]"].map(String::from);
    assert_eq!(records(JSON, &messages), (expected.to_vec(), 3));
}

#[test]
fn what_python_decides_is_in_doubt() {
    let messages: [&[u8]; 8] = [b"", b"null", b"[1]", br#"{"id": 1.0}"#, br#"{"id": true}"#, br#"{"y": NaN}"#, b"{} x", b"\xff"];
    for message in messages {
        assert_eq!(records(JSON, &[message]).1, 0, "{message:?}");
    }
    let strict = JSON.replacen('{', r#"{"strict": true, "#, 1);
    assert_eq!(records(&strict, &[br#"{"id": 1}"#]).1, 0);
}

#[test]
fn records_of_avro_are_rows() {
    let messages: [&[u8]; 5] =
        [b"\x02\x02\x06abc", b"\x01\x00", b"\x02\x02\x06ab", b"\x02\x04", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"];
    assert_eq!(records(AVRO, &messages[..3]).0, [r#"[Int(1), Text("abc")]"#, "[Int(-1), None]"]);
    assert_eq!(records(AVRO, &messages[3..]).1, 0);
    assert_eq!(records(AVRO, &messages[4..]).0, ["[Int(-9223372036854775808), None]"]);
}
