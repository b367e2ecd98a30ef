//! Graphs as arrays: index spaces, columns, adjacency, texts. Nothing here knows Flink.

mod column;
mod csr;
mod index;
mod names;
mod ragged;
mod union_find;

pub use column::Column;
pub use csr::Csr;
pub use index::{
    Bucket, CoLocationIndex, DataSetIndex, EdgeIndex, ExecutionVertexIndex, Index, JobEdgeIndex, NameId, NodeIndex, OperatorIndex,
    RegionIndex, SlotGroupIndex, VertexIndex, all,
};
pub use names::Names;
pub use ragged::Ragged;
pub use union_find::UnionFind;
