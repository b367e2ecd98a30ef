"""Pointwise edges for every pair of parallelisms up to 256, in columns: 11 million edges in seconds. In the quick cycle
every pair up to 128, which are an eighth of them."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import settings

from penstock.plan import StreamGraphBuilder
from tests.reference.execution_graph import pointwise

LIMIT = 256 if settings().max_examples >= 100 else 128
AT_ONCE = 64


def expected_ranges(producers: pa.Array, consumers: pa.Array, subtask: pa.Array) -> tuple[pa.Array, pa.Array]:
    """First and last partition per (producers, consumers, subtask): the rule of ``pointwise`` on whole columns."""
    as_float = lambda column: pc.cast(column, pa.float32())  # noqa: E731
    as_int = lambda column: pc.cast(pc.floor(column), pa.int32())  # noqa: E731
    fewer = pc.less(producers, consumers)
    factor = pc.divide(as_float(consumers), as_float(producers))
    one = pc.if_else(
        is_multiple(consumers, producers),
        pc.divide(subtask, pc.max_element_wise(pc.divide(consumers, producers), 1)),
        as_int(pc.divide(as_float(subtask), factor)),
    )
    factor = pc.divide(as_float(producers), as_float(consumers))
    after = pc.add(subtask, 1)
    block = pc.divide(producers, consumers)
    even = is_multiple(producers, consumers)
    first = pc.if_else(even, pc.multiply(subtask, block), as_int(pc.multiply(as_float(subtask), factor)))
    end = pc.if_else(even, pc.multiply(after, block), as_int(pc.multiply(as_float(after), factor)))
    end = pc.if_else(pc.equal(after, consumers), producers, end)
    return pc.if_else(fewer, one, first), pc.if_else(fewer, one, pc.subtract(end, 1))


def is_multiple(big: pa.Array, small: pa.Array) -> pa.Array:
    return pc.equal(pc.multiply(pc.divide(big, small), small), big)


def test_the_rule_on_columns_is_the_reference_rule() -> None:
    choose = random.Random(5)
    pairs = [(n, m) for n in range(1, 41) for m in range(1, 41)]
    pairs += [(choose.randint(1, 3000), choose.randint(1, 3000)) for _ in range(50)]
    rows = [(n, m, subtask) for n, m in pairs for subtask in range(m)]
    first, last = expected_ranges(*(pa.array(column, pa.int32()) for column in zip(*rows, strict=True)))
    ranges = [pointwise(*row) for row in rows]
    assert first.to_pylist() == [partitions[0] for partitions in ranges]
    assert last.to_pylist() == [partitions[-1] for partitions in ranges]


@pytest.mark.slow
def test_every_pair_up_to_the_limit() -> None:
    edges = 0
    for first in range(1, LIMIT + 1, AT_ONCE):
        edges += check_producers(range(first, first + AT_ONCE))
    assert edges == sum(max(n, m) for n in range(1, LIMIT + 1) for m in range(1, LIMIT + 1))


def check_producers(parallelisms: range) -> int:
    """One source per parallelism, rescaled to sinks of each one up to the limit. Returns the number of edges."""
    builder = StreamGraphBuilder()
    for n in parallelisms:
        builder.add_node(n, f"Source: {n}", "source", parallelism=n)
        for m in range(1, LIMIT + 1):
            builder.add_node(n * 1000 + m, f"Sink: {m}", "sink", parallelism=m)
            builder.add_edge(n, n * 1000 + m, partitioner="RESCALE")
    execution = builder.build().job_graph().execution_graph()
    edges = pa.table(execution.execution_edges())
    parallelism = pc.cast(pa.table(execution.vertices_table()).column("parallelism"), pa.int32())
    read = edges.group_by(["producer", "consumer", "subtask"]).aggregate(
        [("partition", "min"), ("partition", "max"), ("partition", "count")]
    )
    producers, consumers = (parallelism.take(read.column(end)) for end in ("producer", "consumer"))
    first, last = expected_ranges(producers, consumers, pc.cast(read.column("subtask"), pa.int32()))
    assert pc.all(pc.equal(pc.cast(read.column("partition_min"), pa.int32()), first)).as_py()
    assert pc.all(pc.equal(pc.cast(read.column("partition_max"), pa.int32()), last)).as_py()
    assert pc.all(
        pc.equal(read.column("partition_count"), pc.cast(pc.add(pc.subtract(last, first), 1), pa.int64()))
    ).as_py()
    assert read.num_rows == len(parallelisms) * LIMIT * (LIMIT + 1) // 2
    return edges.num_rows
