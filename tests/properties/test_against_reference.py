"""Native planner == slow reference, on every field, for random graphs."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given, settings

from penstock.plan import plan_record
from penstock.plan.shapes import all_to_all, scheduler_benchmark
from tests.golden.load import differences
from tests.properties.graphs import Spec, seeded_spec, specs
from tests.properties.odd_values import odd_spec
from tests.reference import plan
from tests.shapes import SHAPES, Shape

pytestmark = pytest.mark.slow


def compare(spec: Spec) -> tuple[int, bool]:
    """Plan with both, as each Flink; fail with the differences and the SPEC.

    Returns:
        The leaves compared, and if there was a plan as Flink 1.11.
    """
    old, new = _compare_as(spec, "1.11"), _compare_as(spec, "2.3")
    fitted = _without_what_2_3_refuses(spec)
    more = new if fitted == spec else _compare_as(fitted, "2.3")
    return old[0] + new[0] + more[0], old[1]


def _without_what_2_3_refuses(spec: Spec) -> Spec:
    """The graph without iterations and empty texts, so that as Flink 2.3 most graphs are planned to the end."""
    ids = {node["id"] for node in spec["nodes"]}
    nodes = [{**node, "name": node["name"] or "unnamed", "uid": node.get("uid") or None} for node in spec["nodes"]]
    edges = [edge for edge in spec["edges"] if {edge["source"], edge["target"]} <= ids]
    rest = {key: value for key, value in spec.items() if key != "iterations"}
    return {**rest, "nodes": nodes, "edges": edges}


def _compare_as(spec: Spec, flink: str) -> tuple[int, bool]:
    expected = plan(spec, flink)
    compared, problems = differences(json.loads(plan_record(json.dumps(spec), flink)), expected)
    assert not problems, "\n".join([f"Flink {flink}", *problems[:20], json.dumps(spec, ensure_ascii=False)])
    return compared, "error" not in expected.get("execution_graph", {"error": None})


@settings(max_examples=3 * settings().max_examples)
@given(specs(max_nodes=40))
def test_random_graphs(spec: Spec) -> None:
    assert compare(spec)[0] > 0


@settings(max_examples=3 * settings().max_examples)
@given(specs(max_nodes=6))
def test_random_small_graphs(spec: Spec) -> None:
    assert compare(spec)[0] > 0


def test_seeded_graphs_of_all_sizes() -> None:
    """Bigger than Hypothesis makes them, with tree bins and long chains; most must come through to the end."""
    many = settings().max_examples
    sizes = [(seed, seed % 61) for seed in range(4 * many)] + [
        (seed, 60 + seed % 141) for seed in range(400, 400 + many // 4)
    ]
    outcomes = [compare(seeded_spec(seed, size)) for seed, size in sizes]
    assert sum(compared for compared, _ in outcomes) > 2_000 * many
    assert sum(planned for _, planned in outcomes) > 3.4 * many


def test_odd_values() -> None:
    many = settings().max_examples
    outcomes = [compare(odd_spec(seed)) for seed in range(1000, 1000 + 6 * many)]
    assert sum(planned for _, planned in outcomes) > 2 * many


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 7, 100, 203])
def test_shapes_of_the_benches(shape: Shape, size: int) -> None:
    assert compare(shape(size).to_dict())[1]


@pytest.mark.parametrize("make", [all_to_all, scheduler_benchmark, partial(scheduler_benchmark, blocking=True)])
def test_pairs_of_the_benches(make: Shape) -> None:
    assert compare(make(300).to_dict())[1]
