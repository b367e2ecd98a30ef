"""Savepoints that are made of others restore into jobs, which go on as if they had been so from the beginning."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from penstock.errors import InvalidProgramError, JobExecutionError, SavepointError
from penstock.job.savepoint.contents import read_headers, verify
from penstock.job.savepoint.store import read_savepoint
from penstock.plan import operator_id
from penstock.savepoints import Savepoint, SavepointWriter
from tests.savepoints.programs import PAIRS, Thing, Things, outputs, taken

MORE = [("k1", 100), ("k3", 101), ("new", 102)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """After many steps, so there are logs."""
    folder = tmp_path_factory.mktemp("editing")
    outputs(folder / "job", PAIRS, penstock__step__records=7)
    return taken(folder / "job", folder / "savepoint")


def goes_on(begin: Path, folder: Path, **more) -> list:
    """What a job says to more pairs, from a new source."""
    return outputs(folder, MORE, begin=begin, source="more", **more)


@pytest.fixture(scope="module")
def whole(place: Path, tmp_path_factory: pytest.TempPathFactory) -> list:
    """What it says from the savepoint as it was taken; the old source is left behind."""
    folder = tmp_path_factory.mktemp("whole") / "job"
    return goes_on(place, folder, execution__savepoint__ignore_unclaimed_state="true")


def fingerprint(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_nothing_changed_is_the_same_without_a_copy(place: Path, whole: list, tmp_path: Path) -> None:
    before = fingerprint(place)
    new = SavepointWriter(place).write(tmp_path / "new")
    assert verify(read_savepoint(new.place)).problems == ()
    for name, data in fingerprint(tmp_path / "new").items():
        if name != "savepoint.json":
            assert before[name] == data
            assert (place / name).samefile(tmp_path / "new" / name)
    assert fingerprint(place) == before
    assert new.about.id != Savepoint(place).about.id
    ignore = {"execution__savepoint__ignore_unclaimed_state": "true"}
    assert goes_on(tmp_path / "new", tmp_path / "job", **ignore) == whole
    assert len(whole) == len(PAIRS) + 2 * len(MORE)


def test_a_dropped_source_need_not_be_left_behind(place: Path, whole: list, tmp_path: Path) -> None:
    with pytest.raises((InvalidProgramError, JobExecutionError), match="pairs"):
        goes_on(place, tmp_path / "refused")
    SavepointWriter(place).drop("pairs").write(tmp_path / "new")
    assert goes_on(tmp_path / "new", tmp_path / "job", parallelism=3) == whole


def test_a_dropped_operator_begins_anew(place: Path, tmp_path: Path) -> None:
    new = SavepointWriter(place).drop("many").drop("pairs").write(tmp_path / "new")
    assert new.operators() == []
    assert list((tmp_path / "new").rglob("state/*")) == []
    assert goes_on(tmp_path / "new", tmp_path / "job") == outputs(tmp_path / "fresh", MORE, ends=True)


def test_a_dropped_state_is_empty_and_the_others_stay(place: Path, tmp_path: Path) -> None:
    new = SavepointWriter(place).drop("pairs").drop("many", "all").drop("many", "fresh").write(tmp_path / "new")
    assert verify(read_savepoint(new.place)).problems == ()
    [operator] = new.operators()
    assert {state.name for state in operator.states} == {"last", "by", "sum", "count", "person", "named"}
    by_key = dict(output for output in goes_on(tmp_path / "new", tmp_path / "job") if not output[1].startswith("timer"))
    assert by_key["k1"].startswith("(36, [], [('even', 36), ('odd', 31)], 148, 8, Row(")
    assert ", None, [('k1', 36)])" in by_key["k1"]


def test_a_state_whose_class_is_gone_can_be_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs(tmp_path / "job", PAIRS, function=Things())
    place = taken(tmp_path / "job", tmp_path / "savepoint")
    with pytest.raises(SavepointError, match="unpickle=True"):
        SavepointWriter(place).drop("many", "number").write(tmp_path / "new")
    assert not (tmp_path / "new" / "savepoint.json").exists()
    SavepointWriter(Savepoint(place, unpickle=True)).drop("many", "number").write(tmp_path / "things")
    things = Savepoint(tmp_path / "things", unpickle=True).read("many", "thing")
    assert [row["value"] for row in things if row["key"] == "k0"] == [Thing(35)]
    monkeypatch.delattr("tests.savepoints.programs.Thing")
    SavepointWriter(place).drop("many", "thing").write(tmp_path / "numbers")
    assert len(Savepoint(tmp_path / "numbers").read("many", "number")) == 5
    classes = [header.classes for header in read_headers(read_savepoint(tmp_path / "numbers")).values()]
    assert classes
    assert all(not names for names in classes)


def test_another_uid_takes_the_state(place: Path, whole: list, tmp_path: Path) -> None:
    new = SavepointWriter(place).drop("pairs").rename_uid("many", "lots").write(tmp_path / "new")
    assert verify(read_savepoint(new.place)).problems == ()
    [operator] = new.operators()
    assert (operator.uid, operator.operator_id) == ("lots", operator_id("lots"))
    assert goes_on(tmp_path / "new", tmp_path / "job", uid="lots") == whole
    with pytest.raises((InvalidProgramError, JobExecutionError), match="lots"):
        goes_on(tmp_path / "new", tmp_path / "refused")


def test_another_uid_of_a_source_goes_on_where_it_was(place: Path, whole: list, tmp_path: Path) -> None:
    SavepointWriter(place).rename_uid("pairs", "couples").write(tmp_path / "new")
    rest = outputs(tmp_path / "job", [*PAIRS, *MORE], begin=tmp_path / "new", source="couples", ends=False)
    assert rest == [output for output in whole if not output[1].startswith("timer")]


def test_a_log_goes_on_behind_renamed_files(place: Path, tmp_path: Path) -> None:
    """The files of another uid are a chain that steps are added to, and that is read again."""
    SavepointWriter(place).drop("pairs").rename_uid("many", "lots").write(tmp_path / "new")
    goes_on(tmp_path / "new", tmp_path / "job", uid="lots", penstock__step__records=1)
    after = Savepoint(tmp_path / "job")
    assert {row["key"]: row["value"] for row in after.read("lots", "last")}["k1"] == 100
    assert len(after.read("lots", "last")) == 6


@pytest.mark.parametrize("groups", [2, 31, 1000, 32768])
def test_another_max_parallelism_regroups_the_keys(place: Path, whole: list, tmp_path: Path, groups: int) -> None:
    new = SavepointWriter(place).drop("pairs").set_max_parallelism("many", groups).write(tmp_path / "new")
    assert verify(read_savepoint(new.place)).problems == ()
    assert new.operators()[0].max_parallelism == groups
    for name in ("last", "all", "by", "sum", "count", "person", "fresh", "named"):
        tables = [sorted(savepoint.read("many", name).rows, key=repr) for savepoint in (new, Savepoint(place))]
        assert tables[0] == tables[1]
    parallelism = min(groups, 5)
    assert goes_on(tmp_path / "new", tmp_path / "job", groups=groups, parallelism=parallelism) == whole


def test_regrouped_files_are_those_that_the_job_would_have_written(place: Path, tmp_path: Path) -> None:
    """The same keys, entries and timers in the same subtasks and key groups."""
    outputs(tmp_path / "job", PAIRS, groups=1000)
    saved = taken(tmp_path / "job", tmp_path / "own")
    SavepointWriter(place).set_max_parallelism("many", 1000).write(tmp_path / "new")

    def files(where: Path) -> set:
        headers = read_headers(read_savepoint(where)).values()
        return {
            (h.about.subtask, h.about.groups, h.key, frozenset(h.states), h.timers, h.entries, h.sections[0].first)
            for h in headers
        }

    assert files(tmp_path / "new") == files(saved)


@pytest.mark.parametrize("groups", [0, 1, 32769])
def test_impossible_max_parallelism(place: Path, groups: int) -> None:
    with pytest.raises(SavepointError, match="written by 2 subtasks, so it must be 2 to 32768"):
        SavepointWriter(place).set_max_parallelism("many", groups)


def test_two_savepoints_become_one(place: Path, whole: list, tmp_path: Path) -> None:
    edited = SavepointWriter(place).drop("pairs")
    first = edited.write(tmp_path / "first")
    second = SavepointWriter(place).drop("pairs").rename_uid("many", "lots").write(tmp_path / "second")
    with pytest.raises(SavepointError, match=r"'many kinds' .*is in both savepoints"):
        SavepointWriter(first).merge(Savepoint(place))
    both = SavepointWriter(first).merge(second).write(tmp_path / "both")
    for place in (second.place, tmp_path / "second"):
        by_place = SavepointWriter(first).merge(place).write(tmp_path / f"by {type(place).__name__}")
        assert by_place.operators() == both.operators()
    with pytest.raises(SavepointError, match="nowhere"):
        SavepointWriter(first).merge(tmp_path / "nowhere")
    assert {operator.uid for operator in both.operators()} == {"many", "lots"}
    shutil.rmtree(tmp_path / "first")
    shutil.rmtree(tmp_path / "second")
    ignore = {"execution__savepoint__ignore_unclaimed_state": "true"}
    for uid in ("many", "lots"):
        assert goes_on(tmp_path / "both", tmp_path / f"job-{uid}", uid=uid, **ignore) == whole


def test_sources_of_both_go_on(place: Path, tmp_path: Path) -> None:
    outputs(tmp_path / "other", PAIRS[:10], uid="others", source="other pairs")
    other = taken(tmp_path / "other", tmp_path / "savepoint")
    both = SavepointWriter(place).merge(Savepoint(other)).write(tmp_path / "both")
    assert {source.uid: source.records for source in both.sources()} == {"pairs": 40, "other pairs": 10}
    with pytest.raises(SavepointError, match=r"is in both"):
        SavepointWriter(both).merge(SavepointWriter(place).drop("many").write(tmp_path / "third"))


def test_what_cannot_be_is_refused(place: Path, tmp_path: Path) -> None:
    edit = SavepointWriter(place)
    with pytest.raises(SavepointError, match="no state 'lost'"):
        SavepointWriter(place).drop("many", "lost").write(tmp_path / "new")
    with pytest.raises(SavepointError, match="has no operator with the uid or OperatorID 'few'"):
        edit.drop("few")
    with pytest.raises(SavepointError, match="The uid 'pairs' already has state"):
        edit.rename_uid("many", "pairs")
    with pytest.raises(SavepointError, match="There is a savepoint already"):
        edit.write(place)
    with pytest.raises(SavepointError, match="There is a savepoint already"):
        SavepointWriter().write(place)


def test_a_version_of_a_job_folder_is_as_good(tmp_path: Path, whole: list) -> None:
    outputs(tmp_path / "job", PAIRS, penstock__step__records=7)
    before = fingerprint(tmp_path / "job")
    SavepointWriter(Savepoint(tmp_path / "job")).drop("pairs").rename_uid("many", "lots").write(tmp_path / "new")
    assert fingerprint(tmp_path / "job") == before
    assert goes_on(tmp_path / "new", tmp_path / "new job", uid="lots") == whole
