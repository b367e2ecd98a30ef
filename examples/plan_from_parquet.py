"""Planning without a program: a graph of ten thousand operators from Parquet files, as Flink would plan it.

Needs no Spark and runs nothing. The graph comes as two tables, one row per operator and one per edge, and what Flink
would make of it goes back to Parquet, for any tool that reads it.

    python examples/plan_from_parquet.py

Prints::

    StreamGraph("nightly", 10000 nodes, 9999 edges)
    10000 operators in 101 vertices, the longest chain has 100
    40400 subtasks, 16000000 connections
    why not chained: {'partitioner': 100}
    written: operators.parquet, 10000 rows
"""

# pyright: basic

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.plan import StreamGraph

OPERATORS = 10_000


def write_description(folder: Path) -> None:
    """A line of operators; before every hundredth the records are dealt out anew by a key."""
    ids = range(1, OPERATORS + 1)
    nodes = {
        "id": pa.array(ids, pa.int32()),
        "name": ["Source: orders", *(f"step {number}" for number in ids[1:])],
        "kind": ["source", *("operator" for _ in ids[1:])],
        "parallelism": [400 for _ in ids],
    }
    edges = {
        "source": pa.array(ids[:-1], pa.int32()),
        "target": pa.array(ids[1:], pa.int32()),
        "partitioner": ["HASH" if target % 100 == 0 else "FORWARD" for target in ids[1:]],
    }
    pq.write_table(pa.table(nodes), folder / "nodes.parquet")
    pq.write_table(pa.table(edges), folder / "edges.parquet")


def main() -> None:
    """Read the graph, plan it, and say what came out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_description(folder)

        graph = StreamGraph.from_parquet(folder / "nodes.parquet", folder / "edges.parquet", job_name="nightly")
        print(graph)

        job = graph.job_graph()
        operators = pa.table(job.operators_table())
        longest = max(operators["chain_index"].to_pylist()) + 1
        print(f"{operators.num_rows} operators in {len(job.vertices)} vertices, the longest chain has {longest}")

        execution = job.execution_graph()
        print(f"{execution.total_vertices} subtasks, {execution.total_edges} connections")

        reasons = Counter(verdict.rule for verdict in graph.verdicts() if not verdict.chained)
        print(f"why not chained: {dict(reasons)}")

        pq.write_table(operators, folder / "operators.parquet")
        print(f"written: operators.parquet, {pq.read_metadata(folder / 'operators.parquet').num_rows} rows")


if __name__ == "__main__":
    main()
