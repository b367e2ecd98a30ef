"""The same phases in the slow reference planner (plain Python, mmh3), which the tests hold to the same results."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.reference import job_graph, stream_graph
from tests.reference.chaining import Chainability
from tests.reference.hasher import operator_ids
from tests.reference.profile import PROFILES
from tests.shapes import SHAPES, Shape, vertex_count

from conftest import Measure

# not consecutive yielding operators: the reference walks to the head of the chain for each, as Flink does
every_shape = pytest.mark.parametrize(
    "shape", [shape for shape in SHAPES if "yielding" not in shape.__name__], ids=lambda shape: shape.__name__
)


@pytest.fixture(scope="module", autouse=True)
def _room_for_recursion() -> Iterator[None]:
    """The reference recurses as deep as the graph is."""
    limit, size = sys.getrecursionlimit(), threading.stack_size(512 * 1024 * 1024)
    sys.setrecursionlimit(1_000_000)
    yield
    sys.setrecursionlimit(limit)
    threading.stack_size(size)


def in_a_thread(work: Callable[[], Any]) -> Any:
    """The result of ``work``, in a thread with the large stack."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def run(measure: Measure, work: Callable[[Any], Any], phase: str, shape: Shape, size: int) -> Any:
    spec = shape(size).to_dict()
    facts = {"phase": phase, "shape": shape.__name__, "size": size, "peer": "Python", "rounds": 3}
    return measure(
        lambda graph: in_a_thread(lambda: work(graph)), lambda: stream_graph.build(spec, PROFILES["1.11"]), **facts
    )


@every_shape
def test_hash(measure: Measure, shape: Shape, python_size: int) -> None:
    ids = run(measure, lambda graph: operator_ids(graph, Chainability(graph)), "hash", shape, python_size)
    ours = shape(python_size).operator_ids()
    assert {node: operator_id.hex() for node, operator_id in ids.items()} == ours


@every_shape
def test_job_graph(measure: Measure, shape: Shape, python_size: int) -> None:
    job = run(measure, lambda graph: job_graph.build(graph, Chainability(graph)), "job graph", shape, python_size)
    assert len(job.vertices) == vertex_count(shape, python_size)
