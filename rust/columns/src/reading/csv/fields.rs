//! The fields of a row of CSV: where each is, without quotes and escapes.

use memchr::{memchr, memchr2};

use super::Stop;
use crate::scan::places;

/// Finds the fields of a row, and keeps them until the next one.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    pub separator: u8,
    pub quote: Option<u8>,
    pub escape: Option<u8>,
    spans: Vec<Span>,
    /// The fields that are not in the file as they are, one behind the other.
    changed: Vec<u8>,
}

/// Where a field is: in the file, or among those that were changed.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    changed: bool,
}

impl Fields {
    pub fn new(separator: u8, quote: Option<u8>, escape: Option<u8>) -> Self {
        Self { separator, quote, escape, spans: Vec::new(), changed: Vec::new() }
    }

    /// How many the row has.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// The text of a field of the row.
    pub fn get<'a>(&'a self, data: &'a [u8], index: usize) -> &'a str {
        let Span { start, end, changed } = self.spans[index];
        let bytes = if changed { &self.changed[start..end] } else { &data[start..end] };
        // SAFETY: the data are UTF-8, and are cut at bytes of ASCII only
        unsafe { std::str::from_utf8_unchecked(bytes) }
    }

    /// Finds the fields of the row that begins at a place of data in UTF-8, and where the next one begins. `ended` is whether
    /// nothing comes behind the data.
    pub fn find(&mut self, data: &[u8], at: usize, ended: bool) -> Result<usize, Stop> {
        self.spans.clear();
        self.changed.clear();
        let (end, next) = line(data, at, ended)?;
        let row = &data[at..end];
        if self.is_plain(row) {
            let mut start = at;
            places(self.separator, row, |place| {
                self.spans.push(Span { start, end: at + place, changed: false });
                start = at + place + 1;
            });
            self.spans.push(Span { start, end, changed: false });
            return Ok(next);
        }
        self.find_special(data, at, ended)
    }

    /// Whether a line has neither quotes nor escapes.
    fn is_plain(&self, row: &[u8]) -> bool {
        match (self.quote, self.escape) {
            (None, None) => true,
            (Some(byte), None) | (None, Some(byte)) => memchr(byte, row).is_none(),
            (Some(quote), Some(escape)) => memchr2(quote, escape, row).is_none(),
        }
    }

    fn find_special(&mut self, data: &[u8], mut at: usize, ended: bool) -> Result<usize, Stop> {
        loop {
            let quoted = self.quote.is_some() && data.get(at).copied() == self.quote;
            at = if quoted { self.quoted(data, at + 1, ended)? } else { self.bare(data, at, ended)? };
            match data.get(at) {
                Some(&byte) if byte == self.separator => at += 1,
                None if !ended => return Err(Stop::Data),
                _ => return Ok(line(data, at, ended)?.1),
            }
        }
    }

    /// A field behind its opening quote; the place behind it, where a separator or a line end is, or nothing.
    fn quoted(&mut self, data: &[u8], start: usize, ended: bool) -> Result<usize, Stop> {
        let missing = if ended { Stop::Broken } else { Stop::Data };
        let (quote, kept) = (self.quote.unwrap_or_default(), self.changed.len());
        let (mut from, mut at) = (start, start);
        loop {
            let rest = data.get(at..).unwrap_or_default();
            let place = memchr2(quote, self.escape.unwrap_or(quote), rest).ok_or(missing)?;
            let here = at + place;
            if Some(data[here]) == self.escape {
                from = self.unescape(data, from, here, missing)?;
                at = from;
                continue;
            }
            match data.get(here + 1) {
                None if !ended => return Err(Stop::Data),
                Some(&byte) if byte == quote => {
                    self.changed.extend_from_slice(&data[from..=here]);
                    (from, at) = (here + 2, here + 2);
                }
                _ => {
                    self.keep(data, start, from, here, kept);
                    return self.behind(data, here + 1);
                }
            }
        }
    }

    /// A field without quotes; the place behind it.
    fn bare(&mut self, data: &[u8], start: usize, ended: bool) -> Result<usize, Stop> {
        let missing = if ended { Stop::Broken } else { Stop::Data };
        let (mut from, mut at, kept) = (start, start, self.changed.len());
        loop {
            let ends = |&byte: &u8| byte == self.separator || byte == b'\n' || byte == b'\r' || Some(byte) == self.escape;
            let rest = data.get(at..).unwrap_or_default();
            let here = at + rest.iter().position(ends).unwrap_or(rest.len());
            if here < data.len() && Some(data[here]) == self.escape {
                from = self.unescape(data, from, here, missing)?;
                at = from;
                continue;
            }
            self.keep(data, start, from, here, kept);
            return Ok(here);
        }
    }

    /// Keeps what is before an escape character and the one behind it; the place behind both.
    fn unescape(&mut self, data: &[u8], from: usize, here: usize, missing: Stop) -> Result<usize, Stop> {
        let byte = *data.get(here + 1).ok_or(missing)?;
        self.changed.extend_from_slice(&data[from..here]);
        let meant = match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'0' => 0,
            other => other,
        };
        self.changed.push(meant); // the first byte of a longer character; the others follow as they are
        Ok(here + 2)
    }

    /// Takes a field that ends at a place; what is before `from` has been kept if it was changed.
    fn keep(&mut self, data: &[u8], start: usize, from: usize, end: usize, kept: usize) {
        if from == start {
            self.spans.push(Span { start, end, changed: false });
        } else {
            self.changed.extend_from_slice(&data[from..end]);
            self.spans.push(Span { start: kept, end: self.changed.len(), changed: true });
        }
    }

    /// The place of the separator, or the end, behind a closing quote and blanks.
    fn behind(&self, data: &[u8], at: usize) -> Result<usize, Stop> {
        let blank = |&byte: &u8| (byte == b' ' || byte == b'\t') && byte != self.separator;
        let end = at + data[at..].iter().take_while(|byte| blank(byte)).count();
        match data.get(end) {
            Some(&byte) if byte != b'\r' && byte != b'\n' && byte != self.separator => Err(Stop::Broken),
            _ => Ok(end),
        }
    }
}

/// Where the line ends that begins at a place, and where the next one begins. Lines end at `\n`, `\r\n` and `\r`.
pub(super) fn line(data: &[u8], at: usize, ended: bool) -> Result<(usize, usize), Stop> {
    let rest = &data[at..];
    let end = match memchr2(b'\n', b'\r', rest) {
        Some(place) => at + place,
        None if ended => return Ok((data.len(), data.len())),
        None => return Err(Stop::Data),
    };
    if data[end] == b'\n' {
        return Ok((end, end + 1));
    }
    match data.get(end + 1) {
        None if !ended => Err(Stop::Data),
        Some(b'\n') => Ok((end, end + 2)),
        _ => Ok((end, end + 1)),
    }
}
