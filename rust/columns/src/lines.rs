//! The lines of text files.

use crate::column::{Column, Data, Strings};

/// The lines of some bytes that begin with one, without their ends, which are `\n` or `\r\n`. `None` where the bytes are not
/// UTF-8, or too many. O(bytes).
pub fn lines(data: &[u8]) -> Option<Column> {
    if data.is_empty() {
        return Some(Column::none(0));
    }
    let mut ends: Vec<usize> = memchr::memchr_iter(b'\n', data).collect();
    if data.last() != Some(&b'\n') {
        ends.push(data.len());
    }
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    let parts = starts.zip(&ends).map(|(start, &end)| data[start..end].strip_suffix(b"\r").unwrap_or(&data[start..end]));
    Column::new(Data::Texts(Strings::of(parts)?), None, ends.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;
    use proptest::prelude::*;

    fn texts(data: &[u8]) -> Option<Vec<String>> {
        let (column, arena) = (lines(data)?, Bump::new());
        Some((0..column.len()).map(|row| format!("{:?}", column.get(row, &arena))).collect())
    }

    #[test]
    fn ends_are_left_out() {
        assert_eq!(texts(b"a\r\n\nb\n"), Some(vec![r#"Text("a")"#.into(), r#"Text("")"#.into(), r#"Text("b")"#.into()]));
        assert_eq!(texts(b"a\nb\r"), Some(vec![r#"Text("a")"#.into(), r#"Text("b")"#.into()]));
        assert_eq!(texts(b"\n"), Some(vec![r#"Text("")"#.into()]));
        assert_eq!(texts(b""), Some(vec![]));
        assert_eq!(texts(b"\xff\n"), None);
        assert_eq!(texts(b"\xc3\n\xa9\n"), None);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(parts in prop::collection::vec("[a-zé ]{0,5}", 1..9)) {
            let data = parts.iter().map(|part| format!("{part}\n")).collect::<String>();
            let expected: Vec<String> = parts.iter().map(|part| format!("Text({part:?})")).collect();
            prop_assert_eq!(texts(data.as_bytes()), Some(expected));
        }
    }
}
