//! Index spaces of the planner.
//!
//! A graph is arrays; what points into an array is a `u32` in a newtype, so that the index of a node cannot be used where
//! the index of an edge belongs. External identifiers (`i32` node ids of a program) never leave the door.

/// An index into one array of the planner.
pub trait Index: Copy + Eq + Ord {
    /// Wraps a position. Callers guarantee that it is below `u32::MAX`.
    fn new(position: usize) -> Self;
    /// The position in the array.
    fn get(self) -> usize;
}

macro_rules! index_space {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl Index for $name {
            #[inline]
            fn new(position: usize) -> Self {
                debug_assert!(position < u32::MAX as usize);
                Self(position as u32)
            }
            #[inline]
            fn get(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index_space! {
    /// A StreamNode, in order of addition.
    NodeIndex;
    /// A StreamEdge, in order of addition.
    EdgeIndex;
    /// A JobVertex, in order of creation (Flink's `getVertices()`).
    VertexIndex;
    /// An operator inside a JobVertex: one row of the chain table. A node can have two rows.
    OperatorIndex;
    /// A JobEdge, in the order in which edges were connected.
    JobEdgeIndex;
    /// An IntermediateDataSet, in order of creation.
    DataSetIndex;
    /// A slot sharing group object.
    SlotGroupIndex;
    /// A co-location group object.
    CoLocationIndex;
    /// A string of the arena.
    NameId;
    /// A bucket of a sort.
    Bucket;
    /// An ExecutionJobVertex, in order of creation (topological).
    ExecutionVertexIndex;
    /// A pipelined region, in order of its first subtask.
    RegionIndex;
}

/// Every index of a space of the given size, in order.
pub fn all<I: Index>(size: usize) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone {
    (0..size).map(I::new)
}
