"""Penstock plans every golden graph as Flink 1.11.4 and 2.3.0 did."""

from __future__ import annotations

import json

import pytest

from penstock.errors import UnsupportedError
from penstock.plan import PROFILES, StreamGraph, StreamGraphBuilder, operator_id, plan_record
from tests.golden.load import PLAN_RECORDS, differences, plan_records, read_lines

FIELDS = {"1.11": 251_819, "2.3": 200_148}
"""Leaves of all golden results: what a complete comparison looks at."""

REFUSALS = {"1.11": 77, "2.3": 64}


@pytest.mark.parametrize("flink", PROFILES)
def test_every_record_is_equal_in_every_field(flink: str) -> None:
    compared, problems = 0, []
    for record in plan_records(flink):
        actual = json.loads(plan_record(json.dumps(record["spec"]), flink))
        leaves, sentences = differences(actual, record["result"])
        compared += leaves
        problems += [f"{record['spec']['name']}: {sentence}" for sentence in sentences]
    assert not problems, f"{len(problems)} differences\n" + "\n".join(problems[:20])
    assert len(plan_records(flink)) == PLAN_RECORDS[flink]
    assert compared == FIELDS[flink]


@pytest.mark.parametrize("flink", PROFILES)
def test_every_refusal_of_flink_is_ours_too_with_a_message(flink: str) -> None:
    refused = 0
    for record in plan_records(flink):
        actual = json.loads(plan_record(json.dumps(record["spec"]), flink))
        for stage, expected in record["result"].items():
            if isinstance(expected, dict) and "error" in expected:
                refused += 1
                assert actual[stage]["error"]["class"] == expected["error"]["class"], record["spec"]["name"]
                assert len(actual[stage]["error"]["message"]) > 20, record["spec"]["name"]
    assert refused == REFUSALS[flink]


@pytest.mark.parametrize("flink", PROFILES)
def test_output_is_one_line_in_the_order_of_the_format(flink: str) -> None:
    line = plan_record(json.dumps(plan_records(flink)[0]["spec"]), flink)
    assert "\n" not in line.rstrip("\n")
    assert list(json.loads(line)) == list(plan_records(flink)[0]["result"])


def test_input_may_have_any_whitespace_and_escapes() -> None:
    spec = plan_records()[0]["spec"]
    expected = plan_record(json.dumps(spec))
    assert plan_record(json.dumps(spec, indent=2)) == expected
    assert plan_record(json.dumps(spec, ensure_ascii=False) + "\n") == expected
    assert plan_record(read_lines("public.jsonl.gz")[0][len('{"spec":') :].split(',"result":')[0]) == expected


def test_known_uids() -> None:
    assert operator_id("a") == "897859f6655555855a890e51483ab5e6"
    assert operator_id("b") == "eed1d3b157a9987ae9944e541e132efa"


@pytest.mark.parametrize("flink", ["", "1.12", "2.3.0", "one"])
def test_an_unknown_flink_version_is_refused(flink: str) -> None:
    spec = plan_records()[0]["spec"]
    for plan in (
        lambda: plan_record(json.dumps(spec), flink),
        lambda: StreamGraph.from_dict(spec).job_graph(flink=flink),
    ):
        with pytest.raises(UnsupportedError, match=rf'"{flink}".* Give flink="1\.11" or flink="2\.3"\.'):
            plan()


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
        ascending = [vertex.head for vertex in graph.job_graph(flink="2.3").vertices]
        assert ascending == sorted(case["iterated"])
