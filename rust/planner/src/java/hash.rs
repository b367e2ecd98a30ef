//! The iteration order of `java.util.HashMap` and `HashSet` with `Integer` keys.
//!
//! Flink walks such maps where order is visible: sources, co-location members, checkpoint lists. The table starts with 16
//! buckets and doubles above a load of 0.75; a doubling keeps the order inside each half. A bucket that would get its
//! ninth entry doubles the table while it has fewer than 64 buckets, and becomes a red-black tree after that; a tree still
//! iterates by its `next` links, which depend on where each key entered it ([`super::tree`]).
//!
//! While no bucket ever gets a ninth entry, which is so for all but contrived keys, the order is that of the final buckets,
//! entries of one bucket by insertion: that is checked by counting and done by one counting sort. Other keys are inserted
//! one by one into an imitation of the table.
//!
//! Cost: O(n) time and space; O(log n) per key inside a tree bucket.

use super::tree::TreeBin;

const NONE: u32 = u32::MAX;
const TREEIFY_AT: u32 = 8;
const TREEIFY_TABLE: usize = 64;
const FIRST_TABLE: usize = 16;

/// Positions of the keys in iteration order, after inserting them one by one. Keys must be distinct.
pub fn iteration_order(keys: impl IntoIterator<Item = i32>) -> Vec<u32> {
    let hashes: Vec<u32> = keys.into_iter().map(spread).collect();
    match size_without_crowding(&hashes) {
        Some(size) => by_bucket(&hashes, size),
        None => inserted(&hashes).order(),
    }
}

/// What `java.util.HashMap` makes of an Integer's hash code.
fn spread(key: i32) -> u32 {
    key as u32 ^ (key as u32 >> 16)
}

/// The size of the final table, if no bucket gets a ninth entry on the way there.
fn size_without_crowding(hashes: &[u32]) -> Option<usize> {
    let mut size = FIRST_TABLE;
    let mut counts: Vec<u8> = Vec::new();
    loop {
        let capacity = size / 4 * 3; // the entry beyond it is inserted before the table doubles
        counts.clear();
        counts.resize(size, 0);
        for &hash in &hashes[..hashes.len().min(capacity + 1)] {
            let count = &mut counts[hash as usize & (size - 1)];
            *count += 1;
            if u32::from(*count) > TREEIFY_AT {
                return None;
            }
        }
        if hashes.len() <= capacity {
            return Some(size);
        }
        size *= 2;
    }
}

fn by_bucket(hashes: &[u32], size: usize) -> Vec<u32> {
    let bucket = |hash: u32| hash as usize & (size - 1);
    let mut next = vec![0u32; size + 1];
    hashes.iter().for_each(|&hash| next[bucket(hash) + 1] += 1);
    for at in 0..size {
        next[at + 1] += next[at];
    }
    let mut order = vec![0; hashes.len()];
    for (entry, &hash) in hashes.iter().enumerate() {
        let place = &mut next[bucket(hash)];
        order[*place as usize] = entry as u32;
        *place += 1;
    }
    order
}

fn inserted(hashes: &[u32]) -> Table {
    let mut table = Table::new();
    hashes.iter().for_each(|&hash| table.insert(hash));
    table
}

#[derive(Clone)]
enum Bucket {
    List { first: u32, last: u32, length: u32 },
    Tree(Box<TreeBin>),
}

const EMPTY: Bucket = Bucket::List { first: NONE, last: NONE, length: 0 };

struct Table {
    hashes: Vec<u32>,
    next: Vec<u32>,
    buckets: Vec<Bucket>,
}

impl Table {
    fn new() -> Self {
        Self { hashes: Vec::new(), next: Vec::new(), buckets: Vec::new() }
    }

    fn insert(&mut self, spread: u32) {
        if self.buckets.is_empty() {
            self.buckets = vec![EMPTY; FIRST_TABLE];
        }
        let entry = self.hashes.len() as u32;
        self.hashes.push(spread);
        self.next.push(NONE);
        let bucket = spread as usize & (self.buckets.len() - 1);
        match &mut self.buckets[bucket] {
            Bucket::Tree(tree) => tree.insert(entry, &self.hashes),
            Bucket::List { length, .. } => {
                let crowded = *length >= TREEIFY_AT;
                self.append(bucket, entry);
                if crowded {
                    self.treeify(bucket);
                }
            }
        }
        if self.hashes.len() > self.buckets.len() / 4 * 3 {
            self.double();
        }
    }

