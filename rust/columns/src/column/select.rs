//! Parts of columns, and columns put together.

use std::sync::Arc;

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};

use super::{Codes, Column, Data, Strings};

impl Column {
    /// The values from one to before another, without a copy. O(fields).
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn slice(&self, start: usize, end: usize) -> Self {
        assert!(start <= end && end <= self.count, "a slice is within its column");
        let count = end - start;
        let all = |fields: &Arc<[Self]>| fields.iter().map(|field| field.slice(start, end)).collect();
        let data = match &self.data {
            Data::None => Data::None,
            Data::Bools(values) => Data::Bools(values.slice(start, count)),
            Data::Ints(values) => Data::Ints(values.slice(start, count)),
            Data::Floats(values) => Data::Floats(values.slice(start, count)),
            Data::Texts(strings) => Data::Texts(strings.slice(start, count)),
            Data::Bytes(strings) => Data::Bytes(strings.slice(start, count)),
            Data::Moments(unit, numbers) => Data::Moments(*unit, numbers.slice(start, count)),
            Data::Tuples(fields) => Data::Tuples(all(fields)),
            Data::Rows(shape, fields) => Data::Rows(shape.clone(), all(fields)),
            Data::Lists(offsets, items) => Data::Lists(offsets.slice(start, count), items.clone()),
        };
        Self::unchecked(data, self.presence.as_ref().map(|presence| presence.slice(start, count)), count)
    }

    /// The values at some places, in their order; `None` where a place is beyond the end, or there would be more than 2 GiB
    /// of texts. O(values taken).
    pub fn take(&self, rows: &[usize]) -> Option<Self> {
        if rows.iter().any(|&row| row >= self.count) {
            return None;
        }
        self.taken(rows)
    }

    fn taken(&self, rows: &[usize]) -> Option<Self> {
        let all = |fields: &Arc<[Self]>| fields.iter().map(|field| field.taken(rows)).collect::<Option<Arc<[Self]>>>();
        let data = match &self.data {
            Data::None => Data::None,
            Data::Bools(values) => Data::Bools(rows.iter().map(|&row| values.value(row)).collect()),
            Data::Ints(values) => Data::Ints(rows.iter().map(|&row| values[row]).collect()),
            Data::Floats(values) => Data::Floats(rows.iter().map(|&row| values[row]).collect()),
            Data::Texts(strings) => Data::Texts(Strings::of(rows.iter().map(|&row| strings.get(row)))?),
            Data::Bytes(strings) => Data::Bytes(Strings::of(rows.iter().map(|&row| strings.get(row)))?),
            Data::Moments(unit, numbers) => Data::Moments(*unit, rows.iter().map(|&row| numbers[row]).collect()),
            Data::Tuples(fields) => Data::Tuples(all(fields)?),
            Data::Rows(shape, fields) => Data::Rows(shape.clone(), all(fields)?),
            Data::Lists(offsets, items) => {
                let ranges = rows.iter().map(|&row| offsets[row] as usize..offsets[row + 1] as usize);
                let lengths = ends(ranges.clone().map(|range| range.len()))?;
                let items = items.taken(&ranges.flatten().collect::<Vec<_>>())?;
                Data::Lists(lengths, Arc::new(items))
            }
        };
        let presence = self.presence.as_ref().map(|presence| rows.iter().map(|&row| presence.is_valid(row)).collect::<BooleanBuffer>());
        Some(Self::unchecked(data, presence.map(NullBuffer::new), rows.len()))
    }

    /// The values of some columns, one after the other; `None` where they are of different types, or too large together.
    pub fn concat(parts: &[&Self]) -> Option<Self> {
        let count = parts.iter().map(|part| part.count).sum();
        let Some(first) = parts.iter().find(|part| !matches!(part.data, Data::None)) else { return Some(Self::none(count)) };
        if parts.len() == 1 {
            return Some((*first).clone());
        }
        let data = match &first.data {
            Data::None => Data::None,
            Data::Bools(_) => Data::Bools(joined_bools(parts, count)?),
            Data::Ints(_) => Data::Ints(joined(parts, |data| if let Data::Ints(values) = data { Some(values) } else { None })?),
            Data::Floats(_) => Data::Floats(joined(parts, |data| if let Data::Floats(values) = data { Some(values) } else { None })?),
            Data::Texts(_) => {
                Data::Texts(joined_strings(parts, |data| if let Data::Texts(strings) = data { Some(strings) } else { None })?)
            }
            Data::Bytes(_) => {
                Data::Bytes(joined_strings(parts, |data| if let Data::Bytes(strings) = data { Some(strings) } else { None })?)
            }
            Data::Moments(unit, _) => Data::Moments(
                *unit,
                joined(parts, |data| match data {
                    Data::Moments(own, numbers) if own == unit => Some(numbers),
                    _ => None,
                })?,
            ),
            Data::Tuples(fields) => Data::Tuples(joined_fields(parts, fields.len(), |data| matches!(data, Data::Tuples(_)))?),
            Data::Rows(shape, fields) => {
                let same = |data: &Data| matches!(data, Data::Rows(other, _) if other == shape);
                Data::Rows(shape.clone(), joined_fields(parts, fields.len(), same)?)
            }
            Data::Lists(..) => joined_lists(parts)?,
        };
        Some(Self::unchecked(data, joined_presence(parts, count), count))
    }
}

