"""Every table is read alike by pyarrow, polars, pandas and DuckDB. Spark's turn is in tests/spark/test_tables.py."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.plan_tables import TABLES, Rows, empty_execution_graph, execution_graph


def expected(columns: Any) -> Rows:
    return [tuple(row.values()) for row in pa.table(columns).to_pylist()]


def read_by_polars(columns: Any) -> Rows:
    return pl.DataFrame(columns).rows()


def read_by_pandas(columns: Any) -> Rows:
    frame = pa.table(columns).to_pandas()
    return [tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)]


def read_by_pandas_directly(columns: Any) -> Rows:
    if not hasattr(pd.DataFrame, "from_arrow"):
        pytest.skip("pandas before 3 reads Arrow through pyarrow only")
    frame = pd.DataFrame.from_arrow(columns)
    return [tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)]


def read_by_duckdb(columns: Any) -> Rows:
    assert columns is not None  # DuckDB finds it by name
    return duckdb.sql("select * from columns").fetchall()


def read_as_batches(columns: Any) -> Rows:
    batches = list(pa.RecordBatchReader.from_stream(columns))
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


READERS = [read_by_polars, read_by_pandas, read_by_pandas_directly, read_by_duckdb, read_as_batches]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_alike(name: str, reader: Any) -> None:
    graph = execution_graph()
    rows = expected(TABLES[name](graph))
    assert len(rows) > 1
    assert reader(TABLES[name](graph)) == rows


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", TABLES)
def test_an_empty_table_is_read(name: str, reader: Any) -> None:
    columns = TABLES[name](empty_execution_graph())
    assert reader(columns) == []
    assert pa.table(columns).schema == pa.table(TABLES[name](execution_graph())).schema


def test_texts_that_repeat_are_dictionaries_and_numbers_have_signs() -> None:
    graph = execution_graph()
    schemas = {name: pa.table(table(graph)).schema for name, table in TABLES.items()}
    dictionaries = {
        f"{name}.{field.name}" for name in TABLES for field in schemas[name] if pa.types.is_dictionary(field.type)
    }
    assert dictionaries >= {
        "nodes.kind",
        "nodes.slot_sharing_group",
        "stream edges.partitioner",
        "stream edges.rule",
        "vertices.invokable",
        "datasets.result_type",
        "job edges.ship_strategy",
        "result partitions.result_type",
    }
    unsigned = [f.name for schema in schemas.values() for f in schema if pa.types.is_unsigned_integer(f.type)]
    assert not unsigned, "Spark refuses them"
    assert schemas["binary operator ids"].field("operator_id").type == pa.binary(16)


def test_a_reader_in_sql_joins_tables_of_one_plan() -> None:
    graph = execution_graph()
    edges, vertices, chunks = graph.execution_edges(), graph.vertices_table(), graph.execution_edge_chunks(4)
    assert edges is not None
    assert vertices is not None
    assert chunks is not None
    counted = "select consumer, count(*) from {} group by consumer order by consumer"
    whole = duckdb.sql(counted.format("edges")).fetchall()
    assert whole == duckdb.sql(counted.format("chunks")).fetchall()
    joined = (
        "select max(subtask) + 1 = parallelism from edges join vertices on consumer = vertex "
        "group by vertex, parallelism"
    )
    assert duckdb.sql(joined).fetchall() == [(True,)] * len(whole)


def wanted(schema: pa.Schema) -> pa.Schema:
    """The same columns, with numbers as texts."""
    return pa.schema([field.with_type(pa.string()) if pa.types.is_integer(field.type) else field for field in schema])


@pytest.mark.parametrize("name", TABLES)
def test_a_reader_has_the_types_that_it_asks_for(name: str) -> None:
    table = pa.table(TABLES[name](execution_graph()))
    schema = wanted(table.schema)
    assert schema != table.schema
    assert pa.table(TABLES[name](execution_graph()), schema=schema) == table.cast(schema)


def test_a_batch_has_the_types_that_its_reader_asks_for() -> None:
    columns = execution_graph().vertices_table()
    assert pa.schema(columns) == pa.table(columns).schema
    batch = pa.record_batch(columns)
    schema = wanted(batch.schema)
    assert pa.record_batch(columns, schema=schema) == batch.cast(schema)