    fn append(&mut self, bucket: usize, entry: u32) {
        self.next[entry as usize] = NONE;
        let Bucket::List { first, last, length } = &mut self.buckets[bucket] else { unreachable!("trees grow by insert") };
        if *first == NONE {
            *first = entry;
        } else {
            self.next[*last as usize] = entry;
        }
        *last = entry;
        *length += 1;
    }

    fn treeify(&mut self, bucket: usize) {
        if self.buckets.len() < TREEIFY_TABLE {
            self.double();
        } else {
            let entries = self.entries(&self.buckets[bucket]);
            self.buckets[bucket] = Bucket::Tree(Box::new(TreeBin::build(&entries, &self.hashes)));
        }
    }

    fn double(&mut self) {
        let half = self.buckets.len();
        let old = std::mem::replace(&mut self.buckets, vec![EMPTY; half * 2]);
        for (position, bucket) in old.into_iter().enumerate() {
            let entries = self.entries(&bucket);
            let is_low = |&&entry: &&u32| self.hashes[entry as usize] as usize & half == 0;
            let (low, high): (Vec<u32>, Vec<u32>) = entries.iter().partition(|entry| is_low(entry));
            match bucket {
                Bucket::List { .. } => {
                    self.relink(position, &low);
                    self.relink(position + half, &high);
                }
                Bucket::Tree(tree) => self.split(*tree, position, half, &low, &high),
            }
        }
    }

    fn relink(&mut self, bucket: usize, entries: &[u32]) {
        for &entry in entries {
            self.append(bucket, entry);
        }
    }

    /// A half of up to six entries turns back into a list; a half that is everything keeps its tree as it stands.
    fn split(&mut self, tree: TreeBin, position: usize, half: usize, low: &[u32], high: &[u32]) {
        let sides = [(position, low, high), (position + half, high, low)];
        let mut whole = Some(tree);
        for (bucket, own, other) in sides {
            if own.len() <= 6 {
                self.relink(bucket, own);
            } else if other.is_empty() {
                self.buckets[bucket] = Bucket::Tree(Box::new(whole.take().expect("only one side is whole")));
            } else {
                self.buckets[bucket] = Bucket::Tree(Box::new(TreeBin::build(own, &self.hashes)));
            }
        }
    }

    fn entries(&self, bucket: &Bucket) -> Vec<u32> {
        match bucket {
            Bucket::Tree(tree) => tree.order(),
            Bucket::List { first, length, .. } => {
                let mut entries = Vec::with_capacity(*length as usize);
                let mut entry = *first;
                while entry != NONE {
                    entries.push(entry);
                    entry = self.next[entry as usize];
                }
                entries
            }
        }
    }

    fn order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.hashes.len());
        for bucket in &self.buckets {
            order.extend(self.entries(bucket));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys_in_order(keys: &[i32]) -> Vec<i32> {
        iteration_order(keys.iter().copied()).into_iter().map(|at| keys[at as usize]).collect()
    }

    #[test]
    fn small_keys_iterate_by_bucket() {
        assert_eq!(keys_in_order(&[3, 1, 2]), [1, 2, 3]);
        assert_eq!(keys_in_order(&[17, 1]), [17, 1]);
        assert_eq!(keys_in_order(&[45, -1]), [-1, 45]);
        assert!(keys_in_order(&[]).is_empty());
    }

    #[test]
    fn every_key_appears_once() {
        let keys: Vec<i32> = (0..20_000).map(|i: i32| i.wrapping_mul(65_536).wrapping_add(i / 7)).collect();
        let mut seen = keys_in_order(&keys);
        let mut expected = keys;
        seen.sort_unstable();
        expected.sort_unstable();
        expected.dedup();
        seen.dedup();
        assert_eq!(seen, expected);
    }

    proptest! {
        #[test]
        fn counting_gives_the_order_of_insertion(keys in prop::collection::hash_set(-200i32..200, 0..300), stride in 1i32..70) {
            let hashes: Vec<u32> = keys.into_iter().map(|key| spread(key.wrapping_mul(stride))).collect();
            if let Some(size) = size_without_crowding(&hashes) {
                prop_assert_eq!(by_bucket(&hashes, size), inserted(&hashes).order());
            }
        }
    }

    #[test]
    fn crowded_buckets_are_not_counted() {
        let crowded: Vec<u32> = (0..9).map(|key| spread(key * 16)).collect();
        assert_eq!(size_without_crowding(&crowded), None);
        assert_eq!(size_without_crowding(&crowded[..8]), Some(16));
    }
}
