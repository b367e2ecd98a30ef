"""Every table of a plan as Arrow columns, read by pyarrow through the PyCapsule interface, equals views and records."""

from __future__ import annotations

import struct
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.errors import ExecutionGraphError, OperatorIdError
from penstock.plan import StreamGraph, StreamGraphBuilder, shapes
from penstock.plan.shapes import all_to_all
from tests.execution_edges import from_inputs, from_results
from tests.golden.load import plan_record, plan_records

EDGE_COLUMNS = ["consumer", "subtask", "input", "producer", "result", "partition"]
NAMES = [
    "hw_wordcount",
    "hw_iteration",
    "hw_names",
    "hw_multi_edge_mixed",
    "hw_pointwise_16_14",
    "hw_empty",
    "api_connect",
]


def graph_of(name: str) -> Any:
    return StreamGraph.from_dict(plan_record(name)["spec"])


def checksum(table: pa.Table) -> str:
    """SHA-256 over six little-endian ints per row, as the records have it."""
    rows = zip(*(column.to_pylist() for column in table.select(EDGE_COLUMNS).columns), strict=True)
    return sha256(b"".join(struct.pack("<6i", *row) for row in rows)).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_stream_graph_tables(name: str) -> None:
    graph = graph_of(name)
    nodes, edges = pa.table(graph.nodes_table()), pa.table(graph.edges_table())
    for column in ("id", "name", "kind", "uid", "slot_sharing_group", "parallelism", "max_parallelism", "yielding"):
        assert nodes.column(column).to_pylist() == [getattr(node, column) for node in graph.nodes]
    for column in ("source", "target", "partitioner", "shuffle_mode", "side_output", "buffer_timeout"):
        assert edges.column(column).to_pylist() == [getattr(edge, column) for edge in graph.edges]
    assert edges.column("chained").to_pylist() == [verdict.chained for verdict in graph.verdicts()]
    assert edges.column("rule").to_pylist() == [verdict.rule for verdict in graph.verdicts()]


@pytest.mark.parametrize("name", NAMES)
def test_identities_and_verdicts_as_tables(name: str) -> None:
    graph = graph_of(name)
    ids, raw, verdicts = (
        pa.table(graph.operator_ids_table()),
        pa.table(graph.operator_ids_table(binary=True)),
        pa.table(graph.verdicts_table()),
    )
    expected = [graph.operator_ids().get(node.id) for node in graph.nodes]
    assert ids.column("node").to_pylist() == [node.id for node in graph.nodes]
    assert ids.column("operator_id").to_pylist() == expected
    assert raw.column("operator_id").to_pylist() == [
        None if digits is None else bytes.fromhex(digits) for digits in expected
    ]
    for column in ("edge", "chained", "rule", "reason"):
        assert verdicts.column(column).to_pylist() == [getattr(verdict, column) for verdict in graph.verdicts()]


def test_a_uid_used_twice_is_refused_before_there_is_a_table() -> None:
    builder = StreamGraphBuilder()
    builder.add_node(1, "Source: a", "source", uid="same")
    builder.add_node(2, "Source: b", "source", uid="same")
    with pytest.raises(OperatorIdError, match="same"):
        builder.build().operator_ids_table()


@pytest.mark.parametrize("name", NAMES)
def test_data_sets_table(name: str) -> None:
    job = graph_of(name).job_graph()
    data_sets, edges = pa.table(job.datasets_table()), pa.table(job.edges_table())
    expected = [(d.index, d.producer, d.result, d.result_type, len(d.consumers)) for d in job.data_sets]
    assert [tuple(row.values()) for row in data_sets.to_pylist()] == expected
    consumed = [(d.index, *consumer) for d in job.data_sets for consumer in d.consumers]
    columns = ("data_set", "target", "input")
    assert sorted(zip(*(edges.column(c).to_pylist() for c in columns), strict=True)) == sorted(consumed)


