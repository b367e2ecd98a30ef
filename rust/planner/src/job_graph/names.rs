//! Pass 4: the name of each chain, `A -> B` or `A -> (B, C -> D)`.
//!
//! Semantics: `StreamingJobGraphGenerator.createChainedName`. Flink names every suffix of a chain, which is quadratic in its
//! length; only the names of heads are ever read, so only those are made. Cost: O(length of the names), no recursion.

use super::chains::Chains;
use crate::chainable::Verdicts;
use crate::index::{EdgeIndex, NodeIndex};
use crate::stream_graph::StreamGraph;

enum Piece {
    Node(NodeIndex),
    Text(&'static str),
}

/// The names of all chains, in order of creation.
pub fn chain_names(graph: &StreamGraph, verdicts: &Verdicts, chains: &Chains) -> Vec<Box<str>> {
    let mut pieces = Vec::new();
    chains.chains.iter().map(|chain| name_of(graph, verdicts, chain.head, &mut pieces)).collect()
}

fn name_of(graph: &StreamGraph, verdicts: &Verdicts, head: NodeIndex, pieces: &mut Vec<Piece>) -> Box<str> {
    let mut name = String::new();
    pieces.push(Piece::Node(head));
    while let Some(piece) = pieces.pop() {
        let node = match piece {
            Piece::Text(text) => {
                name.push_str(text);
                continue;
            }
            Piece::Node(node) => node,
        };
        name.push_str(graph.name(node));
        let chained: Vec<EdgeIndex> = graph.out_edges(node).iter().copied().filter(|&edge| verdicts.chained(edge)).collect();
        push_outputs(graph, &chained, pieces);
    }
    name.into()
}

fn push_outputs(graph: &StreamGraph, chained: &[EdgeIndex], pieces: &mut Vec<Piece>) {
    let target = |edge: &EdgeIndex| Piece::Node(graph.edge(*edge).target);
    match chained {
        [] => {}
        [only] => pieces.extend([target(only), Piece::Text(" -> ")]),
        [first, others @ ..] => {
            pieces.push(Piece::Text(")"));
            for edge in others.iter().rev() {
                pieces.extend([target(edge), Piece::Text(", ")]);
            }
            pieces.extend([target(first), Piece::Text(" -> (")]);
        }
    }
}
