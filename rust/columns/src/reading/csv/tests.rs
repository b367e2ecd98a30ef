use bumpalo::Bump;
use proptest::prelude::*;

use super::*;
use crate::value::Value;

const FORM: &str = r#"{"separator": ",", "quote": "\"", "escape": "", "null": null, "names": ["id", "name"],
    "fields": [{"as": "int", "bits": 32}, {"as": "text"}]}"#;

fn shown(column: &Column) -> Vec<String> {
    let arena = Bump::new();
    let fields = |row| match column.get(row, &arena) {
        Value::Row(_, fields) => format!("{fields:?}"),
        other => format!("{other:?}"),
    };
    (0..column.len()).map(fields).collect()
}

/// The rows of a file whose bytes come in pieces, and why there are no more.
fn rows(form: &str, pieces: &[&[u8]]) -> (Vec<String>, Stop) {
    let (mut reader, mut all) = (CsvRows::parse(form).expect("it says what rows are"), Vec::new());
    for piece in pieces.iter().copied().chain([&[][..]]) {
        if piece.is_empty() && all.len() > 1_000 {
            break;
        }
        if !reader.add(piece) {
            return (all, Stop::Broken);
        }
        let (column, stop) = reader.read(1_000);
        all.extend(shown(&column));
        if stop != Stop::Data {
            return (all, stop);
        }
    }
    (all, Stop::Data)
}

#[test]
fn rows_are_read() {
    let text = "\u{feff}1,a\r\n 2 ,\"b,\"\"c\"\r\n\"3\",\"x\ny\"  \n+4,";
    let expected = [r#"[Int(1), Text("a")]"#, r#"[Int(2), Text("b,\"c")]"#, r#"[Int(3), Text("x\ny")]"#, r#"[Int(4), Text("")]"#];
    assert_eq!(rows(FORM, &[text.as_bytes()]), (expected.map(String::from).to_vec(), Stop::Data));
}

#[test]
fn what_python_decides_is_left_to_it() {
    for text in ["x,a", "2147483648,a", ",a", "1.0,a", "١,a"] {
        assert_eq!(rows(FORM, &[b"1,a\n", text.as_bytes()]).1, Stop::Doubt, "{text}");
    }
    for text in ["1,\"a", "1,\"a\"b", "1,a,b", "1"] {
        assert_eq!(rows(FORM, &[text.as_bytes()]).1, Stop::Broken, "{text}");
    }
    assert_eq!(rows(FORM, &[b"1,\xc3"]).1, Stop::Broken);
    assert_eq!(rows(FORM, &[b"1,a\n\xff"]), (vec![], Stop::Broken));
}

#[test]
fn a_row_in_doubt_has_texts() {
    let mut reader = CsvRows::parse(FORM).expect("it says what rows are");
    assert!(reader.add(b"1,a\nx,\"b\"\n3,c") && reader.add(b""));
    assert_eq!(reader.read(9).1, Stop::Doubt);
    assert_eq!(reader.texts(1), (vec![vec!["x".to_owned(), "b".to_owned()]], Stop::Full));
    assert_eq!(reader.read(9).1, Stop::Data);
    assert_eq!(reader.waiting(), 0);
}

proptest! {
    #[test]
    fn bytes_may_come_in_any_pieces(text in "[0-9a\",\r\n#é\\\\ ]{0,40}", cuts in prop::collection::vec(0..60usize, 0..4)) {
        let escaping = FORM.replace(r#""escape": """#, r#""escape": "\\", "comments": true, "rest": true"#);
        for form in [FORM, &escaping] {
            let whole = rows(form, &[text.as_bytes()]);
            let mut places: Vec<usize> = cuts.iter().map(|&cut| cut.min(text.len())).chain([0, text.len()]).collect();
            places.sort_unstable();
            let pieces = places.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).filter(|piece| !piece.is_empty());
            prop_assert_eq!(rows(form, &pieces.collect::<Vec<_>>()), whole);
        }
    }
}