@pytest.mark.parametrize("name", NAMES)
def test_job_graph_tables(name: str) -> None:
    job = graph_of(name).job_graph()
    vertices, operators, edges = (pa.table(t()) for t in (job.vertices_table, job.operators_table, job.edges_table))
    for column in ("id", "name", "head", "parallelism", "max_parallelism", "invokable", "slot_sharing_group"):
        assert vertices.column(column).to_pylist() == [getattr(vertex, column) for vertex in job.vertices]
    chain = [(vertex.index, operator) for vertex in job.vertices for operator in vertex.chain]
    ours = zip(*(operators.column(c).to_pylist() for c in ("vertex", "node", "operator_id", "name")), strict=True)
    assert sorted(ours) == sorted((index, o.node, o.operator_id, o.name) for index, o in chain)
    inputs = [(v.index, e.input, e.source, e.result, e.ship_strategy) for v in job.vertices for e in v.inputs]
    columns = ("target", "input", "source", "result", "ship_strategy")
    assert sorted(zip(*(edges.column(c).to_pylist() for c in columns), strict=True)) == sorted(inputs)


@pytest.mark.parametrize("name", NAMES)
def test_execution_graph_tables(name: str) -> None:
    execution = graph_of(name).job_graph().execution_graph()
    vertices, subtasks = pa.table(execution.vertices_table()), pa.table(execution.subtasks_table())
    for column in ("job_vertex", "parallelism", "max_parallelism"):
        assert vertices.column(column).to_pylist() == [getattr(vertex, column) for vertex in execution.vertices]
    assert subtasks.num_rows == execution.total_vertices
    # a subtask's key groups end where the next one's begin
    for vertex in execution.vertices:
        rows = [row for row in subtasks.to_pylist() if row["vertex"] == vertex.index]
        assert [row["subtask"] for row in rows] == list(range(vertex.parallelism))
        bounds = [(row["first_key_group"], row["last_key_group"]) for row in rows]
        assert (bounds[0][0], bounds[-1][1]) == (0, vertex.max_parallelism - 1)
        assert all(last + 1 == first for (_, last), (first, _) in pairwise(bounds))


def test_materialised_edges_equal_flinks_for_every_record() -> None:
    compared = 0
    for record in plan_records():
        expected = record["result"].get("execution_graph", {"error": None})
        if "error" in expected or expected["total_edges"] > 20_000:
            continue
        execution = StreamGraph.from_dict(record["spec"]).job_graph().execution_graph()
        table = pa.table(execution.execution_edges())
        assert table.column_names == EDGE_COLUMNS
        assert table.num_rows == expected["total_edges"]
        assert checksum(table) == expected["sha256_inputs"], record["spec"]["name"]
        assert execution.sha256_of_edges() == (expected["sha256_inputs"], expected["sha256_consumers"])
        compared += table.num_rows
    assert compared > 80_000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_chunks_and_groups_agree_with_the_whole(name: str, rows: int) -> None:
    execution = graph_of(name).job_graph().execution_graph()
    whole = pa.table(execution.execution_edges())
    chunks = [pa.table(chunk) for chunk in execution.execution_edge_chunks(rows)]
    assert all(0 < chunk.num_rows <= rows for chunk in chunks)
    assert (pa.concat_tables(chunks) if chunks else whole.slice(0, 0)).to_pylist() == whole.to_pylist()
    assert from_inputs(execution) == [tuple(row.values()) for row in whole.to_pylist()]
    assert sorted(from_results(execution)) == sorted(from_inputs(execution))


def test_a_table_of_too_many_edges_is_refused_with_its_size_but_comes_in_chunks() -> None:
    execution = all_to_all(32_768).job_graph().execution_graph()
    assert execution.total_edges == 32_768**2
    with pytest.raises(ExecutionGraphError) as caught:
        execution.execution_edges()
    for text in (str(32_768**2), str(32_768**2 * 24), "chunk"):
        assert text in str(caught.value).replace(",", "").replace("_", "")
    chunk = pa.table(next(iter(execution.execution_edge_chunks(100_000))))
    assert chunk.num_rows == 100_000
    assert chunk.column("partition").to_pylist()[32_767:32_769] == [32_767, 0]
    assert "32768" in str(execution.vertices[0].parallelism)


