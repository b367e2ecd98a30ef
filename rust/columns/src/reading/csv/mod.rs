//! Rows of CSV: the same as `penstock.connectors.formats.csv` reads them.
//!
//! ```text
//! {"separator": ",", "quote": "\"", "escape": "", "null": null, "comments": false, "rest": false, "header": true,
//!  "strict": false, "skip": false, "names": ["id", "name"], "fields": [{"as": "int", "bits": 32}, {"as": "text"}]}
//! ```

mod fields;
mod values;

use std::sync::Arc;

use serde_json::Value as Json;

use self::fields::{Fields, line};
use self::values::value;
use super::parse::row;
use super::{Kind, Malformed};
use crate::column::{Builder, Column, DEPTH, Data};
use crate::json::{malformed, parse, text};
use crate::python::is_space;
use crate::value::{Doubt, Shape};

/// Python decodes a file by so many bytes, and refuses all of these where one is not UTF-8.
const AHEAD: usize = 8_192;
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Why reading has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// As many rows as were wanted have been read.
    Full,
    /// There are no more bytes.
    Data,
    /// A value of the next row is doubtful; its texts are not.
    Doubt,
    /// Python reads the next row, and those behind it.
    Broken,
}

/// Reads the rows of a file, whose bytes are added as they are read.
#[derive(Clone, Debug)]
pub struct CsvRows {
    form: Form,
    fields: Fields,
    data: Vec<u8>,
    /// Where the next row begins.
    at: usize,
    /// How many bytes are UTF-8 for sure.
    known: usize,
    begun: bool,
    ended: bool,
}

#[derive(Clone, Debug)]
struct Form {
    shape: Arc<Shape>,
    kinds: Box<[Kind]>,
    null: Option<Box<str>>,
    comments: bool,
    /// Whether rows may have more fields.
    rest: bool,
    /// Whether the header is the next row.
    header: bool,
    /// Whether its names must be those of the columns.
    strict: bool,
    /// Whether the next row behind the header is passed over.
    skip: bool,
}

impl CsvRows {
    /// Reads what JSON says of a file.
    pub fn parse(of: &str) -> Result<Self, Malformed> {
        let json = parse(of)?;
        let of_columns = row(&json, DEPTH)?;
        let kinds: Box<[Kind]> = of_columns.fields.into_iter().map(|field| field.kind).collect();
        if kinds.iter().any(|kind| matches!(kind, Kind::Bytes | Kind::Row(_) | Kind::List(_))) {
            return Err(malformed("a column of CSV has neither bytes nor rows nor lists"));
        }
        let null = if json["null"].is_null() { None } else { Some(text(&json["null"])?.into()) };
        let is = |name: &str| json[name] == true;
        let form = Form {
            shape: Arc::new(of_columns.shape),
            kinds,
            null,
            comments: is("comments"),
            rest: is("rest"),
            header: is("header"),
            strict: is("strict"),
            skip: is("skip"),
        };
        Ok(Self { form, fields: characters(&json)?, data: Vec::new(), at: 0, known: 0, begun: false, ended: false })
    }

    /// Adds bytes of the file; none at its end. Returns whether all bytes so far are UTF-8. O(bytes, and those that wait).
    pub fn add(&mut self, bytes: &[u8]) -> bool {
        self.data.drain(..self.at);
        self.known -= self.at;
        self.at = 0;
        self.data.extend_from_slice(bytes);
        self.ended = bytes.is_empty();
        let unknown = std::str::from_utf8(&self.data[self.known..]);
        let valid = unknown.map_or_else(|error| error.valid_up_to(), str::len);
        let is_text = unknown.map_or_else(|error| error.error_len().is_none() && !self.ended, |_| true);
        self.known += valid;
        if !self.begun && (self.known >= MARK.len() || self.ended) {
            self.begun = true;
            self.at = if self.data.starts_with(MARK) { MARK.len() } else { 0 };
        }
        is_text
    }

    /// How many bytes wait to be read.
    pub fn waiting(&self) -> usize {
        self.data.len() - self.at
    }

    /// Reads rows, up to so many.
    pub fn read(&mut self, most: usize) -> (Column, Stop) {
        let mut columns: Vec<Builder> = self.form.kinds.iter().map(|_| Builder::new()).collect();
        let (count, stop) = self.each(most, |rows| rows.push(&mut columns));
        columns.iter_mut().for_each(|column| column.truncate(count));
        let columns = columns.into_iter().map(Builder::finish).collect();
        let records = Column::new(Data::Rows(self.form.shape.clone(), columns), None, count);
        (records.unwrap_or_else(|| Column::none(0)), stop)
    }

