//! The door of a graph: from the external ids of its nodes to their indices.
//!
//! Programs number their operators one after the other, and so do tables of millions of rows. As long as every id is one
//! more than the id before it, nothing is stored and a look-up is a subtraction; the first other id makes it a hash map.
//! Cost: amortised O(1) to add and to find; no space for consecutive ids, about 9–18 bytes per node otherwise.

use hashbrown::HashMap;

use crate::dense::{Index, NodeIndex};

/// Index by external id.
#[derive(Debug)]
pub(crate) enum NodeIds {
    /// `first`, `first + 1`, …: the node with index `i` has the id `first + i`.
    Consecutive { first: i32, count: u32 },
    /// Any other ids.
    Scattered(HashMap<i32, NodeIndex>),
}

impl Default for NodeIds {
    fn default() -> Self {
        Self::Consecutive { first: 0, count: 0 }
    }
}

impl NodeIds {
    /// The node with an id.
    #[inline]
    pub fn find(&self, id: i32) -> Option<NodeIndex> {
        match self {
            Self::Consecutive { first, count } => {
                let at = i64::from(id) - i64::from(*first);
                (0..i64::from(*count)).contains(&at).then(|| NodeIndex::new(at as usize))
            }
            Self::Scattered(table) => table.get(&id).copied(),
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            Self::Consecutive { count, .. } => *count as usize,
            Self::Scattered(table) => table.len(),
        }
    }

    /// Adds the id of the next node, which nobody has yet; `room` is how many nodes are expected in all.
    pub fn push(&mut self, id: i32, room: usize) {
        let index = NodeIndex::new(self.len());
        match self {
            Self::Consecutive { first, count } if *count == 0 => (*first, *count) = (id, 1),
            Self::Consecutive { first, count } if i64::from(*first) + i64::from(*count) == i64::from(id) => *count += 1,
            Self::Consecutive { first, count } => {
                let mut table = HashMap::with_capacity(room.max(*count as usize + 1));
                table.extend((0..*count).map(|at| (first.wrapping_add_unsigned(at), NodeIndex(at))));
                table.insert(id, index);
                *self = Self::Scattered(table);
            }
            Self::Scattered(table) => {
                table.insert(id, index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pushed(ids: &[i32]) -> NodeIds {
        let mut table = NodeIds::default();
        ids.iter().for_each(|&id| table.push(id, ids.len()));
        table
    }

    #[test]
    fn consecutive_ids_take_no_space_up_to_the_ends_of_the_range() {
        for ids in [[-1, 0, 1], [i32::MAX - 2, i32::MAX - 1, i32::MAX], [i32::MIN, i32::MIN + 1, i32::MIN + 2]] {
            let table = pushed(&ids);
            assert!(matches!(table, NodeIds::Consecutive { count: 3, .. }));
            assert_eq!(ids.map(|id| table.find(id)), [0, 1, 2].map(|at| Some(NodeIndex(at))));
            assert_eq!([ids[0].wrapping_sub(1), ids[2].wrapping_add(1)].map(|id| table.find(id)), [None, None]);
        }
        assert!(matches!(pushed(&[i32::MAX, i32::MIN]), NodeIds::Scattered(_)), "ids do not wrap");
    }

    proptest! {
        #[test]
        fn finds_what_a_search_finds(mut ids in prop::collection::vec(-20i32..20, 0..20), probe in -25i32..25) {
            let mut seen = std::collections::HashSet::new();
            ids.retain(|id| seen.insert(*id));
            let table = pushed(&ids);
            prop_assert_eq!(table.len(), ids.len());
            prop_assert_eq!(table.find(probe), ids.iter().position(|&id| id == probe).map(NodeIndex::new));
        }
    }
}
