"""Damaged state gives an error of ours, whatever is broken: no other exception, no flood of memory, no endless reading.
And what is written here in Flink's form, of random values, is read as it was."""

from __future__ import annotations

import struct
import tracemalloc
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.errors import FlinkSavepointError
from penstock.flink import read_savepoint
from penstock.flink.cursor import Cursor
from penstock.flink.entries import read_entries
from penstock.flink.entries.documents import document, lines
from penstock.flink.entries.pieces import unpacked
from penstock.flink.entries.readers import form_of
from penstock.flink.metadata import read_metadata
from penstock.flink.places import Place
from penstock.flink.savepoint import FlinkSavepoint
from penstock.flink.snapshots import read_snapshot
from penstock.flink.texts import read_text
from tests.effort import examples
from tests.flink_savepoints.golden import WRITTEN, place, samples
from tests.flink_savepoints.golden import unpacked as folder

NAMES = [
    (WRITTEN, "canonical"),
    (WRITTEN, "canonical_packed"),
    (WRITTEN, "native_packed"),
    ("1.11.4", "types_b"),
    ("1.11.4", "windows_a"),
    ("2.3.0", "co_a"),
    ("2.3.0", "async_a"),
]
NOWHERE = Place("file:/there/is/nothing", "/there/is/nothing/_metadata")


@cache
def data_of(release: str, name: str) -> bytes:
    return Path(place(release, name)).read_bytes()


def read_all(savepoint: FlinkSavepoint) -> int:
    """Print as many entries as can be read; their number, or -1 if the error that ends them is a flood of text."""
    count = 0
    try:
        for _ in lines(read_entries(savepoint, refused=lambda _: None)):
            count += 1
    except FlinkSavepointError as error:
        return count if len(str(error)) < 1_000 else -1
    return count


FLIPS = st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=6)


@settings(max_examples=examples(150), deadline=None)
@given(name=st.sampled_from(NAMES), flips=FLIPS)
@example(name=("1.11.4", "types_b"), flips=[(66, 1)])  # key groups beyond the number of them
def test_flipped_bytes_are_read_or_refused(name: tuple[str, str], flips: list[tuple[int, int]]) -> None:
    data = bytearray(data_of(*name))
    for at, value in flips:
        data[at % len(data)] = value
    try:
        metadata = read_metadata(bytes(data), "the file")
    except FlinkSavepointError:
        return
    assert read_all(FlinkSavepoint(NOWHERE, metadata, "2.3")) >= 0


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    source = folder() / "2.3.0" / "files_a"
    for path in source.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    whole = read_all(read_savepoint(str(tmp_path)))
    assert whole > 5
    largest = max((path for path in tmp_path.iterdir() if path.name[0] != "_"), key=lambda path: path.stat().st_size)
    data = largest.read_bytes()
    for length in range(len(data)):
        largest.write_bytes(data[:length])
        with pytest.raises(FlinkSavepointError):
            list(read_entries(read_savepoint(str(tmp_path))))
    largest.unlink()
    with pytest.raises(FlinkSavepointError, match="is not there"):
        list(read_entries(read_savepoint(str(tmp_path))))


@pytest.mark.parametrize("number", [-(1 << 31), -1, 1 << 20, (1 << 31) - 1])
def test_no_count_takes_memory_that_its_bytes_do_not(number: int) -> None:
    written = struct.pack(">i", number)
    values = [
        (form_of(read_snapshot(Cursor(bytes.fromhex(sample["snapshot"]), "it"), "it")), bytes.fromhex(value["bytes"]))
        for sample in samples()
        if sample["flink"] == "2.3.0"
        for value in sample["values"]
    ]
    tracemalloc.start()
    try:
        for form, data in values:
            for at in range(max(1, len(data) - 3)):
                try:
                    document(form.read(data[:at] + written + data[at + 4 :], 0)[0])
                except (IndexError, struct.error, ValueError):
                    continue
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def number(value: int) -> bytes:
    """A number in bytes of 7 bits."""
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def text(value: str | None) -> bytes:
    if value is None:
        return b"\0"
    units = value.encode("utf-16-be", "surrogatepass")
    codes = struct.unpack(f">{len(units) // 2}H", units)
    return number(len(codes) + 1) + b"".join(map(number, codes))


