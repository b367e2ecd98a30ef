"""The same phases in the slow reference planner (plain Python, mmh3), for comparison in the same run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.reference import job_graph, stream_graph
from tests.reference.chaining import Chainability
from tests.reference.hasher import operator_ids
from tests.shapes import SHAPES, Shape, vertex_count, write_spec

from penstock.plan.shapes import yielding_chain

# not yielding_chain: the reference walks to the head of the chain for every operator, which is quadratic there
PEERS = [shape for shape in SHAPES if shape is not yielding_chain]
shapes = pytest.mark.parametrize("shape", PEERS, ids=lambda shape: shape.__name__)


@pytest.fixture(scope="module", autouse=True)
def _room_for_recursion() -> Any:
    """The reference recurses as deep as the graph is."""
    limit, size = sys.getrecursionlimit(), threading.stack_size(512 * 1024 * 1024)
    sys.setrecursionlimit(1_000_000)
    yield
    sys.setrecursionlimit(limit)
    threading.stack_size(size)


def in_a_thread(work: Callable[[], Any]) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def measure(benchmark: Any, size: int, work: Callable[[Any], Any], shape: Shape) -> Any:
    spec = write_spec(shape, size)
    fresh = lambda: ((stream_graph.build(spec),), {})  # noqa: E731 - made outside the clock
    return benchmark.pedantic(lambda graph: in_a_thread(lambda: work(graph)), setup=fresh, rounds=3)


@shapes
def test_peer_hash(benchmark: Any, shape: Shape, peer_size: int) -> None:
    ids = measure(benchmark, peer_size, lambda graph: operator_ids(graph, Chainability(graph)), shape)
    assert {node: operator_id.hex() for node, operator_id in ids.items()} == shape(peer_size).operator_ids()


@shapes
def test_peer_job_graph(benchmark: Any, shape: Shape, peer_size: int) -> None:
    job = measure(benchmark, peer_size, lambda graph: job_graph.build(graph, Chainability(graph)), shape)
    assert len(job.vertices) == vertex_count(shape, peer_size)