def test_the_limit_is_the_callers() -> None:
    execution = graph_of("hw_wordcount").job_graph().execution_graph()
    size = execution.total_edges * 24
    assert pa.table(execution.execution_edges(limit_bytes=size)).num_rows == execution.total_edges
    with pytest.raises(ExecutionGraphError):
        execution.execution_edges(limit_bytes=size - 1)


@pytest.mark.slow
def test_large_tables_come_in_bounded_batches_that_are_made_while_they_are_read() -> None:
    graph = shapes.layered_dag(300_000)
    for columns in (graph.nodes_table(), graph.operator_ids_table(), graph.job_graph().operators_table()):
        batches = list(pa.RecordBatchReader.from_stream(columns))
        assert sum(batch.num_rows for batch in batches) == columns.num_rows == 300_000
        assert len(batches) == 3
        assert max(batch.num_rows for batch in batches) <= 131_072
        whole = pa.record_batch(columns)  # readers that want one array
        assert whole.column(1).to_pylist() == pa.table(columns).column(1).to_pylist()
    for at, row in enumerate(pa.table(graph.operator_ids_table()).slice(131_070, 4).to_pylist(), start=131_071):
        assert row["node"] == at


@pytest.mark.slow
def test_batches_of_an_exchange_share_memory() -> None:
    execution = shapes.all_to_all(2000).job_graph().execution_graph()
    edges = execution.execution_edges()
    table = pa.table(edges)
    assert table.nbytes == 24 * 4_000_000
    assert edges.nbytes < 10 * 4_000_000
    batches = table.to_batches()
    assert [batch.num_rows for batch in batches] == [1 << 20, 1 << 20, 1 << 20, 4_000_000 - 3 * (1 << 20)]
    subtasks, partitions = (pc.cast(table.column(name), pa.int64()) for name in ("subtask", "partition"))
    numbers = pc.add(pc.multiply(subtasks, 2000), partitions)
    assert pc.all(pc.equal(numbers, pa.array(range(4_000_000)))).as_py()


def test_an_exchange_of_any_size_is_read_in_bounded_memory() -> None:
    execution = shapes.all_to_all(8000).job_graph().execution_graph()
    before, most, rows = resident(), 0, 0
    for batch in pa.RecordBatchReader.from_stream(execution.execution_edge_chunks()):
        rows += batch.num_rows
        most = max(most, resident())
    assert rows == 64_000_000
    assert most - before < 200 * 2**20, "of 1.5 GB"


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_lookup_outside_of_the_graph_is_refused() -> None:
    execution = graph_of("hw_wordcount").job_graph().execution_graph()
    for call in (
        lambda: execution.inputs_of(99, 0),
        lambda: execution.inputs_of(0, 99),
        lambda: execution.consumers_of(99, 0, 0),
        lambda: execution.consumers_of(0, 99, 0),
        lambda: execution.consumers_of(0, 0, 99),
    ):
        with pytest.raises(IndexError, match="99"):
            call()


def test_columns_are_readable_in_every_way_the_interface_has() -> None:
    columns = graph_of("hw_wordcount").nodes_table()
    table = pa.table(columns)
    assert pa.record_batch(columns).to_pylist() == table.to_pylist()
    assert pa.RecordBatchReader.from_stream(columns).read_all() == table
    assert pa.schema(columns) == table.schema
    assert (columns.num_rows, columns.column_names, len(columns)) == (
        table.num_rows,
        table.column_names,
        table.num_rows,
    )
    assert columns.nbytes > 0
    assert "name" in repr(columns)
    del columns
    assert table.column("name").to_pylist()[2] == "Flat Map", "the memory outlives the object it came from"