    /// Reads rows as texts.
    pub fn texts(&mut self, most: usize) -> (Vec<Vec<String>>, Stop) {
        let mut rows = Vec::new();
        let (_, stop) = self.each(most, |of| {
            of.check_width()?;
            rows.push((0..of.fields.len()).map(|index| of.fields.get(&of.data, index).to_owned()).collect());
            Ok(())
        });
        (rows, stop)
    }

    /// Passes over rows; how many.
    pub fn skip(&mut self, most: usize) -> (usize, Stop) {
        self.each(most, |_| Ok(()))
    }

    /// Finds rows one after the other, until one is not taken.
    fn each(&mut self, most: usize, mut take: impl FnMut(&Self) -> Result<(), Stop>) -> (usize, Stop) {
        for count in 0..most {
            let next = self.begin().and_then(|()| self.find()).and_then(|next| take(self).map(|()| next));
            match next {
                Ok(next) => self.at = next,
                Err(stop) => return (count, stop),
            }
        }
        (most, Stop::Full)
    }

    /// Passes over what is before the rows.
    fn begin(&mut self) -> Result<(), Stop> {
        if self.form.header {
            let next = self.find()?;
            if self.form.strict && !self.names_columns() {
                return Err(Stop::Broken);
            }
            (self.at, self.form.header) = (next, false);
        }
        if self.form.skip {
            (self.at, self.form.skip) = (self.find()?, false);
        }
        Ok(())
    }

    /// Whether the fields of the row are the names of the columns.
    fn names_columns(&self) -> bool {
        let names = self.form.shape.names.as_deref().unwrap_or_default();
        self.check_width().is_ok() && (0..names.len()).all(|index| *self.fields.get(&self.data, index) == *names[index])
    }

    /// Finds the fields of the next row; where the one behind it begins.
    fn find(&mut self) -> Result<usize, Stop> {
        if !self.begun {
            return Err(Stop::Data);
        }
        while self.form.comments && self.at < self.known {
            let data = &self.data[..self.known];
            let (end, next) = line(data, self.at, self.ended)?;
            let text = std::str::from_utf8(&data[self.at..end]).unwrap_or_default();
            if !text.trim_start_matches(is_space).starts_with('#') {
                break;
            }
            self.at = next;
        }
        if self.at == self.known {
            return Err(Stop::Data);
        }
        let next = self.fields.find(&self.data[..self.known], self.at, self.ended)?;
        if self.ended || next + AHEAD <= self.known { Ok(next) } else { Err(Stop::Data) }
    }

    fn check_width(&self) -> Result<(), Stop> {
        let (width, wanted) = (self.fields.len(), self.form.kinds.len());
        if width == wanted || (width > wanted && self.form.rest) { Ok(()) } else { Err(Stop::Broken) }
    }

    /// Adds the values of the row.
    #[inline]
    fn push(&self, columns: &mut [Builder]) -> Result<(), Stop> {
        self.check_width()?;
        for (index, (column, kind)) in columns.iter_mut().zip(&self.form.kinds).enumerate() {
            let text = self.fields.get(&self.data, index);
            let value = value(text, kind, self.form.null.as_deref()).map_err(|Doubt| Stop::Doubt)?;
            column.push(value).map_err(|_| Stop::Doubt)?;
        }
        Ok(())
    }
}

/// The characters between fields.
fn characters(json: &Json) -> Result<Fields, Malformed> {
    let of = |name: &str| match text(&json[name])?.as_bytes() {
        [] => Ok(None),
        [byte @ (b'\t' | b' '..=b'~')] => Ok(Some(*byte)),
        _ => Err(malformed(format!("the {name} is no single character of ASCII"))),
    };
    let (separator, quote, escape) = (of("separator")?, of("quote")?, of("escape")?);
    let separator = separator.ok_or_else(|| malformed("there is no separator"))?;
    if quote == Some(separator) || escape == Some(separator) || (quote.is_some() && quote == escape) {
        return Err(malformed("separator, quote and escape character are not different"));
    }
    Ok(Fields::new(separator, quote, escape))
}

#[cfg(test)]
mod tests;