impl Strings {
    fn slice(&self, start: usize, count: usize) -> Self {
        let codes = self.codes.as_ref().map(|codes| Codes { numbers: codes.numbers.slice(start, count), end: codes.end });
        Self { offsets: self.offsets.slice(start, count), bytes: self.bytes.clone(), codes }
    }

    /// Copies some; `None` beyond 2 GiB.
    pub fn of<'a>(items: impl Iterator<Item = &'a [u8]> + Clone) -> Option<Self> {
        let offsets = ends(items.clone().map(<[u8]>::len))?;
        let mut bytes = Vec::with_capacity(offsets.last().map_or(0, |&end| end as usize));
        items.for_each(|item| bytes.extend_from_slice(item));
        Some(Self { offsets, bytes: bytes.into(), codes: None })
    }
}

/// Offsets of things of these lengths; `None` beyond 2 GiB.
fn ends(lengths: impl Iterator<Item = usize>) -> Option<OffsetBuffer<i32>> {
    let mut offsets = Vec::with_capacity(lengths.size_hint().0 + 1);
    let mut end = 0usize;
    offsets.push(0);
    for length in lengths {
        end = end.checked_add(length)?;
        offsets.push(i32::try_from(end).ok()?);
    }
    Some(OffsetBuffer::new(offsets.into()))
}

fn joined_presence(parts: &[&Column], count: usize) -> Option<NullBuffer> {
    let mut presence = NullBufferBuilder::new(count);
    for part in parts {
        match &part.presence {
            Some(nulls) => presence.append_buffer(nulls),
            None if matches!(part.data, Data::None) => presence.append_n_nulls(part.count),
            None => presence.append_n_non_nulls(part.count),
        }
    }
    presence.finish()
}

fn joined_bools(parts: &[&Column], count: usize) -> Option<BooleanBuffer> {
    let mut values = BooleanBufferBuilder::new(count);
    for part in parts {
        match &part.data {
            Data::Bools(more) => values.append_buffer(more),
            Data::None => values.append_n(part.count, false),
            _ => return None,
        }
    }
    Some(values.finish())
}

fn joined<T: arrow_buffer::ArrowNativeType>(
    parts: &[&Column],
    values_of: impl Fn(&Data) -> Option<&ScalarBuffer<T>>,
) -> Option<ScalarBuffer<T>> {
    let mut values = Vec::with_capacity(parts.iter().map(|part| part.count).sum());
    for part in parts {
        match values_of(&part.data) {
            Some(more) => values.extend_from_slice(more),
            None if matches!(part.data, Data::None) => values.resize(values.len() + part.count, T::default()),
            None => return None,
        }
    }
    Some(values.into())
}

fn joined_strings(parts: &[&Column], strings_of: impl Fn(&Data) -> Option<&Strings>) -> Option<Strings> {
    let lengths = parts.iter().filter_map(|part| Some((strings_of(&part.data)?, part.count)));
    let size = lengths.map(|(strings, count)| (strings.offsets[count] - strings.offsets[0]) as usize).sum();
    let mut offsets = Vec::with_capacity(parts.iter().map(|part| part.count).sum::<usize>() + 1);
    let mut bytes = Vec::with_capacity(size);
    offsets.push(0i32);
    for part in parts {
        let before = i32::try_from(bytes.len()).ok()?;
        match strings_of(&part.data) {
            Some(strings) => {
                let (start, end) = (strings.offsets[0], strings.offsets[part.count]);
                before.checked_add(end - start)?;
                bytes.extend_from_slice(&strings.bytes[start as usize..end as usize]);
                offsets.extend(strings.offsets[1..].iter().map(|offset| offset - start + before));
            }
            None if matches!(part.data, Data::None) => offsets.resize(offsets.len() + part.count, before),
            None => return None,
        }
    }
    Some(Strings { offsets: OffsetBuffer::new(offsets.into()), bytes: bytes.into(), codes: None })
}

/// Each field of all parts; `None` where one of them is of another type.
fn joined_fields(parts: &[&Column], arity: usize, same: impl Fn(&Data) -> bool) -> Option<Arc<[Column]>> {
    let fits =
        |part: &&Column| matches!(part.data, Data::None) || (same(&part.data) && part.parts().is_some_and(|fields| fields.len() == arity));
    if !parts.iter().all(fits) {
        return None;
    }
    let field = |index: usize| {
        let fields: Vec<Column> =
            parts.iter().map(|part| part.parts().map_or_else(|| Column::none(part.count), |fields| fields[index].clone())).collect();
        Column::concat(&fields.iter().collect::<Vec<_>>())
    };
    (0..arity).map(field).collect()
}

fn joined_lists(parts: &[&Column]) -> Option<Data> {
    let (mut lengths, mut items) = (Vec::new(), Vec::with_capacity(parts.len()));
    for part in parts {
        match &part.data {
            Data::Lists(offsets, all) => {
                lengths.extend(offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize));
                items.push(all.slice(offsets[0] as usize, offsets[part.count] as usize));
            }
            Data::None => lengths.resize(lengths.len() + part.count, 0),
            _ => return None,
        }
    }
    let items = Column::concat(&items.iter().collect::<Vec<_>>())?;
    Some(Data::Lists(ends(lengths.into_iter())?, Arc::new(items)))
}
