"""A graph from tables == the same graph from its description, whatever the tables look like."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from penstock.errors import PenstockError
from penstock.plan import StreamGraph, plan_record
from tests.generator.choices import SeededChoices
from tests.properties.graphs import Spec, seeded_spec, specs
from tests.properties.odd_values import odd_spec

RESOURCES = pa.struct(
    [("cpu", pa.float64()), *((f"{kind}_mb", pa.int64()) for kind in ("heap", "off_heap", "managed"))]
)
NODE_DEFAULTS = {"slot_sharing_group": "default", "parallelism": -1, "max_parallelism": -1, "buffer_timeout": -1}
NODE_SCHEMA = {
    "id": pa.int32(),
    "name": pa.string(),
    "kind": pa.string(),
    "uid": pa.string(),
    "user_hash": pa.string(),
    "slot_sharing_group": pa.string(),
    "co_location_group": pa.string(),
    "parallelism": pa.int32(),
    "max_parallelism": pa.int32(),
    "chaining_strategy": pa.string(),
    "yielding": pa.bool_(),
    "managed_memory_weight": pa.int32(),
    "buffer_timeout": pa.int64(),
    "min_resources": RESOURCES,
    "preferred_resources": RESOURCES,
}
LOOP_SCHEMA = {
    "loop_id": pa.int32(),
    "source_id": pa.int32(),
    "sink_id": pa.int32(),
    "parallelism": pa.int32(),
    "max_parallelism": pa.int32(),
    "timeout": pa.int64(),
    "slot_sharing_group": pa.string(),
}
EDGE_SCHEMA = {
    "source": pa.int32(),
    "target": pa.int32(),
    "partitioner": pa.string(),
    "shuffle_mode": pa.string(),
    "input": pa.uint8(),
}


def table(rows: list[Spec], schema: dict[str, pa.DataType], defaults: dict[str, Any]) -> pa.Table:
    filled = [{**defaults, **row} for row in rows]
    return pa.Table.from_pylist(filled, schema=pa.schema(list(schema.items())))


def tables(spec: Spec) -> dict[str, pa.Table]:
    """The arguments of ``from_columns`` that are tables."""
    result = {
        "nodes": table(spec["nodes"], NODE_SCHEMA, NODE_DEFAULTS),
        "edges": table(spec["edges"], EDGE_SCHEMA, {}),
    }
    return {**result, "iterations": table(spec["iterations"], LOOP_SCHEMA, {})} if "iterations" in spec else result


def settings(spec: Spec) -> dict[str, Any]:
    """The arguments of ``from_columns`` that are settings."""
    return {"name": spec["name"], "chaining_enabled": spec["chaining_enabled"], **spec["settings"]}


def disguised(table: pa.Table, choices: SeededChoices) -> pa.Table:
    """The same table, its columns in another order, of other types, in other chunks."""
    names = choices.shuffled(table.column_names)
    other = pa.table([_disguised(table.column(name), choices) for name in names], names)
    cuts = sorted(choices.number(0, table.num_rows) for _ in range(choices.number(0, 3)))
    ends = zip([0, *cuts], [*cuts, table.num_rows], strict=True)
    return pa.concat_tables([other.slice(start, end - start) for start, end in ends])


def _disguised(column: pa.ChunkedArray, choices: SeededChoices) -> pa.ChunkedArray:
    pick = choices.pick
    if column.null_count == len(column) and choices.chance(20):
        return pa.chunked_array([pa.nulls(len(column))])
    if pa.types.is_string(column.type):
        column = column.cast(pick((pa.string(), pa.large_string(), pa.string_view())))
        if pa.types.is_string_view(column.type) or choices.chance(50):
            return column
        codes = pick((pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()))
        return column.cast(pa.dictionary(codes, column.type))
    if pa.types.is_integer(column.type) and choices.chance(50):
        return column.cast(pa.int64())
    return column


def outcome(make: Callable[[], StreamGraph]) -> tuple[StreamGraph | None, object]:
    """A graph and its text, or none and why."""
    try:
        graph = make()
    except PenstockError as error:
        return None, (type(error), error.flink_class, error.operators)
    return graph, graph.to_json()


def compare(spec: Spec, seed: int) -> bool:
    """Both ways make one graph, or both refuse it for one reason. Returns whether there is a graph."""
    choices = SeededChoices(seed)
    arguments = {name: disguised(table, choices) for name, table in tables(spec).items()}
    _, expected = outcome(lambda: StreamGraph.from_json(json.dumps(spec)))
    graph, actual = outcome(lambda: StreamGraph.from_columns(**arguments, **settings(spec)))
    assert actual == expected
    if graph is None:
        return False
    assert not graph.verify()
    again = StreamGraph.from_columns(
        graph.nodes_table(), graph.edges_table(), iterations=graph.iterations_table(), **settings(spec)
    )
    assert again.to_json() == graph.to_json(), "its own tables do not hold all of a graph"
    assert plan_record(graph.to_json()) == plan_record(json.dumps(spec))
    return True


@given(specs(max_nodes=12))
def test_random_graphs(spec: Spec) -> None:
    compare(spec, len(spec["edges"]))


@pytest.mark.slow
def test_seeded_graphs_of_all_sizes() -> None:
    assert sum(compare(seeded_spec(seed, seed % 61), seed) for seed in range(300)) > 200


def test_odd_values() -> None:
    assert sum(compare(odd_spec(seed), seed) for seed in range(1000, 1300)) > 200
