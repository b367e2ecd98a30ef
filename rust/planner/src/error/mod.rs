//! Every way a graph can be refused. Which of them it is, the pass decides that finds it.
//!
//! A message names the operator, the value, the likely cause and the fix; [`PlanError::flink_class`] is the exception the
//! real Flink throws at the same place. The Python layer turns [`Family`] into its exception classes, one to one.

use crate::profile::Profile;

/// The stage that refuses; one Python exception class each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The description of a graph is malformed.
    Spec,
    /// Nodes and edges do not make a StreamGraph.
    StreamGraph,
    /// Operator IDs cannot be assigned.
    OperatorId,
    /// The StreamGraph cannot become a JobGraph.
    JobGraph,
    /// The JobGraph cannot become an ExecutionGraph.
    ExecutionGraph,
}

macro_rules! plan_errors {
    (@class) => { None };
    (@class $class:literal) => { Some($class) };
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* } $family:ident [$($class:literal)?] $text:literal;)*) => {
        /// A refused graph.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum PlanError {
            $($(#[$doc])* $name { $($field: $type),* },)*
        }

        impl PlanError {
            /// The name of the kind, for tables of messages.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$name { .. } => stringify!($name),)* }
            }

            /// Every kind there is.
            pub const KINDS: &'static [&'static str] = &[$(stringify!($name)),*];

            fn own_family(&self) -> Family {
                match self { $(Self::$name { .. } => Family::$family,)* }
            }

            fn own_flink_class(&self) -> Option<&'static str> {
                match self { $(Self::$name { .. } => plan_errors!(@class $($class)?),)* }
            }
        }

        impl std::fmt::Display for PlanError {
            #[allow(unused_variables)]
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $(Self::$name { $($field),* } => write!(f, $text),)* }
            }
        }
    };
}

