"""Penstock plans every golden graph as Flink 1.11.4 did."""

from __future__ import annotations

import json

import pytest

from penstock.plan import StreamGraphBuilder, operator_id, plan_record
from tests.golden.load import PLAN_RECORDS, differences, plan_records, read_lines

FIELDS = 251_819
"""Leaves of all golden results: what a complete comparison looks at."""


def test_every_record_is_equal_in_every_field() -> None:
    compared, found = 0, []
    for record in plan_records():
        leaves, sentences = differences(json.loads(plan_record(json.dumps(record["spec"]))), record["result"])
        compared += leaves
        found += [f"{record['spec']['name']}: {sentence}" for sentence in sentences]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])
    assert len(plan_records()) == PLAN_RECORDS
    assert compared == FIELDS


def test_every_refusal_of_flink_is_ours_too_with_a_message() -> None:
    refused = 0
    for record in plan_records():
        actual = json.loads(plan_record(json.dumps(record["spec"])))
        for stage, expected in record["result"].items():
            if isinstance(expected, dict) and "error" in expected:
                refused += 1
                assert actual[stage]["error"]["class"] == expected["error"]["class"], record["spec"]["name"]
                assert len(actual[stage]["error"]["message"]) > 20, record["spec"]["name"]
    assert refused == 77


def test_output_is_one_line_in_the_order_of_the_format() -> None:
    line = plan_record(json.dumps(plan_records()[0]["spec"]))
    assert "\n" not in line.rstrip("\n")
    assert list(json.loads(line)) == list(plan_records()[0]["result"])


def test_input_may_have_any_whitespace_and_escapes() -> None:
    spec = plan_records()[0]["spec"]
    expected = plan_record(json.dumps(spec))
    assert plan_record(json.dumps(spec, indent=2)) == expected
    assert plan_record(json.dumps(spec, ensure_ascii=False) + "\n") == expected
    assert plan_record(read_lines("public.jsonl.gz")[0][len('{"spec":') :].split(',"result":')[0]) == expected


def test_known_uids() -> None:
    assert operator_id("a") == "897859f6655555855a890e51483ab5e6"
    assert operator_id("b") == "eed1d3b157a9987ae9944e541e132efa"


@pytest.mark.parametrize("flink", ["", "1.12", "2.3", "one"])
def test_an_unknown_flink_version_is_refused(flink: str) -> None:
    with pytest.raises(Exception, match=flink or "version|1.11") as caught:
        plan_record(json.dumps(plan_records()[0]["spec"]), flink)
    assert type(caught.value).__name__ in ("UnsupportedError", "ConfigurationError")


def test_sources_are_visited_in_the_order_of_a_hash_set() -> None:
    """The order in which the real Java iterates: it decides the order of the vertices."""
    cases = [json.loads(line) for line in read_lines("hash_orders.jsonl.gz")]
    assert len(cases) == 300
    for case in cases:
        builder = StreamGraphBuilder()
        for id_ in case["added"]:
            builder.add_node(id_, "Source: S", "source", parallelism=1)
        graph = builder.build()
        assert graph.source_ids == case["iterated"]
        job = graph.job_graph()
        assert [vertex.head for vertex in job.vertices] == case["iterated"]
