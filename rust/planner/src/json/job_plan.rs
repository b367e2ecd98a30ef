//! The job plan: what Flink's `JsonPlanGenerator.generatePlan` returns, byte for byte, with a JobID of zeros.
//!
//! Names are escaped for HTML first, then for JSON. O(vertices + edges + text).

use super::html4::escape_html4;
use super::push_string;
use crate::index::{VertexIndex, all};
use crate::job_graph::JobGraph;

/// The plan as text.
pub fn job_plan(job: &JobGraph) -> String {
    let mut out = String::from("{\"jid\":\"00000000000000000000000000000000\",\"name\":");
    push_string(&job.stream_graph().settings.job_name, &mut out);
    out.push_str(",\"nodes\":[");
    for vertex in all::<VertexIndex>(job.vertex_count()) {
        if vertex.0 > 0 {
            out.push(',');
        }
        push_vertex(job, vertex, &mut out);
    }
    out.push_str("]}");
    out
}

fn push_vertex(job: &JobGraph, vertex: VertexIndex, out: &mut String) {
    let (id, parallelism) = (job.id(vertex), job.parallelism(vertex));
    out.push_str(&format!("{{\"id\":\"{id}\",\"parallelism\":{parallelism},\"operator\":\"\",\"operator_strategy\":\"\",\"description\":"));
    let mut description = String::new();
    escape_html4(job.name(vertex), &mut description);
    push_string(&description.replace('\n', "<br/>").replace('\\', "&#92;"), out);
    if !job.inputs(vertex).is_empty() {
        push_inputs(job, vertex, out);
    }
    out.push_str(",\"optimizer_properties\":{}}");
}

fn push_inputs(job: &JobGraph, vertex: VertexIndex, out: &mut String) {
    out.push_str(",\"inputs\":[");
    for (number, &edge) in job.inputs(vertex).iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        let ends = job.edge(edge);
        out.push_str(&format!(
            "{{\"num\":{number},\"id\":\"{}\",\"ship_strategy\":\"{}\",\"exchange\":\"{}\"}}",
            job.id(ends.source),
            job.stream_graph().edge(ends.edge).partitioner.as_str(),
            ends.result_type.as_str().to_lowercase()
        ));
    }
    out.push(']');
}
