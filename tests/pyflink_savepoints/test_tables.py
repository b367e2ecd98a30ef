"""State of PyFlink as tables, and what is refused."""

from __future__ import annotations

import json
import random
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from penstock._native import operator_id
from penstock.common import Row, Types
from penstock.common.functions.state_descriptor import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.datastream.formats import AvroSchema, GenericRecordAvroTypeInfo
from penstock.errors import FlinkSavepointError, PenstockError, SavepointError, UnsupportedError
from penstock.flink import read_savepoint
from penstock.flink.entries import read_entries
from penstock.flink.entries.documents import lines as printed
from penstock.flink.entries.values import TimeWindow
from penstock.flink.pyflink import python_states, read_python_state
from penstock.savepoints import read
from penstock.savepoints.flink_savepoint import SavepointOfFlink
from penstock.savepoints.pyflink_pickles import loads_of_pyflink
from tests.pyflink_savepoints.golden import lines, loaded, operator_of, place
from tests.pyflink_savepoints.shown import Context

P = loaded()
LONG, INT, STRING = Types.LONG(), Types.INT(), Types.STRING()
VERSIONS = sorted({line["flink"] for line in lines()})


def path(name: str, version: str = VERSIONS[-1]) -> str:
    return place({"flink": version, "name": name})


def flinks(name: str, version: str = VERSIONS[-1], *, unpickle: bool = False) -> SavepointOfFlink:
    savepoint = read(path(name, version), unpickle=unpickle)
    assert isinstance(savepoint, SavepointOfFlink)
    return savepoint


@pytest.mark.parametrize("version", VERSIONS)
def test_a_table_for_each_kind(version: str) -> None:
    savepoint = flinks("kinds", version)
    tables = {
        it.name: savepoint.read_python(operator_id("kinds"), it, STRING) for it in Context(P.Kinds("kinds")).descriptors
    }
    assert {table.columns for table in tables.values()} == {("key", "value", "key_group")}
    rows = {name: {row["key"]: row["value"] for row in table} for name, table in tables.items()}
    assert rows["numbers"]["a"] == [0, 35, 20, 5, 40, 25]
    assert rows["total"]["a"] == 125
    assert rows["mean"]["a"] == (125, 6)
    assert rows["counts"]["a"] == {"m0": 1, "m1": 2, "m2": 3}
    assert [len(table) for table in tables.values()] == [3] * 5
    assert str(tables["numbers"].to_arrow().schema.field("value").type) == "list<item: int32>"


def test_tables_of_windows_times_to_live_and_broadcast_state() -> None:
    contents = flinks("tumbling").read_python("tumbling", ListStateDescriptor("window-contents", RECORD), STRING)
    assert contents.columns == ("key", "namespace", "value", "key_group")
    assert {row["namespace"] for row in contents} == {TimeWindow(2_000, 4_000)}
    living = flinks("ttl").read_python("ttl", MapStateDescriptor("counts", STRING, LONG), STRING)
    assert living.columns == ("key", "value", "last_access", "key_group")
    assert all(len(row["last_access"]) == len(row["value"]) for row in living)
    rules = flinks("broadcast").read_python("rules", P.rules_descriptor())
    assert rules.to_arrow().num_rows == len(rules.to_list()) == 3
    sums = ReducingStateDescriptor("_reduce_state", lambda one, _: one, RECORD)
    assert len(flinks("folds").read_python("sum", sums, STRING)) == 3


RECORD = Types.TUPLE([STRING, LONG, LONG])


@pytest.mark.parametrize("version", VERSIONS)
def test_plain_pickles_are_read_and_others_only_on_request(version: str) -> None:
    row, fraction = (ValueStateDescriptor(name) for name in ("row", "fraction"))
    safe = flinks("objects", version)
    rows = safe.read_python(operator_id("objects"), row).to_list()
    assert {type(one["value"]) for one in rows} == {Row}
    assert {one["key"] for one in rows} == {Row(key=key) for key in "abe"}
    with pytest.raises(SavepointError, match=r"Fraction.*unpickle=True"):
        safe.read_python(operator_id("objects"), fraction).to_list()
    trusted = flinks("objects", version, unpickle=True).read_python(operator_id("objects"), fraction).to_list()
    assert {type(one["value"]) for one in trusted} == {Fraction}


