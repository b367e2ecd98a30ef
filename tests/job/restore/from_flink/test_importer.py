"""State of Flink's golden savepoints becomes state of ours with the same keys, values, windows and timers."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import PenstockError, SavepointError
from penstock.flink.handles import StreamHandle
from penstock.flink.savepoint import read_savepoint
from penstock.job.restore.from_flink.importer import about_savepoint, import_savepoint, import_state
from penstock.job.savepoint.contents import verify
from penstock.job.savepoint.store import read_savepoint as stored_savepoint
from penstock.savepoints import Savepoint, read
from penstock.storage.stores import storage_of
from tests.analysis.programs import planned
from tests.flink_savepoints.golden import RELEASES, by_name, place
from tests.job.restore.from_flink.golden import program_for

NAMES = (
    *("canonical", "native_packed", "native_heap_a", "kinds_a", "broadcast_b", "timers_b", "ttl_a", "types_b", "co_a"),
    *("f_auto", "large_a", "hash_a", "list_a", "raw_b", "windows_a", "async_a", "coordinator_a"),
)
PLACES = [(release, name) for release in RELEASES for name in NAMES if (release, name) in by_name()]


def taken(release: str, name: str, new: Path) -> Any:
    savepoint = read_savepoint(place(release, name))
    return import_savepoint(place(release, name), program_for(savepoint), str(new), allow=True)


def rows(table: Any) -> list[str]:
    """The rows without what only Flink's have, in any order."""
    names = [name for name in table.columns if name != "key_group"]
    return sorted(repr([(name, row[name]) for name in names]) for row in table.to_list())


@pytest.mark.parametrize(("release", "name"), PLACES)
def test_tables_are_those_of_flinks_own(release: str, name: str, tmp_path: Path) -> None:
    imported = taken(release, name, tmp_path / "new")
    theirs, ours = read(place(release, name)), Savepoint(tmp_path / "new")
    compared = 0
    for operator in imported.operators:
        timers = False
        for state, count in operator.states.items():
            if state.startswith("_timer_state"):
                timers = True
                continue
            table = ours.read(operator.operator_id, state)
            assert rows(table) == rows(theirs.read(operator.operator_id, state)), state
            assert len(table) == count
            compared += 1
        if timers:
            assert rows(ours.timers(operator.operator_id)) == rows(theirs.timers(operator.operator_id))
            compared += 1
    assert (
        compared
        or imported.losses
        or not any(part.has_state for part in read_savepoint(place(release, name)).operators)
    )


