//! What is in dicts that functions change in place.

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::items::{Item, hash};

/// Keys that are looked through one by one.
const FEW: usize = 8;

/// Keys and their values, in the order in which the keys came.
#[derive(Debug, Default)]
pub struct Pairs {
    pub items: Vec<(Item, Item)>,
    /// Empty while there are few.
    index: HashTable<u32>,
}

impl Pairs {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// How much memory they take elsewhere, in bytes. O(entries).
    pub fn memory(&self) -> usize {
        let of_items: usize = self.items.iter().map(|(key, value)| key.memory() + value.memory()).sum();
        self.items.capacity() * size_of::<(Item, Item)>() + self.index.allocation_size() + of_items
    }

    /// The place of a key.
    #[inline]
    pub fn find(&self, key: &Item, hasher: &FixedState) -> Option<usize> {
        if self.items.len() <= FEW {
            return self.items.iter().position(|(own, _)| own == key);
        }
        self.index.find(hash(hasher, key), |&at| self.items[at as usize].0 == *key).map(|&at| at as usize)
    }

    /// A key that is not there gets a value.
    pub fn push(&mut self, key: Item, value: Item, hasher: &FixedState) {
        let Self { items, index } = self;
        items.push((key, value));
        if items.len() <= FEW {
            return;
        }
        let first = if index.is_empty() { 0 } else { items.len() - 1 };
        for at in first..items.len() {
            index.insert_unique(hash(hasher, &items[at].0), at as u32, |&at| hash(hasher, &items[at as usize].0));
        }
    }

    /// Takes the last key out.
    pub fn pop(&mut self, hasher: &FixedState) {
        let Some((key, _)) = self.items.pop() else { return };
        let count = self.items.len();
        if count <= FEW {
            self.index.clear();
        } else if let Ok(entry) = self.index.find_entry(hash(hasher, &key), |&at| at as usize == count) {
            entry.remove();
        }
    }
}
