"""Raw keyed state: bytes of an operator, and the timers that RocksDB kept on the heap."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import FlinkSavepointError
from penstock.flink.entries import Entry, read_entries
from penstock.flink.entries.values import TimeWindow
from penstock.flink.handles import KeyGroupsHandle, StreamHandle
from penstock.flink.metadata import Metadata, OperatorState, Subtask
from penstock.flink.places import Place
from penstock.flink.savepoint import FlinkSavepoint
from tests.flink_savepoints.golden import timers

NOWHERE = Place("file:/there/is/nothing", "/there/is/nothing/_metadata")
OPERATOR = "0" * 32


def savepoint(*groups: bytes | None) -> FlinkSavepoint:
    """Raw keyed state whose key groups have these bytes, or nothing."""
    offsets, data = list[int](), b""
    for group in groups:
        offsets.append(-1 if group is None else len(data))
        data += group or b""
    handle = StreamHandle("ByteStreamStateHandle", len(data), data, "raw")
    raw = KeyGroupsHandle("KeyGroupsStateHandle", (0, len(groups) - 1), tuple(offsets), handle)
    subtask = Subtask(0, raw_keyed=(raw,))
    operator = OperatorState(OPERATOR, None, None, 1, len(groups), None, (subtask,), False)
    return FlinkSavepoint(NOWHERE, Metadata(3, 1, None, (), (operator,), 0, False), "1.11")


def entry(state: str, kind: str, group: int, key: str | None, window: TimeWindow | None, value: object) -> Entry:
    return Entry(OPERATOR, state, kind, 0, group, key, window, value)


def test_bytes_of_key_groups() -> None:
    entries = list(read_entries(savepoint(b"ab", None, b"", b"c")))
    expected = [(0, b"ab"), (2, b""), (3, b"c")]
    assert entries == [entry("_default_", "raw keyed", group, None, None, data) for group, data in expected]


def test_timers_are_those_that_flink_wrote_under_the_names_of_managed_ones() -> None:
    raw = savepoint(*map(bytes.fromhex, timers()["groups"]))
    expected = [
        entry(state, "timers", group, key, TimeWindow(**window), time)
        for state, group, key, window, time in timers()["timers"]
    ]
    assert len(expected) == 20
    assert sorted(read_entries(raw)) == sorted(expected)
    name = "_timer_state/processing_window-timers"
    assert sorted(read_entries(raw, states=[name])) == sorted(timer for timer in expected if timer.state == name)


def test_timers_that_are_cut_off_are_refused() -> None:
    whole = max(map(bytes.fromhex, timers()["groups"]), key=len)
    for length in range(4, len(whole)):
        with pytest.raises(FlinkSavepointError):
            list(read_entries(savepoint(whole[:length])))


def test_a_file_elsewhere_does_not_pass_for_raw_state(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "savepoint" / "deeper").mkdir(parents=True)
    handle = StreamHandle("FileStateHandle", 6, path=f"file:{tmp_path}/secret")
    raw = KeyGroupsHandle("KeyGroupsStateHandle", (0, 0), (0,), handle)
    operator = OperatorState(OPERATOR, None, None, 1, 1, None, (Subtask(0, raw_keyed=(raw,)),), False)
    metadata = Metadata(3, 1, None, (), (operator,), 0, False)
    folder = tmp_path / "savepoint" / "deeper"
    with pytest.raises(FlinkSavepointError, match="secret is not in the folder of the savepoint"):
        list(read_entries(FlinkSavepoint(Place(f"file:{folder}", f"{folder}/_metadata"), metadata, "1.11")))
    (folder / "secret").write_bytes(b"moved.")
    (entry,) = read_entries(FlinkSavepoint(Place(f"file:{folder}", f"{folder}/_metadata"), metadata, "1.11"))
    assert entry.value == b"moved."
