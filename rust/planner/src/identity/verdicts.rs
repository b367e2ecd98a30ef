//! Pass 1: a verdict for every edge, chained or the first rule that broke.
//!
//! Semantics: Flink's `StreamingJobGraphGenerator.isChainable` and `areOperatorsChainable`. Every later pass asks this
//! table; no pass asks the rules again.
//!
//! Cost: O(nodes + edges) time, one byte per edge and node. A yielding operator must not be chained behind a source, for
//! which the head of the upstream chain is needed: Flink walks up for every question, which is exponential on diamonds of
//! yielding operators; here each node's answer is found once.

use crate::dense::{EdgeIndex, Index, NodeIndex, all};
use crate::stream_graph::{ChainingStrategy, Partitioner, ShuffleMode, StreamGraph};
use crate::work::cancel::checkpoint_at;

/// What the chaining rules say about an edge, the same in Flink 1.11 and 2.3. The rules are listed in Flink's order; the
/// one about yielding operators is applied last, by [`separate_yielding_from_sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Verdict {
    /// All rules hold.
    Chained,
    /// The target has other inputs too.
    SeveralInputs,
    /// The ends are in different slot sharing groups.
    SlotSharingGroup,
    /// One end is the head or tail of a loop, which has no operator.
    NoOperator,
    /// The upstream operator stands alone.
    UpstreamNever,
    /// The downstream operator does not join chains.
    DownstreamStrategy,
    /// The downstream operator yields and the upstream chain starts with a source.
    YieldingBehindSource,
    /// The partitioner is not FORWARD.
    Partitioner,
    /// The exchange is blocking.
    BatchExchange,
    /// The parallelism changes.
    Parallelism,
    /// Chaining is switched off.
    Disabled,
}

impl Verdict {
    /// Short name of the rule that broke; `None` when chained.
    pub fn rule(self) -> Option<&'static str> {
        Some(match self {
            Self::Chained => return None,
            Self::SeveralInputs => "single_input",
            Self::SlotSharingGroup => "slot_sharing_group",
            Self::NoOperator => "operator",
            Self::UpstreamNever => "upstream_chaining_strategy",
            Self::DownstreamStrategy => "downstream_chaining_strategy",
            Self::YieldingBehindSource => "yielding_behind_source",
            Self::Partitioner => "partitioner",
            Self::BatchExchange => "shuffle_mode",
            Self::Parallelism => "parallelism",
            Self::Disabled => "chaining_enabled",
        })
    }
}

/// One verdict per edge.
#[derive(Clone, Debug)]
pub struct Verdicts(Vec<Verdict>);

impl Verdicts {
    /// Judges every edge.
    pub fn of(graph: &StreamGraph) -> Self {
        let mut verdicts: Vec<Verdict> =
            all(graph.edge_count()).inspect(|edge: &EdgeIndex| checkpoint_at(edge.get())).map(|edge| judge(graph, edge)).collect();
        separate_yielding_from_sources(graph, &mut verdicts);
        Self(verdicts)
    }

    /// The verdict on an edge.
    #[inline]
    pub fn get(&self, edge: EdgeIndex) -> Verdict {
        self.0[edge.get()]
    }

    /// Whether an edge is chained.
    #[inline]
    pub fn chained(&self, edge: EdgeIndex) -> bool {
        self.0[edge.get()] == Verdict::Chained
    }

    /// A sentence with both values that did not fit together; `None` when chained.
    pub fn reason(&self, graph: &StreamGraph, edge: EdgeIndex) -> Option<String> {
        let ends = graph.edge(edge);
        let (up, down) = (graph.node(ends.source), graph.node(ends.target));
        let (up_name, down_name) = (graph.name(ends.source), graph.name(ends.target));
        let group = |name: Option<_>| name.map_or("none".into(), |name| format!("\"{}\"", graph.text(name)));
        Some(match self.get(edge) {
            Verdict::Chained => return None,
            Verdict::SeveralInputs => format!("{down_name} has {} inputs, a chained operator has one", graph.in_edges(ends.target).len()),
            Verdict::SlotSharingGroup => {
                format!("slot sharing groups differ: {} -> {}", group(up.slot_sharing_group), group(down.slot_sharing_group))
            }
            Verdict::NoOperator if up.role.has_operator() => format!("{down_name} is the tail of a loop and has no operator"),
            Verdict::NoOperator => format!("{up_name} is the head of a loop and has no operator"),
            Verdict::UpstreamNever => format!("{up_name} has chaining strategy NEVER, {down_name} {}", down.chaining_strategy.as_str()),
            Verdict::DownstreamStrategy => {
                format!(
                    "{down_name} has chaining strategy {}, only ALWAYS joins a chain ({up_name} has {})",
                    down.chaining_strategy.as_str(),
                    up.chaining_strategy.as_str()
                )
            }
            Verdict::YieldingBehindSource => format!("{down_name} yields to the mailbox, and the chain of {up_name} starts with a source"),
            Verdict::Partitioner => format!("partitioner is {}, only FORWARD chains", ends.partitioner.as_str()),
            Verdict::BatchExchange => "exchange mode is BATCH, a chain is PIPELINED".into(),
            Verdict::Parallelism => format!("parallelism changes: {} -> {}", up.parallelism, down.parallelism),
            Verdict::Disabled => "chaining is disabled for the whole program".into(),
        })
    }
}

