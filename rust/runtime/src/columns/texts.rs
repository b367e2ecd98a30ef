//! Which texts of a column are the same.

/// So many texts decide whether a column is coded.
const SAMPLE: usize = 256;

/// The different texts in order of first occurrence, and for each text the index of its own; `None` where too many differ to
/// be worth it. O(bytes), as long as the texts were not made to collide.
pub fn different<'a>(mut items: impl ExactSizeIterator<Item = &'a [u8]>) -> Option<(Vec<&'a [u8]>, Vec<u32>)> {
    let (all, sample) = (items.len(), items.len().min(SAMPLE));
    let mut table = Table::new(sample);
    let mut codes = Vec::with_capacity(sample);
    for text in items.by_ref().take(sample) {
        codes.push(table.code(text));
        if table.texts.len() * 4 > sample * 3 {
            return None;
        }
    }
    codes.reserve_exact(all - sample);
    codes.extend(items.map(|text| table.code(text)));
    Some((table.texts, codes))
}

/// A hash table with linear probing, at most half full.
struct Table<'a> {
    slots: Vec<Slot>,
    texts: Vec<&'a [u8]>,
}

/// The place of a text, and some bits of its hash, so that few other texts are ever looked at.
#[derive(Clone, Copy)]
struct Slot {
    code: u32,
    bits: u32,
}

const EMPTY: Slot = Slot { code: u32::MAX, bits: 0 };

impl<'a> Table<'a> {
    fn new(expected: usize) -> Self {
        Self { slots: vec![EMPTY; (expected * 2).next_power_of_two().max(16)], texts: Vec::new() }
    }

    fn code(&mut self, text: &'a [u8]) -> u32 {
        let (hash, mask) = (hash(text), self.slots.len() - 1);
        let (mut at, bits) = (hash as usize & mask, (hash >> 32) as u32);
        while self.slots[at].code != EMPTY.code {
            let slot = self.slots[at];
            if slot.bits == bits && self.texts[slot.code as usize] == text {
                return slot.code;
            }
            at = (at + 1) & mask;
        }
        let code = self.texts.len() as u32;
        self.slots[at] = Slot { code, bits };
        self.texts.push(text);
        if self.texts.len() * 2 > self.slots.len() {
            self.grow();
        }
        code
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![EMPTY; mask + 1];
        for (code, text) in self.texts.iter().enumerate() {
            let hash = hash(text);
            let mut at = hash as usize & mask;
            while self.slots[at].code != EMPTY.code {
                at = (at + 1) & mask;
            }
            self.slots[at] = Slot { code: code as u32, bits: (hash >> 32) as u32 };
        }
    }
}

/// Eight bytes at a time, the last eight perhaps over some before them, each step a folded multiplication. Nothing outside
/// this table sees it.
fn hash(text: &[u8]) -> u64 {
    let start = text.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let Some(last) = text.last_chunk() else { return step(start, short(text)) };
    let (chunks, _) = text[..text.len() - 1].as_chunks();
    step(chunks.iter().fold(start, |state, chunk| step(state, u64::from_le_bytes(*chunk))), u64::from_le_bytes(*last))
}

/// Fewer than eight bytes as a number.
fn short(text: &[u8]) -> u64 {
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)),
        _ => text.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
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
        assert!(different(items.iter().copied()).is_none());
        let repeated: Vec<&[u8]> = items.iter().flat_map(|item| [*item; 2]).collect();
        let (texts, codes) = different(repeated.iter().copied()).expect("half of them repeat");
        assert_eq!(texts.len(), 1000);
        assert!(repeated.iter().zip(codes).all(|(item, code)| texts[code as usize] == *item));
    }

    #[test]
    fn no_text_is_no_difference() {
        assert_eq!(different([].into_iter()), Some((vec![], vec![])));
    }
}
