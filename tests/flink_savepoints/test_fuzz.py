"""Broken metadata gives an error of ours, whatever is broken: no other exception, no flood of memory."""

from __future__ import annotations

import json
import struct
import tracemalloc
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.errors import FlinkSavepointError
from penstock.flink import predict_restore
from penstock.flink.cursor import Cursor
from penstock.flink.facts import facts, writer
from penstock.flink.handles import HandleReader, StreamHandle
from penstock.flink.metadata import MAGIC, read_metadata
from penstock.flink.places import Place
from penstock.flink.savepoint import FlinkSavepoint
from tests.effort import examples
from tests.flink_savepoints.golden import place, spec

NAMES = [
    ("1.11.4", "list_a@v2"),
    ("1.11.4", "master_a"),
    ("1.11.4", "types_b"),
    ("1.11.4", "checkpoint_rocksdb_a"),
    ("2.3.0", "coordinator_a"),
    ("2.3.0", "checkpoint_merged_a"),
    ("2.3.0", "checkpoint_changelog_a"),
    ("2.3.0", "finished_a"),
    ("2.3.0", "names_a"),
    ("2.3.0", "h_partly"),
]
NOWHERE = Place("file:/there/is/nothing", "/there/is/nothing/_metadata")


@cache
def data_of(release: str, name: str) -> bytes:
    return Path(place(release, name)).read_bytes()


def refused_at(error: FlinkSavepointError) -> int:
    """The position of an error, which also has a class of Flink's."""
    return -1 if error.position is None or error.flink_class is None else error.position


def read_all(data: bytes) -> None:
    """Read it, say its facts, restore a program from it; or it is refused, at a place in it."""
    for flink in ("1.11", "2.3"):
        at, savepoint = 0, None
        try:
            savepoint = FlinkSavepoint(NOWHERE, read_metadata(data, "the file", flink), flink)
        except FlinkSavepointError as error:
            at = refused_at(error)
        assert 0 <= at <= len(data)
        if savepoint is not None:
            json.dumps(facts(savepoint))
            assert writer(savepoint) in ("1.11", "2.3")
            predict_restore(savepoint, spec("2.3.0", "value_a"), flink)


@pytest.mark.parametrize(("release", "name"), [NAMES[0], NAMES[4]])
def test_every_truncation_is_an_end_of_file(release: str, name: str) -> None:
    data = data_of(release, name)
    flink = "1.11" if release == "1.11.4" else "2.3"
    for length in range(len(data)):
        with pytest.raises(FlinkSavepointError) as refused:
            read_metadata(data[:length], "the file", flink)
        assert refused.value.flink_class == "java.io.EOFException"


@pytest.mark.parametrize("number", [-(1 << 31), -1, 1 << 20, (1 << 31) - 1])
def test_no_count_takes_memory_that_its_bytes_do_not(number: int) -> None:
    """Any four bytes of the metadata are a huge number, or a negative one."""
    written = struct.pack(">i", number)
    data = data_of(*NAMES[5])[:1500]
    tracemalloc.start()
    try:
        for at in range(8, len(data) - 4, 3):
            broken = data[:at] + written + data[at + 4 :]
            with pytest.raises(FlinkSavepointError):
                read_metadata(broken, "the file")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


FLIPS = st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=6)


@settings(max_examples=examples(300))
@given(name=st.sampled_from(NAMES), flips=FLIPS, length=st.one_of(st.none(), st.integers(0, 1 << 16)))
def test_flipped_bytes_are_read_or_refused(
    name: tuple[str, str], flips: list[tuple[int, int]], length: int | None
) -> None:
    data = bytearray(data_of(*name))
    for at, value in flips:
        data[at % len(data)] = value
    read_all(bytes(data if length is None else data[:length]))


@settings(max_examples=examples(200))
@given(version=st.integers(1, 7), tail=st.binary(max_size=400))
@example(version=6, tail=bytes(400))
def test_random_bytes_are_read_or_refused(version: int, tail: bytes) -> None:
    read_all(MAGIC + struct.pack(">iqii", version, 1, 0, 1) + tail)


@settings(max_examples=examples(200))
@given(tags=st.lists(st.integers(0, 19), min_size=1, max_size=8), tail=st.binary(max_size=200))
def test_random_handles_are_read_or_refused(tags: list[int], tail: bytes) -> None:
    data = b"".join(bytes([tag]) + struct.pack(">ii", 0, 1) for tag in tags) + tail
    for read in (HandleReader.stream, HandleReader.keyed, HandleReader.operator):
        for flink in ("1.11", "2.3"):
            at = 0
            try:
                read(HandleReader(Cursor(data, "the file"), flink), "a handle")
            except FlinkSavepointError as error:
                at = refused_at(error)
            assert 0 <= at <= len(data)


@pytest.mark.parametrize("tag", [3, 12, 14])
def test_handles_that_are_nested_without_end_are_refused(tag: int) -> None:
    layer = bytes([tag]) + struct.pack(">ii", 0, 0) + (struct.pack(">qi", 0, 1) if tag == 14 else b"")
    with pytest.raises(FlinkSavepointError, match="nested more than 20"):
        HandleReader(Cursor(layer * 100_000, "the file"), "2.3").keyed("a handle")


def test_a_stranger_leads_no_reader_out_of_the_folder(tmp_path: Path) -> None:
    """Relative names stay inside, and what is no regular file is not opened."""
    (tmp_path / "outside").write_bytes(bytes(100))
    (tmp_path / "in").mkdir()
    inside = Place(f"file:{tmp_path}/in", f"{tmp_path}/in/_metadata")

    assert inside.first_bytes(StreamHandle("RelativeFileStateHandle", 10, file="../outside")) is None
    assert inside.first_bytes(StreamHandle("FileStateHandle", 10, path="file:/dev/zero")) is None
    assert inside.first_bytes(StreamHandle("FileStateHandle", 10, path="/x/../outside")) is None
    assert inside.first_bytes(StreamHandle("FileStateHandle", 10, path=f"file:{tmp_path}/outside")) == bytes(10)
