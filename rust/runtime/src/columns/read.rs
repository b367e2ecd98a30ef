//! Bytes into columns.

use super::Kind;

/// Bytes of texts that a column can have.
const MOST_BYTES: i64 = i32::MAX as i64;

/// Bytes that are no buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// Goes through the bytes of a buffer.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Begins at the first byte.
    pub fn new(data: &'a [u8]) -> Self {
        Self { rest: data }
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Broken)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Broken)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.array::<1>()?[0])
    }

    /// A number of values.
    pub fn count(&mut self) -> Result<usize, Broken> {
        self.length().ok().filter(|&count| count <= super::MAX_COUNT).ok_or(Broken)
    }

    /// A number of bytes.
    pub fn length(&mut self) -> Result<usize, Broken> {
        Ok(u32::from_le_bytes(self.array()?) as usize)
    }

    /// The kind of a column, and whether it has a byte of presence per value.
    pub fn kind(&mut self) -> Result<(Kind, bool), Broken> {
        let number = self.byte()?;
        let kind = Kind::of(number & !super::NULLABLE).ok_or(Broken)?;
        Ok((kind, number & super::NULLABLE != 0))
    }

    /// Integers.
    pub fn ints(&mut self, count: usize) -> Result<Ints<'a>, Broken> {
        let base = i64::from_le_bytes(self.array()?);
        let width = self.byte()?;
        if !matches!(width, 0 | 1 | 2 | 4 | 8) {
            return Err(Broken);
        }
        let data = self.bytes(count.checked_mul(usize::from(width)).ok_or(Broken)?)?;
        Ok(Ints { base, width, data, count })
    }

    /// Texts or bytes, each a slice.
    pub fn strings(&mut self, count: usize) -> Result<Vec<&'a [u8]>, Broken> {
        let lengths = self.ints(count)?;
        lengths.to_vec().into_iter().map(|length| self.bytes(usize::try_from(length).map_err(|_| Broken)?)).collect()
    }

    /// Texts or bytes that lie one behind the other: where each ends, and all of them. Broken beyond 2 GiB.
    pub fn packed(&mut self, count: usize) -> Result<(Vec<i32>, &'a [u8]), Broken> {
        let ends = self.ints(count)?.ends()?;
        let bytes = self.bytes(ends.last().map_or(0, |&end| end as usize))?;
        Ok((ends, bytes))
    }

    /// Whether all has been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Integers as they stand in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Ints<'a> {
    /// The smallest.
    pub base: i64,
    /// Bytes of a difference.
    pub width: u8,
    data: &'a [u8],
    count: usize,
}

impl Ints<'_> {
    /// All of them. O(count).
    pub fn to_vec(self) -> Vec<i64> {
        match self.width {
            0 => vec![self.base; self.count],
            1 => self.data.iter().map(|&difference| self.base.wrapping_add(i64::from(difference))).collect(),
            2 => self.wide(|bytes| u64::from(u16::from_le_bytes(bytes))),
            4 => self.wide(|bytes| u64::from(u32::from_le_bytes(bytes))),
            _ => self.wide(u64::from_le_bytes),
        }
    }

    /// Where things of these lengths end that lie one behind the other, with the 0 where they begin. O(count).
    fn ends(self) -> Result<Vec<i32>, Broken> {
        let longest = match self.width {
            0 => Some(self.base),
            1 => self.base.checked_add(0xff),
            2 => self.base.checked_add(0xffff),
            _ => None,
        };
        let count = i64::try_from(self.count).ok();
        let fits = self.base >= 0
            && longest.zip(count).and_then(|(longest, count)| longest.checked_mul(count)).is_some_and(|most| most <= MOST_BYTES);
        let mut ends = Vec::with_capacity(self.count + 1);
        ends.push(0);
        if !fits {
            let mut end = 0i64;
            for length in self.to_vec() {
                end = end.checked_add(length).filter(|&end| length >= 0 && end <= MOST_BYTES).ok_or(Broken)?;
                ends.push(end as i32);
            }
            return Ok(ends);
        }
        let (base, mut end) = (self.base as i32, 0i32); // each sum is at most the one that fits
        let mut add = |difference: u16| {
            end += base + i32::from(difference);
            end
        };
        match self.width {
            0 => ends.extend((0..self.count).map(|_| add(0))),
            1 => ends.extend(self.data.iter().map(|&difference| add(u16::from(difference)))),
            _ => ends.extend(self.data.as_chunks().0.iter().map(|&bytes| add(u16::from_le_bytes(bytes)))),
        }
        Ok(ends)
    }

    fn wide<const N: usize>(&self, difference: impl Fn([u8; N]) -> u64) -> Vec<i64> {
        let (chunks, _) = self.data.as_chunks();
        chunks.iter().map(|&bytes| self.base.wrapping_add(difference(bytes) as i64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ints, write::strings};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_come_back(values in prop::collection::vec(any::<i64>(), 0..50), shift in 0..64u32) {
            let values: Vec<i64> = values.into_iter().map(|value| value >> shift).collect();
            let mut out = Vec::new();
            ints(&mut out, values.iter().copied());
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.ints(values.len()).map(Ints::to_vec), Ok(values));
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn slices_come_back(values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20)) {
            let items: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
            let mut out = Vec::new();
            strings(&mut out, &items);
            let (ends, bytes) = Reader::new(&out).packed(items.len()).expect("they are few");
            let packed: Vec<&[u8]> = ends.windows(2).map(|pair| &bytes[pair[0] as usize..pair[1] as usize]).collect();
            prop_assert_eq!(&packed, &items);
            prop_assert_eq!(Reader::new(&out).strings(items.len()), Ok(items));
        }

        #[test]
        fn no_bytes_make_it_panic(data in prop::collection::vec(any::<u8>(), 0..60), count in 0..100usize) {
            let _ = Reader::new(&data).kind();
            let _ = Reader::new(&data).ints(count);
            let strings = Reader::new(&data).strings(count);
            prop_assert_eq!(Reader::new(&data).packed(count).is_ok(), strings.is_ok());
        }
    }

    #[test]
    fn equal_integers_take_no_bytes() {
        let mut out = Vec::new();
        ints(&mut out, [7; 1000].into_iter());
        assert_eq!(out, [7, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