def test_what_is_compared_above_is_worth_it(tmp_path: Path) -> None:
    counts = [
        sum(sum(part.states.values()) for part in taken(release, name, tmp_path / f"{release}-{name}").operators)
        for release, name in PLACES
    ]
    assert sum(counts) > 1_000


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("types_b", "state 'a-kryo': its values are written by"),
        ("list_a", "no operator of ours takes lists that belong to no key"),
        ("raw_b", "it is raw, bytes that only the operator of Flink can read"),
        ("windows_a", "it is what another operator keeps for itself"),
        ("async_a", "no operator of ours takes lists"),
        ("coordinator_a", "how far a source of Flink has read is known to that source only"),
    ],
)
@pytest.mark.parametrize("release", RELEASES)
def test_what_does_not_come_over_is_refused_before_anything_is_written(
    name: str, lost: str, release: str, tmp_path: Path
) -> None:
    savepoint = read_savepoint(place(release, name))
    with pytest.raises(SavepointError, match=lost):
        import_state(place(release, name), program_for(savepoint), str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()
    imported = import_state(place(release, name), program_for(savepoint), str(tmp_path / "new"), allow=True)
    assert any(lost in loss.text for loss in imported.losses)


@pytest.mark.parametrize("release", RELEASES)
def test_an_operator_that_is_gone_is_refused_by_its_name(release: str, tmp_path: Path) -> None:
    savepoint = read_savepoint(place(release, "co_a"))
    (gone,) = [operator for operator in savepoint.operators if operator.subtasks and operator.size]
    program = program_for(savepoint, without=frozenset({gone.operator_id}))
    with pytest.raises(SavepointError, match=f"{gone.operator_id}.*: all its state: the program has no operator"):
        import_state(place(release, "co_a"), program, str(tmp_path / "new"))
    imported = import_state(place(release, "co_a"), program, str(tmp_path / "new"), allow=True)
    assert (imported.operators, imported.savepoint.manifest.operators) == ((), {})


@pytest.mark.parametrize(("name", "source"), [("finished_a", "short"), ("h_partly", "partly")])
def test_a_source_that_has_ended_is_not_read_again_in_silence(name: str, source: str, tmp_path: Path) -> None:
    savepoint = read_savepoint(place("2.3.0", name))
    (ended,) = [operator for operator in savepoint.operators if operator.name == f"Source: {source}"]

    def build(env: StreamExecutionEnvironment) -> None:
        env.from_collection([1], Types.INT()).set_uid_hash(ended.operator_id).print()

    program = planned(build)
    with pytest.raises(SavepointError, match=f"Source: {source}.*: its end: it has ended in Flink"):
        import_state(place("2.3.0", name), program, str(tmp_path / "new"))
    lost = import_state(place("2.3.0", name), program, str(tmp_path / "new"), allow=True).losses
    assert any("it has ended in Flink" in loss.text for loss in lost)


def test_an_operator_without_anything_in_its_state_may_be_gone(tmp_path: Path) -> None:
    savepoint = read_savepoint(place("1.11.4", "after_pinned_uid"))
    (empty,) = [operator for operator in savepoint.operators if operator.has_state]
    program = program_for(savepoint, without=frozenset({empty.operator_id}))
    assert import_state(place("1.11.4", "after_pinned_uid"), program, str(tmp_path / "new")).losses == ()


def test_records_in_channels_are_not_lost_in_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flinks = read_savepoint(place("2.3.0", "co_a"))
    channel = StreamHandle("ByteStreamStateHandle", 1, data=b"x")
    operators = [
        replace(operator, subtasks=tuple(replace(part, input_channels=(channel,)) for part in operator.subtasks))
        for operator in flinks.operators
    ]
    unaligned = replace(flinks, metadata=replace(flinks.metadata, operators=tuple(operators)))
    monkeypatch.setattr("penstock.job.restore.from_flink.importer.read_savepoint", lambda _: unaligned)
    with pytest.raises(SavepointError, match="its records on their way: it is an unaligned checkpoint"):
        import_state(place("2.3.0", "co_a"), program_for(flinks), str(tmp_path / "new"))


def test_its_id_is_that_of_the_metadata(tmp_path: Path) -> None:
    first, second = (about_savepoint(place("2.3.0", name)) for name in ("co_a", "ttl_a"))
    assert (
        first.id
        == about_savepoint(place("2.3.0", "co_a")).id
        == taken("2.3.0", "co_a", tmp_path / "new").savepoint.about.id
    )
    assert first.id != second.id


def test_from_a_store_and_to_a_store() -> None:
    for path in Path(place("2.3.0", "large_a")).parent.iterdir():
        storage_of("memory://flink").create(f"memory://flink/large/{path.name}", path.read_bytes())
    savepoint = read_savepoint("memory://flink/large")
    imported = import_savepoint("memory://flink/large", program_for(savepoint), "memory://ours/large", allow=True)
    assert sum(sum(part.states.values()) for part in imported.operators) > 10
    stored = verify(stored_savepoint("memory://ours/large"))
    assert (stored.problems, stored.files > 0) == ((), True)


def test_a_savepoint_is_not_replaced(tmp_path: Path) -> None:
    taken("2.3.0", "co_a", tmp_path / "new")
    with pytest.raises(SavepointError, match="There is a savepoint already"):
        taken("2.3.0", "co_a", tmp_path / "new")


def test_a_missing_file_is_an_error_even_where_state_may_be_lost(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(Path(place("2.3.0", "large_a")).parent, copy)
    files = [path for path in copy.iterdir() if path.name != "_metadata"]
    assert files
    for file in files:
        file.unlink()
    with pytest.raises(PenstockError, match="is not there"):
        import_savepoint(
            str(copy), program_for(read_savepoint(place("2.3.0", "large_a"))), str(tmp_path / "new"), allow=True
        )
