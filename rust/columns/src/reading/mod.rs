//! Messages and files as records: texts, and rows in JSON, Avro or CSV, of types that say what the fields are.
//!
//! ```text
//! {"format": "json", "names": ["id", "name"], "fields": [{"as": "int", "bits": 32}, {"as": "text"}]}
//! ```

mod avro;
mod csv;
mod json;
mod parse;

use bumpalo::Bump;
use memchr::memchr;

use crate::column::{Builder, Column};
use crate::python::Wanted;
use crate::value::{Doubt, Shape, Unit, Value};

pub use self::csv::{CsvRows, Stop};
pub use crate::json::Malformed;

/// How messages are read.
#[derive(Clone, Debug)]
pub struct Reading {
    format: Format,
}

#[derive(Clone, Debug)]
enum Format {
    /// Texts in UTF-8.
    Text,
    /// Bytes.
    Plain,
    /// Objects of JSON.
    Json(Row, Wanted, json::Rules),
    /// Records of Avro without a header.
    Avro(Row),
}

/// The fields of a record.
#[derive(Clone, Debug)]
struct Row {
    shape: Shape,
    fields: Box<[Field]>,
    /// How many fields are not skipped.
    kept: usize,
    /// Whether it is a tuple, which does not have the names.
    tuple: bool,
}

impl Row {
    fn of<'a>(&'a self, values: &'a [Value<'a>]) -> Value<'a> {
        if self.tuple { Value::Tuple(values) } else { Value::Row(&self.shape, values) }
    }
}

#[derive(Clone, Debug)]
struct Field {
    kind: Kind,
    /// Of Avro: the branch of a union that is null, if the field is a union of two.
    null: Option<u8>,
    /// Of JSON: whether it cannot be None.
    needed: bool,
    /// Of Avro: whether the row does not have it.
    skipped: bool,
}

/// What a field holds. Whole numbers have a size in bits.
#[derive(Clone, Debug)]
enum Kind {
    Int(u32),
    Double,
    /// A float of 32 bits.
    Single,
    Bool,
    Text,
    Bytes,
    /// A text that stands for a date or time, and whether it has a `Z`.
    Moment(Unit, bool),
    Row(Row),
    /// A list of what is like a field.
    List(Box<Field>),
}

impl Reading {
    /// Reads what JSON says of messages.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        parse::reading(text)
    }

    /// The records of messages, each of them there or not, until one is doubtful; and how many have been read.
    pub fn read<'a>(&self, messages: impl Iterator<Item = Option<&'a [u8]>>) -> (Column, usize) {
        let (mut builder, mut arena) = (Builder::new(), Bump::new());
        for message in messages {
            let record = message.ok_or(Doubt).and_then(|message| self.record(message, &arena));
            if record.is_err() || record.is_ok_and(|record| builder.push(record).is_err()) {
                break;
            }
            arena.reset();
        }
        let count = builder.len();
        (builder.finish(), count)
    }

    /// The records of lines in some bytes, from a place on, until one is doubtful; lines of whitespace have none. How many lines
    /// have been read, and where the next one begins.
    pub fn lines(&self, data: &[u8], start: usize) -> (Column, usize, usize) {
        let (mut builder, mut arena) = (Builder::new(), Bump::new());
        let (mut at, mut count) = (start, 0);
        while at < data.len() {
            let end = memchr(b'\n', &data[at..]).map_or(data.len(), |place| at + place);
            let line = &data[at..end];
            if !line.iter().all(u8::is_ascii_whitespace) {
                let record = self.record(line, &arena);
                if record.is_err() || record.is_ok_and(|record| builder.push(record).is_err()) {
                    break;
                }
                arena.reset();
            }
            (at, count) = ((end + 1).min(data.len()), count + 1);
        }
        (builder.finish(), count, at)
    }

    /// The records of blocks of Avro, of each with their number; `None` where one is doubtful, or a block has more.
    pub fn blocks<'a>(&self, blocks: impl Iterator<Item = (&'a [u8], usize)>) -> Option<Column> {
        let Format::Avro(row) = &self.format else { return None };
        let (mut builder, mut arena) = (Builder::new(), Bump::new());
        for (block, count) in blocks {
            let mut at = 0;
            for _ in 0..count {
                let mut rest = &block[at..];
                builder.push(avro::next(&mut rest, row, &arena).ok()?).ok()?;
                at = block.len() - rest.len();
                arena.reset();
            }
            if at < block.len() {
                return None;
            }
        }
        Some(builder.finish())
    }

    fn record<'a>(&'a self, message: &'a [u8], arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        match &self.format {
            Format::Text => std::str::from_utf8(message).map(Value::Text).map_err(|_| Doubt),
            Format::Plain => Ok(Value::Bytes(message)),
            Format::Json(row, wanted, rules) => json::record(message, (row, wanted), *rules, arena),
            Format::Avro(row) => avro::record(message, row, arena),
        }
    }
}

/// Whether a whole number has so many bits.
fn within(number: i64, bits: u32) -> bool {
    (i64::MIN >> (64 - bits)..=i64::MAX >> (64 - bits)).contains(&number)
}

#[cfg(test)]
mod tests;
