"""Every fact of every golden savepoint, and every odd file."""

from __future__ import annotations

import json

import pytest

from penstock.errors import FlinkSavepointError
from penstock.flink import read_savepoint
from penstock.flink.facts import facts, line
from penstock.flink.metadata import read_metadata
from tests.flink_savepoints.golden import RELEASES, odd, place, savepoints, unpacked
from tests.golden.load import differences

THERE = [line for line in savepoints() if "savepoint" in line]


def test_every_fact_of_every_savepoint_is_what_flink_reads() -> None:
    compared, problems = 0, []
    for expected in THERE:
        facts = json.loads(json.dumps(line(place(expected["flink"], expected["name"]))))
        wanted = {name: expected[name] for name in ("flink", "savepoint", "metadata")}
        if expected["kind"] != "rewritten":
            wanted["files"] = expected["files"]
            wanted["kind"] = expected["kind"] if "properties" in expected["savepoint"] else None
        leaves, sentences = differences({name: facts.get(name) for name in wanted}, wanted, expected["name"])
        compared += leaves
        problems += sentences
    assert not problems
    assert len(THERE) == 173
    assert compared > 30_000


def test_what_a_fact_is_worth() -> None:
    """One that is wrong is found."""
    expected = THERE[0]
    facts = line(place(expected["flink"], expected["name"]))
    facts["savepoint"]["operators"][0]["subtasks"][1]["managed_keyed"][0]["offsets"][5] += 1
    assert differences(facts["savepoint"], expected["savepoint"])[1]


@pytest.mark.parametrize("release", RELEASES)
def test_odd_files_are_refused_as_flink_does(release: str) -> None:
    lines = [case for case in odd() if case["flink"] == release and "restored" not in case]
    for expected in lines:
        file = unpacked() / release / "odd" / expected["name"] / "_metadata"
        if "error" not in expected:
            actual = facts(read_savepoint(str(file.parent), RELEASES[release]), headers=False)
            assert not differences(actual, expected["savepoint"])[1]
            continue
        with pytest.raises(FlinkSavepointError) as refused:
            read_metadata(file.read_bytes(), "the file", RELEASES[release])
        error = {"class": refused.value.flink_class, "message": refused.value.flink_message}
        assert error == expected["error"], expected["name"]
        assert refused.value.position is not None
        assert str(refused.value).startswith("the file is ")
        assert line(str(file), RELEASES[release])["error"] == expected["error"]
    assert len(lines) == 21


def test_a_later_version_is_refused_by_an_old_flink() -> None:
    with pytest.raises(FlinkSavepointError) as refused:
        read_savepoint(place("2.3.0", "value_a"), "1.11")
    assert refused.value.flink_message == "Unrecognized checkpoint version number: 6"
    assert "Flink 1.11 reads 2 and 3. Restore it by Flink 2.3" in str(refused.value)


def test_handles_of_2x_in_an_old_version_are_refused_by_1_11() -> None:
    with pytest.raises(FlinkSavepointError) as refused:
        read_savepoint(place("2.3.0", "value_a@v3"), "1.11")
    assert refused.value.flink_message == "Reading invalid KeyedStateHandle, type: 7"


def test_a_folder_of_checkpoints_stands_for_the_newest_one() -> None:
    folder = unpacked() / "2.3.0" / "checkpoint_merged_a"
    assert line(str(folder)) == line(str(folder / "chk-1"))
    with pytest.raises(FlinkSavepointError, match="named chk- and a number"):
        read_savepoint(str(folder))  # as Flink


def test_the_kind_is_told_from_the_properties() -> None:
    kinds = {case["name"]: line(place("2.3.0", case["name"])).get("kind") for case in THERE if case["flink"] == "2.3.0"}
    assert kinds["stop_a"] == "suspend"
    assert kinds["native_rocksdb_a"] == "native"
    assert kinds["checkpoint_heap_a"] == "checkpoint"
    assert kinds["value_a@v3"] is None
