"""How long each phase of planning takes in Penstock, over named shapes of 1,000 to 1,000,000 operators.

Every bench checks what it measured, so a wrong answer is never fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from tests.shapes import SHAPES, Shape, vertex_count

from conftest import Measure
from penstock.plan import StreamGraph, StreamGraphBuilder, operator_id, plan_record
from penstock.plan.shapes import layered_dag, uid_table

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)


def job_of(graph: Any) -> Any:
    return graph.job_graph()


def refill(graph: StreamGraph) -> Callable[[], StreamGraph]:
    """The calls that build a graph node by node, as a program makes them."""
    nodes, edges = graph.to_dict()["nodes"], graph.to_dict()["edges"]
    for edge in edges:
        edge["shuffle_mode"] = edge.get("shuffle_mode", "UNDEFINED")

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


@every_shape
def test_generate(measure: Measure, shape: Shape, size: int) -> None:
    """A shape made by the planner itself: adding nodes and edges, interning names, adjacency."""
    graph = measure(shape, lambda: size, phase="build", shape=shape.__name__, size=size)
    assert len(graph.nodes_table()) == size


@pytest.mark.skipif(not hasattr(StreamGraph, "verdicts_table"), reason="not there yet")
@every_shape
def test_verdicts(measure: Measure, shape: Shape, size: int) -> None:
    """Chained or which rule broke, per edge; texts are written when the table is read."""
    fresh = lambda: shape(size)  # noqa: E731 - one expression, made outside the clock
    table = measure(lambda graph: graph.verdicts_table(), fresh, phase="verdicts", shape=shape.__name__, size=size)
    assert (len(table) > 0) == (size > 100 or shape is not layered_dag)


@pytest.mark.skipif(not hasattr(StreamGraph, "operator_ids_table"), reason="not there yet")
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
