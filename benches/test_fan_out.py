"""Exchanges between many subtasks: held as groups, materialised as Arrow columns (walked in chunks: test_memory.py).

The physical limit stands beside them: NumPy filling columns of the same bytes, and a plain copy of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from conftest import Measure
from penstock.plan import shapes

COLUMNS = 6  # consumer, subtask, input, producer, result, partition: 32 bits each


def expanded(parallelism: int) -> Any:
    return shapes.all_to_all(parallelism).job_graph().execution_graph()


def facts(phase: str, parallelism: int, peer: str = "Penstock") -> dict[str, Any]:
    return {"phase": phase, "shape": "all_to_all", "size": parallelism, "peer": peer, "rounds": 5}


def test_grouped(measure: Measure, parallelism: int) -> None:
    """P to P subtasks: P squared edges, held in space that does not grow with them."""
    fresh = lambda: shapes.all_to_all(parallelism).job_graph()  # noqa: E731 - one expression, made outside the clock
    execution = measure(lambda job: job.execution_graph(), fresh, **facts("execution graph", parallelism))
    assert execution.total_edges == parallelism**2


def test_materialised(measure: Measure, parallelism: int) -> None:
    """The same exchange as a table of single edges, 24 bytes each: 1.5 GB at parallelism 8,000. What repeats in it is
    written once."""
    run = facts("execution edges", parallelism)
    edges = measure(lambda execution: execution.execution_edges(), lambda: expanded(parallelism), **run)
    assert len(edges) == parallelism**2
    assert pa.table(edges).nbytes == 4 * COLUMNS * parallelism**2


def test_unfolded(measure: Measure, parallelism: int) -> None:
    """The same, and every column copied into one piece by pyarrow: nothing is shared any more."""

    def unfold(execution: Any) -> pa.Table:
        return pa.table(execution.execution_edges()).combine_chunks()

    table = measure(unfold, lambda: expanded(parallelism), **facts("execution edges, unfolded", parallelism))
    assert table.num_rows == parallelism**2


def test_numpy_fill(measure: Measure, parallelism: int) -> None:
    """Six new columns of as many numbers: four constants, the subtask repeated, the partitions tiled."""
    subtasks = np.arange(parallelism, dtype=np.uint32)

    def fill(_: None) -> list[np.ndarray]:
        shape = (parallelism, parallelism)
        columns = [np.empty(shape, np.uint32) for _ in range(COLUMNS)]
        for constant, column in enumerate(columns[:4]):
            column.fill(constant)
        columns[4][:] = subtasks[:, None]
        columns[5][:] = subtasks
        return columns

    columns = measure(fill, lambda: None, **facts("execution edges", parallelism, "NumPy"))
    assert columns[5][-1, -1] == columns[4][-1, -1] == parallelism - 1


def test_memcpy(measure: Measure, parallelism: int) -> None:
    """A copy of as many bytes into fresh memory."""
    data = np.ones(COLUMNS * parallelism**2, np.uint32)
    copy = measure(np.copy, lambda: data, **facts("execution edges", parallelism, "memcpy"))
    assert copy.nbytes == data.nbytes
