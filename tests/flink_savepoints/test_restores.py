"""Every golden restore: refused with Flink's message, or restored with Flink's max parallelism."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from penstock.flink import plan_of, read_savepoint
from penstock.flink.batch import outcome, restores
from penstock.flink.restore import predict_restore
from tests.flink_savepoints.golden import RELEASES, odd, pairs, place, spec, unpacked


@cache
def savepoint(release: str, name: str, flink: str):
    return read_savepoint(place(release, name), flink)


@cache
def plan(release: str, name: str):
    return plan_of(spec(release, name), RELEASES[release])


SAID = ("restored", "vertices", "stage", "error", "wrapped_in")


def verdict(pair):
    flink = RELEASES[pair["flink"]]
    saved = savepoint(pair.get("savepoint_flink", pair["flink"]), pair["savepoint"], flink)
    allowed = pair["allow_non_restored_state"]
    result = outcome(predict_restore(saved, plan(pair["flink"], pair["program"]), flink, allowed))
    text = json.dumps(result).replace(f"file:{unpacked() / pair['flink']}", "file:/savepoints")
    return json.loads(text)


def test_every_pair_that_is_decided_before_a_task_runs_is_as_flink_has_it() -> None:
    counted = Counter()
    for pair in pairs():
        predicted = verdict(pair)
        expected = {
            name: pair[name] for name in ("restored", "vertices", "stage", "error", "wrapped_in") if name in pair
        }
        if pair.get("stage") == "task" and predicted["restored"]:
            counted["left to tasks"] += 1  # types of states, which the graph does not tell
            continue
        counted[pair.get("stage", "restored")] += 1
        assert predicted == expected, (pair["savepoint"], pair["program"], pair["flink"])
    assert counted == {"restored": 642, "plan": 519, "task": 6, "left to tasks": 86}


def test_what_is_left_to_tasks_is_types_and_modes_only() -> None:
    messages = {
        re.sub(r" \(org.*?\)|, |\[.*?\]", "", pair["error"]["message"])
        for pair in pairs()
        if pair.get("stage") == "task" and verdict(pair)["restored"]
    }
    assert messages == {
        "For heap backendsthe new state serializer must not be incompatible.",
        "For heap backendsthe new state serializer must not be incompatible with the old state serializer.",
        "Incompatible state assignment modes. Was registered with .",
    }


@pytest.mark.parametrize("release", RELEASES)
def test_odd_places_are_refused_as_flink_does(release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Restores of a golden program from a place where there is no good savepoint."""
    home = unpacked() / release
    copied = tmp_path / "odd2" / "files_a"
    shutil.copytree(home / "files_a", copied)
    for file in copied.glob("*-*"):
        file.unlink()
    damaged = tmp_path / "version_99"
    damaged.mkdir()
    data = bytearray((home / "list_a" / "_metadata").read_bytes())
    data[7] = 99
    (damaged / "_metadata").write_bytes(data)
    monkeypatch.chdir(home)
    moved = {"/savepoints/odd2/files_a": str(copied), "/savepoints/odd/version_99": str(damaged)}
    lines = [case for case in odd() if case["flink"] == release and "restored" in case]
    for expected in lines:
        program, place = re.fullmatch(r"restore of (\S+) from (\S+)", expected["what"]).groups()
        bare = place.removeprefix("file:")
        real = moved.get(bare, bare.replace("/savepoints", str(home)))
        asked = {
            "savepoint": place.replace(bare, real),
            "spec": spec(release, program),
            "allow_non_restored_state": False,
        }
        (answer,) = restores([json.dumps(asked)], RELEASES[release])
        assert answer["restored"] == expected["restored"], expected["name"]
        if not answer["restored"]:
            assert answer["wrapped_in"] == expected["wrapped_in"], expected["name"]
            message = answer["error"]["message"]
            message = message and re.sub(r"[0-9a-f-]{36}", "UUID", message.replace(real, bare))
            assert {**answer["error"], "message": message} == expected["error"]
    assert len(lines) == 9


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no JSON", "not JSON"),
        ("[1]", "not a JSON object"),
        ("[" * 100_000, "recursion"),
        ("{}", "`savepoint`"),
        ('{"savepoint": "/x"}', "`spec`"),
        ('{"savepoint": "/x", "spec": {}, "allow_non_restored_state": 1}', "`allow_non_restored_state`"),
        ('{"savepoint": "/x", "spec": {}, "more": 1}', "'more'"),
        ('{"savepoint": "a\\u0000b", "spec": {}}', "`savepoint`"),
    ],
)
def test_a_line_that_is_wrong_gives_a_line_that_says_so(line: str, message: str) -> None:
    (first, second) = restores([line, "", line], "2.3")
    assert first["line"] == 1
    assert second["line"] == 3
    assert message in first["error"]["message"]


def test_a_graph_that_cannot_be_planned_is_said_on_its_line() -> None:
    asked = {"savepoint": place("2.3.0", "value_a"), "spec": {"nodes": "none"}}
    (answer,) = restores([json.dumps(asked)], "2.3")
    assert answer["line"] == 1
    assert "restored" not in answer
