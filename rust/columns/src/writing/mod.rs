//! Records as texts or bytes: lines of files, and messages. A [`Layout`] says what stands around and between the fields of a
//! record, and how each of them is written; CSV, JSON and Avro are layouts.
//!
//! ```text
//! {"parts": ["{\"a\": ", {"as": "int", "bits": 32}, ", \"b\": ", {"as": "json"}, "}"], "end": "\n"}
//! ```

mod floats;
mod parse;
mod texts;

use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use bumpalo::Bump;

use crate::column::{Column, Data, Strings, text};
use crate::python::{file_text, shown, sql_text};
use crate::value::{Doubt, Unit};

pub use crate::json::Malformed;
use texts::Quoting;

/// How records are written.
#[derive(Clone, Debug)]
pub struct Layout {
    form: Form,
    /// What stands for None, which is doubtful without it.
    none: Option<Box<str>>,
    /// What stands before a value that is not None.
    before: Box<str>,
    /// What stands behind each record.
    end: Box<str>,
}

/// How values of a kind are written.
#[derive(Clone, Debug)]
enum Form {
    /// The text of a whole number within bounds.
    Int(i64, i64),
    /// The text of a float; with a whole number among floats.
    Float(Floats),
    /// `true` or `false`.
    Bool,
    /// A text as it is.
    Plain,
    /// Bytes as they are.
    Bytes,
    /// A text in quotes, where it needs them or always.
    Quoted(Box<Quoting>),
    /// What Java's classes for SQL show of a date or time.
    Sql,
    /// The text of a date or time of a kind in quotes; whether it has a `Z`.
    Moment(Unit, bool),
    /// What `str` makes of any value.
    Shown,
    /// Whole numbers, floats, truth values, texts and bytes of Avro.
    Avro(Avro),
    /// Items of a list, with a text before the first, between two, and behind the last.
    List { texts: Box<[Box<str>; 3]>, item: Box<Layout> },
    /// Those of an array of Avro.
    AvroList(Box<Layout>),
    /// Fields of a tuple or row, with a text before the first, behind the last, and between two.
    Record { texts: Box<[Box<str>]>, fields: Box<[Layout]>, names: Option<Box<[Box<str>]>> },
}

/// The texts of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Floats {
    /// Those of Java's `Double.toString`, also for whole numbers.
    Java,
    /// The same; what is not finite stands in quotes.
    JavaJson,
    /// Those of Python's `repr`, whole numbers as they are; what is not finite is Java's, in quotes.
    PythonJson,
}

/// Types of Avro; whole numbers have a size in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Avro {
    Int(u32),
    Double,
    Bool,
    Sized,
}

/// How far writing has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The place behind the last record that is written.
    pub end: usize,
    /// Whether the record there is doubtful.
    pub doubtful: bool,
}

impl Layout {
    /// Reads a layout out of JSON.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        parse::layout(text)
    }

    /// Writes the records from one to before another, until one is doubtful, or more bytes are written than there is room for.
    /// `ended` is called with the number of bytes behind each record.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn write(
        &self,
        records: &Column,
        start: usize,
        end: usize,
        room: Option<usize>,
        out: &mut Vec<u8>,
        mut ended: impl FnMut(usize),
    ) -> Written {
        assert!(start <= end && end <= records.len(), "records are within their column");
        let (fitted, room) = (self.fitted(records), room.unwrap_or(usize::MAX));
        for row in start..end {
            let before = out.len();
            if fitted.write(row, out).is_err() {
                out.truncate(before);
                return Written { end: row, doubtful: true };
            }
            out.extend_from_slice(self.end.as_bytes());
            ended(out.len());
            if out.len() > room {
                return Written { end: row + 1, doubtful: false };
            }
        }
        Written { end, doubtful: false }
    }

    /// The layout of the values of a column.
    fn fitted<'a>(&'a self, column: &'a Column) -> Fitted<'a> {
        let none = self.none.as_deref();
        let values = match (&self.form, column.data()) {
            (Form::Shown, _) => Values::Shown(column),
            (_, Data::None) => Values::Unfit,
            (Form::Int(least, most), Data::Ints(values)) => Values::Ints(values, *least, *most),
            (Form::Float(floats), Data::Floats(values)) => Values::Floats(values, *floats),
            (Form::Float(floats), Data::Ints(values)) => Values::WholeFloats(values, *floats),
            (Form::Bool, Data::Bools(values)) => Values::Bools(values),
            (Form::Plain, Data::Texts(values)) | (Form::Bytes, Data::Bytes(values)) => Values::Plain(values),
            (Form::Sql, Data::Moments(unit, values)) => Values::Sql(*unit, values),
            (Form::Moment(wanted, utc), Data::Moments(unit, values)) if wanted == unit => Values::Moments(*unit, values, *utc),
            (Form::Quoted(quoting), Data::Texts(values)) => Values::Quoted(values, quoting),
            (Form::Avro(Avro::Int(bits)), Data::Ints(values)) => Values::AvroInts(values, *bits),
            (Form::Avro(Avro::Double), Data::Floats(values)) => Values::AvroFloats(values),
            (Form::Avro(Avro::Bool), Data::Bools(values)) => Values::AvroBools(values),
            (Form::Avro(Avro::Sized), Data::Texts(values)) => Values::AvroSized(values),
            (Form::List { texts, item }, Data::Lists(offsets, items)) => Values::List(texts, offsets, Box::new(item.fitted(items))),
            (Form::AvroList(item), Data::Lists(offsets, items)) => Values::AvroList(offsets, Box::new(item.fitted(items))),
            (Form::Record { texts, fields, names }, data) if fits(data, fields.len(), names.as_deref()) => {
                let columns = column.fields().unwrap_or_default();
                Values::Record(texts, fields.iter().zip(columns).map(|(field, column)| field.fitted(column)).collect())
            }
            _ => Values::Unfit,
        };
        Fitted { values, before: &self.before, none, presence: column.presence(), absent: matches!(column.data(), Data::None) }
    }
}

