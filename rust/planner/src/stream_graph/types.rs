//! What nodes, edges and settings consist of. Names are Flink's.

use super::resources::Resources;
use crate::dense::{NameId, NodeIndex};

macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),* }

        impl $name {
            /// Flink's spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Every spelling, for messages.
            pub const ALL: &'static [&'static str] = &[$($text),*];

            /// The variant with this spelling.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

named_enum! {
    /// How records of an edge are spread over the subtasks of its target.
    Partitioner {
        /// To the subtask with the same index; the only partitioner that chains.
        Forward = "FORWARD",
        /// Round robin over all.
        Rebalance = "REBALANCE",
        /// Round robin over a local share.
        Rescale = "RESCALE",
        /// At random.
        Shuffle = "SHUFFLE",
        /// To every one.
        Broadcast = "BROADCAST",
        /// To subtask 0.
        Global = "GLOBAL",
        /// By key group.
        Hash = "HASH",
        /// By a user function.
        Custom = "CUSTOM",
    }
}

named_enum! {
    /// The exchange mode an edge asks for.
    ShuffleMode {
        /// Records flow while the producer runs.
        Pipelined = "PIPELINED",
        /// The consumer starts when the producer has finished.
        Batch = "BATCH",
        /// As the program's exchange mode says.
        Undefined = "UNDEFINED",
    }
}

named_enum! {
    /// Flink's `GlobalDataExchangeMode`: what UNDEFINED edges become.
    ExchangeMode {
        /// All pipelined.
        AllPipelined = "ALL_EDGES_PIPELINED",
        /// All blocking.
        AllBlocking = "ALL_EDGES_BLOCKING",
        /// Pipelined where FORWARD.
        ForwardPipelined = "FORWARD_EDGES_PIPELINED",
        /// Pipelined where FORWARD or RESCALE.
        PointwisePipelined = "POINTWISE_EDGES_PIPELINED",
    }
}

named_enum! {
    /// When vertices are scheduled.
    ScheduleMode {
        /// All at once.
        Eager = "EAGER",
        /// As inputs become available.
        LazyFromSources = "LAZY_FROM_SOURCES",
        /// As inputs become available, slots requested in batches.
        LazyFromSourcesWithBatchSlotRequest = "LAZY_FROM_SOURCES_WITH_BATCH_SLOT_REQUEST",
    }
}

named_enum! {
    /// What an operator allows its neighbours.
    ChainingStrategy {
        /// Chains with predecessor and successor.
        Always = "ALWAYS",
        /// Stands alone.
        Never = "NEVER",
        /// Starts a chain.
        Head = "HEAD",
    }
}

named_enum! {
    /// What a checkpoint guarantees.
    CheckpointingMode {
        /// Aligned barriers.
        ExactlyOnce = "EXACTLY_ONCE",
        /// No alignment.
        AtLeastOnce = "AT_LEAST_ONCE",
    }
}

/// What a node is in the program; fixes its task class and whether it has an operator at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `addLegacySource`.
    Source,
    /// `addOperator`.
    Operator,
    /// `addCoOperator`.
    TwoInput,
    /// `addSink`.
    Sink,
    /// The head of a loop: a source without operator.
    IterationHead,
    /// The tail of a loop: a sink without operator.
    IterationTail,
}

impl Role {
    /// Counted among the sources of the graph.
    pub fn is_source(self) -> bool {
        matches!(self, Self::Source | Self::IterationHead)
    }

    /// Counted among the sinks of the graph.
    pub fn is_sink(self) -> bool {
        matches!(self, Self::Sink | Self::IterationTail)
    }

    /// Whether there is an operator to chain.
    pub fn has_operator(self) -> bool {
        !matches!(self, Self::IterationHead | Self::IterationTail)
    }

    /// Its name in descriptions and views.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Operator => "operator",
            Self::TwoInput => "two_input",
            Self::Sink => "sink",
            Self::IterationHead => "iteration_head",
            Self::IterationTail => "iteration_tail",
        }
    }

    /// The names of nodes that can be added one by one; loops are added as a whole.
    pub const KINDS: &'static [&'static str] = &["source", "operator", "two_input", "sink"];

    /// The role with this name.
    pub fn of_kind(kind: &str) -> Option<Self> {
        [Self::Source, Self::Operator, Self::TwoInput, Self::Sink].into_iter().find(|role| role.as_str() == kind)
    }
}

