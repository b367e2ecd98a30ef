//! Messages as records: texts, and rows in JSON or Avro, of types that say what the fields are.
//!
//! ```text
//! {"format": "json", "names": ["id", "name"], "fields": [{"as": "int", "bits": 32}, {"as": "text"}]}
//! ```

mod avro;
mod json;
mod parse;

use bumpalo::Bump;

use crate::column::{Builder, Column};
use crate::value::{Doubt, Shape, Value};

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
    /// Objects of JSON; `strict` is whether all fields must be there.
    Json { row: Row, strict: bool },
    /// Records of Avro without a header.
    Avro(Row),
}

/// The fields of a record.
#[derive(Clone, Debug)]
struct Row {
    shape: Shape,
    fields: Box<[Field]>,
}

#[derive(Clone, Debug)]
struct Field {
    kind: Kind,
    /// Of Avro: the branch of a union that is null, if the field is a union of two.
    null: Option<u8>,
}

/// What a field holds. Whole numbers have a size in bits.
#[derive(Clone, Debug)]
enum Kind {
    Int(u32),
    Double,
    Bool,
    Text,
    Row(Row),
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

    fn record<'a>(&'a self, message: &'a [u8], arena: &'a Bump) -> Result<Value<'a>, Doubt> {
        match &self.format {
            Format::Text => std::str::from_utf8(message).map(Value::Text).map_err(|_| Doubt),
            Format::Plain => Ok(Value::Bytes(message)),
            Format::Json { row, strict } => json::record(message, row, *strict, arena),
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
