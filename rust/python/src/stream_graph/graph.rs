//! `StreamGraph`.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_planner::dense::{NodeIndex, all};
use penstock_planner::error::PlanError;
use penstock_planner::identity::{OperatorIds, Verdicts, parse_hash_table};
use penstock_planner::job_graph::{JobOptions, SavepointRestore, compile};
use penstock_planner::stream_graph::StreamGraph as Graph;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use super::builder::StreamGraphBuilder;
use super::from_columns::{self, parquet};
use super::parts::{StreamEdge, StreamNode, Verdict, stream_edge, stream_node, verdict};
use super::tables;
use crate::arrow::columns::Columns;
use crate::error::{check, profile, to_python};
use crate::interrupt::interruptible;
use crate::job_graph::JobGraph;

const FROM_DICT: &str = "StreamGraph.from_dict()";

/// A program's operators and connections, virtual nodes resolved; immutable (Flink's StreamGraph).
#[pyclass(frozen, module = "penstock.plan")]
pub struct StreamGraph(pub Arc<Graph>);

#[pymethods]
impl StreamGraph {
    #[new]
    fn new(py: Python<'_>, spec: &str) -> PyResult<Self> {
        Self::from_json(py, spec)
    }

    /// Parse a described graph (docs/planning.md, "The description (FORMAT)"). O(length).
    ///
    /// Raises:
    ///     SpecError: not JSON, a missing or unknown field, a value of the wrong type or range.
    ///     StreamGraphError: unknown or duplicate nodes, FORWARD between different parallelisms.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        check(py, interruptible(py, || Graph::from_json(text))?).map(|graph| Self(Arc::new(graph)))
    }

    /// Like :meth:`from_json`, from plain Python data.
    #[staticmethod]
    fn from_dict(py: Python<'_>, spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = [("allow_nan", false)].into_py_dict(py)?;
        let text = py.import("json")?.call_method("dumps", (spec,), Some(&options)).map_err(|error| {
            let refusal = to_python(py, &PlanError::InvalidSpec { call: FROM_DICT, detail: error.to_string() });
            refusal.set_cause(py, Some(error));
            refusal
        })?;
        let text = text.extract::<String>()?;
        check(py, interruptible(py, || Graph::from_json_of(FROM_DICT, &text))?).map(|graph| Self(Arc::new(graph)))
    }

    /// Make a graph of tables: a row per node, a row per edge, no Python object for either (docs/planning.md, "Columns in").
    ///
    /// A table is anything with the Arrow PyCapsule interface (pyarrow, polars, pandas, DuckDB, ``nodes_table()``), or a
    /// mapping from column names to NumPy arrays, Arrow arrays or buffers. Columns, defaults and the meaning of null are
    /// those of :meth:`StreamGraphBuilder.add_node` and :meth:`StreamGraphBuilder.add_edge`, and rows are added as by
    /// those, in order; nodes need ``id``, ``name``, ``kind``, edges ``source``, ``target``. Integers may have any width,
    /// texts any encoding, dictionaries included; all are read in place. O(rows x columns).
    ///
    /// Args:
    ///     nodes: columns ``id``, ``name``, ``kind``, ``uid``, ``parallelism``, …
    ///     edges: columns ``source``, ``target``, ``partitioner``, ``shuffle_mode``, ``input``, ``side_output``, …
    ///     iterations: loops, added after the nodes: ``loop_id``, ``source_id``, ``sink_id``, ``parallelism``, …
    ///     **settings: those of :class:`StreamGraphBuilder`.
    ///
    /// Raises:
    ///     SpecError: no table, an unknown, missing or mistyped column, a cell out of range; names row and column.
    ///     StreamGraphError: unknown or duplicate nodes, FORWARD between different parallelisms; names the row.
    #[staticmethod]
    #[pyo3(signature = (nodes, edges, *, iterations = None, **settings))]
    fn from_columns(
        py: Python<'_>,
        nodes: &Bound<'_, PyAny>,
        edges: &Bound<'_, PyAny>,
        iterations: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let builder = py.get_type::<StreamGraphBuilder>().call((), settings)?.cast_into::<StreamGraphBuilder>()?.get().take(py)?;
        from_columns::graph(nodes, edges, iterations, builder).map(|graph| Self(Arc::new(graph)))
    }

    /// Like :meth:`from_columns`, of Parquet files, read by pyarrow.
    ///
    /// Args:
    ///     nodes_path: a file, a folder of files, or a URI, as pyarrow.parquet.read_table takes it.
    ///     edges_path: likewise.
    ///     iterations_path: likewise; ``None`` is a program without loops.
    ///     **settings: those of :class:`StreamGraphBuilder`.
    ///
    /// Raises:
    ///     OSError: a path that cannot be read.
    ///     SpecError: a file that is not Parquet, and whatever :meth:`from_columns` refuses.
    ///     StreamGraphError: whatever :meth:`from_columns` refuses.
    #[staticmethod]
    #[pyo3(signature = (nodes_path, edges_path, *, iterations_path = None, **settings))]
    fn from_parquet(
        py: Python<'_>,
        nodes_path: &Bound<'_, PyAny>,
        edges_path: &Bound<'_, PyAny>,
        iterations_path: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let iterations = iterations_path.map(|path| parquet("iterations", path)).transpose()?;
        let (nodes, edges) = (parquet("nodes", nodes_path)?, parquet("edges", edges_path)?);
        Self::from_columns(py, &nodes, &edges, iterations.as_ref(), settings)
    }

    /// The graph as text that :meth:`from_json` reads back without loss.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        interruptible(py, || self.0.to_json())
    }

    /// The graph as plain Python data.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.to_json(py)?,))
    }

    fn __getnewargs__(&self, py: Python<'_>) -> PyResult<(String,)> {
        Ok((self.to_json(py)?,))
    }

    /// Name of the job.
    #[getter]
    fn job_name(&self) -> &str {
        &self.0.settings.job_name
    }

    /// All nodes in order of addition, loop heads and tails included. O(nodes) at each access.
    #[getter]
    fn nodes(&self) -> Vec<StreamNode> {
        all(self.0.node_count()).map(|node| stream_node(&self.0, node)).collect()
    }

    /// All edges in order of addition. O(edges) at each access.
    #[getter]
    fn edges(&self) -> Vec<StreamEdge> {
        all(self.0.edge_count()).map(|edge| stream_edge(&self.0, edge)).collect()
    }

    /// Ids of the sources in the iteration order of Flink's getSourceIDs(), a HashSet.
    #[getter]
    fn source_ids(&self) -> Vec<i32> {
        self.0.sources().iter().map(|&source| self.0.node(source).id).collect()
    }

    /// OperatorID by node id, ascending; nodes that no source reaches are absent (StreamGraphHasherV2). O(V + E).
    ///
    /// Raises:
    ///     OperatorIdError: two operators claim one uid.
    fn operator_ids(&self, py: Python<'_>) -> PyResult<BTreeMap<i32, String>> {
        let ids = check(py, interruptible(py, || OperatorIds::of(&self.0, &Verdicts::of(&self.0)))?)?;
        let hex = |node: NodeIndex| Some((self.0.node(node).id, ids.get(node)?.to_string()));
        Ok(all(self.0.node_count()).filter_map(hex).collect())
    }

    /// Node ids in the order in which the nodes get their OperatorIDs; nodes that no source reaches are absent. O(V + E).
    ///
    /// An ID without a uid is a hash of its place in this order, once more for each chained output, and of the IDs of its
    /// inputs, in order.
    fn operator_id_order(&self, py: Python<'_>) -> PyResult<Vec<i32>> {
        let order = check(py, interruptible(py, || OperatorIds::order(&self.0))?)?;
        Ok(order.into_iter().map(|node| self.0.node(node).id).collect())
    }

    /// Per edge, whether it is chained, or the first rule that broke (isChainable). O(V + E).
    fn verdicts(&self, py: Python<'_>) -> PyResult<Vec<Verdict>> {
        let verdicts = interruptible(py, || Verdicts::of(&self.0))?;
        Ok(all(self.0.edge_count()).map(|edge| verdict(&self.0, &verdicts, edge)).collect())
    }

    /// What Flink's getStreamingPlanAsJSON returns, byte for byte.
    ///
    /// Raises:
    ///     StreamGraphError: the graph is empty.
    fn streaming_plan_json(&self, py: Python<'_>) -> PyResult<String> {
        check(py, interruptible(py, || penstock_planner::json::streaming_plan(&self.0))?)
    }

    /// Compile to a JobGraph (StreamingJobGraphGenerator). O(V + E), no recursion.
    ///
    /// Args:
    ///     flink: the Flink version to equal, ``"1.11"`` or ``"2.3"``.
    ///     additional_hashes: tables of alternative OperatorIDs by node id, carried to the vertices.
    ///     savepoint_path: where to restore from.
    ///     allow_non_restored_state: whether state of operators that are gone may be dropped.
    ///     artifacts: files shipped with the job, path by name.
    ///
    /// Raises:
    ///     UnsupportedError: another Flink version.
    ///     OperatorIdError: a uid used twice, a uid hash that is none.
    ///     JobGraphError: a cycle, an unreached input, slot sharing or co-location conflicts, blocking timeouts.
    #[pyo3(signature = (*, flink = "1.11", additional_hashes = Vec::new(), savepoint_path = None, allow_non_restored_state = false, artifacts = BTreeMap::new()))]
    fn job_graph(
        &self,
        py: Python<'_>,
        flink: &str,
        additional_hashes: Vec<BTreeMap<i32, String>>,
        savepoint_path: Option<String>,
        allow_non_restored_state: bool,
        artifacts: BTreeMap<String, String>,
    ) -> PyResult<JobGraph> {
        let additional_hashes = check(py, additional_hashes.iter().map(|table| parse_hash_table(&self.0, table)).collect())?;
        let savepoint = savepoint_path.map(|path| SavepointRestore { path, allow_non_restored_state });
        let options = JobOptions { profile: profile(py, flink)?, additional_hashes, savepoint, artifacts: artifacts.into_iter().collect() };
        check(py, interruptible(py, || compile(self.0.clone(), options))?).map(|job| JobGraph(Arc::new(job)))
    }

    /// Broken invariants, a sentence each; empty when all is well. O(V + E).
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        interruptible(py, || self.0.verify())
    }

    /// The nodes as columns.
    fn nodes_table(&self) -> Columns {
        tables::nodes_table(self.0.clone())
    }

    /// The edges as columns, with verdicts. O(E).
    fn edges_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || tables::edges_table(self.0.clone(), Verdicts::of(&self.0)))
    }

    /// Per edge, whether it is chained, or the rule that broke and the reason, as columns. O(V + E).
    fn verdicts_table(&self, py: Python<'_>) -> PyResult<Columns> {
        interruptible(py, || tables::verdicts_table(self.0.clone(), Verdicts::of(&self.0)))
    }

    /// The OperatorID of each node in order of addition, as columns; null where no source reaches. O(V + E).
    ///
    /// Args:
    ///     binary: the IDs as 16 bytes (fixed-size binary) instead of 32 hex digits.
    ///
    /// Raises:
    ///     OperatorIdError: two operators claim one uid.
    #[pyo3(signature = (*, binary = false))]
    fn operator_ids_table(&self, py: Python<'_>, binary: bool) -> PyResult<Columns> {
        let ids = check(py, interruptible(py, || OperatorIds::of(&self.0, &Verdicts::of(&self.0)))?)?;
        Ok(tables::operator_ids_table(self.0.clone(), ids, binary))
    }

    /// The loops as columns; with the other two tables, what :meth:`from_columns` makes the same graph of.
    fn iterations_table(&self) -> Columns {
        tables::iterations_table(&self.0)
    }

    fn __repr__(&self) -> String {
        format!("StreamGraph({:?}, {} nodes, {} edges)", self.0.settings.job_name, self.0.node_count(), self.0.edge_count())
    }
}
