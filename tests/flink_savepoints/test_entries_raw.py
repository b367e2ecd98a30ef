"""Raw keyed state: bytes of an operator, and the timers that RocksDB kept on the heap. Bytes by a writer of our own."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from penstock.errors import FlinkSavepointError
from penstock.flink.entries import Entry, read_entries
from penstock.flink.entries.values import TimeWindow
from penstock.flink.handles import KeyGroupsHandle, StreamHandle
from penstock.flink.metadata import Metadata, OperatorState, Subtask
from penstock.flink.places import Place
from penstock.flink.savepoint import FlinkSavepoint
from tests.flink_savepoints.golden import samples

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


def snapshot(name: str) -> bytes:
    (sample,) = (line for line in samples() if (line["flink"], line["name"]) == ("1.11.4", name))
    return bytes.fromhex(sample["snapshot"])


def timer(key: int, start: int, end: int, time: int) -> bytes:
    return struct.pack(">iqqq", key, start, end, time)


def timers(*event: bytes, processing: tuple[bytes, ...] = (), key: str = "int") -> bytes:
    written = bytes.fromhex("f1cd859f") + struct.pack(">ii", 2, 1) + b"\0\x0dwindow-timers"
    written += snapshot(key) + snapshot("time window")
    for part in (event, processing):
        written += struct.pack(">i", len(part)) + b"".join(part)
    return written


def entry(state: str, kind: str, group: int, key: int | None, window: TimeWindow | None, value: object) -> Entry:
    return Entry(OPERATOR, state, kind, 0, group, key, window, value)


def test_bytes_of_key_groups() -> None:
    entries = list(read_entries(savepoint(b"ab", None, b"", b"c")))
    expected = [(0, b"ab"), (2, b""), (3, b"c")]
    assert entries == [entry("_default_", "raw keyed", group, None, None, data) for group, data in expected]


def test_timers_have_the_names_that_they_have_as_managed_state() -> None:
    groups = timers(timer(7, 0, 10, 9), timer(8, -5, 5, -1)), timers(processing=(timer(1, 0, 1, 0),))
    event, processing = "_timer_state/event_window-timers", "_timer_state/processing_window-timers"
    assert list(read_entries(savepoint(*groups))) == [
        entry(event, "timers", 0, 7, TimeWindow(0, 10), 9),
        entry(event, "timers", 0, 8, TimeWindow(-5, 5), -1),
        entry(processing, "timers", 1, 1, TimeWindow(0, 1), 0),
    ]
    assert [read.key for read in read_entries(savepoint(*groups), states=[processing])] == [1]


def test_timers_that_are_cut_off_are_refused() -> None:
    whole = timers(timer(7, 0, 10, 9))
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
