"""``StreamGraph.from_columns`` and ``from_parquet``: every door, every form of a column, every refusal."""

from __future__ import annotations

import array
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import PenstockError, SpecError, StreamGraphError
from penstock.plan import StreamGraph, StreamGraphBuilder
from tests.properties.odd_values import odd_spec

NODES: dict[str, Any] = {
    "id": pa.array([1, 2, 3], pa.int32()),
    "name": pa.array(["Source: a", "b", "Sink: c"]),
    "kind": pa.array(["source", "operator", "sink"]),
    "uid": pa.array(["u", None, None], pa.string()),
    "parallelism": pa.array([2, 2, 4], pa.int32()),
}
EDGES: dict[str, Any] = {
    "source": pa.array([1, 2], pa.int32()),
    "target": pa.array([2, 3], pa.int32()),
    "partitioner": pa.array([None, "HASH"]),
}


def built() -> StreamGraph:
    builder = StreamGraphBuilder(job_name="j")
    builder.add_node(1, "Source: a", "source", uid="u", parallelism=2)
    builder.add_node(2, "b", "operator", parallelism=2)
    builder.add_node(3, "Sink: c", "sink", parallelism=4)
    builder.add_edge(1, 2)
    builder.add_edge(2, 3, partitioner="HASH")
    return builder.build()


def duck(table: pa.Table) -> Any:
    return duckdb.from_arrow(table)


def numpy(table: pa.Table) -> dict[str, Any]:
    return {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}


def plain_buffers(table: pa.Table) -> dict[str, Any]:
    ints = {name: array.array("q", column.to_pylist()) for name, column in columns(table) if column.type == pa.int32()}
    return {**dict(columns(table)), **ints}