TEXTS = st.one_of(st.none(), st.text(st.characters(codec=None), max_size=300))


@settings(max_examples=examples(200))
@given(value=TEXTS, before=st.binary(max_size=3), after=st.binary(max_size=3))
@example(value="\ud83d", before=b"", after=b"")
def test_a_text_is_read_as_it_was_written(value: str | None, before: bytes, after: bytes) -> None:
    written = text(value)
    assert read_text(before + written + after, len(before)) == (value, len(before) + len(written))


def serializer(name: str) -> Any:
    (sample,) = (line for line in samples() if (line["flink"], line["name"]) == ("2.3.0", name))
    return form_of(read_snapshot(Cursor(bytes.fromhex(sample["snapshot"]), name), name)).read


NUMBERS = st.integers(-(1 << 31), (1 << 31) - 1)


@settings(max_examples=examples(100))
@given(values=st.dictionaries(TEXTS, st.one_of(st.none(), NUMBERS), max_size=20))
def test_a_map_is_read_as_it_was_written(values: dict[str | None, int | None]) -> None:
    pairs = (text(key) + (b"\1" if item is None else b"\0" + struct.pack(">i", item)) for key, item in values.items())
    written = struct.pack(">i", len(values)) + b"".join(pairs)
    assert serializer("map")(written, 0) == (values, len(written))


@settings(max_examples=examples(100))
@given(fields=st.lists(st.one_of(st.none(), NUMBERS), min_size=20, max_size=20), kind=st.integers(0, 3))
def test_a_row_is_read_as_it_was_written(fields: list[int | None], kind: int) -> None:
    bits = [kind & 1, kind >> 1, *(field is None for field in fields)]
    mask = sum(1 << (23 - place) for place, bit in enumerate(bits) if bit).to_bytes(3, "big")
    written = mask + b"".join(struct.pack(">i", field) for field in fields if field is not None)
    row, end = serializer("wide row")(written, 0)
    assert (list(row), row.get_row_kind().value, end) == (fields, kind, len(written))


def frame(kind: int, data: bytes) -> bytes:
    return bytes([kind]) + len(data).to_bytes(3, "little") + data


@settings(max_examples=examples(100))
@given(parts=st.lists(st.tuples(st.binary(max_size=2_000), st.booleans()), max_size=5), chunk=st.integers(1, 999))
def test_frames_are_unpacked(parts: list[tuple[bytes, bool]], chunk: int) -> None:
    packed = frame(0xFF, b"sNaPpY")
    for data, smaller in parts:
        content = pa.Codec("snappy").compress(data, asbytes=True) if smaller else data
        packed += frame(0 if smaller else 1, b"sum." + content) + frame(0x80, b"to be skipped")
    at = 0

    def read(count: int) -> bytes:
        nonlocal at
        at += chunk
        return packed[at - chunk : at]

    content = unpacked(read)
    result = b""
    while more := content(500):
        result += more
    assert result == b"".join(data for data, _ in parts)


@pytest.mark.parametrize(
    "packed",
    [
        b"\x00\x05\x00\x00sum.\xff",
        b"\x02\x00\x00\x00",
        b"\x00\xff\xff\xff",
        b"\x00\x09\x00\x00sum.\xff\xff\xff\xff\x7f",
    ],
)
def test_damaged_frames_are_refused(packed: bytes) -> None:
    parts = iter([packed])
    with pytest.raises(ValueError, match="frame"):
        unpacked(lambda _: next(parts, b""))(1)