plan_errors! {
    /// JSON that does not parse, or a field of the wrong type.
    InvalidSpec { call: &'static str, detail: String } Spec []
        "{call} cannot read the graph: {detail}. Give it as FORMAT in docs/planning.md describes: {{\"nodes\": [...], \"edges\": [...]}} with the fields and types listed there.";
    /// A value outside its range.
    InvalidValue { subject: String, field: String, value: String, expected: String } Spec []
        "{subject}: {field} is {value}, expected {expected}.";
    /// A row of a table, for a reason that would also be one without a table.
    TableRow { row: u64, table: String, refusal: Box<PlanError> } Spec []
        "row {row} of the {table} table: {refusal}";
    /// More nodes or edges than a u32 can number.
    TooLarge { what: String, count: u64, limit: u64 } Spec []
        "the graph would have {count} {what}, the limit is {limit}. Unions of unions multiply edges: check that no stream is united with itself again and again.";
    /// Two nodes with one id.
    DuplicateNode { id: i32, first: String, second: String } StreamGraph ["java.lang.RuntimeException"]
        "node id {id} is used twice, by {first} and by {second}. Ids must be unique; give one of them another id.";
    /// An edge, virtual node or setter that points nowhere.
    UnknownNode { id: i32, context: String } StreamGraph ["java.lang.NullPointerException"]
        "{context} refers to node {id}, which has not been added. Add nodes before the edges that use them, or correct the id.";
    /// A builder that has been built.
    BuilderUsed { } StreamGraph ["java.lang.IllegalStateException"]
        "this StreamGraphBuilder has already built its graph. Make a new builder for another graph.";
    /// FORWARD between different parallelisms.
    ForwardParallelism { source: String, source_parallelism: i32, target: String, target_parallelism: i32 } StreamGraph ["java.lang.UnsupportedOperationException"]
        "a FORWARD edge cannot change parallelism: {source} runs with parallelism {source_parallelism}, {target} with {target_parallelism}. Give both the same parallelism, or use rebalance, rescale, shuffle, broadcast or global.";
    /// An edge number that the operator does not have.
    BadTypeNumber { edge: String, target: String, kind: &'static str, input: i32, takes: &'static str } StreamGraph ["java.lang.RuntimeException"]
        "{edge} has input {input}, but {target} is of kind \"{kind}\". Give the edge input {takes}, or {target} another kind: two_input takes input 1 or 2, the others 0.";
    /// Two operators with one uid, or a uid that hashes to another operator's ID.
    DuplicateUid { uid: String, first: String, second: String, id: String } OperatorId ["java.lang.IllegalArgumentException"]
        "uid \"{uid}\" of {second} gives OperatorID {id}, which {first} already has. A uid must be unique in a program; rename one of them.";
    /// A uid hash with a character that is no hex digit.
    UserHashNotHex { operator: String, hash: String } OperatorId ["java.lang.NumberFormatException"]
        "the uid hash \"{hash}\" of {operator} is not hexadecimal. A uid hash is an OperatorID: 32 hex digits, as printed in a plan or a savepoint.";
    /// A uid hash of the wrong length.
    UserHashLength { operator: String, hash: String, bytes: usize } OperatorId ["java.lang.IllegalArgumentException"]
        "the uid hash \"{hash}\" of {operator} has {bytes} bytes instead of 16. A uid hash is an OperatorID: 32 hex digits.";
    /// A uid that hashes to the ID which the position of another operator gives.
    DuplicateVertexId { id: String, first: String, second: String } JobGraph ["java.lang.IllegalArgumentException"]
        "{first} and {second} get the same OperatorID {id}, because the uid of one of them has the bytes of a position. Give one of them another uid.";
    /// A node reached by a chain, of which an input is never reached.
    UnreachedInput { operator: String, waits_for: String, profile: Profile } JobGraph ["java.lang.IllegalArgumentException"]
        "{operator} gets no OperatorID, because its input {waits_for} is not reachable from any source (or waits for it in turn). Connect that input to a source, remove it, or give {operator} a uid.";
    /// Iterations in a Flink that has none.
    NoIterations { loops: usize, flink: &'static str } JobGraph []
        "the program has {loops} iteration(s), and Flink {flink} has none any more. Plan it as Flink 1.11, or take the feedback out of the program.";
    /// An empty name or uid where Flink wants none or a text.
    EmptyText { operator: String, field: &'static str, flink: &'static str } JobGraph ["java.lang.IllegalArgumentException"]
        "{operator} has an empty {field}, which Flink {flink} refuses. Give it a {field} of at least one character.";
    /// A source that something is connected to.
    FedSource { operator: String, input: String, flink: &'static str } JobGraph ["java.lang.IllegalStateException"]
        "{operator} is a source but reads from {input}, which Flink {flink} refuses. Remove that edge, or make {operator} an operator.";
    /// A tree of operators that would not fit.
    DescriptionTooLong { vertex: String, bytes: u64, limit: u64 } JobGraph ["java.lang.OutOfMemoryError"]
        "the description of the vertex that starts with {vertex} would take {bytes} bytes, more than the limit of {limit}: it indents each operator of a chain under the one before. Break the chain, or do without the JSON plan.";
    /// A share of managed memory that is none.
    MemoryShare { operator: String, share: i64, total: i64 } JobGraph ["java.lang.IllegalArgumentException"]
        "{operator} would get {share} of {total} of the managed memory of its slot sharing group, which is not a part of it. Weights must not be negative, and those of a group must add up to less than 2^31.";
    /// Iterations with checkpointing.
    CheckpointedIteration { loops: usize } JobGraph ["java.lang.UnsupportedOperationException"]
        "checkpointing is enabled in a program with {loops} iteration(s), whose records in flight on the feedback edge would be lost on recovery. Disable checkpointing, or force it if that loss is acceptable.";
    /// A cycle that is no iteration.
    Cycle { operators: Vec<String>, length: usize, path: String } JobGraph ["java.lang.StackOverflowError"]
        "the graph has a cycle of {length} operators that is not an iteration: {path}. Remove one of its edges, or express the loop as an iteration.";
    /// A blocking result with a buffer timeout.
    BlockingTimeout { source: String, target: String, timeout: i64 } JobGraph ["java.lang.UnsupportedOperationException"]
        "the edge {source} -> {target} is a blocking exchange, but {source} has buffer timeout {timeout} ms. A blocking exchange never flushes by time: remove the buffer timeout or make the exchange pipelined.";
    /// A vertex without slot sharing group.
    NoSlotSharingGroup { operator: String, profile: Profile } JobGraph ["java.lang.IllegalStateException"]
        "{operator} has no slot sharing group (null). Give it one; \"default\" is the usual.";
    /// Co-location of a vertex without slot sharing group.
    CoLocationWithoutSlotSharing { operator: String, group: String } JobGraph ["java.lang.IllegalStateException"]
        "{operator} is in co-location group \"{group}\" but has no slot sharing group (null). Co-located subtasks share a slot: give it the slot sharing group of the others.";
    /// Co-location across slot sharing groups.
    CoLocationConflict { operator: String, group: String, other: String } JobGraph ["java.lang.IllegalStateException"]
        "co-location group \"{group}\" has {other} and {operator}, which are in different slot sharing groups. Put both into one slot sharing group.";
    /// A streaming plan of nothing.
    EmptyPlan { } StreamGraph ["java.lang.RuntimeException"]
        "the graph has no nodes, so there is no streaming plan to print. Add a source first.";
    /// Parallelism outside 1 … 32768.
    ParallelismBounds { vertex: String, parallelism: i32 } ExecutionGraph ["java.lang.IllegalArgumentException"]
        "{vertex} has parallelism {parallelism}; it must be between 1 and 32768.";
    /// Maximum parallelism outside 1 … 32768.
    MaxParallelismBounds { vertex: String, max_parallelism: i32 } ExecutionGraph ["java.lang.IllegalArgumentException"]
        "{vertex} has maximum parallelism {max_parallelism}; it must be between 1 and 32768 (the number of key groups).";
    /// More subtasks than key groups.
    ParallelismOverMax { vertex: String, parallelism: i32, max_parallelism: i32 } ExecutionGraph ["org.apache.flink.runtime.JobException"]
        "{vertex} has parallelism {parallelism} but maximum parallelism {max_parallelism}: some subtasks would own no key group. Lower the parallelism or raise the maximum.";
    /// Execution edges that would not fit.
    TooManyExecutionEdges { edges: u64, bytes: u64, limit: u64 } ExecutionGraph ["java.lang.OutOfMemoryError"]
        "materialising {edges} execution edges takes {bytes} bytes, more than the limit of {limit} bytes. Read them in chunks with execution_edge_chunks(), raise the limit, or use the grouped form.";
    /// An attempt that may not change its state like that.
    IllegalTransition { attempt: String, from: String, to: String } ExecutionGraph ["java.lang.IllegalStateException"]
        "execution attempt {attempt} cannot go from {from} to {to}.";
    /// Members of a co-location group in different pipelined regions (Flink 2.3).
    CoLocatedAcrossRegions { vertex: String, other: String, subtask: u32 } ExecutionGraph ["java.lang.IllegalStateException"]
        "{vertex} and {other} are co-located, but their subtasks {subtask} are in different pipelined regions, so one could run without the other. Make the exchange between them pipelined, or remove the co-location group.";
    /// More pipelined regions, or groups of partitions, than a u32 can number.
    TooManyRegions { count: u64, what: String, limit: u64 } ExecutionGraph []
        "planning by region would number {count} {what}, the limit is {limit}. Lower the parallelism of the vertices with pointwise or blocking exchanges.";
}

impl std::error::Error for PlanError {}

impl PlanError {
    /// The stage that refuses.
    pub fn family(&self) -> Family {
        self.reason().own_family()
    }

    /// The Java class of the exception Flink throws there; `None` where Flink has no such check.
    pub fn flink_class(&self) -> Option<&'static str> {
        let reason = self.reason();
        let class = reason.own_flink_class();
        match reason {
            Self::NoSlotSharingGroup { profile, .. } | Self::UnreachedInput { profile, .. } => profile.class_of_missing(class),
            _ => class,
        }
    }

    /// Why, without where.
    fn reason(&self) -> &Self {
        let mut reason = self;
        while let Self::TableRow { refusal, .. } = reason {
            reason = refusal;
        }
        reason
    }

    /// The operators concerned, as `name-id`.
    pub fn operators(&self) -> Vec<String> {
        match self.reason() {
            Self::Cycle { operators, .. } => operators.clone(),
            Self::DuplicateNode { first, second, .. }
            | Self::DuplicateUid { first, second, .. }
            | Self::DuplicateVertexId { first, second, .. } => vec![first.clone(), second.clone()],
            Self::ForwardParallelism { source, target, .. } | Self::BlockingTimeout { source, target, .. } => {
                vec![source.clone(), target.clone()]
            }
            Self::CoLocationConflict { operator, other, .. } => vec![other.clone(), operator.clone()],
            Self::FedSource { operator, input, .. } => vec![operator.clone(), input.clone()],
            Self::UnreachedInput { operator, waits_for, .. } => vec![operator.clone(), waits_for.clone()],
            Self::UserHashNotHex { operator, .. }
            | Self::UserHashLength { operator, .. }
            | Self::EmptyText { operator, .. }
            | Self::NoSlotSharingGroup { operator, .. }
            | Self::MemoryShare { operator, .. }
            | Self::CoLocationWithoutSlotSharing { operator, .. } => vec![operator.clone()],
            Self::BadTypeNumber { target, .. } => vec![target.clone()],
            Self::DescriptionTooLong { vertex, .. }
            | Self::ParallelismBounds { vertex, .. }
            | Self::MaxParallelismBounds { vertex, .. }
            | Self::ParallelismOverMax { vertex, .. } => vec![vertex.clone()],
            _ => Vec::new(),
        }
    }
}

/// What a planner step returns.
pub type Result<T> = std::result::Result<T, PlanError>;

#[cfg(test)]
mod tests;
