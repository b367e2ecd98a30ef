//! The streaming plan: what Flink's `StreamGraph.getStreamingPlanAsJSON` returns, byte for byte.
//!
//! Semantics: Flink's `JSONGenerator` printed by Jackson. Nodes by (is sink, id); sources have no predecessors; `side` is
//! always "second". Flink is quadratic and recursive here; this is O(nodes log nodes + edges + text).

use super::push_string;
use crate::dense::{NodeIndex, all};
use crate::error::{PlanError, Result};
use crate::stream_graph::StreamGraph;

/// The plan as text.
///
/// # Errors
/// [`PlanError::EmptyPlan`] for a graph without nodes, which Flink cannot print either.
pub fn streaming_plan(graph: &StreamGraph) -> Result<String> {
    if graph.node_count() == 0 {
        return Err(PlanError::EmptyPlan {});
    }
    let mut nodes: Vec<NodeIndex> = all(graph.node_count()).collect();
    nodes.sort_unstable_by_key(|&node| (graph.node(node).role.is_sink(), graph.node(node).id));
    let mut out = String::from("{\n  \"nodes\" : [ ");
    for (at, &node) in nodes.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        push_node(graph, node, &mut out);
    }
    out.push_str(" ]\n}");
    Ok(out)
}

fn push_node(graph: &StreamGraph, index: NodeIndex, out: &mut String) {
    let node = graph.node(index);
    let pact = match node.role {
        role if role.is_source() => "Data Source",
        role if role.is_sink() => "Data Sink",
        _ => "Operator",
    };
    out.push_str(&format!("{{\n    \"id\" : {},\n    \"type\" : ", node.id));
    push_string(graph.name(index), out);
    out.push_str(&format!(",\n    \"pact\" : \"{pact}\",\n    \"contents\" : "));
    push_string(graph.name(index), out);
    out.push_str(&format!(",\n    \"parallelism\" : {}", node.parallelism));
    if !node.role.is_source() {
        push_predecessors(graph, index, out);
    }
    out.push_str("\n  }");
}

fn push_predecessors(graph: &StreamGraph, index: NodeIndex, out: &mut String) {
    out.push_str(",\n    \"predecessors\" : [ ");
    for (at, &edge) in graph.in_edges(index).iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        let edge = graph.edge(edge);
        out.push_str(&format!(
            "{{\n      \"id\" : {},\n      \"ship_strategy\" : \"{}\",\n      \"side\" : \"second\"\n    }}",
            graph.node(edge.source).id,
            edge.partitioner.as_str()
        ));
    }
    // Jackson prints an empty array as "[ ]"
    out.push_str(if graph.in_edges(index).is_empty() { "]" } else { " ]" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_graph::Role;
    use crate::test_graphs::{graph, node};

    #[test]
    fn sinks_come_last_and_an_empty_array_has_one_space() {
        let plan = streaming_plan(&graph(&[node(1, Role::Sink), node(2, Role::Operator)], &[])).unwrap();
        let (operator, sink) = (plan.find("\"id\" : 2").unwrap(), plan.find("\"id\" : 1").unwrap());
        assert!(operator < sink && plan.contains("\"predecessors\" : [ ]"), "{plan}");
        assert!(streaming_plan(&graph(&[], &[])).is_err());
    }
}
