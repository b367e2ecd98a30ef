//! Columns as the bytes of a buffer that crosses an exchange; `penstock_runtime::columns` has the format, which knows
//! neither rows nor lists.

use arrow_buffer::{BooleanBuffer, NullBuffer};
use penstock_runtime::columns::{Broken, DEPTH, Kind, MAX_COUNT, NULLABLE, Reader, TAG, ints, numbers, texts};

use crate::column::{Column, Data, Strings};
use crate::value::Unit;

/// A buffer of these records, with what is known of their key, and bytes that travel with them. `None` where the format does
/// not have such columns.
pub fn encode(records: &Column, key: u8, extras: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(64 + extras.len() + most_bytes(records));
    out.extend([TAG, key]);
    out.extend(u32::try_from(records.len()).ok().filter(|_| records.len() <= MAX_COUNT)?.to_le_bytes());
    out.extend(u32::try_from(extras.len()).ok()?.to_le_bytes());
    out.extend(extras);
    write(&mut out, records, DEPTH)?;
    Some(out)
}

/// The kind of a column of dates or times.
pub fn kind_of(unit: Unit) -> Kind {
    match unit {
        Unit::Days => Kind::Days,
        Unit::Micros => Kind::Times,
        Unit::Clock => Kind::Clocks,
    }
}

/// More than a column takes, for most columns. Recursive, to [`DEPTH`].
fn most_bytes(column: &Column) -> usize {
    let bytes = match column.data() {
        Data::None => 0,
        Data::Bools(_) => column.len(),
        Data::Ints(_) | Data::Floats(_) | Data::Moments(..) => 8 * column.len(),
        Data::Texts(items) | Data::Bytes(items) => {
            let offsets = items.offsets();
            2 * column.len() + (offsets[items.len()] - offsets[0]) as usize
        }
        Data::Tuples(fields) | Data::Rows(_, fields) => fields.iter().map(most_bytes).sum(),
        Data::Lists(_, items) => most_bytes(items),
    };
    16 + bytes + column.presence().map_or(0, |_| column.len())
}

/// Writes a column: which values are present, and those. Recursive, to [`DEPTH`].
fn write(out: &mut Vec<u8>, column: &Column, depth: usize) -> Option<()> {
    let Some(presence) = column.presence().filter(|presence| presence.null_count() > 0) else {
        return write_present(out, column, 0, &[], depth);
    };
    let rows: Vec<usize> = presence.valid_indices().collect();
    let bytes: Vec<u8> = presence.iter().map(u8::from).collect();
    write_present(out, &column.take(&rows)?, NULLABLE, &bytes, depth)
}

fn write_present(out: &mut Vec<u8>, column: &Column, nullable: u8, presence: &[u8], depth: usize) -> Option<()> {
    let mut head = |kind: Kind| {
        out.push(kind as u8 | nullable);
        out.extend(presence);
    };
    match column.data() {
        _ if column.is_empty() => out.push(Kind::None as u8),
        Data::None => out.push(Kind::None as u8),
        Data::Bools(values) => {
            head(Kind::Bools);
            out.extend(values.iter().map(u8::from));
        }
        Data::Ints(values) => {
            head(Kind::Ints);
            ints(out, values.iter().copied());
        }
        Data::Floats(values) => {
            head(Kind::Floats);
            numbers(out, values.iter().map(|value| value.to_le_bytes()));
        }
        Data::Texts(items) => texts(out, (nullable, presence), (0..items.len()).map(|row| items.get(row)), |out| packed(out, items)),
        Data::Moments(unit, numbers) => {
            head(kind_of(*unit));
            ints(out, numbers.iter().map(|number| number - unit.epoch()));
        }
        Data::Bytes(items) => {
            head(Kind::Bytes);
            packed(out, items);
        }
        Data::Tuples(fields) => {
            head(Kind::Tuples);
            out.push(u8::try_from(fields.len()).ok().filter(|_| depth > 0)?);
            fields.iter().try_for_each(|field| write(out, field, depth - 1))?;
        }
        Data::Rows(..) | Data::Lists(..) => return None,
    }
    Some(())
}

/// Lengths, then bytes.
fn packed(out: &mut Vec<u8>, items: &Strings) {
    let offsets = items.offsets();
    ints(out, offsets.windows(2).map(|pair| i64::from(pair[1] - pair[0])));
    out.extend_from_slice(&items.bytes()[offsets[0] as usize..offsets[items.len()] as usize]);
}

/// The records of a buffer, what is known of their key, and the bytes that travelled with them.
pub fn decode(data: &[u8]) -> Result<(Column, u8, &[u8]), Broken> {
    let mut reader = Reader::new(data);
    let (tag, key) = (reader.byte()?, reader.byte()?);
    if tag != TAG {
        return Err(Broken);
    }
    let count = reader.count()?;
    let length = reader.length()?;
    let extras = reader.bytes(length)?;
    let records = read(&mut reader, count, DEPTH)?;
    if reader.is_empty() { Ok((records, key, extras)) } else { Err(Broken) }
}

