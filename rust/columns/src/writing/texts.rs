//! Texts in quotes.

use crate::value::Doubt;

/// When a text stands in quotes, and what becomes of characters in it.
#[derive(Clone, Debug)]
pub enum Quoting {
    /// Always, as in JSON; `upper` is whether hexadecimal digits are capitals, `pairs` whether characters beyond 16 bits are
    /// two escapes.
    Json { upper: bool, pairs: bool },
    /// As in CSV: where a text is long, has a byte that is special, or begins with one.
    Csv(Csv),
    /// Never: a text with such a byte is doubtful.
    Bare(Box<[bool; 256]>),
}

/// The characters of CSV, all of them ASCII.
#[derive(Clone, Debug)]
pub struct Csv {
    pub quote: u8,
    pub escape: Option<u8>,
    pub special: Box<[bool; 256]>,
    pub first: Option<u8>,
    /// The units of UTF-16 that a text without quotes may have.
    pub longest: usize,
}

impl Quoting {
    /// Writes a text.
    pub fn write(&self, out: &mut Vec<u8>, text: &str) -> Result<(), Doubt> {
        match self {
            Self::Json { upper, pairs } => write_json(out, text, *upper, *pairs),
            Self::Csv(csv) => csv.write(out, text),
            Self::Bare(special) if text.bytes().any(|byte| special[byte as usize]) => return Err(Doubt),
            Self::Bare(_) => out.extend_from_slice(text.as_bytes()),
        }
        Ok(())
    }
}

impl Csv {
    fn write(&self, out: &mut Vec<u8>, text: &str) {
        let short = text.len() <= self.longest || text.chars().map(char::len_utf16).sum::<usize>() <= self.longest;
        let begins = self.first.is_some_and(|first| text.as_bytes().first() == Some(&first));
        if short && !begins && !text.bytes().any(|byte| self.special[byte as usize]) {
            out.extend_from_slice(text.as_bytes());
            return;
        }
        out.push(self.quote);
        for byte in text.bytes() {
            if byte == self.quote || Some(byte) == self.escape {
                out.push(byte);
            }
            out.push(byte);
        }
        out.push(self.quote);
    }
}

fn write_json(out: &mut Vec<u8>, text: &str, upper: bool, pairs: bool) {
    out.push(b'"');
    let (bytes, mut from) = (text.as_bytes(), 0);
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\' || (pairs && byte >= 0xf0);
    while let Some(at) = bytes[from..].iter().position(|&byte| special(byte)) {
        let at = from + at;
        out.extend_from_slice(&bytes[from..at]);
        from = at + escape(out, text, at, if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" });
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// Writes a character as an escape; the result is how many bytes it has.
fn escape(out: &mut Vec<u8>, text: &str, at: usize, digits: &[u8; 16]) -> usize {
    let short = match text.as_bytes()[at] {
        byte @ (b'"' | b'\\') => byte,
        8 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        12 => b'f',
        b'\r' => b'r',
        _ => {
            let c = text[at..].chars().next().unwrap_or_default();
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(b"\\u");
                out.extend([12, 8, 4, 0].map(|shift| digits[usize::from(*unit >> shift & 15)]));
            }
            return c.len_utf8();
        }
    };
    out.extend([b'\\', short]);
    1
}
