//! Keys and values of a table as Python's `pickle` writes them, without objects: the section of a state file.

use bumpalo::Bump;

use super::cells::Cells;
use super::table::Table;
use crate::value::Value;

/// How a pickle of protocol 5 begins, and how any ends.
const BEGIN: &[u8] = b"\x80\x05";
const STOP: u8 = b'.';

/// Bytes of a key and a value, about.
const ENTRY: usize = 32;

/// Code bytes that `pickle` gives a length of one byte, or of four, in front of what they stand for.
type Codes = (u8, u8);
const TEXT: Codes = (0x8c, b'X');
const BYTES: Codes = (b'C', b'B');

/// The section that has the keys and values of some numbers: `(names, [(0, 0, keys, values, [])], [(), ()])`, of which `names`
/// are bytes. `None` where a key or value is of a type whose class a pickle would name. O(numbers).
///
/// # Panics
///
/// There are not so many keys.
pub fn section(table: &Table, numbers: &[u32], names: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(names.len() + ENTRY * (numbers.len() + 2));
    out.extend(BEGIN);
    sized(&mut out, BYTES, names)?;
    out.extend(b"](K\0K\0"); // a list, and in it a tuple that begins with two zeros
    list(&mut out, numbers, &table.keys)?;
    list(&mut out, numbers, &table.values)?;
    out.extend(b"]ta]())e\x87"); // an empty list, the tuple, the list of it; two empty tuples; all three
    out.push(STOP);
    Some(out)
}

fn list(out: &mut Vec<u8>, numbers: &[u32], cells: &Cells) -> Option<()> {
    let mut arena = Bump::new();
    out.extend(b"](");
    for &number in numbers {
        arena.reset();
        write(out, cells.get(number as usize, &arena))?;
    }
    out.push(b'e');
    Some(())
}

/// A value behind others. Recursive, as deep as the value.
fn write(out: &mut Vec<u8>, value: Value<'_>) -> Option<()> {
    match value {
        Value::None => out.push(b'N'),
        Value::Bool(value) => out.push(if value { 0x88 } else { 0x89 }),
        Value::Int(value) => int(out, value),
        Value::Float(value) => {
            out.push(b'G');
            out.extend(value.to_be_bytes());
        }
        Value::Text(text) => sized(out, TEXT, text.as_bytes())?,
        Value::Bytes(bytes) => sized(out, BYTES, bytes)?,
        Value::Tuple([]) => out.push(b')'),
        Value::Tuple(items @ ([_] | [_, _] | [_, _, _])) => {
            items.iter().try_for_each(|&item| write(out, item))?;
            out.push(0x84 + items.len() as u8);
        }
        Value::Tuple(items) => {
            out.push(b'(');
            items.iter().try_for_each(|&item| write(out, item))?;
            out.push(b't');
        }
        _ => return None,
    }
    Some(())
}

fn int(out: &mut Vec<u8>, value: i64) {
    match value {
        0..=0xff => out.extend([b'K', value as u8]),
        0x100..=0xffff => {
            out.push(b'M');
            out.extend((value as u16).to_le_bytes());
        }
        _ if let Ok(short) = i32::try_from(value) => {
            out.push(b'J');
            out.extend(short.to_le_bytes());
        }
        _ => {
            let bits = u64::BITS - if value < 0 { value.leading_ones() } else { value.leading_zeros() };
            let length = bits / 8 + 1; // with the bit of the sign
            out.extend([0x8a, length as u8]);
            out.extend(&value.to_le_bytes()[..length as usize]);
        }
    }
}

fn sized(out: &mut Vec<u8>, (short, long): Codes, bytes: &[u8]) -> Option<()> {
    match u8::try_from(bytes.len()) {
        Ok(length) => out.extend([short, length]),
        Err(_) => {
            out.push(long);
            out.extend(u32::try_from(bytes.len()).ok()?.to_le_bytes());
        }
    }
    out.extend(bytes);
    Some(())
}
