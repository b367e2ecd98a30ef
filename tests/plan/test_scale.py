"""Size and depth: nothing recurses, nothing is quadratic.

Every planning step here runs in a thread with a stack of 512 KiB, on graphs of up to a million operators. Time limits
are generous (a busy machine is slower by several times, a quadratic step by thousands).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from penstock.plan import operator_id
from tests.shapes import (
    SHAPES,
    Shape,
    forward_chain,
    layered_dag,
    uid_table,
    vertex_count,
    yielding_chain,
    yielding_diamonds,
)

pytestmark = pytest.mark.slow

SMALL_STACK = 512 * 1024


def on_a_small_stack(work: Callable[[], Any]) -> Any:
    """The result of ``work`` in a thread with a small stack; a stack overflow would take the process down."""
    outcome: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            errors.append(error)

    before = threading.stack_size(SMALL_STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


def plan_all(shape: Shape, size: int) -> tuple[int, int]:
    """Build, hash, chain and connect a graph. Returns (vertices, subtasks)."""
    graph = shape(size)
    assert len(graph.operator_ids()) == len(graph.nodes) if size <= 100_000 else True
    job = graph.job_graph()
    execution = job.execution_graph()
    return len(job.vertices), execution.total_vertices


@pytest.mark.parametrize("shape", [forward_chain, layered_dag])
def test_a_million_operators_on_a_small_stack(shape: Shape) -> None:
    size = 1_000_000
    vertices, subtasks = on_a_small_stack(lambda: plan_all(shape, size))
    assert vertices == vertex_count(shape, size)
    assert subtasks == 4 * vertices


@pytest.mark.parametrize("shape", SHAPES)
def test_scale_ladder(shape: Shape) -> None:
    for size in (1, 2, 10, 100, 1_000, 10_000, 100_000):
        vertices, subtasks = on_a_small_stack(lambda size=size: plan_all(shape, size))
        assert (vertices, subtasks) == (vertex_count(shape, size), 4 * vertices), size


def test_a_hundred_thousand_uids_take_linear_time() -> None:
    """Flink compares each uid with every hash before it: a minute for this table."""
    graph = uid_table(100_000)
    start = time.process_time()
    ids = on_a_small_stack(graph.operator_ids)
    assert time.process_time() - start < 5
    assert len(set(ids.values())) == 100_000
    assert ids[99_999] == operator_id("uid-99999")


@pytest.mark.parametrize("shape", [yielding_chain, yielding_diamonds])
def test_yielding_operators_do_not_double_the_work_each(shape: Shape) -> None:
    """Flink walks to the head of the chain once more per operator: 26 of them take half a second, 100 for ever."""
    start = time.process_time()
    verdicts = on_a_small_stack(lambda: shape(50_000).verdicts())
    assert time.process_time() - start < 20
    assert sum(verdict.chained for verdict in verdicts) > 30_000


def test_a_streaming_plan_of_a_long_chain() -> None:
    """Flink's own printer is quadratic and recursive."""
    text = on_a_small_stack(lambda: forward_chain(20_000).streaming_plan_json())
    assert text.count('"predecessors"') == 19_999


def test_job_plan_and_chain_of_a_long_chain() -> None:
    job = on_a_small_stack(lambda: forward_chain(20_000).job_graph())
    (vertex,) = job.vertices
    assert vertex.name.count(" -> ") == 19_999
    assert [operator.chain_index for operator in vertex.chain] == list(range(20_000))
    assert len(on_a_small_stack(job.json_plan)) > 20_000 * 5
