//! Nodes and edges column by column: a pass reads the columns it needs, in order, and no others.
//!
//! A row is put together on request ([`NodeTable::row`]), which is what everything outside of hot loops uses.

use super::types::{ChainingStrategy, Partitioner, Role, ShuffleMode, StreamEdge, StreamNode};
use crate::dense::{Column, NameId, NodeIndex};

macro_rules! table {
    ($(#[$doc:meta])* $table:ident of $row:ident {
        listed { $($listed:ident: $listed_type:ty),* $(,)? }
        mostly_equal { $($equal:ident: $equal_type:ty),* $(,)? }
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $table {
            $(pub $listed: Vec<$listed_type>,)*
            $(pub $equal: Column<$equal_type>,)*
        }

        impl $table {
            /// An empty table with room.
            pub fn with_capacity(rows: usize) -> Self {
                Self { $($listed: Vec::with_capacity(rows),)* $($equal: Column::default(),)* }
            }

            /// Makes room for more rows.
            pub fn reserve(&mut self, rows: usize) {
                $(self.$listed.reserve(rows);)*
            }

            /// Appends a row.
            pub fn push(&mut self, row: $row) {
                let $row { $($listed,)* $($equal,)* } = row;
                let room = self.capacity();
                $(self.$listed.push($listed);)*
                $(self.$equal.push($equal, room);)*
            }

            /// A row, put together.
            #[inline]
            pub fn row(&self, at: usize) -> $row {
                $row { $($listed: self.$listed[at],)* $($equal: self.$equal.get(at),)* }
            }
        }
    };
}

table! {
    /// All nodes of a graph.
    NodeTable of StreamNode {
        listed { id: i32, name: NameId, role: Role }
        mostly_equal {
            yielding: bool,
            chaining_strategy: ChainingStrategy,
            uid: Option<NameId>,
            user_hash: Option<NameId>,
            slot_sharing_group: Option<NameId>,
            co_location_group: Option<NameId>,
            parallelism: i32,
            max_parallelism: i32,
            managed_memory_weight: Option<i32>,
            extras: Option<u32>,
            buffer_timeout: i64,
        }
    }
}

table! {
    /// All edges of a graph.
    EdgeTable of StreamEdge {
        listed { source: NodeIndex, target: NodeIndex }
        mostly_equal {
            partitioner: Partitioner,
            shuffle_mode: ShuffleMode,
            type_number: u8,
            side_output: Option<NameId>,
            partition_node: Option<i32>,
            buffer_timeout: i64,
        }
    }
}

impl NodeTable {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Number of nodes there is room for.
    pub fn capacity(&self) -> usize {
        self.id.capacity()
    }
}

impl EdgeTable {
    /// Number of edges.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Number of edges there is room for.
    pub fn capacity(&self) -> usize {
        self.source.capacity()
    }

    /// Every row, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = StreamEdge> + '_ {
        (0..self.len()).map(|at| self.row(at))
    }
}
