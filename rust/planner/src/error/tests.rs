//! Every kind of error with its message pinned: a new kind without an entry here fails.

use super::PlanError::{self, *};
use crate::profile::Profile;

fn text(value: &str) -> String {
    value.into()
}

type Pinned = Vec<(PlanError, &'static str)>;

/// One of each kind, and what it says.
fn table() -> Pinned {
    [descriptions(), operator_ids(), job_graphs(), exchanges(), execution_graphs()].concat()
}

fn descriptions() -> Pinned {
    vec![
        (
            InvalidSpec { call: "StreamGraph.from_json()", detail: text("nodes[0].id: invalid type") },
            "StreamGraph.from_json() cannot read the graph: nodes[0].id: invalid type. Give it as FORMAT in docs/planning.md describes: {\"nodes\": [...], \"edges\": [...]} with the fields and types listed there.",
        ),
        (
            InvalidValue { subject: text("node 1 (Map)"), field: text("cpu"), value: text("-1"), expected: text("zero or more") },
            "node 1 (Map): cpu is -1, expected zero or more.",
        ),
        (
            TableRow { row: 5, table: text("edges"), refusal: Box::new(BuilderUsed {}) },
            "row 5 of the edges table: this StreamGraphBuilder has already built its graph. Make a new builder for another graph.",
        ),
        (
            TooLarge { what: text("edges"), count: 9, limit: 8 },
            "the graph would have 9 edges, the limit is 8. Unions of unions multiply edges: check that no stream is united with itself again and again.",
        ),
        (
            DuplicateNode { id: 7, first: text("Map-1"), second: text("Filter-2") },
            "node id 7 is used twice, by Map-1 and by Filter-2. Ids must be unique; give one of them another id.",
        ),
        (
            UnknownNode { id: 7, context: text("the edge Map-1 -> 7") },
            "the edge Map-1 -> 7 refers to node 7, which has not been added. Add nodes before the edges that use them, or correct the id.",
        ),
        (BuilderUsed {}, "this StreamGraphBuilder has already built its graph. Make a new builder for another graph."),
        (
            ForwardParallelism { source: text("Map-1"), source_parallelism: 2, target: text("Filter-2"), target_parallelism: 3 },
            "a FORWARD edge cannot change parallelism: Map-1 runs with parallelism 2, Filter-2 with 3. Give both the same parallelism, or use rebalance, rescale, shuffle, broadcast or global.",
        ),
        (
            BadTypeNumber { edge: text("the edge Map-1 -> Filter-2"), target: text("Filter-2"), kind: "operator", input: 1, takes: "0" },
            "the edge Map-1 -> Filter-2 has input 1, but Filter-2 is of kind \"operator\". Give the edge input 0, or Filter-2 another kind: two_input takes input 1 or 2, the others 0.",
        ),
    ]
}

fn operator_ids() -> Pinned {
    vec![
        (
            DuplicateUid { uid: text("same"), first: text("Map-1"), second: text("Filter-2"), id: text("0a0b") },
            "uid \"same\" of Filter-2 gives OperatorID 0a0b, which Map-1 already has. A uid must be unique in a program; rename one of them.",
        ),
        (
            UserHashNotHex { operator: text("Map-1"), hash: text("abc") },
            "the uid hash \"abc\" of Map-1 is not hexadecimal. A uid hash is an OperatorID: 32 hex digits, as printed in a plan or a savepoint.",
        ),
        (
            UserHashLength { operator: text("Map-1"), hash: text("abc"), bytes: 1 },
            "the uid hash \"abc\" of Map-1 has 1 bytes instead of 16. A uid hash is an OperatorID: 32 hex digits.",
        ),
        (
            DuplicateVertexId { id: text("0a0b"), first: text("Map-1"), second: text("Filter-2") },
            "Map-1 and Filter-2 get the same OperatorID 0a0b, because the uid of one of them has the bytes of a position. Give one of them another uid.",
        ),
        (
            UnreachedInput { operator: text("Map-1"), waits_for: text("Filter-2"), profile: Profile::V1_11 },
            "Map-1 gets no OperatorID, because its input Filter-2 is not reachable from any source (or waits for it in turn). Connect that input to a source, remove it, or give Map-1 a uid.",
        ),
    ]
}

fn job_graphs() -> Pinned {
    vec![
        (
            NoIterations { loops: 1, flink: "2.3" },
            "the program has 1 iteration(s), and Flink 2.3 has none any more. Plan it as Flink 1.11, or take the feedback out of the program.",
        ),
        (
            EmptyText { operator: text("Map-1"), field: "uid", flink: "2.3" },
            "Map-1 has an empty uid, which Flink 2.3 refuses. Give it a uid of at least one character.",
        ),
        (
            FedSource { operator: text("Map-1"), input: text("Filter-2"), flink: "2.3" },
            "Map-1 is a source but reads from Filter-2, which Flink 2.3 refuses. Remove that edge, or make Map-1 an operator.",
        ),
        (
            DescriptionTooLong { vertex: text("Map-1"), bytes: 9, limit: 8 },
            "the description of the vertex that starts with Map-1 would take 9 bytes, more than the limit of 8: it indents each operator of a chain under the one before. Break the chain, or do without the JSON plan.",
        ),
        (
            MemoryShare { operator: text("Map-1"), share: 7, total: 5 },
            "Map-1 would get 7 of 5 of the managed memory of its slot sharing group, which is not a part of it. Weights must not be negative, and those of a group must add up to less than 2^31.",
        ),
    ]
}

fn exchanges() -> Pinned {
    vec![
        (
            CheckpointedIteration { loops: 1 },
            "checkpointing is enabled in a program with 1 iteration(s), whose records in flight on the feedback edge would be lost on recovery. Disable checkpointing, or force it if that loss is acceptable.",
        ),
        (
            Cycle { operators: vec![text("Map-1"), text("Filter-2")], length: 2, path: text("Map-1 -> Filter-2 -> Map-1") },
            "the graph has a cycle of 2 operators that is not an iteration: Map-1 -> Filter-2 -> Map-1. Remove one of its edges, or express the loop as an iteration.",
        ),
        (
            BlockingTimeout { source: text("Map-1"), target: text("Filter-2"), timeout: 10 },
            "the edge Map-1 -> Filter-2 is a blocking exchange, but Map-1 has buffer timeout 10 ms. A blocking exchange never flushes by time: remove the buffer timeout or make the exchange pipelined.",
        ),
        (
            NoSlotSharingGroup { operator: text("Map-1"), profile: Profile::V2_3 },
            "Map-1 has no slot sharing group (null). Give it one; \"default\" is the usual.",
        ),
        (
            CoLocationWithoutSlotSharing { operator: text("Map-1"), group: text("g") },
            "Map-1 is in co-location group \"g\" but has no slot sharing group (null). Co-located subtasks share a slot: give it the slot sharing group of the others.",
        ),
        (
            CoLocationConflict { operator: text("Map-1"), group: text("g"), other: text("Filter-2") },
            "co-location group \"g\" has Filter-2 and Map-1, which are in different slot sharing groups. Put both into one slot sharing group.",
        ),
    ]
}

fn execution_graphs() -> Pinned {
    vec![
        (EmptyPlan {}, "the graph has no nodes, so there is no streaming plan to print. Add a source first."),
        (ParallelismBounds { vertex: text("Map"), parallelism: 4 }, "Map has parallelism 4; it must be between 1 and 32768."),
        (
            MaxParallelismBounds { vertex: text("Map"), max_parallelism: 3 },
            "Map has maximum parallelism 3; it must be between 1 and 32768 (the number of key groups).",
        ),
        (
            ParallelismOverMax { vertex: text("Map"), parallelism: 4, max_parallelism: 3 },
            "Map has parallelism 4 but maximum parallelism 3: some subtasks would own no key group. Lower the parallelism or raise the maximum.",
        ),
        (
            TooManyExecutionEdges { edges: 64, bytes: 1, limit: 8 },
            "materialising 64 execution edges takes 1 bytes, more than the limit of 8 bytes. Read them in chunks with execution_edge_chunks(), raise the limit, or use the grouped form.",
        ),
        (
            IllegalTransition { attempt: text("a_0_0"), from: text("FINISHED"), to: text("RUNNING") },
            "execution attempt a_0_0 cannot go from FINISHED to RUNNING.",
        ),
        (
            CoLocatedAcrossRegions { vertex: text("Map"), other: text("Sink"), subtask: 1 },
            "Map and Sink are co-located, but their subtasks 1 are in different pipelined regions, so one could run without the other. Make the exchange between them pipelined, or remove the co-location group.",
        ),
        (
            TooManyRegions { count: 9, what: text("subtasks"), limit: 8 },
            "planning by region would number 9 subtasks, the limit is 8. Lower the parallelism of the vertices with pointwise or blocking exchanges.",
        ),
    ]
}

#[test]
fn every_kind_has_a_pinned_message() {
    for (error, message) in table() {
        assert_eq!(error.to_string(), message, "{}", error.kind());
    }
}

#[test]
fn no_kind_is_forgotten() {
    let kinds: Vec<&str> = table().iter().map(|(error, _)| error.kind()).collect();
    assert_eq!(kinds, PlanError::KINDS);
}

#[test]
fn messages_name_the_operators_they_list() {
    for (error, message) in table() {
        for operator in error.operators() {
            assert!(message.contains(&operator), "{}: {operator}", error.kind());
        }
    }
}

#[test]
fn a_row_of_a_table_is_refused_as_the_same_without_a_table_would_be() {
    let reason = DuplicateNode { id: 7, first: text("Map-1"), second: text("Filter-2") };
    let row = TableRow { row: 1, table: text("nodes"), refusal: Box::new(reason.clone()) };
    assert_eq!((row.family(), row.flink_class(), row.operators()), (reason.family(), reason.flink_class(), reason.operators()));
}