/// One operator of the program.
#[derive(Clone, Copy, Debug)]
pub struct StreamNode {
    /// The external id: Flink's transformation id, negative for loops.
    pub id: i32,
    /// Final name, prefixes included.
    pub name: NameId,
    /// What it is.
    pub role: Role,
    /// A factory that may give control back to the mailbox; never chained behind a source.
    pub yielding: bool,
    /// What it allows its neighbours.
    pub chaining_strategy: ChainingStrategy,
    /// User-given identity, hashed.
    pub uid: Option<NameId>,
    /// User-given identity, taken as the (alternative) ID itself.
    pub user_hash: Option<NameId>,
    /// `None` is Java's null.
    pub slot_sharing_group: Option<NameId>,
    /// Key of a co-location constraint.
    pub co_location_group: Option<NameId>,
    /// Zero or less: unset.
    pub parallelism: i32,
    /// −1: unset.
    pub max_parallelism: i32,
    /// Share of managed memory, where one was declared; what none means depends on the Flink that plans.
    pub managed_memory_weight: Option<i32>,
    /// Row of the table of what few nodes have; see [`NodeExtras`].
    pub(crate) extras: Option<u32>,
    /// Milliseconds; −1: unset.
    pub buffer_timeout: i64,
}

impl StreamNode {
    /// Whether its operator is a (legacy) stream source.
    pub fn is_stream_source(&self) -> bool {
        self.role == Role::Source && !self.yielding
    }

    /// Simple name of the task class Flink would run.
    pub fn default_task(&self) -> &'static str {
        match self.role {
            Role::Source if self.yielding => "OneInputStreamTask",
            Role::Source => "SourceStreamTask",
            Role::Operator | Role::Sink => "OneInputStreamTask",
            Role::TwoInput => "TwoInputStreamTask",
            Role::IterationHead => "StreamIterationHead",
            Role::IterationTail => "StreamIterationTail",
        }
    }
}

/// What few nodes have, kept out of the node table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeExtras {
    /// Task class, where it is not the default of the role.
    pub task: Option<NameId>,
    /// `None` is Flink's UNKNOWN.
    pub resources: Option<Resources>,
    /// Class or description of an input format the operator reads.
    pub input_format: Option<NameId>,
    /// Class or description of an output format the operator writes.
    pub output_format: Option<NameId>,
    /// Class or description of the operator's coordinator.
    pub coordinator: Option<NameId>,
}

/// One connection of the program, between real nodes.
#[derive(Clone, Copy, Debug)]
pub struct StreamEdge {
    /// Where records come from.
    pub source: NodeIndex,
    /// Where they go.
    pub target: NodeIndex,
    /// How they are spread.
    pub partitioner: Partitioner,
    /// The exchange mode it asks for.
    pub shuffle_mode: ShuffleMode,
    /// 0: the input of a one-input operator; 1, 2: those of a two-input operator.
    pub type_number: u8,
    /// Id of the side output it carries.
    pub side_output: Option<NameId>,
    /// Id of the virtual partition node that chose the partitioner, so that its key selector can be found again.
    pub partition_node: Option<i32>,
    /// Copied from the source when the edge was added. Milliseconds; −1: unset.
    pub buffer_timeout: i64,
}

/// A loop: feedback leaves through the tail and comes back out of the head.
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    /// Id of the feedback transformation.
    pub loop_id: i32,
    /// The head node.
    pub head: NodeIndex,
    /// The tail node.
    pub tail: NodeIndex,
    /// Parallelism of both.
    pub parallelism: i32,
    /// Maximum parallelism of the head.
    pub max_parallelism: i32,
    /// Milliseconds without feedback after which the loop ends; 0: never.
    pub timeout: i64,
}

/// Settings of a program that its plan depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Name of the description, carried through.
    pub name: String,
    /// Name of the job.
    pub job_name: String,
    /// Whether operators are chained at all.
    pub chaining_enabled: bool,
    /// What UNDEFINED edges become.
    pub exchange_mode: ExchangeMode,
    /// When vertices are scheduled.
    pub schedule_mode: ScheduleMode,
    /// Whether checkpoints are taken.
    pub checkpointing_enabled: bool,
    /// Milliseconds between checkpoints.
    pub checkpoint_interval: i64,
    /// What a checkpoint guarantees.
    pub checkpointing_mode: CheckpointingMode,
    /// Checkpoint loops in spite of what that loses.
    pub force_checkpointing: bool,
    /// One slot sharing group "default" for all, or one per pipelined region.
    pub all_vertices_in_same_slot_sharing_group: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: String::new(),
            job_name: "job".into(),
            chaining_enabled: true,
            exchange_mode: ExchangeMode::AllPipelined,
            schedule_mode: ScheduleMode::Eager,
            checkpointing_enabled: false,
            checkpoint_interval: 1000,
            checkpointing_mode: CheckpointingMode::ExactlyOnce,
            force_checkpointing: false,
            all_vertices_in_same_slot_sharing_group: true,
        }
    }
}

impl Settings {
    /// Flink counts checkpointing as enabled only with a positive interval.
    pub fn checkpoints(&self) -> bool {
        self.checkpointing_enabled && self.checkpoint_interval > 0
    }
}
