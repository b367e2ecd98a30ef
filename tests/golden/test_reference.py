"""The reference planner is held to the golden records: an oracle that is wrong is worse than none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.golden.load import PLAN_FILES, PLAN_RECORDS, differences, plan_records, read_lines
from tests.reference import plan, plan_deep
from tests.reference.java import hash_order


@pytest.mark.parametrize("flink", PLAN_FILES)
def test_reference_equals_flink_on_every_record(flink: str) -> None:
    compared, problems = 0, []
    for record in plan_records(flink):
        leaves, sentences = differences(plan(record["spec"], flink), record["result"])
        compared += leaves
        problems += [f"{record['spec']['name']}: {sentence}" for sentence in sentences]
    assert not problems, "\n".join(problems[:20])
    assert len(plan_records(flink)) == PLAN_RECORDS[flink]
    assert compared > 100_000


def test_differences_sees_every_kind_of_difference() -> None:
    expected = {"a": [1, {"b": None}], "c": True, "d": {"error": {"class": "X", "message": "theirs"}}}
    assert differences(expected, expected)[1] == []
    ours = {**expected, "d": {"error": {"class": "X", "message": "ours"}}}
    assert differences(ours, expected)[1] == []
    for changed in (
        {**expected, "c": 1},
        {**expected, "a": [1]},
        {**expected, "a": [1, {"b": 0}]},
        {**expected, "e": 1},
        {"a": [1, {"b": None}], "c": True},
        {**expected, "d": {"error": {"class": "Y", "message": "theirs"}}},
        {**expected, "d": {"ok": 1}},
    ):
        assert len(differences(changed, expected)[1]) >= 1, changed


def test_deep_planning_is_the_same_planning() -> None:
    record = plan_records()[0]
    assert plan_deep(record["spec"]) == plan(record["spec"])


def test_reference_equals_flink_on_the_graphs_of_api_programs() -> None:
    """The records of the API tests carry graphs too, and part of their plans."""
    results = [json.loads(line)["result"] for line in read_lines("api_scripts.jsonl.gz")]
    graphs = [result for result in results if "error" not in result.get("stream_graph", {"error": None})]
    assert len(graphs) > 300
    for result in graphs:
        actual = plan(result["stream_graph"])
        expected = {key: result[key] for key in ("hashes", "streaming_plan", "job_graph")}
        expected["source_ids"] = result["source_ids"]
        ours = {key: actual[key] for key in ("hashes", "streaming_plan")}
        ours |= {"source_ids": actual["stream_graph"]["source_ids"], "job_graph": _abridged(actual["job_graph"])}
        assert differences(ours, expected)[1] == [], result["stream_graph"]["name"]


def _abridged(job: dict[str, Any]) -> dict[str, Any]:
    """A job graph with the fields that those records have."""
    if "error" in job:
        return job
    fields = (
        "id",
        "head",
        "name",
        "parallelism",
        "max_parallelism",
        "invokable",
        "operator_nodes",
        "slot_sharing_group",
    )
    of_input = ("source", "ship_strategy", "distribution", "result_type")
    return {
        "vertices": [
            {
                **{field: vertex[field] for field in fields},
                "inputs": [[edge[field] for field in of_input] for edge in vertex["inputs"]],
            }
            for vertex in job["vertices"]
        ]
    }


def test_reference_iterates_a_hash_set_as_java_does() -> None:
    cases = [json.loads(line) for line in read_lines("hash_orders.jsonl.gz")]
    assert len(cases) == 300
    for case in cases:
        assert hash_order(case["added"]) == case["iterated"]
