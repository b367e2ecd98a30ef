//! What is known of characters without regard to the version of Unicode.

/// Python's whitespace, the same in all versions.
pub fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r' | '\x1c'..='\x1f' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
            | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// What ends a line of a text; a carriage return and a line feed are one end.
pub fn is_line_end(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Letters whose upper and lower case are the same in all versions.
pub fn has_known_case(c: char) -> bool {
    c.is_ascii() || is_cased_script(c) || is_without_case(c)
}

/// Latin-1, Latin Extended-A, Greek and Cyrillic. The sigma's lower case depends on what is around it.
fn is_cased_script(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{17f}' | '\u{370}'..='\u{3a2}' | '\u{3a4}'..='\u{4ff}')
}

/// Scripts and symbols that have one case.
fn is_without_case(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{fff}' | '\u{2000}'..='\u{20cf}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2bff}'
            | '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{1f000}'..='\u{1faff}'
            | '\u{20000}'..='\u{2ffff}'
    )
}

/// Whether `repr` shows a character as it is; none where that depends on the version of Unicode.
pub fn is_printable(c: char) -> Option<bool> {
    match c {
        ' '..='~' => Some(true),
        '\u{0}'..='\u{a0}' | '\u{ad}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{3000}' | '\u{e000}'..='\u{f8ff}' => {
            Some(false)
        }
        '\u{a1}'..='\u{377}' | '\u{3a3}'..='\u{52f}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' => Some(true),
        '\u{20a0}'..='\u{20bf}' | '\u{2190}'..='\u{2426}' | '\u{2500}'..='\u{2b73}' | '\u{3001}'..='\u{303f}' => Some(true),
        '\u{3041}'..='\u{3096}' | '\u{309b}'..='\u{30ff}' | '\u{4e00}'..='\u{9fef}' | '\u{ac00}'..='\u{d7a3}' => Some(true),
        '\u{5d0}'..='\u{5ea}' | '\u{61e}'..='\u{6dc}' | '\u{1f300}'..='\u{1f5ff}' | '\u{1f600}'..='\u{1f64f}' => Some(true),
        _ => None,
    }
}
