"""Edges between subtasks, held as groups, in one table or in chunks, seen from either end, are the same edges."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PenstockError
from penstock.plan import StreamGraph
from tests.execution_edges import Edge, from_inputs, from_results
from tests.properties.graphs import Spec, specs


def as_edges(table: pa.Table) -> list[Edge]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@given(specs(max_nodes=12), st.integers(1, 5000))
def test_groups_tables_and_chunks_agree(spec: Spec, rows: int) -> None:
    try:
        graph = StreamGraph.from_dict(spec).job_graph().execution_graph()
    except PenstockError:
        return
    whole = as_edges(pa.table(graph.execution_edges()))
    assert len(whole) == graph.total_edges
    assert from_inputs(graph) == whole
    assert sorted(from_results(graph)) == sorted(whole)
    chunks = [as_edges(pa.table(chunk)) for chunk in graph.execution_edge_chunks(rows)]
    assert [edge for chunk in chunks for edge in chunk] == whole
    assert all(len(chunk) == rows for chunk in chunks[:-1])
