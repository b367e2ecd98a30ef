"""Verdicts, and what chaining may change in a plan."""

from __future__ import annotations

import json

from hypothesis import given

from penstock.errors import PenstockError
from penstock.plan import StreamGraph, plan_record
from tests.properties.graphs import Spec, specs


@given(specs(max_nodes=30))
def test_verdicts_agree_with_the_plan_and_give_a_reason(spec: Spec) -> None:
    expected = json.loads(plan_record(json.dumps(spec)))["stream_graph"]
    if "error" in expected:
        return
    verdicts = StreamGraph.from_dict(spec).verdicts()
    assert [verdict.chained for verdict in verdicts] == [edge["chainable"] for edge in expected["edges"]]
    assert [verdict.edge for verdict in verdicts] == list(range(len(spec["edges"])))
    for verdict in verdicts:
        assert (verdict.rule is None) == (verdict.reason is None) == verdict.chained
        assert verdict.chained or verdict.reason


@given(specs(max_nodes=30))
def test_without_chaining_every_vertex_is_one_operator(spec: Spec) -> None:
    job = json.loads(plan_record(json.dumps({**spec, "chaining_enabled": False}))).get("job_graph", {})
    for vertex in job.get("vertices", []):
        assert len(vertex["chain"]) == len(vertex["operator_ids"]) == 1
        assert " -> " not in vertex["name"].removeprefix("Source: ").removeprefix("Sink: ")


@given(specs(max_nodes=30))
def test_every_reached_operator_runs_somewhere(spec: Spec) -> None:
    """Once, but for a source that is also fed by a chained edge: it and what follows it run in two tasks."""
    result = json.loads(plan_record(json.dumps(spec)))
    job = result.get("job_graph", {"error": None})
    if "error" in job:
        return
    placed = [node for vertex in job["vertices"] for node in vertex["operator_nodes"]]
    assert {str(node) for node in placed} == set(result["hashes"])
    fed = {node["id"] for node in spec["nodes"] if node["kind"] == "source"} & {e["target"] for e in spec["edges"]}
    assert fed or len(placed) == len(set(placed))


@given(specs(max_nodes=30))
def test_a_graph_survives_json(spec: Spec) -> None:
    try:
        graph = StreamGraph.from_dict(spec)
    except PenstockError:
        return
    again = StreamGraph.from_json(graph.to_json())
    assert again.to_json() == graph.to_json()
    ours, theirs = (json.loads(plan_record(text)) for text in (graph.to_json(), json.dumps(spec)))
    assert {**ours, "name": None} == {**theirs, "name": None}


@given(specs(max_nodes=40))
def test_the_verifier_finds_nothing(spec: Spec) -> None:
    """The planner's own check of its invariants, on demand."""
    try:
        graph = StreamGraph.from_dict(spec)
        assert graph.verify() == []
        job = graph.job_graph()
        assert job.verify() == []
        assert job.execution_graph().verify() == []
    except PenstockError:
        return
