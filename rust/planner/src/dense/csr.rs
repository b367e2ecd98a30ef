//! Adjacency in two flat arrays: the items of key `k` are `items[offsets[k]..offsets[k + 1]]`, in insertion order.
//!
//! Cost: O(keys + items) time and space to build, O(1) to reach a list.

use std::marker::PhantomData;

use super::index::Index;

/// Lists of `V`, one per `K`.
#[derive(Clone, Debug)]
pub struct Csr<K, V> {
    offsets: Vec<u32>,
    items: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Index, V: Copy> Csr<K, V> {
    /// Groups pairs by key; the order of the pairs is the order inside each list. The iterator is walked twice.
    pub fn group(keys: usize, pairs: impl Iterator<Item = (K, V)> + Clone) -> Self {
        let mut offsets = vec![0u32; keys + 1];
        let mut first = None;
        for (key, item) in pairs.clone() {
            offsets[key.get() + 1] += 1;
            first.get_or_insert(item);
        }
        for key in 0..keys {
            offsets[key + 1] += offsets[key];
        }
        let Some(filler) = first else {
            return Self { offsets, items: Vec::new(), key: PhantomData };
        };
        let mut items = vec![filler; offsets[keys] as usize];
        let mut next = offsets.clone();
        for (key, item) in pairs {
            let slot = &mut next[key.get()];
            items[*slot as usize] = item;
            *slot += 1;
        }
        Self { offsets, items, key: PhantomData }
    }

    /// The list of a key.
    #[inline]
    pub fn of(&self, key: K) -> &[V] {
        &self.items[self.offsets[key.get()] as usize..self.offsets[key.get() + 1] as usize]
    }

    /// Every list, by key.
    pub fn lists(&self) -> impl ExactSizeIterator<Item = &[V]> + Clone {
        (0..self.offsets.len() - 1).map(|key| self.of(K::new(key)))
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The length of a key's list.
    #[inline]
    pub fn degree(&self, key: K) -> usize {
        (self.offsets[key.get() + 1] - self.offsets[key.get()]) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{EdgeIndex, NodeIndex};
    use super::*;

    #[test]
    fn lists_keep_insertion_order() {
        let pairs = [(2, 0), (0, 1), (2, 2), (2, 3)].map(|(k, v)| (NodeIndex(k), EdgeIndex(v)));
        let csr = Csr::group(4, pairs.into_iter());
        assert_eq!(csr.of(NodeIndex(2)), [EdgeIndex(0), EdgeIndex(2), EdgeIndex(3)]);
        assert_eq!(csr.of(NodeIndex(0)), [EdgeIndex(1)]);
        assert_eq!((csr.degree(NodeIndex(1)), csr.degree(NodeIndex(3))), (0, 0));
    }

    #[test]
    fn no_pairs_is_all_empty_lists() {
        let csr: Csr<NodeIndex, EdgeIndex> = Csr::group(3, std::iter::empty());
        assert!(csr.of(NodeIndex(1)).is_empty());
    }
}
