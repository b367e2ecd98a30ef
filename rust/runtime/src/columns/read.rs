//! Bytes into columns.

use super::Kind;

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
            prop_assert_eq!(Reader::new(&out).strings(items.len()), Ok(items));
        }

        #[test]
        fn no_bytes_make_it_panic(data in prop::collection::vec(any::<u8>(), 0..60), count in 0..100usize) {
            let _ = Reader::new(&data).kind();
            let _ = Reader::new(&data).ints(count);
            let _ = Reader::new(&data).strings(count);
        }
    }

    #[test]
    fn equal_integers_take_no_bytes() {
        let mut out = Vec::new();
        ints(&mut out, [7; 1000].into_iter());
        assert_eq!(out, [7, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