/// Whether values are records of so many fields, whose names, if they have some and it matters, are these.
fn fits(data: &Data, count: usize, names: Option<&[Box<str>]>) -> bool {
    match data {
        Data::Tuples(columns) => columns.len() == count,
        Data::Rows(shape, columns) => {
            let alike = || shape.names.as_deref().is_none_or(|own| names.is_none_or(|names| own == names));
            shape.class == 0 && columns.len() == count && alike()
        }
        _ => false,
    }
}

/// A layout with the values that it is for.
struct Fitted<'a> {
    values: Values<'a>,
    before: &'a str,
    none: Option<&'a str>,
    presence: Option<&'a NullBuffer>,
    absent: bool,
}

enum Values<'a> {
    Ints(&'a [i64], i64, i64),
    Floats(&'a [f64], Floats),
    WholeFloats(&'a [i64], Floats),
    Bools(&'a BooleanBuffer),
    Plain(&'a Strings),
    Quoted(&'a Strings, &'a Quoting),
    Sql(Unit, &'a [i64]),
    Moments(Unit, &'a [i64], bool),
    Shown(&'a Column),
    AvroInts(&'a [i64], u32),
    AvroFloats(&'a [f64]),
    AvroBools(&'a BooleanBuffer),
    AvroSized(&'a Strings),
    List(&'a [Box<str>; 3], &'a OffsetBuffer<i32>, Box<Fitted<'a>>),
    AvroList(&'a OffsetBuffer<i32>, Box<Fitted<'a>>),
    Record(&'a [Box<str>], Vec<Fitted<'a>>),
    Unfit,
}

impl Fitted<'_> {
    /// Writes a value. Recursive, to the depth of the layout.
    fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Doubt> {
        if self.absent || self.presence.is_some_and(|presence| presence.is_null(row)) {
            out.extend_from_slice(self.none.ok_or(Doubt)?.as_bytes());
            return Ok(());
        }
        out.extend_from_slice(self.before.as_bytes());
        match &self.values {
            Values::Ints(values, least, most) if (*least..=*most).contains(&values[row]) => floats::write_int(out, values[row]),
            Values::Floats(values, floats) => floats::write(out, values[row], *floats),
            Values::WholeFloats(values, Floats::PythonJson) => floats::write_int(out, values[row]),
            Values::WholeFloats(values, floats) => floats::write(out, values[row] as f64, *floats),
            Values::Bools(values) => out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }),
            Values::Plain(values) => out.extend_from_slice(values.get(row)),
            Values::Quoted(values, quoting) => quoting.write(out, text(values, row))?,
            Values::Moments(unit, values, utc) => {
                out.push(b'"');
                out.extend_from_slice(file_text(&Bump::new(), unit.moment(values[row]), *utc)?.as_bytes());
                out.push(b'"');
            }
            Values::Sql(unit, values) => out.extend_from_slice(sql_text(&Bump::new(), unit.moment(values[row]))?.as_bytes()),
            Values::Shown(column) => {
                let arena = Bump::new();
                out.extend_from_slice(shown(&arena, column.get(row, &arena))?.as_bytes());
            }
            Values::AvroInts(values, bits) if *bits == 64 || i32::try_from(values[row]).is_ok() => zigzag(out, values[row]),
            Values::AvroFloats(values) => out.extend_from_slice(&values[row].to_le_bytes()),
            Values::AvroBools(values) => out.push(u8::from(values.value(row))),
            Values::AvroSized(values) => {
                zigzag(out, values.get(row).len() as i64);
                out.extend_from_slice(values.get(row));
            }
            Values::List(..) | Values::AvroList(..) | Values::Record(..) => self.write_parts(row, out)?,
            Values::Ints(..) | Values::AvroInts(..) | Values::Unfit => return Err(Doubt),
        }
        Ok(())
    }

    /// Writes what is in a value.
    fn write_parts(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Doubt> {
        match &self.values {
            Values::List([before, between, behind], offsets, item) => {
                out.extend_from_slice(before.as_bytes());
                for at in offsets[row]..offsets[row + 1] {
                    if at > offsets[row] {
                        out.extend_from_slice(between.as_bytes());
                    }
                    item.write(at as usize, out)?;
                }
                out.extend_from_slice(behind.as_bytes());
            }
            Values::AvroList(offsets, item) => {
                let (start, end) = (offsets[row], offsets[row + 1]);
                if start < end {
                    zigzag(out, i64::from(end - start));
                    (start..end).try_for_each(|at| item.write(at as usize, out))?;
                }
                zigzag(out, 0);
            }
            Values::Record(texts, fields) => {
                for (text, field) in texts.iter().zip(fields) {
                    out.extend_from_slice(text.as_bytes());
                    field.write(row, out)?;
                }
                out.extend_from_slice(texts[fields.len()].as_bytes());
            }
            _ => {}
        }
        Ok(())
    }
}

/// A whole number of Avro: small ones of both signs are short.
fn zigzag(out: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests;
