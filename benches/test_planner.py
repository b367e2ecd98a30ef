"""How long each phase of planning takes, over named shapes of 1,000 to 1,000,000 operators.

Every bench checks what it measured. Objects that remember an answer are made anew, outside the clock, for every round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.shapes import SHAPES, Shape, vertex_count

from penstock.plan import StreamGraph, StreamGraphBuilder, operator_id
from penstock.plan.shapes import all_to_all, forward_chain, uid_table

shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)


def calls(graph: StreamGraph) -> tuple[list[Any], list[Any]]:
    """The arguments with which a builder makes the same graph: of add_node, of add_edge."""
    spec = graph.to_dict()
    nodes = [((node.pop("id"), node.pop("name"), node.pop("kind")), node) for node in spec["nodes"]]
    edges = [((edge.pop("source"), edge.pop("target"), edge.pop("input")), edge) for edge in spec["edges"]]
    return nodes, edges


def filled(nodes: list[Any], edges: list[Any]) -> StreamGraphBuilder:
    builder = StreamGraphBuilder()
    for arguments, options in nodes:
        builder.add_node(*arguments, **options)
    for arguments, options in edges:
        builder.add_edge(*arguments, **options)
    return builder


def measure(benchmark: Any, size: int, work: Callable[[Any], Any], fresh: Callable[[], Any]) -> Any:
    """Run ``work(fresh())`` a few times, with only ``work`` on the clock; fewer times the bigger it is."""
    rounds = 20 if size <= 10_000 else 5 if size <= 100_000 else 3
    warmup = 1 if size <= 100_000 else 0
    return benchmark.pedantic(work, setup=lambda: ((fresh(),), {}), rounds=rounds, warmup_rounds=warmup)


@shapes
def test_fill_builder(benchmark: Any, shape: Shape, size: int) -> None:
    """Python calls of add_node and add_edge, one per node and edge."""
    rounds = 10 if size <= 10_000 else 3
    builder = benchmark.pedantic(filled, args=calls(shape(size)), rounds=rounds)
    assert len(builder.build().nodes) == size


@shapes
def test_shape(benchmark: Any, shape: Shape, size: int) -> None:
    """A shape made by the native core: StreamGraph without a Python call per node."""
    graph = benchmark.pedantic(shape, args=(size,), rounds=3)
    assert graph.nodes[0].kind == "source"


@shapes
def test_hash(benchmark: Any, shape: Shape, size: int) -> None:
    """StreamGraph -> operator IDs, as a dict of Python strings."""
    ids = measure(benchmark, size, lambda graph: graph.operator_ids(), lambda: shape(size))
    assert len(set(ids.values())) == len(ids) == size
    if shape is uid_table:
        assert ids[size] == operator_id(f"uid-{size}")


@shapes
def test_verdicts(benchmark: Any, shape: Shape, size: int) -> None:
    """StreamGraph -> chained or why not, per edge."""
    verdicts = measure(benchmark, size, lambda graph: graph.verdicts(), lambda: shape(size))
    chained = sum(verdict.chained for verdict in verdicts)
    assert chained == (size - 1 if shape is forward_chain else chained)


@shapes
def test_job_graph(benchmark: Any, shape: Shape, size: int) -> None:
    """StreamGraph -> JobGraph: IDs, chains, vertices, datasets, slot sharing, order."""
    job = measure(benchmark, size, lambda graph: graph.job_graph(), lambda: shape(size))
    assert len(job.vertices) == vertex_count(shape, size)


@shapes
def test_execution_graph(benchmark: Any, shape: Shape, size: int) -> None:
    """JobGraph -> ExecutionGraph, edges held as groups."""
    fresh = lambda: shape(size).job_graph()  # noqa: E731 - one expression, made outside the clock
    execution = measure(benchmark, size, lambda job: job.execution_graph(), fresh)
    assert execution.total_vertices == 4 * vertex_count(shape, size)


def test_all_to_all(benchmark: Any, parallelism: int) -> None:
    """An exchange between P and P subtasks: P squared edges, held in space that grows with P."""
    fresh = lambda: all_to_all(parallelism).job_graph()  # noqa: E731
    execution = measure(benchmark, parallelism, lambda job: job.execution_graph(), fresh)
    assert execution.total_edges == parallelism**2


def test_materialise_all_to_all(benchmark: Any, parallelism: int) -> None:
    """The same exchange as a table of single edges, 24 bytes each: 1.5 GB at parallelism 8,000."""
    execution = all_to_all(parallelism).job_graph().execution_graph()
    edges = benchmark.pedantic(execution.execution_edges, rounds=3)
    assert len(edges) == parallelism**2
    assert edges.nbytes >= 24 * parallelism**2
