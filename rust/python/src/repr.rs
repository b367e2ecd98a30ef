//! Texts for `__repr__`.

/// A text for a repr: long names are cut.
pub fn clipped(text: &str) -> String {
    match text.char_indices().nth(200) {
        None => text.into(),
        Some((cut, _)) => format!("{}... ({} characters)", &text[..cut], text.chars().count()),
    }
}
