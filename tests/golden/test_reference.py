"""The reference planner is held to the golden records: an oracle that is wrong is worse than none."""

from __future__ import annotations

from tests.golden.load import PLAN_RECORDS, differences, plan_records
from tests.reference import plan, plan_deep


def test_reference_equals_flink_on_every_record() -> None:
    compared, found = 0, []
    for record in plan_records():
        leaves, sentences = differences(plan(record["spec"]), record["result"])
        compared += leaves
        found += [f"{record['spec']['name']}: {sentence}" for sentence in sentences]
    assert not found, "\n".join(found[:20])
    assert len(plan_records()) == PLAN_RECORDS
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
