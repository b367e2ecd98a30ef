//! The operators of a vertex drawn as a tree, a line each: how Flink 2.3 describes a vertex.
//!
//! ```text
//! Source: words
//! :- Map
//! :  +- Filter
//! +- Sink: out
//! ```
//!
//! Semantics: `StreamingJobGraphGenerator.buildTreeDescription`. The indent makes the text of a chain of *n* operators O(n²)
//! long, so it is made only when asked for, and measured before.

use super::JobGraph;
use crate::dense::{EdgeIndex, NodeIndex, VertexIndex};
use crate::error::{PlanError, Result};

/// The longest description, in bytes: a chain of about 26,000 operators.
pub const LONGEST: u64 = 1 << 30;
const STEP: usize = 3;

impl JobGraph {
    /// The description of a vertex. O(length of the text), no recursion.
    ///
    /// # Errors
    /// [`PlanError::DescriptionTooLong`] beyond [`LONGEST`].
    pub fn tree(&self, vertex: VertexIndex) -> Result<String> {
        let bytes = self.walk(vertex).map(|(node, depth, _)| (self.graph.name(node).len() + STEP * depth as usize + 1) as u64).sum();
        if bytes > LONGEST {
            return Err(PlanError::DescriptionTooLong { vertex: self.graph.label(self.chain(vertex).head), bytes, limit: LONGEST });
        }
        let mut out = String::with_capacity(bytes as usize);
        let mut indent = String::new();
        let mut open: Vec<(NodeIndex, usize, bool)> = vec![(self.chain(vertex).head, 0, true)];
        while let Some((node, depth, last)) = open.pop() {
            if depth > 0 {
                indent.truncate(STEP * (depth - 1));
                out.push_str(&indent);
                out.push_str(if last { "+- " } else { ":- " });
                indent.push_str(if last { "   " } else { ":  " });
            }
            out.push_str(self.graph.name(node));
            out.push('\n');
            let start = open.len();
            let target = |edge: EdgeIndex| (self.graph.edge(edge).target, depth + 1, false);
            open.extend(self.outputs(node, true).map(target));
            open[start..].reverse();
            if let Some(last) = open[start..].first_mut() {
                last.2 = true;
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use crate::dense::VertexIndex;
    use crate::stream_graph::{NewNode, Role};
    use crate::test_graphs::{graph, job, node};

    #[test]
    fn lines_go_down_beside_operators_that_follow() {
        let named = |id, name, role| NewNode { name, ..node(id, role) };
        let nodes = [
            named(1, "Source", Role::Source),
            named(2, "Map", Role::Operator),
            named(3, "Filter", Role::Operator),
            named(4, "A", Role::Sink),
            named(5, "B", Role::Sink),
        ];
        let job = job(graph(&nodes, &[(1, 2, None), (1, 5, None), (2, 3, None), (3, 4, None)]));
        assert_eq!(job.tree(VertexIndex(0)).unwrap(), "Source\n:- Map\n:  +- Filter\n:     +- A\n+- B\n");
    }

    #[test]
    fn a_tree_that_would_not_fit_is_refused() {
        let nodes: Vec<_> = (0..30_000).map(|id| node(id, if id == 0 { Role::Source } else { Role::Operator })).collect();
        let edges: Vec<_> = (1..30_000).map(|id| (id - 1, id, None)).collect();
        let error = job(graph(&nodes, &edges)).tree(VertexIndex(0)).unwrap_err();
        assert_eq!(error.operators(), ["Source-0"]);
    }
}
