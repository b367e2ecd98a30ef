//! Pass 8: the name of each chain, `A -> B` or `A -> (B, C -> D)`.
//!
//! Semantics: `StreamingJobGraphGenerator.createChainedName`. Flink names every suffix of a chain, which is quadratic in its
//! length; only the names of heads are ever read, so only those are made. Cost: O(length of the names), no recursion.

use super::chains::{Chain, Chains};
use crate::dense::{Index, NodeIndex, VertexIndex};
use crate::identity::Verdicts;
use crate::stream_graph::StreamGraph;
use crate::work::cancel::checkpoint_at;

enum Piece {
    Node(NodeIndex),
    Text(&'static str),
}

/// A vertex that has the name of its only operator.
const OWN: u32 = u32::MAX;

/// The names of all vertices.
#[derive(Clone, Debug, Default)]
pub struct ChainNames {
    /// Per vertex the number of its name among those that were put together.
    made: Vec<u32>,
    text: String,
    /// Where each name in `text` ends.
    ends: Vec<usize>,
}

impl ChainNames {
    /// The name of a vertex with this chain.
    pub fn get<'a>(&'a self, graph: &'a StreamGraph, vertex: VertexIndex, chain: &Chain) -> &'a str {
        match self.made[vertex.get()] {
            OWN => graph.name(chain.head),
            made => {
                let start = if made == 0 { 0 } else { self.ends[made as usize - 1] };
                &self.text[start..self.ends[made as usize]]
            }
        }
    }
}

/// The names of all chains, in order of creation.
pub fn chain_names(graph: &StreamGraph, verdicts: &Verdicts, chains: &Chains) -> ChainNames {
    let mut names = ChainNames { made: Vec::with_capacity(chains.chains.len()), ..ChainNames::default() };
    let mut pieces = Vec::new();
    for (at, chain) in chains.chains.iter().enumerate() {
        checkpoint_at(at);
        if chain.end_operator - chain.first_operator == 1 {
            names.made.push(OWN);
        } else {
            append_name(graph, verdicts, chain.head, &mut pieces, &mut names.text);
            names.made.push(names.ends.len() as u32);
            names.ends.push(names.text.len());
        }
    }
    names
}

fn append_name(graph: &StreamGraph, verdicts: &Verdicts, head: NodeIndex, pieces: &mut Vec<Piece>, name: &mut String) {
    pieces.push(Piece::Node(head));
    while let Some(piece) = pieces.pop() {
        match piece {
            Piece::Text(text) => name.push_str(text),
            Piece::Node(node) => {
                name.push_str(graph.text(graph.nodes.name[node.get()]));
                push_outputs(graph, verdicts, node, pieces);
            }
        }
    }
}

/// ` -> A` for one output, ` -> (A, B)` for several; pushed from behind, because pieces are taken from the end.
fn push_outputs(graph: &StreamGraph, verdicts: &Verdicts, node: NodeIndex, pieces: &mut Vec<Piece>) {
    let chained = graph.out_edges(node).iter().filter(|&&edge| verdicts.chained(edge));
    let start = pieces.len();
    for edge in chained.rev() {
        pieces.extend([Piece::Node(graph.edges.target[edge.get()]), Piece::Text(", ")]);
    }
    match pieces.len() - start {
        0 => {}
        2 => pieces[start + 1] = Piece::Text(" -> "),
        _ => {
            pieces.insert(start, Piece::Text(")"));
            *pieces.last_mut().expect("two outputs at least") = Piece::Text(" -> (");
        }
    }
}
