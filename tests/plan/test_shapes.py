"""The named shapes: what they are made of, what they draw, what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from penstock.errors import SpecError
from penstock.plan import StreamGraph, shapes
from tests.shapes import SHAPES, Shape

PAIRS = {"all_to_all", "scheduler_benchmark"}


def draws(seed: int) -> Iterator[int]:
    """SplitMix64, written down from its publication."""
    mask, state = 2**64 - 1, seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        bits = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & mask
        yield bits ^ (bits >> 31)


def below(draw: int, n: int) -> int:
    return ((draw >> 32) * n) >> 32


def ends(graph: StreamGraph) -> list[tuple[int, int, str]]:
    return [(edge.source, edge.target, edge.partitioner) for edge in graph.edges]


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_a_layered_dag_as_its_documentation_says(seed: int) -> None:
    random, expected = draws(seed), []
    for id_ in range(8, 51):
        start = (id_ - 8) // 7 * 7 + 1
        expected.append((id_ - 7, id_, "FORWARD"))
        expected += [(start + below(next(random), 7), id_, "HASH") for _ in range(2)]
    graph = shapes.layered_dag(50, width=7, inputs=3, seed=seed)
    assert ends(graph) == expected
    assert {node.kind for node in graph.nodes} == {"source", "operator"}


def test_fans_draw_their_partitioners() -> None:
    kinds = ["REBALANCE", "RESCALE", "SHUFFLE", "BROADCAST", "GLOBAL", "HASH"]
    drawn = [kinds[below(draw, 6)] for draw, _ in zip(draws(5), range(40), strict=False)]
    assert [partitioner for *_, partitioner in ends(shapes.fan_in(41, seed=5))] == drawn
    assert [partitioner for *_, partitioner in ends(shapes.fan_out(41, seed=5))] == drawn


def test_scheduler_benchmarks_are_pipelined_or_blocking() -> None:
    for blocking, mode in [(False, "PIPELINED"), (True, "BATCH")]:
        graph = shapes.scheduler_benchmark(7, blocking=blocking)
        (edge,) = graph.edges
        assert (edge.shuffle_mode, edge.partitioner) == (mode, "REBALANCE")
        assert [node.parallelism for node in graph.nodes] == [7, 7]
        job = graph.job_graph()
        assert [data_set.result_type for data_set in job.data_sets] == ["BLOCKING" if blocking else "PIPELINED_BOUNDED"]
        assert job.execution_graph().total_edges == 49
    assert shapes.scheduler_benchmark().nodes[0].parallelism == 4000


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_a_description_like_any_other(shape: Shape) -> None:
    graph = shape(123)
    again = StreamGraph.from_json(graph.to_json())
    assert again.to_json() == graph.to_json()
    assert [node.id for node in graph.nodes] == list(range(1, 124))
    assert not graph.verify()
    assert json.loads(graph.to_json())["name"].endswith("_123")


@pytest.mark.parametrize("name", shapes.__all__)
def test_settings_of_every_shape(name: str) -> None:
    make: Callable[..., StreamGraph] = getattr(shapes, name)
    graph = make(9) if name in PAIRS else make(9, parallelism=3)
    assert {node.parallelism for node in graph.nodes} == {9 if name in PAIRS else 3}
    assert graph.to_json() == (make(9, seed=0) if name in PAIRS else make(9, parallelism=3, seed=0)).to_json()


@pytest.mark.parametrize("name", shapes.__all__)
@pytest.mark.parametrize("number", [0, -1, 2**28 + 1, 2**62])
def test_sizes_out_of_bounds(name: str, number: int) -> None:
    with pytest.raises(SpecError, match=f"is {number}, expected a whole number from 1 to"):
        getattr(shapes, name)(number)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(shapes.fan_in, 5, parallelism=0), "fan_in: parallelism is 0"),
        (partial(shapes.diamonds, 5, parallelism=32_769), "from 1 to 32768"),
        (partial(shapes.layered_dag, 5, width=0), "layered_dag: width is 0"),
        (partial(shapes.layered_dag, 5, inputs=0), "layered_dag: inputs is 0"),
        (partial(shapes.layered_dag, 5, inputs=65_536), "layered_dag: inputs is 65536"),
        (partial(shapes.layered_dag, 10**8, inputs=3), "number of edges is 299999700, expected at most 268435456"),
    ],
)
def test_options_out_of_bounds(make: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make()
