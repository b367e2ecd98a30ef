"""Every entry of every golden savepoint is the one that Flink's own backends find, and every sample of a serializer."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ConfigurationError, FlinkSavepointError
from penstock.flink import read_savepoint
from penstock.flink.cursor import Cursor
from penstock.flink.entries import Entry, pieces, read_entries
from penstock.flink.entries.documents import document, lines
from penstock.flink.entries.readers import Unreadable, form_of
from penstock.flink.metadata import read_metadata
from penstock.flink.places import Place
from penstock.flink.savepoint import FlinkSavepoint
from penstock.flink.snapshots import read_snapshot
from tests.flink_savepoints.golden import WRITTEN, entries, place, samples

KRYO = "a-kryo"
NOWHERE = Place("file:/there/is/nothing", "/there/is/nothing/_metadata")
BACKENDS = {"IncrementalRemoteKeyedStateHandle", "ChangelogStateBackendHandleImpl", "FileNotFoundException"}


def without_order(value: Any) -> Any:
    """A value in which pairs, which the entries of maps are, are sorted: Flink's maps have no order."""
    if isinstance(value, dict):
        return {name: without_order(item) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [without_order(item) for item in value]
    pairs = items and all(isinstance(item, list) and len(item) == 2 for item in items)
    return sorted(items, key=json.dumps) if pairs else items


def counted(printed_entries: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(without_order(entry), sort_keys=True) for entry in printed_entries)


def printed(release: str, name: str) -> tuple[list[dict[str, Any]], list[FlinkSavepointError]]:
    """The entries of a savepoint as they are printed, and refusals."""
    refused: list[FlinkSavepointError] = []
    read = read_entries(read_savepoint(place(release, name)), refused=refused.append)
    return [json.loads(line) for line in lines(read)], refused


def test_every_entry_is_what_flink_reads() -> None:
    compared, kryo = 0, 0
    for line in entries():
        if "error" in line:
            continue
        expected = [entry for entry in line["entries"] if entry["state"] != KRYO]
        actual, refused = printed(line["flink"], line["name"])
        assert counted(actual) == counted(expected), line["name"]
        assert len(refused) == (len(expected) < len(line["entries"])), refused
        compared += len(expected)
        kryo += len(refused)
    assert compared == 7_066
    assert kryo == 2


def test_entries_that_flink_does_not_restore_on_the_heap_are_refused_or_read() -> None:
    """Files of RocksDB and changelogs are refused; the merged file is elsewhere than where Flink looks for it."""
    failed = {(line["flink"], line["name"]): line["error"] for line in entries() if "error" in line}
    assert len(failed) == 5
    assert {word for error in failed.values() for word in BACKENDS if word in error} == BACKENDS
    for (release, name), error in failed.items():
        actual, refused = printed(release, name)
        if "FileNotFound" in error:
            assert not refused
            assert sum(entry["state"] == "count" for entry in actual) == 10
            continue
        assert not [entry for entry in actual if entry["key_group"] is not None]
        (refusal,) = refused
        assert "flink savepoint -type canonical JOB_ID FOLDER" in str(refusal)
        with pytest.raises(FlinkSavepointError, match="canonical savepoint"):
            list(read_entries(read_savepoint(place(release, name))))


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_entries_are_the_same_in_pieces_of_any_size(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [(WRITTEN, "canonical"), (WRITTEN, "native_packed"), ("1.11.4", "types_b"), ("2.3.0", "list_a")]
    whole = [printed(*name)[0] for name in names]
    monkeypatch.setattr(pieces, "_CHUNK", chunk)
    assert [printed(*name)[0] for name in names] == whole


def test_a_refused_state_names_operator_state_and_class() -> None:
    with pytest.raises(FlinkSavepointError) as refused:
        list(read_entries(read_savepoint(place("1.11.4", "types_b"))))
    for word in (KRYO, "2db22d27d82fbf10fa0696f892366d9a", "KryoSerializer", "Savepoints$Odd"):
        assert word in str(refused.value)


def test_operators_and_states_are_chosen() -> None:
    savepoint = read_savepoint(place("2.3.0", "kinds_a"))
    every = list(read_entries(savepoint))
    assert {entry.state for entry in every} == {"value", "list", "map", "max", "avg"}
    assert list(read_entries(savepoint, states=["list"])) == [entry for entry in every if entry.state == "list"]
    assert list(read_entries(savepoint, operators=[every[0].operator_id])) == every
    with pytest.raises(ConfigurationError, match="has no operator 'another'"):
        read_entries(savepoint, operators=["another"])
    with pytest.raises(ConfigurationError, match=r"has no state 'another'.*'avg', 'list', 'map', 'max', 'value'"):
        read_entries(savepoint, states=["list", "another"])
    heap = read_savepoint(place("1.11.4", "kinds_a"))
    assert {entry.state for entry in read_entries(heap, states=["max"])} == {"max"}


def test_values_are_those_of_python() -> None:
    (first, *_) = read_entries(read_savepoint(place("2.3.0", "kinds_a")), states=["map"])
    assert first == Entry(first.operator_id, "map", "map", 0, 6, "k9", None, {"m0": 264, "m1": 298, "m2": 281})


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: f"{sample['flink']} {sample['name']}")
def test_a_serializer_is_read_as_flink_writes_it(sample: dict[str, Any]) -> None:
    snapshot = Cursor(bytes.fromhex(sample["snapshot"]), "a snapshot")
    serializer = read_snapshot(snapshot, "a sample")
    assert snapshot.at == len(snapshot.data)
    if (sample["flink"], sample["name"]) == ("1.11.4", "pojo of pojos"):  # whose map is one for Kryo there
        with pytest.raises(Unreadable, match=r"KryoSerializer of java\.util\.Map"):
            form_of(serializer)
        return
    form = form_of(serializer)
    assert (form.length < 0) == (sample["length"] < 0)
    assert sample["values"]
    for value in sample["values"]:
        data = bytes.fromhex(value["bytes"])
        read, end = form.read(b"before" + data + b"after", 6)
        assert end == 6 + len(data)
        assert without_order(document(read)) == without_order(value["value"])
        for length in range(len(data)):  # too few bytes are not taken for damage, as there may be more
            with pytest.raises((IndexError, struct.error)):
                form.read(data[:length], 0)


def test_states_before_an_unknown_serializer_are_read_where_entries_have_lengths() -> None:
    """The class of one state's serializer becomes that of somebody else, in a canonical savepoint and in lists."""
    simple = "{0}Serializer${0}SerializerSnapshot"
    for release, name, known, read in (
        ("2.3.0", "types_b", "StringArray", {"b-decimal", "d-points"}),
        ("1.11.4", "types_b", "StringArray", set[str]()),
        (WRITTEN, "canonical", "LocalTime", {"of windows", "list of short"}),
    ):
        words = simple.format(known).encode()
        data = Path(place(release, name)).read_bytes().replace(words, b"?" * len(words))
        savepoint = FlinkSavepoint(NOWHERE, read_metadata(data, "the file"), "2.3")
        refused: list[FlinkSavepointError] = []
        states = {entry.state for entry in read_entries(savepoint, refused=refused.append)}
        assert states >= read
        assert bool(states) == bool(read)
        assert not states & {"c-texts", "local time", "list of local time"}
        assert any("serializer that is not Flink's" in str(error) and "???" in str(error) for error in refused)
