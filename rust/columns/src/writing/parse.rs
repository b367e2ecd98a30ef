//! Layouts out of JSON.

use serde_json::Value as Json;

use super::texts::{Csv, Quoting};
use super::{Avro, Floats, Form, Layout};
use crate::json::{Malformed, bits, malformed, names, parse, text};
use crate::value::Unit;

/// How deep records may be nested.
const DEEPEST: usize = 16;

pub(super) fn layout(of: &str) -> Result<Layout, Malformed> {
    read(&parse(of)?, DEEPEST)
}

/// Recursive, to the depth.
fn read(json: &Json, depth: usize) -> Result<Layout, Malformed> {
    let below = depth.checked_sub(1).ok_or_else(|| malformed("the layout is nested too deeply"))?;
    let form = match json["as"].as_str() {
        None => record(json, below)?,
        Some("list") => {
            let texts = names(json["around"].as_array().map(Vec::as_slice).unwrap_or_default())?;
            let texts = Box::<[Box<str>; 3]>::try_from(texts).map_err(|_| malformed("a list has not three texts around its items"))?;
            Form::List { texts, item: Box::new(read(&json["item"], below)?) }
        }
        Some("avro_list") => Form::AvroList(Box::new(read(&json["item"], below)?)),
        Some(_) => scalar(json)?,
    };
    let part = |name: &str| json[name].as_str().unwrap_or_default().into();
    Ok(Layout { form, none: json["none"].as_str().map(Into::into), end: part("end"), before: part("before") })
}

fn record(json: &Json, depth: usize) -> Result<Form, Malformed> {
    let (mut texts, mut fields) = (Vec::<Box<str>>::new(), Vec::new());
    for (at, part) in json["parts"].as_array().into_iter().flatten().enumerate() {
        match part.as_str() {
            Some(text) if at % 2 == 0 => texts.push(text.into()),
            None if at % 2 == 1 => fields.push(read(part, depth)?),
            _ => return Err(malformed("texts and fields do not take turns")),
        }
    }
    if texts.len() != fields.len() + 1 {
        return Err(malformed("the last part is no text"));
    }
    let names = match json["names"].as_array() {
        Some(named) => Some(names(named)?),
        None => None,
    };
    if names.as_ref().is_some_and(|names| names.len() != fields.len()) {
        return Err(malformed("there are not as many names as fields"));
    }
    Ok(Form::Record { texts: texts.into(), fields: fields.into(), names })
}

fn scalar(json: &Json) -> Result<Form, Malformed> {
    Ok(match text(&json["as"])? {
        "int" => {
            let bits = bits(&json["bits"])?;
            Form::Int(i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))
        }
        "java" => Form::Float(Floats::Java),
        "java_json" => Form::Float(Floats::JavaJson),
        "python_json" => Form::Float(Floats::PythonJson),
        "bool" => Form::Bool,
        "plain" => Form::Plain,
        "bytes" => Form::Bytes,
        "sql" => Form::Sql,
        "day" => Form::Moment(Unit::Days, json["utc"] == true),
        "time" => Form::Moment(Unit::Micros, json["utc"] == true),
        "clock" => Form::Moment(Unit::Clock, json["utc"] == true),
        "shown" => Form::Shown,
        "json" => Form::Quoted(Box::new(Quoting::Json { upper: json["upper"] == true, pairs: json["pairs"] == true })),
        "csv" => Form::Quoted(Box::new(Quoting::Csv(csv(json)?))),
        "bare" => Form::Quoted(Box::new(Quoting::Bare(bytes(&json["special"])?))),
        "avro_int" => Form::Avro(Avro::Int(bits(&json["bits"])?)),
        "avro_double" => Form::Avro(Avro::Double),
        "avro_bool" => Form::Avro(Avro::Bool),
        "avro_text" => Form::Avro(Avro::Sized),
        other => return Err(malformed(format!("{other:?} is no form of values"))),
    })
}

fn csv(json: &Json) -> Result<Csv, Malformed> {
    let character = |name: &str| match text(&json[name])?.as_bytes() {
        [] => Ok(None),
        [byte] if byte.is_ascii() => Ok(Some(*byte)),
        _ => Err(malformed(format!("{name} is no character of ASCII"))),
    };
    let quote = character("quote")?.ok_or_else(|| malformed("there is no quote"))?;
    let longest = json["longest"].as_u64().and_then(|longest| usize::try_from(longest).ok());
    let longest = longest.ok_or_else(|| malformed("there is no length"))?;
    Ok(Csv { quote, escape: character("escape")?, special: bytes(&json["special"])?, first: character("first")?, longest })
}

/// A table of the bytes that are in a text of ASCII.
fn bytes(json: &Json) -> Result<Box<[bool; 256]>, Malformed> {
    let special = text(json)?;
    let mut table = Box::new([false; 256]);
    for byte in special.bytes() {
        if !byte.is_ascii() {
            return Err(malformed("a special character is not one of ASCII"));
        }
        table[usize::from(byte)] = true;
    }
    Ok(table)
}