/// Reads a column. Recursive, to [`DEPTH`].
fn read(reader: &mut Reader<'_>, count: usize, depth: usize) -> Result<Column, Broken> {
    let (kind, nullable) = reader.kind()?;
    if !nullable {
        return read_present(reader, kind, count, depth);
    }
    let presence: BooleanBuffer = reader.bytes(count)?.iter().map(|&present| present != 0).collect();
    let column = read_present(reader, kind, presence.count_set_bits(), depth)?;
    if column.is_empty() {
        return Ok(Column::none(count));
    }
    let mut next = 0;
    let place = |present: bool| {
        next += usize::from(present);
        next.saturating_sub(1)
    };
    let rows: Vec<usize> = presence.iter().map(place).collect();
    let column = column.take(&rows).ok_or(Broken)?;
    Column::new(column.data().clone(), Some(NullBuffer::new(presence)), count).ok_or(Broken)
}

fn read_present(reader: &mut Reader<'_>, kind: Kind, count: usize, depth: usize) -> Result<Column, Broken> {
    let data = match kind {
        Kind::None => Data::None,
        Kind::Ints => Data::Ints(reader.ints(count)?.to_vec().into()),
        Kind::Floats => {
            let (numbers, _) = reader.bytes(count.saturating_mul(8))?.as_chunks();
            Data::Floats(numbers.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect())
        }
        Kind::Bools => Data::Bools(reader.bytes(count)?.iter().map(|&byte| byte != 0).collect()),
        Kind::Texts => Data::Texts(unpacked(reader, count)?),
        Kind::Coded => Data::Texts(coded(reader, count)?),
        Kind::Bytes => Data::Bytes(unpacked(reader, count)?),
        Kind::Days => moments(reader, count, Unit::Days)?,
        Kind::Times => moments(reader, count, Unit::Micros)?,
        Kind::Clocks => moments(reader, count, Unit::Clock)?,
        Kind::Tuples => {
            let arity = reader.byte()?;
            let depth = depth.checked_sub(1).ok_or(Broken)?;
            Data::Tuples((0..arity).map(|_| read(reader, count, depth)).collect::<Result<Vec<_>, _>>()?.into())
        }
    };
    Column::new(data, None, count).ok_or(Broken)
}

fn moments(reader: &mut Reader<'_>, count: usize, unit: Unit) -> Result<Data, Broken> {
    let numbers = reader.ints(count)?.to_vec();
    Ok(Data::Moments(unit, numbers.into_iter().map(|number| number.saturating_add(unit.epoch())).collect()))
}

fn unpacked(reader: &mut Reader<'_>, count: usize) -> Result<Strings, Broken> {
    let (ends, bytes) = reader.packed(count)?;
    Strings::packed(ends, bytes.into()).ok_or(Broken)
}

fn coded(reader: &mut Reader<'_>, count: usize) -> Result<Strings, Broken> {
    let different = reader.count()?;
    let texts = reader.strings(different)?;
    let places = reader.ints(count)?.to_vec().into_iter().map(u32::try_from).collect::<Result<_, _>>();
    Strings::coded(&texts, places.map_err(|_| Broken)?).ok_or(Broken)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use proptest::prelude::*;

    fn shown(column: &Column) -> Vec<String> {
        let arena = bumpalo::Bump::new();
        (0..column.len()).map(|row| format!("{:?}", column.get(row, &arena))).collect()
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(data in prop::collection::vec(any::<u8>(), 0..80), kind in 0..8u8, count in 0..40u8) {
            let _ = decode(&data);
            let mut buffer = vec![TAG, 255, count, 0, 0, 0, 0, 0, 0, 0, kind];
            buffer.extend(&data);
            let _ = decode(&buffer);
        }

        #[test]
        fn columns_come_back(numbers in prop::collection::vec(prop::option::of(any::<i64>()), 0..40), name in "[a-c]{0,2}") {
            let presence: BooleanBuffer = numbers.iter().map(Option::is_some).collect();
            let count = numbers.len();
            let dates = numbers.iter().map(|number| number.unwrap_or(3).rem_euclid(3_652_059)).collect();
            let dates = Column::new(Data::Moments(Unit::Days, dates), None, count).expect("there are such days");
            let values = Data::Ints(numbers.iter().map(|number| number.unwrap_or(3)).collect());
            let ints = Column::new(values, Some(NullBuffer::new(presence)), count).expect("they agree");
            let names = Strings::of(std::iter::repeat_n(name.as_bytes(), count)).expect("they are few");
            let texts = Column::new(Data::Texts(names), None, count).expect("they are texts");
            let tuples = Column::new(Data::Tuples(Arc::new([ints, texts, dates])), None, count).expect("they agree");
            let bytes = encode(&tuples, 1, b"more").expect("it has such columns");
            let (read, key, extras) = decode(&bytes).expect("it is a buffer");
            prop_assert_eq!(shown(&read), shown(&tuples));
            prop_assert_eq!((key, extras), (1, &b"more"[..]));
            prop_assert_eq!(encode(&read, 1, b"more"), Some(bytes));
        }
    }
}
