//! Parts of documents that nobody looks at: checked as far as Python would refuse them, and not made.

use super::read::Reader;
use crate::scan::plain;
use crate::value::Doubt;

/// Digits that a process cannot be told to refuse in whole numbers.
const MOST_DIGITS: usize = 640;

impl Reader<'_> {
    /// Goes behind a value. Recursive, to the depth.
    pub(super) fn pass(&mut self, depth: usize) -> Result<(), Doubt> {
        match self.peek().ok_or(Doubt)? {
            b'"' => self.pass_string(),
            b'{' => self.pass_all(depth.checked_sub(1).ok_or(Doubt)?, b'}'),
            b'[' => self.pass_all(depth.checked_sub(1).ok_or(Doubt)?, b']'),
            b'0'..=b'9' | b'-' => self.pass_number(),
            _ => self.constant().map(|_| ()),
        }
    }

    /// An object or an array, by its end.
    fn pass_all(&mut self, depth: usize, end: u8) -> Result<(), Doubt> {
        self.at += 1;
        if self.skip(end) {
            return Ok(());
        }
        loop {
            if end == b'}' {
                self.pass_key()?;
            }
            self.pass(depth)?;
            if !self.skip(b',') {
                return if self.skip(end) { Ok(()) } else { Err(Doubt) };
            }
        }
    }

    fn pass_key(&mut self) -> Result<(), Doubt> {
        if self.peek() != Some(b'"') {
            return Err(Doubt);
        }
        self.pass_string()?;
        if self.skip(b':') { Ok(()) } else { Err(Doubt) }
    }

    fn pass_number(&mut self) -> Result<(), Doubt> {
        let negative = self.byte() == Some(b'-');
        let start = self.at;
        self.at += usize::from(negative);
        let first = self.at;
        self.pass_digits();
        let digits = self.at - first;
        if digits == 0 {
            self.at = start;
            return self.constant().map(|_| ());
        }
        if digits > 1 && self.text.as_bytes()[first] == b'0' {
            return Err(Doubt);
        }
        let float = self.fraction()? | self.exponent()?;
        if float || digits <= MOST_DIGITS { Ok(()) } else { Err(Doubt) }
    }

    /// A text. Half of a pair of surrogates is one to Python, too.
    fn pass_string(&mut self) -> Result<(), Doubt> {
        self.at += 1;
        loop {
            self.at += plain(&self.text.as_bytes()[self.at..]);
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => self.pass_escape()?,
                _ => return Err(Doubt),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn pass_escape(&mut self) -> Result<(), Doubt> {
        self.at += 1;
        let letter = self.byte().ok_or(Doubt)?;
        self.at += 1;
        match letter {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => self.unit().map(|_| ()),
            _ => Err(Doubt),
        }
    }
}