def test_pickles_are_refused_without_a_reader_of_theirs() -> None:
    savepoint = read_savepoint(path("pickled"))
    operator = operator_of(savepoint, "pickled")
    with pytest.raises(FlinkSavepointError, match="it is pickled"):
        list(read_python_state(savepoint, operator, None, [ValueStateDescriptor("last")]))


def test_wrong_types_are_refused() -> None:
    savepoint = flinks("kinds")
    for wrong in (INT, STRING, Types.ROW([LONG]), Types.LIST(LONG), Types.BIG_DEC(), Types.INSTANT()):
        with pytest.raises(FlinkSavepointError, match=r"'python-state-total' of .*cannot be read as the types say"):
            savepoint.read_python("kinds", ReducingStateDescriptor("total", max, wrong), STRING).to_list()
    with pytest.raises(FlinkSavepointError, match="cannot be read as the types say"):
        savepoint.read_python("kinds", MapStateDescriptor("counts", STRING, INT), STRING).to_list()
    with pytest.raises(FlinkSavepointError, match="cannot be read as the types say"):
        savepoint.read_python("kinds", MapStateDescriptor("total", STRING, INT), STRING).to_list()
    with pytest.raises(SavepointError, match=r"no state 'sum'. It has 'counts', 'last', 'mean', 'numbers', 'total'"):
        savepoint.read_python("kinds", ReducingStateDescriptor("sum", max, LONG), STRING)


def test_types_of_avro_are_refused() -> None:
    avro = GenericRecordAvroTypeInfo(AvroSchema.parse_string('{"type": "record", "name": "a", "fields": []}'))
    with pytest.raises(
        UnsupportedError, match=r"GenericRecordAvroTypeInfo.*cannot be read from a savepoint of PyFlink"
    ):
        flinks("kinds").read_python("kinds", ReducingStateDescriptor("total", max, avro), STRING).to_list()


def test_without_types_entries_are_bytes() -> None:
    savepoint = read_savepoint(path("kinds"))
    operator = operator_of(savepoint, "kinds")
    assert python_states(savepoint, operator) == ["counts", "last", "mean", "numbers", "total"]
    read_lines = map(json.loads, printed(read_entries(savepoint, operators=["kinds"])))
    values: dict[str, Any] = {line["state"]: line["value"] for line in read_lines if line["key"]["fields"] == ["a"]}
    assert values["python-state-total"] == ["000000000000007d"]
    assert sorted(values["python-state-counts"])[0] == ["000000026d30", "0000000000000001"]
    table = flinks("kinds").read("kinds", "python-state-counts")
    assert str(table.to_arrow().schema.field("value").type) == "map<binary, binary>"
    slid = flinks("count_windows").read("slid", "python-state-count").to_arrow()
    assert str(slid.schema.field("namespace").type) == "struct<id: int64>"


def test_damaged_files_are_refused_or_read(tmp_path: Path) -> None:
    chosen, read = random.Random(2), 0
    for name, uid, key_type, function in (
        ("kinds", "kinds", STRING, P.Kinds("kinds")),
        ("pickled", "pickled", None, P.Pickled("pickled")),
        ("values", "values", STRING, P.Values("values")),
    ):
        folder = tmp_path / name
        shutil.copytree(path(name), folder)
        file = folder / "_metadata"  # which has so little state in it
        whole = file.read_bytes()
        start = whole.index(b"python-state-")
        for _ in range(40):
            data = bytearray(whole)
            data[chosen.randrange(start, len(data))] = chosen.randrange(256)
            file.write_bytes(data)
            try:
                savepoint = read_savepoint(str(folder))
                loads = loads_of_pyflink(unpickle=False)
                descriptors = Context(function).descriptors
                list(read_python_state(savepoint, operator_of(savepoint, uid), key_type, descriptors, loads=loads))
                read += 1
            except PenstockError:
                pass
    assert 20 < read < 100
