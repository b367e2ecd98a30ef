"""A large state is read in little memory and time."""

from __future__ import annotations

import struct
import time
import tracemalloc
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from penstock.cli.savepoint_tables import write_table
from penstock.flink.entries import read_entries
from penstock.flink.entries.documents import lines
from penstock.flink.handles import KeyGroupsHandle, StreamHandle
from penstock.flink.metadata import Metadata, OperatorState, Subtask
from penstock.flink.places import Place
from penstock.flink.savepoint import FlinkSavepoint
from penstock.savepoints import flink_savepoint

BASE = "org.apache.flink.api.common.typeutils.base."
VOID = "org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot"
LONG = f"{BASE}LongSerializer$LongSerializerSnapshot"


def utf(text: str) -> bytes:
    return len(text).to_bytes(2, "big") + text.encode()


def snapshot(name: str) -> bytes:
    return struct.pack(">i", 2) + utf(name) + struct.pack(">i", 3)


def savepoint(folder: Path, keys: int, kind: str = "KeyGroupsSavepointStateHandle") -> FlinkSavepoint:
    """A canonical savepoint of the squares of numbers, in one key group of one file."""
    header = struct.pack(">i?", 6, False) + snapshot(LONG) + struct.pack(">h", 1)
    header += utf("square") + struct.pack(">ii", 0, 1) + utf("KEYED_STATE_TYPE") + utf("VALUE") + struct.pack(">i", 2)
    header += utf("NAMESPACE_SERIALIZER") + snapshot(VOID) + utf("VALUE_SERIALIZER") + snapshot(LONG)
    pair = struct.Struct(">iBqbiq")
    with open(folder / "state", "wb") as file:
        file.write(header + b"\0\0")
        for key in range(keys):
            file.write(pair.pack(10, 0 if key < keys - 1 else 0x80, key, 0, 8, key * key))
        file.write(b"\xff\xff")
        size = file.tell()
    handle = StreamHandle("RelativeFileStateHandle", size, file="state")
    groups = KeyGroupsHandle(kind, (0, 0), (len(header),), handle)
    operator = OperatorState("0" * 32, "squares", None, 1, 1, None, (Subtask(0, managed_keyed=(groups,)),), False)
    place = Place(f"file:{folder}", f"{folder}/_metadata")
    return FlinkSavepoint(place, Metadata(6, 1, None, (), (operator,), 0, True), "2.3")


def test_a_state_is_never_whole_in_memory(tmp_path: Path) -> None:
    large = savepoint(tmp_path, 100_000)
    assert large.operators[0].size > 2_500_000
    tracemalloc.start()
    try:
        values = sum(entry.value for entry in read_entries(large))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert values == sum(key * key for key in range(100_000))
    assert peak < 3 << 20


def test_a_table_is_written_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = savepoint(tmp_path, 100_000)
    monkeypatch.setattr(flink_savepoint, "read_savepoint", lambda _: large)
    table = flink_savepoint.SavepointOfFlink(tmp_path).read("squares", "square")
    next(table.to_batches(1))  # what it imports stays in memory
    with open(tmp_path / "squares.parquet", "wb") as file:
        tracemalloc.start()
        try:
            write_table(table, "parquet", file)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    written = pq.read_table(tmp_path / "squares.parquet")
    assert written.column("value").to_pylist() == [key * key for key in range(100_000)]
    assert peak < 8 << 20


def test_checkpoints_of_rocksdb_as_a_whole_are_canonical_though_their_handles_do_not_say_so(tmp_path: Path) -> None:
    entries = list(read_entries(savepoint(tmp_path, 3, "KeyGroupsStateHandle")))
    assert [(entry.key, entry.value) for entry in entries] == [(0, 0), (1, 1), (2, 4)]


@pytest.mark.slow
def test_a_million_keys_would_take_less_than_ten_seconds(tmp_path: Path) -> None:
    large = savepoint(tmp_path, 200_000)
    start = time.process_time()
    assert sum(1 for _ in lines(read_entries(large))) == 200_000
    assert 5 * (time.process_time() - start) < 10
