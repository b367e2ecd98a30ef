//! Which texts of a column are the same.

/// So many texts decide whether a column is coded.
const SAMPLE: usize = 256;
const FREE: u32 = u32::MAX;

/// The different texts in order of first occurrence, and for each text the index of its own; `None` where too many differ to
/// be worth it. O(bytes), as long as the texts were not made to collide.
pub fn different<'a>(items: &[&'a [u8]]) -> Option<(Vec<&'a [u8]>, Vec<u32>)> {
    let sample = items.len().min(SAMPLE);
    let mut table = Table::new(sample);
    let mut codes = Vec::with_capacity(items.len());
    codes.extend(items[..sample].iter().map(|text| table.code(text)));
    if table.texts.len() * 4 > sample * 3 {
        return None;
    }
    codes.extend(items[sample..].iter().map(|text| table.code(text)));
    Some((table.texts, codes))
}

/// A hash table with linear probing, at most half full.
struct Table<'a> {
    slots: Vec<u32>,
    texts: Vec<&'a [u8]>,
}

impl<'a> Table<'a> {
    fn new(expected: usize) -> Self {
        Self { slots: vec![FREE; (expected * 2).next_power_of_two().max(16)], texts: Vec::new() }
    }

    fn code(&mut self, text: &'a [u8]) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = hash(text) as usize & mask;
        while self.slots[at] != FREE {
            if self.texts[self.slots[at] as usize] == text {
                return self.slots[at];
            }
            at = (at + 1) & mask;
        }
        let code = self.texts.len() as u32;
        self.slots[at] = code;
        self.texts.push(text);
        if self.texts.len() * 2 > self.slots.len() {
            self.grow();
        }
        code
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![FREE; mask + 1];
        for (code, text) in self.texts.iter().enumerate() {
            let mut at = hash(text) as usize & mask;
            while self.slots[at] != FREE {
                at = (at + 1) & mask;
            }
            self.slots[at] = code as u32;
        }
    }
}

/// Eight bytes at a time, each step a folded multiplication; nothing outside this table sees it.
fn hash(text: &[u8]) -> u64 {
    let mut state = text.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut chunks = text.chunks_exact(8);
    for chunk in &mut chunks {
        state = step(state, u64::from_le_bytes(chunk.try_into().expect("chunks of eight")));
    }
    let last = chunks.remainder().iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    step(state, last)
}

fn step(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * 0xa076_1d64_78bd_642f;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart() {
        let items: Vec<String> = (0..5000).map(|n| format!("{}", n % 1500 * 7 % 1000)).collect();
        let items: Vec<&[u8]> = items.iter().map(String::as_bytes).collect();
        assert!(different(&items).is_none());
        let repeated: Vec<&[u8]> = items.iter().flat_map(|item| [*item; 2]).collect();
        let (texts, codes) = different(&repeated).expect("half of them repeat");
        assert_eq!(texts.len(), 1000);
        assert!(repeated.iter().zip(codes).all(|(item, code)| texts[code as usize] == *item));
    }

    #[test]
    fn no_text_is_no_difference() {
        assert_eq!(different(&[]), Some((vec![], vec![])));
    }
}
