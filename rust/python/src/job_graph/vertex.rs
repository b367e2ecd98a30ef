//! `JobVertex`: a lazy view; nothing is copied before it is asked for.

use std::sync::Arc;

use penstock_planner::dense::{CoLocationIndex, Index, VertexIndex};
use penstock_planner::job_graph::JobGraph as Job;
use pyo3::prelude::*;

use super::parts::{
    ChainedOperator, IntermediateDataSet, JobEdge, Quantities, chained_operator, intermediate_data_set, job_edge, quantities,
};
use crate::repr::clipped;

/// A chain of operators that runs as one task (Flink's JobVertex).
#[pyclass(frozen, module = "penstock.plan")]
pub struct JobVertex {
    job: Arc<Job>,
    vertex: VertexIndex,
}

impl JobVertex {
    /// The view of a vertex.
    pub fn new(job: Arc<Job>, vertex: VertexIndex) -> Self {
        Self { job, vertex }
    }
}

#[pymethods]
impl JobVertex {
    /// Position among the vertices.
    #[getter]
    fn index(&self) -> u32 {
        self.vertex.0
    }

    /// JobVertexID: the OperatorID of the head.
    #[getter]
    fn id(&self) -> String {
        self.job.id(self.vertex).to_string()
    }

    /// Chained name, ``A -> (B, C -> D)``.
    #[getter]
    fn name(&self) -> &str {
        self.job.name(self.vertex)
    }

    /// Number of subtasks; -1 when unset.
    #[getter]
    fn parallelism(&self) -> i32 {
        self.job.parallelism(self.vertex)
    }

    /// Number of key groups; -1 when unset.
    #[getter]
    fn max_parallelism(&self) -> i32 {
        self.job.stream_graph().node(self.job.chain(self.vertex).head).max_parallelism
    }

    /// Simple name of the task class.
    #[getter]
    fn invokable(&self) -> &str {
        self.job.stream_graph().task(self.job.chain(self.vertex).head)
    }

    /// Node id of the first operator.
    #[getter]
    fn head(&self) -> i32 {
        self.job.stream_graph().node(self.job.chain(self.vertex).head).id
    }

    /// Pairs of generated and alternative OperatorID, in order of creation, the head last.
    #[getter]
    fn operator_ids(&self) -> Vec<(String, Option<String>)> {
        self.job.operator_id_pairs(self.vertex).map(|(own, other)| (own.to_string(), other.map(|id| id.to_string()))).collect()
    }

    /// Node ids of the operators, in order of creation, the head last.
    #[getter]
    fn operator_nodes(&self) -> Vec<i32> {
        self.job.operators(self.vertex).iter().map(|operator| self.job.stream_graph().node(operator.node).id).collect()
    }

    /// Number of the slot sharing group.
    #[getter]
    fn slot_sharing_group(&self) -> u32 {
        self.job.slots().group_of[self.vertex.get()].0
    }

    /// Number of the co-location group.
    #[getter]
    fn co_location_group(&self) -> Option<u32> {
        self.job.slots().co_location_of.get(self.vertex.get()).map(|CoLocationIndex(group)| group)
    }

    /// Summed minimum resources (CPU shares, heap, off-heap, managed MiB); ``None`` is UNKNOWN.
    #[getter]
    fn min_resources(&self) -> Option<Quantities> {
        self.job.vertex_resources(self.vertex).map(|both| quantities(&both.min))
    }

    /// Summed preferred resources; ``None`` is UNKNOWN.
    #[getter]
    fn preferred_resources(&self) -> Option<Quantities> {
        self.job.vertex_resources(self.vertex).map(|both| quantities(&both.preferred))
    }

    /// Job edges it reads, in order.
    #[getter]
    fn inputs(&self) -> Vec<JobEdge> {
        self.job.inputs(self.vertex).iter().map(|&edge| job_edge(&self.job, edge)).collect()
    }

    /// Data sets it produces, in order.
    #[getter]
    fn results(&self) -> Vec<IntermediateDataSet> {
        let view = |&data_set| intermediate_data_set(&self.job, data_set, self.job.data_set_id(data_set));
        self.job.results(self.vertex).iter().map(view).collect()
    }

    /// Stream edges it reads, in physical order.
    #[getter]
    fn in_edges(&self) -> Vec<u32> {
        self.job.in_edges(self.vertex).map(|edge| edge.0).collect()
    }

    /// Stream edges it writes, in order.
    #[getter]
    fn out_edges(&self) -> Vec<u32> {
        self.job.out_edges(self.vertex).map(|edge| edge.0).collect()
    }

    /// Its operators from the head down the chained outputs. O(operators) at each access.
    #[getter]
    fn chain(&self) -> Vec<ChainedOperator> {
        self.job.stream_configs(self.vertex).map(chained_operator).collect()
    }

    /// Input formats of its operators by OperatorID.
    #[getter]
    fn input_formats(&self) -> Vec<(String, String)> {
        self.job.formats(self.vertex, |extras| extras.input_format)
    }

    /// Output formats of its operators by OperatorID.
    #[getter]
    fn output_formats(&self) -> Vec<(String, String)> {
        self.job.formats(self.vertex, |extras| extras.output_format)
    }

    /// Coordinators of its operators by OperatorID.
    #[getter]
    fn operator_coordinators(&self) -> Vec<(String, String)> {
        self.job.formats(self.vertex, |extras| extras.coordinator)
    }

    fn __repr__(&self) -> String {
        format!("JobVertex({}: {:?}, parallelism={}, id={})", self.vertex.0, clipped(self.name()), self.parallelism(), self.id())
    }
}
