"""Walking the same graph with general graph libraries: what ordering it alone costs there.

They hash nothing and decide nothing; their figures are a floor for what a planner built on them would take.
"""

from __future__ import annotations

from typing import Any

import networkx
import pyarrow as pa
import pytest
import rustworkx
from tests.shapes import Shape

from conftest import Measure
from penstock.plan.shapes import keyed_pipelines, layered_dag

some_shapes = pytest.mark.parametrize("shape", [layered_dag, keyed_pipelines], ids=lambda shape: shape.__name__)


def ends(shape: Shape, size: int) -> list[tuple[int, int]]:
    """Source and target of every edge, counted from 0."""
    table = pa.table(shape(size).edges_table())
    columns = (table.column(name).to_pylist() for name in ("source", "target"))
    return [(source - 1, target - 1) for source, target in zip(*columns, strict=True)]


def in_rustworkx(shape: Shape, size: int) -> Any:
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from_no_data(ends(shape, size))
    return graph


def in_networkx(shape: Shape, size: int) -> Any:
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(ends(shape, size))
    return graph


@some_shapes
def test_rustworkx_topological_sort(measure: Measure, shape: Shape, size: int) -> None:
    graph = in_rustworkx(shape, size)
    facts = {"phase": "topological sort", "shape": shape.__name__, "size": size, "peer": "rustworkx"}
    assert len(measure(rustworkx.topological_sort, lambda: graph, **facts)) == size


@some_shapes
def test_rustworkx_breadth_first(measure: Measure, shape: Shape, size: int) -> None:
    """Every edge once, breadth first from all sources, in the library's own loop."""
    graph = in_rustworkx(shape, size)
    sources = [node for node in graph.node_indices() if graph.in_degree(node) == 0]
    visitor = rustworkx.visit.BFSVisitor()
    facts = {"phase": "breadth-first walk", "shape": shape.__name__, "size": size, "peer": "rustworkx"}
    measure(lambda graph: rustworkx.bfs_search(graph, sources, visitor), lambda: graph, **facts)
    assert graph.num_nodes() == size


@some_shapes
def test_networkx_topological_sort(measure: Measure, shape: Shape, networkx_size: int) -> None:
    graph = in_networkx(shape, networkx_size)
    facts = {"phase": "topological sort", "shape": shape.__name__, "size": networkx_size, "peer": "networkx"}
    order = measure(lambda graph: list(networkx.topological_sort(graph)), lambda: graph, rounds=3, **facts)
    assert len(order) == networkx_size