/// All rules but the one about yielding operators. Reads single columns: this is the pass that sees every edge.
#[inline]
fn judge(graph: &StreamGraph, edge: EdgeIndex) -> Verdict {
    let (source, target) = (graph.edges.source[edge.get()], graph.edges.target[edge.get()]);
    let (up, down, nodes) = (source.get(), target.get(), &graph.nodes);
    if graph.in_edges(target).len() != 1 {
        Verdict::SeveralInputs
    } else if nodes.slot_sharing_group.get(up) != nodes.slot_sharing_group.get(down) {
        Verdict::SlotSharingGroup
    } else if !nodes.role[up].has_operator() || !nodes.role[down].has_operator() {
        Verdict::NoOperator
    } else if nodes.chaining_strategy.get(up) == ChainingStrategy::Never {
        Verdict::UpstreamNever
    } else if nodes.chaining_strategy.get(down) != ChainingStrategy::Always {
        Verdict::DownstreamStrategy
    } else {
        exchange_verdict(graph, edge.get(), up, down)
    }
}

fn exchange_verdict(graph: &StreamGraph, edge: usize, up: usize, down: usize) -> Verdict {
    if graph.edges.partitioner.get(edge) != Partitioner::Forward {
        Verdict::Partitioner
    } else if graph.edges.shuffle_mode.get(edge) == ShuffleMode::Batch {
        Verdict::BatchExchange
    } else if graph.nodes.parallelism.get(up) != graph.nodes.parallelism.get(down) {
        Verdict::Parallelism
    } else if !graph.settings.chaining_enabled {
        Verdict::Disabled
    } else {
        Verdict::Chained
    }
}

/// The rule about yielding operators, tried before the partitioner's in Flink. It can only decide an edge that passed the
/// rules before it; among those, whether the chain above starts with a source depends on chained edges only.
fn separate_yielding_from_sources(graph: &StreamGraph, verdicts: &mut [Verdict]) {
    if !graph.nodes.yielding.any(|yielding| yielding) {
        return;
    }
    let mut known = vec![None; graph.node_count()];
    for edge in all::<EdgeIndex>(graph.edge_count()) {
        let reached = matches!(verdicts[edge.get()], Verdict::Chained | Verdict::Disabled)
            || matches!(verdicts[edge.get()], Verdict::Partitioner | Verdict::BatchExchange | Verdict::Parallelism);
        let ends = graph.edge(edge);
        if reached && graph.node(ends.target).yielding && starts_with_source(graph, verdicts, &mut known, ends.source) {
            verdicts[edge.get()] = Verdict::YieldingBehindSource;
        }
    }
}

/// Whether the chain that contains a node starts with a stream source. A yielding node never does: either it was refused
/// behind a source, and is its own head, or it hangs below a head that is none.
fn starts_with_source(graph: &StreamGraph, verdicts: &[Verdict], known: &mut [Option<bool>], node: NodeIndex) -> bool {
    let mut path = Vec::new();
    let mut at = node;
    let answer = loop {
        if let Some(answer) = known[at.get()] {
            break answer;
        }
        known[at.get()] = Some(false); // a cycle of chained edges has no head, so no source
        path.push(at);
        if graph.node(at).yielding {
            break false;
        }
        match graph.in_edges(at) {
            [edge] if verdicts[edge.get()] == Verdict::Chained => at = graph.edge(*edge).source,
            _ => break graph.node(at).is_stream_source(),
        }
    };
    for at in path {
        known[at.get()] = Some(answer && !graph.node(at).yielding);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_graph::{NewNode, Role};
    use crate::test_graphs::{graph, node};

    fn verdict(
        source: NewNode<'_>,
        target: NewNode<'_>,
        partitioner: Option<crate::stream_graph::Partitioner>,
    ) -> (Verdict, Option<String>) {
        let graph = graph(&[source, target], &[(1, 2, partitioner)]);
        let verdicts = Verdicts::of(&graph);
        (verdicts.get(EdgeIndex(0)), verdicts.reason(&graph, EdgeIndex(0)))
    }

    #[test]
    fn the_first_rule_that_breaks_names_both_values() {
        let (source, target) = (node(1, Role::Source), node(2, Role::Operator));
        assert_eq!(verdict(source.clone(), target.clone(), None), (Verdict::Chained, None));
        let wider = NewNode { parallelism: 3, ..target.clone() };
        let (rule, reason) = verdict(source.clone(), wider, Some(Partitioner::Hash));
        assert_eq!((rule, reason.as_deref()), (Verdict::Partitioner, Some("partitioner is HASH, only FORWARD chains")));
        let elsewhere = NewNode { slot_sharing_group: Some("g"), chaining_strategy: ChainingStrategy::Never, ..target };
        let (rule, reason) = verdict(source, elsewhere, None);
        assert_eq!(rule, Verdict::SlotSharingGroup);
        assert_eq!(reason.as_deref(), Some("slot sharing groups differ: \"default\" -> \"g\""));
    }

    #[test]
    fn yielding_is_refused_behind_a_source_only() {
        let yielding = |id| NewNode { yielding: true, ..node(id, Role::Operator) };
        let nodes = [node(1, Role::Source), node(2, Role::Operator), yielding(3), yielding(4), node(5, Role::Operator)];
        let graph = graph(&nodes, &[(1, 2, None), (2, 3, None), (3, 4, None), (4, 5, None)]);
        let verdicts = Verdicts::of(&graph);
        let chained: Vec<bool> = all(4).map(|edge| verdicts.chained(edge)).collect();
        assert_eq!(chained, [true, false, true, true]);
        assert_eq!(verdicts.get(EdgeIndex(1)), Verdict::YieldingBehindSource);
    }
}
