//! What an exchange between two vertices is: who is connected to whom, and when records may be read.
//!
//! Semantics: `StreamingJobGraphGenerator.connect` and `determineResultPartitionType`.

use crate::dense::{EdgeIndex, Index};
use crate::stream_graph::{ExchangeMode, Partitioner, ShuffleMode, StreamGraph};

/// How subtasks of producer and consumer are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Each with its share of the other side.
    Pointwise,
    /// Each with all.
    AllToAll,
}

impl Distribution {
    /// What a partitioner needs.
    pub fn of(partitioner: Partitioner) -> Self {
        match partitioner {
            Partitioner::Forward | Partitioner::Rescale => Self::Pointwise,
            Partitioner::Rebalance
            | Partitioner::Shuffle
            | Partitioner::Broadcast
            | Partitioner::Global
            | Partitioner::Hash
            | Partitioner::Custom => Self::AllToAll,
        }
    }

    /// Flink's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pointwise => "POINTWISE",
            Self::AllToAll => "ALL_TO_ALL",
        }
    }
}

/// When a result may be consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultType {
    /// While it is produced, with bounded buffers.
    PipelinedBounded,
    /// After it is complete.
    Blocking,
}

impl ResultType {
    /// The edge's own mode first; an undefined one takes the program's.
    pub fn of(mode: ShuffleMode, exchange: ExchangeMode, partitioner: Partitioner) -> Self {
        let pipelined = match (mode, exchange) {
            (ShuffleMode::Pipelined, _) | (ShuffleMode::Undefined, ExchangeMode::AllPipelined) => true,
            (ShuffleMode::Batch, _) | (ShuffleMode::Undefined, ExchangeMode::AllBlocking) => false,
            (ShuffleMode::Undefined, ExchangeMode::ForwardPipelined) => partitioner == Partitioner::Forward,
            (ShuffleMode::Undefined, ExchangeMode::PointwisePipelined) => Distribution::of(partitioner) == Distribution::Pointwise,
        };
        if pipelined { Self::PipelinedBounded } else { Self::Blocking }
    }

    /// What becomes of an edge of a program.
    #[inline]
    pub fn of_edge(graph: &StreamGraph, edge: EdgeIndex) -> Self {
        let at = edge.get();
        Self::of(graph.edges.shuffle_mode.get(at), graph.settings.exchange_mode, graph.edges.partitioner.get(at))
    }

    /// Flink's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PipelinedBounded => "PIPELINED_BOUNDED",
            Self::Blocking => "BLOCKING",
        }
    }

    /// Whether it is consumed while it is produced.
    pub fn is_pipelined(self) -> bool {
        self == Self::PipelinedBounded
    }
}
