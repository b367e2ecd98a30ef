//! The job plan: what Flink's `JsonPlanGenerator.generatePlan` returns, byte for byte, with a JobID of zeros.
//!
//! Descriptions are escaped for HTML first, then for JSON. 1.11 describes a vertex by its name; 2.3 by the tree of its
//! operators, names the type of the job, and orders the members differently. O(vertices + edges + text).

use super::html4::escape_html4;
use super::push_string;
use crate::dense::{VertexIndex, all};
use crate::error::Result;
use crate::job_graph::JobGraph;
use crate::profile::Profile;

/// Programs are run as streams; Flink 2.3 says so.
pub const JOB_TYPE: &str = "STREAMING";

/// The plan as text.
///
/// # Errors
/// [`crate::error::PlanError::DescriptionTooLong`] where a description would not fit (2.3).
pub fn job_plan(job: &JobGraph) -> Result<String> {
    let mut out = String::from("{\"jid\":\"00000000000000000000000000000000\",\"name\":");
    push_string(&job.stream_graph().settings.job_name, &mut out);
    if job.profile() == Profile::V2_3 {
        out.push_str(&format!(",\"type\":\"{JOB_TYPE}\""));
    }
    out.push_str(",\"nodes\":[");
    for vertex in all::<VertexIndex>(job.vertex_count()) {
        if vertex.0 > 0 {
            out.push(',');
        }
        push_vertex(job, vertex, &mut out)?;
    }
    out.push_str("]}");
    Ok(out)
}

fn push_vertex(job: &JobGraph, vertex: VertexIndex, out: &mut String) -> Result<()> {
    let (id, parallelism) = (job.id(vertex), job.parallelism(vertex));
    let inputs = inputs(job, vertex);
    let properties = ",\"optimizer_properties\":{}";
    match job.profile() {
        Profile::V1_11 => out.push_str(&format!("{{\"id\":\"{id}\",\"parallelism\":{parallelism},\"operator\":\"\"")),
        Profile::V2_3 => out.push_str(&format!("{{\"id\":\"{id}\",\"operator\":\"\",\"parallelism\":{parallelism}")),
    }
    out.push_str(",\"operator_strategy\":\"\",\"description\":");
    push_description(job, vertex, out)?;
    let (first, second) = if job.profile() == Profile::V1_11 { (inputs.as_str(), properties) } else { (properties, inputs.as_str()) };
    out.push_str(first);
    out.push_str(second);
    out.push('}');
    Ok(())
}

fn push_description(job: &JobGraph, vertex: VertexIndex, out: &mut String) -> Result<()> {
    let mut description = String::new();
    if job.profile().describes_by_name() {
        escape_html4(job.name(vertex), &mut description);
    } else {
        escape_html4(&job.tree(vertex)?, &mut description);
    }
    push_string(&description.replace('\n', "<br/>").replace('\\', "&#92;"), out);
    Ok(())
}

/// The member `inputs`; nothing for a vertex that has none.
fn inputs(job: &JobGraph, vertex: VertexIndex) -> String {
    if job.inputs(vertex).is_empty() {
        return String::new();
    }
    let input = |(number, &edge)| {
        let ends = job.edge(edge);
        let id = job.id(ends.source);
        let strategy = job.stream_graph().edge(ends.edge).partitioner.as_str();
        let exchange = ends.result_type.as_str().to_lowercase();
        match job.profile() {
            Profile::V1_11 => {
                format!("{{\"num\":{number},\"id\":\"{id}\",\"ship_strategy\":\"{strategy}\",\"exchange\":\"{exchange}\"}}")
            }
            Profile::V2_3 => {
                format!("{{\"id\":\"{id}\",\"num\":{number},\"exchange\":\"{exchange}\",\"ship_strategy\":\"{strategy}\"}}")
            }
        }
    };
    let inputs: Vec<String> = job.inputs(vertex).iter().enumerate().map(input).collect();
    format!(",\"inputs\":[{}]", inputs.join(","))
}
