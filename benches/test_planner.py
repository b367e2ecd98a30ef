"""How long each phase of planning takes in Penstock, over named shapes of 1,000 to 1,000,000 operators.

Every bench checks what it measured, so a wrong answer is never fast.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.shapes import SHAPES, Shape, vertex_count

from conftest import Measure
from penstock.plan import PROFILES, StreamGraph, StreamGraphBuilder, operator_id, plan_record
from penstock.plan.shapes import layered_dag, uid_table

EDGE_COLUMNS = ["source", "target", "partitioner", "shuffle_mode", "input"]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)


def job_of(graph: Any) -> Any:
    return graph.job_graph()


def refill(graph: StreamGraph) -> Callable[[], StreamGraph]:
    """The calls that build a graph node by node, as a program makes them."""
    description = graph.to_dict()
    nodes, edges = description["nodes"], description["edges"]

    def build() -> StreamGraph:
        builder = StreamGraphBuilder()
        for node in nodes:
            builder.add_node(**node)
        for edge in edges:
            builder.add_edge(edge["source"], edge["target"], edge["input"], partitioner=edge["partitioner"])
        return builder.build()

    return build


def test_builder_calls(measure: Measure, size: int) -> None:
    """A Python call per node and per edge, which is how small programs arrive."""
    facts = {"phase": "builder calls", "shape": "layered_dag", "size": size}
    graph = measure(lambda build: build(), lambda: refill(layered_dag(size)), **facts)
    assert len(graph.nodes_table()) == size


def tables(size: int) -> tuple[pa.Table, pa.Table]:
    """A layered DAG as two Arrow tables."""
    graph = layered_dag(size)
    return pa.table(graph.nodes_table()), pa.table(graph.edges_table()).select(EDGE_COLUMNS)


def test_from_columns(measure: Measure, size: int) -> None:
    """A graph out of Arrow tables: every column that a node has, five of an edge."""
    facts = {"phase": "bulk input, Arrow", "shape": "layered_dag", "size": size}
    graph = measure(lambda columns: StreamGraph.from_columns(*columns), lambda: tables(size), **facts)
    assert len(graph.nodes_table()) == size


def test_from_numpy(measure: Measure, size: int) -> None:
    """The least a graph can be told in: NumPy arrays of numbers, and texts as a dictionary."""
    facts = {"phase": "bulk input, NumPy", "shape": "layered_dag", "size": size}

    def arrays() -> tuple[Any, Any]:
        nodes, edges = tables(size)
        texts = {name: nodes[name].combine_chunks().dictionary_encode() for name in ("name", "kind")}
        numbers = {name: nodes[name].to_numpy() for name in ("id", "parallelism")}
        return {**numbers, **texts}, {name: edges[name].to_numpy() for name in ("source", "target", "input")}

    graph = measure(lambda columns: StreamGraph.from_columns(*columns), arrays, **facts)
    assert len(graph.nodes_table()) == size


def test_from_parquet(measure: Measure, size: int, tmp_path: Path) -> None:
    """The same tables out of two files that the system has in memory."""
    paths = [tmp_path / "nodes.parquet", tmp_path / "edges.parquet"]
    for path, table in zip(paths, tables(size), strict=True):
        pq.write_table(table, path)
    facts = {"phase": "bulk input, Parquet", "shape": "layered_dag", "size": size}
    graph = measure(lambda paths: StreamGraph.from_parquet(*paths), lambda: paths, **facts)
    assert len(graph.nodes_table()) == size


@every_shape
def test_generate(measure: Measure, shape: Shape, size: int) -> None:
    """A shape made by the planner itself: adding nodes and edges, interning names, adjacency."""
    graph = measure(shape, lambda: size, phase="build", shape=shape.__name__, size=size)
    assert len(graph.nodes_table()) == size


@every_shape
def test_verdicts(measure: Measure, shape: Shape, size: int) -> None:
    """Chained or which rule broke, per edge; texts are written when the table is read."""
    fresh = lambda: shape(size)  # noqa: E731 - one expression, made outside the clock
    table = measure(lambda graph: graph.verdicts_table(), fresh, phase="verdicts", shape=shape.__name__, size=size)
    assert (len(table) > 0) == (size > 100 or shape is not layered_dag)


@every_shape
def test_hash(measure: Measure, shape: Shape, size: int) -> None:
    """OperatorIDs as columns."""
    fresh = lambda: shape(size)  # noqa: E731
    work = lambda graph: pa.table(graph.operator_ids_table(binary=True))  # noqa: E731
    table = measure(work, fresh, phase="hash", shape=shape.__name__, size=size)
    assert len(table.column("operator_id").unique()) == len(table) == size


def test_hash_as_dict(measure: Measure, size: int) -> None:
    """OperatorIDs as a dict of Python strings, whose objects are most of the time."""
    fresh = lambda: uid_table(size)  # noqa: E731
    facts = {"phase": "hash, as a dict", "shape": "uid_table", "size": size}
    ids = measure(lambda graph: graph.operator_ids(), fresh, **facts)
    assert ids[size - 1] == operator_id(f"uid-{size - 1}")


@every_shape
def test_job_graph(measure: Measure, shape: Shape, size: int) -> None:
    """StreamGraph -> JobGraph: verdicts, IDs, chains, vertices, data sets, slot sharing, order."""
    job = measure(job_of, lambda: shape(size), phase="job graph", shape=shape.__name__, size=size)
    assert len(job.vertices_table()) == vertex_count(shape, size)


@pytest.mark.parametrize("flink", PROFILES[1:])
def test_job_graph_of_another_version(measure: Measure, size: int, flink: str) -> None:
    """The same as a later Flink makes it."""
    facts = {"phase": "job graph", "shape": "layered_dag", "size": size, "peer": f"Penstock ({flink})"}
    job = measure(lambda graph: graph.job_graph(flink=flink), lambda: layered_dag(size), **facts)
    assert len(job.vertices_table()) == size


@every_shape
def test_execution_graph(measure: Measure, shape: Shape, size: int) -> None:
    """JobGraph -> ExecutionGraph, edges held as groups."""
    fresh = lambda: shape(size).job_graph()  # noqa: E731
    facts = {"phase": "execution graph", "shape": shape.__name__, "size": size}
    execution = measure(lambda job: job.execution_graph(), fresh, **facts)
    assert execution.total_vertices == 4 * vertex_count(shape, size)


def test_streaming_plan_json(measure: Measure, size: int) -> None:
    """The text Flink's getStreamingPlanAsJSON returns."""
    fresh = lambda: layered_dag(size)  # noqa: E731
    facts = {"phase": "streaming plan JSON", "shape": "layered_dag", "size": size}
    text = measure(lambda graph: graph.streaming_plan_json(), fresh, **facts)
    assert text.count('"pact"') == size


def test_job_plan_json(measure: Measure, size: int) -> None:
    """The text Flink's JsonPlanGenerator writes."""
    fresh = lambda: layered_dag(size).job_graph()  # noqa: E731
    text = measure(lambda job: job.json_plan(), fresh, phase="job plan JSON", shape="layered_dag", size=size)
    assert text.count('"operator"') == size


def test_read_json(measure: Measure, size: int) -> None:
    """Text -> StreamGraph."""
    fresh = lambda: layered_dag(size).to_json()  # noqa: E731
    graph = measure(StreamGraph.from_json, fresh, phase="read JSON", shape="layered_dag", size=size)
    assert len(graph.nodes_table()) == size


def test_record(measure: Measure, python_size: int) -> None:
    """Text -> everything the planner decides, as text."""
    facts = {"phase": "record", "shape": "layered_dag", "size": python_size}
    text = measure(plan_record, lambda: layered_dag(python_size).to_json(), **facts)
    assert '"error"' not in text
