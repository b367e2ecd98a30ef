"""What Flink says nothing about: for pairs of golden programs where it happens."""

from __future__ import annotations

import pytest

from penstock.analysis.model import StateModel
from penstock.flink import plan_of, predict_restore, read_savepoint
from penstock.flink.findings import findings, program_name
from tests.flink_savepoints.golden import RELEASES, pairs, place, spec


def findings_of(
    release: str, savepoint: str, program: str, declared: dict[str, list[str]] | None = None, allow: bool = True
):
    flink = RELEASES[release]
    read, plan = read_savepoint(place(release, savepoint), flink), plan_of(spec(release, program), flink)
    nodes = {operator.name: operator.node for vertex in plan.vertices for operator in vertex.operators}
    states = {
        nodes[name]: tuple(StateModel(state, "value") for state in names) for name, names in (declared or {}).items()
    }
    prediction = predict_restore(read, plan, flink, allow)
    messages = {(finding.code, finding.severity): finding.message for finding in findings(read, prediction, states)}
    taken = [read.by_id[state_id] for state_id in (prediction.taken or {}).values() if state_id in read.by_id]
    limits = messages.pop(("not-compared", "info"), "")
    assert ("neither the types of keys" in limits) == any(state.has_state for state in taken)
    return prediction, messages


def test_a_pinned_operator_loses_its_own_state_in_1_11_only() -> None:
    prediction, messages = findings_of("1.11.4", "f_pinned_uid", "after_pinned_uid")
    assert prediction.restored
    assert messages.keys() == {("not-taken", "error")}
    assert "(2,098 bytes) is lost silently" in messages["not-taken", "error"]
    assert "Flink 1.11 asks for that ID only" in messages["not-taken", "error"]
    assert not findings_of("2.3.0", "f_pinned_uid", "after_pinned_uid")[1]


def test_state_that_another_operator_inherits() -> None:
    """``count`` unchained, then a Map before it: the Map has the ID that ``count`` had."""
    arguments = ("2.3.0", "f_auto_unchained", "f_auto_inserted")
    assert findings_of(*arguments)[0].restored
    assert "'Map' has no uid" in findings_of(*arguments)[1]["inherited", "warning"]
    messages = findings_of(*arguments, {"Map": [], "count": ["count"]})[1]
    assert "declares none of these states" in messages["inherited", "error"]
    assert "'count' is not asked for by 'Map'" in messages["unread", "warning"]
    assert "its state (count) starts empty" in messages["starts-empty", "warning"]


def test_a_savepoint_without_names_tells_by_its_states() -> None:
    arguments = ("1.11.4", "f_auto_unchained", "f_auto_inserted")
    assert not findings_of(*arguments)[1]
    assert ("inherited", "error") in findings_of(*arguments, {"Map": ["another"]})[1]


def test_a_renamed_operator_is_no_other_one() -> None:
    arguments = ("2.3.0", "f_auto", "f_auto_renamed")
    assert findings_of(*arguments)[1].keys() == {("inherited", "warning")}
    assert findings_of(*arguments, {"another name": ["count"]})[1].keys() == {("inherited", "info")}


def test_a_renamed_state_is_carried_along() -> None:
    _, messages = findings_of("2.3.0", "f_base", "f_state_renamed", {"count": ["total"]})
    assert messages.keys() == {("unread", "warning"), ("starts-empty", "info")}
    assert "'total' of 'count' (uid 'count') is not in the savepoint" in messages["starts-empty", "info"]


def test_state_that_is_left_behind() -> None:
    prediction, messages = findings_of("2.3.0", "f_two", "f_base")
    assert prediction.left == ("6730ef7375fb60f9d9bbdfdfd174d803",)
    assert messages.keys() == {("left-behind", "warning")}
    refused = findings_of("2.3.0", "f_two", "f_base", allow=False)[0]
    assert refused.refusal is not None
    assert "set_uid_hash('6730ef7375fb60f9d9bbdfdfd174d803')" in refused.refusal.message


@pytest.mark.parametrize("release", RELEASES)
def test_chains_that_mix_key_groups(release: str) -> None:
    prediction, messages = findings_of(release, "f_max_mixed", "f_max_mixed_chained")
    assert prediction.refusal is not None
    assert prediction.refusal.stage == "task"
    assert "FLINK-40113" in messages["mixed-key-groups", "error"]


def test_mixed_key_groups_at_another_parallelism_are_silent() -> None:
    """Handles are cut then, so no task notices."""
    changed = spec("2.3.0", "f_max_mixed_chained")
    nodes = [{**node, "parallelism": 3 if node["parallelism"] == 2 else 1} for node in changed["nodes"]]
    read = read_savepoint(place("2.3.0", "f_max_mixed"))
    prediction = predict_restore(read, {**changed, "nodes": nodes}, "2.3", True)
    assert prediction.restored
    assert ("mixed-key-groups", "error") in {(finding.code, finding.severity) for finding in findings(read, prediction)}


def test_key_groups_that_are_taken_over() -> None:
    _, messages = findings_of("1.11.4", "f_p90", "f_base")
    assert "keeps the 256 key groups" in messages["key-groups-kept", "info"]
    assert not findings_of("1.11.4", "f_base", "f_base")[1]


def test_hooks() -> None:
    assert "hook" in findings_of("2.3.0", "g_hook", "g_no_hook")[1]["hook", "info"]


def test_nothing_is_lost_silently_where_nothing_is_pinned() -> None:
    """In all restored pairs state is taken, or left with permission, but for that of pinned operators."""
    silent = set()
    for pair in pairs():
        if pair["restored"] and "savepoint_flink" not in pair:
            _, messages = findings_of(
                pair["flink"], pair["savepoint"], pair["program"], allow=pair["allow_non_restored_state"]
            )
            if any(severity == "error" for _, severity in messages):
                silent.add((pair["flink"], pair["program"]))
    assert silent == {("1.11.4", "f_pinned"), ("1.11.4", "f_pinned_uid")}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("count", "count"),
        ("python-state-count", "count"),
        ("_timer_state/event_user-timers", ""),
        ("SourceReaderState", ""),
        ("window-contents", "window-contents"),
    ],
)
def test_names_of_programs(name: str, expected: str) -> None:
    assert program_name(name) == expected
