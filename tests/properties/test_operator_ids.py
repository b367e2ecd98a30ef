"""What operator IDs may depend on: nothing that a user would call a name."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from penstock.plan import plan_record
from tests.properties.graphs import Spec, specs

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def result(spec: Spec) -> dict:
    return json.loads(plan_record(json.dumps(spec)))


def hashes(spec: Spec) -> dict[str, str] | None:
    """IDs by node id; None where the graph is refused before or while hashing."""
    ids = result(spec).get("hashes")
    return None if ids is None or "error" in ids else ids


def all_ids(spec: Spec) -> list[int]:
    loops = spec.get("iterations", [])
    return sorted({n["id"] for n in spec["nodes"]} | {loop[end] for loop in loops for end in ("source_id", "sink_id")})


def with_ids(spec: Spec, new: dict[int, int]) -> Spec:
    renamed = {
        **spec,
        "nodes": [{**node, "id": new[node["id"]]} for node in spec["nodes"]],
        "edges": [{**edge, "source": new[edge["source"]], "target": new[edge["target"]]} for edge in spec["edges"]],
    }
    if "iterations" in spec:
        ends = ("source_id", "sink_id")
        renamed["iterations"] = [{**loop, **{end: new[loop[end]] for end in ends}} for loop in spec["iterations"]]
    return renamed


@given(specs(max_nodes=25), st.randoms(use_true_random=False))
def test_ids_survive_a_monotonic_renaming_of_node_ids(spec: Spec, random) -> None:
    old = all_ids(spec)
    new = dict(zip(old, sorted(random.sample(range(INT_MIN, INT_MAX), len(old))), strict=True))
    before, after = hashes(spec), hashes(with_ids(spec, new))
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert {str(new[int(node)]): operator_id for node, operator_id in before.items()} == after


@given(specs(max_nodes=25), st.text(max_size=10))
def test_ids_survive_new_names(spec: Spec, name: str) -> None:
    renamed = {**spec, "nodes": [{**node, "name": f"{name} {i}"} for i, node in enumerate(spec["nodes"])]}
    renamed["settings"] = {**spec["settings"], "job_name": name}
    assert hashes(renamed) == hashes(spec)


@given(specs(max_nodes=25))
def test_ids_do_not_depend_on_where_a_node_stands_in_the_list(spec: Spec) -> None:
    """Only the order of edges counts, and the order of the ids of sources."""
    assert hashes({**spec, "nodes": spec["nodes"][::-1]}) == hashes(spec)


@given(specs(max_nodes=40))
def test_planning_twice_gives_the_same_text(spec: Spec) -> None:
    line = json.dumps(spec)
    assert plan_record(line) == plan_record(line)


@given(specs(max_nodes=25))
def test_ids_are_unique_and_of_16_bytes(spec: Spec) -> None:
    ids = hashes(spec) or {}
    assert len(set(ids.values())) == len(ids)
    assert all(len(bytes.fromhex(operator_id)) == 16 for operator_id in ids.values())