def columns(table: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    return list(zip(table.column_names, table.columns, strict=True))


DOORS: dict[str, Callable[[pa.Table], Any]] = {
    "table": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(max_chunksize=1),
    "polars": pl.from_arrow,
    "pandas": pa.Table.to_pandas,
    "duckdb": duck,
    "mapping of chunked arrays": lambda table: dict(columns(table)),
    "mapping of arrays": lambda table: {name: column.combine_chunks() for name, column in columns(table)},
    "mapping of NumPy arrays": numpy,
    "mapping of series": lambda table: {name: pl.Series(column) for name, column in columns(table)},
    "mapping of buffers": plain_buffers,
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door(door: str) -> None:
    nodes, edges = DOORS[door](pa.table(NODES)), DOORS[door](pa.table(EDGES))
    assert StreamGraph.from_columns(nodes, edges, job_name="j").to_json() == built().to_json()


def test_polars_categories_and_pandas_categories() -> None:
    for nodes in (
        pl.DataFrame(pa.table(NODES)).with_columns(pl.col("name", "kind").cast(pl.Categorical)),
        pa.table(NODES).to_pandas().astype({"name": "category", "kind": "category"}),
    ):
        assert StreamGraph.from_columns(nodes, pa.table(EDGES), job_name="j").to_json() == built().to_json()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_of_every_width(dtype: Any) -> None:
    ids = np.array([1, 2, 3], dtype)
    nodes = {**NODES, "id": ids}
    strided = np.repeat(ids, 2)[::2]
    for source in (ids, strided):
        edges = {**EDGES, "source": source[:2], "target": source[1:]}
        assert StreamGraph.from_columns(nodes, edges, job_name="j").to_json() == built().to_json()


def test_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table(NODES), tmp_path / "nodes.parquet", row_group_size=2)
    pq.write_table(pa.table(EDGES), str(tmp_path / "edges.parquet"))
    graph = StreamGraph.from_parquet(tmp_path / "nodes.parquet", str(tmp_path / "edges.parquet"), job_name="j")
    assert graph.to_json() == built().to_json()
    with pytest.raises(FileNotFoundError):
        StreamGraph.from_parquet(tmp_path / "none.parquet", tmp_path / "edges.parquet")
    (tmp_path / "text.parquet").write_text("no parquet at all")
    with pytest.raises(SpecError, match=r"the edges table: the Parquet file is not readable \(.*magic bytes") as caught:
        StreamGraph.from_parquet(tmp_path / "nodes.parquet", tmp_path / "text.parquet")
    assert isinstance(caught.value.__cause__, pa.ArrowInvalid)


def test_tables_of_a_graph_through_parquet(tmp_path: Path) -> None:
    record = {"name": "p", "nodes": [], "edges": [], "iterations": []}
    for spec in [record, *(odd_spec(seed) for seed in range(1000, 1020))]:
        try:
            graph = StreamGraph.from_dict(spec)
        except PenstockError:
            continue
        paths = [tmp_path / name for name in ("nodes", "edges", "loops")]
        for path, columns in zip(
            paths, (graph.nodes_table(), graph.edges_table(), graph.iterations_table()), strict=True
        ):
            pq.write_table(pa.table(columns), path)
        again = StreamGraph.from_parquet(paths[0], paths[1], iterations_path=paths[2])
        for part in ("nodes", "edges", "iterations"):
            assert again.to_dict().get(part) == graph.to_dict().get(part)


def test_loops() -> None:
    builder = StreamGraphBuilder()
    builder.add_node(1, "s", "source", parallelism=1)
    builder.add_node(2, "m", "operator", parallelism=1)
    builder.add_iteration(9, -1, -2, parallelism=1, timeout=50, slot_sharing_group="default")
    for source, target in [(1, 2), (-1, 2), (2, -2)]:
        builder.add_edge(source, target)
    nodes = {"id": [1, 2, -2], "name": ["s", "m", "t"], "kind": ["source", "operator", "iteration_tail"]}
    loops = {"loop_id": [9], "source_id": [-1], "sink_id": [-2], "parallelism": [1], "timeout": [50]}
    edges = pa.table({"source": [1, -1, 2], "target": [2, 2, -2]})
    nodes_table = pa.table({**nodes, "parallelism": [1, 1, 1]})
    graph = StreamGraph.from_columns(nodes_table, edges, iterations=pa.table(loops))
    assert graph.to_json() == builder.build().to_json()
    with pytest.raises(SpecError, match=r"row 2 of the nodes table: .*_tail.* sink_id -2 among the iterations"):
        StreamGraph.from_columns(nodes_table, edges)
    with pytest.raises(StreamGraphError, match="row 0 of the iterations table: node id 1 is used twice"):
        StreamGraph.from_columns(nodes_table, edges, iterations=pa.table({**loops, "sink_id": [1]}))


def resources(cpu: float | None, size: int | None) -> dict[str, Any]:
    return {"cpu": cpu, "heap_mb": size, "off_heap_mb": size, "managed_mb": size}


def test_resources_and_other_rarities() -> None:
    rare = {"task": "T", "input_format": "I", "output_format": "O", "coordinator": "C"}
    nodes = pa.table(
        {
            "id": [1, 2],
            "name": ["a", "b"],
            "kind": ["source", "source"],
            "min_resources": [resources(0.1, 3), None],
            "preferred_resources": [resources(2.0, 4), None],
            **{name: [value, None] for name, value in rare.items()},
        }
    )
    edges = pa.table({"source": pa.array([], pa.int8()), "target": pa.array([], pa.int8())})
    expected = StreamGraphBuilder()
    expected.add_node(1, "a", "source", min_resources=(0.1, 3, 3, 3), preferred_resources=(2.0, 4, 4, 4), **rare)
    expected.add_node(2, "b", "source")
    text = expected.build().to_json()
    assert StreamGraph.from_columns(nodes, edges).to_json() == text
    assert StreamGraph.from_columns(nodes.flatten(), edges).to_json() == text
    for column, value, message in [
        ("preferred_resources", [None, None], "row 0 of the nodes table: resources is only one of"),
        ("min_resources", [resources(0.1, None), None], "row 0 of the nodes table: column .min_resources. is given in"),
        ("min_resources", [resources(-0.5, 1), None], "cpu is -0.5, expected a finite number"),
        ("min_resources", [{"cpu": "x"}, None], "min_resources.cpu. is of type Utf8, expected numbers"),
        ("min_resources", [1.5, None], "min_resources. is of type Float64, expected a struct of cpu"),
    ]:
        bad = nodes.set_column(nodes.column_names.index(column), column, pa.array(value))
        with pytest.raises(SpecError, match=message):
            StreamGraph.from_columns(bad, edges)


def changed(table: dict[str, Any], **new: Any) -> dict[str, Any]:
    return {name: value for name, value in {**table, **new}.items() if value is not None}


def raw(values: list[bytes]) -> pa.Array:
    """Bytes that claim to be text."""
    return pa.array(values).view(pa.string())


def codes(*values: int) -> pa.Array:
    keys = pa.array(values, pa.int8())
    return pa.DictionaryArray.from_arrays(keys, pa.array(["source", "sink"]), safe=False)


WRONG_NODES: list[tuple[Any, type[PenstockError], str]] = [
    (
        changed(NODES, colour=NODES["name"]),
        SpecError,
        'nodes table: column "colour" is unknown, expected one of id, name',
    ),
    (changed(NODES, kind=None), SpecError, 'the nodes table: column "kind" is missing, expected texts'),
    (changed(NODES, id=np.array([1.0, 2.0, 3.0])), SpecError, 'column "id" is of type Float64, expected integers'),
    (changed(NODES, name=np.array([1, 2, 3])), SpecError, 'column "name" is of type Int64, expected texts'),
    (changed(NODES, yielding=np.array([0, 1, 0])), SpecError, 'column "yielding" is of type Int64, expected booleans'),
    (
        changed(NODES, id=pa.array([1, None, 3])),
        SpecError,
        'row 1 of the nodes table: column "id" is null, expected an int',
    ),
    (changed(NODES, name=pa.array(["a", "b", None])), SpecError, 'row 2 .*: column "name" is null, expected a text'),
    (
        changed(NODES, parallelism=pa.array([1, 1, None])),
        SpecError,
        'row 2 .*"parallelism" is null.*without the column',
    ),
    (
        changed(NODES, id=np.array([1, 2, 2**31])),
        SpecError,
        "row 2 .* is 2147483648, expected an integer from -2147483648",
    ),
    (changed(NODES, id=np.array([1, 2, 2**64 - 1], np.uint64)), SpecError, "is 18446744073709551615, expected"),
    (
        changed(NODES, kind=pa.array(["source", "Map", "sink"])),
        SpecError,
        '"Map", expected one of source, operator, two',
    ),
    (changed(NODES, kind=codes(0, 7, 0)), SpecError, "row 1 .* is the dictionary code 7, expected a code from 0 to 1"),
    (changed(NODES, name=raw([b"a", b"\xff\xfe", b"c"])), SpecError, 'row 1 .*: column "name" is not UTF-8'),
    (changed(NODES, yielding=pa.array([True, None, True])), SpecError, 'row 1 .*"yielding" is null, expected true or'),
    (
        changed(NODES, chaining_strategy=pa.array(["ALWAYS", "HEAD", ""])),
        SpecError,
        '"", expected one of ALWAYS, NEVER',
    ),
    (
        changed(NODES, id=np.array([1, 2, 1])),
        StreamGraphError,
        "row 2 of the nodes table: node id 1 is used twice, by Sou",
    ),
    (changed(NODES, id=np.array([1, 2])), SpecError, "the nodes table: its type is not readable .*length"),
    (changed(NODES, id=[1, 2, 3]), SpecError, "column 'id' is not readable .*bytes-like"),
    (changed(NODES, id=np.ones((3, 3))), SpecError, "column 'id' is not readable .*1-dim"),
    (changed(NODES, name="abc"), SpecError, "column 'name' is not readable"),
    ({1: NODES["id"]}, SpecError, "the nodes table: "),
    ([1, 2, 3], SpecError, r"its type is not readable \(it is list\), expected a table with the Arrow PyCapsule"),
    (None, SpecError, "it is NoneType"),
    (pa.array([1, 2]), SpecError, "the nodes table: its type is not readable"),
    (pa.array([None, {"id": 1}]), SpecError, "the nodes table: its type is not readable .1 of its rows"),
    (pa.table([NODES["id"], NODES["id"]], ["id", "id"]), SpecError, 'column "id" is given twice, expected once'),
]

WRONG_EDGES: list[tuple[Any, type[PenstockError], str]] = [
    (
        changed(EDGES, target=np.array([2, 4])),
        StreamGraphError,
        "row 1 of the edges table: .* refers to node 4, which has",
    ),
    (
        changed(EDGES, source=np.array([5, 2])),
        StreamGraphError,
        "row 0 of the edges table: the edge 5 -> b-2 refers to nod",
    ),
    (
        changed(EDGES, partitioner=pa.array(["HASH", "Hash"])),
        SpecError,
        'row 1 .*is "Hash", expected one of FORWARD, REB',
    ),
    (changed(EDGES, partitioner=pa.array(["HASH", "FORWARD"])), StreamGraphError, "row 1 .*FORWARD edge cannot change"),
    (
        changed(EDGES, input=np.array([0, 1])),
        StreamGraphError,
        'row 1 of the edges table: the edge b-2 -> Sink: c-3 has input 1, but Sink: c-3 is of kind "sink"',
    ),
    (changed(EDGES, input=np.array([0, 256])), SpecError, "is 256, expected an integer from 0 to 255"),
    (changed(EDGES, shuffle_mode=pa.array([None, "BATCH"])), SpecError, 'row 0 .*"shuffle_mode" is null'),
    (
        changed(EDGES, buffer_timeout=np.array([-1, 5])),
        SpecError,
        "row 1 .* is 5, expected -1, the buffer timeout of its",
    ),
    (changed(EDGES, partition_node=np.array([-1, 2**40])), SpecError, 'row 1 .*"partition_node" is 1099511627776'),
    (
        changed(EDGES, weight=np.array([1, 2])),
        SpecError,
        'edges table: column "weight" is unknown, expected one of source',
    ),
    (pa.table({"source": pa.array([], pa.int32())}), SpecError, 'the edges table: column "target" is missing'),
]


@pytest.mark.parametrize(("nodes", "error", "message"), WRONG_NODES)
def test_wrong_nodes(nodes: Any, error: type[PenstockError], message: str) -> None:
    with pytest.raises(error, match=message):
        StreamGraph.from_columns(nodes, EDGES)


@pytest.mark.parametrize(("edges", "error", "message"), WRONG_EDGES)
def test_wrong_edges(edges: Any, error: type[PenstockError], message: str) -> None:
    with pytest.raises(error, match=message):
        StreamGraph.from_columns(NODES, edges)


def test_settings_are_those_of_the_builder() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        StreamGraph.from_columns(NODES, EDGES, parallelism=3)  # pyright: ignore[reportCallIssue]
    with pytest.raises(SpecError, match="schedule_mode"):
        StreamGraph.from_columns(NODES, EDGES, schedule_mode="LATER")


def test_a_failing_stream_is_an_error_with_its_table() -> None:
    def batches() -> Any:
        yield pa.record_batch(NODES)
        raise OSError("disk gone")

    reader = pa.RecordBatchReader.from_batches(pa.table(NODES).schema, batches())
    with pytest.raises(SpecError, match=r"the nodes table: its data is not readable \(.*disk gone"):
        StreamGraph.from_columns(reader, EDGES)


def test_a_graph_of_nothing() -> None:
    graph = StreamGraph.from_columns(pa.table(NODES).slice(0, 0), pa.table(EDGES).slice(0, 0))
    assert (graph.nodes, graph.edges) == ([], [])


def test_numbers_of_numpy_are_not_copied() -> None:
    """A million rows take the memory of the graph, not that of a second copy of the table."""
    code = """
import numpy, pyarrow, resource
from penstock.plan import StreamGraph
rows = 1 << 20
codes = pyarrow.DictionaryArray.from_arrays(numpy.zeros(rows, numpy.int8), ["source"])
wide = {name: numpy.zeros(rows, numpy.int64) for name in ("parallelism", "max_parallelism", "buffer_timeout")}
nodes = {"id": numpy.arange(rows), "name": codes, "kind": codes, **wide}
nothing = numpy.empty(0, numpy.int32)
before = pyarrow.total_allocated_bytes()
graph = StreamGraph.from_columns(nodes, {"source": nothing, "target": nothing})
print(pyarrow.total_allocated_bytes() - before, pyarrow.default_memory_pool().max_memory() - before)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    left, peak = map(int, run.stdout.split())
    assert left == 0
    assert peak < 1 << 20, "pyarrow has copied a column"


def test_frames_stay_usable() -> None:
    frame = pd.DataFrame({"source": [1], "target": [2]})
    StreamGraph.from_columns(NODES, frame)
    assert frame["target"].tolist() == [2]
